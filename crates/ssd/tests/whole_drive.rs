//! The host, the link, the controller and the body, each alone against its closed form.

mod common;

use common::{closed_loop, column, small};
use pslc_ssd::config::*;
use pslc_ssd::{Machine, Nanos, Request};

const MB: u64 = 1_000_000;

fn rng(state: &mut u64) -> u64 {
    *state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
    *state >> 33
}

fn iops(count: usize, time: Nanos) -> f64 {
    count as f64 / time.as_secs_f64()
}

/// A machine whose first `bytes` are written and at rest.
fn written(config: &Config, bytes: u64) -> (Machine, Nanos) {
    let mut machine = Machine::new(config);
    let count = (bytes >> 20) as usize;
    let time = closed_loop(&mut machine, Nanos::ZERO, 8, count, true, |i| Request::write((i as u64) << 20, 1 << 20));
    (machine, time + Nanos::from_secs(600))
}

#[test]
fn a_hosts_processor_sets_the_ceiling_that_its_cores_and_cost_say() {
    for (cores, micros) in [(1, 20), (2, 20), (4, 40)] {
        let mut config = small();
        let cost = Nanos::from_micros(micros);
        config.host.cpu = Some(Cpu { cores, read: cost, write: cost });
        let (mut machine, rest) = written(&config, 64 << 20);
        let mut seed = 1;
        let time = closed_loop(&mut machine, rest, 64, 20_000, true, |_| {
            Request::read(rng(&mut seed) % (16 << 10) * 4096, 4096)
        });
        let ceiling = cores as f64 / cost.as_secs_f64();
        let got = iops(20_000, time);
        assert!((got / ceiling - 1.0).abs() < 0.02, "{got} of {ceiling} with {cores} cores");
    }
}

#[test]
fn a_controllers_cores_set_a_ceiling_for_each_kind_of_command() {
    let mut config = small();
    config.controller.cores = 2;
    config.controller.read = Nanos::from_micros(50);
    config.controller.write = Nanos::from_micros(80);
    let (mut machine, rest) = written(&config, 64 << 20);
    let mut seed = 1;
    let mut page = || rng(&mut seed) % (16 << 10) * 4096;
    let reads = closed_loop(&mut machine, rest, 64, 10_000, true, |_| Request::read(page(), 4096));
    let later = rest + reads + Nanos::from_secs(60);
    let writes = closed_loop(&mut machine, later, 64, 10_000, true, |_| Request::write(page(), 4096));
    assert!((iops(10_000, reads) / 40_000.0 - 1.0).abs() < 0.02, "{}", iops(10_000, reads));
    assert!((iops(10_000, writes) / 25_000.0 - 1.0).abs() < 0.02, "{}", iops(10_000, writes));
}

/// Random reads at QD1 over a span whose map is held to a share `h` take h * t + (1 - h) * (t + tR + transfer).
#[test]
fn a_miss_of_the_map_costs_a_read_of_the_nand() {
    let mut config = small();
    config.controller.map = Some(MapCache { bytes: 32 * 4096, access: Nanos::ZERO });
    let (machine, rest) = written(&config, 2 << 30);
    let latency = |span: u64| {
        let mut machine = machine.clone();
        let mut seed = 1;
        let mut pages = move |_| Request::read(rng(&mut seed) % (span / 4096) * 4096, 4096);
        let warm = closed_loop(&mut machine, rest, 1, 2_000, true, &mut pages);
        let at = rest + warm + Nanos(1);
        closed_loop(&mut machine, at, 1, 20_000, true, pages).0 as f64 / 20_000.0
    };
    let held = latency(64 << 20);
    let quarter = latency(512 << 20);
    let page = config.nand.slc.read.0 as f64 + 4096.0 * 1000.0 / config.nand.bus_mts as f64;
    let expected = 0.75 * page;
    let cost = quarter - held;
    assert!((cost / expected - 1.0).abs() < 0.03, "{cost} ns for {expected}");
    assert!(column(&machine, "map_read_bytes_total") > 0);
}

#[test]
fn the_map_is_written_back_as_often_as_changed_pages_leave() {
    let mut config = small();
    config.controller.map = Some(MapCache { bytes: 32 * 4096, access: Nanos::ZERO });
    let mut machine = Machine::new(&config);
    let mut seed = 1;
    closed_loop(&mut machine, Nanos::ZERO, 8, 4_000, true, |_| {
        Request::write(rng(&mut seed) % (512 << 10) * 4096, 4096)
    });
    let (read, written) = (column(&machine, "map_read_bytes_total"), column(&machine, "map_programmed_bytes_total"));
    let unit = config.nand.multi_plane_pages() as u64 * 4096;
    assert!(read - written <= 32 * 4096 + unit, "{read} read, {written} written");
}

