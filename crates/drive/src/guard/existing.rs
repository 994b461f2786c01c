//! Files that are there already: what one is, whether pslc wrote it last, and the only way to overwrite one.

use std::fs::{File, Metadata};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;

use rustix::fs::{flock, seek, FlockOperation, SeekFrom};

use crate::error::{failed, OpenError, TargetFileError};
use crate::guard::facts::Existing;
use crate::guard::folder;
use crate::guard::room::BLOCK;
use crate::guard::scratch::direct_block;
use crate::guard::signatures;
use crate::guard::users;
use crate::handle;
use crate::io::Written;
use crate::io::{mark, Mark};
use crate::io::{RealTarget, Trim};
use crate::sys;

/// Look at a file that is to be overwritten, which writes nothing.
pub fn inspect_file(path: &Path) -> Result<Existing, OpenError> {
    let handle = find(path)?;
    // A file that cannot be read may still be looked at.
    let read = handle::reopen(&handle, false, libc::O_NONBLOCK);
    let read = read.map_err(|error| failed("open it", path, error))?;
    judge(&read, path, &[handle.as_raw_fd()])?;
    look(&read, path)
}

/// Open a file for measuring, at most its first `size` bytes; what is in it will be lost, the file stays. A file that is
/// not pslc's own takes the `identity` of what was shown and agreed to.
pub fn open_existing(path: &Path, size: Option<u64>, agreed: Option<&str>) -> Result<RealTarget, OpenError> {
    let handle = find(path)?;
    let buffered = handle::reopen(&handle, true, 0).map_err(|error| failed("open it", path, error))?;
    let ours = [handle.as_raw_fd()];
    judge(&buffered, path, &ours)?;
    let existing = look(&buffered, path)?;
    if !existing.ours {
        let name = existing.path.file_name().unwrap_or_default().to_string_lossy();
        match agreed {
            None => {
                let name = name.into_owned();
                return Err(TargetFileError::NotOurs { path: path.to_path_buf(), name }.into());
            }
            Some(agreed) if agreed != existing.identity => {
                return Err(TargetFileError::Changed { path: path.to_path_buf() }.into());
            }
            Some(_) => {}
        }
    }
    if flock(&buffered, FlockOperation::NonBlockingLockExclusive) == Err(rustix::io::Errno::WOULDBLOCK) {
        return Err(TargetFileError::Locked { path: path.to_path_buf() }.into());
    }
    if existing.usable_bytes.min(size.unwrap_or(u64::MAX)) < BLOCK as u64 {
        return Err(TargetFileError::TooSmall { path: path.to_path_buf(), bytes: existing.bytes }.into());
    }
    let size = size.unwrap_or(u64::MAX).min(existing.usable_bytes) / BLOCK as u64 * BLOCK as u64;
    sys::check_end_of_file(size).map_err(|error| failed("write to it", path, error))?;
    let mark = Mark::begin(&buffered).map_err(|error| failed("mark it", path, error))?;
    let written = extents(&buffered, size).map_err(|error| failed("read its extents", path, error))?;
    let direct = handle::reopen(&buffered, true, libc::O_DIRECT).ok();
    let block = direct_block(&buffered);
    let target = RealTarget::new(direct, buffered, Trim::PunchHole, size, block, written);
    Ok(target.marked(mark))
}

/// Find a file, without opening it. A symbolic link may lead to another name in the same folder, and nowhere else.
fn find(path: &Path) -> Result<File, OpenError> {
    let error = |error| failed("look at it", path, error);
    let mut file = handle::find(path, false).map_err(error)?;
    if file.metadata().map_err(error)?.file_type().is_symlink() {
        let leads = path.canonicalize().map_err(error)?;
        let folder = match path.parent() {
            Some(folder) if folder != Path::new("") => folder,
            _ => Path::new("."),
        };
        if leads.parent() != Some(&folder.canonicalize().map_err(error)?) {
            return Err(TargetFileError::LinkOutOfFolder { path: path.to_path_buf(), to: leads }.into());
        }
        file = handle::find(&leads, false).map_err(error)?;
    }
    let kind = file.metadata().map_err(error)?.file_type();
    if !kind.is_file() {
        let path = path.to_path_buf();
        let refused = if kind.is_block_device() {
            TargetFileError::DeviceAsFile { path }
        } else {
            TargetFileError::NotRegular { path, kind: sys::kind(&kind) }
        };
        return Err(refused.into());
    }
    folder::check(&file, path)?;
    Ok(file)
}

/// What no word of a user's can allow.
fn judge(file: &File, path: &Path, ours: &[i32]) -> Result<(), OpenError> {
    let metadata = file.metadata().map_err(|error| failed("look at it", path, error))?;
    if metadata.nlink() != 1 {
        return Err(TargetFileError::HardLinks { path: path.to_path_buf(), names: metadata.nlink() }.into());
    }
    if metadata.mode() & 0o222 == 0 {
        let mode = metadata.mode() & 0o7777;
        return Err(TargetFileError::ReadOnly { path: path.to_path_buf(), mode }.into());
    }
    let users = users::of(file, &path.display().to_string(), ours);
    if !users.is_empty() {
        return Err(TargetFileError::InUse { path: path.to_path_buf(), users: users.sentences() }.into());
    }
    Ok(())
}

fn look(file: &File, path: &Path) -> Result<Existing, OpenError> {
    let metadata = file.metadata().map_err(|error| failed("look at it", path, error))?;
    Ok(Existing {
        path: handle::real_path(file).unwrap_or_else(|_| path.to_path_buf()),
        bytes: metadata.len(),
        usable_bytes: mark::usable(file).map_err(|error| failed("read it", path, error))?,
        changed_unix_ns: metadata.mtime() as i128 * 1_000_000_000 + metadata.mtime_nsec() as i128,
        owner: metadata.uid(),
        ours: mark::is_ours(file).map_err(|error| failed("read it", path, error))?,
        holds: signatures::find(file, metadata.len()).unwrap_or_default(),
        identity: identity(&metadata),
    })
}

fn identity(of: &Metadata) -> String {
    format!("{}:{} {} {}.{:09}", of.dev(), of.ino(), of.len(), of.mtime(), of.mtime_nsec())
}

/// Where a file holds data; holes and reserved space that was never written do not count.
fn extents(file: &File, size: u64) -> io::Result<Written> {
    let mut written = Written::none(size);
    let mut at = 0;
    while at < size {
        let from = match seek(file, SeekFrom::Data(at)) {
            Ok(from) => from,
            Err(rustix::io::Errno::NXIO) => break,
            Err(error) => return Err(error.into()),
        };
        let to = seek(file, SeekFrom::Hole(from))?.min(size);
        if from >= size {
            break;
        }
        written.add(from, to - from);
        at = to;
    }
    Ok(written)
}
