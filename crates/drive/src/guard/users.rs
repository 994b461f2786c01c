//! Who uses a file or a device, by any of the names its bytes have: its partitions, loop devices over the same file, what
//! is mounted, mapped, swapped to, journaled on, held open or locked.

use std::collections::HashSet;
use std::fs::{self, File};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileExt, FileTypeExt, MetadataExt};

use crate::guard::facts::{Mount, Users};
use crate::guard::holders;
use crate::guard::loops::{self, Loop, Place};
use crate::guard::mounts;
use crate::guard::sysfs;

/// A place with the name it is spoken of by.
type Named = (Place, String);

/// Who uses an open block device or file, apart from descriptors of this process in `ours`.
pub fn of(file: &File, name: &str, ours: &[i32]) -> Users {
    let Some(start) = file.metadata().ok().and_then(|metadata| Place::of(&metadata)) else {
        return Users::default();
    };
    let loops = loops::all();
    let mut users = Users::default();
    let places = closure((start, name.to_string()), &loops, &mut users.lasting);
    let mounts = mounts::all();
    let swaps = swaps();
    for (place, name) in &places {
        if let Place::Device(number) = place {
            users.lasting.extend(of_a_device(*number, name, &mounts));
        }
        if swaps.contains(place) {
            users.lasting.push(format!("{name} is swap space"));
        }
    }
    users.lasting.extend(journaled(file, name, &mounts));
    if let Place::File { inode, .. } = start {
        let number = mounts::of(file).map(|mount| mount.number).unwrap_or_default();
        let locks = holders::locks(file, inode, &number);
        users.lasting.extend(locks.into_iter().map(|lock| format!("{name} is locked: {lock}")));
    }
    let mut ours = ours.to_vec();
    ours.push(file.as_raw_fd());
    let only: Vec<Place> = places.iter().map(|(place, _)| *place).collect();
    for (place, who) in holders::open(&only, &ours) {
        let name = places.iter().find(|(other, _)| *other == place).map_or("", |(_, name)| name);
        users.open.push(format!("{name} is held open by {who}"));
    }
    let mut shown = HashSet::new();
    users.lasting.retain(|sentence| shown.insert(sentence.clone()));
    users
}

/// Everything that shows bytes of `start`. What shows them beside it is a user, and said in `users`.
fn closure(start: Named, loops: &[Loop], users: &mut Vec<String>) -> Vec<Named> {
    let mut places = vec![start];
    let mut at = 0;
    while let Some((place, name)) = places.get(at).cloned() {
        at += 1;
        let mut add = |place: Place, name: String| {
            let new = places.iter().all(|(other, _)| *other != place);
            if new {
                places.push((place, name));
            }
            new
        };
        if let Place::Device(number) = place {
            for part in parts(number) {
                add(part.0, part.1);
            }
            for behind in loops.iter().filter(|device| device.number == number).flat_map(|device| &device.backing) {
                let what = match behind {
                    Place::File { .. } => format!("the file of {name}"),
                    Place::Device(number) => device_name(*number),
                };
                add(*behind, what);
            }
        }
        for over in loops.iter().filter(|device| device.backing.contains(&place)) {
            if add(Place::Device(over.number), over.name.clone()) {
                users.push(format!("{name} is behind {}", over.name));
            }
        }
    }
    places
}

/// The partitions of a device.
fn parts(number: u64) -> Vec<Named> {
    let Ok(folder) = sysfs::folder(number) else { return Vec::new() };
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let parts = entries.map(|entry| entry.path()).filter(|path| path.join("partition").exists());
    parts
        .filter_map(|path| {
            let number = sysfs::number_of(&sysfs::text(&path.join("dev"))?)?;
            Some((Place::Device(number), sysfs::file_name(&path)))
        })
        .collect()
}

fn device_name(number: u64) -> String {
    sysfs::folder(number).map_or_else(|_| sysfs::shown(number), |folder| sysfs::file_name(&folder))
}

fn of_a_device(number: u64, name: &str, mounts: &[Mount]) -> Vec<String> {
    let mut sentences = Vec::new();
    for mount in mounts {
        // A file system may report a number of its own (btrfs); what it names still is the device.
        let named = || mount.devices().any(|path| device_number(path) == Some(number));
        if mount.number == sysfs::shown(number) || named() {
            sentences.push(format!("{name} is mounted at {}", mount.point));
        }
    }
    if let Ok(folder) = sysfs::folder(number) {
        for holder in fs::read_dir(folder.join("holders")).into_iter().flatten().flatten() {
            let holder = holder.path();
            let mapped = sysfs::text(&holder.join("dm/name")).map(|name| format!(" ({name})")).unwrap_or_default();
            sentences.push(format!("{name} is held by {}{mapped}", sysfs::file_name(&holder)));
        }
    }
    // A file system over several devices names one of them in its mount.
    for system in fs::read_dir("/sys/fs/btrfs").into_iter().flatten().flatten() {
        if system.path().join("devices").join(name).exists() {
            sentences.push(format!("{name} belongs to a btrfs that is mounted"));
        }
    }
    sentences
}

/// Devices and files that are swapped to.
fn swaps() -> Vec<Place> {
    let text = fs::read_to_string("/proc/swaps").unwrap_or_default();
    let paths = text.lines().skip(1).filter_map(|line| line.split_whitespace().next());
    paths.filter_map(|path| Place::of(&fs::metadata(path).ok()?)).collect()
}

fn device_number(path: &str) -> Option<u64> {
    let metadata = fs::metadata(path).ok()?;
    metadata.file_type().is_block_device().then(|| metadata.rdev())
}

/// Offsets in the superblock of ext2, ext3 and ext4, and in the one an external journal has.
const SUPERBLOCK: u64 = 1024;
const MAGIC: (usize, [u8; 2]) = (0x38, [0x53, 0xef]);
const INCOMPATIBLE: usize = 0x60;
const IS_A_JOURNAL: u8 = 0x08;
const UUID: usize = 0x68;
const JOURNAL_UUID: usize = 0xd0;

/// The mounted ext3 and ext4 whose journal this device is: neither their mounts nor sysfs tell.
fn journaled(device: &File, name: &str, mounts: &[Mount]) -> Vec<String> {
    let Some(own) = superblock(device) else { return Vec::new() };
    if own[INCOMPATIBLE] & IS_A_JOURNAL == 0 {
        return Vec::new();
    }
    let mut sentences = Vec::new();
    for mount in mounts.iter().filter(|mount| mount.kind == "ext4" || mount.kind == "ext3") {
        let theirs = File::open(&mount.source).ok().and_then(|source| superblock(&source));
        if theirs.is_some_and(|theirs| theirs[JOURNAL_UUID..][..16] == own[UUID..][..16]) {
            sentences.push(format!("{name} is the journal of the {} at {}", mount.kind, mount.point));
        }
    }
    sentences
}

fn superblock(device: &File) -> Option<[u8; 256]> {
    let mut bytes = [0; 256];
    device.read_exact_at(&mut bytes, SUPERBLOCK).ok()?;
    (bytes[MAGIC.0..][..2] == MAGIC.1).then_some(bytes)
}
