//! What each policy of `cache.when_full` must show: the effect its paper claims, against the policy it changes.

mod common;

use common::*;
use pslc_ssd::config::*;
use pslc_ssd::{CellMode, Nanos, Request};

const MB: u64 = 1_000_000;

/// The small drive, whose cache is used again as it is freed, under a policy.
fn under(policy: WhenFull) -> Config {
    let mut c = small();
    c.cache.when_full = policy;
    c.cache.reuse = Reuse::AsFreed;
    c
}

/// Write in order at a pace, bytes a second, never more than one request at a time.
fn paced(load: &mut Load, from: u64, bytes: u64, pace: u64) {
    let size = 256 << 10;
    for at in (from..from + bytes).step_by(size as usize) {
        let done = load.drive.submit(load.now, &Request::write(at, size));
        load.now = done.max(load.now + Nanos(size as u64 * 1_000_000_000 / pace));
    }
}

/// Bytes programmed for each of the host's.
fn waf(load: &Load) -> f64 {
    let programmed = load.value("slc_programmed_bytes_total") + load.value("native_programmed_bytes_total");
    programmed as f64 / load.value("host_write_bytes_total") as f64
}

#[test]
fn watermarks_keep_a_load_that_is_slower_than_folding_out_of_native_cells() {
    let native = |policy| {
        let mut load = Load::new(&under(policy));
        paced(&mut load, 0, 2_000 * MB, 100 * MB);
        load.value("host_to_native_bytes_total")
    };
    assert_eq!(native(WhenFull::Watermarks), 0);
    assert!(native(WhenFull::DirectThenFold) > 1_000 * MB);
    assert!(native(WhenFull::DirectWhileFolding) > 20 * MB);
}

#[test]
fn watermarks_fold_from_three_quarters_down_to_a_half() {
    let c = under(WhenFull::Watermarks);
    let mut load = Load::new(&c);
    let cache = c.cache.dynamic_bytes;
    paced(&mut load, 0, cache * 70 / 100, 100 * MB);
    assert_eq!(load.value("folded_bytes_total"), 0);
    let used = |load: &Load| load.value("slc_superblocks") * c.nand.superblock_bytes(CellMode::Slc);
    let mut least = u64::MAX;
    let mut most = 0;
    for part in 0..20 {
        paced(&mut load, cache * 70 / 100 + part * 50 * MB, 50 * MB, 100 * MB);
        (least, most) = (least.min(used(&load)), most.max(used(&load)));
    }
    assert!(load.value("folded_bytes_total") > cache / 2);
    assert!(most < cache * 80 / 100 && least < cache * 56 / 100, "{least} to {most} of {cache}");
}

#[test]
fn bypass_leaves_half_of_the_cache_to_small_writes() {
    let taken = |policy| {
        let mut load = Load::new(&under(policy));
        load.fill(0, 1_200 * MB, BIN);
        let before = load.value("host_to_slc_bytes_total");
        load.scatter(1_000 * MB, 20_000, &mut Random(3));
        (before, load.value("host_to_slc_bytes_total") - before)
    };
    let (large, small) = taken(WhenFull::Bypass);
    assert_near("of what was large", large as f64, 400e6, 0.03);
    // What is overwritten was written 1.2 GB ago at most, of which part is more than the cache: those are cold.
    assert!(small > 20_000 * 4096 / 3, "{small}");
    let (large, small) = taken(WhenFull::DirectThenFold);
    assert!(large > 790 * MB && small == 0, "{large} {small}");
}

#[test]
fn bypass_folds_less_where_large_writes_stay_and_small_ones_change() {
    let folded = |policy| {
        let mut load = Load::new(&under(policy));
        let mut random = Random(5);
        for round in 0..20 {
            load.fill(round * 100 * MB / 4096 * 4096, (round + 1) * 100 * MB / 4096 * 4096, BIN);
            load.scatter(40 * MB, 4_000, &mut random);
            load.idle(Nanos::from_millis(500));
        }
        load.value("folded_bytes_total")
    };
    let (bypass, plain) = (folded(WhenFull::Bypass), folded(WhenFull::DirectThenFold));
    assert!(bypass <= plain, "{bypass} against {plain}");
}

