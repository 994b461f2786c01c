//! The flash translation layer: which page is where, which superblock is filled next, and in which mode.

pub mod cache;
mod geometry;
mod mover;
mod runmap;
mod stream;
mod superblocks;

pub use runmap::NONE;
pub use superblocks::{Superblock, Writer};

use cache::{Overflow, Policy, Toll, View};
use geometry::Geometry;
use mover::Mover;
use runmap::RunMap;
use stream::Stream;
use superblocks::{State, Superblocks};

use crate::config::{self, CacheMode, CellMode, Config, Reuse};
use crate::controller::WriteBuffer;
use crate::nand::Nand;
use crate::units::{Nanos, PAGE_BYTES};

/// Free superblocks that only moved data may take, so that reclaiming can always go on.
const MOVER_SUPERBLOCKS: u32 = 2;

/// Pages by what became of them.
#[derive(Clone, Debug, Default)]
pub struct Pages {
    pub host_to_slc: u64,
    pub host_to_native: u64,
    pub folded: u64,
    pub idle_folded: u64,
    pub collected: u64,
    pub died_in_slc: u64,
    pub slc_programmed: u64,
    pub native_programmed: u64,
    pub mapped: u64,
    pub slc_valid: u64,
}

#[derive(Clone, Debug)]
pub struct Ftl {
    geometry: Geometry,
    config: config::Cache,
    reserve: u32,
    capacity_pages: u64,
    l2p: RunMap,
    p2l: RunMap,
    superblocks: Superblocks,
    /// Closed superblocks that have just lost their last valid page.
    dead: Vec<u32>,
    /// Superblocks of the cache that have none left and wait for idle time.
    kept: Vec<u32>,
    host: Option<Stream>,
    /// Program units of the superblocks that were opened for host data.
    host_units: u64,
    mover: Mover,
    policy: &'static dyn Policy,
    toll: Toll,
    exhausted: bool,
    pub pages: Pages,
}

impl std::fmt::Debug for dyn Policy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("policy")
    }
}

impl Ftl {
    pub fn new(config: &Config) -> Ftl {
        let geometry = Geometry::new(config);
        let cache = &config.cache;
        let count = config.nand.superblocks();
        let slc_bytes = config.nand.superblock_bytes(CellMode::Slc);
        let set_aside = match cache.mode {
            CacheMode::StaticSlc | CacheMode::HybridSlc => cache.static_bytes.div_ceil(slc_bytes),
            _ => 0,
        };
        let capacity_pages = config.capacity_bytes / PAGE_BYTES;
        Ftl {
            reserve: config.ftl.reserve_superblocks.max(MOVER_SUPERBLOCKS + 1),
            capacity_pages,
            l2p: RunMap::new(capacity_pages as u32),
            p2l: RunMap::new(count * geometry.stride),
            superblocks: Superblocks::new(count, set_aside as u32),
            dead: Vec::new(),
            kept: Vec::new(),
            host: None,
            host_units: 0,
            mover: Mover::new(config),
            policy: cache::policy(&cache.when_full).expect("the profile names a known policy"),
            toll: Toll::None,
            exhausted: false,
            pages: Pages::default(),
            config: cache.clone(),
            geometry,
        }
    }

    /// The physical page of a logical one and for how many, at most `limit`, they go on together.
    #[inline(always)]
    pub fn find(&self, page: u32, limit: u32) -> (u32, u32) {
        let (to, mut run) = self.l2p.run(page, limit);
        while run < limit {
            let (next, more) = self.l2p.run(page + run, limit - run);
            if next != runmap::step(to, run) {
                break;
            }
            run += more;
        }
        (to, run)
    }

    #[inline]
    pub fn prefetch(&self, page: u32) {
        self.l2p.prefetch(page);
    }

    /// Where a physical page is, the mode of its superblock, and whether its data have not left the controller yet.
    #[inline(always)]
    pub fn locate(
        &self,
        page: u32,
        nand: &Nand,
        buffer: &mut WriteBuffer,
        now: Nanos,
    ) -> (geometry::Place, CellMode, bool) {
        let (superblock, offset) = self.geometry.split(page);
        let block = self.superblocks.get(superblock);
        let place = self.geometry.place(offset, block.mode);
        let held = match block.writer {
            Writer::Host => buffer.holds(nand, now, block.first_unit + place.unit as u64),
            Writer::Mover => self.mover.holds(superblock, place.unit),
        };
        (place, block.mode, held)
    }

