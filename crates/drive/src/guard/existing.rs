//! Files that are there already: what one is, whether pslc wrote it last, and the only way to overwrite one.

use std::fs::{File, Metadata};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;

use rustix::fs::{flock, seek, FlockOperation, SeekFrom};

use crate::error::{failed, OpenError};
use crate::guard::facts::Existing;
use crate::guard::folder;
use crate::guard::scratch::{direct_block, BLOCK};
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
    let shown = path.display();
    let existing = look(&buffered, path)?;
    if !existing.ours {
        let name = existing.path.file_name().unwrap_or_default().to_string_lossy();
        match agreed {
            None => {
                return Err(OpenError::new(
                    format!("{shown} was not made by pslc, or was changed since, and would be overwritten"),
                    format!("if it may be lost: --reuse --overwrite-file {name}; nothing was written"),
                ))
            }
            Some(agreed) if agreed != existing.identity => {
                let what = format!("{shown} is not what it was when it was looked at");
                return Err(OpenError::new(what, "look again what it is; nothing was written"));
            }
            Some(_) => {}
        }
    }
    if flock(&buffered, FlockOperation::NonBlockingLockExclusive) == Err(rustix::io::Errno::WOULDBLOCK) {
        return Err(OpenError::new(
            format!("{shown} is locked"),
            "wait until it is free; nothing was written",
        ));
    }
    if existing.usable_bytes.min(size.unwrap_or(u64::MAX)) < BLOCK as u64 {
        return Err(OpenError::new(
            format!("{shown} has {} bytes", existing.bytes),
            "at least 8 KiB; without --reuse one is made with --size",
        ));
    }
    let mark = Mark::begin(&buffered).map_err(|error| failed("mark it", path, error))?;
    let size = size.unwrap_or(u64::MAX).min(existing.usable_bytes) / BLOCK as u64 * BLOCK as u64;
    let written = extents(&buffered, size).map_err(|error| failed("read its extents", path, error))?;
    let direct = handle::reopen(&buffered, true, libc::O_DIRECT).ok();
    let block = direct_block(&buffered);
    let target = RealTarget::new(direct, buffered, Trim::PunchHole, size, block, written);
    Ok(target.marked(mark))
}

/// Find a file, without opening it. A symbolic link may lead to another name in the same folder, and nowhere else.
fn find(path: &Path) -> Result<File, OpenError> {
    let shown = path.display();
    let error = |error| failed("look at it", path, error);
    let mut file = handle::find(path, false).map_err(error)?;
    if file.metadata().map_err(error)?.file_type().is_symlink() {
        let leads = path.canonicalize().map_err(error)?;
        let folder = match path.parent() {
            Some(folder) if folder != Path::new("") => folder,
            _ => Path::new("."),
        };
        if leads.parent() != Some(&folder.canonicalize().map_err(error)?) {
            let what = format!("{shown} is a symbolic link out of its folder, to {}", leads.display());
            return Err(OpenError::new(what, format!("--on {}, if that is meant", leads.display())));
        }
        file = handle::find(&leads, false).map_err(error)?;
    }
    let kind = file.metadata().map_err(error)?.file_type();
    if !kind.is_file() {
        let hint = match kind.is_block_device() {
            true => "a block device is written only with --destroy-data SERIAL",
            false => "--reuse is for regular files; nothing was written",
        };
        return Err(OpenError::new(format!("{shown} is no regular file, but {}", sys::kind(&kind)), hint));
    }
    folder::check(&file, path)?;
    Ok(file)
}

/// What no word of a user's can allow.
fn judge(file: &File, path: &Path, ours: &[i32]) -> Result<(), OpenError> {
    let shown = path.display();
    let metadata = file.metadata().map_err(|error| failed("look at it", path, error))?;
    if metadata.nlink() != 1 {
        let what = format!(
            "{shown} has {} names (hard links), and would change under all of them",
            metadata.nlink()
        );
        return Err(OpenError::new(what, "measure on a copy of it; nothing was written"));
    }
    if metadata.mode() & 0o222 == 0 {
        let what = format!("{shown} is read-only (mode {:o})", metadata.mode() & 0o7777);
        return Err(OpenError::new(what, "if it may be lost: chmod u+w; nothing was written"));
    }
    let users = users::of(file, &shown.to_string(), ours);
    if !users.is_empty() {
        return Err(OpenError::new(
            format!("{shown} is in use:\n  {}", users.sentences().join("\n  ")),
            "stop what uses it; nothing was written",
        ));
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
