//! Host data go straight to native cells while free blocks last; then every host byte waits for space to be
//! reclaimed, and the cheapest space is the cache's, so it is folded. On a static cache the free blocks never run
//! out, and the curve has no third step.
//!
//! ```text
//!   speed |######
//!         |      |====
//!         |           |_____________
//!         +-------------------------- written
//!          pSLC   direct   folding
//! ```

use super::{Overflow, Policy, Toll, View};

pub struct DirectThenFold;
pub const POLICY: DirectThenFold = DirectThenFold;

impl Policy for DirectThenFold {
    fn overflow(&self) -> Overflow {
        Overflow::Native
    }

    fn toll(&self, _: &View) -> Toll {
        Toll::None
    }
}
