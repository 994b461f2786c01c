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

use super::{Overflow, Policy, View, WriteThrottle};

pub struct DirectThenFold;

impl Policy for DirectThenFold {
    const OVERFLOW: Overflow = Overflow::Native;

    fn throttle(_: &View) -> WriteThrottle {
        WriteThrottle::None
    }
}
