//! There is no way to native cells but through the cache: once it is full, as much must be folded as comes in.
//!
//! ```text
//!   speed |######
//!         |      |___________________
//!         +-------------------------- written
//!          pSLC   recycling
//! ```

use super::{Overflow, Policy, View, WriteThrottle};

pub struct Fold;

impl Policy for Fold {
    const OVERFLOW: Overflow = Overflow::Wait;

    fn throttle(view: &View) -> WriteThrottle {
        match view {
            View { foldable: false, .. } => WriteThrottle::None,
            View { in_batches: true, draining: true, .. } => WriteThrottle::Share,
            View { in_batches: false, room: false, .. } => WriteThrottle::OneForOne,
            _ => WriteThrottle::None,
        }
    }
}
