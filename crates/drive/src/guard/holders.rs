//! Processes that hold a file or a device: by open descriptors, by maps of memory, by locks.

use std::fs::{self, File};
use std::io;
use std::os::fd::AsRawFd;
use std::path::Path;

use rustix::fs::{flock, major, makedev, minor, statx, AtFlags, FileType, FlockOperation, StatxFlags, CWD};

use crate::guard::loops::Place;

/// Longest command line that is shown, in characters.
const SHOWN: usize = 60;

/// Each place that a process has open or mapped, with a sentence's end for each process: `process 12 (dd if=...)`.
/// Descriptors of this process that are in `ours` do not count. Without the rights of root only one's own processes can
/// be seen.
pub fn open(places: &[Place], ours: &[i32]) -> Vec<(Place, String)> {
    let this = std::process::id();
    let mut holders = Vec::new();
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else {
            continue;
        };
        let mut held: Vec<Place> = Vec::new();
        for fd in fs::read_dir(entry.path().join("fd")).into_iter().flatten().flatten() {
            let number = fd.file_name().to_str().and_then(|name| name.parse::<i32>().ok());
            if pid == this && number.is_some_and(|number| ours.contains(&number)) {
                continue;
            }
            held.extend(place(&fd.path()).filter(|place| places.contains(place)));
        }
        held.extend(mapped(&entry.path(), places));
        let mut named: Vec<Place> = Vec::new();
        for place in held {
            if !named.contains(&place) {
                named.push(place);
                holders.push((place, process(pid)));
            }
        }
    }
    holders
}

/// `process 12 (dd if=/dev/zero of=x)`.
pub fn process(pid: u32) -> String {
    let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let line = String::from_utf8_lossy(&line).replace('\0', " ");
    let command: String = match line.trim() {
        "" => fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default().trim().to_string(),
        line => line.chars().filter(|c| !c.is_control()).take(SHOWN).collect(),
    };
    format!("process {pid} ({command})")
}

/// What a descriptor leads to. A file server that hangs is not asked.
fn place(fd: &Path) -> Option<Place> {
    let status = statx(CWD, fd, AtFlags::STATX_DONT_SYNC, StatxFlags::BASIC_STATS).ok()?;
    match FileType::from_raw_mode(status.stx_mode.into()) {
        FileType::BlockDevice => Some(Place::Device(makedev(status.stx_rdev_major, status.stx_rdev_minor))),
        FileType::RegularFile => {
            Some(Place::File { system: makedev(status.stx_dev_major, status.stx_dev_minor), inode: status.stx_ino })
        }
        _ => None,
    }
}

/// Files that a process has in its memory, perhaps without a descriptor.
fn mapped(process: &Path, places: &[Place]) -> Vec<Place> {
    let inodes: Vec<(u64, Place)> = places
        .iter()
        .filter_map(|place| match place {
            Place::File { inode, .. } => Some((*inode, *place)),
            Place::Device(_) => None,
        })
        .collect();
    if inodes.is_empty() {
        return Vec::new();
    }
    let maps = fs::read_to_string(process.join("maps")).unwrap_or_default();
    let mut mapped = Vec::new();
    for line in maps.lines() {
        let mut words = line.split_ascii_whitespace();
        let (Some(range), Some(system)) = (words.next(), words.nth(2)) else { continue };
        let inode = words.next().and_then(|word| word.parse::<u64>().ok());
        for (_, place) in inodes.iter().filter(|(wanted, _)| Some(*wanted) == inode) {
            // On btrfs the number of the file system is another here, so the mapping itself is asked, which takes root.
            let asked = self::place(&process.join("map_files").join(range));
            let same = asked.map_or(system == hex_of(*place), |asked| asked == *place);
            if same && !mapped.contains(place) {
                mapped.push(*place);
            }
        }
    }
    mapped
}

/// `fe:00` of the file system of a file.
fn hex_of(place: Place) -> String {
    match place {
        Place::File { system, .. } => format!("{:02x}:{:02x}", major(system), minor(system)),
        Place::Device(_) => String::new(),
    }
}

/// Locks on an open file, a sentence's end each, by flock and by fcntl. `number` is the `major:minor` of its file system
/// as the kernel has it.
pub fn locks(file: &File, inode: u64, number: &str) -> Vec<String> {
    let mut sentences = Vec::new();
    for line in fs::read_to_string("/proc/locks").unwrap_or_default().lines() {
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        let &[_, kind, _, _, pid, at, ..] = words.as_slice() else { continue };
        if locked(at) != Some((number_of_hex(number), inode)) || kind == "->" {
            continue;
        }
        let how = if kind == "FLOCK" { "flock" } else { "fcntl" };
        let who = pid.parse::<u32>().map_or_else(|_| "a process".to_string(), process);
        sentences.push(format!("{how} by {who}"));
    }
    if sentences.is_empty() && !can_lock(file) {
        sentences.push("a process that cannot be seen from here".to_string());
    }
    sentences
}

/// Who has locked the file of that inode by flock, a sentence's end, as far as can be seen from here.
pub fn flocked(inode: u64) -> Option<String> {
    let locks = fs::read_to_string("/proc/locks").unwrap_or_default();
    locks.lines().find_map(|line| {
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        let &[_, "FLOCK", _, _, pid, at, ..] = words.as_slice() else { return None };
        locked(at).filter(|(_, locked)| *locked == inode)?;
        pid.parse().ok().map(process)
    })
}

/// Device in hexadecimal and inode of `fe:00:6211949`.
fn locked(at: &str) -> Option<(String, u64)> {
    let (device, inode) = at.rsplit_once(':')?;
    Some((device.to_string(), inode.parse().ok()?))
}

/// `fe:00` of `254:0`.
fn number_of_hex(number: &str) -> String {
    let parts: Vec<String> =
        number.split(':').map(|part| format!("{:02x}", part.parse::<u32>().unwrap_or_default())).collect();
    parts.join(":")
}

/// Whether neither kind of lock of another is on it. Nothing stays locked.
fn can_lock(file: &File) -> bool {
    match flock(file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => drop(flock(file, FlockOperation::Unlock)),
        Err(error) if io::Error::from(error).kind() == io::ErrorKind::WouldBlock => return false,
        // Not every file system has locks.
        Err(_) => {}
    }
    // SAFETY: zeroes are a `flock` that asks about the whole file.
    let mut range: libc::flock = unsafe { std::mem::zeroed() };
    range.l_type = libc::F_WRLCK as _;
    range.l_whence = libc::SEEK_SET as _;
    // SAFETY: the descriptor is open, and the kernel writes a `flock`.
    let code = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_OFD_GETLK, &mut range) };
    code != 0 || range.l_type == libc::F_UNLCK as libc::c_short
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_is_found_by_its_device_and_inode() {
        assert_eq!(locked("fe:00:6211949"), Some((number_of_hex("254:0"), 6211949)));
        assert_eq!(locked("x"), None);
    }

    #[test]
    fn a_process_that_has_a_file_open_is_named_and_our_own_descriptor_is_not() {
        let file = File::open("/proc/self/exe").unwrap();
        let place = Place::of(&file.metadata().unwrap()).unwrap();
        let ours: Vec<String> = open(&[place], &[file.as_raw_fd()]).into_iter().map(|holder| holder.1).collect();
        // The program itself is mapped by this process, descriptor or not.
        let this = format!("process {} ", std::process::id());
        assert!(ours.iter().any(|holder| holder.starts_with(&this)), "{ours:?}");
    }
}
