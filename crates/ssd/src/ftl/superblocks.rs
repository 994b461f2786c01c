//! Superblocks: one block of every plane of every die, opened, filled and erased together.

use std::collections::VecDeque;

use super::geometry::Geometry;
use super::victim::Candidate;
use crate::cell_mode::CellMode;
use crate::consistency::{ensure, ensure_counters, Consistency};

#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum State {
    Free,
    Open,
    Closed,
}

/// Whose data a superblock is filled with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Writer {
    Host,
    /// Folding and garbage collection.
    Relocation,
}

#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct Superblock {
    pub state: State,
    pub mode: CellMode,
    pub writer: Writer,
    /// Pages that hold the newest copy of something.
    pub valid: u32,
    /// When it was opened, as a sequence number over all openings.
    pub opened: u64,
    /// Pages that the host had written when its data, or those of the first superblock they were moved out of, were.
    pub born: u64,
    /// It was of the cache, and was filled up in place: its first pages are the lowest bits of its cells.
    pub switched: bool,
    /// Number of its first program unit over all units of host data, if it was filled with such.
    pub first_unit: u64,
    /// Belongs to the static cache for good.
    pub set_aside: bool,
    /// It must be erased before it is programmed again.
    pub dirty: bool,
    /// Erases so far, by whether the erased cells held one bit or more.
    pub slc_erases: u32,
    pub native_erases: u32,
}

impl Superblock {
    /// As the victim rules see it.
    #[inline]
    pub fn candidate(&self) -> Candidate {
        Candidate { valid: self.valid, opened: self.opened }
    }

    /// Erased, or to be erased before its next use.
    pub fn is_free(&self) -> bool {
        self.state == State::Free
    }

    /// It is being filled.
    pub fn is_open(&self) -> bool {
        self.state == State::Open
    }
}

#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct Superblocks {
    all: Vec<Superblock>,
    free: VecDeque<u32>,
    free_set_aside: VecDeque<u32>,
    openings: u64,
    /// Superblocks of the static cache.
    pub set_aside: u32,
    /// Superblocks of less than the native bits that are not free and not set aside.
    pub borrowed: u32,
    /// Free superblocks that hold old data.
    to_erase: u32,
    /// Erases of superblocks so far, by whether the erased cells held one bit or more.
    pub slc_erases: u64,
    pub native_erases: u64,
    /// Erases of the static cache, which are among those of pSLC.
    pub set_aside_erases: u64,
}

impl Superblocks {
    /// `count` erased superblocks, the first `set_aside` of which are the static cache.
    pub fn new(count: u32, set_aside: u32) -> Superblocks {
        let fresh = |index| Superblock {
            state: State::Free,
            mode: CellMode::Native,
            writer: Writer::Host,
            valid: 0,
            opened: 0,
            born: 0,
            switched: false,
            first_unit: 0,
            set_aside: index < set_aside,
            dirty: false,
            slc_erases: 0,
            native_erases: 0,
        };
        Superblocks {
            all: (0..count).map(fresh).collect(),
            free: (set_aside..count).collect(),
            free_set_aside: (0..set_aside).collect(),
            openings: 0,
            set_aside,
            borrowed: 0,
            to_erase: 0,
            slc_erases: 0,
            native_erases: 0,
            set_aside_erases: 0,
        }
    }

    /// The cells of others are these, with what was done to them. Those that hold old data, or `all`, must be erased.
    pub fn take_wear(&mut self, before: &Superblocks, all: bool) {
        for (block, worn) in self.all.iter_mut().zip(&before.all) {
            block.mode = worn.mode;
            block.dirty = all || worn.dirty || worn.state != State::Free;
            block.slc_erases = worn.slc_erases;
            block.native_erases = worn.native_erases;
        }
        self.to_erase = self.free_to_erase().count() as u32;
        self.slc_erases = before.slc_erases;
        self.native_erases = before.native_erases;
        self.set_aside_erases = before.set_aside_erases;
    }

    /// Whether these are `count` superblocks, of which the host has written `host_pages`; what is counted over them is what
    /// they are, and each free one is in its list once.
    pub fn check(&self, count: u32, set_aside: u32, host_pages: u64, geometry: &Geometry) -> Consistency {
        ensure((self.all.len(), self.set_aside) == (count as usize, set_aside), "superblocks")?;
        ensure_counters(&[self.openings], "superblocks")?;
        let possible = |(index, block): (u32, &Superblock)| {
            block.set_aside == (index < set_aside)
                && block.valid <= geometry.pages(block.mode)
                && (block.valid == 0 || block.state != State::Free)
                && block.opened <= self.openings
                && block.born <= host_pages
                && (!block.switched || block.mode == CellMode::Native && !block.set_aside)
                && (block.state == State::Free || block.dirty)
                && (block.mode != CellMode::Mlc || geometry.mlc_pages > 0 && !block.set_aside)
        };
        ensure(self.iter().all(possible), "superblocks")?;
        let in_order = |list: &VecDeque<u32>| {
            let mut sorted: Vec<u32> = list.iter().copied().collect();
            sorted.sort_unstable();
            sorted
        };
        let free = |set_aside: bool| -> Vec<u32> {
            let free = self.iter().filter(|(_, block)| block.state == State::Free && block.set_aside == set_aside);
            free.map(|(index, _)| index).collect()
        };
        ensure(
            in_order(&self.free) == free(false) && in_order(&self.free_set_aside) == free(true),
            "free superblocks",
        )?;
        let borrowed = self
            .all
            .iter()
            .filter(|block| block.state != State::Free && block.mode != CellMode::Native && !block.set_aside);
        ensure(self.borrowed as usize == borrowed.count() && !self.free.is_empty(), "free superblocks")?;
        ensure(self.to_erase as usize == self.free_to_erase().count(), "superblocks to erase")?;
        let slc: u64 = self.all.iter().map(|block| block.slc_erases as u64).sum();
        let native: u64 = self.all.iter().map(|block| block.native_erases as u64).sum();
        ensure(
            (self.slc_erases, self.native_erases) == (slc, native) && self.set_aside_erases <= slc,
            "count of erases",
        )
    }

