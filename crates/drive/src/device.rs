//! Block devices: what one is, who uses it, and the only way to open one for writing.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{major, minor};

use crate::error::OpenError;
use crate::signatures;
use crate::target::{RealTarget, Trim};
use crate::written::Written;

/// A whole block device, as the system describes it. Looking at it writes nothing.
#[derive(Clone, Debug)]
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
    /// Who uses it or a part of it, a sentence each.
    pub users: Vec<String>,
    /// File systems, partition tables and the like on it; `None`: it cannot be read.
    pub signatures: Option<Vec<&'static str>>,
}

/// Look at a block device.
pub fn inspect(path: &Path) -> Result<Device, OpenError> {
    let refused = |what: String| OpenError::new(what, "pslc probe shows what a path is");
    let metadata = fs::metadata(path).map_err(|error| refused(format!("{}: {error}", path.display())))?;
    if !metadata.file_type().is_block_device() {
        return Err(refused(format!("{} is no block device", path.display())));
    }
    let sys = sysfs(metadata.rdev()).map_err(|error| refused(format!("{}: {error}", path.display())))?;
    let bytes = number(&sys.join("size")).unwrap_or(0) * 512;
    let is_partition = sys.join("partition").exists();
    let disk = if is_partition { sys.parent().unwrap_or(&sys).to_path_buf() } else { sys.clone() };
    let signatures = File::open(path).and_then(|file| signatures::find(&file, bytes)).ok();
    Ok(Device {
        path: path.to_path_buf(),
        name: file_name(&sys),
        bytes,
        logical_block: number(&disk.join("queue/logical_block_size")).unwrap_or(512) as u32,
        serial: serial(&disk),
        is_partition,
        users: users(&sys, metadata.rdev()),
        signatures,
    })
}

/// Open a whole device for writing. `serial` must be its own; nothing may use it; with a signature on it,
/// `wipe_signatures` must be given.
pub fn open_device(path: &Path, given: &str, wipe_signatures: bool) -> Result<RealTarget, OpenError> {
    let device = inspect(path)?;
    let shown = path.display();
    if device.is_partition {
        let hint = "give the whole drive; partitions are not measured";
        return Err(OpenError::new(format!("{shown} is a partition"), hint));
    }
    if device.bytes == 0 {
        return Err(OpenError::new(format!("{shown} has no medium (0 bytes)"), "is the drive still there?"));
    }
    match &device.serial {
        Some(serial) if serial == given => {}
        Some(_) => {
            return Err(OpenError::new(
                format!("{shown}: the serial number given, {given}, is not that of this drive"),
                format!("pslc probe {shown} shows it; make sure that this is the drive to be erased"),
            ))
        }
        None => {
            let what =
                format!("{shown}: the system does not tell its serial number, so it cannot be confirmed");
            return Err(OpenError::new(what, "measure on a file on it instead: --on FILE --size 20GB"));
        }
    }
    if !device.users.is_empty() {
        return Err(OpenError::new(
            format!("{shown} is in use:\n  {}", device.users.join("\n  ")),
            "unmount, swapoff or stop what uses it; nothing was written",
        ));
    }
    match &device.signatures {
        None => {
            let what = format!("{shown} cannot be read, so what it holds is unknown");
            return Err(OpenError::new(what, "this takes the rights of root; nothing was written"));
        }
        Some(found) if !found.is_empty() && !wipe_signatures => {
            return Err(OpenError::new(
                format!("{shown} holds something:\n  {}", found.join("\n  ")),
                "if all of it may be lost, give --wipe-signatures as well; nothing was written",
            ))
        }
        Some(_) => {}
    }
    let open = |flags: i32| {
        OpenOptions::new().read(true).write(true).custom_flags(flags).open(path).map_err(|error| {
            let why = match error.raw_os_error() {
                Some(libc::EBUSY) => "something has it open for itself".to_string(),
                _ => error.to_string(),
            };
            OpenError::new(format!("{shown}: {why}"), "nothing was written")
        })
    };
    // O_EXCL on a block device fails while anything holds it, in any mount namespace, and keeps others away.
    let direct = open(libc::O_EXCL | libc::O_DIRECT)?;
    let rdev = direct.metadata().map(|metadata| metadata.rdev());
    if rdev.ok() != fs::metadata(path).ok().map(|metadata| metadata.rdev()) {
        return Err(OpenError::new(format!("{shown} changed while it was looked at"), "try again"));
    }
    let again = inspect(path)?;
    if again.serial != device.serial || again.bytes != device.bytes {
        return Err(OpenError::new(format!("{shown} changed while it was looked at"), "try again"));
    }
    let buffered = open(0)?;
    if wipe_signatures {
        let failed = |error: io::Error| OpenError::new(format!("{shown}: {error}"), "is the drive failing?");
        signatures::wipe(&buffered, device.bytes).map_err(failed)?;
    }
    let block = device.logical_block;
    Ok(RealTarget::new(Some(direct), buffered, Trim::Discard, device.bytes, block, Written::unknown()))
}

