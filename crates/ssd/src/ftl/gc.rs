//! Garbage collection: valid data are moved out of the superblock that gives space at the least cost.
//!
//! A full pSLC superblock has a third (on TLC) of the pages of a native one, so where space is short the cache is folded
//! first by itself.

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
        match self.relocation.has_victim() {
            true => Some(()),
            false => self.take_gc_victim(),
        }
    }

    #[cold]
    fn take_gc_victim(&mut self) -> Option<()> {
        let victim = self.gc_victim()?;
        self.take_victim(victim);
        Some(())
    }

    /// What the rule chooses among the closed superblocks that have lost a page. The static cache gives no native space.
    pub(super) fn gc_victim(&self) -> Option<u32> {
        let full = self.geometry.stride;
        let candidates = self
            .superblocks
            .iter()
            .filter(|(_, block)| block.state == State::Closed && !block.set_aside && block.valid < full);
        self.gc_rule.choose(candidates, full, self.superblocks.openings())
    }
}
