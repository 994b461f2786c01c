//! What the host writes: the superblock it is filled into, and which that is.

use super::cache::{HostWrite, Overflow, WriteThrottle};
use super::gc::RELOCATION_SUPERBLOCKS;
use super::geometry::PageAddress;
use super::superblocks::Writer;
use super::write_pointer::WritePointer;
use super::Ftl;
use crate::cell_mode::CellMode;
use crate::config::{CacheMode, Reuse};
use crate::controller::WriteBuffer;
use crate::nand::Nand;
use crate::units::{Lpn, Nanos, Ppn};
use crate::waits::Cause;

/// Where the host's next superblock comes from.
enum Next {
    Free(CellMode),
    /// A full one of the cache, which is filled up where it is.
    Switched(u32),
}

impl Ftl {
    /// Whether what the drive does depends on how long the host was silent before.
    pub fn predicts(&self) -> bool {
        match &self.custom.policy {
            Some(policy) => policy.predicts(),
            None => self.config.when_full.predicts(),
        }
    }

    /// The host calls after having been silent for so long.
    #[inline]
    pub fn called_after(&mut self, silence: Nanos) {
        if self.predicts() {
            self.remember(silence);
        }
    }

    fn remember(&mut self, silence: Nanos) {
        let Some(idle) = self.config.idle else { return };
        // Shorter ones tell of a program that takes its time.
        if silence.0 >= idle.threshold.0 / 10 {
            self.silences.remember(silence);
            self.idle_start = self.idle_start_after_silences();
        }
    }

    /// The host is about to write these pages: where a policy sorts, the write pointer that they go to is the host's now.
    #[inline]
    pub fn sort(&mut self, page: Lpn, pages: u32) {
        if self.sorts {
            self.turn_to_its_pointer(page, pages);
        }
    }

    #[inline(never)]
    fn turn_to_its_pointer(&mut self, page: Lpn, pages: u32) {
        let old = self.l2p.get(page);
        let rewritten_after = (old != Ppn::NONE).then(|| {
            let (superblock, _) = self.geometry.split(old);
            self.host_pages() - self.superblocks.get(superblock).born
        });
        let write = HostWrite { pages, run: self.runs.follow(page, pages), rewritten_after };
        let cells = match &self.custom.policy {
            Some(policy) => policy.place(&self.space(), &write),
            None => self.config.when_full.place(&self.space(), &write),
        };
        let past_cache = cells == CellMode::Native;
        if past_cache != self.past_cache {
            self.turn();
        }
    }

    fn turn(&mut self) {
        std::mem::swap(&mut self.host, &mut self.other);
        self.past_cache = !self.past_cache;
    }

    /// Map up to `pages` logical pages from `page` on to the superblock that host data go to now, opening one at `at`
    /// if need be. Returns how many were mapped; they must then arrive, unit by unit.
    pub fn map_host(&mut self, nand: &mut Nand, at: Nanos, page: Lpn, pages: u32) -> u32 {
        let pointer = match &mut self.host {
            Some(pointer) if pointer.room() > 0 => pointer,
            _ => {
                self.open_host(nand, at);
                self.host.as_mut().expect("just opened")
            }
        };
        let count = pages.min(pointer.room());
        let to = self.geometry.first_page(pointer.superblock) + pointer.given;
        let superblock = pointer.superblock;
        pointer.given += count;
        match pointer.mode {
            CellMode::Slc | CellMode::Mlc => self.pages.host_to_slc += count as u64,
            CellMode::Native => self.pages.host_to_native += count as u64,
        }
        if self.geometry.is_cache(pointer.mode) {
            self.pages.slc_valid += count as u64;
        }
        self.superblocks.get_mut(superblock).valid += count;
        self.pages.mapped += count as u64;
        self.unmap_then_set(page, to, count);
        self.p2l.set(to, page, count, |_, _| {});
        self.release_dead();
        count
    }

    /// Whether host units grant relocation or erases.
    #[inline]
    pub fn is_throttled(&self) -> bool {
        self.grants_relocation() || self.erases_beside()
    }

    #[inline]
    pub(super) fn grants_relocation(&self) -> bool {
        self.throttle != WriteThrottle::None || self.superblocks.free() <= self.reserve.max(self.fold_below)
    }

