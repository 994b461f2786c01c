//! What real firmware does with its cache, each behaviour from its knobs: the shapes that reviewers' curves show.

mod common;

use common::*;
use pslc_ssd::config::*;
use pslc_ssd::{CellMode, Drive, Nanos, Request, Words};

const MB: u64 = 1_000_000;

/// Times the speed rises from below `low` to above `high`.
fn rises(speeds: &[f64], low: f64, high: f64) -> usize {
    let mut down = false;
    let mut count = 0;
    for &speed in speeds {
        if speed < low {
            down = true;
        } else if speed > high && down {
            (down, count) = (false, count + 1);
        }
    }
    count
}

#[test]
fn folding_first_and_native_after_draws_a_w() {
    let mut c = small();
    c.cache.when_full = WhenFull::DirectWhileFolding;
    c.cache.fold_overhead_permille = 1000;
    c.cache.dynamic_bytes = 400 * MB;
    let speeds = curve(&c);
    let native = native_speed(&c);
    let cache = (c.cache.dynamic_bytes / BIN) as usize;
    assert_near("in the cache", mean(&speeds[5..cache - 5]), slc_speed(&c), 0.05);
    assert_near("sharing the dies", mean(&speeds[cache + 10..cache + 60]), 0.5 * native, 0.1);
    assert_near("with the cache empty", mean(&speeds[speeds.len() - 50..]), native, 0.12);
    assert_eq!(rises(&speeds, 0.6 * native, 0.8 * native), 1, "down, up, and no more");
}

#[test]
fn a_cache_used_again_when_it_is_empty_draws_a_sawtooth() {
    let mut c = small();
    c.cache.when_full = WhenFull::DirectWhileFolding;
    c.cache.reuse = Reuse::WhenEmpty;
    c.cache.fold_overhead_permille = 1000;
    c.cache.dynamic_bytes = 200 * MB;
    let speeds = curve(&c);
    assert!(rises(&speeds, native_speed(&c), 0.8 * slc_speed(&c)) >= 3);
}

#[test]
fn a_static_cache_is_followed_by_flat_native_speed() {
    let mut c = small();
    c.cache.mode = CacheMode::StaticSlc;
    c.cache.static_bytes = 50 * MB;
    let speeds = curve(&c);
    let after = &speeds[20..];
    assert_near("after it", mean(after), native_speed(&c), 0.05);
    let slowest = after.iter().copied().fold(f64::MAX, f64::min);
    // A bin in which a superblock is erased is slower.
    assert!(slowest > 0.85 * native_speed(&c), "flat: {slowest}");
}

#[test]
fn without_a_direct_path_a_small_cache_falls_far_below_native_speed() {
    let mut c = small();
    c.cache.mode = CacheMode::StaticSlc;
    c.cache.static_bytes = 50 * MB;
    c.cache.when_full = WhenFull::Fold;
    c.cache.reuse = Reuse::AsFreed;
    c.cache.fold_overhead_permille = 4000;
    let mut load = Load::new(&c);
    let speeds = load.fill(0, c.capacity_bytes, BIN);
    assert!(mean(&speeds[50..]) < 0.3 * native_speed(&c), "{}", mean(&speeds[50..]));
    assert_eq!(load.value("host_to_native_bytes_total"), 0, "nothing goes round the cache");
}

#[test]
fn a_hybrid_cache_is_its_static_and_its_dynamic_part() {
    let mut c = small();
    c.cache.mode = CacheMode::HybridSlc;
    c.cache.static_bytes = 100 * MB;
    c.cache.dynamic_bytes = 300 * MB;
    let speeds = curve(&c);
    let end = speeds.iter().position(|&s| s < 1.5 * native_speed(&c)).unwrap() as u64 * BIN;
    assert_near("end of the cache", end as f64, 400e6, 0.05);
}

