//! What Windows is asked. Volumes and drives are opened without any right to what is on them, which needs no elevated
//! console; a question that somebody may not ask stays without an answer.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::windows::ffi::OsStrExt;
use std::os::windows::fs::{MetadataExt, OpenOptionsExt};
use std::os::windows::io::AsRawHandle;
use std::path::{Path, PathBuf};
use std::ptr::null_mut;

use windows_sys::Win32::Foundation::HANDLE;
use windows_sys::Win32::Storage::FileSystem::{
    GetDriveTypeW, GetVolumeInformationW, GetVolumeNameForVolumeMountPointW, GetVolumePathNameW,
    FILE_ATTRIBUTE_COMPRESSED, FILE_ATTRIBUTE_ENCRYPTED, FILE_SHARE_DELETE, FILE_SHARE_READ,
    FILE_SHARE_WRITE,
};
use windows_sys::Win32::System::Ioctl::{
    StorageAccessAlignmentProperty, StorageAdapterProperty, StorageAdapterProtocolSpecificProperty,
    StorageDeviceProperty, StorageDeviceProtocolSpecificProperty, StorageDeviceSeekPenaltyProperty,
    StorageDeviceTemperatureProperty, StorageDeviceTrimProperty, StorageDeviceWriteCacheProperty,
    IOCTL_DISK_GET_DRIVE_GEOMETRY_EX, IOCTL_STORAGE_QUERY_PROPERTY, STORAGE_PROPERTY_ID,
};
use windows_sys::Win32::System::SystemServices::FILE_READ_ONLY_VOLUME;
use windows_sys::Win32::System::IO::DeviceIoControl;

use super::descriptor::{self, NvmeData};
use super::{nvme, Drive, Health, Volume};
use crate::sys;

/// `CTL_CODE(IOCTL_VOLUME_BASE, 0, METHOD_BUFFERED, FILE_ANY_ACCESS)`, of ntddvol.h.
const GET_VOLUME_DISK_EXTENTS: u32 = 0x0056_0000;
const DRIVE_REMOTE: u32 = 4;

/// Bytes of the longest answer but those of NVMe drives.
const ANSWER_BYTES: usize = 16 << 10;
/// Letters of the longest path, and of a name.
const PATH_LETTERS: usize = 1 << 15;
const NAME_LETTERS: usize = 261;

/// The volume on which a file or a folder lies.
///
/// # Errors
///
/// Fails where the system does not tell on which one.
pub fn volume(path: &Path) -> io::Result<Volume> {
    let mount = mount_of(path)?;
    let mount_z = wide(Path::new(&mount));
    let (file_system, flags) = file_system(&mount_z);
    // SAFETY: the path ends in 0.
    let is_remote = unsafe { GetDriveTypeW(mount_z.as_ptr()) } == DRIVE_REMOTE;
    let attributes = std::fs::metadata(path).map_or(0, |about| about.file_attributes());
    let options = [
        ("compressed", attributes & FILE_ATTRIBUTE_COMPRESSED != 0),
        ("encrypted", attributes & FILE_ATTRIBUTE_ENCRYPTED != 0),
        ("read-only", flags & FILE_READ_ONLY_VOLUME != 0),
        ("remote", is_remote),
    ];
    let room = sys::room(Path::new(&mount)).ok();
    let source = volume_name(&mount_z);
    let extents = source.as_ref().and_then(|name| {
        let answer = ask(&look_at(Path::new(name)).ok()?, GET_VOLUME_DISK_EXTENTS, &[], ANSWER_BYTES)?;
        Some(descriptor::extents(&answer))
    });
    Ok(Volume {
        file_system,
        mount,
        source,
        options: options.iter().filter(|(_, is_set)| *is_set).map(|(word, _)| *word).collect(),
        bytes: room.map(|(_, total)| total),
        free_bytes: room.map(|(free, _)| free),
        extents: extents.unwrap_or_default(),
    })
}

/// A drive, by the system's number.
///
/// # Errors
///
/// Fails where there is none, or where it cannot be opened.
pub fn drive(number: u32) -> io::Result<Drive> {
    let file = look_at(&path_of(number))?;
    let answer = |property| property_of(&file, property).unwrap_or_default();
    let identity = descriptor::identity(&answer(StorageDeviceProperty));
    let (question, length) = (NvmeData::IdentifyController, nvme::IDENTIFY_BYTES);
    let own = ask_nvme(&file, StorageAdapterProtocolSpecificProperty, question, length)
        .map(|bytes| nvme::identity(&bytes))
        .unwrap_or_default();
    let geometry = ask(&file, IOCTL_DISK_GET_DRIVE_GEOMETRY_EX, &[], ANSWER_BYTES).unwrap_or_default();
    let (bytes, sector) = descriptor::geometry(&geometry);
    let (logical, physical) = descriptor::block_bytes(&answer(StorageAccessAlignmentProperty));
    Ok(Drive {
        number,
        model: own.model.or(identity.model),
        serial: own.serial.or(identity.serial),
        firmware: own.firmware.or(identity.firmware),
        bus: identity.bus.or(own.bus),
        bytes,
        logical_block_bytes: logical.or(sector),
        physical_block_bytes: physical,
        largest_request_bytes: descriptor::largest_request_bytes(&answer(StorageAdapterProperty)),
        rotational: descriptor::flag(&answer(StorageDeviceSeekPenaltyProperty)),
        trims: descriptor::flag(&answer(StorageDeviceTrimProperty)),
        cache: descriptor::write_cache(&answer(StorageDeviceWriteCacheProperty)),
    })
}

