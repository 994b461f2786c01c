//! The drive as a function: `submit(now, request)` gives the time the request completes.

use crate::config::{CellMode, Config};
use crate::controller::{Controller, WriteBuffer};
use crate::ftl::{Ftl, Superblock, NONE};
use crate::link::Link;
use crate::nand::Nand;
use crate::request::{Op, Request};
use crate::units::{Nanos, PAGE_BYTES};

/// A simulated drive, fresh from the factory: every block erased, nothing mapped, its clock at zero.
#[derive(Clone, Debug)]
pub struct Drive {
    link: Link,
    controller: Controller,
    buffer: WriteBuffer,
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
}

/// The pages that a byte range touches.
#[derive(Clone, Copy, Debug)]
struct Pages {
    first: u32,
    count: u32,
    /// The first, the last page is covered in part only.
    ragged: (bool, bool),
}

impl Pages {
    #[inline]
    fn of(request: &Request) -> Pages {
        let end = request.offset + request.len as u64;
        let first = request.offset / PAGE_BYTES;
        let last = end.div_ceil(PAGE_BYTES);
        Pages {
            first: first as u32,
            count: (last - first) as u32,
            ragged: (request.offset % PAGE_BYTES != 0, end % PAGE_BYTES != 0),
        }
    }
}

impl Drive {
    /// Names of what [`Drive::sample`] writes. Counters end in `_total`; the others are gauges.
    pub const COLUMNS: &'static [&'static str] = &[
        "host_read_bytes_total",
        "host_write_bytes_total",
        "host_trim_bytes_total",
        "host_to_slc_bytes_total",
        "host_to_native_bytes_total",
        "folded_bytes_total",
        "idle_folded_bytes_total",
        "gc_bytes_total",
        "died_in_slc_bytes_total",
        "slc_programmed_bytes_total",
        "native_programmed_bytes_total",
        "slc_erases_total",
        "native_erases_total",
        "link_busy_ns_total",
        "die_busy_ns_total",
        "buffer_wait_ns_total",
        "suspends_total",
        "slc_valid_bytes",
        "slc_superblocks",
        "free_superblocks",
        "mapped_bytes",
        "cache_limit_bytes",
    ];

    pub fn new(config: &Config) -> Drive {
        Drive {
            link: Link::new(&config.link),
            controller: Controller::new(&config.controller),
            buffer: WriteBuffer::new((config.controller.write_buffer_bytes / PAGE_BYTES) as u32),
            ftl: Ftl::new(config),
            nand: Nand::new(&config.nand),
            capacity_bytes: config.capacity_bytes,
            planes: config.nand.dies as u64 * config.nand.planes as u64,
            now: Nanos::ZERO,
            silent_since: Nanos::ZERO,
            host_read_bytes: 0,
            host_write_bytes: 0,
            host_trim_bytes: 0,
        }
    }

    /// Bytes the host can address.
    pub fn capacity_bytes(&self) -> u64 {
        self.capacity_bytes
    }

    /// Link, as its ceilings in bytes a second: for data written, for data read.
    pub fn link_ceilings(&self) -> (u64, u64) {
        (self.link.write_ceiling(), self.link.read_ceiling())
    }

    /// A copy in the same state.
    pub fn fork(&self) -> Drive {
        self.clone()
    }

    /// Let the time up to `now` pass: what the host's silence leaves is used for background work.
    #[inline]
    pub fn advance(&mut self, now: Nanos) {
        assert!(now >= self.now, "time runs forwards: {} after {}", now, self.now);
        self.now = now;
        if now > self.silent_since {
            self.ftl.background(&mut self.nand, self.silent_since, now);
        }
        self.nand.forget_before(now);
    }

    /// Ask for something at `now`, which must not be before the last call's; returns when it completes.
    ///
    /// Panics if the request goes past the end of the drive: the caller checks what users give.
    #[inline]
    pub fn submit(&mut self, now: Nanos, request: &Request) -> Nanos {
        assert!(
            request.offset + request.len as u64 <= self.capacity_bytes,
            "{request:?} ends past {} bytes",
            self.capacity_bytes
        );
        self.advance(now);
        let taken = self.controller.take(now);
        let done = match request.op {
            Op::Read => self.read(taken, request),
            Op::Write => self.write(taken, request),
            Op::Trim => self.trim(taken, request),
            Op::Flush => self.flush(taken),
        };
        self.silent_since = self.silent_since.max(done);
        done
    }

    /// Bring what a request will look up closer to the processor. Changes no state.
    #[inline]
    pub fn prepare(&self, request: &Request) {
        self.ftl.prefetch((request.offset / PAGE_BYTES) as u32);
    }

    /// The superblocks, for tools that look inside.
    pub fn superblocks(&self) -> impl Iterator<Item = &Superblock> {
        self.ftl.superblocks()
    }

    /// Check that the mapping is consistent and every count is what it counts; panics if not. Slow; for tests.
    pub fn audit(&self) {
        self.ftl.audit();
    }

    /// Counters and gauges as they are now, in the order of [`Drive::COLUMNS`].
    pub fn sample(&self, into: &mut [u64]) {
        let pages = &self.ftl.pages;
        let bytes = |pages: u64| pages * PAGE_BYTES;
        let (slc_erases, native_erases) = self.ftl.erases();
        into.copy_from_slice(&[
            self.host_read_bytes,
            self.host_write_bytes,
            self.host_trim_bytes,
            bytes(pages.host_to_slc),
            bytes(pages.host_to_native),
            bytes(pages.folded),
            bytes(pages.idle_folded),
            bytes(pages.collected),
            bytes(pages.died_in_slc),
            bytes(pages.slc_programmed),
            bytes(pages.native_programmed),
            slc_erases * self.planes,
            native_erases * self.planes,
            self.link.busy().0,
            self.nand.busy.0,
            self.buffer.waited.0,
            self.nand.suspends,
            bytes(pages.slc_valid),
            self.ftl.slc_superblocks() as u64,
            self.ftl.free_superblocks() as u64,
            bytes(pages.mapped),
            self.ftl.cache_superblocks() as u64 * self.ftl.superblock_bytes(CellMode::Slc),
        ]);
    }

    fn read(&mut self, taken: Nanos, request: &Request) -> Nanos {
        self.host_read_bytes += request.len as u64;
        let pages = Pages::of(request);
        let mut command = self.link.command_bytes();
        let mut done = taken;
        self.each_row(taken, pages, |drive, at, count| {
            let bytes = count as u64 * PAGE_BYTES + std::mem::take(&mut command);
            done = done.max(drive.link.send(drive.now, at, bytes));
        });
        done
    }

    /// Look the pages up and read what is in the NAND; tells of each part when it is in the controller.
    #[inline]
    fn each_row(&mut self, taken: Nanos, pages: Pages, mut arrived: impl FnMut(&mut Drive, Nanos, u32)) {
        let (mut page, mut rest) = (pages.first, pages.count);
        while rest > 0 {
            let (mut from, run) = self.ftl.find(page, rest);
            let mut left = run;
            while left > 0 {
                if from == NONE {
                    arrived(self, taken, left);
                    break;
                }
                let (place, mode, held) = self.ftl.locate(from, &self.nand, &mut self.buffer, taken);
                let part = left.min(place.row_rest);
                let at = match held {
                    true => taken,
                    false => self.nand.host_read(taken, place.die, mode, part),
                };
                arrived(self, at, part);
                from += part;
                left -= part;
            }
            page += run;
            rest -= run;
        }
    }

    fn write(&mut self, taken: Nanos, request: &Request) -> Nanos {
        self.host_write_bytes += request.len as u64;
        let pages = Pages::of(request);
        let ready = self.merge_reads(taken, pages);
        let mut command = self.link.command_bytes();
        let mut bytes = request.len as u64;
        let mut done = ready;
        let (mut page, mut rest) = (pages.first, pages.count);
        while rest > 0 {
            let mapped = self.ftl.map_host(&mut self.nand, ready, page, rest);
            let (link, now) = (&mut self.link, self.now);
            let transfer = |room: Nanos, pages: u32| {
                let carried = bytes.min(pages as u64 * PAGE_BYTES);
                bytes -= carried;
                let at = link.receive(now, room, carried + std::mem::take(&mut command));
                done = done.max(at);
                at
            };
            self.ftl.take_in(&mut self.nand, &mut self.buffer, ready, mapped, transfer);
            page += mapped;
            rest -= mapped;
        }
        match request.fua {
            true => self.flush(done),
            false => done,
        }
    }

    /// Pages that a write covers in part are read first; returns when that is done.
    #[inline]
    fn merge_reads(&mut self, taken: Nanos, pages: Pages) -> Nanos {
        if pages.ragged == (false, false) {
            return taken;
        }
        let mut ready = taken;
        let last = pages.first + pages.count - 1;
        let mut read = |drive: &mut Drive, first: u32| {
            let one = Pages { first, count: 1, ragged: (false, false) };
            drive.each_row(taken, one, |_, at, _| ready = ready.max(at));
        };
        if pages.ragged.0 {
            read(self, pages.first);
        }
        if pages.ragged.1 && (last != pages.first || !pages.ragged.0) {
            read(self, last);
        }
        ready
    }

    /// Only pages that the range covers whole are deallocated.
    fn trim(&mut self, taken: Nanos, request: &Request) -> Nanos {
        self.host_trim_bytes += request.len as u64;
        let first = request.offset.div_ceil(PAGE_BYTES);
        let end = (request.offset + request.len as u64) / PAGE_BYTES;
        if first < end {
            self.ftl.trim(first as u32, (end - first) as u32);
        }
        taken
    }

    fn flush(&mut self, taken: Nanos) -> Nanos {
        self.ftl.flush_host(&mut self.nand, &mut self.buffer, taken);
        taken.max(self.buffer.drained_at(&self.nand))
    }
}