/// The folder of a device in sysfs.
fn sysfs(rdev: u64) -> io::Result<PathBuf> {
    fs::canonicalize(format!("/sys/dev/block/{}:{}", major(rdev), minor(rdev)))
}

fn text(path: &Path) -> Option<String> {
    let bytes = fs::read(path).ok()?;
    let text: String =
        bytes.iter().map(|&byte| byte as char).filter(|c| c.is_ascii_graphic() || *c == ' ').collect();
    Some(text.trim().to_string()).filter(|text| !text.is_empty())
}

fn number(path: &Path) -> Option<u64> {
    text(path)?.parse().ok()
}

fn file_name(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// NVMe, virtio and SCSI say it in different places; a loop device is known by its file.
fn serial(disk: &Path) -> Option<String> {
    let backing = text(&disk.join("loop/backing_file"));
    backing.or_else(|| text(&disk.join("device/serial"))).or_else(|| text(&disk.join("serial"))).or_else(
        || {
            // Page 0x80 of the vital product data: four bytes of header, then the number.
            let page = fs::read(disk.join("device/vpd_pg80")).ok()?;
            let text = String::from_utf8_lossy(page.get(4..)?).trim().to_string();
            (!text.is_empty()).then_some(text)
        },
    )
}

/// A device and its partitions, each with its device number.
fn parts(sys: &Path, rdev: u64) -> Vec<(PathBuf, String)> {
    let mut found = vec![(sys.to_path_buf(), format!("{}:{}", major(rdev), minor(rdev)))];
    for entry in fs::read_dir(sys).into_iter().flatten().flatten() {
        if entry.path().join("partition").exists() {
            found.push((entry.path(), text(&entry.path().join("dev")).unwrap_or_default()));
        }
    }
    found
}

fn users(sys: &Path, rdev: u64) -> Vec<String> {
    let parts = parts(sys, rdev);
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    let swaps = fs::read_to_string("/proc/swaps").unwrap_or_default();
    let mut found = Vec::new();
    for (path, number) in &parts {
        let name = file_name(path);
        for line in mounts.lines() {
            let fields: Vec<&str> = line.split(' ').collect();
            // A file system may report a number of its own (btrfs); its source still names the device.
            let source = line.split(" - ").nth(1).and_then(|rest| rest.split(' ').nth(1));
            let same = fields.get(2) == Some(&number.as_str())
                || source.is_some_and(|source| device_number(source).as_ref() == Some(number));
            if let (true, Some(at)) = (same, fields.get(4)) {
                found.push(format!("{name} is mounted at {at}"));
            }
        }
        for line in swaps.lines().skip(1) {
            let source = line.split_whitespace().next().unwrap_or("");
            if device_number(source).as_ref() == Some(number) {
                found.push(format!("{name} is swap space"));
            }
        }
        for holder in fs::read_dir(path.join("holders")).into_iter().flatten().flatten() {
            let holder = holder.path();
            let mapped = text(&holder.join("dm/name")).map(|name| format!(" ({name})")).unwrap_or_default();
            found.push(format!("{name} is held by {}{mapped}", file_name(&holder)));
        }
        for entry in fs::read_dir("/sys/block").into_iter().flatten().flatten() {
            let backing = text(&entry.path().join("loop/backing_file"));
            if backing.and_then(|backing| device_number(&backing)).as_ref() == Some(number) {
                found.push(format!("{name} is behind {}", file_name(&entry.path())));
            }
        }
    }
    found.dedup();
    found
}

/// `major:minor` of a block device by its path.
fn device_number(path: &str) -> Option<String> {
    let metadata = fs::metadata(path).ok()?;
    let rdev = metadata.rdev();
    metadata.file_type().is_block_device().then(|| format!("{}:{}", major(rdev), minor(rdev)))
}
