//! Requests to a file on Windows: many at once, on handles that wait for none of them.
//!
//! A handle says for all of its requests whether they go past the cache and whether they have reached the medium when
//! they are done, so a file is opened again for each such pair.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::windows::ffi::OsStrExt;
use std::os::windows::fs::OpenOptionsExt;
use std::os::windows::io::{AsHandle, AsRawHandle, BorrowedHandle, FromRawHandle, OwnedHandle};
use std::path::Path;
use std::ptr::{null, null_mut};

use pslc_load::job::SyncMode;
use windows_sys::Win32::Foundation::{
    ERROR_ACCESS_DENIED, ERROR_DISK_FULL, ERROR_FILE_NOT_FOUND, ERROR_HANDLE_DISK_FULL, ERROR_HANDLE_EOF,
    ERROR_INVALID_FUNCTION, ERROR_IO_PENDING, ERROR_NOT_SUPPORTED, ERROR_PATH_NOT_FOUND, ERROR_SHARING_VIOLATION,
    GENERIC_READ, GENERIC_WRITE, HANDLE, INVALID_HANDLE_VALUE, LUID,
};
use windows_sys::Win32::Security::{
    AdjustTokenPrivileges, LookupPrivilegeValueW, LUID_AND_ATTRIBUTES, SE_MANAGE_VOLUME_NAME, SE_PRIVILEGE_ENABLED,
    TOKEN_ADJUST_PRIVILEGES, TOKEN_PRIVILEGES,
};
use windows_sys::Win32::Storage::FileSystem::{
    FileStorageInfo, FlushFileBuffers, GetDiskFreeSpaceExW, GetFileInformationByHandleEx, ReOpenFile, ReadFile,
    SetFileValidData, WriteFile, FILE_FLAG_DELETE_ON_CLOSE, FILE_FLAG_NO_BUFFERING, FILE_FLAG_OVERLAPPED,
    FILE_FLAG_WRITE_THROUGH, FILE_SHARE_DELETE, FILE_SHARE_READ, FILE_SHARE_WRITE, FILE_STORAGE_INFO,
};
use windows_sys::Win32::System::Ioctl::{FSCTL_FILE_LEVEL_TRIM, IOCTL_STORAGE_MANAGE_DATA_SET_ATTRIBUTES};
use windows_sys::Win32::System::Threading::{CreateEventW, GetCurrentProcess, OpenProcessToken};
use windows_sys::Win32::System::IO::{DeviceIoControl, GetOverlappedResult, OVERLAPPED};

use super::windows::{overlapped, succeeded};
use crate::storage::descriptor;

const SHARE_ALL: u32 = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE;

/// An open file, while requests to it are under way.
pub type Borrowed<'a> = BorrowedHandle<'a>;

pub fn borrow(file: &File) -> Borrowed<'_> {
    file.as_handle()
}

/// # Safety
///
/// The file stays open for as long as that.
pub unsafe fn borrowed<'a>(file: super::Raw) -> Borrowed<'a> {
    // SAFETY: as the caller says.
    unsafe { BorrowedHandle::borrow_raw(file as _) }
}

/// A new file through the cache, which is gone when it is closed, also where the process is killed.
pub fn create_passing(path: &Path) -> io::Result<File> {
    OpenOptions::new()
        .read(true)
        .write(true)
        .create_new(true)
        .share_mode(SHARE_ALL)
        .custom_flags(FILE_FLAG_OVERLAPPED | FILE_FLAG_DELETE_ON_CLOSE)
        .open(path)
}

