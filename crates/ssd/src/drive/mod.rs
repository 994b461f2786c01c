//! The drive as a function: `submit(now, request)` gives the time the request completes.
//!
//! ```text
//!   submit      a request's way through the drive, and what its time went to
//!     read  write  flush  trim
//!     lookup    which pages of the map are in the controller
//!   idle        time in which the host is silent: background work, rest, heat
//!   power       switched off and on, lost and formatted
//!   cycling     a drive in a run, whose writes repeat
//! ```

mod check;
mod cycling;
mod flush;
mod idle;
mod lookup;
mod pace;
mod page_range;
mod power;
mod read;
mod submit;
mod trim;
mod write;

pub use cycling::CyclingDrive;
pub use pace::Pace;

use crate::cell_mode::CellMode;
use crate::columns::columns;
use crate::config::{self, Config};
use crate::controller::{MapCache, ReadAhead, WriteBuffer};
use crate::cores::Cores;
use crate::cycle_cache::CycleCounters;
use crate::ftl::custom::Custom;
use crate::ftl::{Aging, Ftl, Superblock};
use crate::link::Link;
use crate::nand::Nand;
use crate::power::{Waking, LEVELS};
use crate::request::Request;
use crate::thermal::Thermal;
use crate::units::{Lpn, MapUnit, Nanos, Ppn};
use crate::waits::Waits;

/// A simulated drive, fresh from the factory: every block erased, nothing mapped, its clock at zero.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct Drive {
    link: Link,
    controller: config::Controller,
    cores: Cores,
    buffer: WriteBuffer,
    read_ahead: Option<ReadAhead>,
    map_cache: Option<MapCache>,
    power: Option<config::Power>,
    heat: Option<Thermal>,
    ftl: Ftl,
    nand: Nand,
    capacity_bytes: u64,
    planes: u64,
    now: Nanos,
    /// End of the last request so far: the host is silent from then on.
    silent_since: Nanos,
    host_read_bytes: u64,
    host_write_bytes: u64,
    host_trim_bytes: u64,
    map_read_pages: u64,
    map_programmed_pages: u64,
    /// Pages of the map that were changed and have gone, and wait to be written together.
    map_pages_to_write: u32,
    /// Time spent in the idle state, and in each deeper one.
    idle: [Nanos; LEVELS],
    /// What a bridge from USB makes of commands, and from when on it takes the next where it takes one at a time.
    usb: config::Usb,
    bus_free: Nanos,
    /// Leaving the idle state.
    waking: Waking,
    /// Time requests have waited for the map.
    map_waited: Nanos,
    /// Something was written or trimmed since the last flush.
    unflushed: bool,
    /// Time requests have waited for what they wrote to be in the NAND.
    flush_waited: Nanos,
    power_cycles: u64,
    /// Times the power went without a word, and pages that the write buffer lost then.
    unsafe_shutdowns: u64,
    lost_pages: u64,
    /// Time in which the host asked for nothing.
    silent: Nanos,
    /// What the time of the last request goes to, where somebody asks.
    #[serde(skip, default = "yes")]
    tells: bool,
    #[serde(skip)]
    waits: Waits,
}

fn yes() -> bool {
    true
}

/// When counters are asked for, what writes add to them that are not worked out yet, and the pages that are in the buffer.
#[derive(Clone, Copy, Debug)]
struct Ahead {
    now: Nanos,
    counters: CycleCounters,
    held: u32,
}