    /// Map up to `pages` logical pages from `page` on to the superblock that host data go to now, opening one at `at`
    /// if need be. Returns how many were mapped; they must then arrive, unit by unit.
    pub fn map_host(&mut self, nand: &mut Nand, at: Nanos, page: u32, pages: u32) -> u32 {
        let stream = match &mut self.host {
            Some(stream) if stream.room() > 0 => stream,
            _ => {
                self.open_host(nand, at);
                self.host.as_mut().expect("just opened")
            }
        };
        let count = pages.min(stream.room());
        let to = self.geometry.first_page(stream.superblock) + stream.given;
        let superblock = stream.superblock;
        stream.given += count;
        match stream.mode {
            CellMode::Slc => self.pages.host_to_slc += count as u64,
            CellMode::Native => self.pages.host_to_native += count as u64,
        }
        if self.geometry.is_cache(stream.mode) {
            self.pages.slc_valid += count as u64;
        }
        self.superblocks.get_mut(superblock).valid += count;
        self.pages.mapped += count as u64;
        self.unmap_then_set(page, to, count);
        self.p2l.set(to, page, count, |_, _| {});
        self.release_dead();
        count
    }

    /// Take in `pages` that were mapped to the host's superblock, from `ready` on: unit by unit, room is made in the
    /// buffer, `transfer` says when the pages have come, a full unit is programmed, and what the policy and the free space
    /// ask for is done before the next.
    #[inline]
    pub fn take_in(
        &mut self,
        nand: &mut Nand,
        buffer: &mut WriteBuffer,
        ready: Nanos,
        mut pages: u32,
        mut transfer: impl FnMut(Nanos, u32) -> Nanos,
    ) {
        let mut stream = self.host.as_mut().expect("pages were mapped to it");
        let before = stream.dispatched;
        let unit = nand.unit(stream.mode, 1000);
        while pages > 0 {
            let part = pages.min(stream.unit_room);
            let room = buffer.take(nand, ready, part);
            let at = transfer(room, part);
            pages -= part;
            if !stream.arrive(at, part) {
                continue;
            }
            let (die, ready) = stream.dispatch(self.geometry.dies);
            buffer.programmed(nand.program(ready, die, &unit));
            if self.toll != Toll::None || self.superblocks.free() <= self.reserve {
                self.pay_now(nand, at);
                stream = self.host.as_mut().expect("it stays");
            }
        }
        let programmed = (stream.dispatched - before) as u64 * stream.unit_pages as u64;
        match stream.mode {
            CellMode::Slc => self.pages.slc_programmed += programmed,
            CellMode::Native => self.pages.native_programmed += programmed,
        }
    }

    /// Program the host's open unit, padded if it is not full.
    pub fn flush_host(&mut self, nand: &mut Nand, buffer: &mut WriteBuffer, now: Nanos) {
        let Some(stream) = &mut self.host else { return };
        if stream.unit_room == stream.unit_pages {
            return;
        }
        let padding = stream.unit_room;
        let from = self.geometry.first_page(stream.superblock) + stream.given;
        stream.given += padding;
        self.p2l.set(from, NONE, padding, |_, _| {});
        self.take_in(nand, buffer, now, padding, |_, _| now);
    }

    /// The data of these pages are gone.
    pub fn trim(&mut self, page: u32, pages: u32) {
        self.unmap_then_set(page, NONE, pages);
        self.release_dead();
    }

    /// Work that the drive does by itself while the host has been silent since `since`, up to `now`. Returns when it had
    /// no more of it.
    pub fn background(&mut self, nand: &mut Nand, since: Nanos, now: Nanos) -> Nanos {
        let Some(idle) = self.config.idle else { return since };
        let start = since + idle.threshold;
        if now <= start {
            return since;
        }
        self.exhausted = false;
        self.release_kept();
        let residue = idle.residue_bytes / PAGE_BYTES;
        let (mut worked, mut at) = (since, start);
        loop {
            at = at.max(self.mover.next_start(nand, start));
            if at >= now {
                worked = now;
                break;
            }
            nand.forget_before(at);
            let folded = self.pages.folded;
            let moved = if self.pages.slc_valid > residue { self.fold(nand, at) } else { None };
            let Some(moved) = moved else {
                self.flush_moved(nand, at);
                break;
            };
            worked = at;
            self.pages.idle_folded += self.pages.folded - folded;
            if let Some(rate) = idle.rate_bytes_per_s {
                self.mover.pause_until(at + Nanos(moved as u64 * PAGE_BYTES * 1_000_000_000 / rate));
            }
        }
        self.decide_toll();
        worked
    }

