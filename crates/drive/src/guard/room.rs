//! Room for a scratch file: what a file system has, without what is kept free on it.

use std::path::Path;

use crate::error::{OpenError, TargetFileError};

/// What the size of a file is a multiple of, and requests past the cache where the system does not tell better: what
/// every drive takes.
pub const BLOCK: u32 = 4096;

/// What is left free on the file system: this share of it, or this many bytes, whichever is more, and on a small one, such
/// as a stick, no more than that share.
const KEPT_PERCENT: u64 = 5;
const KEPT_BYTES: u64 = 2_000_000_000;
const MOST_KEPT_PERCENT: u64 = 10;

/// The longest file of FAT: its length is a number of 32 bits.
const FAT_FILE_BYTES: u64 = u32::MAX as u64;
/// File systems without holes: where a file is made longer the system writes zeros, through the page cache.
#[cfg(unix)]
const WITHOUT_HOLES: [&str; 5] = ["vfat", "msdos", "exfat", "hfs", "hfsplus"];

/// Whether a file system writes zeros where a file is made longer, so that nothing can be reserved.
#[cfg(unix)]
pub fn has_no_holes(kind: &str) -> bool {
    WITHOUT_HOLES.contains(&kind)
}

/// A file system as far as a new file matters; `quota`: its sizes are those of a project's quota.
#[derive(Clone, Debug, Default)]
pub struct Room {
    /// `ext4`; empty where it is not told.
    pub kind: String,
    pub free: u64,
    pub total: u64,
    pub quota: bool,
}

/// Fails where a file of `size` bytes is larger than the room for it, or than any file there.
pub fn check(path: &Path, size: u64, room: &Room) -> Result<(), OpenError> {
    let path = path.to_path_buf();
    let few = room.total / 100 * MOST_KEPT_PERCENT < KEPT_BYTES;
    let kept =
        if few { room.total / 100 * MOST_KEPT_PERCENT } else { (room.total / 100 * KEPT_PERCENT).max(KEPT_BYTES) };
    let free_bytes = room.free.saturating_sub(kept);
    let refused = match () {
        () if room.total == 0 => TargetFileError::ScratchNoSize { path, file_system: room.kind.clone() },
        () if matches!(room.kind.as_str(), "vfat" | "msdos") && size > FAT_FILE_BYTES => {
            TargetFileError::ScratchBeyondFat { path, wanted_bytes: size }
        }
        () if size > free_bytes => TargetFileError::ScratchNoSpace {
            path,
            wanted_bytes: size,
            free_bytes,
            kept_percent: if few { MOST_KEPT_PERCENT } else { KEPT_PERCENT },
            few,
            quota: room.quota,
        },
        () => return Ok(()),
    };
    Err(refused.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    const GB: u64 = 1_000_000_000;

    fn refused(kind: &str, size: u64, free: u64, total: u64, quota: bool) -> Option<(String, String)> {
        let room = Room { kind: kind.into(), free, total, quota };
        let error = check(Path::new("/x"), size, &room).err()?;
        Some((error.to_string(), error.hint().to_string()))
    }

    #[test]
    fn a_share_is_kept_free_that_leaves_room_on_a_stick() {
        assert_eq!(refused("ext4", GB / 2, GB * 944 / 1000, GB, false), None);
        let text = |size, free, total, quota| refused("ext4", size, free, total, quota).unwrap().0;
        assert!(text(GB * 9 / 10, GB * 944 / 1000, GB, false).contains("900 MB wanted, but 844 MB are free beyond"));
        assert!(text(GB, GB, GB, false).ends_with("is kept (10 % of the file system)"));
        assert!(text(GB, GB, GB, true).ends_with("is kept (10 % of its project's quota)"));
        assert!(text(9 * GB, 10 * GB, 30 * GB, false).ends_with("(5 % of the file system, 2 GB at least)"));
        assert_eq!(refused("ext4", 8 * GB, 10 * GB, 30 * GB, false), None);
        assert!(text(6 * GB, 10 * GB, 100 * GB, false).contains("6.0 GB wanted, but 5.0 GB"));
    }

    #[test]
    fn a_file_that_fat_cannot_hold_and_a_file_system_without_a_size_are_refused_by_their_names() {
        let (text, hint) = refused("vfat", 5 * GB, 900 * GB, GB * 1000, false).unwrap();
        assert_eq!((text.contains("FAT holds files of at most 4 GiB"), hint.as_str()), (true, "--size 4GB"));
        assert_eq!(refused("vfat", 4 * GB, 900 * GB, GB * 1000, false), None);
        assert_eq!(refused("exfat", 5 * GB, 900 * GB, GB * 1000, false), None);
        assert!(refused("ramfs", GB, 0, 0, false).unwrap().0.contains("ramfs, which tells no size"));
    }
}
