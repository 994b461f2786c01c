//! Block devices: what one is, and the only way to open one for writing.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileExt, FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use pslc_load::Target;
use rustix::fs::{flock, FlockOperation};

use crate::error::{DeviceError, OpenError};
use crate::guard::content;
use crate::guard::facts::Device;
use crate::guard::rights;
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

/// Files of sysfs that tell which device one is.
const SERIALS: [&str; 5] = ["loop/backing_file", "device/serial", "serial", "dm/uuid", "md/uuid"];
/// A file or folder that a device with descriptors has, of USB and UFS, and where its serial number is.
const DESCRIPTORS: [(&str, &str); 2] =
    [("idVendor", "serial"), ("string_descriptors", "string_descriptors/serial_number")];
/// Linux's word for an empty descriptor of a UFS drive.
const NO_STRING: &str = "(null)";
/// Of an array without a superblock.
const NO_UUID: &str = "00000000-0000-0000-0000-000000000000";

/// Descriptors that looking at a device takes: its own, /proc, the folder of a process, a file; as many to spare.
const AT_ONCE: usize = 8;

/// libblkid looks for no RAID on what is as small as a floppy disk.
const MIN_RAID_BYTES: u64 = 4 << 20;

/// Look at a block device.
pub fn inspect(path: &Path) -> Result<Device, OpenError> {
    let handle = find(path)?;
    Ok(look(&handle, path, &[])?)
}

/// The serial number of a block device, and nothing else about it.
pub fn serial_of(path: &Path) -> Result<Option<String>, OpenError> {
    let device = find(path)?;
    enough_descriptors(&device, path)?;
    let rdev = device.metadata().map(|metadata| metadata.rdev());
    Ok(rdev.and_then(sysfs::folder).ok().and_then(|folder| serial(&disk_of(&folder))))
}

/// Whether `open_device` would open a device, which is not written to.
pub fn check_device(path: &Path, expected_serial: &str, may_hold_data: bool) -> Result<(), OpenError> {
    let handle = find(path)?;
    approve(&handle, path, &[handle.as_raw_fd()], expected_serial, may_hold_data)?;
    open(&handle, path, false, libc::O_EXCL)?;
    Ok(())
}

/// Open a whole device for writing. `expected_serial` must be its own; nothing may use it; with data on it,
/// `may_hold_data` must be given. What is judged last, with nobody else able to take it, is the descriptor that is
/// written.
pub fn open_device(path: &Path, expected_serial: &str, may_hold_data: bool) -> Result<RealTarget, OpenError> {
    let handle = find(path)?;
    let ours = [handle.as_raw_fd()];
    let device = approve(&handle, path, &ours, expected_serial, may_hold_data)?;
    // O_EXCL on a block device fails while anything holds it, in any mount namespace, and keeps others away.
    let buffered = open(&handle, path, true, libc::O_EXCL)?;
    let path = path.to_path_buf();
    // udev does not look at a device that is locked.
    if flock(&buffered, FlockOperation::NonBlockingLockExclusive).is_err() {
        return Err(DeviceError::Locked { path }.into());
    }
    let again = approve(&buffered, &path, &ours, expected_serial, may_hold_data)?;
    if again.serial != device.serial || again.bytes != device.bytes || again.name != device.name {
        return Err(DeviceError::Changed { path }.into());
    }
    let direct = open(&buffered, &path, true, libc::O_DIRECT)?;
    let block = device.logical_block;
    Ok(RealTarget::new(Some(direct), buffered, Trim::Discard, device.bytes, block, Written::unknown()))
}

/// Zero both ends of an open device, and each label that is still known then.
pub fn wipe(device: &RealTarget, path: &Path) -> Result<(), OpenError> {
    let failed = |source| DeviceError::NotWiped { path: path.to_path_buf(), source };
    Ok(signatures::wipe(device.buffered(), device.capacity_bytes()).map_err(failed)?)
}

/// Open what was found for reading, or for writing too.
fn open(handle: &File, path: &Path, write: bool, flags: i32) -> Result<File, DeviceError> {
    handle::reopen(handle, write, flags).map_err(|source| match source.raw_os_error() {
        Some(libc::EBUSY) => DeviceError::Held { path: path.to_path_buf() },
        _ => DeviceError::NotOpened { path: path.to_path_buf(), source },
    })
}

