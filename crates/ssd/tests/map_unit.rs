//! Drives whose map knows units of more than 4 KiB: what such drives do, and what is the same as before.

mod common;

use common::*;
use pslc_ssd::config::*;
use pslc_ssd::{Drive, MapUnit, Nanos, Request};

const KIB: u64 = 1 << 10;

/// `small`, with a mapping unit of so many bytes, and a capacity and cache that every unit divides.
fn with_unit(bytes: u64) -> Config {
    let mut config = small();
    config.nand.planes = 4;
    config.nand.blocks_per_plane = 200;
    config.nand.map_unit = MapUnit::try_from(bytes).unwrap();
    config.capacity_bytes = config.capacity_bytes / (64 * KIB) * (64 * KIB);
    config
}

/// Ends of a fill, then of rewrites and reads of whole 64 KiB all over the drive, and the drive after them.
fn history(unit: u64) -> (Vec<Nanos>, Drive) {
    let config = with_unit(unit);
    let blocks = config.capacity_bytes / (64 * KIB);
    let mut load = Load::new(&config);
    load.depth = 4;
    let mut ends = Vec::new();
    let mut random = Random(12345);
    for i in 0..2 * blocks {
        let at = if i < blocks { i } else { random.below(blocks) };
        let request = if i >= blocks && i % 5 == 0 {
            Request::read(at * 64 * KIB, 64 << 10)
        } else {
            Request::write(at * 64 * KIB, 64 << 10)
        };
        ends.push(load.latency(request));
    }
    load.drain();
    load.drive.audit();
    (ends, load.drive)
}

#[test]
fn requests_of_whole_units_take_as_long_whatever_the_unit() {
    let (ends, drive) = history(4 * KIB);
    let total = |ends: &[Nanos]| ends.iter().map(|end| end.as_secs_f64()).sum::<f64>();
    for unit in [8, 16, 32, 64] {
        let (other_ends, other) = history(unit * KIB);
        let of_fill = ends.len() / 2;
        assert_eq!(ends[..of_fill], other_ends[..of_fill], "the fill, with units of {unit} KiB");
        // Collecting is paid for a unit at a time, so what is short of space collects a little sooner.
        let relative = total(&other_ends) / total(&ends);
        assert!((0.97..1.03).contains(&relative), "{relative} times as long with units of {unit} KiB");
        for name in ["host_write_bytes_total", "mapped_bytes", "native_programmed_bytes_total"] {
            let relative = drive_column(&other, name) as f64 / drive_column(&drive, name) as f64;
            assert!((0.97..1.03).contains(&relative), "{name}: {relative} with units of {unit} KiB");
        }
    }
}

#[test]
fn a_write_of_part_of_a_unit_reads_the_rest_and_programs_all_of_it() {
    for unit in [4, 16, 64] {
        let config = with_unit(unit * KIB);
        let mut load = Load::new(&config);
        load.fill(0, 64 << 20, 1 << 20);
        let before = load.drive.clone();
        let writes = 512;
        for i in 0..writes {
            load.ask(Request::write(i * 37 % 1000 * 64 * KIB, 4 << 10));
        }
        load.drain();
        let programmed = |drive: &Drive| {
            ["host_to_slc_bytes_total", "host_to_native_bytes_total"]
                .map(|name| drive_column(drive, name))
                .iter()
                .sum::<u64>()
        };
        assert_eq!(programmed(&load.drive) - programmed(&before), writes * unit * KIB);
    }
}

#[test]
fn a_trim_of_part_of_a_unit_leaves_it() {
    let mut drive = Drive::new(&with_unit(16 * KIB));
    drive.submit(Nanos::ZERO, &Request::write(0, 64 << 10));
    drive.submit(Nanos::from_secs(1), &Request::trim(4 * KIB, 40 << 10));
    assert_eq!(drive.unwritten(0, 64 * KIB), [(16 * KIB, 16 * KIB)]);
    assert_eq!(drive.mapped(0, 64 * KIB), (true, 16 * KIB));
}
