//! Whole block devices.

use std::io;
use std::path::PathBuf;

use pslc_ssd::faults;

use super::physical_drive::{LIST, ON_A_FILE};
use crate::sys::limit_hint;

/// What lists the block devices.
const LSBLK: &str = "lsblk lists the block devices; pslc probe shows one";
/// What tells who holds a device.
const HOLDERS: &str = if cfg!(windows) {
    "close what shows, checks or maps the drive, such as Disk Management; nothing was written"
} else {
    "lsblk and fuser -v tell more; nothing was written"
};

faults! {
    /// Why a block device must not be written to, or cannot be looked at.
    #[derive(Debug, thiserror::Error)]
    pub enum DeviceError {
        #[error("{path}: {source}")]
        NotFound { path: PathBuf, source: io::Error } = "device-not-found"
            => limit_hint(source).unwrap_or_else(|| if cfg!(windows) { LIST } else { LSBLK }.into()),
        #[error("{path} is no block device, but {kind}")]
        NotBlockDevice { path: PathBuf, kind: &'static str } = "device-not-block" => LSBLK,
        /// sysfs does not tell of it.
        #[error("{path}: {source}")]
        NotDescribed { path: PathBuf, source: io::Error } = "device-not-described"
            => limit_hint(source).unwrap_or_else(|| "pslc probe shows what a path is".into()),
        #[error("{path} is a partition")]
        Partition { path: PathBuf } = "device-is-partition"
            => "give the whole drive; partitions are not measured",
        #[error("{path} has no medium (0 bytes)")]
        NoMedium { path: PathBuf } = "device-no-medium" => "is the drive still there?",
        #[error("{path} has {bytes} bytes, and no drive has so few")]
        TooSmall { path: PathBuf, bytes: u64 } = "device-too-small"
            => "a drive of at least 4 MiB; nothing was written",
        #[error("{path}: the serial number given, {expected_serial}, is not that of this drive")]
        WrongSerial { path: PathBuf, expected_serial: String } = "device-wrong-serial"
            => format!("pslc probe {} shows it; make sure that this is the drive to be erased", path.display()),
        #[error("{path}: the system does not tell its serial number, so it cannot be confirmed")]
        NoSerial { path: PathBuf } = "device-no-serial" => ON_A_FILE,
        /// Who uses it, a sentence each.
        #[error("{path} is in use: {}", users.join("; "))]
        InUse { path: PathBuf, users: Vec<String> } = "device-in-use"
            => "unmount, swapoff or stop what uses it; nothing was written",
        #[error("what {path} holds is unknown: {source}")]
        NoLibblkid { path: PathBuf, source: io::Error } = "device-no-libblkid"
            => "on Debian and Ubuntu: apt install libblkid1; elsewhere it is part of util-linux; nothing was written",
        #[error("{path} cannot be read, so what it holds is unknown: {source}")]
        ContentUnknown { path: PathBuf, source: io::Error } = "device-content-unknown"
            => "is the drive failing? nothing was written",
        /// The user has not the rights: what the node says, and the group whose members have them, if there is one.
        #[error("{path} is {rights}: {user} may {}", if *may_read { "read it, but not write to it" } else { "not read it" })]
        Denied { path: PathBuf, may_read: bool, rights: String, user: String, group: Option<String> } = "device-denied"
            => match group {
                Some(group) => format!(
                    "sudo usermod -aG {group} {user}, then log in anew; or as root: sudo $(command -v pslc) ..."
                ),
                None => "as root: sudo $(command -v pslc) ...".into(),
            },
        #[error("{path} can only be read: the kernel takes no writes to it")]
        ReadOnly { path: PathBuf } = "device-write-protected"
            => format!("sudo blockdev --setrw {}, unless the drive itself is write-protected", path.display()),
        /// File systems, partition tables and the like, a sentence each.
        #[error("{path} holds something: {}", signatures.join("; "))]
        HasSignatures { path: PathBuf, signatures: Vec<String> } = "device-has-signatures"
            => "if all of it may be lost, give --wipe-signatures as well; nothing was written",
        #[error("{path}: the kernel or a program holds it for itself")]
        Held { path: PathBuf } = "device-held" => HOLDERS,
        #[error("{path}: {source}")]
        NotOpened { path: PathBuf, source: io::Error } = "device-not-opened"
            => limit_hint(source).unwrap_or_else(|| HOLDERS.into()),
        #[error("{path} is locked by another program")]
        Locked { path: PathBuf } = "device-locked" => "wait until it is done with it; nothing was written",
        /// Between the two looks at it.
        #[error("{path} changed while it was looked at")]
        Changed { path: PathBuf } = "device-changed" => "try again",
        #[error("{path}: {source}")]
        NotWiped { path: PathBuf, source: io::Error } = "device-not-wiped" => "is the drive failing?",
    }
}
