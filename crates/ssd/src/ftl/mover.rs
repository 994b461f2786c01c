//! Moving valid data: folding pSLC superblocks into native ones, and garbage collection. Both are the same work on
//! another victim; the superblock with the fewest valid pages is the cheapest space, and a full pSLC superblock has a
//! third (on TLC) of the pages of a native one, so folding comes first by itself when space is short.
//!
//! ```text
//!   victim rows --read--> unit --(kept until its reads are done)--> program on the next die
//! ```

use std::collections::VecDeque;

use super::cache::Toll;
use super::runmap::NONE;
use super::stream::Stream;
use super::superblocks::{State, Writer};
use super::{Ftl, MOVER_SUPERBLOCKS};
use crate::config::{CellMode, Config, GcChoice};
use crate::nand::{Nand, Programming};
use crate::units::Nanos;

#[derive(Clone, Copy, Debug)]
struct Victim {
    superblock: u32,
    mode: CellMode,
    /// Physical pages: the first, the next to look at, and the end.
    first: u32,
    next: u32,
    end: u32,
    /// The row that was read last: its end, its die, and when it was in the register.
    row_end: u32,
    die: u32,
    sensed: Nanos,
    /// Pages to move so that as much space is gained as a host unit takes, in 1/65536, as estimated when it was chosen.
    moves_per_unit: i64,
}

/// Bring the pages of the victim's present row to the controller in one transfer; returns when they are there.
#[inline]
fn fetch(nand: &mut Nand, at: Nanos, victim: &Victim, pages: &mut u32) -> Nanos {
    match std::mem::take(pages) {
        0 => Nanos::ZERO,
        pages => nand.bulk_fetch(victim.sensed.max(at), victim.die, pages),
    }
}

/// A unit whose reads are under way.
#[derive(Clone, Copy, Debug)]
struct Unit {
    ready: Nanos,
    permille: u32,
    die: u32,
}

/// What host writes still have to pay for. Negative: paid in advance.
#[derive(Clone, Copy, Debug, Default)]
struct Owed {
    /// Pages to move so that superblocks come free as fast as they are opened, in 1/65536.
    space: i64,
    /// Pages to fold so that the cache does not fill up, in 1/65536.
    slots: i64,
    /// Die time to spend on folding, in picoseconds.
    die_time: i64,
}

impl Owed {
    #[inline]
    fn is_due(&self) -> bool {
        self.space > 0 || self.slots > 0 || self.die_time > 0
    }
}

#[derive(Clone, Debug)]
pub struct Mover {
    victim: Option<Victim>,
    stream: Option<Stream>,
    /// Units waiting for their reads, so that no die stands still for them: at most one a die.
    waiting: VecDeque<Unit>,
    /// The last programs, at most two a die: then a ring, in which the next takes the place of the oldest.
    programming: Vec<Programming>,
    oldest: usize,
    depth: usize,
    fold_permille: u32,
    host_share: u32,
    choice: GcChoice,
    not_before: Nanos,
    owed: Owed,
}

const ONE: i64 = 1 << 16;
/// How many pages ahead of the scan the mapping is fetched into the processor's cache.
const PREFETCH: u32 = 24;

impl Mover {
    pub fn new(config: &Config) -> Mover {
        Mover {
            victim: None,
            stream: None,
            waiting: VecDeque::new(),
            programming: Vec::new(),
            oldest: 0,
            depth: config.nand.dies as usize,
            fold_permille: config.cache.fold_overhead_permille,
            host_share: config.cache.host_share_permille,
            choice: config.ftl.gc,
            not_before: Nanos::ZERO,
            owed: Owed::default(),
        }
    }

    pub fn is_victim(&self, superblock: u32) -> bool {
        self.victim.is_some_and(|victim| victim.superblock == superblock)
    }

    /// Whether a unit of moved data has not been given to the NAND yet.
    pub fn holds(&self, superblock: u32, unit: u32) -> bool {
        self.stream
            .is_some_and(|s| s.superblock == superblock && unit >= s.dispatched - self.waiting.len() as u32)
    }

