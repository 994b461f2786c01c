//! Drives small enough to look at page by page.
#![allow(dead_code, reason = "each test file uses a part of it")]

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use pslc_ssd::config::*;
use pslc_ssd::{CellMode, Drive, Machine, MapUnit, Nanos, Request};

/// A bin of speeds: a whole number of requests.
pub const BIN: u64 = 4 << 20;

/// 4 dies on 2 channels, 1 plane; a superblock is 4 program units of 48 KiB, and there are 32.
pub fn tiny() -> Config {
    Config {
        name: "tiny".into(),
        capacity_bytes: 4096 * 48 * 20,
        link: Link::Pcie { generation: 3, lanes: 1 },
        nand: Nand {
            channels: 2,
            dies: 4,
            planes: 1,
            blocks_per_plane: 32,
            pages_per_block: 3,
            page_bytes: 16384,
            map_unit: MapUnit::default(),
            bits_per_cell: 3,
            bus_mts: 400,
            slc: CellTiming {
                read: Nanos::from_micros(20),
                program: Nanos::from_micros(150),
                erase: Nanos::from_millis(2),
                retention: None,
            },
            mlc: None,
            native: CellTiming {
                read: Nanos::from_micros(50),
                program: Nanos::from_micros(1500),
                erase: Nanos::from_millis(3),
                retention: None,
            },
            suspend: Some(Suspend { program: Nanos::from_micros(15), erase: Nanos::from_micros(40), limit: 3 }),
            independent_reads: false,
            ..Nand::default()
        },
        controller: Controller::plain(4096 * 48, 2, Nanos(1500)),
        ftl: Ftl {
            gc: VictimRule::Greedy,
            gc_overhead_permille: 1000,
            erase_every_bytes: 0,
            reserve_superblocks: 3,
            refresh: None,
        },
        cache: Cache {
            mode: CacheMode::DynamicSlc,
            static_bytes: 0,
            dynamic_bytes: 4096 * 16 * 8,
            dynamic_mlc: false,
            shrink_from_permille: 1000,
            shrink_to_permille: 1000,
            dynamic_least_bytes: 0,
            when_full: WhenFull::DirectThenFold,
            host_share_permille: 500,
            fold_overhead_permille: 1500,
            fold_below_bytes: 0,
            fold_batch_bytes: 0,
            reuse: Reuse::AfterIdle,
            dead_until_idle: false,
            off_when_worn: false,
            idle: Some(Idle { threshold: Nanos::from_millis(5), ..Idle::default() }),
        },
        usb: None,
        power: None,
        heat: None,
        wear: None,
        host: Host::default(),
    }
}

/// A TLC drive of about 3.2 GB raw: 8 dies on 4 channels, 2 planes, superblocks of 8 MiB, 400 of them.
/// The link and the controller are out of the way, so that NAND alone sets the speeds.
pub fn small() -> Config {
    let mut config = tiny();
    config.name = "small".into();
    config.link = Link::Pcie { generation: 5, lanes: 16 };
    config.nand = Nand {
        channels: 4,
        dies: 8,
        planes: 2,
        blocks_per_plane: 400,
        pages_per_block: 33,
        bus_mts: 2400,
        suspend: None,
        ..config.nand
    };
    config.controller = Controller::plain(8 << 20, 8, Nanos(100));
    config.capacity_bytes = 2_800_000_000 / 4096 * 4096;
    config.cache.dynamic_bytes = 800_000_000;
    config
}

/// A closed loop of `depth` requests; returns the time it took.
pub fn closed_loop(
    machine: &mut Machine,
    from: Nanos,
    depth: usize,
    count: usize,
    direct: bool,
    mut next: impl FnMut(usize) -> Request,
) -> Nanos {
    let mut ends = vec![from; depth];
    for i in 0..count {
        let slot = (0..depth).min_by_key(|slot| ends[*slot]).unwrap();
        ends[slot] = machine.submit(ends[slot], &next(i), direct);
    }
    *ends.iter().max().unwrap() - from
}

/// All counters and gauges of a machine.
pub fn counters(machine: &Machine) -> Vec<u64> {
    let mut values = vec![0; Machine::COLUMNS.len()];
    machine.sample(Nanos::ZERO, &mut values);
    values
}

