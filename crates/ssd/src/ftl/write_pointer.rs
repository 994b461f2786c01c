//! A write pointer: the superblock being filled, program unit by program unit, and how far.

use super::geometry::Geometry;
use super::superblocks::{State, Superblocks, Writer};
use crate::cell_mode::CellMode;
use crate::consistency::{ensure, Consistency};
use crate::units::Nanos;

#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
pub struct WritePointer {
    pub superblock: u32,
    pub mode: CellMode,
    /// Its cells were of the cache before, and are programmed again.
    pub switched: bool,
    /// Pages given out, of `pages`.
    pub given: u32,
    pub pages: u32,
    pub unit_pages: u32,
    /// Pages until the program unit being filled is full.
    pub unit_room: u32,
    /// When the last of them arrived.
    pub ready: Nanos,
    /// Program units handed on, and the die that the next goes to.
    pub dispatched: u32,
    pub die: u32,
}

impl WritePointer {
    /// At the beginning of a superblock of `pages`.
    pub fn new(superblock: u32, mode: CellMode, pages: u32, unit_pages: u32) -> WritePointer {
        WritePointer {
            superblock,
            mode,
            switched: false,
            given: 0,
            pages,
            unit_pages,
            unit_room: unit_pages,
            ready: Nanos::ZERO,
            dispatched: 0,
            die: 0,
        }
    }

    /// Whether it fills an open superblock of that writer's, and what it has given out and handed on adds up.
    pub fn check(&self, geometry: &Geometry, superblocks: &Superblocks, writer: Writer) -> Consistency {
        let (pages, unit_pages, before) = if self.switched {
            (geometry.stride, geometry.upper_unit, geometry.pages(geometry.dynamic))
        } else {
            (geometry.pages(self.mode), geometry.unit_pages(self.mode), 0)
        };
        let of = (self.superblock < superblocks.count()).then(|| superblocks.get(self.superblock));
        let fills = |block: &super::Superblock| {
            block.state == State::Open
                && (block.writer, block.mode, block.switched) == (writer, self.mode, self.switched)
        };
        let filled = self.unit_pages.checked_sub(self.unit_room).unwrap_or(u32::MAX) as u64;
        ensure(
            of.is_some_and(fills)
                && (self.pages, self.unit_pages) == (pages, unit_pages)
                && self.given <= pages
                && (1..=unit_pages).contains(&self.unit_room)
                && before as u64 + self.dispatched as u64 * unit_pages as u64 + filled == self.given as u64
                && self.die == self.dispatched % geometry.dies,
            "write pointers",
        )
    }

    /// Pages of the unit that is being filled.
    pub fn filling(&self) -> u32 {
        self.unit_pages - self.unit_room
    }

    /// Pages that can still be given out.
    #[inline]
    pub fn room(&self) -> u32 {
        self.pages - self.given
    }

    /// Where in its round of the dies it is, relative to `now`.
    pub fn timing_relative_to(&self, now: Nanos, into: &mut Vec<u64>) {
        let mode = self.mode as u64 | (self.switched as u64) << 2;
        into.extend([mode, self.unit_room as u64, self.die as u64, self.ready.saturating_sub(now).0]);
    }

    /// So many units more have been handed on, and what has arrived of the next is later by `span`.
    pub fn shift_timing(&mut self, span: Nanos, units: u64) {
        self.dispatched += units as u32;
        if self.ready > Nanos::ZERO {
            self.ready += span;
        }
    }

    /// `pages` of the unit have arrived at `at`; returns whether the unit is full now.
    #[inline]
    pub fn arrive(&mut self, at: Nanos, pages: u32) -> bool {
        self.unit_room -= pages;
        self.ready = self.ready.max(at);
        self.unit_room == 0
    }

    /// Hand the full unit on; returns its die and when its data are there.
    #[inline]
    pub fn dispatch(&mut self, dies: u32) -> (u32, Nanos) {
        let unit = (self.die, self.ready);
        self.dispatched += 1;
        self.die = if self.die + 1 == dies { 0 } else { self.die + 1 };
        self.unit_room = self.unit_pages;
        self.ready = Nanos::ZERO;
        unit
    }
}