    /// When background work may move the next unit, at the earliest at `start`.
    pub fn next_start(&self, nand: &Nand, start: Nanos) -> Nanos {
        let room = match self.programming.len() < 2 * self.depth {
            true => Nanos::ZERO,
            false => nand.end_of(&self.programming[self.oldest]),
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
    /// Whether folding has something to do.
    pub(super) fn foldable(&self) -> bool {
        let victim = self.mover.victim.is_some_and(|victim| self.geometry.is_cache(victim.mode));
        victim || self.oldest_in_cache().is_some()
    }

    /// Move one unit out of the cache, the oldest data first; `None` when it holds nothing to fold.
    ///
    /// Folding the static part takes native space and gives none back, so where that is short it is collected first.
    pub(super) fn fold(&mut self, nand: &mut Nand, at: Nanos) -> Option<u32> {
        if self.mover.victim.is_none() {
            let oldest = self.oldest_in_cache()?;
            let costs = self.superblocks.get(oldest).set_aside;
            let collect = costs && self.superblocks.free() < MOVER_SUPERBLOCKS;
            let victim = if collect { self.cheapest() } else { None };
            self.take_victim(victim.unwrap_or(oldest));
        }
        Some(self.move_unit(nand, at))
    }

    /// Move one unit out of the superblock that gives space most cheaply; `None` when none would give any.
    pub(super) fn reclaim(&mut self, nand: &mut Nand, at: Nanos) -> Option<u32> {
        if self.mover.victim.is_none() {
            self.take_cheapest()?;
        }
        Some(self.move_unit(nand, at))
    }

    /// Move as much as the host unit just programmed owes. A unit moved pays every debt at once; what is paid too much
    /// counts for the next.
    #[inline]
    pub(super) fn pay_now(&mut self, nand: &mut Nand, at: Nanos) {
        self.owe(nand);
        while self.mover.owed.is_due() {
            self.pay(nand, at);
        }
    }

    /// Move a unit for what is owed.
    #[inline(never)]
    fn pay(&mut self, nand: &mut Nand, at: Nanos) {
        let before = nand.busy();
        let moved = if self.mover.owed.space > 0 { self.reclaim(nand, at) } else { self.fold(nand, at) };
        let owed = &mut self.mover.owed;
        match moved {
            Some(moved) => {
                owed.space -= moved as i64 * ONE;
                owed.slots -= moved.max(1) as i64 * ONE;
                owed.die_time -= (nand.busy() - before).0 as i64 * 1000;
            }
            None => *owed = Owed::default(),
        }
    }

    /// Add what the host unit just programmed owes to the debts in force, and forget the others.
    fn owe(&mut self, nand: &Nand) {
        let host = self.host.as_ref().expect("a host unit was programmed");
        let (mode, unit) = (host.mode, host.unit_pages as i64);
        let short = self.superblocks.free() <= self.reserve;
        if short && self.mover.victim.is_none() {
            let _ = self.take_cheapest();
        }
        let price = self.mover.victim.as_ref().map_or(0, |victim| victim.moves_per_unit);
        let owed = &mut self.mover.owed;
        owed.space = match short {
            true => owed.space + price,
            false => 0,
        };
        owed.slots = match self.toll {
            Toll::OneForOne => owed.slots + unit * ONE,
            _ => 0,
        };
        owed.die_time = match self.toll {
            Toll::Share => {
                let share = self.mover.host_share as u64;
                let time = nand.unit(mode, 1000).time.0;
                owed.die_time + (time * (1000 - share) * 1000 / share) as i64
            }
            _ => 0,
        };
    }

    /// Program every unit that waits for its reads.
    pub(super) fn flush_moved(&mut self, nand: &mut Nand, at: Nanos) {
        while !self.mover.waiting.is_empty() {
            self.program_moved(nand, at);
        }
    }

    fn oldest_in_cache(&self) -> Option<u32> {
        if self.geometry.main == CellMode::Slc {
            return None;
        }
        let closed = self
            .superblocks
            .iter()
            .filter(|(_, block)| block.state == State::Closed && block.mode == CellMode::Slc);
        closed.min_by_key(|(_, block)| block.opened).map(|(index, _)| index)
    }

    fn cheapest(&self) -> Option<u32> {
        let full = self.geometry.stride;
        let newest = self.superblocks.openings();
        let candidates = self
            .superblocks
            .iter()
            .filter(|(_, block)| block.state == State::Closed && !block.set_aside && block.valid < full);
        let best = match self.mover.choice {
            GcChoice::Greedy => candidates.min_by_key(|(_, block)| (block.valid, block.opened)),
            GcChoice::CostBenefit => candidates.max_by(|(_, a), (_, b)| {
                // benefit / cost = (1 - u) * age / 2u, compared by cross multiplication.
                let gain = |valid: u32, opened: u64| (full - valid) as u128 * (newest - opened + 1) as u128;
                let left = gain(a.valid, a.opened) * b.valid as u128;
                let right = gain(b.valid, b.opened) * a.valid as u128;
                left.cmp(&right).then(b.opened.cmp(&a.opened))
            }),
        };
        best.map(|(index, _)| index)
    }

    #[cold]
    fn take_cheapest(&mut self) -> Option<()> {
        let cheapest = self.cheapest()?;
        self.take_victim(cheapest);
        Some(())
    }

    fn take_victim(&mut self, index: u32) {
        let block = self.superblocks.get(index);
        let full = self.geometry.stride as u64;
        let valid = block.valid as u64;
        let first = self.geometry.first_page(index);
        let units = full / self.geometry.unit_pages(self.geometry.main) as u64;
        self.mover.victim = Some(Victim {
            superblock: index,
            mode: block.mode,
            first,
            next: first,
            end: first + self.geometry.pages(block.mode),
            row_end: first,
            die: 0,
            sensed: Nanos::ZERO,
            moves_per_unit: (ONE as u64 * (valid * full / (full - valid)) / units) as i64,
        });
    }

    /// Gather valid pages of the victim until a unit is full or the victim is empty; returns how many were moved.
    fn move_unit(&mut self, nand: &mut Nand, at: Nanos) -> u32 {
        if self.mover.stream.as_ref().is_none_or(|stream| stream.room() == 0) {
            if let Some(full) = self.mover.stream.take() {
                self.flush_moved(nand, at);
                self.close(full.superblock);
            }
            self.mover.stream = Some(self.open(nand, at, self.geometry.main, Writer::Mover, false));
        }
        let stream = self.mover.stream.as_mut().expect("just opened");
        let victim = self.mover.victim.as_mut().expect("the caller chose one");
        let mut valid = self.superblocks.get(victim.superblock).valid;
        let mut moved = 0;
        let mut full = false;
        // Pages of the victim's present row that have not crossed the channel yet.
        let mut unfetched = 0;
        while !full && valid > 0 {
            let limit = stream.unit_room.min(victim.end - victim.next);
            let (page, run) = self.p2l.run(victim.next, limit);
            if page == NONE {
                victim.next += run;
                continue;
            }
            if run == 1 {
                // Scattered data: the mapping of pages further on will be needed soon.
                self.l2p.prefetch(self.p2l.get((victim.next + PREFETCH).min(victim.end - 1)));
            }
            let (newest, run) = self.l2p.run(page, run);
            if newest != victim.next {
                victim.next += run;
                continue;
            }
            let end = victim.next + run;
            while victim.next < end {
                if victim.next >= victim.row_end {
                    stream.ready = stream.ready.max(fetch(nand, at, victim, &mut unfetched));
                    let place = self.geometry.place(victim.next - victim.first, victim.mode);
                    victim.row_end = victim.next + place.row_rest;
                    victim.die = place.die;
                    victim.sensed = nand.bulk_sense(at, place.die, victim.mode);
                }
                let part_end = end.min(victim.row_end);
                unfetched += part_end - victim.next;
                victim.next = part_end;
            }
            let to = self.geometry.first_page(stream.superblock) + stream.given;
            self.l2p.set(page, to, run, |_, _| {});
            self.p2l.set(to, page, run, |_, _| {});
            stream.given += run;
            moved += run;
            valid -= run;
            full = stream.arrive(Nanos::ZERO, run);
        }
        stream.ready = stream.ready.max(fetch(nand, at, victim, &mut unfetched));
        let emptied = (valid == 0).then_some(victim.superblock);
        self.superblocks.get_mut(victim.superblock).valid = valid;
        self.superblocks.get_mut(stream.superblock).valid += moved;
        let folds = self.geometry.is_cache(victim.mode);
        if folds {
            self.pages.slc_valid -= moved as u64;
            self.pages.folded += moved as u64;
        } else {
            self.pages.collected += moved as u64;
        }
        if full {
            let permille = if folds { self.mover.fold_permille } else { 1000 };
            let (die, ready) = stream.dispatch(self.geometry.dies);
            self.mover.waiting.push_back(Unit { ready, permille, die });
        }
        if self.mover.waiting.len() > self.mover.depth {
            self.program_moved(nand, at);
        }
        if let Some(emptied) = emptied {
            self.mover.victim = None;
            self.release(emptied);
        }
        moved
    }

    /// Give the oldest waiting unit to its die.
    fn program_moved(&mut self, nand: &mut Nand, at: Nanos) {
        let unit = self.mover.waiting.pop_front().expect("a unit waits");
        let pages = self.geometry.unit_pages(self.geometry.main);
        let mode = self.geometry.main;
        let program = nand.unit(mode, unit.permille);
        let programming = nand.program(unit.ready.max(at), unit.die, &program);
        self.mover.programs(programming);
        match mode {
            CellMode::Slc => self.pages.slc_programmed += pages as u64,
            CellMode::Native => self.pages.native_programmed += pages as u64,
        }
    }
}
