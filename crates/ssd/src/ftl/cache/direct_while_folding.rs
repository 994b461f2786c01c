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

use super::{Overflow, Policy, Toll, View};

pub struct DirectWhileFolding;
pub const POLICY: DirectWhileFolding = DirectWhileFolding;

impl Policy for DirectWhileFolding {
    fn overflow(&self) -> Overflow {
        Overflow::Native
    }

    fn toll(&self, view: &View) -> Toll {
        if view.exhausted && view.foldable {
            Toll::Share
        } else {
            Toll::None
        }
    }
}
