//! Room for a scratch file: what a file system has, without what is kept free on it.

use std::path::Path;

use crate::error::{OpenError, TargetFileError};

/// What the size of a file is a multiple of, and requests past the cache where the system does not tell better: what
/// every drive takes.
pub const BLOCK: u32 = 4096;

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
    Err(TargetFileError::ScratchNoSpace {
        path: path.to_path_buf(),
        wanted_bytes: size,
        free_bytes: room,
        kept_percent: KEPT_PERCENT,
    }
    .into())
}
