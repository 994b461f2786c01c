//! Relocation: valid data are moved out of a victim into fresh cells. Folding and garbage collection are the same work on
//! another victim.
//!
//! ```text
//!   victim's multi-plane pages --read--> program unit --(kept until its reads are done)--> program on the next die
//! ```

use std::collections::VecDeque;

use super::geometry::{Geometry, PageAddress};
use super::superblocks::{State, Superblocks, Writer};
use super::throttle;
use super::write_pointer::WritePointer;
use super::Ftl;
use crate::cell_mode::CellMode;
use crate::config::Config;
use crate::consistency::{ensure, Consistency};
use crate::nand::{Nand, Programming};
use crate::units::{Lpn, Nanos, Ppn};
use crate::waits::Cause;

/// The superblock being emptied.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
struct Victim {
    superblock: u32,
    mode: CellMode,
    switched: bool,
    /// Its first page, the next to look at, and the end.
    first: Ppn,
    next: Ppn,
    end: Ppn,
    /// The multi-plane page that was read last: its end, its die, and when it was in the register.
    multi_plane_end: Ppn,
    die: u32,
    sensed: Nanos,
    /// Pages to move so that as much space is gained as a host unit takes, as estimated when it was chosen, in credits.
    moves_per_unit: i64,
}

impl Victim {
    fn check(&self, geometry: &Geometry, blocks: &Superblocks) -> Consistency {
        let exists = self.superblock < blocks.count();
        ensure(exists && blocks.get(self.superblock).state == State::Closed, "victim")?;
        let block = blocks.get(self.superblock);
        let first = geometry.first_page(self.superblock);
        let end = first + geometry.pages(block.mode);
        ensure(
            (self.mode, self.switched) == (block.mode, block.switched)
                && (self.first, self.end) == (first, end)
                && (first..=end).contains(&self.next)
                && (first..=end).contains(&self.multi_plane_end)
                && (0..=MAX_MOVES).contains(&self.moves_per_unit),
            "victim",
        )?;
        if self.next >= self.multi_plane_end {
            return Ok(());
        }
        let address = self.address(geometry, self.next);
        ensure((self.next + address.rest, address.die) == (self.multi_plane_end, self.die), "victim")
    }

    /// Read the next `run` pages; returns when those have come that were transferred. `unfetched` are of the present
    /// multi-plane page, which is transferred as a whole.
    #[inline(always)]
    fn read(
        &mut self,
        geometry: &Geometry,
        nand: &mut Nand,
        at: Nanos,
        run: u32,
        unfetched: &mut u32,
        tries: &impl Fn(u32) -> u64,
    ) -> Nanos {
        let mut ready = Nanos::ZERO;
        let end = self.next + run;
        while self.next < end {
            if self.next >= self.multi_plane_end {
                ready = ready.max(fetch(nand, at, self, unfetched, &tries));
                let address = self.address(geometry, self.next);
                self.multi_plane_end = self.next + address.rest;
                self.die = address.die;
                self.sensed = nand.sense(at, address.die, self.mode, tries(address.die));
            }
            let part_end = end.min(self.multi_plane_end);
            *unfetched += part_end - self.next;
            self.next = part_end;
        }
        ready
    }

    /// Where a page of it is.
    fn address(&self, geometry: &Geometry, page: Ppn) -> PageAddress {
        if self.switched {
            geometry.address_in_switched(page - self.first)
        } else {
            geometry.address(page - self.first, self.mode)
        }
    }
}

/// Credits a unit, of what is read from a file.
const MAX_MOVES: i64 = 1 << 60;

/// Bring the pages of the victim's present multi-plane page to the controller in one transfer; returns when they are there.
#[inline]
fn fetch(nand: &mut Nand, at: Nanos, victim: &Victim, pages: &mut u32, tries: &impl Fn(u32) -> u64) -> Nanos {
    match std::mem::take(pages) {
        0 => Nanos::ZERO,
        pages => nand.transfer_out(victim.sensed.max(at), victim.die, pages, tries(victim.die)),
    }
}

/// A program unit whose reads are under way.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
struct Pending {
    ready: Nanos,
    permille: u32,
    die: u32,
    cause: Cause,
}

#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct Relocation {
    victim: Option<Victim>,
    pointer: Option<WritePointer>,
    /// Units waiting for their reads, so that no die stands still for them: at most one a die.
    waiting: VecDeque<Pending>,
    /// The last programs, at most two a die: then a ring, in which the next takes the place of the oldest.
    programming: Vec<Programming>,
    oldest: usize,
    depth: usize,
    fold_permille: u32,
    gc_permille: u32,
    not_before: Nanos,
}

/// How many pages ahead of the scan the mapping is prefetched, so many at once: then the processor looks up several
/// addresses at the same time.
const PREFETCH: u32 = 32;

