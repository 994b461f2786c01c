//! The laws that phases must obey, whatever the drive.

mod common;

use common::*;
use pslc_ssd::config::*;
use pslc_ssd::{CellMode, Drive, Nanos, Request};

const MB: u64 = 1_000_000;

/// Two bits a cell in the dynamic cache, from which each die writes so much faster than natively.
fn two_bits() -> Config {
    let mut c = small();
    let us = Nanos::from_micros;
    c.nand.mlc = Some(CellTiming { read: us(35), program: us(500), erase: Nanos::from_micros(2500), retention: None });
    c.cache.dynamic_mlc = true;
    c.cache.dynamic_bytes = 1_600_000_000;
    c
}

fn mlc_speed(c: &Config) -> f64 {
    c.nand.program_bytes_per_s(CellMode::Mlc) as f64
}

/// Die time of folding a unit over that of programming it directly: the reads, and the overhead of the program.
fn fold_cost(c: &Config) -> f64 {
    let read = c.nand.timing(c.cache.dynamic_cells()).read.as_secs_f64();
    let reads = c.nand.bits_per_cell as f64 * read;
    let program = c.nand.native.program.as_secs_f64();
    (reads + program * c.cache.fold_overhead_permille as f64 / 1000.0) / program
}

/// Die time of erasing, per byte written in that mode, over all dies.
fn erase_cost(c: &Config, erased: CellMode, written: CellMode) -> f64 {
    c.nand.timing(erased).erase.as_secs_f64() / c.nand.superblock_bytes(written) as f64
}

#[test]
fn the_direct_phase_ends_where_the_free_blocks_do() {
    let c = small();
    let native = c.nand.superblock_bytes(CellMode::Native);
    let slc = c.nand.superblock_bytes(CellMode::Slc);
    let cache = c.cache.dynamic_bytes / slc * slc;
    let raw = native * c.nand.superblocks() as u64;
    let reserve = native * c.ftl.reserve_superblocks as u64;
    let end = cache + raw - 3 * cache - reserve;

    let speeds = curve(&c);
    let direct = native_speed(&c);
    let last = speeds.iter().rposition(|&s| s > 0.75 * direct).unwrap() as u64 * BIN;
    assert_near("end of the direct phase", last as f64, end as f64, 0.015);
    let first = speeds.iter().position(|&s| s < 1.5 * direct).unwrap() as u64 * BIN;
    assert_near("end of the cache", first as f64, cache as f64, 0.02);
}

#[test]
fn direct_while_reclaiming_obeys_the_fold_law() {
    // Below 1 it is folded on the die.
    for overhead in [400, 1000, 2000] {
        let mut c = small();
        c.cache.fold_overhead_permille = overhead;
        let speeds = curve(&c);
        let folding = mean(&speeds[speeds.len() - 60..]);
        // A superblock erased for each that is written, folded data included.
        let erases = 1.5 * erase_cost(&c, CellMode::Slc, CellMode::Native);
        let law = 1.0 / ((1.0 + fold_cost(&c) / 2.0) / native_speed(&c) + erases);
        assert_near("R3 = Rx / (1 + k/(n-1))", folding, law, 0.05);
    }
}

#[test]
fn recycling_obeys_its_law() {
    // Between the end of the cache and the point from which native data leave it less room; once they fill the drive,
    // when half as much again is folded; and with two bits a cell, when no superblock is left that was never written.
    for (mut c, bins, folded) in [(small(), 230..430, 1.0), (small(), 500..630, 1.5), (two_bits(), 490..570, 1.0)] {
        c.cache.when_full = WhenFull::Fold;
        c.cache.reuse = Reuse::AsFreed;
        let cells = c.cache.dynamic_cells();
        let erases = erase_cost(&c, cells, cells) + folded * erase_cost(&c, cells, CellMode::Native);
        let cache = c.nand.program_bytes_per_s(cells) as f64;
        let law = 1.0 / (1.0 / cache + folded * fold_cost(&c) / native_speed(&c) + erases);
        assert_near("1/R3 = 1/Rs + k f/Rx", mean(&curve(&c)[bins]), law, 0.05);
    }
}

