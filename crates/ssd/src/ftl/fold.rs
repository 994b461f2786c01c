//! Folding: data of the cache are moved to native cells, the oldest first unless the policy says otherwise; under load as the throttle grants it, and
//! while the host is silent (see `background`).

use super::cache::FoldOrder;
use super::gc::RELOCATION_SUPERBLOCKS;
use super::superblocks::{State, Superblock};
use super::victim::VictimRule;
use super::Ftl;
use crate::nand::Nand;
use crate::units::Nanos;

impl Ftl {
    /// Whether folding has something to do.
    pub(super) fn foldable(&self) -> bool {
        let closed = self.slc_superblocks() > self.filling_cache().count() as u32;
        debug_assert_eq!(closed, self.fold_victim().is_some());
        self.relocation.folds(&self.geometry) || closed
    }

    /// Move one unit out of the cache; `None` when it holds nothing to fold.
    ///
    /// Folding the static part takes native space and gives none back, so where that is short it is collected first.
    pub(super) fn fold(&mut self, nand: &mut Nand, at: Nanos) -> Option<u32> {
        if self.is_refreshing() && self.fold_victim().is_some() {
            self.abandon_refresh();
        }
        if !self.relocation.has_victim() {
            let first = self.fold_victim()?;
            let costs = self.superblocks.get(first).set_aside;
            let collect = costs && self.superblocks.free() < RELOCATION_SUPERBLOCKS;
            let victim = if collect { self.gc_victim() } else { None };
            self.take_victim(victim.unwrap_or(first));
        }
        Some(self.relocate_unit(nand, at))
    }

    fn fold_victim(&self) -> Option<u32> {
        // What the dynamic part is to give back comes before the static part, which gives back nothing.
        let shrinks = self.superblocks.borrowed > self.dynamic_limit() && self.closed_dynamic() > 0;
        self.first_to_fold(self.closed_cache().filter(|(_, block)| !(shrinks && block.set_aside)))
    }

    /// Superblocks of the cache that are full, or were.
    pub(super) fn closed_cache(&self) -> impl Iterator<Item = (u32, &Superblock)> {
        let is_closed = |block: &Superblock| block.state == State::Closed && self.geometry.is_cache(block.mode);
        self.superblocks.iter().filter(move |(_, block)| is_closed(block))
    }

    /// Which of these superblocks of the cache is folded first.
    pub(super) fn first_to_fold<'a>(&self, cache: impl Iterator<Item = (u32, &'a Superblock)>) -> Option<u32> {
        let (full, openings) = (self.geometry.slc_pages, self.superblocks.openings());
        match self.fold_order() {
            FoldOrder::Oldest => {
                let candidates = cache.map(|(index, block)| (index, block.candidate()));
                VictimRule::Fifo.choose(candidates, full, openings)
            }
            FoldOrder::CostBenefit => {
                // age / valid, compared by cross multiplication; the oldest where that is the same.
                let worth = |age: u64, valid: u32| (openings - age + 1) as u128 * valid as u128;
                let cheapest = cache.max_by(|(_, a), (_, b)| {
                    worth(a.opened, b.valid).cmp(&worth(b.opened, a.valid)).then(b.opened.cmp(&a.opened))
                });
                cheapest.map(|(index, _)| index)
            }
            FoldOrder::StaticFirst => {
                cache.min_by_key(|(_, block)| (!block.set_aside, block.opened)).map(|(index, _)| index)
            }
        }
    }
}
