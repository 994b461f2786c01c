//! What the time of requests goes to, held against the same requests on a drive without the cause: what they are done
//! earlier there is what the cause took. Nobody tells the account how much that is.
//!
//! `cargo test --release -p pslc-ssd --test waits -- --ignored --nocapture` draws 100 pairs of drives a cause and prints the worst.

mod common;

use common::*;
use pslc_ssd::config::*;
use pslc_ssd::{Cause, Nanos, Request, Waits};

/// A drive, the same one without a cause, the work for both, and what is done before it counts.
struct Pair {
    cause: Cause,
    with: Config,
    without: Config,
    before: Vec<Request>,
    work: Vec<Request>,
    depth: usize,
}

/// The sum of latencies, and what it went to.
fn run(config: &Config, pair: &Pair) -> (u64, [u64; Waits::COUNT]) {
    let mut load = Load::new(config);
    load.depth = 32;
    pair.before.iter().for_each(|&request| load.ask(request));
    load.drain();
    load.depth = pair.depth;
    let (mut sum, mut by) = (0, [0; Waits::COUNT]);
    for &request in &pair.work {
        let took = load.latency(request);
        let waits = load.drive.waits().by();
        assert_eq!(waits.iter().sum::<u64>(), took.0, "each nanosecond has one cause: {request:?}");
        sum += took.0;
        by.iter_mut().zip(waits).for_each(|(sum, ns)| *sum += ns);
    }
    (sum, by)
}

fn between(random: &mut Random, least: u64, most: u64) -> u64 {
    least + random.below(most - least + 1)
}

/// Requests of some size over a span: in order, or anywhere.
fn requests(random: &mut Random, count: u64, size: u64, span: u64, reads: u64, ordered: bool) -> Vec<Request> {
    let places = span / size;
    let one = |i: u64| {
        let at = if ordered { i % places } else { random.below(places) } * size;
        if random.below(100) < reads {
            Request::read(at, size as u32)
        } else {
            Request::write(at, size as u32)
        }
    };
    (0..count).map(one).collect()
}

fn fill(bytes: u64) -> Vec<Request> {
    (0..bytes >> 20).map(|i| Request::write(i << 20, 1 << 20)).collect()
}

const CAUSES: [Cause; 6] =
    [Cause::Folding, Cause::Collection, Cause::Mapping, Cause::Link, Cause::Heat, Cause::Commands];