    /// Size of the cache as it is now, in superblocks: the static part, and the dynamic part at this fill.
    pub fn cache_superblocks(&self) -> u32 {
        self.superblocks.set_aside + self.dynamic_limit()
    }

    pub fn superblock_bytes(&self, mode: CellMode) -> u64 {
        self.geometry.pages(mode) as u64 * PAGE_BYTES
    }

    pub fn free_superblocks(&self) -> u32 {
        self.superblocks.free()
    }

    /// Superblocks that hold, or wait for, data in pSLC mode as cache.
    pub fn slc_superblocks(&self) -> u32 {
        if self.geometry.main == CellMode::Slc {
            return 0;
        }
        self.superblocks.borrowed + self.superblocks.used_set_aside()
    }

    /// Erases of superblocks so far: pSLC, native.
    pub fn erases(&self) -> (u64, u64) {
        (self.superblocks.slc_erases, self.superblocks.native_erases)
    }

    /// Those of pSLC that were of the static cache.
    pub fn static_erases(&self) -> u64 {
        self.superblocks.set_aside_erases
    }

    pub fn superblocks(&self) -> impl Iterator<Item = &Superblock> {
        self.superblocks.iter().map(|(_, block)| block)
    }

    /// Check that the two maps are inverse and that every count is what it counts. Slow; for tests.
    pub fn audit(&self) {
        let stride = self.geometry.stride;
        let mut valid = vec![0; self.superblocks.iter().count()];
        let (mut mapped, mut in_cache) = (0, 0);
        for page in 0..self.capacity_pages as u32 {
            let at = self.l2p.get(page);
            if at != NONE {
                assert_eq!(self.p2l.get(at), page, "P2L of the newest copy of page {page}");
                valid[(at / stride) as usize] += 1;
                mapped += 1;
                in_cache += self.geometry.is_cache(self.superblocks.get(at / stride).mode) as u64;
            }
        }
        for (index, block) in self.superblocks.iter() {
            assert_eq!(block.valid, valid[index as usize], "valid pages of superblock {index}");
            assert!(block.state != State::Free || block.valid == 0);
        }
        let count = |of: fn(&Superblock) -> u64| self.superblocks().map(of).sum::<u64>();
        let used = |block: &Superblock| (block.state != State::Free && block.mode == CellMode::Slc) as u64;
        if self.geometry.main == CellMode::Native {
            assert_eq!(self.slc_superblocks() as u64, count(used));
        }
        let erases = (count(|block| block.slc_erases as u64), count(|block| block.native_erases as u64));
        assert_eq!(self.erases(), erases);
        assert_eq!((self.pages.mapped, self.pages.slc_valid), (mapped, in_cache));
    }

    /// Map logical pages anew; what they were mapped to no longer holds the newest copy.
    #[inline]
    fn unmap_then_set(&mut self, page: u32, to: u32, count: u32) {
        let (geometry, superblocks) = (&self.geometry, &mut self.superblocks);
        let (dead, pages) = (&mut self.dead, &mut self.pages);
        self.l2p.set(page, to, count, |mut old, mut run| {
            pages.mapped -= run as u64;
            // A run may cross from one superblock to the next.
            while run > 0 {
                let (index, offset) = geometry.split(old);
                let part = run.min(geometry.stride - offset);
                let block = superblocks.get_mut(index);
                block.valid -= part;
                if block.valid == 0 && block.state == State::Closed {
                    dead.push(index);
                }
                if geometry.is_cache(block.mode) {
                    pages.slc_valid -= part as u64;
                    pages.died_in_slc += part as u64;
                }
                old += part;
                run -= part;
            }
        });
    }

    /// Superblocks without valid pages are free at once, but for the one that is being moved out of.
    #[inline]
    fn release_dead(&mut self) {
        if self.dead.is_empty() {
            return;
        }
        self.dead.sort_unstable();
        for index in std::mem::take(&mut self.dead) {
            if !self.mover.is_victim(index) {
                self.release_or_keep(index);
            }
        }
    }

    /// Release a closed superblock without valid pages, or leave it to the next idle time.
    fn release_or_keep(&mut self, index: u32) {
        match self.config.dead_until_idle && self.geometry.is_cache(self.superblocks.get(index).mode) {
            true => self.kept.push(index),
            false => self.release(index),
        }
    }

