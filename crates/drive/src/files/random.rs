//! Numbers that nobody can foresee, for names and for the identity of a drive.

use std::hash::{BuildHasher, RandomState};

/// A number of its own for each call; the keys of the hash are the system's random bytes.
pub fn random() -> u64 {
    let here = std::process::id();
    RandomState::new().hash_one(here)
}
