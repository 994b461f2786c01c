//! Writes: mapped, brought over the link into the buffer as room comes free, and programmed.

use super::page_range::PageRange;
use super::Drive;
use crate::nand::Way;
use crate::request::Request;
use crate::units::{Lpn, Nanos, Ppn};
use crate::waits::Cause;

/// A write on its way over the link.
#[derive(Clone, Copy, Debug)]
struct Payload {
    /// Bytes of its data and of its command that have not come yet.
    bytes: u64,
    command: u64,
    /// When the last of what has come was here; at first, when the drive was ready for it.
    arrived: Nanos,
    /// Time in which nothing of it was under way, for want of room in the buffer.
    waited: Nanos,
}

impl Payload {
    fn new(bytes: u32, command: u64, ready: Nanos) -> Payload {
        Payload { bytes: bytes as u64, command, arrived: ready, waited: Nanos::ZERO }
    }
}

impl Drive {
    pub(super) fn write(&mut self, taken: Nanos, request: &Request) -> Nanos {
        self.host_write_bytes += request.len as u64;
        self.unflushed = true;
        let pages = PageRange::of(request, self.unit());
        let mapped = self.look_up(taken, pages, true);
        // The buffer answers before the map has been changed, but not more than so many changes ahead.
        let behind = match &mut self.map_cache {
            Some(cache) => cache.change_later(mapped),
            None => Nanos::ZERO,
        };
        let merged = match pages.is_whole() {
            true => taken,
            false => self.read_modify_write(taken, pages),
        };
        let ready = merged.max(behind);
        self.map_waited += ready - merged;
        if self.nand.waits.go_on() {
            self.nand.waits.spend(taken, Cause::Commands);
            self.nand.waits.spend(merged, Cause::Own);
            self.nand.waits.spend(ready, Cause::Mapping);
        }
        if let Some(ahead) = &mut self.read_ahead {
            ahead.forget(pages.first, pages.count);
        }
        let copy_in = self.controller.copy_in(request.len);
        if self.controller.merges_rewrites && pages.count == 1 && self.merges(ready, pages.first) {
            let bytes = request.len as u64 + self.link.command_bytes();
            let copied = self.link.receive(self.now, ready, bytes) + copy_in;
            self.nand.waits.spend(copied, Cause::Link);
            return self.acknowledge(request, copied);
        }
        self.ftl.sort(pages.first, pages.count);
        let mut payload = Payload::new(request.len, self.link.command_bytes(), ready);
        let (mut page, mut rest) = (pages.first, pages.count);
        while rest > 0 {
            let mapped = self.ftl.map_host(&mut self.nand, ready, page, rest);
            let throttled = self.ftl.is_throttled();
            self.take_in(ready, mapped, throttled, &mut payload);
            page += mapped;
            rest -= mapped;
        }
        self.buffer.waited += payload.waited;
        let copied = payload.arrived + copy_in;
        self.nand.waits.spend(copied, Cause::Commands);
        self.acknowledge(request, copied)
    }

    /// When a write is answered whose data are in the buffer at `copied`.
    #[inline]
    fn acknowledge(&mut self, request: &Request, copied: Nanos) -> Nanos {
        match request.fua || !self.controller.write_cache {
            true => self.flush(copied),
            false => copied,
        }
    }

    /// Whether the page is in the buffer, where what is written at `now` can take its place.
    fn merges(&mut self, now: Nanos, page: Lpn) -> bool {
        match self.ftl.find(page, 1).0 {
            Ppn::NONE => false,
            at => self.ftl.awaits_program(at, &self.nand, &mut self.buffer, now),
        }
    }

    /// Map a write of whole pages, whose data [`Drive::program_write`] then brings in.
    #[inline]
    pub(super) fn map_write(&mut self, now: Nanos, len: u32, pages: &PageRange) {
        self.host_write_bytes += len as u64;
        self.unflushed = true;
        if let Some(ahead) = &mut self.read_ahead {
            ahead.forget(pages.first, pages.count);
        }
        self.ftl.map_host(&mut self.nand, now, pages.first, pages.count);
    }

    /// The data of a write of whole pages come in, and are programmed; returns when they are here.
    pub(super) fn program_write(&mut self, now: Nanos, len: u32, throttled: bool) -> Nanos {
        self.now = now;
        self.nand.forget_before(now);
        let ready = self.cores.take(self.waking.called(now), self.controller.write);
        let mut payload = Payload::new(len, self.link.command_bytes(), ready);
        self.take_in(ready, self.unit().whole(len as u64) as u32, throttled, &mut payload);
        self.buffer.waited += payload.waited;
        payload.arrived + self.controller.copy_in(len)
    }

    /// Take in `pages` of a write that are mapped, from `ready` on: program unit by program unit, once there is room in the
    /// buffer.
    #[inline(always)]
    fn take_in(&mut self, ready: Nanos, mut pages: u32, throttled: bool, payload: &mut Payload) {
        let unit = self.unit();
        let accounts = self.nand.waits.go_on();
        while pages > 0 {
            let part = pages.min(self.ftl.unit_room());
            let room = self.buffer.take(&self.nand, ready, part);
            let carried = payload.bytes.min(unit.bytes(part as u64));
            payload.bytes -= carried;
            let at = self.link.receive(self.now, room, carried + std::mem::take(&mut payload.command));
            payload.waited += room.saturating_sub(payload.arrived);
            payload.arrived = payload.arrived.max(at);
            if accounts {
                self.buffer.account(&mut self.nand, at);
            }
            self.ftl.arrive(&mut self.nand, &mut self.buffer, at, part, throttled);
            pages -= part;
        }
    }

    /// Read-modify-write: pages that a write covers in part are read first; returns when that is done.
    #[inline(never)]
    fn read_modify_write(&mut self, taken: Nanos, pages: PageRange) -> Nanos {
        let mut ready = taken;
        let mut way = Way::default();
        let last = Lpn(pages.first.0 + pages.count - 1);
        let mut read = |drive: &mut Drive, first: Lpn| {
            drive.each_multi_plane_page(taken, PageRange::whole(first, 1), |drive, at, _| {
                if at > ready {
                    (ready, way) = (at, drive.nand.way);
                }
            });
        };
        if pages.ragged.0 {
            read(self, pages.first);
        }
        if pages.ragged.1 && (last != pages.first || !pages.ragged.0) {
            read(self, last);
        }
        self.nand.waits.spend(taken, Cause::Commands);
        way.account(&mut self.nand.waits);
        ready
    }
}