#[test]
fn without_a_write_cache_each_write_waits_for_its_program() {
    let mut config = small();
    config.controller.write_cache = false;
    let mut machine = Machine::new(&config);
    let done = machine.submit(Nanos::ZERO, &Request::write(0, 4096), true);
    assert!(done > config.nand.slc.program, "{done}");
    config.controller.write_cache = true;
    let mut machine = Machine::new(&config);
    assert!(machine.submit(Nanos::ZERO, &Request::write(0, 4096), true) < config.nand.slc.program);
}

#[test]
fn reading_ahead_brings_one_sequential_stream_to_the_speed_of_many() {
    let speed = |read_ahead: u64, depth: usize| {
        let mut config = small();
        config.link = Link::Sata { mbps: 6000 };
        config.controller.read_ahead_bytes = read_ahead;
        let (mut machine, rest) = written(&config, 256 << 20);
        let time = closed_loop(&mut machine, rest, depth, 2048, true, |i| Request::read((i as u64) << 17, 1 << 17));
        256.0 * (1 << 20) as f64 / time.as_secs_f64() / 1e6
    };
    let (without, with, many) = (speed(0, 1), speed(512 << 10, 1), speed(0, 32));
    assert!(without < 0.85 * many, "{without} without, {many} at depth 32");
    assert!(with > 0.95 * many, "{with} with, {many} at depth 32");
}

fn page_cache(driver: bool) -> Option<PageCache> {
    Some(PageCache {
        bytes: 400 * MB,
        background_bytes: 40 * MB,
        dirty_bytes: 80 * MB,
        request_bytes: 1 << 19,
        depth: 8,
        memory_bytes_per_s: 4_000 * MB,
        driver,
    })
}

/// Writes run at the speed of memory until the dirty limit, and then at the drive's; so `dirty / (1 - drive / memory)`
/// bytes are fast.
#[test]
fn the_page_cache_is_fast_up_to_its_dirty_limit_and_then_as_fast_as_the_drive() {
    let mut config = small();
    config.link = Link::Sata { mbps: 3000 };
    config.host.page_cache = page_cache(false);
    let mut machine = Machine::new(&config);
    let mut at = Nanos::ZERO;
    let mut ends = Vec::new();
    for i in 0..1000u64 {
        at = machine.submit(at, &Request::write(i << 20, 1 << 20), false);
        ends.push(at);
    }
    let speed = |from: usize, to: usize| ((to - from) << 20) as f64 / (ends[to] - ends[from]).as_secs_f64() / 1e6;
    assert!((speed(0, 60) / 4000.0 - 1.0).abs() < 0.01, "{}", speed(0, 60));
    let (_, link) = machine.drive().link_ceilings();
    let drive = speed(500, 999) * 1e6;
    assert!((drive / link as f64 - 1.0).abs() < 0.03, "{drive} of {link}");
    let fast = ends.windows(2).take_while(|pair| (pair[1] - pair[0]).0 < 1_000_000).count() as f64 * 1.048576;
    let expected = 40.0 + 40.0 / (1.0 - drive / 4e9);
    assert!((fast / expected - 1.0).abs() < 0.06, "{fast} MB were fast, {expected} expected");
    assert!(column(&machine, "page_cache_dirty_bytes") <= 80 * MB + (1 << 20));
}

#[test]
fn what_was_just_read_or_written_is_read_from_memory() {
    let mut config = small();
    config.host.page_cache = page_cache(false);
    let mut machine = Machine::new(&config);
    let begin = closed_loop(&mut machine, Nanos::ZERO, 1, 64, false, |i| Request::write((i as u64) << 20, 1 << 20));
    let time = closed_loop(&mut machine, begin, 1, 64, false, |i| Request::read((i as u64) << 20, 1 << 20));
    let speed = (64 << 20) as f64 / time.as_secs_f64() / 1e6;
    assert!((speed / 4000.0 - 1.0).abs() < 0.01, "{speed}");
    assert_eq!(column(&machine, "host_read_bytes_total"), 0);
}

#[test]
fn a_flush_leaves_nothing_dirty_and_every_byte_reaches_the_drive_once() {
    let mut config = small();
    config.host.page_cache = page_cache(false);
    let mut machine = Machine::new(&config);
    let at = closed_loop(&mut machine, Nanos::ZERO, 1, 300, false, |i| Request::write((i as u64) << 20, 1 << 20));
    machine.submit(at, &Request::flush(), false);
    assert_eq!(column(&machine, "page_cache_dirty_bytes"), 0);
    assert_eq!(column(&machine, "host_write_bytes_total"), 300 << 20);
}

