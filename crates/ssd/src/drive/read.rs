//! Reads: what was read ahead, what is in the NAND, and what is read ahead now.

use super::page_range::PageRange;
use super::Drive;
use crate::nand::Way;
use crate::request::Request;
use crate::units::{Lpn, Nanos, Ppn};
use crate::waits::Cause;

impl Drive {
    #[inline(always)]
    pub(super) fn read<const ACCOUNTS: bool>(&mut self, taken: Nanos, request: &Request) -> Nanos {
        self.host_read_bytes += request.len as u64;
        let pages = PageRange::of(request, self.unit());
        let plain = !ACCOUNTS && self.map_cache.is_none() && self.read_ahead.is_none();
        match plain && pages.count == 1 {
            true => self.read_page(taken, pages.first),
            false => self.read_pages::<ACCOUNTS>(taken, pages),
        }
    }

    /// One page, where the whole map is in DRAM, nothing is read ahead, and nobody asks what the time goes to.
    #[inline(always)]
    fn read_page(&mut self, taken: Nanos, page: Lpn) -> Nanos {
        let arrived = match self.ftl.find(page, 1).0 {
            Ppn::NONE => taken,
            from => {
                let (address, mode, held) = self.ftl.locate(from, &self.nand, &mut self.buffer, taken);
                match held {
                    true => taken,
                    false => self.nand.host_read(taken, address.die, mode, address.column, 1),
                }
            }
        };
        taken.max(self.link.send(self.now, arrived, self.unit().bytes(1) + self.link.command_bytes()))
    }

    #[inline(never)]
    fn read_pages<const ACCOUNTS: bool>(&mut self, taken: Nanos, pages: PageRange) -> Nanos {
        let mut command = self.link.command_bytes();
        let mut done = taken;
        // Of the part that comes last.
        let mut way = Way::default();
        let mut send = |drive: &mut Drive, at: Nanos, count: u32| {
            let bytes = drive.unit().bytes(count as u64) + std::mem::take(&mut command);
            let sent = drive.link.send(drive.now, at, bytes);
            if sent > done {
                done = sent;
                if ACCOUNTS {
                    way = if drive.nand.way.arrived == at { drive.nand.way } else { Way::arrived_at(at) };
                }
            }
        };
        let mapped = self.look_up(taken, pages, false);
        self.map_waited += mapped - taken;
        if ACCOUNTS {
            self.nand.waits.spend(taken, Cause::Commands);
            self.nand.waits.spend(mapped, Cause::Mapping);
        }
        if self.read_ahead.is_none() {
            self.each_multi_plane_page(mapped, pages, send);
        } else {
            self.read_in_sequence(mapped, pages, &mut send);
        }
        if ACCOUNTS {
            way.account(&mut self.nand.waits);
            self.nand.waits.spend(done, Cause::Link);
        }
        done
    }

    /// Take what was read ahead, read what was not, and read on if the host reads in sequence.
    #[inline(never)]
    fn read_in_sequence(
        &mut self,
        at: Nanos,
        pages: PageRange,
        send: &mut dyn FnMut(&mut Drive, Nanos, u32),
    ) {
        let mut ahead = self.read_ahead.take().expect("asked for");
        let end_of_drive = Lpn(self.unit().whole(self.capacity_bytes) as u32);
        let next = ahead.follow(pages.first, pages.count, end_of_drive);
        let (mut page, end) = (pages.first, pages.first + pages.count);
        while page < end {
            match ahead.find(page) {
                Some((ready, count)) => {
                    let part = count.min(end - page);
                    send(self, at.max(ready), part);
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
            self.each_multi_plane_page(mapped, more, |_, ready, count| {
                ahead.arrives(first, count, ready);
                first += count;
            });
        }
        self.read_ahead = Some(ahead);
    }

    /// Look the pages up and read what is in the NAND. Calls back for each part with the time at which the controller has it.
    #[inline]
    pub(super) fn each_multi_plane_page(
        &mut self,
        taken: Nanos,
        pages: PageRange,
        mut arrived: impl FnMut(&mut Drive, Nanos, u32),
    ) {
        let (mut page, mut rest) = (pages.first, pages.count);
        while rest > 0 {
            let (mut from, run) = self.ftl.find(page, rest);
            let mut left = run;
            while left > 0 {
                if from == Ppn::NONE {
                    arrived(self, taken, left);
                    break;
                }
                let (address, mode, held) = self.ftl.locate(from, &self.nand, &mut self.buffer, taken);
                let part = left.min(address.rest);
                let at = match held {
                    true => taken,
                    false => self.nand.host_read(taken, address.die, mode, address.column, part),
                };
                arrived(self, at, part);
                from += part;
                left -= part;
            }
            page += run;
            rest -= run;
        }
    }
}
