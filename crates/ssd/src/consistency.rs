//! Whether a drive that was read from a file is one that requests can lead to.
//!
//! Checksums find what chance did to a file. Whoever writes their own has them right, so each part of a drive also says
//! whether what it consists of fits its profile and the other parts: then no request can make it panic.

/// What of a drive cannot be, in words that follow "its".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Inconsistent(pub &'static str);

pub type Consistency = Result<(), Inconsistent>;

/// An error that names `part`, unless it `holds`.
#[inline]
pub fn ensure(holds: bool, part: &'static str) -> Consistency {
    holds.then_some(()).ok_or(Inconsistent(part))
}

/// Largest count of anything (bytes, pages, requests, nanoseconds added over dies): far beyond what a drive lives to see,
/// and what is added to it does not overflow.
const MAX_COUNT: u64 = 1 << 62;

/// Counters that can go on counting.
pub fn ensure_counters(counters: &[u64], part: &'static str) -> Consistency {
    ensure(counters.iter().all(|count| *count <= MAX_COUNT), part)
}
