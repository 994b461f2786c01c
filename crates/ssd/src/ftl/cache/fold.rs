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
        if view.foldable && !view.room {
            WriteThrottle::OneForOne
        } else {
            WriteThrottle::None
        }
    }
}
