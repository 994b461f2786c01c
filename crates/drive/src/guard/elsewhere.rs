//! What only Linux tells enough about: files that are there already, and on macOS drives as a whole.

use std::path::Path;

use crate::error::{OpenError, Unsupported};
#[cfg(not(windows))]
use crate::guard::facts::Device;
use crate::guard::facts::{Existing, Mount};
use crate::io::RealTarget;

fn refused(path: &Path) -> OpenError {
    Unsupported::NotLinux { path: path.to_path_buf() }.into()
}

#[cfg(not(windows))]
pub fn inspect(path: &Path) -> Result<Device, OpenError> {
    Err(refused(path))
}

#[cfg(not(windows))]
pub fn serial_of(path: &Path) -> Result<Option<String>, OpenError> {
    Err(refused(path))
}

#[cfg(not(windows))]
pub fn open_device(path: &Path, _: &str, _: bool) -> Result<RealTarget, OpenError> {
    Err(refused(path))
}

#[cfg(not(windows))]
pub fn check_device(path: &Path, _: &str, _: bool) -> Result<(), OpenError> {
    Err(refused(path))
}

#[cfg(not(windows))]
pub fn wipe(_: &RealTarget, path: &Path) -> Result<(), OpenError> {
    Err(refused(path))
}

pub fn inspect_file(path: &Path) -> Result<Existing, OpenError> {
    Err(refused(path))
}

pub fn open_existing(path: &Path, _: Option<u64>, _: Option<&str>) -> Result<RealTarget, OpenError> {
    Err(refused(path))
}

pub fn mounts(_: Option<&Path>) -> Vec<Mount> {
    Vec::new()
}
