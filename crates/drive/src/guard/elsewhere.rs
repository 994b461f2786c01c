//! Where there is no Linux, nobody tells who uses a device or a file, or what it holds: only new files are
//! written.

use std::path::Path;

use crate::error::OpenError;
use crate::guard::facts::{Device, Existing};
use crate::io::RealTarget;

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