/// The same file once more: past the cache if `direct`, with writes that reach the medium if `through`.
pub fn reopen(file: &File, direct: bool, through: bool) -> io::Result<File> {
    let direct = if direct { FILE_FLAG_NO_BUFFERING } else { 0 };
    let through = if through { FILE_FLAG_WRITE_THROUGH } else { 0 };
    let flags = FILE_FLAG_OVERLAPPED | direct | through;
    // SAFETY: the handle is open.
    let handle = unsafe { ReOpenFile(file.as_raw_handle() as HANDLE, GENERIC_READ | GENERIC_WRITE, SHARE_ALL, flags) };
    if handle == INVALID_HANDLE_VALUE {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the handle is new and nobody else's.
    Ok(unsafe { File::from_raw_handle(handle as _) })
}

/// Bytes that offsets and lengths past the cache are multiples of; `None` where the file system does not tell.
pub fn sector_bytes(file: &File) -> Option<u32> {
    // SAFETY: it is of numbers alone, which may be 0.
    let mut about: FILE_STORAGE_INFO = unsafe { std::mem::zeroed() };
    let (into, bytes) = ((&raw mut about).cast(), size_of::<FILE_STORAGE_INFO>() as u32);
    // SAFETY: the handle is open, and the call fills in the structure, whose size it is told.
    let asked = unsafe { GetFileInformationByHandleEx(file.as_raw_handle() as HANDLE, FileStorageInfo, into, bytes) };
    let sector = about.LogicalBytesPerSector;
    (succeeded(asked).is_ok() && sector.is_power_of_two()).then_some(sector)
}

/// Bytes that are free to this user in the file system of a folder, and its size.
pub fn room(folder: &Path) -> io::Result<(u64, u64)> {
    let path: Vec<u16> = folder.as_os_str().encode_wide().chain([0]).collect();
    let (mut free, mut total) = (0, 0);
    // SAFETY: the path ends in 0, and the call fills in two numbers.
    succeeded(unsafe { GetDiskFreeSpaceExW(path.as_ptr(), &mut free, &mut total, null_mut()) })?;
    Ok((free, total))
}

/// Take what lies in the first `bytes` of a new file for its data. Fails without the privilege to do so, as whoever
/// runs this as an administrator has it.
pub fn set_valid(file: &File, bytes: u64) -> io::Result<()> {
    enable_manage_volume()?;
    // SAFETY: the handle is open.
    succeeded(unsafe { SetFileValidData(file.as_raw_handle() as HANDLE, bytes as i64) })
}

fn enable_manage_volume() -> io::Result<()> {
    let mut token = null_mut();
    // SAFETY: it is a number that stands for this process.
    let process = unsafe { GetCurrentProcess() };
    // SAFETY: the call fills in a handle.
    succeeded(unsafe { OpenProcessToken(process, TOKEN_ADJUST_PRIVILEGES, &mut token) })?;
    // SAFETY: the handle is new and nobody else's.
    let token = unsafe { OwnedHandle::from_raw_handle(token as _) };
    let mut privilege = LUID { LowPart: 0, HighPart: 0 };
    // SAFETY: the name ends in 0, and the call fills in a number.
    succeeded(unsafe { LookupPrivilegeValueW(null(), SE_MANAGE_VOLUME_NAME, &mut privilege) })?;
    let enabled = LUID_AND_ATTRIBUTES { Luid: privilege, Attributes: SE_PRIVILEGE_ENABLED };
    let wanted = TOKEN_PRIVILEGES { PrivilegeCount: 1, Privileges: [enabled] };
    let handle = token.as_raw_handle() as HANDLE;
    // SAFETY: the handle is open, and nothing is asked for in return. One that is not there is no error here: then the
    // call that needs it fails.
    succeeded(unsafe { AdjustTokenPrivileges(handle, 0, &wanted, 0, null_mut(), null_mut()) })
}

thread_local!(static EVENT: io::Result<OwnedHandle> = {
    // SAFETY: it is an event of this process without a name, set by hand.
    let event = unsafe { CreateEventW(null(), 1, 0, null()) };
    if event.is_null() {
        Err(io::Error::last_os_error())
    } else {
        // SAFETY: the handle is new and nobody else's.
        Ok(unsafe { OwnedHandle::from_raw_handle(event as _) })
    }
});

/// Make a request by `start`, and wait for it on an event of this thread. An event whose number is odd says that no
/// completion port hears of it.
fn wait_for(
    file: Borrowed,
    offset: u64,
    start: impl FnOnce(HANDLE, *mut u32, *mut OVERLAPPED) -> i32,
) -> io::Result<u32> {
    let event = EVENT.with(|event| match event {
        Ok(event) => Ok(event.as_raw_handle() as usize | 1),
        Err(error) => Err(io::Error::from(error.kind())),
    })?;
    let (mut at, mut moved) = (overlapped(offset), 0);
    at.hEvent = event as HANDLE;
    let handle = file.as_raw_handle() as HANDLE;
    match succeeded(start(handle, &mut moved, &mut at)) {
        Err(error) if error.raw_os_error() != Some(ERROR_IO_PENDING as i32) => Err(error),
        // SAFETY: the handle is open, and this waits until the request is done with `at`.
        _ => succeeded(unsafe { GetOverlappedResult(handle, &at, &mut moved, 1) }).map(|()| moved),
    }
}

pub fn pread(file: Borrowed, bytes: &mut [u8], offset: u64) -> io::Result<usize> {
    let read = wait_for(file, offset, |handle, moved, at| {
        // SAFETY: the handle is open, and the buffer is there until the request is done.
        unsafe { ReadFile(handle, bytes.as_mut_ptr(), bytes.len() as u32, moved, at) }
    });
    match read {
        Err(error) if error.raw_os_error() == Some(ERROR_HANDLE_EOF as i32) => Ok(0),
        read => read.map(|moved| moved as usize).map_err(worded),
    }
}

pub fn pwrite(file: Borrowed, bytes: &[u8], offset: u64) -> io::Result<usize> {
    let written = wait_for(file, offset, |handle, moved, at| {
        // SAFETY: the handle is open, and the buffer is there until the request is done.
        unsafe { WriteFile(handle, bytes.as_ptr(), bytes.len() as u32, moved, at) }
    });
    written.map(|moved| moved as usize).map_err(worded)
}

/// A write that has reached the medium when it is done: the handle was opened so.
pub fn write_through(file: Borrowed, bytes: &[u8], offset: u64, _: SyncMode) -> io::Result<usize> {
    pwrite(file, bytes, offset)
}

/// Ask a driver, or have it do something, and wait for it: how many bytes of `answer` came.
pub fn control(file: Borrowed, code: u32, question: &[u8], answer: &mut [u8]) -> io::Result<usize> {
    let (input, output) = (question.as_ptr().cast(), answer.as_mut_ptr().cast());
    let (asked, room) = (question.len() as u32, answer.len() as u32);
    let came = wait_for(file, 0, |handle, moved, at| {
        // SAFETY: the handle is open, and both buffers are as long as is said, until the request is done.
        unsafe { DeviceIoControl(handle, code, input, asked, output, room, moved, at) }
    });
    came.map(|bytes| bytes as usize)
}

/// Tell the drive that nothing is needed of a part of a file.
pub fn trim(file: Borrowed, offset: u64, bytes: u64) -> io::Result<()> {
    // A FILE_LEVEL_TRIM: no key, and one range.
    let asked = [1u64 << 32, offset, bytes].map(u64::to_le_bytes).concat();
    trimmed(
        control(file, FSCTL_FILE_LEVEL_TRIM, &asked, &mut []),
        "the file system trims no part of a file (FSCTL_FILE_LEVEL_TRIM)",
    )
}

/// Tell a drive that nothing is needed of a part of it.
pub fn discard(file: &File, offset: u64, bytes: u64) -> io::Result<()> {
    let asked = descriptor::trim_request(offset, bytes);
    trimmed(
        control(file.as_handle(), IOCTL_STORAGE_MANAGE_DATA_SET_ATTRIBUTES, &asked, &mut []),
        "the drive takes no trims (IOCTL_STORAGE_MANAGE_DATA_SET_ATTRIBUTES)",
    )
}

fn trimmed(done: io::Result<usize>, unsupported: &'static str) -> io::Result<()> {
    match done {
        Err(error) if is_unsupported(&error) => Err(io::Error::new(io::ErrorKind::Unsupported, unsupported)),
        done => done.map(drop).map_err(worded),
    }
}

fn is_unsupported(error: &io::Error) -> bool {
    let codes = [ERROR_INVALID_FUNCTION, ERROR_NOT_SUPPORTED];
    error.kind() == io::ErrorKind::Unsupported || codes.iter().any(|code| error.raw_os_error() == Some(*code as i32))
}

pub fn flush(file: Borrowed, _: bool) -> io::Result<()> {
    // SAFETY: the handle is open.
    succeeded(unsafe { FlushFileBuffers(file.as_raw_handle() as HANDLE) }).map_err(worded)
}

/// What goes wrong most, in the words in which every other system says it.
pub fn worded(error: io::Error) -> io::Error {
    let Some(words) = error.raw_os_error().and_then(|code| words(code as u32)) else { return error };
    io::Error::new(error.kind(), words)
}

/// The words of POSIX for an error of Windows.
pub fn words(code: u32) -> Option<&'static str> {
    match code {
        ERROR_DISK_FULL | ERROR_HANDLE_DISK_FULL => Some("No space left on device"),
        ERROR_ACCESS_DENIED => Some("Permission denied"),
        ERROR_FILE_NOT_FOUND | ERROR_PATH_NOT_FOUND => Some("No such file or directory"),
        ERROR_SHARING_VIOLATION => Some("Device or resource busy"),
        _ => None,
    }
}
