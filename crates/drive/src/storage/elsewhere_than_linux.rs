//! Where there is no Linux, no drive is asked itself.

use std::io;
use std::path::Path;

use super::{descriptor::Identity, Health};

pub fn nvme_health(_: &Path) -> io::Result<Health> {
    Err(io::ErrorKind::Unsupported.into())
}

pub fn ata_health(_: &Path, _may_wake: bool) -> io::Result<Health> {
    Err(io::ErrorKind::Unsupported.into())
}

pub fn ata_identity(_: &Path) -> io::Result<Identity> {
    Err(io::ErrorKind::Unsupported.into())
}
