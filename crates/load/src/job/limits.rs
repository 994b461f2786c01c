//! How much a job file may hold.

/// Bytes of a job file, its sections, and requests that all its jobs have under way at once: far beyond what a
/// measurement needs, and far below what fills a machine.
pub const MOST_BYTES: usize = 16_000_000;
pub const MOST_SECTIONS: usize = 10_000;
pub const MOST_SLOTS: u64 = 1_000_000;
/// Options of all sections, those of [global] counted in each.
pub const MOST_OPTIONS: usize = 300_000;
