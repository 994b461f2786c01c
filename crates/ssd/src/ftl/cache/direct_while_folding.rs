//! Folding begins at once when the cache is full and shares the dies with host data, which go to native cells; when
//! the cache is empty the host has the dies to itself. With `reuse = "when-empty"` the cache is then filled again.
//!
//! ```text
//!   speed |#####              ######            (sawtooth: when-empty)
//!         |     |        =====                  (W: after-idle)
//!         |     |_______|
//!         +-------------------------- written
//!          pSLC  folding   native
//! ```

use super::{Overflow, Policy, View, WriteThrottle};

pub struct DirectWhileFolding;

impl Policy for DirectWhileFolding {
    const OVERFLOW: Overflow = Overflow::Native;

    fn throttle(view: &View) -> WriteThrottle {
        if view.exhausted && view.foldable {
            WriteThrottle::Share
        } else {
            WriteThrottle::None
        }
    }
}