    /// Release what was left to idle time and has not been since.
    fn release_kept(&mut self) {
        for index in std::mem::take(&mut self.kept) {
            let block = self.superblocks.get(index);
            if block.state == State::Closed && block.valid == 0 && !self.mover.is_victim(index) {
                self.release(index);
            }
        }
    }

    fn release(&mut self, index: u32) {
        self.superblocks.release(index);
        let residue = self.config.idle.map_or(0, |idle| idle.residue_bytes / PAGE_BYTES);
        if self.config.reuse == Reuse::WhenEmpty && self.pages.slc_valid <= residue {
            self.exhausted = false;
        }
        self.decide_toll();
    }

    fn view(&self) -> View {
        let dynamic =
            self.superblocks.borrowed < self.dynamic_limit() && self.superblocks.free() > self.reserve;
        View {
            exhausted: self.exhausted,
            room: self.superblocks.free_set_aside() > 0 || dynamic,
            foldable: self.foldable(),
        }
    }

    fn decide_toll(&mut self) {
        self.toll = self.policy.toll(&self.view());
    }

    /// Superblocks the dynamic part may have at the present fill; the fill is what native cells hold of the capacity.
    fn dynamic_limit(&self) -> u32 {
        let cache = &self.config;
        if !matches!(cache.mode, CacheMode::DynamicSlc | CacheMode::HybridSlc) {
            return 0;
        }
        let native = self.pages.mapped - self.pages.slc_valid;
        let fill = (native * 1000 / self.capacity_pages) as u32;
        let (from, to) = (cache.shrink_from_permille, cache.shrink_to_permille);
        let (most, least) = (cache.dynamic_bytes, cache.dynamic_least_bytes.min(cache.dynamic_bytes));
        let bytes = if fill <= from {
            most
        } else if fill >= to {
            least
        } else {
            most - (most - least) / (to - from) as u64 * (fill - from) as u64
        };
        (bytes / self.superblock_bytes(CellMode::Slc)) as u32
    }

    /// Close the host's superblock and open the next where the policy says.
    fn open_host(&mut self, nand: &mut Nand, at: Nanos) {
        if let Some(full) = self.host.take() {
            self.close(full.superblock);
        }
        let mode = self.place_host(nand, at);
        let set_aside = mode == CellMode::Slc && self.superblocks.free_set_aside() > 0;
        if !set_aside {
            while self.superblocks.free() <= MOVER_SUPERBLOCKS {
                self.reclaim(nand, at).expect("valid data always leave room to reclaim");
            }
        }
        let stream = self.open(nand, at, mode, Writer::Host, set_aside);
        self.superblocks.get_mut(stream.superblock).first_unit = self.host_units;
        self.host_units += (stream.pages / stream.unit_pages) as u64;
        self.host = Some(stream);
        self.decide_toll();
    }

    fn place_host(&mut self, nand: &mut Nand, at: Nanos) -> CellMode {
        let has_cache = !matches!(self.config.mode, CacheMode::PureXlc | CacheMode::PureSlc);
        if !has_cache {
            return self.geometry.main;
        }
        loop {
            let view = self.view();
            if view.room && !view.exhausted {
                return CellMode::Slc;
            }
            self.exhausted |= !view.room && self.config.reuse != Reuse::AsFreed;
            if self.policy.overflow() == Overflow::Native || self.fold(nand, at).is_none() {
                return CellMode::Native;
            }
        }
    }

    fn open(
        &mut self,
        nand: &mut Nand,
        at: Nanos,
        mode: CellMode,
        writer: Writer,
        set_aside: bool,
    ) -> Stream {
        let (superblock, erase) = self.superblocks.open(mode, writer, set_aside);
        if let Some(last) = erase {
            nand.erase_superblock(at, last);
        }
        Stream {
            superblock,
            mode,
            given: 0,
            pages: self.geometry.pages(mode),
            unit_pages: self.geometry.unit_pages(mode),
            unit_room: self.geometry.unit_pages(mode),
            ready: Nanos::ZERO,
            dispatched: 0,
            die: 0,
        }
    }

    fn close(&mut self, superblock: u32) {
        self.superblocks.close(superblock);
        if self.superblocks.get(superblock).valid == 0 {
            self.release_or_keep(superblock);
        }
    }
}