#[test]
fn a_cache_of_two_bits_ends_later_for_the_cells_it_takes() {
    let c = two_bits();
    let native = c.nand.superblock_bytes(CellMode::Native);
    let mlc = c.nand.superblock_bytes(CellMode::Mlc);
    let cache = c.cache.dynamic_bytes / mlc * mlc;
    let raw = native * c.nand.superblocks() as u64;
    let end = cache + raw - cache * 3 / 2 - native * c.ftl.reserve_superblocks as u64;

    let speeds = curve(&c);
    let direct = native_speed(&c);
    let last = speeds.iter().rposition(|&s| s > 0.75 * direct).unwrap() as u64 * BIN;
    assert_near("end of the direct phase", last as f64, end as f64, 0.015);
    let first = speeds.iter().position(|&s| s < 1.2 * direct).unwrap() as u64 * BIN;
    assert_near("end of the cache", first as f64, cache as f64, 0.02);
    assert_near("speed of the cache", mean(&speeds[20..330]), mlc_speed(&c), 0.03);
    // What is folded gives back a third of its place, where one bit a cell gives two: R3 = Rx / (1 + k m/(n-m)).
    let folding = mean(&speeds[speeds.len() - 40..]);
    let erases = 3.0 * erase_cost(&c, CellMode::Mlc, CellMode::Native);
    let law = 1.0 / ((1.0 + fold_cost(&c) * 2.0) / native_speed(&c) + erases);
    assert_near("R3 = Rx / (1 + k m/(n-m))", folding, law, 0.05);
}

#[test]
fn a_static_part_of_one_bit_before_a_dynamic_one_of_two_is_a_cache_of_two_tiers() {
    let mut c = two_bits();
    c.cache.mode = CacheMode::HybridSlc;
    c.cache.static_bytes = 300_000_000;
    c.cache.dynamic_bytes = 600_000_000;
    c.capacity_bytes = 2_200_000_000 / 4096 * 4096;
    let whole = |bytes: u64, mode| bytes / c.nand.superblock_bytes(mode) * c.nand.superblock_bytes(mode);
    let fast = c.static_superblocks() * c.nand.superblock_bytes(CellMode::Slc);
    let cache = fast + whole(c.cache.dynamic_bytes, CellMode::Mlc);
    let mut load = Load::new(&c);
    assert_eq!(load.value("cache_limit_bytes"), cache);
    let speeds = load.fill(0, c.capacity_bytes, BIN);
    let (slc, mlc, native) = (slc_speed(&c), mlc_speed(&c), native_speed(&c));
    // The write buffer is answered from at the speed of what went into it.
    let buffer = c.controller.write_buffer_bytes;
    let end = |above: f64| (speeds.iter().position(|&s| s < above).unwrap() as u64 * BIN - buffer) as f64;
    assert_near("end of the first tier", end((slc + mlc) / 2.0), fast as f64, 0.03);
    assert_near("end of the second tier", end((mlc + native) / 2.0), cache as f64, 0.02);
    assert_near("speed of the first tier", mean(&speeds[4..60]), slc, 0.03);
    assert_near("speed of the second tier", mean(&speeds[90..200]), mlc, 0.03);
}

#[test]
fn idle_time_gives_back_cache_at_the_fold_rate_after_the_threshold() {
    let mut c = small();
    let threshold = Nanos::from_millis(300);
    c.cache.idle = Some(Idle { threshold, ..Idle::default() });
    let mut full = Load::new(&c);
    full.fill(0, 900 * MB, MB);
    let held = full.value("slc_valid_bytes") as f64;
    let rate = native_speed(&c) / fold_cost(&c);
    for millis in [100, 400, 700, 1300, 20_000] {
        let mut load = Load::on(full.drive.clone(), full.now);
        load.idle(Nanos::from_millis(millis));
        let regained = held - load.value("slc_valid_bytes") as f64;
        let expected = (rate * (millis as f64 / 1e3 - 0.3).max(0.0)).min(held);
        let slack = 0.06 * expected + 2e6;
        assert!((regained - expected).abs() <= slack, "{millis} ms: {regained} of {expected}");
    }
}

#[test]
fn a_limit_on_the_migration_rate_is_kept() {
    let mut c = small();
    let idle = c.cache.idle.as_mut().unwrap();
    idle.rate_bytes_per_s = Some(50 * MB);
    let mut load = Load::new(&c);
    load.fill(0, 900 * MB, MB);
    load.idle(Nanos::from_secs(4));
    assert_near("folded in 4 s", load.value("idle_folded_bytes_total") as f64, 200e6, 0.02);
}

