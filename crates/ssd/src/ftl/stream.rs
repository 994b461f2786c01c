//! A superblock being filled, unit by unit.

use crate::config::CellMode;
use crate::units::Nanos;

#[derive(Clone, Copy, Debug)]
pub struct Stream {
    pub superblock: u32,
    pub mode: CellMode,
    /// Sequence number of the superblock's opening.
    pub opened: u64,
    /// Pages given out, of `pages`.
    pub given: u32,
    pub pages: u32,
    pub unit_pages: u32,
    /// Pages that have arrived; they lag behind `given` within a request.
    pub arrived: u32,
    /// When the last of them arrived.
    pub ready: Nanos,
    /// Units handed to the NAND.
    pub dispatched: u32,
}

impl Stream {
    /// Pages that can still be given out.
    #[inline]
    pub fn room(&self) -> u32 {
        self.pages - self.given
    }

    /// Pages until the unit being filled is full.
    #[inline]
    pub fn unit_room(&self) -> u32 {
        self.unit_pages - self.arrived % self.unit_pages
    }

    /// `pages` of the unit have arrived at `at`; returns whether the unit is full now.
    #[inline]
    pub fn arrive(&mut self, at: Nanos, pages: u32) -> bool {
        self.arrived += pages;
        self.ready = self.ready.max(at);
        self.arrived % self.unit_pages == 0
    }

    #[inline]
    pub fn is_full(&self) -> bool {
        self.arrived == self.pages
    }
}
