//! The flash translation layer: which page is where, which superblock is filled next, and in which mode.

mod aging;
mod background;
pub mod cache;
mod check;
pub mod custom;
mod erase_beside;
mod fold;
mod gc;
mod geometry;
mod host;
mod page_map;
mod relocation;
mod runs;
mod silences;
mod superblocks;
mod throttle;
pub mod victim;
mod write_pointer;

pub use aging::Aging;
pub use superblocks::{Superblock, Writer};

use cache::{Space, View, WriteThrottle};
use custom::Custom;
use erase_beside::EraseBeside;
use gc::RELOCATION_SUPERBLOCKS;
use geometry::{Geometry, PageAddress};
use page_map::PageMap;
use relocation::Relocation;
use runs::Runs;
use silences::Silences;
use superblocks::{State, Superblocks};
use throttle::Credits;
use victim::VictimRule;
use write_pointer::WritePointer;

use crate::cell_mode::CellMode;
use crate::config::{self, CacheMode, Config, Idle, Reuse};
use crate::controller::WriteBuffer;
use crate::nand::Nand;
use crate::units::{Lpn, MapUnit, Nanos, Ppn};

/// Pages by what became of them.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct PageCounts {
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

impl PageCounts {
    /// So many pages were moved, out of the cache if it `folds`.
    fn relocated(&mut self, folds: bool, pages: u32) {
        if folds {
            self.slc_valid -= pages as u64;
            self.folded += pages as u64;
        } else {
            self.collected += pages as u64;
        }
    }
}

#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct Ftl {
    geometry: Geometry,
    config: config::Cache,
    reserve: u32,
    /// Free superblocks below which the cache is folded to make room.
    fold_below: u32,
    /// Superblocks of the cache that are freed before host writes are fast again, and whether that is under way.
    fold_batch: u32,
    draining: bool,
    capacity_pages: u64,
    l2p: PageMap<Lpn, Ppn>,
    p2l: PageMap<Ppn, Lpn>,
    superblocks: Superblocks,
    /// Closed superblocks that have just lost their last valid page.
    dead: Vec<u32>,
    /// Superblocks of the cache that have none left and wait for idle time.
    kept: Vec<u32>,
    host: Option<WritePointer>,
    /// Where a policy sorts writes: the write pointer that the last one did not go to, and whether that is the cache's.
    other: Option<WritePointer>,
    past_cache: bool,
    sorts: bool,
    runs: Runs,
    silences: Silences,
    /// How long the host must be silent before the cache is folded; `None`: for ever.
    idle_start: Option<Nanos>,
    /// Program units of the superblocks that were opened for host data.
    host_units: u64,
    relocation: Relocation,
    gc_rule: VictimRule,
    throttle: WriteThrottle,
    credits: Credits,
    erasing: EraseBeside,
    exhausted: bool,
    /// Erases of pSLC after which the cache is off for good; `None`: never.
    #[serde(skip)]
    worn_after: Option<u64>,
    /// Written apart from the rest in a drive file; `None` where data do not age.
    #[serde(skip)]
    pub aging: Option<Box<Aging>>,
    #[serde(skip)]
    custom: Custom,
    pub pages: PageCounts,
}

/// Superblocks: the reserve, those free below which the cache is folded, and those of the cache that are freed at a time.
fn watermarks(config: &Config) -> (u32, u32, u32) {
    let cache = &config.cache;
    (
        config.ftl.reserve_superblocks.max(RELOCATION_SUPERBLOCKS + 1),
        (cache.fold_below_bytes / config.nand.superblock_bytes(CellMode::Native)) as u32,
        cache.fold_batch_bytes.div_ceil(config.nand.superblock_bytes(cache.dynamic_cells())) as u32,
    )
}

/// Whether host writes are sorted.
fn sorts(cache: &config::Cache) -> bool {
    cache.when_full.sorts() && cache.most_bytes() > 0
}

/// How long the host must be silent before the cache is folded; `None`: for ever.
fn idle_start(cache: &config::Cache, silences: &Silences) -> Option<Nanos> {
    cache.idle.and_then(|idle| cache.when_full.idle_start(idle.threshold, silences))
}

