//! The part of the map that a controller without DRAM holds, least recently used out first.
//!
//! The map lies in the NAND in pages of 4 KiB, each of which maps 4 MiB of the drive. A request to a page that is not held
//! waits for a read of it. A page that was changed is written when it goes, many together.

use std::collections::VecDeque;

use crate::config;
use crate::consistency::{ensure, Consistency};
use crate::units::{Nanos, PAGE_BYTES};

/// Pages of the drive that one page of the map maps, at 4 bytes each.
pub const MAPPED_PAGES: u32 = (PAGE_BYTES / 4) as u32;
const NONE: u32 = u32::MAX;
/// Writes that may be acknowledged before the map has been changed for them.
const CHANGES: usize = 32;

/// A page of the map that is held, in the list from the most to the least recently used.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
struct Held {
    segment: u32,
    newer: u32,
    older: u32,
    changed: bool,
}

#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct MapCache {
    pub access: Nanos,
    size: usize,
    held: Vec<Held>,
    /// Slot in `held` of each page of the map.
    slots: Vec<u32>,
    newest: u32,
    oldest: u32,
    /// When the map could be changed for the last writes.
    changes: VecDeque<Nanos>,
}

/// What a look at the map met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Look {
    Hit,
    /// It must be read; the page that had to go had been changed, or not.
    Miss {
        writes: bool,
    },
}

impl MapCache {
    pub fn new(map: &config::MapCache, units: u64) -> MapCache {
        let segments = units.div_ceil(MAPPED_PAGES as u64);
        MapCache {
            access: map.access,
            size: (map.bytes / PAGE_BYTES).clamp(1, segments) as usize,
            held: Vec::new(),
            slots: vec![NONE; segments as usize],
            newest: NONE,
            oldest: NONE,
            changes: VecDeque::with_capacity(CHANGES),
        }
    }

    /// Whether it is this cache, and its list holds each page of the map that it holds once.
    pub fn check(&self, map: &config::MapCache, units: u64) -> Consistency {
        let described = MapCache::new(map, units);
        ensure(
            (self.access, self.size, self.slots.len()) == (described.access, described.size, described.slots.len())
                && self.held.len() <= self.size
                && self.changes.len() <= CHANGES,
            "map cache",
        )?;
        let (mut slot, mut newer, mut count) = (self.newest, NONE, 0);
        while slot != NONE {
            let Some(held) = self.held.get(slot as usize) else { break };
            let in_its_slot = self.slots.get(held.segment as usize) == Some(&slot);
            if held.newer != newer || !in_its_slot || count == self.held.len() {
                break;
            }
            (newer, slot, count) = (slot, held.older, count + 1);
        }
        let used = self.slots.iter().filter(|slot| **slot != NONE).count();
        ensure(slot == NONE && newer == self.oldest && count == self.held.len() && used == count, "map cache")
    }

    /// A write changes the map at `at`; returns when there is room to remember that.
    pub fn change_later(&mut self, at: Nanos) -> Nanos {
        let room =
            if self.changes.len() == CHANGES { self.changes.pop_front().expect("it is full") } else { Nanos::ZERO };
        self.changes.push_back(at);
        room
    }

    /// Look at, and perhaps `change`, page `segment` of the map, which is held from then on.
    pub fn look(&mut self, segment: u32, change: bool) -> Look {
        let mut slot = self.slots[segment as usize];
        let mut look = Look::Hit;
        if slot == NONE {
            look = Look::Miss { writes: false };
            slot = if self.held.len() < self.size {
                self.held.push(Held { segment, newer: NONE, older: NONE, changed: false });
                self.held.len() as u32 - 1
            } else {
                let oldest = self.oldest;
                self.unlink(oldest);
                let held = &mut self.held[oldest as usize];
                look = Look::Miss { writes: held.changed };
                self.slots[held.segment as usize] = NONE;
                *held = Held { segment, newer: NONE, older: NONE, changed: false };
                oldest
            };
            self.slots[segment as usize] = slot;
            self.link_newest(slot);
        } else if slot != self.newest {
            self.unlink(slot);
            self.link_newest(slot);
        }
        self.held[slot as usize].changed |= change;
        look
    }

    fn unlink(&mut self, slot: u32) {
        let Held { newer, older, .. } = self.held[slot as usize];
        match newer {
            NONE => self.newest = older,
            _ => self.held[newer as usize].older = older,
        }
        match older {
            NONE => self.oldest = newer,
            _ => self.held[older as usize].newer = newer,
        }
    }

    fn link_newest(&mut self, slot: u32) {
        let older = self.newest;
        self.held[slot as usize].newer = NONE;
        self.held[slot as usize].older = older;
        match older {
            NONE => self.oldest = slot,
            _ => self.held[older as usize].newer = slot,
        }
        self.newest = slot;
    }
}