    /// The write pointer, where it takes so many pages and its units grant no relocation: only their number and where it
    /// is matter then.
    #[inline]
    pub fn plain_pointer(&self, pages: u32) -> Option<&WritePointer> {
        let pointer = self.host.as_ref()?;
        (pointer.room() >= pages && !self.sorts && !self.is_throttled()).then_some(pointer)
    }

    /// What matters of the write pointer, relative to `now`.
    pub fn timing_relative_to(&self, now: Nanos, into: &mut Vec<u64>) {
        if let Some(pointer) = &self.host {
            pointer.timing_relative_to(now, into);
        }
    }

    /// The die that programs the next unit of host data.
    #[inline]
    pub fn host_die(&self) -> u32 {
        self.host.as_ref().map_or(0, |pointer| pointer.die)
    }

    /// Pages that are programmed in that mode when the host has filled so many units more.
    pub fn programmed(&self, mode: CellMode, units: u64) -> u64 {
        let before = match mode {
            CellMode::Slc | CellMode::Mlc => self.pages.slc_programmed,
            CellMode::Native => self.pages.native_programmed,
        };
        let is_native = |mode: CellMode| mode == CellMode::Native;
        let pointer = self.host.as_ref().filter(|pointer| is_native(pointer.mode) == is_native(mode));
        before + pointer.map_or(0, |pointer| units * pointer.unit_pages as u64)
    }

    /// So many units more of host data have been programmed, and what has arrived of the next is later by `span`.
    pub fn shift_timing(&mut self, span: Nanos, units: u64) {
        let pointer = self.host.as_mut().expect("units of it were programmed");
        pointer.shift_timing(span, units);
        let programmed = units * pointer.unit_pages as u64;
        match pointer.mode {
            CellMode::Slc | CellMode::Mlc => self.pages.slc_programmed += programmed,
            CellMode::Native => self.pages.native_programmed += programmed,
        }
    }

    /// Pages until the program unit that host data fill is full.
    #[inline]
    pub fn unit_room(&self) -> u32 {
        self.host.as_ref().expect("pages were mapped to it").unit_room
    }

    /// So many pages that were mapped to the host's superblock have arrived at `at`. A full unit is programmed, and where it
    /// is `throttled`, what the policy and the free space ask for is done before the next.
    #[inline]
    pub fn arrive(&mut self, nand: &mut Nand, buffer: &mut WriteBuffer, at: Nanos, pages: u32, throttled: bool) {
        let pointer = self.host.as_mut().expect("pages were mapped to it");
        if pointer.arrive(at, pages) {
            self.program_host(nand, buffer);
            if throttled && self.is_throttled() {
                self.throttle_host(nand, at);
            }
        }
    }

    /// Program the unit of host data that is full.
    #[inline(never)]
    fn program_host(&mut self, nand: &mut Nand, buffer: &mut WriteBuffer) {
        let pointer = self.host.as_mut().expect("it has a full unit");
        let unit = if pointer.switched { nand.reprogram_unit() } else { nand.program_unit(pointer.mode, 1000) };
        let number = self.superblocks.get(pointer.superblock).first_unit + pointer.dispatched as u64;
        let (die, ready) = pointer.dispatch(self.geometry.dies);
        let (programmed, work) = match pointer.mode {
            CellMode::Slc | CellMode::Mlc => (&mut self.pages.slc_programmed, Cause::Cache),
            CellMode::Native => (&mut self.pages.native_programmed, Cause::Direct),
        };
        *programmed += pointer.unit_pages as u64;
        nand.work = work;
        buffer.programmed(nand.program(ready, die, &unit), number);
    }

    /// Program the host's open units, padded if they are not full.
    pub fn flush_host(&mut self, nand: &mut Nand, buffer: &mut WriteBuffer, now: Nanos) {
        self.flush_pointer(nand, buffer, now);
        if self.sorts {
            self.turn();
            self.flush_pointer(nand, buffer, now);
            self.turn();
        }
    }

    fn flush_pointer(&mut self, nand: &mut Nand, buffer: &mut WriteBuffer, now: Nanos) {
        let Some(pointer) = &mut self.host else { return };
        if pointer.unit_room == pointer.unit_pages {
            return;
        }
        let padding = pointer.unit_room;
        let from = self.geometry.first_page(pointer.superblock) + pointer.given;
        pointer.given += padding;
        self.p2l.set(from, Lpn::NONE, padding, |_, _| {});
        buffer.take(nand, now, padding);
        self.arrive(nand, buffer, now, padding, self.is_throttled());
    }