#[test]
fn a_drivers_cache_beats_the_link_for_direct_requests_too() {
    let mut config = small();
    config.link = Link::Sata { mbps: 3000 };
    for (driver, beats) in [(true, true), (false, false)] {
        config.host.page_cache = page_cache(driver);
        let mut machine = Machine::new(&config);
        let time = closed_loop(&mut machine, Nanos::ZERO, 4, 30, true, |i| Request::write((i as u64) << 20, 1 << 20));
        let (_, link) = machine.drive().link_ceilings();
        let speed = (30 << 20) as f64 / time.as_secs_f64();
        assert_eq!(speed > 2.0 * link as f64, beats, "{speed} over a link of {link}");
    }
}

fn powered() -> Config {
    let mut config = small();
    config.power = Some(Power {
        active_mw: 2000,
        idle_mw: 50,
        idle_after: Nanos::from_millis(100),
        exit: Nanos::ZERO,
        die_read_mw: 50,
        die_program_mw: 60,
        die_erase_mw: 70,
        data_pj_per_byte: 500,
        ..Power::default()
    });
    config
}

#[test]
fn energy_is_the_sum_of_what_each_part_drew() {
    let config = powered();
    let mut machine = Machine::new(&config);
    let time = closed_loop(&mut machine, Nanos::ZERO, 8, 512, true, |i| Request::write((i as u64) << 20, 1 << 20));
    machine.advance(time);
    let unit = config.nand.multi_plane_pages() as f64 * 4096.0;
    let programs = column(&machine, "slc_programmed_bytes_total") as f64 / unit;
    let erases = column(&machine, "slc_erases_total") as f64 / config.nand.planes as f64;
    assert_eq!(column(&machine, "native_programmed_bytes_total"), 0);
    let expected = programs * config.nand.slc.program.as_secs_f64() * 0.060
        + erases * config.nand.slc.erase.as_secs_f64() * 0.070
        + (512 << 20) as f64 * 500e-12
        + 2.0 * time.as_secs_f64();
    let got = column(&machine, "energy_nj_total") as f64 / 1e9;
    assert!((got / expected - 1.0).abs() < 1e-6, "{got} J for {expected} J");
}

#[test]
fn a_hot_drive_leaves_less_of_the_link_and_cools() {
    let mut config = powered();
    config.link = Link::Pcie { generation: 3, lanes: 4 };
    config.power.as_mut().unwrap().active_mw = 1000;
    config.heat = Some(Thermal {
        ambient_mc: 25_000,
        chips_mj_per_k: 500,
        board_mj_per_k: 1_000,
        chips_to_board_mk_per_w: 4_000,
        board_to_air_mk_per_w: 15_000,
        throttle: vec![ThermalStep { at_mc: 70_000, until_mc: 65_000, share_permille: 300 }],
    });
    let (mut machine, mut at) = written(&config, 1 << 30);
    let mut hottest = 0;
    let mut speeds = Vec::new();
    for _ in 0..200 {
        let time = closed_loop(&mut machine, at, 16, 1024, true, |i| Request::read((i as u64) << 20, 1 << 20));
        speeds.push((1 << 30) as f64 / time.as_secs_f64() / 1e6);
        at = Nanos(at.0 + time.0 + 1);
        hottest = hottest.max(column(&machine, "temperature_millicelsius"));
    }
    let (fast, slow) = (speeds[0], speeds.iter().copied().fold(f64::MAX, f64::min));
    assert!((slow / fast - 0.3).abs() < 0.03, "{slow} of {fast} MB/s");
    assert!((69_500..72_000).contains(&hottest), "{hottest}");
}

/// Reads while the drive writes: those that may interrupt a program wait less.
#[test]
fn suspend_never_raises_the_mean_latency_of_reads() {
    let mean = |suspend: Option<Suspend>| {
        let mut config = small();
        config.cache.mode = CacheMode::PureXlc;
        config.nand.suspend = suspend;
        let (mut machine, rest) = written(&config, 256 << 20);
        let (mut seed, mut at, mut sum) = (1, rest, 0);
        let mut writer = rest;
        for i in 0..2000u64 {
            while writer <= at {
                writer = machine.submit(at, &Request::write((300 << 20) + ((i % 900) << 20), 1 << 20), true);
            }
            let end = machine.submit(at, &Request::read(rng(&mut seed) % (64 << 10) * 4096, 4096), true);
            sum += (end - at).0;
            at = end;
        }
        sum / 2000
    };
    let none = mean(None);
    let slow = mean(Some(Suspend { program: Nanos::from_micros(100), erase: Nanos::from_micros(100), limit: 3 }));
    let quick = mean(Some(Suspend { program: Nanos::from_micros(10), erase: Nanos::from_micros(10), limit: 100 }));
    assert!(quick <= slow && slow <= none, "{quick}, {slow}, {none} ns");
    assert!(none > 2 * quick, "{none} without, {quick} with");
}