#[test]
fn the_cache_shrinks_as_the_drive_fills() {
    let mut c = small();
    c.cache.shrink_from_permille = 0;
    c.cache.shrink_to_permille = 1000;
    c.cache.dynamic_least_bytes = 50 * MB;
    c.cache.dynamic_bytes = 600 * MB;
    let size_at = |fill: u64| {
        let mut load = Load::new(&c);
        let filled = c.capacity_bytes / 100 * fill / 4096 * 4096;
        load.fill(0, filled, BIN);
        load.idle(Nanos::from_secs(60));
        let before = load.value("host_to_slc_bytes_total");
        load.fill(filled, (filled + 700 * MB).min(c.capacity_bytes) / 4096 * 4096, BIN);
        (load.value("host_to_slc_bytes_total") - before) as f64
    };
    // While data lie in the cache they take no native space, so it shrinks by what was there before.
    for (fill, size) in [(0, 600.0), (25, 462.0), (50, 325.0)] {
        assert_near(&format!("at {fill} %"), size_at(fill), size * 1e6, 0.05);
    }
}

#[test]
fn a_shrinking_cache_with_a_static_part_keeps_to_its_limit() {
    for set_aside in [30 * MB, 100 * MB, 200 * MB] {
        let mut c = small();
        c.cache.mode = CacheMode::HybridSlc;
        c.cache.when_full = WhenFull::Fold;
        c.cache.reuse = Reuse::AsFreed;
        c.cache.static_bytes = set_aside;
        c.cache.dynamic_bytes = 400 * MB;
        c.cache.shrink_from_permille = 0;
        c.cache.dynamic_least_bytes = 20 * MB;
        let mut load = Load::new(&c);
        let superblock = c.nand.superblock_bytes(CellMode::Slc);
        let part = c.capacity_bytes / 200 / 4096 * 4096;
        for step in 0..200 {
            load.fill(step * part, (step + 1) * part, part);
            let (used, limit) = (load.value("slc_superblocks"), load.value("cache_limit_bytes") / superblock);
            assert!(used <= limit + 3, "{used} superblocks of {limit} after {step} of 200 parts");
        }
    }
}

#[test]
fn a_lazy_drive_keeps_its_data_in_the_cache_and_an_eager_one_empties_it() {
    let left = |idle: Option<Idle>| {
        let mut c = small();
        c.cache.idle = idle;
        let mut load = Load::new(&c);
        load.fill(0, 600 * MB, BIN);
        load.idle(Nanos::from_secs(600));
        load.value("slc_valid_bytes")
    };
    let eager = Idle { threshold: Nanos::from_millis(50), ..Idle::default() };
    // The superblock that is being filled stays open.
    assert!(left(Some(eager)) < small().nand.superblock_bytes(CellMode::Slc));
    assert_near("never", left(None) as f64, 600e6, 0.001);
}

#[test]
fn idle_time_collects_garbage_until_as_much_is_free_as_the_firmware_wants() {
    let native = small().nand.superblock_bytes(CellMode::Native);
    let after = |collect: u64| {
        let mut c = small();
        c.cache.idle.as_mut().unwrap().collect_bytes = collect * native;
        let mut load = Load::new(&c);
        let span = c.capacity_bytes / 10 * 8;
        load.fill(0, span, BIN);
        load.scatter(span, span / 4096, &mut Random(7));
        load.idle(Nanos::from_secs(600));
        let free = load.value("free_superblocks");
        (free, mean(&load.fill(0, 100 * MB, BIN)))
    };
    let ((few, slow), (many, fast)) = (after(0), after(60));
    assert!(few < 10, "{few} are free");
    assert_eq!(many, 60 + small().ftl.reserve_superblocks as u64, "no more than is wanted");
    assert!(fast > 2.0 * slow, "{fast} after {slow}");
}

#[test]
fn reads_of_data_in_the_cache_are_faster() {
    let mut c = small();
    c.cache.idle.as_mut().unwrap().threshold = Nanos::from_secs(10);
    let mut load = Load::new(&c);
    load.fill(0, 100 * MB, BIN);
    let latency = |load: &mut Load| {
        load.drain();
        load.now += Nanos::from_secs(1);
        let mut random = Random(5);
        let mut total = 0;
        for _ in 0..1000 {
            let done = load.drive.submit(load.now, &Request::read(random.below(16_000) * 4096, 4096));
            total += (done - load.now).0;
            load.now = done;
        }
        total as f64 / 1000.0
    };
    let in_slc = latency(&mut load);
    load.idle(Nanos::from_secs(60));
    let folded = latency(&mut load);
    assert_near("difference of tR", folded - in_slc, (c.nand.native.read.0 - c.nand.slc.read.0) as f64, 0.05);
}