#[test]
fn rewrite_distance_lets_only_what_soon_dies_into_the_cache() {
    let run = |policy| {
        let mut c = under(policy);
        c.cache.dynamic_bytes = 200 * MB;
        c.cache.idle = None;
        let mut load = Load::new(&c);
        let mut random = Random(7);
        load.fill(0, 1_400 * MB, BIN);
        // 60 MB change all the time, the rest once in a long while.
        for round in 0..120_000 {
            load.ask(Request::write(random.below(60 * MB / 4096) * 4096, 4096));
            if round % 5 == 0 {
                load.ask(Request::write((60 * MB + random.below(1_300 * MB)) / 4096 * 4096, 4096));
            }
        }
        let after_fill = load.value("host_write_bytes_total") - 1_400 * MB;
        (load.value("died_in_slc_bytes_total") as f64 / after_fill as f64, waf(&load))
    };
    let (died, waf) = run(WhenFull::RewriteDistance);
    let (_, plain) = run(WhenFull::DirectWhileFolding);
    assert!(died > 0.3, "{died} of what was written over");
    assert!(waf < plain, "{waf} against {plain}");
}

#[test]
fn rewrite_distance_has_no_fast_phase_on_a_first_fill() {
    let c = under(WhenFull::RewriteDistance);
    let native = c.nand.program_bytes_per_s(CellMode::Native) as f64;
    // The write buffer takes the first two bins, and the registers of the dies a little more.
    assert_near("from the first byte", mean(&Load::new(&c).fill(0, 600 * MB, BIN)[20..100]), native, 0.05);
}

#[test]
fn in_place_switch_copies_nothing_and_is_faster_than_folding() {
    let c = under(WhenFull::InPlaceSwitch);
    let mut load = Load::new(&c);
    let speeds = load.fill(0, 2_600 * MB, BIN);
    load.idle(Nanos::from_secs(60));
    load.drive.audit();
    assert_eq!((load.value("folded_bytes_total"), load.value("gc_bytes_total")), (0, 0));
    assert!(waf(&load) < 1.001, "{}", waf(&load));
    let cells = c.nand.program_bytes_per_s(CellMode::Slc) as f64;
    // Two bits of three, in the time of a native program and a read before it.
    let unit = c.nand.unit_bytes(CellMode::Native) as f64 * 2.0 / 3.0 * c.nand.dies as f64;
    let upper = unit / (c.nand.native.program + c.nand.slc.read).as_secs_f64();
    let law = 1.0 / (1.0 / 3.0 / cells + 2.0 / 3.0 / upper);
    let after = &speeds[230..400];
    assert_near("1/R = 1/n Rs + (n-1)/n Rup", mean(after), law, 0.05);
    let folding = Load::new(&under(WhenFull::Fold)).fill(0, 2_600 * MB, BIN);
    assert!(mean(after) > 1.3 * mean(&folding[230..400]), "{}", mean(&folding[230..400]));
}

#[test]
fn predicted_silences_fold_more_and_others_as_always() {
    let run = |policy, silence| {
        let mut c = small();
        c.cache.when_full = policy;
        c.cache.reuse = Reuse::AsFreed;
        c.cache.idle =
            Some(Idle { threshold: Nanos::from_secs(2), rate_bytes_per_s: Some(100 * MB), ..Idle::default() });
        let mut load = Load::new(&c);
        for burst in 0..12 {
            load.fill(burst * 200 * MB, (burst + 1) * 200 * MB, BIN);
            load.idle(Nanos::from_millis(silence));
        }
        (load.value("host_to_native_bytes_total"), load.now)
    };
    let (plain, _) = run(WhenFull::DirectThenFold, 3_500);
    let (predicted, _) = run(WhenFull::PredictIdle, 3_500);
    assert!(plain > 100 * MB && predicted < plain / 2, "{predicted} against {plain}");
    assert_eq!(run(WhenFull::PredictIdle, 1_500), run(WhenFull::DirectThenFold, 1_500));
}

