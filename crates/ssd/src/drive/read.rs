//! Reads: what was read ahead, what is in the NAND, and what is read ahead now.

use super::page_range::PageRange;
use super::Drive;
use crate::link::Transfer;
use crate::nand::Way;
use crate::request::Request;
use crate::units::{Lpn, Nanos, Ppn};
use crate::waits::Cause;

impl Drive {
    #[inline(always)]
    pub(super) fn read(&mut self, taken: Nanos, request: &Request) -> Nanos {
        self.host_read_bytes += request.len as u64;
        let pages = PageRange::of(request, self.unit());
        if self.map_cache.is_none() && self.read_ahead.is_none() && pages.count == 1 {
            self.read_page(taken, pages.first)
        } else {
            self.read_pages(taken, pages)
        }
    }

    /// One page, where the whole map is in DRAM and nothing is read ahead.
    #[inline(always)]
    fn read_page(&mut self, taken: Nanos, page: Lpn) -> Nanos {
        let mut arrived = taken;
        let from = self.ftl.find(page, 1).0;
        if from != Ppn::NONE {
            let (address, mode, held) = self.ftl.locate(from, &self.nand, &mut self.buffer, taken);
            if !held {
                let tries = self.ftl.read_tries(from, address.die, taken);
                let way = self.nand.host_read(taken, address.die, mode, (address.column, 1), tries);
                way.account(&mut self.nand.account);
                arrived = way.arrived;
            }
        }
        let data = Transfer { bytes: self.unit().bytes(1), commands: 1 };
        let done = self.link.send(self.now, arrived, data);
        self.nand.account.spend(Cause::Link, done - arrived);
        done
    }

    #[inline(never)]
    fn read_pages(&mut self, taken: Nanos, pages: PageRange) -> Nanos {
        let mut commands = 1;
        let mut done = taken;
        let mapped = self.look_up(taken, pages, false);
        self.map_waited += mapped - taken;
        self.nand.account.spend(Cause::Mapping, mapped - taken);
        // Of the part that comes last.
        let mut last = Way::without_read(mapped, mapped);
        let mut send = |drive: &mut Drive, way: Way, count: u32| {
            let data = Transfer { bytes: drive.unit().bytes(count as u64), commands: std::mem::take(&mut commands) };
            let sent = drive.link.send(drive.now, way.arrived, data);
            if sent > done {
                (done, last) = (sent, way);
            }
        };
        if self.read_ahead.is_none() {
            self.each_multi_plane_page(mapped, pages, send);
        } else {
            self.read_in_sequence(mapped, pages, &mut send);
        }
        last.account(&mut self.nand.account);
        self.nand.account.spend(Cause::Link, done - last.arrived);
        done
    }

    /// Take what was read ahead, read what was not, and read on if the host reads in sequence.
    #[inline(never)]
    fn read_in_sequence(&mut self, at: Nanos, pages: PageRange, send: &mut dyn FnMut(&mut Drive, Way, u32)) {
        let mut ahead = self.read_ahead.take().expect("asked for");
        let end_of_drive = Lpn(self.unit().whole(self.capacity_bytes) as u32);
        let next = ahead.follow(pages.first, pages.count, end_of_drive);
        let (mut page, end) = (pages.first, pages.first + pages.count);
        while page < end {
            match ahead.find(page) {
                Some((ready, count)) => {
                    let part = count.min(end - page);
                    send(self, Way::without_read(at, at.max(ready)), part);
                    page += part;
                }
                None => {
                    let rest = PageRange::whole(page, end - page);
                    self.each_multi_plane_page(at, rest, &mut *send);
                    page = end;
                }
            }
        }
        if !next.is_empty() {
            let more = PageRange::whole(next.start, next.end - next.start);
            let mapped = self.look_up(at, more, false);
            let mut first = next.start;
            self.each_multi_plane_page(mapped, more, |_, way, count| {
                ahead.arrives(first, count, way.arrived);
                first += count;
            });
        }
        self.read_ahead = Some(ahead);
    }

    /// Look the pages up and read what is in the NAND. Calls back for each part with its way.
    #[inline]
    pub(super) fn each_multi_plane_page(
        &mut self,
        taken: Nanos,
        pages: PageRange,
        mut arrived: impl FnMut(&mut Drive, Way, u32),
    ) {
        let (mut page, mut rest) = (pages.first, pages.count);
        while rest > 0 {
            let (mut from, run) = self.ftl.find(page, rest);
            let mut left = run;
            while left > 0 {
                if from == Ppn::NONE {
                    arrived(self, Way::without_read(taken, taken), left);
                    break;
                }
                let (address, mode, held) = self.ftl.locate(from, &self.nand, &mut self.buffer, taken);
                let part = left.min(address.rest);
                let way = if held {
                    Way::without_read(taken, taken)
                } else {
                    let tries = self.ftl.read_tries(from, address.die, taken);
                    self.nand.host_read(taken, address.die, mode, (address.column, part), tries)
                };
                arrived(self, way, part);
                from += part;
                left -= part;
            }
            page += run;
            rest -= run;
        }
    }
}