#[test]
fn migration_yields_to_the_host() {
    let c = small();
    let mut load = Load::new(&c);
    load.fill(0, 700 * MB, BIN);
    let quiet = Load::on(load.drive.clone(), load.now);
    load.idle(Nanos::from_millis(200));
    assert!(load.value("idle_folded_bytes_total") > 0, "it was migrating");
    // A burst that comes in the middle of it meets a drive that is busy for one multi-plane page at most, not for a superblock.
    let first = |mut load: Load| {
        let began = load.now;
        let done = load.drive.submit(began, &Request::read(4096, 4096));
        (done - began).0
    };
    let alone = first(Load::on(quiet.drive.clone(), quiet.now));
    let disturbed = first(Load::on(load.drive.clone(), load.now));
    let program = c.nand.native.program.0 * c.cache.fold_overhead_permille as u64 / 1000;
    assert!(disturbed <= alone + 2 * program, "{disturbed} against {alone}");
    let before = load.value("idle_folded_bytes_total");
    let speeds = load.fill(1_000 * MB / 4096 * 4096, 1_060 * MB / 4096 * 4096, BIN);
    assert!(mean(&speeds) > 0.85 * slc_speed(&c), "{}", mean(&speeds));
    let during = load.value("idle_folded_bytes_total") - before;
    assert!(during < 4 * MB, "it stopped, but for what was under way: {during}");
}

#[test]
fn data_that_die_in_the_cache_are_never_folded() {
    let c = small();
    let mut load = Load::new(&c);
    for _ in 0..6 {
        load.fill(0, 200 * MB / 4096 * 4096, BIN);
    }
    load.idle(Nanos::from_secs(60));
    assert_near("folded", load.value("folded_bytes_total") as f64, 200e6, 0.03);
    assert_near("died", load.value("died_in_slc_bytes_total") as f64, 1000e6, 0.03);

    let mut load = Load::new(&c);
    load.fill(0, 400 * MB, BIN);
    load.drain();
    load.ask(Request::trim(0, (300 * MB / 4096 * 4096) as u32));
    load.idle(Nanos::from_secs(60));
    assert_near("folded after a trim", load.value("folded_bytes_total") as f64, 100e6, 0.03);
}

/// Is rewriting a region smaller than the cache accelerated when the total exceeds it? That is the firmware's choice.
#[test]
fn overwriting_a_small_region_is_accelerated_only_where_dead_data_free_the_cache_at_once() {
    for dead_until_idle in [false, true] {
        let mut c = small();
        c.cache.dead_until_idle = dead_until_idle;
        let mut load = Load::new(&c);
        let region = 160 * MB / 4096 * 4096;
        let speeds: Vec<f64> = (0..10).map(|_| mean(&load.fill(0, region, BIN))).collect();
        assert!(speeds[..4].iter().all(|&speed| speed > 1.2 * native_speed(&c)), "{speeds:?}");
        let last = speeds[9];
        assert_eq!(last > 1.2 * native_speed(&c), !dead_until_idle, "{speeds:?}");
        // An idle time frees it either way.
        load.idle(Nanos::from_secs(60));
        load.fill(0, region, BIN);
        let after = mean(&load.fill(0, region, BIN));
        assert!(after > 1.2 * native_speed(&c), "{after} after an idle time");
        load.drive.audit();
    }
}

/// No livelock: whatever the configuration a profile may have, every request of a hostile mix completes, and the drive
/// stays consistent. Space at its least, policies at their worst.
mod no_livelock {
    use super::*;
    use proptest::prelude::*;
    use pslc_ssd::cache::{HostWrite, Space, View};
    use pslc_ssd::custom::*;
    use std::sync::{Arc, Mutex};

