//! Whole drives of Windows.

use std::path::PathBuf;

use pslc_ssd::faults;

/// What lists the drives.
pub(super) const LIST: &str = r"Get-Disk in PowerShell lists the drives; \\.\PhysicalDrive1 is number 1";
/// What to do instead.
pub(super) const ON_A_FILE: &str = "measure on a file on it instead: --on FILE --size 20GB; nothing was written";

/// What to do about a drive that is in use.
const REMOVE_PARTITIONS: &str = "if all of it may be lost, remove its partitions in Disk Management (diskmgmt.msc) \
    first; nothing was written";

faults! {
    /// Why a whole drive must not be erased, as far as only Windows says so.
    #[derive(Debug, thiserror::Error)]
    pub enum PhysicalDriveError {
        #[error("{path} names no whole drive")]
        NotWhole { path: PathBuf } = "device-not-whole"
            => format!("give the drive as a whole: {LIST}; nothing was written"),
        #[error("{path}: Windows lets only administrators open a whole drive")]
        NotElevated { path: PathBuf } = "device-not-elevated"
            => "run it in an elevated console (Run as administrator); in one, another program has locked the drive; \
                nothing was written",
        /// What is needed to judge it.
        #[error("{path}: the system does not tell {what}")]
        Unknown { path: PathBuf, what: String } = "device-unknown" => ON_A_FILE,
        #[error("{path} is the drive that Windows runs from")]
        OfSystem { path: PathBuf } = "device-of-system" => ON_A_FILE,
        #[error("{path} is offline")]
        Offline { path: PathBuf, number: u32 } = "device-offline"
            => format!("in PowerShell: Set-Disk -Number {number} -IsOffline $false; nothing was written"),
        #[error("{path} is read-only")]
        ReadOnly { path: PathBuf, number: u32 } = "device-read-only"
            => format!("if all of it may be lost, in PowerShell: Set-Disk -Number {number} -IsReadOnly $false; \
                nothing was written"),
        #[error("{path} has a medium that can be taken out, on which Windows always has a volume")]
        Removable { path: PathBuf } = "device-removable" => ON_A_FILE,
        #[error("{path} belongs to a storage pool (Storage Spaces)")]
        InPool { path: PathBuf } = "device-in-pool"
            => "take it out of its pool first (Remove-PhysicalDisk in PowerShell); nothing was written",
        #[error("{path} is a dynamic disk (LDM)")]
        Dynamic { path: PathBuf } = "device-dynamic"
            => "if all of it may be lost, convert it to a basic disk in Disk Management (diskmgmt.msc) first; \
                nothing was written",
        /// Where each is mounted, or its own name.
        #[error("{path} has volumes: {}", volumes.join("; "))]
        HasVolumes { path: PathBuf, volumes: Vec<String> } = "device-has-volumes" => REMOVE_PARTITIONS,
        /// A sentence each.
        #[error("{path} has partitions: {}", partitions.join("; "))]
        HasPartitions { path: PathBuf, partitions: Vec<String> } = "device-has-partitions"
            => REMOVE_PARTITIONS,
    }
}