    /// How many there are.
    pub fn count(&self) -> u32 {
        self.all.len() as u32
    }

    #[inline]
    pub fn get(&self, index: u32) -> &Superblock {
        &self.all[index as usize]
    }

    #[inline]
    pub fn get_mut(&mut self, index: u32) -> &mut Superblock {
        &mut self.all[index as usize]
    }

    pub fn iter(&self) -> impl Iterator<Item = (u32, &Superblock)> {
        (0..).zip(&self.all)
    }

    /// Openings so far.
    pub fn openings(&self) -> u64 {
        self.openings
    }

    /// Free superblocks that can take either mode.
    pub fn free(&self) -> u32 {
        self.free.len() as u32
    }

    /// Free superblocks of the static cache.
    pub fn free_set_aside(&self) -> u32 {
        self.free_set_aside.len() as u32
    }

    /// Superblocks of the static cache that hold data or wait for them.
    pub fn used_set_aside(&self) -> u32 {
        self.set_aside - self.free_set_aside()
    }

    /// Open a free superblock; the caller has made sure that there is one. Also returns the mode of the data that must
    /// be erased from it first, if any; that erase is counted here.
    pub fn open(&mut self, mode: CellMode, writer: Writer, set_aside: bool) -> (u32, Option<CellMode>) {
        let list = if set_aside { &mut self.free_set_aside } else { &mut self.free };
        let index = list.pop_front().expect("a free superblock is kept for every write pointer");
        self.openings += 1;
        let opened = self.openings;
        let erase = self.erase(index);
        let block = &mut self.all[index as usize];
        block.dirty = true;
        block.state = State::Open;
        block.mode = mode;
        block.writer = writer;
        block.opened = opened;
        block.switched = false;
        if mode != CellMode::Native && !set_aside {
            self.borrowed += 1;
        }
        (index, erase)
    }

    /// Free superblocks that hold old data, in the order in which they will be opened: the static cache's, then the others.
    pub fn free_to_erase(&self) -> impl Iterator<Item = u32> + '_ {
        let free = self.free_set_aside.iter().chain(&self.free).copied();
        free.filter(|index| self.get(*index).dirty)
    }

    /// Whether free superblocks hold old data.
    #[inline]
    pub fn are_to_erase(&self) -> bool {
        self.to_erase > 0
    }

    /// Erase a free superblock where it holds old data; returns the mode that they were in.
    pub fn erase(&mut self, index: u32) -> Option<CellMode> {
        let block = &mut self.all[index as usize];
        assert!(block.state == State::Free && block.valid == 0);
        if !std::mem::take(&mut block.dirty) {
            return None;
        }
        self.to_erase -= 1;
        match block.mode {
            CellMode::Slc => {
                block.slc_erases += 1;
                self.slc_erases += 1;
                self.set_aside_erases += block.set_aside as u64;
            }
            CellMode::Mlc | CellMode::Native => {
                block.native_erases += 1;
                self.native_erases += 1;
            }
        }
        Some(block.mode)
    }

    /// Open a full superblock of the dynamic cache again, as a native one with its data in place.
    pub fn switch(&mut self, index: u32, born: u64) {
        self.openings += 1;
        self.borrowed -= 1;
        let block = &mut self.all[index as usize];
        assert!(block.state == State::Closed && block.mode != CellMode::Native && !block.set_aside);
        block.state = State::Open;
        block.mode = CellMode::Native;
        block.writer = Writer::Host;
        block.opened = self.openings;
        block.born = born;
        block.switched = true;
    }

    pub fn close(&mut self, index: u32) {
        let block = &mut self.all[index as usize];
        assert_eq!(block.state, State::Open);
        block.state = State::Closed;
    }

    /// A closed superblock without valid pages is free again.
    pub fn release(&mut self, index: u32) {
        let block = &mut self.all[index as usize];
        assert!(block.state == State::Closed && block.valid == 0);
        block.state = State::Free;
        self.to_erase += 1;
        if block.set_aside {
            self.free_set_aside.push_back(index);
        } else {
            if block.mode != CellMode::Native {
                self.borrowed -= 1;
            }
            self.free.push_back(index);
        }
    }
}
