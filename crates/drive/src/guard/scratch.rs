//! Scratch files: new ones, in room that is there, without a name, so that nothing is left behind however the run ends.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::fs::{fallocate, fstatvfs, FallocateFlags};

use crate::error::{failed, OpenError, TargetFileError};
use crate::guard::folder;
use crate::guard::room::{self, BLOCK};
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
    let (buffered, direct) = create(&folder, path)?;
    let reserved = fallocate(&buffered, FallocateFlags::empty(), 0, size);
    match reserved.map_err(io::Error::from) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::Unsupported => {
            buffered.set_len(size).map_err(|error| failed("make it that large", path, error))?;
        }
        Err(error) => return Err(failed("reserve its space", path, error)),
    }
    let block = direct_block(&buffered);
    Ok(RealTarget::new(direct, buffered, Trim::PunchHole, size, block, Written::none(size)))
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
    room::check(path, size, room(&open, parent)?)?;
    Ok(open)
}

/// The file through the page cache, and past it where that can be had.
#[cfg(target_os = "linux")]
fn create(folder: &File, path: &Path) -> Result<(File, Option<File>), OpenError> {
    use crate::handle;

    // From here on nothing can leave it behind, not even kill -9.
    let file = match handle::reopen(folder, true, libc::O_TMPFILE) {
        Ok(file) => file,
        Err(error)
            if matches!(error.raw_os_error(), Some(libc::EOPNOTSUPP | libc::EISDIR | libc::ENOENT)) =>
        {
            let file = named(path)?;
            unname(path)?;
            file
        }
        Err(error) => return Err(failed("create it", path, error)),
    };
    let direct = handle::reopen(&file, true, libc::O_DIRECT).ok();
    Ok((file, direct))
}

/// The file through the page cache, and past it where that can be had.
#[cfg(target_os = "macos")]
fn create(_: &File, path: &Path) -> Result<(File, Option<File>), OpenError> {
    use std::os::unix::fs::MetadataExt;

    let file = named(path)?;
    let again = OpenOptions::new().read(true).write(true).custom_flags(libc::O_NOFOLLOW).open(path).ok();
    unname(path)?;
    // Another may have put a file of its own there in between.
    let number = |file: &File| file.metadata().map(|about| (about.dev(), about.ino())).ok();
    let direct = again.filter(|other| number(other) == number(&file));
    Ok((file, direct.filter(|direct| rustix::fs::fcntl_nocache(direct, true).is_ok())))
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

/// Bytes that may be used in the file system of `folder`.
fn room(folder: &File, path: &Path) -> Result<u64, OpenError> {
    let fs = fstatvfs(folder).map_err(|error| failed("look at the file system of it", path, error.into()))?;
    let total = fs.f_blocks * fs.f_frsize;
    Ok(room::usable(fs.f_bavail * fs.f_frsize, total))
}
