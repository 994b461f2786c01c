//! There is no way to native cells but through the cache: once it is full, as much must be folded as comes in.
//!
//! ```text
//!   speed |######
//!         |      |___________________
//!         +-------------------------- written
//!          pSLC   recycling
//! ```

use super::{Overflow, Policy, Toll, View};

pub struct Fold;
pub const POLICY: Fold = Fold;

impl Policy for Fold {
    fn overflow(&self) -> Overflow {
        Overflow::Wait
    }

    fn toll(&self, view: &View) -> Toll {
        if view.foldable && !view.room {
            Toll::OneForOne
        } else {
            Toll::None
        }
    }
}
