//! Whole drives on Windows: what one is, and the only way to open one for writing.
//!
//! A handle that shares the drive with nobody shows that nobody else has it open. The handles that are written share it,
//! for each worker has its own: Windows cannot keep others out then.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::windows::fs::OpenOptionsExt;
use std::os::windows::io::AsHandle;
use std::path::Path;
use std::time::Duration;

use windows_sys::Win32::Foundation::{ERROR_ACCESS_DENIED, ERROR_SHARING_VIOLATION, GENERIC_READ, GENERIC_WRITE};
use windows_sys::Win32::Storage::FileSystem::{
    FILE_FLAG_NO_BUFFERING, FILE_FLAG_OVERLAPPED, FILE_SHARE_DELETE, FILE_SHARE_READ, FILE_SHARE_WRITE,
};
use windows_sys::Win32::System::Ioctl::{
    IOCTL_DISK_GET_DISK_ATTRIBUTES, IOCTL_DISK_GET_DRIVE_LAYOUT_EX, IOCTL_DISK_GET_LENGTH_INFO,
    IOCTL_DISK_UPDATE_PROPERTIES,
};

use crate::error::{DeviceError, OpenError, PhysicalDriveError};
use crate::guard::content::{self, SAMPLE_BYTES};
use crate::guard::facts::{Device, Users};
use crate::guard::physical_drive::{self, Approved, Facts};
use crate::io::{Arena, RealTarget, Trim, Written};
use crate::storage::{self, descriptor};
use crate::sys;
use pslc_load::Target;

/// How often and after how long it is tried again whether a program has let go of a drive.
const LOOKS: u32 = 10;
const BETWEEN: Duration = Duration::from_millis(200);

const SHARE_NOTHING: u32 = 0;
const SHARE_ALL: u32 = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE;

/// Look at a drive, without any right to what is on it.
pub fn inspect(path: &Path) -> Result<Device, OpenError> {
    let number = number_of(path)?;
    let facts = look(&find(path, number)?, number);
    let refusal = physical_drive::unused(&facts, path).err();
    let lasting = refusal.map(|error| error.to_string()).into_iter().collect();
    Ok(Device {
        path: path.to_path_buf(),
        name: format!("PhysicalDrive{number}"),
        bytes: facts.bytes.unwrap_or(0),
        logical_block: facts.block.unwrap_or(512),
        serial: facts.serial,
        is_partition: false,
        refusal: None,
        users: Users { lasting, open: Vec::new() },
        signatures: Err(io::ErrorKind::Unsupported.into()),
    })
}

/// The serial number of a drive, and nothing else about it.
pub fn serial_of(path: &Path) -> Result<Option<String>, OpenError> {
    let number = number_of(path)?;
    Ok(storage::describe(&find(path, number)?, number).serial)
}

/// Whether `open_device` would open a drive, which is not written to.
pub fn check_device(path: &Path, expected_serial: &str, may_hold_data: bool) -> Result<(), OpenError> {
    judge_alone(path, number_of(path)?, expected_serial, may_hold_data).map(drop)
}

/// Open a whole drive for writing. `expected_serial` must be its own, nothing may use it, and with anything on it
/// `may_hold_data` must be given. It is judged through a handle without rights, through one that shares it with nobody,
/// and through the one that is written.
pub fn open_device(path: &Path, expected_serial: &str, may_hold_data: bool) -> Result<RealTarget, OpenError> {
    let number = number_of(path)?;
    let alone = judge_alone(path, number, expected_serial, may_hold_data)?;
    let shared = open(path, number, GENERIC_READ | GENERIC_WRITE, SHARE_ALL)?;
    let drive = judge(&shared, path, number, expected_serial, may_hold_data)?;
    let path = path.to_path_buf();
    if drive != alone {
        return Err(DeviceError::Changed { path }.into());
    }
    let direct =
        sys::reopen(&shared, true, false).map_err(|source| DeviceError::NotOpened { path: path.clone(), source })?;
    Ok(RealTarget::new(Some(direct), shared, Trim::Discard, drive.bytes, drive.block, Written::unknown()))
}

/// Zero both ends of an open drive, and have the system read again what is there.
pub fn wipe(drive: &RealTarget, path: &Path) -> Result<(), OpenError> {
    let failed = |source| DeviceError::NotWiped { path: path.to_path_buf(), source };
    Ok(wipe_ends(drive.buffered(), drive.capacity_bytes()).map_err(failed)?)
}

/// Judge a drive through a handle without rights, and through one that shares it with nobody.
fn judge_alone(path: &Path, number: u32, serial: &str, may_hold_data: bool) -> Result<Approved, OpenError> {
    physical_drive::confirm(&look(&find(path, number)?, number), path, serial)?;
    judge(&open(path, number, GENERIC_READ, SHARE_NOTHING)?, path, number, serial, may_hold_data)
}

