//! Writes: mapped, brought over the link into the buffer as room comes free, and programmed.

use super::page_range::PageRange;
use super::Drive;
use crate::link::Transfer;
use crate::nand::Way;
use crate::request::Request;
use crate::units::{Lpn, Nanos, Ppn};
use crate::waits::Cause;

/// A write on its way over the link.
#[derive(Clone, Copy, Debug)]
struct Payload {
    /// Bytes of its data that have not come yet, and its command if that has not.
    bytes: u64,
    commands: u64,
    /// When the last of what has come was here; at first, when the drive was ready for it.
    arrived: Nanos,
    /// Time in which nothing of it was under way, for want of room in the buffer; and that of data before it as well.
    waited: Nanos,
    held: Nanos,
    /// Time in which it waited for data before it to come.
    followed: Nanos,
}

impl Payload {
    fn new(bytes: u32, ready: Nanos) -> Payload {
        let none = Nanos::ZERO;
        Payload { bytes: bytes as u64, commands: 1, arrived: ready, waited: none, held: none, followed: none }
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
        let merged = if pages.is_whole() { taken } else { self.read_modify_write(taken, pages) };
        let ready = merged.max(behind);
        self.map_waited += ready - merged;
        self.nand.account.spend(Cause::Mapping, ready - merged);
        if let Some(ahead) = &mut self.read_ahead {
            ahead.forget(pages.first, pages.count);
        }
        let copy_in = self.controller.copy_in(request.len);
        if self.controller.merges_rewrites && pages.count == 1 && self.merges(ready, pages.first) {
            let data = Transfer { bytes: request.len as u64, commands: 1 };
            let here = self.link.receive(self.now, ready, data);
            self.nand.account.spend(Cause::Link, here - ready);
            self.nand.account.spend(Cause::Commands, copy_in);
            return self.acknowledge(request, here + copy_in);
        }
        self.ftl.sort(pages.first, pages.count);
        let mut payload = Payload::new(request.len, ready);
        let (mut page, mut rest) = (pages.first, pages.count);
        while rest > 0 {
            let mapped = self.ftl.map_host(&mut self.nand, ready, page, rest);
            let throttled = self.ftl.is_throttled();
            self.take_in(ready, mapped, throttled, &mut payload);
            page += mapped;
            rest -= mapped;
        }
        let copied = self.take(&payload, ready, copy_in);
        self.acknowledge(request, copied)
    }

    /// When a write is answered whose data are in the buffer at `copied`.
    #[inline]
    fn acknowledge(&mut self, request: &Request, copied: Nanos) -> Nanos {
        if request.fua || !self.controller.write_cache {
            self.flush(copied)
        } else {
            copied
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
        let awake = self.waking.called(now);
        let ready = self.cores.take(awake, self.controller.write) + self.controller.latency;
        if awake > now {
            self.nand.account.spend(Cause::Waking, awake - now);
        }
        self.nand.account.spend(Cause::Commands, ready - awake);
        let mut payload = Payload::new(len, ready);
        self.take_in(ready, self.unit().whole(len as u64) as u32, throttled, &mut payload);
        self.take(&payload, ready, self.controller.copy_in(len))
    }

    /// The data of a write that was ready for them are here; returns when they are copied.
    #[inline(always)]
    fn take(&mut self, payload: &Payload, ready: Nanos, copy_in: Nanos) -> Nanos {
        self.buffer.waited += payload.waited;
        let account = &mut self.nand.account;
        account.wait(payload.held);
        account.follow(payload.followed);
        account.spend(Cause::Link, payload.arrived - ready - payload.held - payload.followed);
        account.spend(Cause::Commands, copy_in);
        payload.arrived + copy_in
    }

    /// Take in `pages` of a write that are mapped, from `ready` on: program unit by program unit, once there is room in the
    /// buffer.
    #[inline(always)]
    fn take_in(&mut self, ready: Nanos, mut pages: u32, throttled: bool, payload: &mut Payload) {
        let unit = self.unit();
        while pages > 0 {
            let part = pages.min(self.ftl.unit_room());
            let room = self.buffer.take(&self.nand, ready, part);
            let carried = payload.bytes.min(unit.bytes(part as u64));
            payload.bytes -= carried;
            let data = Transfer { bytes: carried, commands: std::mem::take(&mut payload.commands) };
            let at = self.link.receive(self.now, room, data);
            payload.waited += room.saturating_sub(payload.arrived);
            // A part of a link that is shared may pass another.
            if at > payload.arrived {
                payload.held += self.buffer.held_up(payload.arrived, at, &mut payload.followed);
                payload.arrived = at;
            }
            self.ftl.arrive(&mut self.nand, &mut self.buffer, at, part, throttled);
            pages -= part;
        }
    }

    /// Read-modify-write: pages that a write covers in part are read first; returns when that is done.
    #[inline(never)]
    fn read_modify_write(&mut self, taken: Nanos, pages: PageRange) -> Nanos {
        let mut last_way = Way::without_read(taken, taken);
        let last = Lpn(pages.first.0 + pages.count - 1);
        let mut read = |drive: &mut Drive, first: Lpn| {
            drive.each_multi_plane_page(taken, PageRange::whole(first, 1), |_, way, _| {
                if way.arrived > last_way.arrived {
                    last_way = way;
                }
            });
        };
        if pages.ragged.0 {
            read(self, pages.first);
        }
        if pages.ragged.1 && (last != pages.first || !pages.ragged.0) {
            read(self, last);
        }
        last_way.account(&mut self.nand.account);
        last_way.arrived
    }
}
