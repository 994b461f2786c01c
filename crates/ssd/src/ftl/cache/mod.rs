//! What happens to host writes once the cache is full (`cache.when_full`). One file here is one policy.
//!
//! A policy only decides, and only when a superblock is opened or freed; relocating data and granting die time for it is
//! the FTL's business. That space is reclaimed when free superblocks run out holds under every policy.
//!
//! A new policy is a new file, its `mod` line, and its line in the list below.

mod direct_then_fold;
mod direct_while_folding;
mod fold;

policies! {
    DirectThenFold = "direct-then-fold" in direct_then_fold,
    DirectWhileFolding = "direct-while-folding" in direct_while_folding,
    Fold = "fold" in fold,
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
}

/// Where host data go when the cache cannot take them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overflow {
    /// To native cells.
    Native,
    /// Nowhere: they wait until a superblock of the cache has been folded.
    Wait,
}

/// What host writes grant to folding while they go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum WriteThrottle {
    None,
    /// Folding gets the share of die time that `cache.host_share` leaves.
    Share,
    /// As much is folded as keeps one superblock of the cache coming free for each that is filled.
    OneForOne,
}

trait Policy {
    const OVERFLOW: Overflow;

    fn throttle(view: &View) -> WriteThrottle;
}

/// The enum of policies, which a profile names and the FTL asks.
macro_rules! policies {
    ($($policy:ident = $word:literal in $module:ident),+ $(,)?) => {
        $crate::words::words! {
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

            /// What host writes grant to folding from now on.
            pub fn throttle(self, view: &View) -> WriteThrottle {
                match self {
                    $(WhenFull::$policy => <$module::$policy as Policy>::throttle(view)),+
                }
            }
        }
    };
}
use policies;