impl Ftl {
    pub fn new(config: &Config) -> Ftl {
        let geometry = Geometry::new(config);
        let cache = &config.cache;
        let count = config.nand.superblocks();
        let set_aside = config.static_superblocks();
        let capacity_pages = geometry.unit.whole(config.capacity_bytes);
        let (reserve, fold_below, fold_batch) = watermarks(config);
        Ftl {
            reserve,
            fold_below,
            fold_batch,
            draining: false,
            capacity_pages,
            l2p: PageMap::new(capacity_pages as u32),
            p2l: PageMap::new(count * geometry.stride),
            superblocks: Superblocks::new(count, set_aside as u32),
            dead: Vec::new(),
            kept: Vec::new(),
            host: None,
            other: None,
            past_cache: false,
            sorts: sorts(cache),
            runs: Runs::default(),
            silences: Silences::default(),
            idle_start: idle_start(cache, &Silences::default()),
            host_units: 0,
            relocation: Relocation::new(config),
            gc_rule: config.ftl.gc,
            throttle: WriteThrottle::None,
            credits: Credits::default(),
            erasing: EraseBeside::new(config),
            exhausted: false,
            worn_after: config.cache_erases(),
            aging: Aging::new(config),
            custom: Custom::default(),
            pages: PageCounts::default(),
            config: cache.clone(),
            geometry,
        }
    }

    /// What follows from the profile alone and is not in a drive file.
    pub fn describe(&mut self, config: &Config) {
        self.config.off_when_worn = config.cache.off_when_worn;
        self.worn_after = config.cache_erases();
        if let Some(aging) = &mut self.aging {
            aging.describe(config);
        }
    }

    /// Whether host data go into the cache, from the next superblock on, and whether it is emptied while the host is silent.
    pub fn switch_cache(&mut self, config: &Config, on: bool, emptied: bool) {
        self.worn_after = if on { config.cache_erases() } else { Some(0) };
        let residue = |idle: Idle| if emptied { idle.residue_bytes } else { config.capacity_bytes };
        self.config.idle = config.cache.idle.map(|idle| Idle { residue_bytes: residue(idle), ..idle });
    }

    /// All data are gone, and the cache is set up anew; wear and counters stay.
    pub fn format(&mut self, config: &Config) {
        let before = std::mem::replace(self, Ftl::new(config));
        self.superblocks.take_wear(&before.superblocks, config.ftl.erase_every_bytes > 0);
        self.pages = before.pages;
        self.pages.died_in_slc += std::mem::take(&mut self.pages.slc_valid);
        self.pages.mapped = 0;
        self.set_custom(Custom::new(before.custom.policy, before.custom.victims));
    }

    /// The physical page of a logical one and for how many, at most `limit`, they go on together.
    #[inline(always)]
    pub fn find(&self, page: Lpn, limit: u32) -> (Ppn, u32) {
        let (to, mut run) = self.l2p.run(page, limit);
        while run < limit {
            let (next, more) = self.l2p.run(page + run, limit - run);
            if next != page_map::step(to, run) {
                break;
            }
            run += more;
        }
        (to, run)
    }

    #[inline]
    pub fn prefetch(&self, page: Lpn) {
        self.l2p.prefetch(page);
    }

    /// Where a physical page is, the mode of its superblock, and whether its data have not left the controller yet.
    #[inline(always)]
    pub fn locate(
        &self,
        page: Ppn,
        nand: &Nand,
        buffer: &mut WriteBuffer,
        now: Nanos,
    ) -> (PageAddress, CellMode, bool) {
        let (superblock, offset) = self.geometry.split(page);
        let block = self.superblocks.get(superblock);
        if block.switched {
            return self.locate_in_switched(superblock, offset, nand, buffer, now);
        }
        let address = self.geometry.address(offset, block.mode);
        let held = match block.writer {
            Writer::Host if self.sorts => self.holds_sorted(superblock, address.unit, nand, buffer, now),
            Writer::Host => buffer.holds(nand, now, block.first_unit + address.unit as u64),
            Writer::Relocation => self.relocation.holds(superblock, address.unit),
        };
        (address, block.mode, held)
    }

