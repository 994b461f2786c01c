//! Reading sysfs: what is not there, or cannot be read, is `None`.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use rustix::fs::{major, makedev, minor};

/// The folder of a block device.
pub fn folder(rdev: u64) -> io::Result<PathBuf> {
    fs::canonicalize(format!("/sys/dev/block/{}:{}", major(rdev), minor(rdev)))
}

/// The printable part of a file, trimmed; `None` if that is nothing.
pub fn text(path: &Path) -> Option<String> {
    let bytes = fs::read(path).ok()?;
    let text: String = String::from_utf8_lossy(&bytes).chars().filter(|c| !c.is_control()).collect();
    Some(text.trim().to_string()).filter(|text| !text.is_empty())
}

pub fn number(path: &Path) -> Option<u64> {
    text(path)?.parse().ok()
}

/// The device number of `8:16`.
pub fn number_of(text: &str) -> Option<u64> {
    let (major, minor) = text.split_once(':')?;
    Some(makedev(major.parse().ok()?, minor.parse().ok()?))
}

/// `8:16` of a device number.
pub fn shown(rdev: u64) -> String {
    format!("{}:{}", major(rdev), minor(rdev))
}

pub fn file_name(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}