/// Temperature and health log of a drive, by the system's number.
///
/// # Errors
///
/// Fails where there is none, or where it cannot be opened.
pub fn health(number: u32) -> io::Result<Health> {
    let file = look_at(&path_of(number))?;
    let (question, length) = (NvmeData::HealthLog, nvme::HEALTH_BYTES);
    let log = ask_nvme(&file, StorageDeviceProtocolSpecificProperty, question, length).unwrap_or_default();
    let sensors = property_of(&file, StorageDeviceTemperatureProperty).unwrap_or_default();
    let temperature = nvme::celsius(&log).or_else(|| descriptor::celsius(&sensors));
    Ok(Health { temperature, log: nvme::health(&log) })
}

fn path_of(number: u32) -> PathBuf {
    format!(r"\\.\PhysicalDrive{number}").into()
}

/// Open what has a name, to ask the system about it and nothing else.
fn look_at(path: &Path) -> io::Result<File> {
    let share = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE;
    OpenOptions::new().access_mode(0).share_mode(share).open(path)
}

/// What the system answers; `None` where it does not.
fn ask(file: &File, code: u32, question: &[u8], length: usize) -> Option<Vec<u8>> {
    let mut answer = vec![0u8; length];
    let (handle, mut came) = (file.as_raw_handle() as HANDLE, 0);
    let (input, output) = (question.as_ptr().cast(), answer.as_mut_ptr().cast());
    let (asked, room) = (question.len() as u32, length as u32);
    // SAFETY: the handle is open and waits for its requests; both buffers are as long as is said, until the call is done.
    let done = unsafe { DeviceIoControl(handle, code, input, asked, output, room, &mut came, null_mut()) };
    answer.truncate(came as usize);
    (done != 0).then_some(answer)
}

fn property_of(file: &File, property: STORAGE_PROPERTY_ID) -> Option<Vec<u8>> {
    // PropertyId, PropertyStandardQuery, and one byte of room, filled up.
    let question = [property as u32, 0, 0].map(u32::to_le_bytes).concat();
    ask(file, IOCTL_STORAGE_QUERY_PROPERTY, &question, ANSWER_BYTES)
}

fn ask_nvme(file: &File, property: STORAGE_PROPERTY_ID, what: NvmeData, length: usize) -> Option<Vec<u8>> {
    let question = descriptor::nvme_question(property as u32, what, length as u32);
    let answer = ask(file, IOCTL_STORAGE_QUERY_PROPERTY, &question, question.len())?;
    descriptor::nvme_answer(&answer, length).map(<[u8]>::to_vec)
}

fn wide(path: &Path) -> Vec<u16> {
    path.as_os_str().encode_wide().chain([0]).collect()
}

/// Up to the 0 that ends it.
fn narrow(letters: &[u16]) -> String {
    let end = letters.iter().position(|letter| *letter == 0).unwrap_or(letters.len());
    String::from_utf16_lossy(&letters[..end])
}

fn mount_of(path: &Path) -> io::Result<String> {
    let path = wide(path);
    let mut mount = vec![0; PATH_LETTERS];
    // SAFETY: the path ends in 0, and the call writes at most as many letters as are said.
    match unsafe { GetVolumePathNameW(path.as_ptr(), mount.as_mut_ptr(), PATH_LETTERS as u32) } {
        0 => Err(io::Error::last_os_error()),
        _ => Ok(narrow(&mount)),
    }
}

/// The volume's own name, without the backslash that would make it its root folder.
fn volume_name(mount: &[u16]) -> Option<String> {
    let mut name = vec![0; NAME_LETTERS];
    // SAFETY: the path ends in 0, and the call writes at most as many letters as are said.
    let done =
        unsafe { GetVolumeNameForVolumeMountPointW(mount.as_ptr(), name.as_mut_ptr(), NAME_LETTERS as u32) };
    (done != 0).then(|| narrow(&name).trim_end_matches('\\').to_string())
}

/// The name of the file system, and its flags.
fn file_system(mount: &[u16]) -> (Option<String>, u32) {
    let (mut name, mut flags, none) = (vec![0; NAME_LETTERS], 0, null_mut());
    let (into, room) = (name.as_mut_ptr(), NAME_LETTERS as u32);
    // SAFETY: the path ends in 0, and the call fills in the flags and at most as many letters as are said.
    let done =
        unsafe { GetVolumeInformationW(mount.as_ptr(), null_mut(), 0, none, none, &mut flags, into, room) };
    let name = Some(narrow(&name)).filter(|name| done != 0 && !name.is_empty());
    (name, if done != 0 { flags } else { 0 })
}
