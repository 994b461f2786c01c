//! As `fold`, but what is folded is not what is oldest: a superblock of the cache whose data have died in part comes free
//! for little copying, so a silence gives more of the cache back.
//!
//! The rule is that for cleaning segments of M. Rosenblum, J. K. Ousterhout, "The Design and Implementation of a
//! Log-Structured File System", ACM TOCS 10(1), 1992: benefit times age over cost, (1 - u) age / (1 + u). What is folded leaves the cache, so a
//! superblock of it gives as much whatever was valid in it: the benefit is the same for all, and the cost what is
//! copied.

use super::{FoldOrder, Overflow, Policy, View, WriteThrottle};

pub struct FoldCostBenefit;

impl Policy for FoldCostBenefit {
    const OVERFLOW: Overflow = Overflow::Wait;
    const ORDER: FoldOrder = FoldOrder::CostBenefit;

    fn throttle(view: &View) -> WriteThrottle {
        super::fold::Fold::throttle(view)
    }
}
