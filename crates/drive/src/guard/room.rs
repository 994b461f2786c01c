//! Room for a scratch file: what a file system has, without what is kept free on it.

use std::path::Path;

use crate::error::OpenError;

/// What is left free on the file system: this share of it, or this many bytes, whichever is more.
const KEPT_PERCENT: u64 = 5;
const KEPT_BYTES: u64 = 2_000_000_000;

/// Bytes of a scratch file at most, on a file system of `total` bytes of which `free` are free to this user.
pub fn usable(free: u64, total: u64) -> u64 {
    free.saturating_sub((total / 100 * KEPT_PERCENT).max(KEPT_BYTES))
}

/// Fails where a file of `size` bytes is larger than the room for it.
pub fn check(path: &Path, size: u64, room: u64) -> Result<(), OpenError> {
    if size <= room {
        return Ok(());
    }
    Err(OpenError::new(
        format!(
            "{}: {} wanted, but {} are free beyond what is kept ({KEPT_PERCENT} % of the file system, 2 GB at least)",
            path.display(),
            gb(size),
            gb(room)
        ),
        match room / 1_000_000 {
            0 => "give a folder on the drive's file system that has more room, or make some".into(),
            megabytes => format!("--size={megabytes}MB at most"),
        },
    ))
}

fn gb(bytes: u64) -> String {
    format!("{:.1} GB", bytes as f64 / 1e9)
}
