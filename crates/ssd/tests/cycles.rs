//! A drive in a run answers a write in sequence from the cycle before. Nobody can tell: against the same drive that works
//! out each request, over random drives, loops of writes, and what comes between them.

mod common;

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use common::counted;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use pslc_reference::drawn;
use pslc_reference::drawn::steps::numbers;
use pslc_ssd::{Config, Machine, Nanos, Request};

/// What the host does next.
#[derive(Clone, Debug)]
enum Act {
    /// Writes `count` requests of so many pages in sequence, so many at a time. Counters are looked at each `look` requests;
    /// each `late`th comes a little later.
    Writes {
        pages: u32,
        depth: usize,
        count: u32,
        look: u32,
        late: Option<u32>,
    },
    /// Goes on elsewhere.
    Seek {
        permille: u32,
    },
    /// One request: 0 a read, 1 a trim, 2 a flush, 3 a write of parts of pages, 4 a write with FUA.
    Other {
        kind: u8,
        permille: u32,
        pages: u32,
    },
    Idle {
        micros: u64,
    },
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let pages = prop_oneof![Just(1u32), Just(4), Just(16), Just(24), Just(32), 1u32..70];
    let late = prop_oneof![4 => Just(None), 1 => (2u32..200).prop_map(Some)];
    let writes = (pages, 1usize..12, 1u32..500, 1u32..150, late)
        .prop_map(|(pages, depth, count, look, late)| Act::Writes { pages, depth, count, look, late });
    let other = (0u8..5, 0u32..1000, 1u32..40).prop_map(|(kind, permille, pages)| Act::Other { kind, permille, pages });
    let seek = (0u32..1000).prop_map(|permille| Act::Seek { permille });
    let idle = (1u64..100_000).prop_map(|micros| Act::Idle { micros });
    prop::collection::vec(prop_oneof![6 => writes, 1 => seek, 2 => other, 1 => idle], 1..12)
}

/// The same drive twice: in a run, and outside of one.
struct Pair {
    run: Machine,
    each: Machine,
    now: Nanos,
    under_way: BinaryHeap<Reverse<Nanos>>,
    repeated: u64,
}

impl Pair {
    fn submit(&mut self, request: &Request) {
        let done = self.run.submit(self.now, request, true);
        assert_eq!(done, self.each.submit(self.now, request, true), "{request:?} at {}", self.now);
        self.under_way.push(Reverse(done));
    }

    /// Wait until so few are under way.
    fn wait_for(&mut self, fewer: usize) {
        while self.under_way.len() > fewer {
            let Reverse(done) = self.under_way.pop().expect("some are");
            self.now = self.now.max(done);
        }
    }

    fn look(&mut self) -> Vec<u64> {
        let now = self.now;
        let counters = |machine: &mut Machine| {
            let mut counters = vec![0; Machine::COLUMNS.len()];
            machine.settle();
            machine.sample(now, &mut counters);
            counters
        };
        let expected = counters(&mut self.each);
        let mut worked_out = self.run.clone();
        worked_out.apply_pending();
        for run in [counters(&mut self.run), counters(&mut worked_out)] {
            for (name, (run, each)) in Machine::COLUMNS.iter().zip(run.iter().zip(&expected)) {
                assert_eq!(run, each, "{name} at {}", self.now);
            }
        }
        expected
    }
}

/// Do all of it on both; returns how many writes were answered from a cycle before, and the counters.
fn compare(config: &Config, acts: &[Act]) -> (u64, Vec<u64>) {
    let machine = Machine::new(config);
    let mut pair =
        Pair { run: machine.clone(), each: machine, now: Nanos::ZERO, under_way: BinaryHeap::new(), repeated: 0 };
    pair.run.begin_run();
    let total = (config.capacity_bytes / 4096) as u32;
    let mut next = 0;
    for act in acts {
        match *act {
            Act::Writes { pages, depth, count, look, late } => {
                for number in 1..=count {
                    let pages = pages.min(total);
                    if next + pages > total {
                        next = 0;
                    }
                    pair.wait_for(depth - 1);
                    if late.is_some_and(|late| number % late == 0) {
                        pair.now += Nanos(number as u64 * 100);
                    }
                    pair.submit(&Request::write(next as u64 * 4096, pages * 4096));
                    next += pages;
                    if number % look == 0 {
                        pair.look();
                    }
                }
            }
            Act::Seek { permille } => next = (total as u64 * permille as u64 / 1000) as u32,
            Act::Other { kind, permille, pages } => {
                let pages = pages.min(total);
                let first = ((total - pages) as u64 * permille as u64 / 1000) * 4096;
                let len = pages * 4096;
                pair.submit(&match kind {
                    0 => Request::read(first, len),
                    1 => Request::trim(first, len),
                    2 => Request::flush(),
                    3 => Request::write(first + 512, len - 1024),
                    _ => Request { fua: true, ..Request::write(first, len) },
                });
            }
            Act::Idle { micros } => {
                pair.wait_for(0);
                pair.now += Nanos::from_micros(micros);
                pair.run.advance(pair.now);
                pair.each.advance(pair.now);
            }
        }
    }
    pair.look();
    pair.repeated = pair.run.repeated();
    pair.run.end_run();
    pair.look();
    // What comes after the run is as if there had been none.
    for number in 0..20u64 {
        pair.wait_for(3);
        let page = number * 7919 % total as u64;
        match number % 3 {
            0 => pair.submit(&Request::write(page * 4096, 4096)),
            _ => pair.submit(&Request::read(page * 4096, 4096)),
        }
    }
    pair.run.drive().audit();
    (pair.repeated, pair.look())
}

fn config(numbers: &[u32], by: u32) -> Option<Config> {
    drawn::config(numbers).ok()?.scaled(by, 1)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, max_global_rejects: 1000, ..ProptestConfig::default() })]

    #[test]
    fn what_repeats_is_answered_as_if_it_were_worked_out(
        config in (numbers(), prop::sample::select(vec![1, 20, 60]))
            .prop_filter_map("the check refuses it", |(numbers, by)| config(&numbers, by)),
        acts in acts(),
    ) {
        compare(&config, &acts);
    }
}

/// The comparison is worth something only where much repeats, on drives of every kind.
#[test]
fn much_of_the_random_loops_repeats_on_drives_of_every_kind() {
    let mut runner = TestRunner::deterministic();
    let mut kinds = [0u64; 6];
    let (mut repeated, mut writes) = (0, 0);
    for _ in 0..250 {
        let numbers = numbers().new_tree(&mut runner).unwrap().current();
        let acts = acts().new_tree(&mut runner).unwrap().current();
        let Some(config) = config(&numbers, 60) else { continue };
        let (answered, counters) = compare(&config, &acts);
        let value = |name: &str| counted(&counters, name);
        repeated += answered;
        writes +=
            acts.iter().map(|act| if let Act::Writes { count, .. } = act { *count } else { 0 } as u64).sum::<u64>();
        let of = [
            value("folded_bytes_total") > 0,
            config.heat.is_some(),
            config.host.cpu.is_some(),
            config.nand.planes > 1,
            config.controller.native_write_bytes_per_s.is_some(),
            matches!(config.link, pslc_ssd::config::Link::Sata { .. }),
        ];
        kinds.iter_mut().zip(of).for_each(|(kind, of)| *kind += if of { answered } else { 0 });
    }
    assert!(repeated * 20 > writes, "{repeated} of {writes}");
    assert!(kinds.iter().all(|kind| *kind > 100), "{kinds:?}");
}
