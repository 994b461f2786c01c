//! What drives were seen to do beyond the basic laws, each as the mechanism that makes it.

mod common;

use common::*;
use pslc_ssd::config::*;
use pslc_ssd::{CellMode, Drive, Nanos, Request};

const MB: u64 = 1_000_000;
const MIB: u64 = 1 << 20;

/// Die time of erasing what was pSLC, per byte of native data written there, over all dies.
fn erase_cost(c: &Config) -> f64 {
    c.nand.slc.erase.as_secs_f64() / c.nand.superblock_bytes(CellMode::Native) as f64
}

#[test]
fn the_data_path_into_native_cells_is_a_ceiling_that_the_dies_do_not_lift() {
    for program in [1200, 700] {
        let mut c = small();
        c.cache.mode = CacheMode::PureXlc;
        c.nand.native.program = Nanos::from_micros(program);
        c.controller.native_write_bytes_per_s = Some(200 * MB);
        assert!(native_speed(&c) > 500e6);
        assert_near("direct", mean(&curve(&c)), 200e6, 0.01);
    }
}

#[test]
fn the_data_path_into_pslc_is_a_ceiling_that_the_dies_do_not_lift() {
    for program in [150, 80] {
        let mut c = small();
        c.nand.slc.program = Nanos::from_micros(program);
        c.controller.slc_write_bytes_per_s = Some(400 * MB);
        assert!(c.nand.program_bytes_per_s(CellMode::Slc) > 800 * MB);
        assert_eq!(c.program_limit(CellMode::Slc), (400 * MB, ProgramLimit::DataPath));
        let speeds = curve(&c);
        assert_near("pSLC", mean(&speeds[10..60]), 400e6, 0.01);
        let direct = speeds[speeds.len() / 2];
        assert!(direct > 1.2 * 400e6, "native cells do not go that way: {direct}");
    }
}

#[test]
fn each_folded_byte_takes_its_overhead_of_the_data_path_that_the_host_shares() {
    for overhead in [1000, 2500, 4000] {
        let mut c = small();
        c.cache.fold_overhead_permille = overhead;
        c.controller.native_write_bytes_per_s = Some(120 * MB);
        let speeds = curve(&c);
        let folding = mean(&speeds[speeds.len() - 60..]);
        // Half a byte is folded for each of the host's: nothing but the path is busy.
        let law = 120e6 / (1.0 + overhead as f64 / 1000.0 / 2.0);
        assert_near("R3 = path / (1 + k/(n-1))", folding, law, 0.03);
        assert!(speeds[10] > 1000e6, "pSLC does not go that way: {}", speeds[10]);
    }
}

#[test]
fn a_write_alone_waits_for_its_copy_and_its_controller_and_many_pass_beside_each_other() {
    const COUNT: u64 = 200;
    let speed_after = |latency: Nanos, copy_in: Option<u64>, depth: usize| {
        let mut c = small();
        c.link = Link::Pcie { generation: 3, lanes: 4 };
        c.nand.slc.program = Nanos::from_micros(25);
        c.controller.copy_in_bytes_per_s = copy_in;
        c.controller.latency = latency;
        let mut drive = Drive::new(&c);
        let mut free = vec![Nanos::ZERO; depth];
        for n in 0..COUNT {
            let at = *free.iter().min().expect("one at least");
            let slot = free.iter().position(|free| *free == at).expect("the first of them");
            free[slot] = drive.submit(at, &Request::write(n * MIB, MIB as u32));
        }
        (COUNT * MIB) as f64 / free.iter().max().expect("one at least").as_secs_f64()
    };
    let speed = |copy_in, depth| speed_after(Nanos::ZERO, copy_in, depth);
    let (alone, many) = (speed(None, 1), speed(None, 8));
    let copied = speed(Some(1000 * MB), 1);
    assert_near("1/p1 + 1/copy_in", copied, 1.0 / (1.0 / alone + 1.0 / 1000e6), 0.02);
    assert_near("eight at once", speed(Some(1000 * MB), 8), many, 0.02);
    let late = Nanos::from_micros(500);
    let waited = 1.0 / (1.0 / alone + late.as_secs_f64() / MIB as f64);
    assert_near("1/p1 + latency", speed_after(late, None, 1), waited, 0.02);
    assert_near("eight at once, late", speed_after(late, None, 8), many, 0.02);
}

