//! Scratch files on Windows: new ones, in room that is there, which the system removes when they are closed, however the
//! run ends.
//!
//! NTFS writes zeros in front of a write that lies beyond what a file has been written up to, and waits for it. So a file
//! is taken as written where the system lets us, and is written once before it is measured on where it does not.

use std::fs::{self, File};
use std::path::{Component, Path, Prefix};

use crate::error::{failed, OpenError, TargetFileError};
use crate::guard::room::{self, Room, BLOCK};
use crate::io::Written;
use crate::io::{RealTarget, Trim};
use crate::sys::{self, About};

/// Fails where no scratch file of `size` bytes can be made. Writes nothing.
pub fn check_scratch(path: &Path, size: u64) -> Result<(), OpenError> {
    if size < BLOCK as u64 {
        return Err(TargetFileError::ScratchTooSmall { bytes: size }.into());
    }
    check_name(path)?;
    if let Ok(there) = fs::symlink_metadata(path) {
        let path = path.to_path_buf();
        return Err(if there.is_file() {
            TargetFileError::ScratchExists { path }
        } else {
            let kind = About::at(&path).map_or("no file", |about| about.kind());
            TargetFileError::ScratchNameTaken { path, kind }
        }
        .into());
    }
    let folder = sys::parent(path);
    let about = About::at(folder).map_err(|error| failed("open the folder of it", folder, error))?;
    if about.kind() != "a folder" && !about.is_link() {
        return Err(TargetFileError::ScratchNoFolder { folder: folder.to_path_buf() }.into());
    }
    let (free, total) = sys::room(folder).map_err(|error| failed("look at the file system of it", folder, error))?;
    room::check(path, size, &Room { free, total, ..Room::default() })
}

/// A drive as a whole, a pipe, a stream or a device is no file.
fn check_name(path: &Path) -> Result<(), OpenError> {
    let is_drive = match path.components().next() {
        Some(Component::Prefix(prefix)) => match prefix.kind() {
            Prefix::DeviceNS(_) => true,
            Prefix::Verbatim(name) => !name.to_string_lossy().starts_with("UNC"),
            _ => false,
        },
        _ => false,
    };
    let whole = path.to_path_buf();
    if is_drive {
        return Err(TargetFileError::DeviceAsFile { path: whole }.into());
    }
    let Some(name) = path.file_name() else {
        return Err(TargetFileError::ScratchNameless { path: whole }.into());
    };
    match sys::bad_name(name) {
        Some(why) => Err(TargetFileError::ScratchBadName { path: whole, why }.into()),
        None => Ok(()),
    }
}

/// A new file of `size` bytes on the drive to be measured. Its name goes with it.
pub fn open_scratch(path: &Path, size: u64) -> Result<RealTarget, OpenError> {
    check_scratch(path, size)?;
    let size = size / BLOCK as u64 * BLOCK as u64;
    let buffered = sys::create_passing(path).map_err(|error| failed("create it", path, error))?;
    // The system sets the room aside with the length.
    buffered.set_len(size).map_err(|error| failed("reserve its space", path, error))?;
    let direct = direct(&buffered);
    let block = sys::sector_bytes(&buffered).unwrap_or(BLOCK);
    let is_valid = sys::set_valid(&buffered, size).is_ok();
    let target = RealTarget::new(direct, buffered, Trim::PunchHole, size, block, Written::none(size));
    Ok(if is_valid { target } else { target.with_layout(1) })
}

fn direct(file: &File) -> Option<File> {
    sys::reopen(file, true, false).ok()
}