#[test]
fn at_the_ceiling_the_latency_is_what_littles_law_says() {
    let mut config = small();
    config.controller.cores = 1;
    config.controller.read = Nanos::from_micros(40);
    let (mut machine, rest) = written(&config, 64 << 20);
    for depth in [4usize, 16, 64] {
        let (mut ends, mut seed, mut waited) = (vec![rest; depth], 1, 0);
        for _ in 0..4000 {
            let slot = (0..depth).min_by_key(|slot| ends[*slot]).unwrap();
            let at = ends[slot];
            ends[slot] = machine.submit(at, &Request::read(rng(&mut seed) % (16 << 10) * 4096, 4096), true);
            waited += (ends[slot] - at).0;
        }
        let mean = waited as f64 / 4000.0;
        let expected = depth as f64 * 40_000.0;
        assert!((mean / expected - 1.0).abs() < 0.05, "{mean} ns at depth {depth}");
        machine = written(&config, 64 << 20).0;
    }
}

/// What was programmed is either in a block still, or was erased.
#[test]
fn erases_times_the_block_are_the_bytes_programmed_in_each_mode() {
    let mut config = small();
    config.cache.when_full = WhenFull::Fold;
    config.cache.reuse = Reuse::AsFreed;
    let mut machine = Machine::new(&config);
    let mut seed = 1;
    let pages = config.capacity_bytes / 4096;
    closed_loop(&mut machine, Nanos::ZERO, 8, 60_000, true, |_| {
        Request::write(rng(&mut seed) % (pages - 64) * 4096, 1 << 18)
    });
    for (mode, name) in [(CellMode::Slc, "slc"), (CellMode::Native, "native")] {
        let block = config.nand.superblock_bytes(mode) / (config.nand.dies * config.nand.planes) as u64;
        let erased = column(&machine, &format!("{name}_erases_total")) * block;
        let programmed = column(&machine, &format!("{name}_programmed_bytes_total"));
        let held = machine.drive().superblocks().filter(|superblock| superblock.mode == mode).count() as u64;
        let most = held * config.nand.superblock_bytes(mode);
        assert!(erased > 2 * most, "{erased} bytes erased, {most} held");
        assert!(programmed >= erased && programmed - erased <= most, "{programmed} - {erased} of {most}");
    }
}

#[test]
fn more_spare_space_never_raises_write_amplification() {
    let mut before = f64::MAX;
    for blocks in [380u32, 400, 440, 520, 700] {
        let mut config = small();
        config.cache.mode = CacheMode::PureXlc;
        config.nand.blocks_per_plane = blocks;
        let mut machine = Machine::new(&config);
        let (mut seed, pages) = (1, config.capacity_bytes / 4096);
        let count = |machine: &Machine| column(machine, "native_programmed_bytes_total");
        let mut write = |machine: &mut Machine| {
            closed_loop(machine, Nanos::ZERO.max(machine.drive().now()), 8, 2_000_000, true, |_| {
                Request::write(rng(&mut seed) % pages * 4096, 4096)
            })
        };
        write(&mut machine);
        let begun = count(&machine);
        write(&mut machine);
        let amplification = (count(&machine) - begun) as f64 / (2_000_000.0 * 4096.0);
        assert!(amplification <= before, "{amplification} with {blocks} blocks, {before} with fewer");
        before = amplification;
    }
    assert!(before < 1.5, "{before} with twice the space");
}

#[test]
fn a_sata_drive_never_has_more_than_thirty_two_requests() {
    let rate = |depth: usize| {
        let mut config = small();
        config.link = Link::Sata { mbps: 6000 };
        let (mut machine, rest) = written(&config, 64 << 20);
        let mut seed = 1;
        let time = closed_loop(&mut machine, rest, depth, 8000, true, |_| {
            Request::read(rng(&mut seed) % (16 << 10) * 4096, 4096)
        });
        iops(8000, time)
    };
    let (at_32, at_256) = (rate(32), rate(256));
    assert!((at_256 / at_32 - 1.0).abs() < 0.02, "{at_32} at 32, {at_256} at 256");
}
