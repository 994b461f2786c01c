//! Random requests on random drives, for as long as it is told to: `make soak SECONDS=600`. The drives are those of
//! crates/reference/src/drawn, and larger ones, up to the most that a profile may have. After each drive the maps are audited and every
//! byte is accounted for. Overflows panic, as tests are built with their checks.

mod common;

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::{Duration, Instant};

use common::{counted, counters, Random};
use pslc_reference::drawn::{self, word_of, DRAWN};
use pslc_ssd::config::{CacheMode, CellTiming, Config, Controller, Host, Link, Nand, Usb, VictimRule, WhenFull};
use pslc_ssd::{profile, Machine, Nanos, Op, Request, Words};

/// What a drive of a size drawn evenly by its logarithm, from 8 MB to 300 TB, is told to be; the check refuses what cannot
/// be, 16 TB at most.
fn large(random: &mut Random) -> Result<Config, profile::ProfileError> {
    let pick = |random: &mut Random, of: &[&str]| of[random.below(of.len() as u64) as usize].to_string();
    let channels = 1 << random.below(5);
    let dies = channels << random.below(4);
    let planes = 1 << random.below(3);
    let bits = 2 + random.below(4);
    let pages = bits * (1 << random.below(9));
    let page = 4 << random.below(3);
    let superblock = (page << 10) * dies * planes * pages;
    // 2^23 to 2^48 bytes.
    let wanted = (1u64 << (23 + random.below(25))) + random.next() % (1 << 23);
    let reserve = 3 + random.below(3);
    let blocks = (wanted / superblock).max(20) + reserve + 8;
    let cache = (blocks / 4).clamp(2, 400);
    let capacity = (blocks - reserve - 8) * superblock / 1000 * (500 + random.below(450)) / 4096 * 4096;
    let mode = word_of::<CacheMode>(random.next() as u32);
    // Set aside for good, it takes several times its size of the spare space.
    let aside = if mode == CacheMode::StaticSlc.word() || mode == CacheMode::HybridSlc.word() { 2 } else { 0 };
    let set: Vec<(String, String)> = [
        ("link", pick(random, &["sata600", "pcie3x4", "pcie4x4", "pcie5x4"])),
        ("nand.channels", channels.to_string()),
        ("nand.dies", dies.to_string()),
        ("nand.planes", planes.to_string()),
        ("nand.bits_per_cell", bits.to_string()),
        ("nand.blocks_per_plane", blocks.to_string()),
        ("nand.pages_per_block", pages.to_string()),
        ("nand.page", format!("{page}KiB")),
        ("nand.bus", "800MT/s".into()),
        ("nand.slc.read", "25us".into()),
        ("nand.slc.program", "160us".into()),
        ("nand.slc.erase", "2ms".into()),
        ("nand.native.read", "60us".into()),
        ("nand.native.program", "1200us".into()),
        ("nand.native.erase", "4ms".into()),
        ("nand.suspend.program", "15us".into()),
        ("nand.suspend.erase", "40us".into()),
        ("nand.suspend.limit", "8".into()),
        ("controller.write_buffer", format!("{}B", 4 * (page << 10) * planes * bits)),
        ("controller.cores", "3".into()),
        ("controller.command", "1us".into()),
        ("controller.map", pick(random, &["dram", "1MiB", "64MiB"])),
        ("ftl.gc", word_of::<VictimRule>(random.next() as u32)),
        ("ftl.reserve_superblocks", reserve.to_string()),
        ("cache.mode", mode),
        ("cache.dynamic", format!("{}B", cache * superblock / bits)),
        ("cache.static", format!("{}B", aside * superblock / bits)),
        ("cache.when_full", word_of::<WhenFull>(random.next() as u32)),
        ("cache.idle.threshold", "20ms".into()),
        ("capacity", format!("{capacity}B")),
    ]
    .into_iter()
    .map(|(key, value)| (key.to_string(), value))
    .collect();
    Ok(profile::load("large.toml", "name = \"large\"", &|_| None, &set)?.config)
}

/// What the host asked for, added up by ourselves.
#[derive(Default)]
struct Asked {
    read: u64,
    written: u64,
    trimmed: u64,
    operations: u64,
}