/// Look at a device and judge it; patiently, where a process has it open that may let it go.
fn approve(
    device: &File,
    path: &Path,
    ours: &[i32],
    expected_serial: &str,
    may_hold_data: bool,
) -> Result<Device, DeviceError> {
    let mut looked = look(device, path, ours)?;
    for _ in 0..LOOKS {
        if looked.users.open.is_empty() || !looked.users.lasting.is_empty() {
            break;
        }
        std::thread::sleep(BETWEEN);
        looked = look(device, path, ours)?;
    }
    judge(looked, expected_serial, may_hold_data)
}

/// What must be so before anything is written.
fn judge(device: Device, expected_serial: &str, may_hold_data: bool) -> Result<Device, DeviceError> {
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
    if let Some(refusal) = device.refusal {
        return Err(refusal);
    }
    match &device.serial {
        Some(serial) if serial == expected_serial => {}
        Some(_) => return Err(DeviceError::WrongSerial { path, expected_serial: expected_serial.to_string() }),
        None => return Err(DeviceError::NoSerial { path }),
    }
    if !device.users.is_empty() {
        return Err(DeviceError::InUse { path, users: device.users.sentences() });
    }
    match device.signatures {
        Err(source) if source.kind() == io::ErrorKind::NotFound => Err(DeviceError::NoLibblkid { path, source }),
        Err(source) => Err(DeviceError::ContentUnknown { path, source }),
        Ok(signatures) if !signatures.is_empty() && !may_hold_data => {
            Err(DeviceError::HasSignatures { path, signatures })
        }
        Ok(_) => Ok(device),
    }
}

/// Find a block device, without opening it.
fn find(path: &Path) -> Result<File, DeviceError> {
    let entry = handle::find(path, true).and_then(|file| Ok((file.metadata()?.file_type(), file)));
    let (kind, file) = entry.map_err(|source| DeviceError::NotFound { path: path.to_path_buf(), source })?;
    if kind.is_block_device() {
        Ok(file)
    } else {
        Err(DeviceError::NotBlockDevice { path: path.to_path_buf(), kind: sys::kind(&kind) })
    }
}

/// Refuse to look with fewer descriptors than that opens at once: what cannot be opened would count as not there.
fn enough_descriptors(device: &File, path: &Path) -> Result<(), DeviceError> {
    let copies: io::Result<Vec<File>> = (0..AT_ONCE).map(|_| device.try_clone()).collect();
    copies.map(drop).map_err(|source| DeviceError::NotDescribed { path: path.to_path_buf(), source })
}

/// What `device` is, which is open, or found only. Descriptors in `ours` are no users.
fn look(device: &File, path: &Path, ours: &[i32]) -> Result<Device, DeviceError> {
    enough_descriptors(device, path)?;
    let failed = |source| DeviceError::NotDescribed { path: path.to_path_buf(), source };
    let rdev = device.metadata().map_err(failed)?.rdev();
    let folder = sysfs::folder(rdev).map_err(failed)?;
    let disk = disk_of(&folder);
    let name = sysfs::file_name(&folder);
    let bytes = sysfs::number(&folder.join("size")).unwrap_or(0) * 512;
    let mut ours = ours.to_vec();
    ours.push(device.as_raw_fd());
    // What was only found is opened to be read; the descriptor to be written is read itself.
    let is_path_only = rustix::fs::fcntl_getfl(device).is_ok_and(|flags| flags.contains(rustix::fs::OFlags::PATH));
    let opened = if is_path_only { handle::reopen(device, false, libc::O_NONBLOCK).map(Some) } else { Ok(None) };
    let read = opened.as_ref().map(|opened| opened.as_ref().unwrap_or(device));
    Ok(Device {
        path: path.to_path_buf(),
        bytes,
        logical_block: sysfs::number(&disk.join("queue/logical_block_size")).unwrap_or(512) as u32,
        serial: serial(&disk),
        is_partition: folder.join("partition").exists(),
        refusal: rights::refusal(device, path).or_else(|| {
            let is_read_only = sysfs::number(&folder.join("ro")) == Some(1);
            is_read_only.then(|| DeviceError::ReadOnly { path: path.to_path_buf() })
        }),
        users: users::of(read.unwrap_or(device), &name, &ours),
        signatures: match read {
            Ok(file) => signatures::find(file, bytes).and_then(|labels| {
                if labels.is_empty() {
                    data_on(file, bytes)
                } else {
                    Ok(labels)
                }
            }),
            Err(error) => Err(io::Error::new(io::ErrorKind::PermissionDenied, error.to_string())),
        },
        name,
    })
}

/// What is on a device of which libblkid knows nothing; nothing where no drive is so small.
fn data_on(device: &File, bytes: u64) -> io::Result<Vec<String>> {
    if bytes < MIN_RAID_BYTES {
        return Ok(Vec::new());
    }
    let mut memory = vec![0; content::SAMPLE_BYTES as usize];
    content::find(bytes, &mut memory, &mut |offset, into| device.read_exact_at(into, offset))
}

