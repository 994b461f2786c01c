//! Loop devices: which bytes each of them shows.

use std::fs::{self, File};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;

use rustix::fs::makedev;

use crate::guard::sysfs;

/// Bytes that can be reached by more than one name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Place {
    /// A block device, by its number.
    Device(u64),
    /// A file, by the number of its file system and its own.
    File { system: u64, inode: u64 },
}

impl Place {
    /// Of a regular file or a block device.
    pub fn of(metadata: &fs::Metadata) -> Option<Place> {
        let kind = metadata.file_type();
        match () {
            () if kind.is_block_device() => Some(Place::Device(metadata.rdev())),
            () if kind.is_file() => Some(Place::File { system: metadata.dev(), inode: metadata.ino() }),
            () => None,
        }
    }
}

pub struct Loop {
    /// The kernel's name: `loop0`.
    pub name: String,
    pub number: u64,
    /// What it shows: a file, or another device. Two where the kernel and the path do not say the same, as on btrfs.
    pub backing: Vec<Place>,
}

/// Every loop device that shows something.
pub fn all() -> Vec<Loop> {
    let mut loops = Vec::new();
    for entry in fs::read_dir("/sys/block").into_iter().flatten().flatten() {
        let Some(path) = sysfs::text(&entry.path().join("loop/backing_file")) else { continue };
        let name = sysfs::file_name(&entry.path());
        let number = sysfs::text(&entry.path().join("dev")).as_deref().and_then(sysfs::number_of);
        let Some(number) = number else { continue };
        let mut backing: Vec<Place> = backing_of(&name).into_iter().collect();
        let by_path = fs::metadata(Path::new(&path)).ok().and_then(|metadata| Place::of(&metadata));
        // The path may be another's by now; too many are only asked about, never written to.
        backing.extend(by_path.filter(|place| !backing.contains(place)));
        loops.push(Loop { name, number, backing });
    }
    loops
}

/// What the kernel tells of a loop device, which takes the right to read it.
fn backing_of(name: &str) -> Option<Place> {
    const LOOP_GET_STATUS64: libc::c_ulong = 0x4c05;
    let device = File::open(format!("/dev/{name}")).ok()?;
    // `struct loop_info64`: the first three of its fields are the file system, the inode and the device behind it.
    let mut status = [0u64; 29];
    // SAFETY: the kernel fills 232 bytes, and the descriptor is open.
    let code = unsafe { libc::ioctl(device.as_raw_fd(), LOOP_GET_STATUS64 as _, status.as_mut_ptr()) };
    let [system, inode, behind, ..] = status;
    match (code, behind) {
        (0, 0) => Some(Place::File { system: decoded(system), inode }),
        (0, behind) => Some(Place::Device(decoded(behind))),
        _ => None,
    }
}

/// The kernel packs major and minor numbers otherwise than the C library.
fn decoded(packed: u64) -> u64 {
    makedev(((packed & 0xf_ff00) >> 8) as u32, ((packed & 0xff) | ((packed >> 12) & 0xf_ff00)) as u32)
}
