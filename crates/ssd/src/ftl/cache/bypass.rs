//! Large writes and cold ones do not go through the cache once half of it, or most free space, is taken: what is written in long runs, or
//! overwrites what has lain for longer than the cache is large, would only be folded later. The other half is for small
//! writes to data that change.
//!
//! H. Cho, T. Kim, "Data Placement Using a Classifier for SLC/QLC Hybrid SSDs", Applied Sciences 14(4):1648, 2024,
//! doi:10.3390/app14041648. Theirs is a
//! small learned model of the workload and the state of the drive that picks cold writes out; here two of the things
//! it looks at, size and age, decide by themselves.

use super::{HostWrite, Overflow, Policy, Space, View, WriteThrottle};
use crate::cell_mode::CellMode;

pub struct Bypass;

/// A request of 512 KiB, or 4 MiB written in order, is large.
const LARGE_PAGES: u32 = 128;
const LARGE_RUN: u32 = 1024;

impl Policy for Bypass {
    const OVERFLOW: Overflow = Overflow::Native;
    const SORTS: bool = true;

    fn throttle(view: &View) -> WriteThrottle {
        super::direct_while_folding::DirectWhileFolding::throttle(view)
    }

    fn place(space: &Space, write: &HostWrite) -> CellMode {
        let large = write.pages >= LARGE_PAGES || write.run >= LARGE_RUN;
        let cold = write.rewritten_after.is_some_and(|after| after >= space.cache_pages);
        // As pSLC they would take n times the space.
        let scarce = space.cache_used * 2 >= space.cache_size || space.free <= 2 * space.reserve;
        if (large || cold) && scarce {
            CellMode::Native
        } else {
            CellMode::Slc
        }
    }
}
