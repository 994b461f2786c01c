//! Folding goes on beside the host's writes as soon as the cache holds a full superblock, in the die time that
//! `cache.host_share` leaves. Where the link or the controller is slower than the dies in pSLC, the host does not feel it,
//! and the fast phase lasts longer than the cache is large. Past the cache, it is `direct-while-folding`.
//!
//! ```text
//!   speed |##########
//!         |          |        ====
//!         |          |_______|
//!         +-------------------------- written
//!          pSLC and   folding   native
//!          folding
//! ```

use super::{Overflow, Policy, View, WriteThrottle};

pub struct FoldBeside;

impl Policy for FoldBeside {
    const OVERFLOW: Overflow = Overflow::Native;

    fn throttle(view: &View) -> WriteThrottle {
        if view.foldable {
            WriteThrottle::Beside
        } else {
            WriteThrottle::None
        }
    }
}