/// Random requests, in phases of one character each, until `until` or `most` of them.
fn work(machine: &mut Machine, random: &mut Random, capacity: u64, most: u64, until: Instant) -> Asked {
    let mut asked = Asked::default();
    let (mut now, mut next) = (Nanos::ZERO, 0u64);
    let pages = capacity / 4096;
    let mut held: Vec<Nanos> = Vec::new();
    let mut counters = vec![0; Machine::COLUMNS.len()];
    let mut before = counters.clone();
    while asked.operations < most && Instant::now() < until {
        // A phase: where, how large, what, how deep, how hurried.
        let span = (pages >> random.below(12)).max(1);
        let base = random.below(pages - span + 1);
        let largest = 1 << random.below(9);
        let kinds = [random.below(20), random.below(20), random.below(3), random.below(2) * random.below(3)];
        let sum = kinds.iter().sum::<u64>().max(1);
        let (sequential, ragged) = (random.below(3) == 0, random.below(4) == 0);
        let depth = 1 << random.below(7);
        let hurry = 1 << random.below(24);
        for _ in 0..random.below(3000) {
            let most = 1 + random.below(largest);
            let count = (1 + random.below(most)).min(pages);
            let first = if sequential { next % pages } else { base + random.below(span) }.min(pages - count);
            next = first + count;
            let (mut offset, mut len) = (first * 4096, count as u32 * 4096);
            if ragged && random.below(3) == 0 {
                offset += 512 * random.below(4);
                len -= 2048;
            }
            let mut at = random.below(sum);
            let kind = kinds.iter().position(|weight| match at.checked_sub(*weight) {
                Some(rest) => {
                    at = rest;
                    false
                }
                None => true,
            });
            let request = match kind {
                Some(0) => Request { fua: random.below(50) == 0, ..Request::write(offset, len) },
                Some(2) => Request::trim(offset, len),
                Some(3) => Request::flush(),
                _ => Request::read(offset, len),
            };
            match request.op {
                Op::Read => asked.read += len as u64,
                Op::Write => asked.written += len as u64,
                Op::Trim => asked.trimmed += len as u64,
                Op::Flush => {}
            }
            asked.operations += 1;
            let done = machine.submit(now, &request, true);
            assert!(done >= now, "{request:?} of {now} was done at {done}");
            assert!(done - now < Nanos::from_secs(3600), "{request:?} of {now} took until {done}");
            held.push(done);
            if held.len() >= depth {
                now = now.max(held.drain(..).min().expect("one at least"));
            }
            now += Nanos(random.below(hurry));
        }
        if random.below(4) == 0 {
            now += Nanos(random.below(40_000_000_000));
            machine.advance(now);
        }
        machine.sample(Nanos::ZERO, &mut counters);
        for ((name, was), is) in Machine::COLUMNS.iter().zip(&before).zip(&counters) {
            assert!(!name.ends_with("_total") || is >= was, "{name} went from {was} to {is}");
        }
        before.copy_from_slice(&counters);
    }
    asked
}

/// How long a drive is worked on; what it does is the same each time, up to there.
const A_DRIVE: Duration = Duration::from_secs(4);

/// The counters against what was asked for, and against each other.
fn accounts(config: &Config, machine: &mut Machine, asked: &Asked) {
    machine.drive().audit();
    let counters = counters(machine);
    let value = |name: &str| counted(&counters, name);
    if config.host.page_cache.is_none() {
        assert_eq!(value("host_read_bytes_total"), asked.read);
        assert_eq!(value("host_write_bytes_total"), asked.written);
        // Some bridges let no trim through.
        let dropped = config.usb.as_ref().is_some_and(|usb| usb.drops_discards);
        assert_eq!(value("host_trim_bytes_total"), if dropped { 0 } else { asked.trimmed });
    }
    assert!(value("mapped_bytes") <= config.capacity_bytes.next_multiple_of(4096));
    // What was programmed came from the host, was folded or collected; the rest of a program unit may be padding.
    let programmed = value("slc_programmed_bytes_total") + value("native_programmed_bytes_total");
    let moved = value("host_to_slc_bytes_total")
        + value("host_to_native_bytes_total")
        + value("folded_bytes_total")
        + value("gc_bytes_total");
    // The write buffer holds what is not yet in a whole unit.
    let waiting =
        config.controller.write_buffer_bytes + (config.nand.dies as u64 * 5 * config.nand.page_bytes as u64 * 16);
    assert!(programmed + waiting >= moved, "{moved} bytes went to the NAND, {programmed} were programmed");
}

/// On how many drives, of how much in all, how many requests.
#[derive(Default)]
struct Sum {
    drives: u64,
    refused: u64,
    operations: u64,
    bytes: u64,
    smallest: u64,
    largest: u64,
}

/// At most `each` requests on every drive.
fn soak(seed: u64, time: Duration, most: u64, each: u64) -> Sum {
    let until = Instant::now() + time;
    let mut sum = Sum { smallest: u64::MAX, ..Sum::default() };
    let mut number = 0;
    while Instant::now() < until && sum.operations < most {
        // A drive is found again by its number: SOAK_SEED=seed + number.
        let mut random = Random(seed.wrapping_add(number));
        number += 1;
        let drawn = match random.below(3) {
            0 => large(&mut random),
            _ => drawn::config(&DRAWN.iter().map(|_| random.below(1000) as u32).collect::<Vec<_>>()),
        };
        let Ok(config) = drawn else {
            sum.refused += 1;
            continue;
        };
        let what = format!("drive {} of {} bytes", seed.wrapping_add(number - 1), config.capacity_bytes);
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let mut machine = Machine::new(&config);
            let until = until.min(Instant::now() + A_DRIVE);
            let asked = work(&mut machine, &mut random, config.capacity_bytes, each, until);
            // The audit looks at every page: of the largest drives at a few only.
            if config.capacity_bytes < 1 << 40 || random.below(8) == 0 {
                accounts(&config, &mut machine, &asked);
            }
            asked
        }));
        let asked = result.unwrap_or_else(|panic| {
            eprintln!("{what}: {config:?}");
            std::panic::resume_unwind(panic)
        });
        sum.drives += 1;
        sum.operations += asked.operations;
        sum.bytes += asked.read + asked.written + asked.trimmed;
        sum.smallest = sum.smallest.min(config.capacity_bytes);
        sum.largest = sum.largest.max(config.capacity_bytes);
    }
    sum
}