#[test]
fn the_residue_stays_in_the_cache() {
    let mut c = small();
    c.cache.idle.as_mut().unwrap().residue_bytes = 300 * MB;
    let mut load = Load::new(&c);
    load.fill(0, 800 * MB, MB);
    load.idle(Nanos::from_secs(60));
    assert_near("left in pSLC", load.value("slc_valid_bytes") as f64, 300e6, 0.02);
}

/// A drive without a cache whose superblocks are small and many, and the pages of the host's on it.
fn thirty_percent_spare() -> (Config, u64) {
    let mut c = small();
    c.cache.mode = CacheMode::PureXlc;
    c.nand.pages_per_block = 9;
    c.nand.blocks_per_plane = 1200;
    let usable = c.nand.superblocks() as u64 - c.ftl.reserve_superblocks as u64 - 2;
    let user = usable * c.nand.superblock_pages(CellMode::Native) * 10 / 13;
    c.capacity_bytes = user * 4096;
    (c, user)
}

/// Write amplification of greedy collection under uniform random writes: a / (a + W(-a exp(-a))) with a = raw / user
/// (Desnoyers, "Analytic Models of SSD Write Performance"); 2.36 at a = 1.3.
#[test]
fn greedy_collection_of_uniform_random_writes_amplifies_by_2_36_at_30_percent_spare() {
    let (c, user) = thirty_percent_spare();
    let mut load = Load::new(&c);
    load.fill(0, c.capacity_bytes, MB);
    let mut random = Random(1);
    load.scatter(c.capacity_bytes, 6 * user, &mut random);
    let before = load.value("gc_bytes_total");
    load.scatter(c.capacity_bytes, 4 * user, &mut random);
    let moved = (load.value("gc_bytes_total") - before) / 4096;
    assert_near("WAF", 1.0 + moved as f64 / (4 * user) as f64, 2.36, 0.03);
}

#[test]
fn collection_costs_the_host_what_it_moves() {
    for overhead in [1000, 1400, 2500] {
        let (mut c, user) = thirty_percent_spare();
        c.ftl.gc_overhead_permille = overhead;
        let mut load = Load::new(&c);
        load.fill(0, c.capacity_bytes, MB);
        let mut random = Random(3);
        load.scatter(c.capacity_bytes, 4 * user, &mut random);
        let (moved, begun) = (load.value("gc_bytes_total"), load.now);
        load.scatter(c.capacity_bytes, 2 * user, &mut random);
        let host = 2.0 * c.capacity_bytes as f64;
        let collected = (load.value("gc_bytes_total") - moved) as f64 / host;
        // This share of a victim is valid, and each of its multi-plane pages is read as a whole.
        let valid = collected / (1.0 + collected);
        let read = c.nand.native.read.as_secs_f64()
            / (c.nand.multi_plane_pages() as f64 * 4096.0 * valid * c.nand.dies as f64);
        let program = overhead as f64 / 1000.0 / native_speed(&c);
        let erase = erase_cost(&c, CellMode::Native, CellMode::Native);
        let law = 1.0 / native_speed(&c) + collected * (program + read) + (1.0 + collected) * erase;
        let speed = host / (load.now - begun).as_secs_f64();
        assert_near("1/R = 1/Rx + (WAF-1) k/Rx", speed, 1.0 / law, 0.05);
    }
}

#[test]
fn every_byte_programmed_is_accounted_for() {
    let c = small();
    let mut load = Load::new(&c);
    let mut random = Random(2);
    load.fill(0, c.capacity_bytes, MB);
    load.scatter(c.capacity_bytes, 500_000, &mut random);
    for _ in 0..200 {
        load.ask(Request::trim(random.below(c.capacity_bytes / 8192) * 4096, 1 << 20));
        load.scatter(c.capacity_bytes, 100, &mut random);
        load.idle(Nanos::from_millis(random.below(40)));
    }
    load.drive.audit();
    let written = load.value("host_write_bytes_total");
    let to_slc = load.value("host_to_slc_bytes_total");
    assert_eq!(written, to_slc + load.value("host_to_native_bytes_total"));
    let moved = load.value("folded_bytes_total") + load.value("gc_bytes_total");
    let programmed = load.value("slc_programmed_bytes_total") + load.value("native_programmed_bytes_total");
    // What is not programmed yet: the open units, and a unit a die that waits for its reads.
    let unit = (c.nand.planes * c.nand.page_bytes * c.nand.bits_per_cell) as u64;
    let pending = unit * (c.nand.dies as u64 + 3);
    assert!(programmed <= written + moved && programmed + pending >= written + moved);
    let left = load.value("slc_valid_bytes");
    let out = load.value("folded_bytes_total") + load.value("died_in_slc_bytes_total");
    assert_eq!(to_slc, out + left, "what entered the cache was folded, died there, or is there");
}