impl Drive {
    pub fn new(config: &Config) -> Drive {
        let unit = config.nand.map_unit;
        Drive {
            link: Link::new(config),
            controller: config.controller.clone(),
            cores: Cores::new(config.controller.cores),
            buffer: WriteBuffer::new(
                unit.whole(config.controller.write_buffer_bytes) as u32,
                config.nand.multi_plane_pages(),
            ),
            read_ahead: (config.controller.read_ahead_bytes > 0)
                .then(|| ReadAhead::new(unit.whole(config.controller.read_ahead_bytes) as u32)),
            map_cache: config.controller.map.map(|map| MapCache::new(&map, unit.whole(config.capacity_bytes))),
            power: config.power,
            heat: config.heat.as_ref().map(Thermal::new),
            ftl: Ftl::new(config),
            nand: Nand::new(config),
            capacity_bytes: config.capacity_bytes,
            planes: config.nand.dies as u64 * config.nand.planes as u64,
            now: Nanos::ZERO,
            silent_since: Nanos::ZERO,
            host_read_bytes: 0,
            host_write_bytes: 0,
            host_trim_bytes: 0,
            map_read_pages: 0,
            map_programmed_pages: 0,
            map_pages_to_write: 0,
            idle: [Nanos::ZERO; LEVELS],
            usb: config.usb.unwrap_or_default(),
            bus_free: Nanos::ZERO,
            waking: Waking::default(),
            map_waited: Nanos::ZERO,
            unflushed: false,
            flush_waited: Nanos::ZERO,
            power_cycles: 1,
            unsafe_shutdowns: 0,
            lost_pages: 0,
            silent: Nanos::ZERO,
            tells: true,
            waits: Waits::default(),
        }
    }

    /// The time of the last call.
    pub fn now(&self) -> Nanos {
        self.now
    }

    /// Bytes that an entry of the map stands for.
    #[inline(always)]
    pub fn unit(&self) -> MapUnit {
        self.ftl.unit()
    }

    /// Bytes the host can address.
    pub fn capacity_bytes(&self) -> u64 {
        self.capacity_bytes
    }

    /// Valid data in the pSLC cache.
    #[inline]
    pub fn cache_bytes(&self) -> u64 {
        self.unit().bytes(self.ftl.pages.slc_valid)
    }

    /// Whether anybody asks what the last request spent its time on.
    #[inline]
    pub fn tells(&self) -> bool {
        self.tells
    }

    /// The most that the links carry of data read and of data written, in bytes a second.
    pub fn link_ceilings(&self) -> (u64, u64) {
        self.link.ceilings()
    }

    /// Ask this policy of the cache and this victim rule from now on, in place of the profile's.
    pub fn set_custom(&mut self, custom: Custom) {
        self.ftl.set_custom(custom);
    }

    /// Time up to `now` in which nothing was asked for.
    pub fn silent(&self, now: Nanos) -> Nanos {
        self.silent + now.saturating_sub(self.silent_since.max(self.now))
    }

    /// What the time of the request that was submitted last goes to.
    #[inline]
    pub fn waits(&self) -> &Waits {
        &self.waits
    }

    /// Prefetch what a request will look up. Changes no state.
    #[inline]
    pub fn prepare(&self, request: &Request) {
        self.ftl.prefetch(Lpn(self.unit().whole(request.offset) as u32));
    }

    /// Whether the page at a byte offset holds data, and how many bytes from there on, at most so many, do as it does; there
    /// may be more.
    pub fn mapped(&self, offset: u64, max_bytes: u64) -> (bool, u64) {
        let unit = self.unit();
        let page = unit.whole(offset);
        let end = unit.needed((offset + max_bytes).min(self.capacity_bytes));
        let (at, run) = self.ftl.find(Lpn(page as u32), (end - page) as u32);
        (at != Ppn::NONE, (unit.bytes(page + run as u64) - offset).min(max_bytes))
    }

    /// The parts of a range that hold no data: offset and length of each, in bytes.
    pub fn unwritten(&self, offset: u64, len: u64) -> Vec<(u64, u64)> {
        let mut holes: Vec<(u64, u64)> = Vec::new();
        let unit = self.unit();
        let (mut page, end) = (unit.whole(offset) as u32, unit.needed(offset + len) as u32);
        while page < end {
            let (at, count) = self.ftl.find(Lpn(page), end - page);
            if at == Ppn::NONE {
                let (from, bytes) = (unit.bytes(page as u64), unit.bytes(count as u64));
                match holes.last_mut() {
                    Some((start, length)) if *start + *length == from => *length += bytes,
                    _ => holes.push((from, bytes)),
                }
            }
            page += count;
        }
        holes
    }

    /// Pages that were acknowledged and are not in the NAND, and those that pad the last unit of a flush under way.
    pub fn buffered_pages(&self) -> u32 {
        self.buffer.held(&self.nand, self.now)
    }

    /// Bytes that the write buffer holds at most.
    pub fn write_buffer_bytes(&self) -> u64 {
        self.controller.write_buffer_bytes
    }