fn judge(file: &File, path: &Path, number: u32, serial: &str, may_hold_data: bool) -> Result<Approved, OpenError> {
    let read = |drive: &Approved| data_on(file, drive.bytes);
    physical_drive::judge(&look(file, number), path, serial, may_hold_data, read)
}

fn number_of(path: &Path) -> Result<u32, PhysicalDriveError> {
    let number = path.to_str().and_then(storage::drive_number);
    number.ok_or_else(|| PhysicalDriveError::NotWhole { path: path.to_path_buf() })
}

/// Find a drive, without any right to what is on it.
fn find(path: &Path, number: u32) -> Result<File, OpenError> {
    storage::look_at(&storage::path_of(number)).map_err(|error| refusal(path, error))
}

/// Open a drive by its number; patiently, where another program has it.
fn open(path: &Path, number: u32, access: u32, share: u32) -> Result<File, OpenError> {
    let mut options = OpenOptions::new();
    options.access_mode(access).share_mode(share).custom_flags(FILE_FLAG_OVERLAPPED | FILE_FLAG_NO_BUFFERING);
    let is_held = |error: &io::Error| error.raw_os_error() == Some(ERROR_SHARING_VIOLATION as i32);
    let mut opened = options.open(storage::path_of(number));
    for _ in 0..LOOKS {
        if !opened.as_ref().is_err_and(is_held) {
            break;
        }
        std::thread::sleep(BETWEEN);
        opened = options.open(storage::path_of(number));
    }
    opened.map_err(|error| refusal(path, error))
}

fn refusal(path: &Path, source: io::Error) -> OpenError {
    let path = path.to_path_buf();
    match source.raw_os_error().map(|code| code as u32) {
        Some(ERROR_ACCESS_DENIED) => PhysicalDriveError::NotElevated { path }.into(),
        Some(ERROR_SHARING_VIOLATION) => DeviceError::Held { path }.into(),
        _ if source.kind() == io::ErrorKind::NotFound => {
            DeviceError::NotFound { path, source: sys::worded(source) }.into()
        }
        _ => DeviceError::NotOpened { path, source }.into(),
    }
}

/// What the system says of the drive that is open, and of all volumes.
fn look(file: &File, number: u32) -> Facts {
    let answer = |code| storage::ask(file, code, &[]).ok();
    let drive = storage::describe(file, number);
    // What needs no right to the data is the size that it was made with.
    let length = answer(IOCTL_DISK_GET_LENGTH_INFO).and_then(|bytes| descriptor::length(&bytes));
    Facts {
        number: match storage::place(file) {
            Some(descriptor::Place::Drive(number)) => Some(number),
            _ => None,
        },
        serial: drive.serial,
        bytes: length.or(drive.bytes),
        block: drive.logical_block_bytes,
        removable: drive.removable,
        attributes: answer(IOCTL_DISK_GET_DISK_ATTRIBUTES).and_then(|bytes| descriptor::attributes(&bytes)),
        layout: answer(IOCTL_DISK_GET_DRIVE_LAYOUT_EX).and_then(|bytes| descriptor::layout(&bytes)),
        volumes: storage::volumes().ok(),
        of_system: storage::drives_of_system(),
    }
}

/// What a drive holds, a sentence each.
fn data_on(file: &File, bytes: u64) -> io::Result<Vec<String>> {
    let mut memory = Arena::new(1, SAMPLE_BYTES as usize)?;
    content::find(bytes, memory.buffer(0), &mut |offset, into| {
        if sys::pread(file.as_handle(), into, offset)? == into.len() {
            Ok(())
        } else {
            Err(io::ErrorKind::UnexpectedEof.into())
        }
    })
}

/// Overwrite both ends with zeros, and have the system read again what is there.
fn wipe_ends(file: &File, bytes: u64) -> io::Result<()> {
    let mut zeros = Arena::new(1, SAMPLE_BYTES as usize)?;
    for offset in [0, bytes - SAMPLE_BYTES] {
        if sys::pwrite(file.as_handle(), zeros.buffer(0), offset)? as u64 != SAMPLE_BYTES {
            return Err(io::ErrorKind::WriteZero.into());
        }
    }
    sys::flush(file.as_handle(), false)?;
    storage::ask(file, IOCTL_DISK_UPDATE_PROPERTIES, &[]).map(drop)
}

#[cfg(test)]
mod tests {
    use pslc_load::job::{self, Ground};
    use pslc_load::run;
    use windows_sys::Win32::Storage::FileSystem::FILE_FLAG_DELETE_ON_CLOSE;

    use super::*;