    fn configs() -> impl Strategy<Value = Config> {
        (
            prop::sample::select(WhenFull::ALL),
            prop::sample::select(CacheMode::ALL),
            prop::sample::select(Reuse::ALL),
            (any::<bool>(), prop::sample::select(VictimRule::ALL), 0u32..4, 0u32..3),
            (1u32..5, 1u64..9, 1u64..9, 0u32..1000),
        )
            .prop_map(|(policy, mode, reuse, (idle, gc, reserve, residue), cells)| {
                let (bits, set_aside, dynamic, shrink) = cells;
                let mut c = tiny();
                c.nand.bits_per_cell = bits;
                c.nand.pages_per_block = bits * 2;
                c.ftl.reserve_superblocks = reserve;
                c.ftl.gc = gc;
                // One-bit cells have no faster mode to be a cache in.
                let mode = if bits == 1 { CacheMode::PureXlc } else { mode };
                c.cache.mode = mode;
                c.cache.when_full = policy;
                c.cache.reuse = match policy.overflow() {
                    Overflow::Wait | Overflow::Switch => Reuse::AsFreed,
                    Overflow::Native => reuse,
                };
                c.cache.dead_until_idle = shrink % 2 == 1;
                c.cache.shrink_from_permille = shrink;
                c.cache.shrink_to_permille = 1000;
                let slc = c.nand.superblock_bytes(CellMode::Slc);
                c.cache.static_bytes = set_aside * slc;
                c.cache.dynamic_bytes = dynamic * slc;
                c.controller.write_buffer_bytes = 2 * (c.nand.multi_plane_pages() * bits) as u64 * 4096;
                c.cache.idle = idle.then_some(Idle {
                    threshold: Nanos::from_millis(1),
                    rate_bytes_per_s: None,
                    residue_bytes: residue as u64 * slc,
                    ..Idle::default()
                });
                // The largest capacity that the check of a profile lets through.
                let kept = reserve as u64 + 4 + policy.sorts() as u64;
                let main = if mode == CacheMode::PureSlc { CellMode::Slc } else { CellMode::Native };
                let held = match mode {
                    CacheMode::StaticSlc | CacheMode::HybridSlc => set_aside,
                    _ => 0,
                };
                c.capacity_bytes = (c.nand.superblocks() as u64 - kept - held) * c.nand.superblock_bytes(main);
                c
            })
    }

    /// A policy and a victim rule that may answer anything that a drive of this configuration lets them.
    #[derive(Debug)]
    struct Arbitrary {
        random: Mutex<Random>,
        sorts: bool,
        may_wait: bool,
    }

    impl Arbitrary {
        fn below(&self, limit: u64) -> u64 {
            self.random.lock().unwrap().below(limit)
        }

        fn any<T: Words>(&self) -> T {
            T::ALL[self.below(T::ALL.len() as u64) as usize]
        }
    }

    impl CustomPolicy for Arbitrary {
        fn decide(&self, _: &View) -> Decision {
            let overflow = if self.may_wait { self.any() } else { Overflow::Native };
            Decision { throttle: self.any(), overflow, order: self.any() }
        }

        fn sorts(&self) -> bool {
            self.sorts
        }

        fn place(&self, _: &Space, _: &HostWrite) -> CellMode {
            [CellMode::Slc, CellMode::Native][self.below(2) as usize]
        }

        fn predicts(&self) -> bool {
            true
        }

        fn idle_start(&self, threshold: Nanos, _: &[Nanos]) -> Option<Nanos> {
            [None, Some(Nanos::ZERO), Some(threshold)][self.below(3) as usize]
        }
    }

    impl CustomVictimRule for Arbitrary {
        fn choose(&self, candidates: &Candidates) -> Option<usize> {
            // Past the end: it has none.
            Some(self.below(candidates.superblocks.len() as u64 + 1) as usize)
        }