    /// How often a read of the host's of that page, which is on that die, is tried.
    #[inline]
    pub fn read_tries(&mut self, page: Ppn, die: u32, at: Nanos) -> u64 {
        let Some(aging) = &mut self.aging else { return 1 };
        let (superblock, _) = self.geometry.split(page);
        aging.read(superblock, self.superblocks.get(superblock), die, at)
    }

    /// Whether a page of the host's that is at `page` can still be replaced in the buffer at `now`. Where writes are sorted,
    /// or cells filled up, nobody looks.
    pub fn awaits_program(&self, page: Ppn, nand: &Nand, buffer: &mut WriteBuffer, now: Nanos) -> bool {
        let (superblock, offset) = self.geometry.split(page);
        let block = self.superblocks.get(superblock);
        if self.sorts || block.switched || !matches!(block.writer, Writer::Host) {
            return false;
        }
        let unit = self.geometry.address(offset, block.mode).unit as u64;
        buffer.awaits_program(nand, now, block.first_unit + unit)
    }

    /// The data of these pages are gone.
    pub fn trim(&mut self, page: Lpn, pages: u32) {
        self.unmap_then_set(page, Ppn::NONE, pages);
        self.release_dead();
    }

    /// Size of the cache as it is now, in superblocks: the static part, and the dynamic part at this fill.
    pub fn cache_superblocks(&self) -> u32 {
        self.superblocks.set_aside + self.dynamic_limit()
    }

    /// Pages that the cache holds at its present size.
    pub fn cache_pages(&self) -> u64 {
        let pages = |superblocks: u32, mode| superblocks as u64 * self.geometry.pages(mode) as u64;
        pages(self.superblocks.set_aside, CellMode::Slc) + pages(self.dynamic_limit(), self.geometry.dynamic)
    }

    /// Pages that the host has written so far.
    fn host_pages(&self) -> u64 {
        self.pages.host_to_slc + self.pages.host_to_native
    }

    /// The cells that data end up in.
    pub fn main(&self) -> CellMode {
        self.geometry.main
    }

    /// The least that relocation takes of a program's time, in permille.
    pub fn least_permille(&self) -> u32 {
        self.relocation.least_permille()
    }

    /// Bytes that an entry of the map stands for.
    #[inline(always)]
    pub fn unit(&self) -> MapUnit {
        self.geometry.unit
    }

    pub fn superblock_bytes(&self, mode: CellMode) -> u64 {
        self.unit().bytes(self.geometry.pages(mode) as u64)
    }

    pub fn free_superblocks(&self) -> u32 {
        self.superblocks.free()
    }

    /// Superblocks of the cache that the host is filling.
    fn filling_cache(&self) -> impl Iterator<Item = &Superblock> {
        [&self.host, &self.other]
            .into_iter()
            .flatten()
            .filter(|pointer| self.geometry.is_cache(pointer.mode))
            .map(|pointer| self.superblocks.get(pointer.superblock))
    }

    /// Superblocks that hold, or wait for, data as cache.
    pub fn slc_superblocks(&self) -> u32 {
        if self.geometry.main == CellMode::Slc {
            return 0;
        }
        self.superblocks.borrowed + self.superblocks.used_set_aside()
    }