#[test]
fn a_pure_slc_drive_never_folds_and_keeps_its_speed() {
    let mut c = small();
    c.cache.mode = CacheMode::PureSlc;
    c.capacity_bytes /= 3;
    let mut load = Load::new(&c);
    let speeds = load.fill(0, c.capacity_bytes, BIN);
    assert_near("last", speeds[speeds.len() - 1], slc_speed(&c), 0.05);
    assert_eq!(load.value("folded_bytes_total"), 0);
    assert_eq!(load.value("native_programmed_bytes_total"), 0);
}

#[test]
fn the_same_requests_give_the_same_times_to_the_nanosecond() {
    let digest = || {
        let c = tiny();
        let mut drive = Drive::new(&c);
        let mut random = Random(3);
        let (mut now, mut digest) = (Nanos::ZERO, 0xcbf2_9ce4_8422_2325u64);
        for _ in 0..20_000 {
            now += Nanos(random.below(300_000));
            let page = random.below(c.capacity_bytes / 4096 - 8);
            let len = 4096 * (1 + random.below(8)) as u32;
            let request = match random.below(10) {
                0..=5 => Request::write(page * 4096, len),
                6..=8 => Request::read(page * 4096, len),
                _ => Request::trim(page * 4096, len),
            };
            let done = drive.submit(now, &request);
            digest = (digest ^ done.0).wrapping_mul(0x0100_0000_01b3);
        }
        digest
    };
    assert_eq!(digest(), digest());
    // Changes only when the model does; say so in the changelog then.
    assert_eq!(digest(), GOLDEN, "the model's answers have changed");
}

const GOLDEN: u64 = 9_400_912_599_465_147_387;

#[test]
fn large_writes_wait_for_room_in_the_buffer_no_longer_than_they_take() {
    let mut c = small();
    c.controller = Controller::plain(1 << 20, 8, Nanos(100));
    let mut load = Load::new(&c);
    for depth in [1, 8] {
        load.depth = depth;
        let waited = load.value("buffer_wait_ns_total");
        let took: u64 = (0..200).map(|i| load.latency(Request::write(i << 20, 1 << 20)).0).sum();
        let waited = load.value("buffer_wait_ns_total") - waited;
        assert!(took / 2 < waited && waited <= took, "{depth} under way: {waited} ns of {took}");
    }
}

#[test]
fn a_formatted_drive_that_erases_beside_writes_starts_slowly() {
    for every in [500_000, 1_000_000] {
        let mut c = small();
        c.ftl.erase_every_bytes = every;
        c.nand.slc.erase = c.nand.native.erase;
        let end = every * c.nand.superblocks() as u64;
        let erase = c.nand.planes as f64 * c.nand.native.erase.as_secs_f64();
        let slow = 1.0 / (1.0 / slc_speed(&c) + erase / every as f64);
        let is_slow_to_its_end = |speeds: &[f64], what: &str| {
            let slow = speeds.iter().rposition(|&s| s < 0.75 * slc_speed(&c)).expect("it is slow") as u64 * BIN;
            // What the host has asked for is ahead of what is programmed.
            let ahead = c.controller.write_buffer_bytes + 32 * (256 << 10);
            assert!((end..=end + ahead + BIN).contains(&(slow + BIN)), "slow start, {what}: {slow}, not {end}");
        };
        let mut load = Load::new(&c);
        assert_near("new", mean(&load.fill(0, end + 40 * BIN, BIN)), slc_speed(&c), 0.05);

        load.drive.format(&c);
        let speeds = load.fill(0, end + 40 * BIN, BIN);
        is_slow_to_its_end(&speeds, "formatted");
        assert_near("slow start", mean(&speeds[8..(end / BIN) as usize]), slow, 0.015);

        load.drive.format(&c);
        is_slow_to_its_end(&load.fill(0, end + 40 * BIN, BIN), "formatted again");

        // What was erased in silence is not again beside writes.
        load.drive.format(&c);
        load.idle(Nanos::from_secs(10));
        assert_near("after a silence", mean(&load.fill(0, 400_000_000, BIN)), slc_speed(&c), 0.05);
    }
}

