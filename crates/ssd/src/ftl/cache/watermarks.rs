//! The cache is emptied before it is full. From three quarters on it is folded while the host writes, twice as fast as it
//! is filled, until it is half full: a load that is slower than that never waits, and one that is faster goes between
//! two speeds and never reaches native cells.
//!
//! Two thresholds with hysteresis for emptying a write cache: P. Biswas, K. K. Ramakrishnan, D. Towsley, "Trace driven
//! analysis of write caching policies for disks", SIGMETRICS 1993, doi:10.1145/166962.166971. They found fewer writes to the
//! disk with two than with one; where the marks are is ours.
//!
//! ```text
//!   speed |#########   ###   ###
//!         |         |_|   |_|   |_
//!         +-------------------------- written
//!          3/4      1/2
//! ```

use super::{Overflow, Policy, Space, View, WriteThrottle};

pub struct Watermarks;

/// Whether more than `quarters` of the cache is taken.
fn above(space: &Space, quarters: u32) -> bool {
    space.cache_used * 4 > space.cache_size * quarters
}

impl Policy for Watermarks {
    const OVERFLOW: Overflow = Overflow::Native;

    fn throttle(view: &View) -> WriteThrottle {
        let folding = view.throttle != WriteThrottle::None;
        if view.foldable && (above(&view.space, 3) || folding && above(&view.space, 2)) {
            WriteThrottle::TwoForOne
        } else {
            WriteThrottle::None
        }
    }
}