/// The disk of a partition, or itself.
fn disk_of(folder: &Path) -> PathBuf {
    match (folder.join("partition").exists(), folder.parent()) {
        (true, Some(disk)) => disk.to_path_buf(),
        _ => folder.to_path_buf(),
    }
}

/// NVMe, virtio and SCSI say it in different places; a loop device is known by its file, a device of dm or md by its UUID.
fn serial(disk: &Path) -> Option<String> {
    let text = |name: &str| sysfs::text(&disk.join(name));
    let stated = SERIALS.iter().find_map(|name| text(name)).filter(|serial| serial != NO_UUID);
    let stated = stated.or_else(|| {
        // Page 0x80 of the vital product data: four bytes of header, then the number.
        let page = std::fs::read(disk.join("device/vpd_pg80")).ok()?;
        let text = String::from_utf8_lossy(page.get(4..)?).trim().to_string();
        (!text.is_empty()).then_some(text)
    });
    stated.or_else(|| serial_of_one_unit(&disk.join("device").canonicalize().ok()?))
}

/// The number of a stick or a UFS drive is in the descriptors of the device or of its host controller; where several units
/// (the slots of a card reader, a phone's logical units) share it, it names none of them. Well-known units hold no data.
fn serial_of_one_unit(unit: &Path) -> Option<String> {
    let units = unit.parent()?.read_dir().ok()?.flatten();
    if units.filter(|entry| entry.path().join("block").exists()).count() != 1 {
        return None;
    }
    let (device, name) = unit.ancestors().find_map(|folder| {
        DESCRIPTORS.iter().find(|(mark, _)| folder.join(mark).exists()).map(|&(_, name)| (folder, name))
    })?;
    sysfs::text(&device.join(name)).filter(|serial| serial != NO_STRING)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_of_dm_or_md_is_known_by_its_uuid() {
        let disk = std::env::temp_dir().join(format!("pslc-uuid-{}", std::process::id()));
        let with = |name: &str, text: &str| {
            std::fs::create_dir_all(disk.join(name).parent().unwrap()).unwrap();
            std::fs::write(disk.join(name), format!("{text}\n")).unwrap();
            let read = serial(&disk);
            std::fs::remove_dir_all(&disk).unwrap();
            read
        };
        assert_eq!(with("dm/uuid", "CRYPT-LUKS2-1").as_deref(), Some("CRYPT-LUKS2-1"));
        assert_eq!(with("md/uuid", "9d6ac3d4-1").as_deref(), Some("9d6ac3d4-1"));
        assert_eq!(with("md/uuid", NO_UUID), None);
        assert_eq!(with("dm/uuid", ""), None);
    }

    #[test]
    fn a_stick_or_a_ufs_drive_is_known_by_its_descriptor_and_a_unit_of_several_by_nothing() {
        let usb = std::env::temp_dir().join(format!("pslc-usb-{}", std::process::id()));
        let target = usb.join("1-1:1.0/host2/target2:0:0");
        let disk = target.join("2:0:0:0/block/sda");
        std::fs::create_dir_all(&disk).unwrap();
        std::os::unix::fs::symlink("../..", disk.join("device")).unwrap();
        std::fs::create_dir(target.join("power")).unwrap();
        let with = |name: &str, text: &str| {
            std::fs::write(usb.join(name), text).unwrap();
            serial(&disk)
        };
        assert_eq!(with("serial", "4C5300\n"), None);
        assert_eq!(with("idVendor", "0781\n").as_deref(), Some("4C5300"));
        assert_eq!(with("serial", "\n"), None);
        assert_eq!(with("serial", "4C5300\n").as_deref(), Some("4C5300"));
        std::fs::create_dir(target.join("2:0:0:49488")).unwrap();
        assert_eq!(serial(&disk).as_deref(), Some("4C5300"));
        std::fs::remove_file(usb.join("idVendor")).unwrap();
        std::fs::create_dir(usb.join("string_descriptors")).unwrap();
        assert_eq!(with("string_descriptors/serial_number", "QM00042\n").as_deref(), Some("QM00042"));
        assert_eq!(with("string_descriptors/serial_number", "(null)\n"), None);
        std::fs::create_dir_all(target.join("2:0:0:1/block/sdb")).unwrap();
        assert_eq!(with("string_descriptors/serial_number", "QM00042\n"), None);
        std::fs::remove_dir_all(&usb).unwrap();
    }
}
