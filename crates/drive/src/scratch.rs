//! Scratch files: new ones, in room that is there, without a name, so that nothing is left behind however the run ends.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::fs::{fallocate, fstatvfs, FallocateFlags};

use crate::error::OpenError;
use crate::folder;
use crate::handle;
use crate::target::{RealTarget, Trim};
use crate::written::Written;

/// What is left free on the file system: this share of it, or this many bytes, whichever is more.
const KEPT_PERCENT: u64 = 5;
const KEPT_BYTES: u64 = 2_000_000_000;
/// Offsets and lengths of direct I/O on files: what every drive takes.
pub const BLOCK: u32 = 4096;

pub fn failed(what: &str, path: &Path, error: io::Error) -> OpenError {
    OpenError::new(
        format!("{}: cannot {what}: {}", path.display(), words(&error)),
        "give a path in a folder on the drive that you can write to",
    )
}

/// An error of the system without its number.
fn words(error: &io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or(&text).to_string()
}

/// Fails where no scratch file of `size` bytes can be made. Writes nothing.
pub fn check_scratch(path: &Path, size: u64) -> Result<(), OpenError> {
    prepare(path, size).map(drop)
}

/// A new file of `size` bytes on the drive to be measured; it has no name.
pub fn open_scratch(path: &Path, size: u64) -> Result<RealTarget, OpenError> {
    let folder = prepare(path, size)?;
    let size = size / BLOCK as u64 * BLOCK as u64;
    // From here on nothing can leave it behind, not even kill -9.
    let buffered = match handle::reopen(&folder, true, libc::O_TMPFILE) {
        Ok(file) => file,
        Err(error)
            if matches!(error.raw_os_error(), Some(libc::EOPNOTSUPP | libc::EISDIR | libc::ENOENT)) =>
        {
            named(path)?
        }
        Err(error) => return Err(failed("create it", path, error)),
    };
    let direct = handle::reopen(&buffered, true, libc::O_DIRECT).ok();
    let reserved = fallocate(&buffered, FallocateFlags::empty(), 0, size);
    match reserved.map_err(io::Error::from) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::Unsupported => {
            buffered.set_len(size).map_err(|error| failed("make it that large", path, error))?;
        }
        Err(error) => return Err(failed("reserve its space", path, error)),
    }
    Ok(RealTarget::new(direct, buffered, Trim::PunchHole, size, BLOCK, Written::none(size)))
}

/// The folder of the file, in which it may be made.
fn prepare(path: &Path, size: u64) -> Result<File, OpenError> {
    if size < BLOCK as u64 {
        return Err(OpenError::new(format!("a scratch file of {size} bytes"), "--size=20GB, for one"));
    }
    if let Ok(there) = handle::find(path, false).and_then(|file| file.metadata()) {
        let what = match there.is_file() {
            true => format!("{} exists, and is not written over", path.display()),
            false => format!("{} exists, and is {}", path.display(), handle::kind(&there.file_type())),
        };
        let hint = match there.is_file() {
            true => "give a new name, or --reuse to measure on this file and lose what is in it",
            false => "give a new name in a folder on the drive to be measured",
        };
        return Err(OpenError::new(what, hint));
    }
    let parent = match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    };
    let open = OpenOptions::new().read(true).custom_flags(libc::O_DIRECTORY).open(parent);
    let open = open.map_err(|error| failed("open the folder of it", parent, error))?;
    folder::check(&open, path)?;
    folder::lets_go(&open, path)?;
    let room = room(&open, parent)?;
    if size > room {
        return Err(OpenError::new(
            format!(
                "{}: {} wanted, but {} are free beyond what is kept ({KEPT_PERCENT} % of the file system, 2 GB at least)",
                path.display(),
                gb(size),
                gb(room)
            ),
            format!("--size={}GB at most", room / 1_000_000_000),
        ));
    }
    Ok(open)
}

/// Where every file has a name: it is removed at once.
fn named(path: &Path) -> Result<File, OpenError> {
    let file = OpenOptions::new().read(true).write(true).create_new(true).open(path);
    let file = file.map_err(|error| failed("create it", path, error))?;
    std::fs::remove_file(path).map_err(|error| failed("remove its name", path, error))?;
    Ok(file)
}

/// Bytes that may be used in the file system of `folder`.
fn room(folder: &File, path: &Path) -> Result<u64, OpenError> {
    let fs = fstatvfs(folder).map_err(|error| failed("look at the file system of it", path, error.into()))?;
    let total = fs.f_blocks * fs.f_frsize;
    let kept = (total / 100 * KEPT_PERCENT).max(KEPT_BYTES);
    Ok((fs.f_bavail * fs.f_frsize).saturating_sub(kept))
}

fn gb(bytes: u64) -> String {
    format!("{:.1} GB", bytes as f64 / 1e9)
}