        fn stuck(&self, _: &Stuck) {}
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(500))]

        #[test]
        fn every_request_completes_at_the_least_spare_space(c in configs(), seed in any::<u64>()) {
            hostile_mix(&c, seed, Drive::new(&c));
        }

        #[test]
        fn every_request_completes_whatever_a_policy_from_outside_answers(c in configs(), seed in any::<u64>()) {
            let mut drive = Drive::new(&c);
            let arbitrary = Arc::new(Arbitrary {
                random: Mutex::new(Random(seed)),
                sorts: c.has_room_to_sort() && seed % 2 == 0,
                may_wait: c.may_wait(),
            });
            drive.set_custom(Custom::new(Some(arbitrary.clone()), Some(arbitrary)));
            hostile_mix(&c, seed, drive);
        }
    }

    fn hostile_mix(c: &Config, seed: u64, drive: Drive) {
        let mut load = Load::on(drive, Nanos::ZERO);
        let mut random = Random(seed);
        load.fill(0, c.capacity_bytes, BIN);
        load.scatter(c.capacity_bytes, 2000, &mut random);
        for _ in 0..60 {
            let pages = 1 + random.below(40);
            let at = random.below(c.capacity_bytes / 4096 - pages) * 4096;
            load.ask(match random.below(8) {
                0 => Request::trim(at, (pages * 4096) as u32),
                1 => Request::flush(),
                2 => Request { fua: true, ..Request::write(at, (pages * 4096) as u32) },
                _ => Request::write(at, (pages * 4096) as u32),
            });
            if random.below(6) == 0 {
                load.idle(Nanos::from_millis(random.below(50)));
            }
        }
        load.fill(0, c.capacity_bytes, BIN);
        load.drain();
        load.drive.audit();
    }
}

/// What a host sees of a drive while it writes it whole: seconds, and its slowest request in nanoseconds.
fn whole_write(load: &mut Load) -> (f64, u64) {
    let (began, count) = (load.now, load.drive.capacity_bytes() >> 20);
    let slowest = (0..count).map(|i| load.latency(Request::write(i << 20, 1 << 20)).0).max().unwrap();
    load.drain();
    ((load.now - began).as_secs_f64(), slowest)
}

#[test]
fn a_drive_that_was_trimmed_and_left_idle_writes_as_a_fresh_one() {
    for &when_full in WhenFull::ALL {
        for mode in [CacheMode::StaticSlc, CacheMode::DynamicSlc] {
            let mut c = small();
            c.cache.when_full = when_full;
            c.cache.reuse = Reuse::AsFreed;
            c.cache.mode = mode;
            c.cache.static_bytes = 80 * MB;
            c.capacity_bytes = 2_400_000_000 / 4096 * 4096;
            let mut load = Load::new(&c);
            let fresh = whole_write(&mut load);
            load.ask(Request::trim(0, c.capacity_bytes as u32));
            assert_eq!(load.value("slc_valid_bytes"), 0, "the whole cache is free at once");
            load.idle(Nanos::from_secs(20));
            let again = whole_write(&mut load);
            let what = format!("{} on {}", when_full.word(), mode.word());
            // Where folding goes on all the time, it also goes on with what the first fill left open.
            let (mean, longest) = if when_full == WhenFull::FoldBeside { (0.02, 1.1) } else { (0.01, 1.05) };
            assert_near(&what, again.0, fresh.0, mean);
            let max_ns = fresh.1 as f64 * longest;
            assert!(again.1 as f64 <= max_ns, "{what}: {} ns at most, {} before", again.1, fresh.1);
        }
    }
}

#[test]
fn a_host_that_comes_back_waits_for_one_erase_at_most() {
    let mut c = small();
    c.cache.idle = Some(Idle { residue_bytes: u64::MAX, ..c.cache.idle.unwrap() });
    let mut load = Load::new(&c);
    whole_write(&mut load);
    load.ask(Request::trim(0, c.capacity_bytes as u32));
    let erases = |load: &Load| load.value("slc_erases_total") + load.value("native_erases_total");
    let before = erases(&load);
    // Long enough for what the dies still have to do, and for a few of some hundred superblocks.
    load.idle(c.cache.idle.unwrap().threshold + Nanos::from_millis(100));
    let erased = (erases(&load) - before) / (c.nand.dies * c.nand.planes) as u64;
    assert!((1..=50).contains(&erased), "{erased} superblocks");
    load.ask(Request::write(0, 4096));
    let took = load.latency(Request::flush());
    let longest = c.nand.native.erase.max(c.nand.slc.erase) + c.nand.native.program;
    assert!(took <= longest + Nanos::from_millis(1), "{took} for {longest}");
}
