//! Scratch files: new ones, in room that is there, whose names are gone at once, so that nothing is left behind however
//! the run ends.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;

use rustix::fs::{fallocate, fstatvfs, seek, FallocateFlags, SeekFrom};

use crate::error::OpenError;
use crate::target::{RealTarget, Trim};
use crate::written::Written;

/// What is left free on the file system: this share of it, or this many bytes, whichever is more.
const KEPT_PERCENT: u64 = 5;
const KEPT_BYTES: u64 = 2_000_000_000;
/// Offsets and lengths of direct I/O on files: what every drive takes.
const BLOCK: u32 = 4096;

fn failed(what: &str, path: &Path, error: io::Error) -> OpenError {
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

/// A new file of `size` bytes on the drive to be measured; it has no name any more when this returns.
pub fn open_scratch(path: &Path, size: u64) -> Result<RealTarget, OpenError> {
    let size = size / BLOCK as u64 * BLOCK as u64;
    if size == 0 {
        return Err(OpenError::new("a scratch file of 0 bytes", "--size=20GB, for one"));
    }
    if path.exists() {
        return Err(OpenError::new(
            format!("{} exists, and is not written over", path.display()),
            "give a new name, or --reuse to measure on this file and lose what is in it",
        ));
    }
    let folder = match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    };
    let room = room(folder)?;
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
    let buffered = OpenOptions::new().read(true).write(true).create_new(true).open(path);
    let buffered = buffered.map_err(|error| failed("create it", path, error))?;
    let direct = open_direct(path);
    // From here on nothing can leave it behind, not even kill -9.
    std::fs::remove_file(path).map_err(|error| failed("remove its name", path, error))?;
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

/// A file that is there already, at most its first `size` bytes; what is in it will be lost, the file stays.
pub fn open_existing(path: &Path, size: Option<u64>) -> Result<RealTarget, OpenError> {
    let buffered = OpenOptions::new().read(true).write(true).open(path);
    let buffered = buffered.map_err(|error| failed("open it", path, error))?;
    let metadata = buffered.metadata().map_err(|error| failed("look at it", path, error))?;
    if metadata.file_type().is_block_device() || !metadata.is_file() {
        return Err(OpenError::new(
            format!("{} is no regular file", path.display()),
            "--reuse is for files; a block device is written only with --destroy-data SERIAL",
        ));
    }
    let size = size.unwrap_or(u64::MAX).min(metadata.len()) / BLOCK as u64 * BLOCK as u64;
    if size == 0 {
        return Err(OpenError::new(
            format!("{} has {} bytes", path.display(), metadata.len()),
            "a file of at least 4 KiB; without --reuse one is made with --size",
        ));
    }
    let written = extents(&buffered, size).map_err(|error| failed("read its extents", path, error))?;
    Ok(RealTarget::new(open_direct(path), buffered, Trim::PunchHole, size, BLOCK, written))
}

fn open_direct(path: &Path) -> Option<File> {
    OpenOptions::new().read(true).write(true).custom_flags(libc::O_DIRECT).open(path).ok()
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

/// Bytes that may be used in the file system of `folder`.
fn room(folder: &Path) -> Result<u64, OpenError> {
    let open = File::open(folder).map_err(|error| failed("open the folder of it", folder, error))?;
    let fs =
        fstatvfs(&open).map_err(|error| failed("look at the file system of it", folder, error.into()))?;
    let total = fs.f_blocks * fs.f_frsize;
    let kept = (total / 100 * KEPT_PERCENT).max(KEPT_BYTES);
    Ok((fs.f_bavail * fs.f_frsize).saturating_sub(kept))
}

fn gb(bytes: u64) -> String {
    format!("{:.1} GB", bytes as f64 / 1e9)
}
