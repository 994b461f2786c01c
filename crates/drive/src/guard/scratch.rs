//! Scratch files: new ones, in room that is there, without a name, so that nothing is left behind however the run ends.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

use rustix::fs::{fallocate, fstatvfs, FallocateFlags};

use crate::error::{failed, OpenError, TargetFileError};
use crate::guard::facts::Mount;
use crate::guard::folder;
use crate::guard::room::{self, Room, BLOCK};
use crate::io::Written;
use crate::io::{RealTarget, Trim};
use crate::sys;

/// What offsets and lengths of direct requests to a file are multiples of; `BLOCK` where the system does not tell.
pub fn direct_block(#[cfg_attr(not(target_os = "linux"), expect(unused))] file: &File) -> u32 {
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::{statx, AtFlags, StatxFlags};
        let status = statx(file, "", AtFlags::EMPTY_PATH, StatxFlags::DIOALIGN).ok();
        let align = status.map(|status| status.stx_dio_offset_align).filter(|&bytes| bytes > 0);
        align.unwrap_or(BLOCK)
    }
    #[cfg(not(target_os = "linux"))]
    BLOCK
}

/// Fails where no scratch file of `size` bytes can be made. Writes nothing.
pub fn check_scratch(path: &Path, size: u64) -> Result<(), OpenError> {
    prepare(path, size).map(drop)
}

/// A new file of `size` bytes on the drive to be measured; it has no name.
pub fn open_scratch(path: &Path, size: u64) -> Result<RealTarget, OpenError> {
    let folder = prepare(path, size)?;
    let size = size / BLOCK as u64 * BLOCK as u64;
    let grows = room::has_no_holes(&mount(&folder).kind);
    let (buffered, direct) = create(&folder, path, if grows { 0 } else { size })?;
    if !grows {
        match fallocate(&buffered, FallocateFlags::empty(), 0, size).map_err(io::Error::from) {
            Err(error) if error.kind() != io::ErrorKind::Unsupported => {
                return Err(failed("reserve its space", path, error));
            }
            // It is that long already.
            _ => {}
        }
    }
    let block = direct_block(&buffered);
    let target = RealTarget::new(direct, buffered, Trim::PunchHole, size, block, Written::none(size));
    // One request after the other, at any depth, makes the file longer as far as it goes.
    Ok(if grows { target.with_layout(u32::MAX) } else { target })
}

/// The folder of the file, in which it may be made.
fn prepare(path: &Path, size: u64) -> Result<File, OpenError> {
    if size < BLOCK as u64 {
        return Err(TargetFileError::ScratchTooSmall { bytes: size }.into());
    }
    if let Ok(there) = fs::symlink_metadata(path) {
        let path = path.to_path_buf();
        let refused = if there.is_file() {
            TargetFileError::ScratchExists { path }
        } else {
            TargetFileError::ScratchNameTaken { path, kind: sys::kind(&there.file_type()) }
        };
        return Err(refused.into());
    }
    let parent = match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    };
    let open = OpenOptions::new().read(true).custom_flags(libc::O_DIRECTORY).open(parent);
    let open = open.map_err(|error| failed("open the folder of it", parent, error))?;
    folder::check(&open, path)?;
    folder::lets_go(&open, path)?;
    room::check(path, size, &room(&open, parent)?)?;
    Ok(open)
}

/// The file of that length, through the page cache, and past it where that can be had.
#[cfg(target_os = "linux")]
fn create(folder: &File, path: &Path, size: u64) -> Result<(File, Option<File>), OpenError> {
    use crate::handle;

    // From here on nothing can leave it behind, not even kill -9.
    match handle::reopen(folder, true, libc::O_TMPFILE) {
        Ok(file) => {
            file.set_len(size).map_err(|error| failed("make it that large", path, error))?;
            let direct = handle::reopen(&file, true, libc::O_DIRECT).ok();
            Ok((file, direct))
        }
        Err(error) if matches!(error.raw_os_error(), Some(libc::EOPNOTSUPP | libc::EISDIR | libc::ENOENT)) => {
            by_name(path, size, libc::O_DIRECT)
        }
        Err(error) => Err(failed("create it", path, error)),
    }
}

/// The file of that length, through the page cache, and past it where that can be had.
#[cfg(target_os = "macos")]
fn create(_: &File, path: &Path, size: u64) -> Result<(File, Option<File>), OpenError> {
    let (file, direct) = by_name(path, size, 0)?;
    Ok((file, direct.filter(|direct| rustix::fs::fcntl_nocache(direct, true).is_ok())))
}

/// The file by a name, which is gone again. What some file systems refuse without a name (gocryptfs, mergerfs, 9p: to
/// open it again, to set its length) is done before.
fn by_name(path: &Path, size: u64, flags: i32) -> Result<(File, Option<File>), OpenError> {
    let file = named(path)?;
    let sized = file.set_len(size);
    let again = OpenOptions::new().read(true).write(true).custom_flags(libc::O_NOFOLLOW | flags).open(path).ok();
    unname(path)?;
    sized.map_err(|error| failed("make it that large", path, error))?;
    // Another may have put a file of its own there in between.
    let number = |file: &File| file.metadata().map(|about| (about.dev(), about.ino())).ok();
    let direct = again.filter(|other| number(other) == number(&file));
    Ok((file, direct))
}

/// Where every file has a name.
fn named(path: &Path) -> Result<File, OpenError> {
    let file = OpenOptions::new().read(true).write(true).create_new(true).open(path);
    file.map_err(|error| failed("create it", path, error))
}

/// The file stays for as long as it is open.
fn unname(path: &Path) -> Result<(), OpenError> {
    fs::remove_file(path).map_err(|error| failed("remove its name", path, error))
}

#[cfg(target_os = "linux")]
fn mount(folder: &File) -> Mount {
    crate::guard::mounts::of(folder).unwrap_or_default()
}

#[cfg(target_os = "macos")]
fn mount(_: &File) -> Mount {
    Mount::default()
}

/// The room in the file system of `folder`.
fn room(folder: &File, path: &Path) -> Result<Room, OpenError> {
    let fs = fstatvfs(folder).map_err(|error| failed("look at the file system of it", path, error.into()))?;
    let mount = mount(folder);
    // A project's quota is told as the size of the file system, in its folders alone.
    let whole = rustix::fs::statvfs(&mount.point).map_or(fs.f_blocks, |of| of.f_blocks);
    let (free, total) = (fs.f_bavail * fs.f_frsize, fs.f_blocks * fs.f_frsize);
    Ok(Room { kind: mount.kind, free, total, quota: fs.f_blocks < whole })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_by_a_name_has_its_length_and_both_descriptors_before_the_name_goes() {
        let folder = std::env::temp_dir().join(format!("pslc-by-name-{}", std::process::id()));
        fs::create_dir(&folder).unwrap();
        let path = folder.join("scratch");
        let (file, again) = by_name(&path, 1 << 20, 0).unwrap();
        assert_eq!(again.unwrap().metadata().unwrap().len(), 1 << 20);
        assert_eq!((file.metadata().unwrap().len(), path.exists()), (1 << 20, false));
        let refused = by_name(&path, u64::MAX / 2, 0).unwrap_err().to_string();
        assert!(refused.contains("cannot make it that large"), "{refused}");
        assert!(!path.exists(), "what was refused is left behind");
        fs::remove_dir(&folder).unwrap();
    }
}
