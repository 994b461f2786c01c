//! What Windows is asked. Volumes and drives are opened without any right to what is on them, which needs no elevated
//! console; a question that somebody may not ask stays without an answer.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::windows::ffi::OsStrExt;
use std::os::windows::fs::{MetadataExt, OpenOptionsExt};
use std::os::windows::io::AsHandle;
use std::path::{Path, PathBuf};
use std::ptr::null_mut;

use windows_sys::Win32::Foundation::{ERROR_NO_MORE_FILES, INVALID_HANDLE_VALUE};
use windows_sys::Win32::Storage::FileSystem::{
    FindFirstVolumeW, FindNextVolumeW, FindVolumeClose, GetDriveTypeW, GetVolumeInformationW,
    GetVolumeNameForVolumeMountPointW, GetVolumePathNameW, GetVolumePathNamesForVolumeNameW, FILE_ATTRIBUTE_COMPRESSED,
    FILE_ATTRIBUTE_ENCRYPTED, FILE_SHARE_DELETE, FILE_SHARE_READ, FILE_SHARE_WRITE,
};
use windows_sys::Win32::System::Ioctl::{
    StorageAccessAlignmentProperty, StorageAdapterProperty, StorageAdapterProtocolSpecificProperty,
    StorageDeviceProperty, StorageDeviceProtocolSpecificProperty, StorageDeviceSeekPenaltyProperty,
    StorageDeviceTemperatureProperty, StorageDeviceTrimProperty, StorageDeviceWriteCacheProperty,
    IOCTL_DISK_GET_DRIVE_GEOMETRY_EX, IOCTL_STORAGE_GET_DEVICE_NUMBER, IOCTL_STORAGE_QUERY_PROPERTY,
    STORAGE_PROPERTY_ID,
};
use windows_sys::Win32::System::SystemInformation::GetSystemWindowsDirectoryW;
use windows_sys::Win32::System::SystemServices::FILE_READ_ONLY_VOLUME;

use super::descriptor::{self, NvmeData, Place};
use super::{nvme, Drive, Health, Volume, VolumeDrives};
use crate::sys;

/// `CTL_CODE(IOCTL_VOLUME_BASE, 0, METHOD_BUFFERED, FILE_ANY_ACCESS)`, of ntddvol.h.
const GET_VOLUME_DISK_EXTENTS: u32 = 0x0056_0000;
const DRIVE_REMOTE: u32 = 4;

/// Bytes of the longest answer: a drive with as many partitions as a GPT has room for.
const ANSWER_BYTES: usize = 32 << 10;
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
    let extents = source.as_ref().and_then(|name| extents(&look_at(Path::new(name)).ok()?));
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

fn extents(volume: &File) -> Option<Vec<descriptor::Extent>> {
    descriptor::extents(&ask(volume, GET_VOLUME_DISK_EXTENTS, &[]).ok()?)
}

/// Each volume of the system, mounted or not.
///
/// # Errors
///
/// Fails where the system does not count them up to the last.
pub fn volumes() -> io::Result<Vec<VolumeDrives>> {
    let mut letters = vec![0; NAME_LETTERS];
    // SAFETY: the call writes at most as many letters as are said.
    let search = unsafe { FindFirstVolumeW(letters.as_mut_ptr(), NAME_LETTERS as u32) };
    if search == INVALID_HANDLE_VALUE {
        return Err(io::Error::last_os_error());
    }
    let mut volumes = Vec::new();
    let end = loop {
        volumes.push(volume_drives(&narrow(&letters)));
        // SAFETY: the search goes on, and the call writes at most as many letters as are said.
        if unsafe { FindNextVolumeW(search, letters.as_mut_ptr(), NAME_LETTERS as u32) } == 0 {
            break io::Error::last_os_error();
        }
    };
    // SAFETY: the search is over.
    unsafe { FindVolumeClose(search) };
    match end.raw_os_error() {
        Some(code) if code == ERROR_NO_MORE_FILES as i32 => Ok(volumes),
        _ => Err(end),
    }
}

/// On which drives the volume lies whose root folder is `root`. What has no extents may still be of one drive, as the
/// slot of a card reader is, or of none, as a disc.
fn volume_drives(root: &str) -> VolumeDrives {
    let volume = look_at(Path::new(root.trim_end_matches('\\'))).ok();
    let of_extents = volume.as_ref().and_then(extents).filter(|extents| !extents.is_empty());
    let of_extents = of_extents.map(|extents| extents.iter().map(|extent| extent.drive).collect());
    let drives = of_extents.or_else(|| match place(volume.as_ref()?)? {
        Place::Drive(number) => Some(vec![number]),
        Place::Disc => Some(Vec::new()),
    });
    VolumeDrives { name: mount_point(root).unwrap_or_else(|| root.to_string()), drives }
}