    /// The superblocks, for tools that look inside.
    pub fn superblocks(&self) -> impl Iterator<Item = &Superblock> {
        self.ftl.superblocks()
    }

    /// The age of what it holds; `None` where data do not age.
    pub(crate) fn aging(&self) -> Option<&Aging> {
        self.ftl.aging.as_deref()
    }

    pub(crate) fn set_aging(&mut self, aging: Option<Aging>) {
        self.ftl.aging = aging.map(Box::new);
    }

    /// Mapping pages of a superblock in a mode.
    pub fn superblock_pages(&self, mode: CellMode) -> u64 {
        self.unit().whole(self.ftl.superblock_bytes(mode))
    }

    /// Check that the mapping is consistent and every count is what it counts; panics if not. Slow; for tests.
    pub fn audit(&self) {
        self.ftl.audit();
    }

    /// Counters and gauges as of the last call, in the order of [`Drive::COLUMNS`]; energy up to `now`, until when
    /// what was asked for has been under way.
    pub fn sample(&self, now: Nanos, into: &mut [u64]) {
        let held = self.buffer.held(&self.nand, self.now);
        self.sample_ahead(Ahead { now, counters: CycleCounters::default(), held }, into);
    }

    columns! {
        /// Names of what [`Drive::sample`] writes. Counters end in `_total`; the others are gauges.
        pub const COLUMNS;
        /// As `sample`, where writes that are not worked out yet add to it.
        fn sample_ahead(&self, ahead: Ahead);
        "host_read_bytes_total": self.host_read_bytes,
        "host_write_bytes_total": self.host_write_bytes,
        "host_trim_bytes_total": self.host_trim_bytes,
        "host_to_slc_bytes_total": self.unit().bytes(self.ftl.pages.host_to_slc),
        "host_to_native_bytes_total": self.unit().bytes(self.ftl.pages.host_to_native),
        "folded_bytes_total": self.unit().bytes(self.ftl.pages.folded),
        "idle_folded_bytes_total": self.unit().bytes(self.ftl.pages.idle_folded),
        "gc_bytes_total": self.unit().bytes(self.ftl.pages.collected),
        "died_in_slc_bytes_total": self.unit().bytes(self.ftl.pages.died_in_slc),
        "slc_programmed_bytes_total": self.unit().bytes(self.ftl.programmed(CellMode::Slc, ahead.counters.units)),
        "native_programmed_bytes_total": self.unit().bytes(self.ftl.programmed(CellMode::Native, ahead.counters.units)),
        "slc_erases_total": self.ftl.erases().0 * self.planes,
        "native_erases_total": self.ftl.erases().1 * self.planes,
        "link_read_busy_ns_total": self.link.busy_with(&ahead.counters.link).to_host.0,
        "link_write_busy_ns_total": self.link.busy_with(&ahead.counters.link).to_drive.0,
        "die_busy_ns_total": (self.nand.busy() + ahead.counters.programming).0,
        "buffer_wait_ns_total": (self.buffer.waited + ahead.counters.waited).0,
        "suspends_total": self.nand.suspends,
        "slc_valid_bytes": self.cache_bytes(),
        "slc_superblocks": self.ftl.slc_superblocks() as u64,
        "free_superblocks": self.ftl.free_superblocks() as u64,
        "mapped_bytes": self.unit().bytes(self.ftl.pages.mapped),
        "cache_limit_bytes": self.unit().bytes(self.ftl.cache_pages()),
        "static_erases_total": self.ftl.static_erases() * self.planes,
        "map_read_bytes_total": self.unit().bytes(self.map_read_pages),
        "map_programmed_bytes_total": self.unit().bytes(self.map_programmed_pages),
        "energy_nj_total": self.energy_nj(ahead.now, ahead.counters.programming),
        "temperature_millicelsius": self.heat.as_ref().map_or(0, |heat| heat.temperature_mc().max(0) as u64),
        "throttle_level": self.heat.as_ref().map_or(0, |heat| heat.level() as u64),
        "map_wait_ns_total": self.map_waited.0,
        "buffer_bytes": self.unit().bytes(ahead.held as u64),
        "wake_ns_total": self.waking.spent.0,
        "flush_wait_ns_total": self.flush_waited.0,
    }
}
