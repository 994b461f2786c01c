//! The cells of the cache are filled up where they are. When no superblock is free for the cache, the oldest that is full is
//! programmed again: each of its cells keeps its bit and takes n - 1 more of the host's. Nothing is copied, neither
//! then nor while the host is silent, and a superblock of the cache may be opened for each that was switched.
//!
//! X. Yang, Z. Cong, C. Gao, "In-place Switch: Reprogramming based SLC Cache Design for Hybrid 3D SSDs", arXiv:2409.14360, 2024.
//! They also switch while the drive is idle, with valid data of garbage collection; that is left out here.
//!
//! ```text
//!   speed |#####
//!         |     ###=###=###=###=####     a superblock at pSLC speed, n-1 times as much at the speed of programming again
//!         +-------------------------- written
//! ```

use super::{Overflow, Policy, View, WriteThrottle};
use crate::ftl::silences::Silences;
use crate::units::Nanos;

pub struct InPlaceSwitch;

impl Policy for InPlaceSwitch {
    const OVERFLOW: Overflow = Overflow::Switch;

    fn throttle(_: &View) -> WriteThrottle {
        WriteThrottle::None
    }

    fn idle_start(_: Nanos, _: &Silences) -> Option<Nanos> {
        None
    }
}
