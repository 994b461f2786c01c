//! Where there is no Linux, nobody tells who uses a device or a file, or what it holds: only new files are written, and on
//! Windows not even those.

use std::path::Path;

use crate::error::OpenError;
use crate::guard::facts::{Device, Existing};
use crate::io::RealTarget;

#[cfg(windows)]
fn refused(path: &Path) -> OpenError {
    OpenError::new(
        format!("{}: real drives are not measured on Windows yet", path.display()),
        "measure it on Linux or macOS; here, take a simulated drive, as in --on sim:sn850-1tb; nothing was written",
    )
}

#[cfg(not(windows))]
fn refused(path: &Path) -> OpenError {
    OpenError::new(
        format!("{}: only on Linux can pslc tell who uses it and what it holds", path.display()),
        "measure on a new file on the drive: --on FILE --size 20GB; nothing was written",
    )
}

pub fn inspect(path: &Path) -> Result<Device, OpenError> {
    Err(refused(path))
}

pub fn serial_of(path: &Path) -> Result<Option<String>, OpenError> {
    Err(refused(path))
}

pub fn open_device(path: &Path, _: &str, _: bool) -> Result<RealTarget, OpenError> {
    Err(refused(path))
}

pub fn inspect_file(path: &Path) -> Result<Existing, OpenError> {
    Err(refused(path))
}

pub fn open_existing(path: &Path, _: Option<u64>, _: Option<&str>) -> Result<RealTarget, OpenError> {
    Err(refused(path))
}

#[cfg(windows)]
pub fn check_scratch(path: &Path, _: u64) -> Result<(), OpenError> {
    Err(refused(path))
}

#[cfg(windows)]
pub fn open_scratch(path: &Path, _: u64) -> Result<RealTarget, OpenError> {
    Err(refused(path))
}
