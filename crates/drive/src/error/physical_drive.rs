//! Whole drives of Windows.

use std::path::PathBuf;

use pslc_ssd::codes;

use super::Hint;

/// What lists the drives.
pub(super) const LIST: &str = r"Get-Disk in PowerShell lists the drives; \\.\PhysicalDrive1 is number 1";
/// What to do instead.
pub(super) const ON_A_FILE: &str =
    "measure on a file on it instead: --on FILE --size 20GB; nothing was written";

/// Why a whole drive must not be erased, as far as only Windows says so.
#[derive(Debug, thiserror::Error)]
pub enum PhysicalDriveError {
    #[error("{path} names no whole drive")]
    NotWhole { path: PathBuf },
    #[error("{path}: Windows lets only administrators open a whole drive")]
    NotElevated { path: PathBuf },
    /// What is needed to judge it.
    #[error("{path}: the system does not tell {what}")]
    Unknown { path: PathBuf, what: String },
    #[error("{path} is the drive that Windows runs from")]
    OfSystem { path: PathBuf },
    #[error("{path} is offline")]
    Offline { path: PathBuf, number: u32 },
    #[error("{path} is read-only")]
    ReadOnly { path: PathBuf, number: u32 },
    #[error("{path} has a medium that can be taken out, on which Windows always has a volume")]
    Removable { path: PathBuf },
    #[error("{path} belongs to a storage pool (Storage Spaces)")]
    InPool { path: PathBuf },
    #[error("{path} is a dynamic disk (LDM)")]
    Dynamic { path: PathBuf },
    /// Where each is mounted, or its own name.
    #[error("{path} has volumes:\n  {}", volumes.join("\n  "))]
    HasVolumes { path: PathBuf, volumes: Vec<String> },
    /// A sentence each.
    #[error("{path} has partitions:\n  {}", partitions.join("\n  "))]
    HasPartitions { path: PathBuf, partitions: Vec<String> },
}

codes!(PhysicalDriveError {
    NotWhole => "device-not-whole",
    NotElevated => "device-not-elevated",
    Unknown => "device-unknown",
    OfSystem => "device-of-system",
    Offline => "device-offline",
    ReadOnly => "device-read-only",
    Removable => "device-removable",
    InPool => "device-in-pool",
    Dynamic => "device-dynamic",
    HasVolumes => "device-has-volumes",
    HasPartitions => "device-has-partitions",
});

impl PhysicalDriveError {
    /// What to do next.
    pub fn hint(&self) -> Hint {
        match self {
            Self::Unknown { .. } | Self::OfSystem { .. } | Self::Removable { .. } => ON_A_FILE.into(),
            Self::NotWhole { .. } => format!("give the drive as a whole: {LIST}; nothing was written").into(),
            Self::NotElevated { .. } => {
                "run it in an elevated console (Run as administrator); in one, another program has locked the drive; \
                 nothing was written"
                    .into()
            }
            Self::Offline { number, .. } => {
                format!("in PowerShell: Set-Disk -Number {number} -IsOffline $false; nothing was written").into()
            }
            Self::ReadOnly { number, .. } => {
                let command = format!("Set-Disk -Number {number} -IsReadOnly $false");
                format!("if all of it may be lost, in PowerShell: {command}; nothing was written").into()
            }
            Self::InPool { .. } => {
                "take it out of its pool first (Remove-PhysicalDisk in PowerShell); nothing was written".into()
            }
            Self::Dynamic { .. } => {
                "if all of it may be lost, convert it to a basic disk in Disk Management (diskmgmt.msc) first; \
                 nothing was written"
                    .into()
            }
            Self::HasVolumes { .. } | Self::HasPartitions { .. } => {
                "if all of it may be lost, remove its partitions in Disk Management (diskmgmt.msc) first; \
                 nothing was written"
                    .into()
            }
        }
    }
}