/// A pair of random drives, on which the cause is what there is to wait for: where two things overlap, either of them would
/// still be waited for without the other.
fn draw(cause: Cause, random: &mut Random) -> Pair {
    let mut with = small();
    with.nand.native.program = Nanos::from_micros(between(random, 500, 2500));
    with.nand.slc.program = Nanos::from_micros(between(random, 80, 250));
    with.nand.bus_mts = between(random, 800, 2400) as u32;
    with.controller.write_buffer_bytes = between(random, 2, 16) << 20;
    if matches!(cause, Cause::Link | Cause::Heat | Cause::Commands) {
        with.nand.slc = CellTiming { read: Nanos::from_micros(3), program: Nanos::from_micros(20), ..with.nand.slc };
    }
    let past_cache = matches!(cause, Cause::Folding | Cause::Collection);
    with.cache.dynamic_bytes = if past_cache { 200_000_000 } else { 800_000_000 };
    with.cache.idle = None;
    let depth = 1 << random.below(if cause == Cause::Mapping { 2 } else { 6 });
    let mut size = 4096 << random.below(9);
    let mut without = with.clone();
    let mut before;
    let work;
    match cause {
        Cause::Folding => {
            // Past the cache, where the policy folds beside the host or leaves it alone.
            with.cache.when_full = WhenFull::DirectWhileFolding;
            with.cache.host_share_permille = between(random, 300, 800) as u32;
            with.cache.fold_overhead_permille = between(random, 1000, 2000) as u32;
            without = with.clone();
            without.cache.when_full = WhenFull::DirectThenFold;
            before = fill(220 << 20);
            let reads = random.below(2) * random.below(60);
            work = requests(random, (150 << 20) / size, size, 190 << 20, reads, reads == 0);
        }
        Cause::Collection => {
            // Overwritten at random, with little spare space or a lot.
            with.cache.mode = CacheMode::PureXlc;
            with.nand.blocks_per_plane = 60;
            without = with.clone();
            without.nand.blocks_per_plane = 400;
            with.capacity_bytes = 480_000_000 / 100 * between(random, 70, 88) / 4096 * 4096;
            without.capacity_bytes = with.capacity_bytes;
            before = fill(with.capacity_bytes);
            before.extend(requests(random, 60_000, 4096, with.capacity_bytes, 0, false));
            size = 4096 << random.below(4);
            let reads = random.below(2) * random.below(60);
            work = requests(random, (80 << 20) / size, size, with.capacity_bytes, reads, false);
        }
        Cause::Mapping => {
            with.controller.map =
                Some(MapCache { bytes: between(random, 64, 512) << 10, access: Nanos(between(random, 0, 2000)) });
            before = fill(600 << 20);
            let reads = between(random, 0, 100);
            work = requests(random, 20_000, 4096, 600 << 20, reads, false);
        }
        Cause::Link => {
            with.link = match random.below(3) {
                0 => Link::Sata { mbps: 3000 },
                1 => Link::Pcie { generation: 1, lanes: 1 },
                _ => Link::Pcie { generation: 2, lanes: 1 },
            };
            before = fill(300 << 20);
            let reads = 100 * random.below(2);
            work = requests(random, (100 << 20) / size, size, 150 << 20, reads, reads > 50);
        }
        Cause::Heat => {
            let step = ThermalStep { at_mc: 1000, until_mc: 500, share_permille: between(random, 20, 300) as u32 };
            with.link = Link::Pcie { generation: 3, lanes: 4 };
            with.power = Some(Power::default());
            with.heat = Some(Thermal {
                ambient_mc: 25_000,
                chips_mj_per_k: 100,
                board_mj_per_k: 100,
                chips_to_board_mk_per_w: 1000,
                board_to_air_mk_per_w: 1000,
                throttle: vec![step],
            });
            without = with.clone();
            without.heat = None;
            // It is asked how warm it is ten times a second.
            before = fill(600 << 20);
            let reads = 100 * random.below(2);
            work = requests(random, (100 << 20) / size, size, 150 << 20, reads, reads > 50);
        }
        _ => {
            with.controller = Controller::plain(8 << 20, 1, Nanos::from_micros(between(random, 20, 100)));
            without = with.clone();
            without.controller = Controller::plain(8 << 20, 1, Nanos::ZERO);
            before = fill(300 << 20);
            let reads = 100 * random.below(2);
            work = requests(random, 10_000, 4096, 150 << 20, reads, false);
        }
    }
    if matches!(cause, Cause::Mapping | Cause::Link) {
        without = Config { link: without.link, controller: without.controller, ..with.clone() };
        without.controller.map = None;
    }
    Pair { cause, with, without, before, work, depth }
}

/// How much of the time the account gives to the cause, and how much it took.
fn told_and_true(pair: &Pair) -> (f64, f64) {
    let ((sum, by), (less, by_less)) = (run(&pair.with, pair), run(&pair.without, pair));
    // Space that is collected is erased.
    let causes = [Some(pair.cause), (pair.cause == Cause::Collection).then_some(Cause::Erasing)];
    let told = causes.iter().flatten().map(|&cause| by[cause as usize] as f64 - by_less[cause as usize] as f64);
    let told: f64 = told.sum();
    (told / sum as f64, (sum as f64 - less as f64) / sum as f64)
}

fn judged(cause: Cause, pairs: u64, seed: u64) -> Vec<(f64, f64, f64, String)> {
    let mut random = Random(seed + 1000 * cause as u64);
    let mut found: Vec<(f64, f64, f64, String)> = (0..pairs)
        .map(|_| {
            let pair = draw(cause, &mut random);
            let (told, truth) = told_and_true(&pair);
            let about = format!("{} of {} B, {} deep", pair.work.len(), pair.work[0].len, pair.depth);
            ((told - truth).abs(), told, truth, about)
        })
        .collect();
    found.sort_by(|a, b| b.0.total_cmp(&a.0));
    found
}

fn report(cause: Cause, found: &[(f64, f64, f64, String)]) {
    let median = found[found.len() / 2].0;
    println!("{cause:?}: {} pairs, error {median:.3} (median), {:.3} (most)", found.len(), found[0].0);
    for (error, told, truth, about) in found.iter().take(10) {
        println!("  told {told:.3}, true {truth:.3} (off by {error:.3}): {about}");
    }
}

#[test]
fn what_a_cause_is_told_to_take_is_what_requests_are_done_earlier_without_it() {
    for cause in CAUSES {
        let found = judged(cause, 6, 1);
        report(cause, &found);
        assert!(found[found.len() / 2].0 < 0.06, "{cause:?}");
        assert!(found[0].0 < 0.25, "{cause:?}");
    }
}

#[test]
#[ignore = "minutes; see above"]
fn what_a_cause_is_told_to_take_on_hundreds_of_drives() {
    for cause in CAUSES {
        report(cause, &judged(cause, 100, 100));
    }
}
