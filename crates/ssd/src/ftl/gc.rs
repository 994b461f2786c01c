//! Garbage collection: valid data are moved out of the superblock that gives space at the least cost.
//!
//! A full pSLC superblock has a third (on TLC) of the pages of a native one, so where space is short the cache is folded
//! first by itself.

use super::cache::Overflow;
use super::custom::Candidates;
use super::superblocks::State;
use super::Ftl;
use crate::nand::Nand;
use crate::units::Nanos;

/// Free superblocks that only relocated data may take, so that reclaiming can always go on.
pub const RELOCATION_SUPERBLOCKS: u32 = 2;

impl Ftl {
    /// Move one unit out of the superblock that gives space most cheaply; `None` when none would give any.
    pub(super) fn reclaim(&mut self, nand: &mut Nand, at: Nanos) -> Option<u32> {
        self.begin_gc()?;
        Some(self.relocate_unit(nand, at))
    }

    /// Choose a victim where none is being emptied; `None` when no superblock would give space.
    #[inline]
    pub(super) fn begin_gc(&mut self) -> Option<()> {
        if self.relocation.has_victim() && !self.is_refreshing() {
            Some(())
        } else {
            self.take_gc_victim()
        }
    }

    #[cold]
    fn take_gc_victim(&mut self) -> Option<()> {
        self.abandon_refresh();
        let victim = self.watermark_victim().or_else(|| self.gc_victim())?;
        self.custom.chosen = self.custom.chosen.saturating_add(1);
        self.take_victim(victim);
        Some(())
    }

    /// Whether host writes must pay for the space they take: little is left, or less than the firmware wants to be left
    /// while the cache holds space that folding gives back. Cells of the cache that can be filled up are space, too.
    #[inline]
    pub(super) fn is_short(&self) -> bool {
        let free = self.superblocks.free();
        let closed = || self.closed_dynamic() > 0;
        let switches = self.overflow() == Overflow::Switch;
        (free <= self.reserve && !(switches && closed())) || (free <= self.fold_below && closed())
    }

    /// Superblocks of the dynamic part that are full, or were.
    pub(super) fn closed_dynamic(&self) -> u32 {
        if !self.geometry.is_cache(self.geometry.dynamic) {
            return 0;
        }
        self.superblocks.borrowed - self.filling_cache().filter(|block| !block.set_aside).count() as u32
    }

    /// What is folded first to keep `cache.fold_below` free; `None` where enough is free, too little for such niceties, or
    /// nothing of the dynamic part is left to fold.
    fn watermark_victim(&self) -> Option<u32> {
        let free = self.superblocks.free();
        if free > self.fold_below || free <= self.reserve || self.closed_dynamic() == 0 {
            return None;
        }
        self.first_to_fold(self.closed_cache().filter(|(_, block)| !block.set_aside))
    }

    /// What the rule chooses among the closed superblocks that have lost a page. The static cache gives no native space.
    pub(super) fn gc_victim(&self) -> Option<u32> {
        let full = self.geometry.stride;
        let candidates = self
            .superblocks
            .iter()
            .filter(|(_, block)| block.state == State::Closed && !block.set_aside && block.valid < full);
        let openings = self.superblocks.openings();
        match &self.custom.victims {
            None => {
                let candidates = candidates.map(|(index, block)| (index, block.candidate()));
                self.gc_rule.choose(candidates, full, openings)
            }
            Some(rule) => {
                let superblocks = candidates.collect();
                self.custom_victim(rule.as_ref(), Candidates { superblocks, full, openings })
            }
        }
    }
}