    /// Close the host's superblock and open the next where the policy says.
    fn open_host(&mut self, nand: &mut Nand, at: Nanos) {
        if let Some(full) = self.host.take() {
            self.close(full.superblock);
        }
        let pointer = match self.place_host(nand, at) {
            Next::Free(mode) => {
                let set_aside = self.geometry.is_cache(mode) && self.superblocks.free_set_aside() > 0;
                let mode = if set_aside { CellMode::Slc } else { mode };
                if !set_aside {
                    while self.superblocks.free() <= RELOCATION_SUPERBLOCKS {
                        self.reclaim(nand, at).expect("valid data always leave room to reclaim");
                    }
                }
                self.open(nand, at, mode, Writer::Host, set_aside)
            }
            Next::Switched(superblock) => self.switch(superblock, at),
        };
        self.superblocks.get_mut(pointer.superblock).first_unit = self.host_units;
        self.host_units += (pointer.room() / pointer.unit_pages) as u64;
        self.host = Some(pointer);
        self.custom.chosen = 0;
        self.decide_throttle();
    }

    fn place_host(&mut self, nand: &mut Nand, at: Nanos) -> Next {
        let has_cache = !matches!(self.config.mode, CacheMode::PureXlc | CacheMode::PureSlc);
        if !has_cache {
            return Next::Free(self.geometry.main);
        }
        if self.past_cache || self.worn_after.is_some_and(|erases| self.superblocks.slc_erases >= erases) {
            return Next::Free(CellMode::Native);
        }
        loop {
            let view = self.view();
            if view.room && !view.exhausted {
                return Next::Free(self.geometry.dynamic);
            }
            self.exhausted |= !view.room && self.config.reuse != Reuse::AsFreed;
            self.draining |= !view.room && self.fold_batch > 0;
            match self.overflow() {
                Overflow::Wait if self.fold(nand, at).is_some() => {}
                Overflow::Switch => {
                    let full = self.oldest_dynamic();
                    return full.map_or(Next::Free(CellMode::Native), Next::Switched);
                }
                Overflow::Wait | Overflow::Native => return Next::Free(CellMode::Native),
            }
        }
    }

    /// The full superblock of the dynamic cache that was opened first.
    pub(super) fn oldest_dynamic(&self) -> Option<u32> {
        let full = self.closed_cache().filter(|(index, block)| !block.set_aside && !self.relocation.is_victim(*index));
        full.min_by_key(|(_, block)| block.opened).map(|(index, _)| index)
    }

    /// Make a full superblock of the cache a native one that is filled up, its data in place.
    fn switch(&mut self, superblock: u32, at: Nanos) -> WritePointer {
        self.pages.slc_valid -= self.superblocks.get(superblock).valid as u64;
        let born = self.host_pages();
        self.superblocks.switch(superblock, born);
        if let Some(aging) = &mut self.aging {
            aging.begins(superblock, at);
        }
        WritePointer {
            given: self.geometry.pages(self.geometry.dynamic),
            switched: true,
            ..WritePointer::new(superblock, CellMode::Native, self.geometry.stride, self.geometry.upper_unit)
        }
    }

    /// As `locate`, in a superblock that was switched: what it held before has left the controller long ago.
    #[cold]
    pub(super) fn locate_in_switched(
        &self,
        superblock: u32,
        offset: u32,
        nand: &Nand,
        buffer: &mut WriteBuffer,
        now: Nanos,
    ) -> (PageAddress, CellMode, bool) {
        let address = self.geometry.address_in_switched(offset);
        let block = self.superblocks.get(superblock);
        let held = offset >= self.geometry.pages(self.geometry.dynamic)
            && buffer.holds(nand, now, block.first_unit + address.unit as u64);
        (address, CellMode::Native, held)
    }

    /// Whether a unit of host data has not left the controller yet, where units of two write pointers alternate.
    #[cold]
    pub(super) fn holds_sorted(
        &self,
        superblock: u32,
        unit: u32,
        nand: &Nand,
        buffer: &mut WriteBuffer,
        now: Nanos,
    ) -> bool {
        let filling = [&self.host, &self.other].into_iter().flatten();
        let open = filling.into_iter().find(|pointer| pointer.superblock == superblock);
        open.is_some_and(|pointer| unit >= pointer.dispatched)
            || buffer.holds_among(nand, now, self.superblocks.get(superblock).first_unit + unit as u64)
    }
}
