//! What a look at a device or a file finds.

use std::io;
use std::path::PathBuf;

use crate::error::DeviceError;

/// A whole block device, as the system describes it. Looking at it writes nothing.
#[derive(Debug)]
pub struct Device {
    pub path: PathBuf,
    /// The kernel's name: `nvme0n1`.
    pub name: String,
    pub bytes: u64,
    pub logical_block: u32,
    /// `None`: the system does not say.
    pub serial: Option<String>,
    /// A partition of another device.
    pub is_partition: bool,
    /// Why this user, or nobody, may write to it.
    pub refusal: Option<DeviceError>,
    pub users: Users,
    /// File systems, partition tables and the like on it, a sentence each, by libblkid; an error where it is unknown, as on
    /// Windows until it is opened.
    pub signatures: io::Result<Vec<String>>,
}

/// A file, as it is before it is overwritten.
#[derive(Debug)]
pub struct Existing {
    /// Where it really is.
    pub path: PathBuf,
    pub bytes: u64,
    /// What can be measured on: whole blocks, without that of pslc's mark.
    pub usable_bytes: u64,
    /// Nanoseconds since 1970 at which it was changed last.
    pub changed_unix_ns: i128,
    /// Number of the user that owns it.
    pub owner: u32,
    /// pslc wrote it last: nothing is lost.
    pub ours: bool,
    /// What it holds, by libblkid; empty where that is unknown.
    pub holds: Vec<String>,
    /// Tells this file, unchanged, from every other.
    pub identity: String,
}

/// Who uses it, a sentence each.
#[derive(Clone, Debug, Default)]
pub struct Users {
    /// What stays until somebody ends it: mounts, swap, other devices, locks.
    pub lasting: Vec<String>,
    /// Processes that have it open, of which some go away by themselves: udev looks at a device that was just closed.
    pub open: Vec<String>,
}

impl Users {
    pub fn sentences(mut self) -> Vec<String> {
        self.lasting.append(&mut self.open);
        self.lasting
    }

    pub fn is_empty(&self) -> bool {
        self.lasting.is_empty() && self.open.is_empty()
    }
}

/// A line of `/proc/self/mountinfo`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mount {
    #[cfg(target_os = "linux")]
    pub(crate) id: String,
    /// `major:minor` of the file system, as `/proc/locks` names it. Files of btrfs have another.
    pub number: String,
    pub point: String,
    /// Options of the mount.
    pub flags: String,
    /// `ext4`, `tmpfs`, `fuse.sshfs`.
    pub kind: String,
    /// Block devices it says it is on: one, or several after one another with `:` between.
    pub source: String,
    /// Options of the file system.
    pub options: String,
}

#[cfg(target_os = "linux")]
impl Mount {
    /// Paths of the block devices it is on or keeps a journal on, as far as it tells.
    pub fn devices(&self) -> impl Iterator<Item = &str> {
        let extra = self
            .options
            .split(',')
            .filter_map(|option| option.strip_prefix("logdev=").or_else(|| option.strip_prefix("rtdev=")));
        self.source.split(':').chain(extra).filter(|path| path.starts_with('/'))
    }
}
