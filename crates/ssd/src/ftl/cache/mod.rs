//! What happens to host writes once the cache is full (`cache.when_full`). One file here is one policy.
//!
//! A policy only decides; relocating data and granting die time for it is the FTL's business. It is asked when a superblock
//! is opened or freed. One that sorts writes is asked of each write as well, and then the host has two write pointers: one
//! into the cache, and one past it. That space is reclaimed when free superblocks run out holds under every policy.
//!
//! A new policy is a new file, its `mod` line, and its line in the list below.

mod bypass;
mod direct_then_fold;
mod direct_while_folding;
mod fold;
mod fold_beside;
mod fold_cost_benefit;
mod in_place_switch;
mod predict_idle;
mod rewrite_distance;
mod static_first;
mod watermarks;

use super::silences::Silences;
use crate::cell_mode::CellMode;
use crate::units::Nanos;
use crate::words::words;

policies! {
    DirectThenFold = "direct-then-fold" in direct_then_fold,
    DirectWhileFolding = "direct-while-folding" in direct_while_folding,
    Fold = "fold" in fold,
    Watermarks = "watermarks" in watermarks,
    Bypass = "bypass" in bypass,
    RewriteDistance = "rewrite-distance" in rewrite_distance,
    InPlaceSwitch = "in-place-switch" in in_place_switch,
    PredictIdle = "predict-idle" in predict_idle,
    FoldCostBenefit = "fold-cost-benefit" in fold_cost_benefit,
    StaticFirst = "static-first" in static_first,
    FoldBeside = "fold-beside" in fold_beside,
}

/// Space as it is now, in superblocks.
#[derive(Clone, Copy, Debug)]
pub struct Space {
    /// Of the cache: those that hold data or are being filled, and how many there may be at this fill of the drive.
    pub cache_used: u32,
    pub cache_size: u32,
    /// Free ones outside the static cache, and the number below which host writes wait for more.
    pub free: u32,
    pub reserve: u32,
    /// Pages that the cache holds at its present size.
    pub cache_pages: u64,
}

/// What a policy knows when it decides.
#[derive(Clone, Copy, Debug)]
pub struct View {
    /// The cache is full, or has been and may not be used again yet (see `cache.reuse`).
    pub exhausted: bool,
    /// Another superblock could be opened as pSLC now.
    pub room: bool,
    /// The cache holds superblocks that could be folded.
    pub foldable: bool,
    /// Folding under load goes on until a batch of the cache is free (`cache.fold_batch`), and whether it does now.
    pub in_batches: bool,
    pub draining: bool,
    /// What is granted now.
    pub throttle: WriteThrottle,
    pub space: Space,
}

/// A write of the host, as a policy that sorts sees it.
#[derive(Clone, Copy, Debug)]
pub struct HostWrite {
    /// Pages of this request, and of all that were written in order up to its end.
    pub pages: u32,
    pub run: u32,
    /// Pages that the host has written since it wrote what is overwritten now, to the superblock; `None`: nothing is.
    pub rewritten_after: Option<u64>,
}

words! {
    /// Where host data go when the cache cannot take them.
    pub enum Overflow {
        /// To native cells.
        Native = "native",
        /// Nowhere: they wait until a superblock of the cache has been folded.
        Wait = "wait",
        /// Into the cells of a full superblock of the cache, which becomes a native one with its data in place.
        Switch = "switch",
    }
}

words! {
    /// What host writes grant to folding while they go on.
    pub enum WriteThrottle {
        None = "none",
        /// Folding gets the share of die time that `cache.host_share` leaves.
        Share = "share",
        /// As much is folded as keeps one superblock of the cache coming free for each that is filled.
        OneForOne = "one-for-one",
        /// As much as lets two come free meanwhile, so that the cache empties as fast as it is filled.
        TwoForOne = "two-for-one",
        /// As `Share`, for as long as data are in the cache: what was moved out of need meanwhile is no advance.
        Beside = "beside",
    }
}

words! {
    /// Which superblock of the cache is folded first.
    pub enum FoldOrder {
        /// The one that was opened first.
        Oldest = "oldest",
        /// The one with the greatest age for each page to be copied.
        CostBenefit = "cost-benefit",
        /// The oldest of the static part, then the oldest of the dynamic one.
        StaticFirst = "static-first",
    }
}

trait Policy {
    const OVERFLOW: Overflow;
    const ORDER: FoldOrder = FoldOrder::Oldest;
    /// Whether `place` is asked of each write.
    const SORTS: bool = false;
    /// Whether `idle_start` looks at the silences so far.
    const PREDICTS: bool = false;

    fn throttle(view: &View) -> WriteThrottle;

    /// The cells that a write is for: of the cache, as long as it takes any, or native ones past it.
    fn place(_: &Space, _: &HostWrite) -> CellMode {
        CellMode::Slc
    }

    /// How long the host must be silent before the cache is folded, where the profile says `threshold`; `None`: for ever.
    fn idle_start(threshold: Nanos, _: &Silences) -> Option<Nanos> {
        Some(threshold)
    }
}

/// The enum of policies, which a profile names and the FTL asks.
macro_rules! policies {
    ($($policy:ident = $word:literal in $module:ident),+ $(,)?) => {
        words! {
            /// What happens to host writes when the cache is full: each a file in `ftl/cache/`.
            pub enum WhenFull {
                $($policy = $word),+
            }
        }

        impl WhenFull {
            /// Where host data go when the cache cannot take them.
            pub fn overflow(self) -> Overflow {
                match self {
                    $(WhenFull::$policy => <$module::$policy as Policy>::OVERFLOW),+
                }
            }

            /// Which superblock of the cache is folded first.
            pub fn order(self) -> FoldOrder {
                match self {
                    $(WhenFull::$policy => <$module::$policy as Policy>::ORDER),+
                }
            }

            /// Whether each write is looked at, and the host has a second write pointer, past the cache.
            pub fn sorts(self) -> bool {
                match self {
                    $(WhenFull::$policy => <$module::$policy as Policy>::SORTS),+
                }
            }

            /// Whether the silences of the host are remembered.
            pub fn predicts(self) -> bool {
                match self {
                    $(WhenFull::$policy => <$module::$policy as Policy>::PREDICTS),+
                }
            }

            /// What host writes grant to folding from now on.
            pub(in crate::ftl) fn throttle(self, view: &View) -> WriteThrottle {
                match self {
                    $(WhenFull::$policy => <$module::$policy as Policy>::throttle(view)),+
                }
            }

            /// The cells that a write is for, where the policy sorts.
            pub(in crate::ftl) fn place(self, space: &Space, write: &HostWrite) -> CellMode {
                match self {
                    $(WhenFull::$policy => <$module::$policy as Policy>::place(space, write)),+
                }
            }

            /// How long the host must be silent before the cache is folded; `None`: for ever.
            pub(in crate::ftl) fn idle_start(self, threshold: Nanos, silences: &Silences) -> Option<Nanos> {
                match self {
                    $(WhenFull::$policy => <$module::$policy as Policy>::idle_start(threshold, silences)),+
                }
            }
        }
    };
}
use policies;
