//! Where there is no Linux, nobody tells who uses a device or a file, or what it holds: only new files are
//! written.

use std::path::Path;

use crate::error::{OpenError, Unsupported};
use crate::guard::facts::{Device, Existing};
use crate::io::RealTarget;

fn refused(path: &Path) -> OpenError {
    Unsupported::NotLinux { path: path.to_path_buf() }.into()
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
