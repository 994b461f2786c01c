//! Block devices: what one is, and the only way to open one for writing.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{flock, FlockOperation};

use crate::error::{DeviceError, OpenError};
use crate::guard::facts::Device;
use crate::guard::signatures;
use crate::guard::sysfs;
use crate::guard::users;
use crate::handle;
use crate::io::Written;
use crate::io::{RealTarget, Trim};
use crate::sys;

/// How often and after how long it is looked again whether a process has let go of a device.
const LOOKS: u32 = 10;
const BETWEEN: Duration = Duration::from_millis(200);

/// libblkid looks for no RAID on what is as small as a floppy disk.
const MIN_RAID_BYTES: u64 = 4 << 20;

/// Look at a block device.
pub fn inspect(path: &Path) -> Result<Device, OpenError> {
    let handle = find(path)?;
    Ok(look(&handle, path, &[])?)
}

/// The serial number of a block device, and nothing else about it.
pub fn serial_of(path: &Path) -> Result<Option<String>, OpenError> {
    let rdev = find(path)?.metadata().map(|metadata| metadata.rdev());
    Ok(rdev.and_then(sysfs::folder).ok().and_then(|folder| serial(&disk_of(&folder))))
}

/// Open a whole device for writing. `expected_serial` must be its own; nothing may use it; with a signature on it,
/// `wipe_signatures` must be given. What is judged last, with nobody else able to take it, is the descriptor that is
/// written.
pub fn open_device(
    path: &Path,
    expected_serial: &str,
    wipe_signatures: bool,
) -> Result<RealTarget, OpenError> {
    let handle = find(path)?;
    let path = path.to_path_buf();
    let ours = [handle.as_raw_fd()];
    let patient = |file: &File, ours: &[i32]| {
        let mut device = look(file, &path, ours)?;
        for _ in 0..LOOKS {
            if device.users.open.is_empty() || !device.users.lasting.is_empty() {
                break;
            }
            std::thread::sleep(BETWEEN);
            device = look(file, &path, ours)?;
        }
        judge(device, expected_serial, wipe_signatures)
    };
    let device = patient(&handle, &ours)?;
    let open = |of: &File, flags: i32| {
        handle::reopen(of, true, flags).map_err(|source| match source.raw_os_error() {
            Some(libc::EBUSY) => DeviceError::Held { path: path.clone() },
            _ => DeviceError::NotOpened { path: path.clone(), source },
        })
    };
    // O_EXCL on a block device fails while anything holds it, in any mount namespace, and keeps others away.
    let buffered = open(&handle, libc::O_EXCL)?;
    // udev does not look at a device that is locked.
    if flock(&buffered, FlockOperation::NonBlockingLockExclusive).is_err() {
        return Err(DeviceError::Locked { path }.into());
    }
    let again = patient(&buffered, &ours)?;
    if again.serial != device.serial || again.bytes != device.bytes || again.name != device.name {
        return Err(DeviceError::Changed { path }.into());
    }
    let direct = open(&buffered, libc::O_DIRECT)?;
    if wipe_signatures {
        signatures::wipe(&buffered, device.bytes)
            .map_err(|source| DeviceError::NotWiped { path: path.clone(), source })?;
    }
    let block = device.logical_block;
    Ok(RealTarget::new(Some(direct), buffered, Trim::Discard, device.bytes, block, Written::unknown()))
}

/// What must be so before anything is written.
fn judge(device: Device, expected_serial: &str, wipe_signatures: bool) -> Result<Device, DeviceError> {
    let path = device.path.clone();
    if device.is_partition {
        return Err(DeviceError::Partition { path });
    }
    if device.bytes == 0 {
        return Err(DeviceError::NoMedium { path });
    }
    if device.bytes < MIN_RAID_BYTES {
        return Err(DeviceError::TooSmall { path, bytes: device.bytes });
    }
    match &device.serial {
        Some(serial) if serial == expected_serial => {}
        Some(_) => {
            return Err(DeviceError::WrongSerial { path, expected_serial: expected_serial.to_string() })
        }
        None => return Err(DeviceError::NoSerial { path }),
    }
    if !device.users.is_empty() {
        return Err(DeviceError::InUse { path, users: device.users.sentences() });
    }
    match device.signatures {
        Err(source) if source.kind() == io::ErrorKind::NotFound => {
            Err(DeviceError::NoLibblkid { path, source })
        }
        Err(source) => Err(DeviceError::ContentUnknown { path, source }),
        Ok(signatures) if !signatures.is_empty() && !wipe_signatures => {
            Err(DeviceError::HasSignatures { path, signatures })
        }
        Ok(_) => Ok(device),
    }
}

/// Find a block device, without opening it.
fn find(path: &Path) -> Result<File, DeviceError> {
    let entry = handle::find(path, true).and_then(|file| Ok((file.metadata()?.file_type(), file)));
    let (kind, file) = entry.map_err(|source| DeviceError::NotFound { path: path.to_path_buf(), source })?;
    match kind.is_block_device() {
        true => Ok(file),
        false => Err(DeviceError::NotBlockDevice { path: path.to_path_buf(), kind: sys::kind(&kind) }),
    }
}

/// What `device` is, which is open, or found only. Descriptors in `ours` are no users.
fn look(device: &File, path: &Path, ours: &[i32]) -> Result<Device, DeviceError> {
    let failed = |source| DeviceError::NotDescribed { path: path.to_path_buf(), source };
    let rdev = device.metadata().map_err(failed)?.rdev();
    let folder = sysfs::folder(rdev).map_err(failed)?;
    let disk = disk_of(&folder);
    let name = sysfs::file_name(&folder);
    let bytes = sysfs::number(&folder.join("size")).unwrap_or(0) * 512;
    let mut ours = ours.to_vec();
    ours.push(device.as_raw_fd());
    // What was only found is opened to be read; the descriptor to be written is read itself.
    let is_path_only =
        rustix::fs::fcntl_getfl(device).is_ok_and(|flags| flags.contains(rustix::fs::OFlags::PATH));
    let opened =
        if is_path_only { handle::reopen(device, false, libc::O_NONBLOCK).map(Some) } else { Ok(None) };
    let read = opened.as_ref().map(|opened| opened.as_ref().unwrap_or(device));
    Ok(Device {
        path: path.to_path_buf(),
        bytes,
        logical_block: sysfs::number(&disk.join("queue/logical_block_size")).unwrap_or(512) as u32,
        serial: serial(&disk),
        is_partition: folder.join("partition").exists(),
        users: users::of(read.unwrap_or(device), &name, &ours),
        signatures: match read {
            Ok(file) => signatures::find(file, bytes),
            Err(error) => Err(io::Error::new(io::ErrorKind::PermissionDenied, error.to_string())),
        },
        name,
    })
}

/// The disk of a partition, or itself.
fn disk_of(folder: &Path) -> PathBuf {
    match (folder.join("partition").exists(), folder.parent()) {
        (true, Some(disk)) => disk.to_path_buf(),
        _ => folder.to_path_buf(),
    }
}

/// NVMe, virtio and SCSI say it in different places; a loop device is known by its file.
fn serial(disk: &Path) -> Option<String> {
    let text = |name: &str| sysfs::text(&disk.join(name));
    text("loop/backing_file").or_else(|| text("device/serial")).or_else(|| text("serial")).or_else(|| {
        // Page 0x80 of the vital product data: four bytes of header, then the number.
        let page = std::fs::read(disk.join("device/vpd_pg80")).ok()?;
        let text = String::from_utf8_lossy(page.get(4..)?).trim().to_string();
        (!text.is_empty()).then_some(text)
    })
}
