//! Where there is no Windows, nobody can be asked.

use std::io;
use std::path::Path;

use super::{Drive, Health, Volume};

pub fn volume(_: &Path) -> io::Result<Volume> {
    Err(io::ErrorKind::Unsupported.into())
}

pub fn drive(_: u32) -> io::Result<Drive> {
    Err(io::ErrorKind::Unsupported.into())
}

pub fn health(_: u32) -> io::Result<Health> {
    Err(io::ErrorKind::Unsupported.into())
}