/// The drives that Windows itself lies on.
pub(crate) fn drives_of_system() -> Option<Vec<u32>> {
    let mut folder = vec![0; PATH_LETTERS];
    // SAFETY: the call writes at most as many letters as are said.
    let length = unsafe { GetSystemWindowsDirectoryW(folder.as_mut_ptr(), PATH_LETTERS as u32) } as usize;
    let folder = narrow(folder.get(..length).filter(|folder| !folder.is_empty())?);
    let root = volume(Path::new(&folder)).ok()?.source? + r"\";
    volume_drives(&root).drives.filter(|drives| !drives.is_empty())
}

/// Which drive a handle leads to.
pub(crate) fn place(file: &File) -> Option<Place> {
    descriptor::place(&ask(file, IOCTL_STORAGE_GET_DEVICE_NUMBER, &[]).ok()?)
}

/// A drive, by the system's number.
///
/// # Errors
///
/// Fails where there is none, or where it cannot be opened.
pub fn drive(number: u32) -> io::Result<Drive> {
    Ok(describe(&look_at(&path_of(number))?, number))
}

/// The drive that is open.
pub(crate) fn describe(file: &File, number: u32) -> Drive {
    let answer = |property| property_of(file, property).unwrap_or_default();
    let properties = answer(StorageDeviceProperty);
    let identity = descriptor::identity(&properties);
    let (question, length) = (NvmeData::IdentifyController, nvme::IDENTIFY_BYTES);
    let own = ask_nvme(file, StorageAdapterProtocolSpecificProperty, question, length)
        .map(|bytes| nvme::identity(&bytes))
        .unwrap_or_default();
    let geometry = ask(file, IOCTL_DISK_GET_DRIVE_GEOMETRY_EX, &[]).unwrap_or_default();
    let (bytes, sector) = descriptor::geometry(&geometry);
    let (logical, physical) = descriptor::block_bytes(&answer(StorageAccessAlignmentProperty));
    Drive {
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
        removable: descriptor::removable(&properties),
    }
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

pub(crate) fn path_of(number: u32) -> PathBuf {
    format!(r"\\.\PhysicalDrive{number}").into()
}

/// Open what has a name, to ask the system about it and nothing else.
pub(crate) fn look_at(path: &Path) -> io::Result<File> {
    let share = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE;
    OpenOptions::new().access_mode(0).share_mode(share).open(path)
}

/// What the system answers, which has at most `ANSWER_BYTES`.
pub(crate) fn ask(file: &File, code: u32, question: &[u8]) -> io::Result<Vec<u8>> {
    ask_for(file, code, question, ANSWER_BYTES)
}

fn ask_for(file: &File, code: u32, question: &[u8], length: usize) -> io::Result<Vec<u8>> {
    let mut answer = vec![0; length];
    let came = sys::control(file.as_handle(), code, question, &mut answer)?;
    answer.truncate(came);
    Ok(answer)
}

fn property_of(file: &File, property: STORAGE_PROPERTY_ID) -> Option<Vec<u8>> {
    // PropertyId, PropertyStandardQuery, and one byte of room, filled up.
    let question = [property as u32, 0, 0].map(u32::to_le_bytes).concat();
    ask(file, IOCTL_STORAGE_QUERY_PROPERTY, &question).ok()
}

fn ask_nvme(file: &File, property: STORAGE_PROPERTY_ID, what: NvmeData, length: usize) -> Option<Vec<u8>> {
    let question = descriptor::nvme_question(property as u32, what, length as u32);
    let answer = ask_for(file, IOCTL_STORAGE_QUERY_PROPERTY, &question, question.len()).ok()?;
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
    let done = unsafe { GetVolumeNameForVolumeMountPointW(mount.as_ptr(), name.as_mut_ptr(), NAME_LETTERS as u32) };
    (done != 0).then(|| narrow(&name).trim_end_matches('\\').to_string())
}

/// Where a volume is mounted first, by the name of its root folder: `D:\`.
fn mount_point(root: &str) -> Option<String> {
    let (root, mut mounts, mut length) = (wide(Path::new(root)), vec![0; PATH_LETTERS], 0);
    let (into, room) = (mounts.as_mut_ptr(), PATH_LETTERS as u32);
    // SAFETY: the name ends in 0, and the call writes at most as many letters as are said.
    let done = unsafe { GetVolumePathNamesForVolumeNameW(root.as_ptr(), into, room, &mut length) };
    Some(narrow(&mounts)).filter(|mount| done != 0 && !mount.is_empty())
}

/// The name of the file system, and its flags.
fn file_system(mount: &[u16]) -> (Option<String>, u32) {
    let (mut name, mut flags, none) = (vec![0; NAME_LETTERS], 0, null_mut());
    let (into, room) = (name.as_mut_ptr(), NAME_LETTERS as u32);
    // SAFETY: the path ends in 0, and the call fills in the flags and at most as many letters as are said.
    let done = unsafe { GetVolumeInformationW(mount.as_ptr(), null_mut(), 0, none, none, &mut flags, into, room) };
    let name = Some(narrow(&name)).filter(|name| done != 0 && !name.is_empty());
    (name, if done != 0 { flags } else { 0 })
}