#[test]
fn folding_by_cost_and_benefit_gives_more_of_the_cache_back_in_a_silence() {
    let freed = |policy| {
        let mut c = under(policy);
        c.cache.idle =
            Some(Idle { threshold: Nanos::from_millis(5), rate_bytes_per_s: Some(100 * MB), ..Idle::default() });
        let mut load = Load::new(&c);
        // What is oldest stays, and of the rest every second MB is deleted.
        load.fill(0, 400 * MB / 4096 * 4096, BIN);
        for at in (100..400).step_by(2) {
            load.ask(Request::trim(at * MB / 4096 * 4096, MB as u32));
        }
        let before = load.value("slc_superblocks");
        load.idle(Nanos::from_secs(1));
        assert_near("folded", load.value("folded_bytes_total") as f64, 100e6, 0.05);
        before - load.value("slc_superblocks")
    };
    let (by_worth, oldest) = (freed(WhenFull::FoldCostBenefit), freed(WhenFull::Fold));
    assert!(by_worth > oldest * 3 / 2, "{by_worth} against {oldest}");
}

#[test]
fn static_first_has_the_static_part_ready_after_a_short_silence() {
    let erases = |policy| {
        let mut c = small();
        c.cache.mode = CacheMode::HybridSlc;
        c.cache.when_full = policy;
        c.cache.static_bytes = 100 * MB;
        c.cache.dynamic_bytes = 500 * MB;
        c.cache.idle =
            Some(Idle { threshold: Nanos::from_millis(100), rate_bytes_per_s: Some(100 * MB), ..Idle::default() });
        let mut load = Load::new(&c);
        // A large burst, and then small ones with silences in which as much is folded as each writes.
        load.fill(0, 400 * MB, BIN);
        load.idle(Nanos::from_millis(1_200));
        for burst in 4..7 {
            load.fill(burst * 100 * MB, burst * 100 * MB + 90 * MB, BIN);
            load.idle(Nanos::from_millis(1_100));
        }
        (load.value("static_erases_total"), load.value("host_to_native_bytes_total"))
    };
    let (ready, native) = erases(WhenFull::StaticFirst);
    let (oldest, _) = erases(WhenFull::DirectThenFold);
    assert_eq!(native, 0);
    assert!(ready > oldest * 3 / 2, "{ready} against {oldest}");
}

#[test]
fn folding_beside_makes_the_fast_phase_longer_than_the_cache_and_no_slower() {
    // The controller moves half of what the dies take in pSLC, so half of their time is left for folding.
    let fast = |policy| {
        let mut c = under(policy);
        c.cache.dynamic_bytes = 300_000_000;
        c.cache.host_share_permille = 600;
        let page = c.nand.dies as u64 * c.nand.planes as u64 * c.nand.page_bytes as u64;
        c.controller.slc_write_bytes_per_s = Some(page * 1_000_000_000 / c.nand.slc.program.0 / 2);
        let bins = Load::new(&c).fill(0, 1_500 * MB, BIN);
        let speed = mean(&bins[4..20]);
        let slow = bins.iter().position(|&bin| bin < 0.7 * speed).expect("it ends");
        (speed, slow as u64 * BIN, c)
    };
    let (beside, direct) = (fast(WhenFull::FoldBeside), fast(WhenFull::DirectWhileFolding));
    assert_near("speed", beside.0, direct.0, 0.05);
    let c = beside.2;
    assert_near("cache", direct.1 as f64, c.cache.dynamic_bytes as f64, 0.05);
    // Of each byte written so much is folded meanwhile: what a unit grants, over what folding a unit takes.
    let (slc, native) = (c.nand.slc.program.0 as f64, c.nand.native.program.0 as f64);
    let bits = c.nand.bits_per_cell as f64;
    let folded = 0.4 / 0.6 * slc * bits / (native + bits * c.nand.slc.read.0 as f64);
    assert_near("end of the fast phase", beside.1 as f64, direct.1 as f64 / (1.0 - folded), 0.1);
}
