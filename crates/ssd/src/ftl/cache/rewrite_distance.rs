//! Only data that will soon be dead go through the cache. How long the old copy lived foretells how long the new one will:
//! where it lived for less than the cache is large, the new one will be overwritten before it is folded. All else, and
//! what was never written before, goes to native cells at once.
//!
//! Q. Wang, J. Li, P. P. C. Lee, T. Ouyang, C. Shi, L. Huang, "Separating Data via Block Invalidation Time Inference for
//! Write Amplification Reduction in Log-Structured Storage" (SepBIT), FAST 2022. They separate segments by it; here it
//! separates the cache from the rest, so a first fill has no fast phase.

use super::{HostWrite, Overflow, Policy, Space, View, WriteThrottle};
use crate::cell_mode::CellMode;

pub struct RewriteDistance;

impl Policy for RewriteDistance {
    const OVERFLOW: Overflow = Overflow::Native;
    const SORTS: bool = true;

    fn throttle(view: &View) -> WriteThrottle {
        super::direct_while_folding::DirectWhileFolding::throttle(view)
    }

    fn place(space: &Space, write: &HostWrite) -> CellMode {
        if write.rewritten_after.is_some_and(|after| after < space.cache_pages) {
            CellMode::Slc
        } else {
            CellMode::Native
        }
    }
}