/// One of them by its name.
pub fn counted(counters: &[u64], name: &str) -> u64 {
    counters[Machine::COLUMNS.iter().position(|column| *column == name).unwrap()]
}

/// A counter or gauge of a machine.
pub fn column(machine: &Machine, name: &str) -> u64 {
    counted(&counters(machine), name)
}

/// A counter or gauge of a drive.
pub fn drive_column(drive: &Drive, name: &str) -> u64 {
    let mut values = vec![0; Drive::COLUMNS.len()];
    drive.sample(Nanos::ZERO, &mut values);
    values[Drive::COLUMNS.iter().position(|column| *column == name).unwrap()]
}

/// What the dies program natively, in bytes a second.
pub fn native_speed(c: &Config) -> f64 {
    c.nand.program_bytes_per_s(CellMode::Native) as f64
}

/// What they program at one bit a cell.
pub fn slc_speed(c: &Config) -> f64 {
    c.nand.program_bytes_per_s(CellMode::Slc) as f64
}

/// Speeds while the whole drive is written once.
pub fn curve(c: &Config) -> Vec<f64> {
    Load::new(c).fill(0, c.capacity_bytes, BIN)
}

/// Time-ordered requests at a queue depth, on a drive.
pub struct Load {
    pub drive: Drive,
    pub now: Nanos,
    outstanding: BinaryHeap<Reverse<Nanos>>,
    pub depth: usize,
}

impl Load {
    pub fn new(config: &Config) -> Load {
        Load::on(Drive::new(config), Nanos::ZERO)
    }

    pub fn on(drive: Drive, now: Nanos) -> Load {
        Load { drive, now, outstanding: BinaryHeap::new(), depth: 32 }
    }

    pub fn ask(&mut self, request: Request) {
        self.latency(request);
    }

    /// Ask for something; how long it takes.
    pub fn latency(&mut self, request: Request) -> Nanos {
        if self.outstanding.len() == self.depth {
            self.now = self.outstanding.pop().unwrap().0;
        }
        let done = self.drive.submit(self.now, &request);
        self.outstanding.push(Reverse(done));
        done - self.now
    }

    /// Wait for everything outstanding.
    pub fn drain(&mut self) {
        while let Some(Reverse(done)) = self.outstanding.pop() {
            self.now = done;
        }
    }

    /// Let the drive alone.
    pub fn idle(&mut self, time: Nanos) {
        self.drain();
        self.now += time;
        self.drive.advance(self.now);
    }

    /// Write a range in order, 256 KiB a request; returns the speed in bytes a second of each `bin` bytes.
    pub fn fill(&mut self, from: u64, to: u64, bin: u64) -> Vec<f64> {
        let mut speeds = Vec::new();
        let (mut at, mut began, mut binned) = (from, self.now, 0);
        while at < to {
            let len = (256 << 10).min(to - at);
            self.ask(Request::write(at, len as u32));
            at += len;
            binned += len;
            if binned >= bin {
                speeds.push(binned as f64 / (self.now - began).as_secs_f64());
                (began, binned) = (self.now, 0);
            }
        }
        self.drain();
        speeds
    }

    /// Write 4 KiB pages of the first `span` bytes at random.
    pub fn scatter(&mut self, span: u64, count: u64, random: &mut Random) {
        for _ in 0..count {
            self.ask(Request::write(random.below(span / 4096) * 4096, 4096));
        }
    }

    pub fn value(&self, column: &str) -> u64 {
        drive_column(&self.drive, column)
    }
}

/// A small generator, so that tests need no seed from elsewhere (splitmix64).
#[derive(Debug)]
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

/// Mean of some of the values.
pub fn mean(values: &[f64]) -> f64 {
    // The mean speed of equal amounts of bytes is the harmonic one.
    values.len() as f64 / values.iter().map(|v| 1.0 / v).sum::<f64>()
}

pub fn assert_near(what: &str, value: f64, expected: f64, tolerance: f64) {
    assert!((value / expected - 1.0).abs() <= tolerance, "{what}: {value} is not within {tolerance} of {expected}");
}
