//! Whole block devices.

use std::io;
use std::path::PathBuf;

use pslc_ssd::codes;

use super::physical_drive::{LIST, ON_A_FILE};
use super::Hint;

/// Why a block device must not be written to, or cannot be looked at.
#[derive(Debug, thiserror::Error)]
pub enum DeviceError {
    #[error("{path}: {source}")]
    NotFound { path: PathBuf, source: io::Error },
    #[error("{path} is no block device, but {kind}")]
    NotBlockDevice { path: PathBuf, kind: &'static str },
    /// sysfs does not tell of it.
    #[error("{path}: {source}")]
    NotDescribed { path: PathBuf, source: io::Error },
    #[error("{path} is a partition")]
    Partition { path: PathBuf },
    #[error("{path} has no medium (0 bytes)")]
    NoMedium { path: PathBuf },
    #[error("{path} has {bytes} bytes, and no drive has so few")]
    TooSmall { path: PathBuf, bytes: u64 },
    #[error("{path}: the serial number given, {expected_serial}, is not that of this drive")]
    WrongSerial { path: PathBuf, expected_serial: String },
    #[error("{path}: the system does not tell its serial number, so it cannot be confirmed")]
    NoSerial { path: PathBuf },
    /// Who uses it, a sentence each.
    #[error("{path} is in use:\n  {}", users.join("\n  "))]
    InUse { path: PathBuf, users: Vec<String> },
    #[error("what {path} holds is unknown: {source}")]
    NoLibblkid { path: PathBuf, source: io::Error },
    #[error("{path} cannot be read, so what it holds is unknown: {source}")]
    ContentUnknown { path: PathBuf, source: io::Error },
    /// File systems, partition tables and the like, a sentence each.
    #[error("{path} holds something:\n  {}", signatures.join("\n  "))]
    HasSignatures { path: PathBuf, signatures: Vec<String> },
    #[error("{path}: the kernel or a program holds it for itself")]
    Held { path: PathBuf },
    #[error("{path}: {source}")]
    NotOpened { path: PathBuf, source: io::Error },
    #[error("{path} is locked by another program")]
    Locked { path: PathBuf },
    /// Between the two looks at it.
    #[error("{path} changed while it was looked at")]
    Changed { path: PathBuf },
    #[error("{path}: {source}")]
    NotWiped { path: PathBuf, source: io::Error },
}

codes!(DeviceError {
    NotFound => "device-not-found",
    NotBlockDevice => "device-not-block",
    NotDescribed => "device-not-described",
    Partition => "device-is-partition",
    NoMedium => "device-no-medium",
    TooSmall => "device-too-small",
    WrongSerial => "device-wrong-serial",
    NoSerial => "device-no-serial",
    InUse => "device-in-use",
    NoLibblkid => "device-no-libblkid",
    ContentUnknown => "device-content-unknown",
    HasSignatures => "device-has-signatures",
    Held => "device-held",
    NotOpened => "device-not-opened",
    Locked => "device-locked",
    Changed => "device-changed",
    NotWiped => "device-not-wiped",
});

impl DeviceError {
    /// What to do next.
    pub fn hint(&self) -> Hint {
        match self {
            Self::NotFound { .. } if cfg!(windows) => LIST.into(),
            Self::NotFound { .. } | Self::NotBlockDevice { .. } => {
                "lsblk lists the block devices; pslc probe shows one".into()
            }
            Self::NotDescribed { .. } => "pslc probe shows what a path is".into(),
            Self::Partition { .. } => "give the whole drive; partitions are not measured".into(),
            Self::NoMedium { .. } => "is the drive still there?".into(),
            Self::TooSmall { .. } => "a drive of at least 4 MiB; nothing was written".into(),
            Self::WrongSerial { path, .. } => {
                let path = path.display();
                format!("pslc probe {path} shows it; make sure that this is the drive to be erased").into()
            }
            Self::NoSerial { .. } => ON_A_FILE.into(),
            Self::InUse { .. } => "unmount, swapoff or stop what uses it; nothing was written".into(),
            Self::NoLibblkid { .. } => {
                "on Debian and Ubuntu: apt install libblkid1; elsewhere it is part of util-linux; nothing was written"
                    .into()
            }
            Self::ContentUnknown { .. } if cfg!(windows) => "is the drive failing? nothing was written".into(),
            Self::ContentUnknown { .. } => "this takes the rights of root; nothing was written".into(),
            Self::HasSignatures { .. } => {
                "if all of it may be lost, give --wipe-signatures as well; nothing was written".into()
            }
            Self::Held { .. } | Self::NotOpened { .. } if cfg!(windows) => {
                "close what shows, checks or maps the drive, such as Disk Management; nothing was written".into()
            }
            Self::Held { .. } | Self::NotOpened { .. } => {
                "lsblk and fuser -v tell more; nothing was written".into()
            }
            Self::Locked { .. } => "wait until it is done with it; nothing was written".into(),
            Self::Changed { .. } => "try again".into(),
            Self::NotWiped { .. } => "is the drive failing?".into(),
        }
    }
}