#[test]
fn the_direct_phase_ends_where_the_firmware_wants_space_to_be_left() {
    let native = small().nand.superblock_bytes(CellMode::Native);
    for below in [300 * MB, 700 * MB] {
        let mut c = small();
        c.cache.dynamic_bytes = 500 * MB;
        c.cache.fold_below_bytes = below;
        let cache =
            c.cache.dynamic_bytes / c.nand.superblock_bytes(CellMode::Slc) * c.nand.superblock_bytes(CellMode::Slc);
        let raw = native * c.nand.superblocks() as u64;
        let end = cache + raw - 3 * cache - below / native * native;
        let speeds = curve(&c);
        let direct = native_speed(&c);
        let last = speeds[..(2200 * MB / BIN) as usize].iter().position(|&s| s < 0.8 * direct).unwrap() as u64;
        assert_near("S + Raw - nS - what is kept free", (last * BIN) as f64, end as f64, 0.02);
    }
}

#[test]
fn once_the_cache_is_folded_what_was_kept_free_is_used() {
    let mut c = small();
    c.cache.dynamic_bytes = 300 * MB;
    c.cache.fold_below_bytes = 1500 * MB;
    let mut load = Load::new(&c);
    let speeds = load.fill(0, c.capacity_bytes, BIN);
    assert_eq!(load.value("slc_valid_bytes"), 0);
    assert_eq!(load.value("gc_bytes_total"), 0, "nothing native had to move");
    // What was cache must be erased before it is native.
    let native = 1.0 / (1.0 / native_speed(&c) + erase_cost(&c));
    assert!(mean(&speeds[speeds.len() - 40..]) > 0.98 * native);
}

#[test]
fn folding_in_batches_goes_between_two_speeds() {
    let mut c = small();
    c.cache.when_full = WhenFull::Fold;
    c.cache.reuse = Reuse::AsFreed;
    c.cache.host_share_permille = 100;
    let steady = mean(&curve(&c)[220..440]);
    c.cache.fold_batch_bytes = 100 * MB;
    let speeds = curve(&c)[220..440].to_vec();
    let fast = speeds.iter().filter(|&&s| s > 3.0 * steady).count();
    let slow = speeds.iter().filter(|&&s| s < 0.7 * steady).count();
    assert!(fast > 40 && slow > 40, "{fast} fast bins and {slow} slow ones of {}", speeds.len());
    assert_near("the mean is that of folding in step", mean(&speeds), steady, 0.15);
}

#[test]
fn folding_begins_at_once_where_freed_cache_is_used_again() {
    let mut c = small();
    c.cache.when_full = WhenFull::DirectWhileFolding;
    c.cache.reuse = Reuse::AsFreed;
    let mut load = Load::new(&c);
    load.fill(0, 900 * MB, BIN);
    assert!(load.value("folded_bytes_total") > 20 * MB, "{}", load.value("folded_bytes_total"));
    assert!(load.value("free_superblocks") > 50, "long before free blocks run out");
}

#[test]
fn a_flush_waits_for_the_nand_unless_capacitors_do() {
    let mut c = small();
    let flushed = |c: &Config| {
        let mut load = Load::new(c);
        load.depth = 1;
        load.ask(Request::write(0, 4096));
        load.drain();
        let before = load.now;
        load.ask(Request::flush());
        load.drain();
        let first = load.now - before;
        let before = load.now;
        load.ask(Request::flush());
        load.drain();
        (first, load.now - before)
    };
    let (consumer, again) = flushed(&c);
    assert!(consumer > c.nand.slc.program, "{consumer}");
    assert!(again < Nanos::from_micros(5), "nothing is left to be flushed: {again}");
    c.controller.flush = Nanos::from_millis(1);
    let (slower, again) = flushed(&c);
    assert_eq!(slower, consumer + Nanos::from_millis(1));
    assert!(again < Nanos::from_micros(5));
    c.controller.power_loss_protection = true;
    let (protected, _) = flushed(&c);
    assert!(protected < Nanos::from_micros(5), "{protected}");
}

#[test]
fn a_page_that_is_written_again_before_its_program_begins_is_programmed_once_where_rewrites_merge() {
    let programmed = |merges: bool, pages: u64| {
        let mut c = small();
        c.cache.mode = CacheMode::PureXlc;
        c.controller.merges_rewrites = merges;
        let mut load = Load::new(&c);
        for number in 0..20_000 {
            load.ask(Request::write(number * 7919 % pages * 4096, 4096));
        }
        load.drain();
        load.drive.audit();
        (load.value("native_programmed_bytes_total"), load.value("host_write_bytes_total"))
    };
    let (few, written) = programmed(true, 4);
    assert_eq!(written, 20_000 * 4096);
    assert!(few * 4 < written, "{few} of {written}");
    let (each, _) = programmed(false, 4);
    assert!(each * 100 > written * 95, "{each} of {written}");
    // What has left the buffer is programmed anew.
    assert_eq!(programmed(true, 50_000), programmed(false, 50_000));
}