    const BYTES: u64 = 80 << 20;
    const PAGE: usize = 4096;

    /// A file in the place of a drive, of zeros. Nothing here is done to a drive.
    fn in_place_of_a_drive(name: &str) -> File {
        let path = std::env::temp_dir().join(format!("pslc-{name}-{}", std::process::id()));
        let flags = FILE_FLAG_OVERLAPPED | FILE_FLAG_NO_BUFFERING | FILE_FLAG_DELETE_ON_CLOSE;
        let mut options = OpenOptions::new();
        options.read(true).write(true).create_new(true).share_mode(SHARE_ALL).custom_flags(flags);
        let file = options.open(path).expect("it is new");
        file.set_len(BYTES).expect("there is room");
        file
    }

    fn write(file: &File, offset: u64, byte: u8, length: usize) {
        let mut memory = Arena::new(1, length).expect("there is memory");
        memory.buffer(0).fill(byte);
        assert_eq!(sys::pwrite(file.as_handle(), memory.buffer(0), offset).expect("it is open"), length);
    }

    #[test]
    fn data_are_found_on_a_drive_and_a_drive_that_is_shorter_than_is_said_is_an_error() {
        let file = in_place_of_a_drive("data");
        assert_eq!(data_on(&file, BYTES).unwrap(), [""; 0]);
        write(&file, (64 << 20) + (64 << 10), b'_', PAGE);
        assert_eq!(data_on(&file, BYTES).unwrap(), ["data around 64 MiB: text, in 1 of its 256 pages of 4 KiB"]);
        assert!(data_on(&file, BYTES + (1 << 20)).is_err(), "the drive is shorter than is said");
    }

    #[test]
    fn wiping_zeroes_both_ends_and_nothing_between() {
        let file = in_place_of_a_drive("wiped");
        for offset in [0, 1 << 20, 64 << 20, BYTES - (2 << 20), BYTES - (1 << 20)] {
            write(&file, offset, 7, 1 << 20);
        }
        // Of a file there are no partitions to read again.
        assert!(wipe_ends(&file, BYTES).is_err());
        assert_eq!(
            data_on(&file, BYTES).unwrap(),
            ["data around 64 MiB: binary data, in 256 of its 256 pages of 4 KiB"]
        );
        let mut memory = Arena::new(1, 1 << 20).unwrap();
        for offset in [1 << 20, BYTES - (2 << 20)] {
            sys::pread(file.as_handle(), memory.buffer(0), offset).unwrap();
            assert!(memory.buffer(0).iter().all(|byte| *byte == 7), "{offset}");
        }
    }

    #[test]
    fn errors_of_the_system_become_refusals_of_their_own() {
        let path = Path::new(r"\\.\PhysicalDrive1");
        for (number, code) in [
            (ERROR_ACCESS_DENIED, "device-not-elevated"),
            (ERROR_SHARING_VIOLATION, "device-held"),
            (2, "device-not-found"),
            (21, "device-not-opened"),
        ] {
            let error = refusal(path, io::Error::from_raw_os_error(number as i32));
            assert_eq!(error.code(), code);
            assert!(error.hint().ends_with("nothing was written") || number == 2, "{}", error.hint());
        }
    }

    #[test]
    fn jobs_on_a_drive_are_made_in_whole_blocks_and_trims_are_the_drive_s() {
        let file = in_place_of_a_drive("jobs");
        let direct = sys::reopen(&file, true, false).unwrap();
        let mut target = RealTarget::new(Some(direct), file, Trim::Discard, BYTES, 4096, Written::unknown());
        let jobs = |text: &str| job::parse("t", text, &[], Ground::Real, BYTES, &|_| None).unwrap();
        let error = target.check(&jobs("[w]\nrw=write\nbs=512\ndirect=0\n")).unwrap_err();
        assert_eq!(error.to_string(), "job w: bs=512, but the blocks are of 4096");
        for text in [
            "[w]\nrw=randwrite\nbs=4k\nnumber_ios=64\nioengine=windowsaio\niodepth=8\nfsync=8\n",
            "[s]\nrw=write\nbs=64k\nnumber_ios=16\nsync=1\ndirect=1\n",
            "[r]\nrw=randread\nbs=4k\nnumber_ios=64\ndirect=0\n",
        ] {
            let list = jobs(text);
            target.check(&list).unwrap();
            let recording = run(&mut target, &list, 1, &mut |_: &_| true);
            assert!(recording.error.is_none(), "{text}: {:?}", recording.error);
        }
        let recording = run(&mut target, &jobs("[t]\nrw=trim\nbs=1m\n"), 1, &mut |_: &_| true);
        let error = recording.error.expect("a file takes no trims of a drive").to_string();
        assert!(error.contains("the drive takes no trims"), "{error}");
    }
}