/// Time of a read of a page at `now`.
fn read_time(drive: &mut Drive, now: Nanos) -> Nanos {
    drive.submit(now, &Request::read(0, 4096)) - now
}

/// A drive whose native cells are read twice from a day on, thrice from two, and so on, with data in them.
fn aging() -> (Config, Drive) {
    let mut c = small();
    c.cache.mode = CacheMode::PureXlc;
    c.nand.native.retention = Some(DAY);
    (c.nand.retry_growth_permille, c.nand.retries) = (2000, 3);
    let mut drive = Drive::new(&c);
    drive.submit(Nanos::ZERO, &Request::write(0, 64 << 20));
    (c, drive)
}

const DAY: Nanos = Nanos::from_secs(86_400);

#[test]
fn a_read_is_tried_once_more_each_time_its_data_are_so_many_times_as_old() {
    let (c, drive) = aging();
    let transfer = Nanos((4096 * 1000u64).div_ceil(c.nand.bus_mts as u64));
    let of_a_try = (c.nand.native.read + transfer).0;
    let fresh = read_time(&mut drive.clone(), Nanos::from_secs(10));
    let second = Nanos::from_secs(1);
    for (days, before, after) in [(1, 0, 1), (2, 1, 2), (4, 2, 3), (8, 3, 3)] {
        for (at, retries) in [(Nanos(days * DAY.0) - second, before), (Nanos(days * DAY.0) + second, after)] {
            let took = read_time(&mut drive.clone(), at);
            assert_eq!(took.0, fresh.0 + retries * of_a_try, "after {at}");
            // As old, switched off.
            let mut off = drive.clone();
            off.advance(Nanos::from_secs(10));
            off.switch_off(at - Nanos::from_secs(10));
            assert_eq!(read_time(&mut off, Nanos::from_secs(10)).0, took.0, "off for {at}");
        }
    }
}

#[test]
fn cells_at_the_end_of_their_life_lose_their_data_six_times_as_fast() {
    let (mut c, _) = aging();
    c.wear = Some(Wear { slc_cycles: 10, native_cycles: 1 });
    let mut load = Load::new(&c);
    // Superblocks take turns: the third time all that are written were erased once before, or more often.
    (0..3).for_each(|_| drop(load.fill(0, c.capacity_bytes, MB)));
    load.idle(Nanos::from_secs(10));
    let now = load.drive.now();
    let took = |after: u64| read_time(&mut load.drive.clone(), now + Nanos(DAY.0 / 100 * after));
    assert_eq!(took(14), took(1));
    assert!(took(18) > took(14));
}

#[test]
fn reads_of_a_block_age_what_is_in_it() {
    let (mut c, _) = aging();
    c.nand.read_disturb = Nanos::from_secs(864);
    let mut drive = Drive::new(&c);
    let mut now = drive.submit(Nanos::ZERO, &Request::write(0, 64 << 20)) + Nanos::from_secs(10);
    let times: Vec<Nanos> = (0..=100)
        .map(|_| {
            let took = read_time(&mut drive, now);
            now += Nanos::from_millis(1);
            took
        })
        .collect();
    assert!(times[..100].iter().all(|took| *took == times[0]));
    assert!(times[100] > times[0], "a hundred reads are as a day");
}

#[test]
fn data_that_are_rewritten_in_silence_are_read_as_fresh_ones_at_the_price_of_erases() {
    let (mut c, _) = aging();
    c.ftl.refresh = Some(Nanos(DAY.0 * 3 / 2));
    c.cache.idle = Some(Idle { threshold: Nanos::from_secs(1), ..Idle::default() });
    let mut drive = Drive::new(&c);
    drive.submit(Nanos::ZERO, &Request::write(0, 64 << 20));
    let fresh = read_time(&mut drive.clone(), Nanos::from_secs(10));
    let slow = read_time(&mut drive.clone(), Nanos(DAY.0 * 5 / 4));
    drive.advance(DAY + DAY);
    assert!(slow > fresh && read_time(&mut drive, DAY + DAY) == fresh);
    let mut counters = vec![0; Drive::COLUMNS.len()];
    drive.sample(DAY + DAY, &mut counters);
    let count = |name: &str| counters[Drive::COLUMNS.iter().position(|column| *column == name).unwrap()];
    assert!(count("gc_bytes_total") >= 56 << 20 && count("native_erases_total") > 0);
    drive.audit();
}
