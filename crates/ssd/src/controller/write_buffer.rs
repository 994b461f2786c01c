//! The write buffer: a ring of acknowledged data. Space is freed in the order it was taken, when the program that
//! holds the data ends.

use std::collections::VecDeque;

use crate::nand::{Nand, Programming};
use crate::units::Nanos;

/// Where a program unit of host data lies: the sequence number of its superblock's opening, and its place there.
pub type UnitId = (u64, u32);

#[derive(Clone, Copy, Debug)]
struct Unit {
    pages: u32,
    programming: Programming,
    id: UnitId,
}

#[derive(Clone, Debug)]
pub struct WriteBuffer {
    /// Units being programmed, oldest first.
    units: VecDeque<Unit>,
    /// Pages of them, and of the unit that is still being filled.
    used: u32,
    size: u32,
    /// Time writes have waited for room.
    pub waited: Nanos,
}

impl WriteBuffer {
    pub fn new(size_pages: u32) -> WriteBuffer {
        WriteBuffer { units: VecDeque::new(), used: 0, size: size_pages, waited: Nanos::ZERO }
    }

    /// Take room for `pages` at or after `at`; returns when they may come in.
    #[inline]
    pub fn take(&mut self, nand: &Nand, at: Nanos, pages: u32) -> Nanos {
        self.used += pages;
        let mut room = at;
        while self.used > self.size {
            let oldest = self.units.front().expect("the buffer holds two program units");
            self.used -= oldest.pages;
            room = room.max(nand.end_of(&oldest.programming));
            self.units.pop_front();
        }
        self.waited += room - at;
        room
    }

    /// `pages` that were taken are being programmed as one unit.
    #[inline]
    pub fn programmed(&mut self, pages: u32, programming: Programming, id: UnitId) {
        self.units.push_back(Unit { pages, programming, id });
    }

    /// Whether a unit of host data is still in the buffer at `now`.
    pub fn holds(&mut self, nand: &Nand, now: Nanos, id: UnitId) -> bool {
        while let Some(oldest) = self.units.front() {
            if nand.end_of(&oldest.programming) > now {
                return id >= oldest.id;
            }
            self.used -= oldest.pages;
            self.units.pop_front();
        }
        false
    }

    /// When everything now being programmed will be in the NAND.
    pub fn drained_at(&self, nand: &Nand) -> Nanos {
        let ends = self.units.iter().map(|unit| nand.end_of(&unit.programming));
        ends.max().unwrap_or(Nanos::ZERO)
    }
}