    /// Erases of superblocks so far: of one bit a cell, of more.
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
        let mut valid = vec![0; self.superblocks.iter().count()];
        let (mut mapped, mut in_cache) = (0, 0);
        for page in (0..self.capacity_pages as u32).map(Lpn) {
            let at = self.l2p.get(page);
            if at != Ppn::NONE {
                assert_eq!(self.p2l.get(at), page, "P2L of the newest copy of {page:?}");
                let (superblock, _) = self.geometry.split(at);
                valid[superblock as usize] += 1;
                mapped += 1;
                in_cache += self.geometry.is_cache(self.superblocks.get(superblock).mode) as u64;
            }
        }
        for (index, block) in self.superblocks.iter() {
            assert_eq!(block.valid, valid[index as usize], "valid pages of superblock {index}");
            assert!(block.state != State::Free || block.valid == 0);
        }
        let count = |of: fn(&Superblock) -> u64| self.superblocks().map(of).sum::<u64>();
        let used = |block: &Superblock| (block.state != State::Free && block.mode != CellMode::Native) as u64;
        if self.geometry.main == CellMode::Native {
            assert_eq!(self.slc_superblocks() as u64, count(used));
        }
        let erases = (count(|block| block.slc_erases as u64), count(|block| block.native_erases as u64));
        assert_eq!(self.erases(), erases);
        assert_eq!((self.pages.mapped, self.pages.slc_valid), (mapped, in_cache));
    }

    /// Map logical pages anew; what they were mapped to no longer holds the newest copy.
    #[inline]
    fn unmap_then_set(&mut self, page: Lpn, to: Ppn, count: u32) {
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
    #[inline(always)]
    fn release_dead(&mut self) {
        if !self.dead.is_empty() {
            self.release_all_dead();
        }
    }

    #[inline(never)]
    fn release_all_dead(&mut self) {
        self.dead.sort_unstable();
        for index in std::mem::take(&mut self.dead) {
            if !self.relocation.is_victim(index) {
                self.release_or_keep(index);
            }
        }
    }

    /// Release a closed superblock without valid pages, or leave it to the next idle time.
    fn release_or_keep(&mut self, index: u32) {
        if self.config.dead_until_idle && self.geometry.is_cache(self.superblocks.get(index).mode) {
            self.kept.push(index);
        } else {
            self.release(index);
        }
    }

    /// Release what was left to idle time and has not been since.
    fn release_kept(&mut self) {
        for index in std::mem::take(&mut self.kept) {
            let block = self.superblocks.get(index);
            if block.state == State::Closed && block.valid == 0 && !self.relocation.is_victim(index) {
                self.release(index);
            }
        }
    }

    fn release(&mut self, index: u32) {
        self.superblocks.release(index);
        self.p2l.forget(self.geometry.first_page(index), self.geometry.stride);
        let residue = self.config.idle.map_or(0, |idle| self.unit().whole(idle.residue_bytes));
        if self.config.reuse == Reuse::WhenEmpty && self.pages.slc_valid <= residue {
            self.exhausted = false;
        }
        if self.draining {
            let limit = self.cache_superblocks().saturating_sub(self.fold_batch);
            self.draining = self.slc_superblocks() > limit;
        }
        self.decide_throttle();
    }

    fn space(&self) -> Space {
        Space {
            cache_used: self.slc_superblocks(),
            cache_size: self.cache_superblocks(),
            free: self.superblocks.free(),
            reserve: self.reserve,
            cache_pages: self.cache_pages(),
        }
    }

    fn view(&self) -> View {
        let dynamic = self.superblocks.borrowed < self.dynamic_limit() && self.superblocks.free() > self.reserve;
        let room = self.superblocks.free_set_aside() > 0 || dynamic;
        View {
            exhausted: self.exhausted || (self.config.reuse == Reuse::AsFreed && !room),
            room,
            foldable: self.foldable(),
            in_batches: self.fold_batch > 0,
            draining: self.draining,
            throttle: self.throttle,
            space: self.space(),
        }
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
        let (max, min) = (cache.dynamic_bytes, cache.dynamic_least_bytes.min(cache.dynamic_bytes));
        let bytes = if fill <= from {
            max
        } else if fill >= to {
            min
        } else {
            max - (max - min) / (to - from) as u64 * (fill - from) as u64
        };
        (bytes / self.superblock_bytes(self.geometry.dynamic)) as u32
    }

    fn open(&mut self, nand: &mut Nand, at: Nanos, mode: CellMode, writer: Writer, set_aside: bool) -> WritePointer {
        let born = match self.relocation.victim() {
            Some(victim) if writer == Writer::Relocation => self.superblocks.get(victim).born,
            _ => self.host_pages(),
        };
        let (superblock, erase) = self.superblocks.open(mode, writer, set_aside);
        self.superblocks.get_mut(superblock).born = born;
        if let Some(aging) = &mut self.aging {
            aging.begins(superblock, at);
        }
        if let Some(last) = erase {
            nand.erase_superblock(at, last);
        }
        WritePointer::new(superblock, mode, self.geometry.pages(mode), self.geometry.unit_pages(mode))
    }

    fn close(&mut self, superblock: u32) {
        self.superblocks.close(superblock);
        if self.superblocks.get(superblock).valid == 0 {
            self.release_or_keep(superblock);
        }
    }
}