/// The same closed loop of writes and then, in percent, of `reads` among writes, on a drive at the host and on that drive
/// behind a bridge: the time each takes.
fn loops(config: &Config, bridge: Link, reads: u64, random: &mut Random) -> (Nanos, Nanos) {
    let mut behind = config.clone();
    behind.usb = Some(Usb { behind: Some(config.link), ..Usb::default() });
    behind.link = bridge;
    let (depth, pages) = (1 << random.below(7), 1 << random.below(9));
    let span = (config.capacity_bytes >> random.below(4)) / 4096;
    let ordered = random.below(2) == 0;
    let requests: Vec<Request> = (0..1500)
        .map(|number| {
            let count = (1 + random.below(pages)).min(span);
            let first = if ordered { number * pages } else { random.next() } % (span - count + 1);
            if number >= 500 && random.below(100) < reads {
                Request::read(first * 4096, count as u32 * 4096)
            } else {
                Request::write(first * 4096, count as u32 * 4096)
            }
        })
        .collect();
    let took = |config: &Config| {
        let (mut machine, mut now, mut last) = (Machine::new(config), Nanos::ZERO, Nanos::ZERO);
        let mut held = BinaryHeap::new();
        for (number, request) in requests.iter().enumerate() {
            if number == 500 && reads == 100 {
                // What was written is programmed.
                held.clear();
                now = Nanos(last.0 + 60_000_000_000);
                machine.advance(now);
            }
            if held.len() == depth {
                let Reverse(done) = held.pop().expect("it is full");
                now = now.max(done);
            }
            let done = machine.submit(now, request, true);
            last = last.max(done);
            held.push(Reverse(done));
        }
        last
    };
    (took(config), took(&behind))
}

/// Leave little but the link to wait for.
fn quicken(config: &mut Config) {
    for cells in cells_of(config) {
        (cells.read, cells.program) = (Nanos(cells.read.0 / 20), Nanos(cells.program.0 / 20));
    }
    config.nand.bus_mts = 3600;
    config.controller =
        Controller { cores: 4, read: Nanos(500), write: Nanos(500), map: None, ..config.controller.clone() };
}

fn cells_of(config: &mut Config) -> impl Iterator<Item = &mut CellTiming> {
    let Nand { slc, native, mlc, .. } = &mut config.nand;
    [Some(slc), Some(native), mlc.as_mut()].into_iter().flatten()
}

#[test]
fn a_bridge_never_makes_a_drive_faster() {
    let (mut drives, mut slower, mut number) = (0, 0, environment("SOAK_SEED", 1));
    while drives < 300 {
        let mut random = Random(number);
        number += 1;
        let drawn = drawn::config(&DRAWN.iter().map(|_| random.below(1000) as u32).collect::<Vec<_>>());
        let Ok(mut config) = drawn else { continue };
        config.host = Host::default();
        // A slower drive stays cooler, and moves its data when they are of another age.
        config.heat = None;
        cells_of(&mut config).for_each(|cells| cells.retention = None);
        if random.below(2) == 0 {
            quicken(&mut config);
        }
        if config.usb.take().is_some() {
            config.link = Link::Sata { mbps: 6000 };
        }
        let bridge = Link::Usb { mbps: [5000, 10_000, 20_000][random.below(3) as usize] };
        let reads = [0, 0, 100, 100, 50][random.below(5) as usize];
        let (plain, bridged) = loops(&config, bridge, reads, &mut random);
        drives += 1;
        slower += (bridged > plain) as u32;
        // What comes later may find a die free by luck.
        assert!(
            bridged.0 * 100 >= plain.0 * 95,
            "drive {}, {reads} % reads: {plain} on {:?}, {bridged} behind {bridge:?}",
            number - 1,
            config.link
        );
    }
    assert!(slower > 250, "{slower} of {drives} are slower");
}

fn environment(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |text| text.parse().expect(name))
}

#[test]
fn random_requests_on_random_drives_are_accounted_for() {
    let sum = soak(1, Duration::from_secs(60), 150_000, 10_000);
    assert!(sum.operations > 0);
}

#[test]
#[ignore = "as long as SOAK_SECONDS says: make soak"]
fn the_same_for_long() {
    let (seed, seconds) = (environment("SOAK_SEED", 1), environment("SOAK_SECONDS", 60));
    let sum = soak(seed, Duration::from_secs(seconds), u64::MAX, u64::MAX);
    println!(
        "{} requests of {} bytes on {} drives of {} to {} bytes; {} drawings are no drive",
        sum.operations, sum.bytes, sum.drives, sum.smallest, sum.largest, sum.refused
    );
    assert!(sum.operations > 0);
}