impl Relocation {
    pub fn new(config: &Config) -> Relocation {
        Relocation {
            victim: None,
            pointer: None,
            waiting: VecDeque::new(),
            programming: Vec::new(),
            oldest: 0,
            depth: config.nand.dies as usize,
            fold_permille: config.cache.fold_overhead_permille,
            gc_permille: config.ftl.gc_overhead_permille,
            not_before: Nanos::ZERO,
        }
    }

    pub fn check(&self, described: &Relocation, geometry: &Geometry, blocks: &Superblocks, nand: &Nand) -> Consistency {
        let sizes = |of: &Relocation| (of.depth, of.fold_permille, of.gc_permille);
        ensure(sizes(self) == sizes(described), "relocation")?;
        if let Some(pointer) = &self.pointer {
            pointer.check(geometry, blocks, Writer::Relocation)?;
        }
        let dispatched = self.pointer.map_or(0, |pointer| pointer.dispatched as usize);
        let possible = |unit: &Pending| {
            unit.die < nand.dies()
                && unit.cause.is_work()
                && [self.gc_permille, self.fold_permille].contains(&unit.permille)
        };
        ensure(self.waiting.len() <= self.depth.min(dispatched) && self.waiting.iter().all(possible), "relocation")?;
        ensure(
            self.programming.len() <= 2 * self.depth
                && self.oldest < self.programming.len().max(1)
                && self.programming.iter().all(|unit| nand.has_queued(unit)),
            "programs under way",
        )?;
        self.victim.as_ref().map_or(Ok(()), |victim| victim.check(geometry, blocks))
    }

    /// The least that it takes of a program's time, in permille.
    pub fn least_permille(&self) -> u32 {
        self.fold_permille.min(self.gc_permille)
    }

    /// The superblock that is being filled, and how far.
    pub fn pointer(&self) -> Option<&WritePointer> {
        self.pointer.as_ref()
    }

    /// The superblock that is being emptied, and how many of its pages have been looked at.
    pub fn emptied(&self) -> Option<(u32, u32)> {
        self.victim.as_ref().map(|victim| (victim.superblock, victim.next - victim.first))
    }

    #[inline]
    pub fn has_victim(&self) -> bool {
        self.victim.is_some()
    }

    #[inline]
    pub fn is_victim(&self, superblock: u32) -> bool {
        self.victim.is_some_and(|victim| victim.superblock == superblock)
    }

    /// The superblock that is being emptied.
    pub fn victim(&self) -> Option<u32> {
        self.victim.map(|victim| victim.superblock)
    }

    /// What is left of the victim stays where it is.
    pub fn abandon_victim(&mut self) {
        self.victim = None;
    }

    /// Whether the victim is of the cache.
    pub fn folds(&self, geometry: &Geometry) -> bool {
        self.victim.is_some_and(|victim| geometry.is_cache(victim.mode))
    }

    /// Credits for the space that a host unit takes; none where there is no victim.
    #[inline]
    pub fn moves_per_unit(&self) -> i64 {
        self.victim.as_ref().map_or(0, |victim| victim.moves_per_unit)
    }

    /// Whether a unit of relocated data has not been given to the NAND yet.
    pub fn holds(&self, superblock: u32, unit: u32) -> bool {
        self.pointer.is_some_and(|p| p.superblock == superblock && unit >= p.dispatched - self.waiting.len() as u32)
    }

    /// When background work may move the next unit, at the earliest at `start`.
    pub fn next_start(&self, nand: &Nand, start: Nanos) -> Nanos {
        let room = if self.programming.len() < 2 * self.depth {
            Nanos::ZERO
        } else {
            nand.end_of(&self.programming[self.oldest])
        };
        start.max(room).max(self.not_before)
    }

    /// Remember a program that has just been asked for.
    fn programs(&mut self, programming: Programming) {
        if self.programming.len() < 2 * self.depth {
            self.programming.push(programming);
            return;
        }
        self.programming[self.oldest] = programming;
        self.oldest = if self.oldest + 1 == self.programming.len() { 0 } else { self.oldest + 1 };
    }

    pub fn pause_until(&mut self, at: Nanos) {
        self.not_before = at;
    }
}

impl Ftl {
    /// Program every unit that waits for its reads.
    pub(super) fn program_relocated(&mut self, nand: &mut Nand, at: Nanos) {
        while !self.relocation.waiting.is_empty() {
            self.program_oldest(nand, at);
        }
    }

    pub(super) fn take_victim(&mut self, index: u32) {
        let block = self.superblocks.get(index);
        let full = self.geometry.stride as u64;
        let valid = block.valid as u64;
        let first = self.geometry.first_page(index);
        let units = full / self.geometry.unit_pages(self.geometry.main) as u64;
        self.relocation.victim = Some(Victim {
            superblock: index,
            mode: block.mode,
            switched: block.switched,
            first,
            next: first,
            end: first + self.geometry.pages(block.mode),
            multi_plane_end: first,
            die: 0,
            sensed: Nanos::ZERO,
            moves_per_unit: (throttle::PAGE as u64 * (valid * full / (full - valid).max(1)) / units) as i64,
        });
    }

