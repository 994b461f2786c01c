//! The drive against the slow, obvious version of itself: every completion time, over random requests, geometries and
//! policies.

mod common;
mod reference;

use common::tiny;
use proptest::prelude::*;
use pslc_ssd::config::*;
use pslc_ssd::{Drive, Nanos, Request, Words};
use reference::Reference;

#[derive(Clone, Debug)]
enum Step {
    Ask { after: u64, op: u8, page: u32, pages: u32, ragged: bool },
    Wait { millis: u64 },
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let ask = (0u64..400_000, 0u8..20, 0u32..960, prop_oneof![1u32..4, 1u32..120], 0u8..10).prop_map(
        |(after, op, page, pages, ragged)| Step::Ask { after, op, page, pages, ragged: ragged == 0 },
    );
    let wait = (1u64..60).prop_map(|millis| Step::Wait { millis });
    prop::collection::vec(prop_oneof![30 => ask, 1 => wait], 1..260)
}

fn sleepy() -> Power {
    Power {
        active_mw: 2000,
        idle_mw: 50,
        idle_after: Nanos::from_millis(10),
        exit: Nanos::from_millis(3),
        die_read_mw: 50,
        die_program_mw: 60,
        die_erase_mw: 70,
        data_pj_per_byte: 500,
    }
}

fn configs() -> impl Strategy<Value = Config> {
    (
        prop::sample::select(WhenFull::ALL),
        prop::sample::select(vec![
            CacheMode::DynamicSlc,
            CacheMode::DynamicSlc,
            CacheMode::HybridSlc,
            CacheMode::StaticSlc,
            CacheMode::PureXlc,
            CacheMode::PureSlc,
        ]),
        prop::sample::select(Reuse::ALL),
        (any::<bool>(), any::<bool>(), any::<bool>(), prop::sample::select(VictimRule::ALL)),
        (1u32..3, 0u32..3, 500u32..1000),
        (0u64..8, 0u64..4, 0u64..4, 0u64..4),
    )
        .prop_map(|(policy, mode, reuse, (suspend, sata, idle, gc), (planes, lazy, from), more)| {
            let mut config = tiny();
            config.cache.when_full = policy;
            config.cache.mode = mode;
            config.cache.reuse = if policy == WhenFull::Fold { Reuse::AsFreed } else { reuse };
            config.cache.static_bytes = 4096 * 16 * 2;
            config.cache.shrink_from_permille = from / 2;
            config.cache.shrink_to_permille = from;
            config.nand.planes = planes;
            config.capacity_bytes *= planes as u64;
            config.controller.write_buffer_bytes *= planes as u64;
            if mode == CacheMode::PureSlc {
                config.capacity_bytes /= 3;
            }
            if !suspend {
                config.nand.suspend = None;
            }
            if sata {
                config.link = Link::Sata { mbps: 6000 };
            }
            if !idle {
                config.cache.idle = None;
            } else if lazy > 0 {
                let idle = config.cache.idle.as_mut().unwrap();
                idle.residue_bytes = 4096 * 20;
                idle.rate_bytes_per_s = (lazy == 2).then_some(20_000_000);
            }
            // Every other drive is slow to wake up.
            if from % 2 == 0 {
                config.power = Some(sleepy());
            }
            config.ftl.gc = gc;
            let (below, batch, flush, path) = more;
            config.cache.fold_below_bytes = below * config.nand.superblock_bytes(CellMode::Native);
            let batch = batch * config.nand.superblock_bytes(CellMode::Slc);
            config.cache.fold_batch_bytes = batch.min(config.cache.most_bytes());
            config.controller.power_loss_protection = flush == 3;
            config.controller.flush = Nanos(flush * 50_000);
            config.controller.native_write_bytes_per_s = (path > 0).then_some(path * 20_000_000);
            config
        })
}

fn request(step: &Step, capacity: u64) -> Request {
    let Step::Ask { op, page, pages, ragged, .. } = *step else { unreachable!() };
    let total = (capacity / 4096) as u32;
    let first = page % total;
    let pages = pages.min(total - first);
    let (mut offset, mut len) = (first as u64 * 4096, pages * 4096);
    if ragged {
        offset += 512;
        len -= 1024;
    }
    match op {
        0..=11 => Request { fua: op == 0, ..Request::write(offset, len) },
        12..=17 => Request::read(offset, len),
        18 => Request::trim(offset, len),
        _ => Request::flush(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn every_completion_time_equals_the_slow_version(config in configs(), steps in steps()) {
        let mut drive = Drive::new(&config);
        let mut slow = Reference::new(&config);
        let mut now = Nanos::ZERO;
        for step in &steps {
            match step {
                Step::Wait { millis } => now += Nanos::from_millis(*millis),
                Step::Ask { after, .. } => {
                    now += Nanos(*after);
                    let request = request(step, config.capacity_bytes);
                    prop_assert_eq!(
                        drive.submit(now, &request),
                        slow.submit(now, &request),
                        "{:?} at {}", request, now
                    );
                }
            }
        }
        drive.audit();
    }
}

/// What the comparison above would be worth little without.
#[test]
fn the_random_requests_reach_everything_that_can_happen() {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;

    let mut runner = TestRunner::deterministic();
    let mut reached = vec![0u64; Drive::COLUMNS.len()];
    for _ in 0..200 {
        let config = configs().new_tree(&mut runner).unwrap().current();
        let mut drive = Drive::new(&config);
        let mut now = Nanos::ZERO;
        for step in steps().new_tree(&mut runner).unwrap().current() {
            match step {
                Step::Wait { millis } => now += Nanos::from_millis(millis),
                Step::Ask { after, .. } => {
                    now += Nanos(after);
                    drive.submit(now, &request(&step, config.capacity_bytes));
                }
            }
        }
        let mut values = vec![0; reached.len()];
        drive.sample(&mut values);
        reached.iter_mut().zip(values).for_each(|(sum, value)| *sum += value);
    }
    for name in [
        "folded_bytes_total",
        "idle_folded_bytes_total",
        "gc_bytes_total",
        "died_in_slc_bytes_total",
        "slc_erases_total",
        "native_erases_total",
        "buffer_wait_ns_total",
        "suspends_total",
        "wake_ns_total",
    ] {
        let value = reached[Drive::COLUMNS.iter().position(|column| *column == name).unwrap()];
        assert!(value > 100, "{name}: {value}");
    }
}