    /// Gather valid pages of the victim until a unit is full or the victim is empty; returns how many were moved.
    pub(super) fn relocate_unit(&mut self, nand: &mut Nand, at: Nanos) -> u32 {
        if self.relocation.pointer.as_ref().is_none_or(|pointer| pointer.room() == 0) {
            self.open_for_relocation(nand, at);
        }
        let pointer = self.relocation.pointer.as_mut().expect("just opened");
        let victim = self.relocation.victim.as_mut().expect("the caller chose one");
        let folds = self.geometry.is_cache(victim.mode);
        let cause = if folds { Cause::Folding } else { Cause::Collection };
        nand.work = cause;
        let (superblock, aging) = (victim.superblock, self.aging.as_deref());
        let block = self.superblocks.get(superblock);
        let tries = |die| aging.map_or(1, |aging| aging.tries(superblock, block, die, at));
        let valid = block.valid;
        let (mut moved, mut unfetched) = (0, 0);
        while pointer.unit_room > 0 && moved < valid {
            let limit = pointer.unit_room.min(victim.end - victim.next);
            let (page, run) = self.p2l.run(victim.next, limit);
            if page == Lpn::NONE {
                victim.next += run;
                continue;
            }
            if run == 1 && victim.next.0 % PREFETCH == 0 {
                // Scattered data: the mapping of pages further on will be needed soon.
                let ahead = (victim.next + PREFETCH).min(Ppn(victim.end.0 - 1));
                self.p2l.dense_values(ahead, PREFETCH).for_each(|page| self.l2p.prefetch(page));
            }
            let to = self.geometry.first_page(pointer.superblock) + pointer.given;
            let (is_newest, run) = self.l2p.exchange(page, run, victim.next, to);
            if !is_newest {
                victim.next += run;
                continue;
            }
            pointer.arrive(victim.read(&self.geometry, nand, at, run, &mut unfetched, &tries), run);
            self.p2l.set(to, page, run, |_, _| {});
            pointer.given += run;
            moved += run;
        }
        pointer.ready = pointer.ready.max(fetch(nand, at, victim, &mut unfetched, &tries));
        let emptied = (moved == valid).then_some(victim.superblock);
        self.superblocks.get_mut(victim.superblock).valid = valid - moved;
        self.superblocks.get_mut(pointer.superblock).valid += moved;
        self.pages.relocated(folds, moved);
        if pointer.unit_room == 0 {
            let permille = if folds { self.relocation.fold_permille } else { self.relocation.gc_permille };
            let (die, ready) = pointer.dispatch(self.geometry.dies);
            self.relocation.waiting.push_back(Pending { ready, permille, die, cause });
        }
        if self.relocation.waiting.len() > self.relocation.depth {
            self.program_oldest(nand, at);
        }
        if let Some(emptied) = emptied {
            self.relocation.victim = None;
            self.end_refresh();
            self.release(emptied);
        }
        moved
    }

    /// Take a fresh superblock for what is relocated, in place of a full one.
    fn open_for_relocation(&mut self, nand: &mut Nand, at: Nanos) {
        if let Some(full) = self.relocation.pointer.take() {
            self.program_relocated(nand, at);
            self.close(full.superblock);
        }
        self.relocation.pointer = Some(self.open(nand, at, self.geometry.main, Writer::Relocation, false));
    }

    /// Give the oldest waiting unit to its die.
    fn program_oldest(&mut self, nand: &mut Nand, at: Nanos) {
        let unit = self.relocation.waiting.pop_front().expect("a unit waits");
        let pages = self.geometry.unit_pages(self.geometry.main);
        let mode = self.geometry.main;
        let program = nand.program_unit(mode, unit.permille);
        nand.work = unit.cause;
        let programming = nand.program(unit.ready.max(at), unit.die, &program);
        self.relocation.programs(programming);
        match mode {
            CellMode::Slc | CellMode::Mlc => self.pages.slc_programmed += pages as u64,
            CellMode::Native => self.pages.native_programmed += pages as u64,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile;

    #[test]
    fn a_program_that_no_die_has_begun_is_not_under_way() {
        let text = include_str!("../../../../python/pslc/drives/aldrin-pro-2tb.toml");
        let config = profile::load("aldrin-pro-2tb.toml", text, &|_| None, &[]).unwrap().config;
        let (geometry, nand) = (Geometry::new(&config), Nand::new(&config));
        let blocks = Superblocks::new(config.nand.superblocks(), 0);
        let mut relocation = Relocation::new(&config);
        let check = |of: &Relocation| of.check(&Relocation::new(&config), &geometry, &blocks, &nand);
        assert!(check(&relocation).is_ok());
        relocation.programming.push(Programming::default());
        assert!(check(&relocation).is_err());
    }
}
