//! Windows. Tested under Wine, which has no streams of files; NTFS, its streams and its locks only the workflow shows.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::windows::ffi::{OsStrExt, OsStringExt};
use std::os::windows::fs::{FileExt, OpenOptionsExt};
use std::os::windows::io::AsRawHandle;
use std::path::{Path, PathBuf};
use std::ptr::null_mut;

use pslc_load::Usage;
use pslc_ssd::Nanos;
use windows_sys::Win32::Foundation::{
    ERROR_ACCESS_DENIED, ERROR_CANT_ACCESS_FILE, ERROR_IO_PENDING, ERROR_LOCK_VIOLATION, FILETIME, HANDLE,
};
use windows_sys::Win32::Storage::FileSystem::{
    GetFileInformationByHandle, GetFileType, GetFinalPathNameByHandleW, GetVolumeInformationByHandleW, LockFileEx,
    MoveFileExW, BY_HANDLE_FILE_INFORMATION, FILE_ATTRIBUTE_DIRECTORY, FILE_ATTRIBUTE_READONLY,
    FILE_ATTRIBUTE_REPARSE_POINT, FILE_FLAG_BACKUP_SEMANTICS, FILE_FLAG_DELETE_ON_CLOSE, FILE_FLAG_OPEN_REPARSE_POINT,
    FILE_READ_ATTRIBUTES, FILE_SHARE_DELETE, FILE_SHARE_READ, FILE_SHARE_WRITE, FILE_TYPE_CHAR, FILE_TYPE_DISK,
    FILE_TYPE_PIPE, LOCKFILE_EXCLUSIVE_LOCK, LOCKFILE_FAIL_IMMEDIATELY,
};
use windows_sys::Win32::System::Ioctl::{FSCTL_SET_SPARSE, FSCTL_SET_ZERO_DATA};
use windows_sys::Win32::System::SystemInformation::{GetSystemInfo, GlobalMemoryStatusEx, MEMORYSTATUSEX, SYSTEM_INFO};
use windows_sys::Win32::System::SystemServices::FILE_NAMED_STREAMS;
use windows_sys::Win32::System::Threading::{GetCurrentProcess, GetCurrentThread, GetProcessTimes, GetThreadTimes};
use windows_sys::Win32::System::IO::{DeviceIoControl, OVERLAPPED, OVERLAPPED_0, OVERLAPPED_0_0};

/// An open file, as requests name it.
pub type Raw = isize;

pub fn raw(file: &File) -> Raw {
    file.as_raw_handle() as Raw
}

/// Where a lock lies: behind the end of every file, for a locked byte keeps others from reading it.
const LOCKED_OFFSET: u64 = i64::MAX as u64 - 1;
const SHARE_ALL: u32 = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE;

/// What has a name, as far as it matters to whoever would replace it.
#[derive(Debug)]
pub struct About {
    kind: u32,
    attributes: u32,
    volume: u32,
    number: u64,
    names: u64,
    /// As long as it is open no other file gets its number.
    _held: Option<File>,
}

impl About {
    pub fn of(file: &File) -> io::Result<About> {
        let handle = file.as_raw_handle() as HANDLE;
        // SAFETY: the handle is open.
        let kind = unsafe { GetFileType(handle) };
        // SAFETY: it is of numbers alone, which may be 0.
        let mut about: BY_HANDLE_FILE_INFORMATION = unsafe { std::mem::zeroed() };
        if kind == FILE_TYPE_DISK {
            // SAFETY: the handle is open, and the call fills in the structure that it is given.
            succeeded(unsafe { GetFileInformationByHandle(handle, &mut about) })?;
        }
        Ok(About {
            kind,
            attributes: about.dwFileAttributes,
            volume: about.dwVolumeSerialNumber,
            number: (about.nFileIndexHigh as u64) << 32 | about.nFileIndexLow as u64,
            names: about.nNumberOfLinks as u64,
            _held: None,
        })
    }

    /// Of what a path leads to.
    pub fn at(path: &Path) -> io::Result<About> {
        About::of(&look_at(path, FILE_FLAG_BACKUP_SEMANTICS)?)
    }

    /// A symbolic link, a junction, or whatever else stands for a file that may be elsewhere.
    pub fn is_link(&self) -> bool {
        self.attributes & FILE_ATTRIBUTE_REPARSE_POINT != 0
    }

    pub fn is_file(&self) -> bool {
        let other = FILE_ATTRIBUTE_REPARSE_POINT | FILE_ATTRIBUTE_DIRECTORY;
        self.kind == FILE_TYPE_DISK && self.attributes & other == 0
    }

    pub fn kind(&self) -> &'static str {
        match self.kind {
            FILE_TYPE_CHAR => "a character device",
            FILE_TYPE_PIPE => "a pipe",
            _ if self.is_link() => "a symbolic link",
            _ if self.attributes & FILE_ATTRIBUTE_DIRECTORY != 0 => "a folder",
            FILE_TYPE_DISK => "a file",
            _ => "a device",
        }
    }

    pub fn names(&self) -> u64 {
        self.names
    }

    /// What forbids everyone to write to it.
    pub fn read_only(&self) -> Option<String> {
        (self.attributes & FILE_ATTRIBUTE_READONLY != 0).then(|| "its attribute says so".into())
    }

    /// Rights of users are not looked at here.
    pub fn is_another_users(&self) -> bool {
        false
    }

    pub fn is_same_file(&self, other: &About) -> bool {
        (self.volume, self.number) == (other.volume, other.number)
    }

    /// Nor has it got another name or lost one.
    pub fn is_unchanged(&self, now: &About) -> bool {
        self.is_same_file(now) && self.names == now.names
    }

    /// A new file has the rights that its folder gives, here.
    pub fn hand_down(&self, _: &File) -> io::Result<()> {
        Ok(())
    }
}

pub(super) fn succeeded(result: i32) -> io::Result<()> {
    match result {
        0 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}

/// Open for its attributes alone, which disturbs nobody.
fn look_at(path: &Path, flags: u32) -> io::Result<File> {
    OpenOptions::new().access_mode(FILE_READ_ATTRIBUTES).share_mode(SHARE_ALL).custom_flags(flags).open(path)
}

/// Names that stand for devices in each folder.
const DEVICES: [&str; 6] = ["CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$"];

/// Why a name is none of a file, on any file system.
pub fn bad_name(name: &OsStr) -> Option<&'static str> {
    let name = name.to_string_lossy();
    let stem = name.split('.').next().unwrap_or_default().trim_end().to_ascii_uppercase();
    let numbered = ["COM", "LPT"].iter().any(|device| {
        let number = stem.strip_prefix(device).unwrap_or_default();
        number.chars().count() == 1 && number.contains(|of: char| of.is_ascii_digit() || "¹²³".contains(of))
    });
    if numbered || DEVICES.contains(&stem.as_str()) {
        return Some("it names a device");
    }
    if name.contains(':') {
        return Some("a colon names a stream of a file");
    }
    name.ends_with(['.', ' ']).then_some("it ends in a dot or a space")
}

/// There is no `ulimit` here.
pub fn limit_hint(_: &io::Error) -> Option<String> {
    None
}

/// A folder that is held open: nobody renames or removes it meanwhile, nor one above it.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    _held: File,
}

impl Folder {
    pub fn open(path: &Path) -> io::Result<Folder> {
        let path = fs::canonicalize(path)?;
        let held = OpenOptions::new()
            .read(true)
            .share_mode(FILE_SHARE_READ | FILE_SHARE_WRITE)
            .custom_flags(FILE_FLAG_BACKUP_SEMANTICS)
            .open(&path)?;
        match About::of(&held)?.attributes & FILE_ATTRIBUTE_DIRECTORY {
            0 => Err(io::Error::from(io::ErrorKind::NotADirectory)),
            _ => Ok(Folder { path, _held: held }),
        }
    }

    /// There is no sudo here.
    pub fn hand_over(&self, _: &File) -> io::Result<()> {
        Ok(())
    }

    /// What has a name in it, without following it.
    pub fn look(&self, name: &OsStr) -> io::Result<Option<About>> {
        let flags = FILE_FLAG_BACKUP_SEMANTICS | FILE_FLAG_OPEN_REPARSE_POINT;
        match look_at(&self.path.join(name), flags) {
            Ok(file) => About::of(&file).map(|about| Some(About { _held: Some(file), ..about })),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Where a symbolic link in it leads.
    pub fn leads_to(&self, name: &OsStr) -> String {
        fs::read_link(self.path.join(name)).map_or_else(|_| "another place".into(), |path| path.display().to_string())
    }

    /// To read a file in it, not through a link.
    pub fn read(&self, name: &OsStr) -> io::Result<File> {
        open_itself(&self.path.join(name), false)
    }

    /// Every file has a name here.
    pub fn create_unnamed(&self, _: u32) -> Option<File> {
        None
    }

    /// A new file.
    pub fn create(&self, name: &OsStr, _: u32) -> io::Result<File> {
        OpenOptions::new().read(true).write(true).create_new(true).open(self.path.join(name))
    }

    pub fn link(&self, _: &File, _: &OsStr) -> io::Result<()> {
        unreachable!("each file has a name")
    }

    /// Another name for a file, which nothing has.
    pub fn rename(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        let wide = |name: &OsStr| -> Vec<u16> { self.path.join(name).as_os_str().encode_wide().chain([0]).collect() };
        let (from, to) = (wide(from), wide(to));
        // SAFETY: both are words that end in 0.
        succeeded(unsafe { MoveFileExW(from.as_ptr(), to.as_ptr(), 0) })
    }

    /// Two files cannot change names at once.
    pub fn exchange(&self, _: &OsStr, _: &OsStr) -> io::Result<bool> {
        Ok(false)
    }

    /// The name of another file, which is gone then. Where the file system cannot put it in the place of one that is
    /// open, that one gives up its name first.
    pub fn replace(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        match fs::rename(self.path.join(from), self.path.join(to)) {
            Err(error) if error.raw_os_error() == Some(ERROR_ACCESS_DENIED as i32) => {}
            renamed => return renamed,
        }
        let mut aside = from.to_os_string();
        aside.push(".old");
        self.rename(to, &aside)?;
        if let Err(error) = self.rename(from, to) {
            self.rename(&aside, to)?;
            return Err(error);
        }
        self.remove(&aside)
    }

    pub fn remove(&self, name: &OsStr) -> io::Result<()> {
        fs::remove_file(self.path.join(name))
    }

    /// Names are in the journal of the file system, and nobody can ask for more.
    pub fn sync(&self) -> io::Result<()> {
        Ok(())
    }
}

/// There is no umask here.
pub fn make_own(_: &File) -> io::Result<()> {
    Ok(())
}

/// Open what a path leads to.
pub fn open_patiently(path: &Path) -> io::Result<File> {
    File::open(path)
}

/// Open a file, unless its name is a link.
pub fn open_itself(path: &Path, write: bool) -> io::Result<File> {
    let flags = FILE_FLAG_OPEN_REPARSE_POINT;
    let file = OpenOptions::new().read(true).write(write).custom_flags(flags).open(path)?;
    if About::of(&file)?.is_link() {
        return Err(io::Error::from_raw_os_error(ERROR_CANT_ACCESS_FILE as i32));
    }
    Ok(file)
}

/// Whether a file was not opened because its name is a link.
pub fn is_link_error(error: &io::Error) -> bool {
    error.raw_os_error() == Some(ERROR_CANT_ACCESS_FILE as i32)
}

/// A path without links in it, as people write it.
pub fn canonical(path: &Path) -> io::Result<PathBuf> {
    let real = path.canonicalize()?;
    let short = real.to_str().and_then(|text| text.strip_prefix(r"\\?\"));
    let plain = |text: &&str| text.as_bytes().get(1) == Some(&b':') && text.len() < 260;
    Ok(short.filter(plain).map_or(real.clone(), PathBuf::from))
}

/// A stream of a file, where the file system has such.
fn stream(file: &File, name: &str) -> io::Result<PathBuf> {
    let handle = file.as_raw_handle() as HANDLE;
    let (mut flags, none) = (0, std::ptr::null_mut());
    // SAFETY: the handle is open, and the call fills in the flags alone.
    succeeded(unsafe {
        GetVolumeInformationByHandleW(handle, none, 0, none.cast(), none.cast(), &mut flags, none, 0)
    })?;
    if flags & FILE_NAMED_STREAMS == 0 {
        // A colon may be a letter of a name there.
        return Err(io::ErrorKind::Unsupported.into());
    }
    let mut path = vec![0u16; 1 << 15];
    // SAFETY: the handle is open, and the call writes at most as many words as there are.
    let length = unsafe { GetFinalPathNameByHandleW(handle, path.as_mut_ptr(), path.len() as u32, 0) } as usize;
    if length == 0 || length > path.len() {
        return Err(io::Error::last_os_error());
    }
    let mut path = OsString::from_wide(&path[..length]);
    path.push(":");
    path.push(name);
    Ok(path.into())
}

/// Something to remember of a file, beside what it holds.
pub fn set_attribute(file: &File, name: &str, value: &[u8]) -> io::Result<()> {
    File::create(stream(file, name)?)?.write_all(value)
}

/// How many bytes of it are read.
pub fn attribute(file: &File, name: &str, into: &mut [u8]) -> io::Result<usize> {
    File::open(stream(file, name)?)?.read(into)
}

/// Take a file for this process alone; false where another has it.
pub fn lock(file: &File) -> io::Result<bool> {
    let mut at = overlapped(LOCKED_OFFSET);
    let flags = LOCKFILE_EXCLUSIVE_LOCK | LOCKFILE_FAIL_IMMEDIATELY;
    // SAFETY: the handle is open, and the call returns when it is done with `at`.
    match succeeded(unsafe { LockFileEx(file.as_raw_handle() as HANDLE, flags, 0, 1, 0, &mut at) }) {
        Ok(()) => Ok(true),
        Err(error)
            if [ERROR_LOCK_VIOLATION, ERROR_IO_PENDING].iter().any(|of| error.raw_os_error() == Some(*of as i32)) =>
        {
            Ok(false)
        }
        Err(error) => Err(error),
    }
}

pub(super) fn overlapped(offset: u64) -> OVERLAPPED {
    let at = OVERLAPPED_0_0 { Offset: offset as u32, OffsetHigh: (offset >> 32) as u32 };
    OVERLAPPED { Internal: 0, InternalHigh: 0, Anonymous: OVERLAPPED_0 { Anonymous: at }, hEvent: std::ptr::null_mut() }
}

/// Nothing is allocated ahead here.
pub fn reserve(_: &File, _: u64, _: u64) -> io::Result<bool> {
    Ok(false)
}

/// A file that is gone when it is closed, also where the process is killed.
pub fn temporary_file() -> io::Result<File> {
    let path = std::env::temp_dir().join(format!("pslc-{:x}", crate::files::random()));
    let mut options = OpenOptions::new();
    options.read(true).write(true).create_new(true).share_mode(0).custom_flags(FILE_FLAG_DELETE_ON_CLOSE);
    options.open(path)
}

/// Let a file have holes.
pub fn make_sparse(file: &File) -> io::Result<()> {
    // A file system without holes keeps the zeros.
    let _ = control_sparse(file, FSCTL_SET_SPARSE, &[]);
    Ok(())
}

/// Make zeros of a part of a file, and a hole of its whole blocks. False where the file system has no holes.
pub fn punch_hole(file: &File, offset: u64, bytes: u64) -> io::Result<bool> {
    Ok(control_sparse(file, FSCTL_SET_ZERO_DATA, &[offset, offset + bytes]).is_ok())
}

fn control_sparse(file: &File, code: u32, question: &[u64]) -> io::Result<()> {
    let (handle, mut came) = (file.as_raw_handle() as HANDLE, 0);
    let (input, length) = (question.as_ptr().cast(), size_of_val(question) as u32);
    // SAFETY: the handle is open and waits for its requests, and the question is as long as is said.
    succeeded(unsafe { DeviceIoControl(handle, code, input, length, null_mut(), 0, &mut came, null_mut()) })
}

/// The next part of a file, from `at` on, that may be no hole: all of it.
pub fn next_data(_: &File, at: u64, end: u64) -> io::Result<Option<(u64, u64)>> {
    Ok((at < end).then_some((at, end)))
}

pub fn write_all_at(file: &File, mut bytes: &[u8], mut offset: u64) -> io::Result<()> {
    while !bytes.is_empty() {
        match file.seek_write(bytes, offset)? {
            0 => return Err(io::ErrorKind::WriteZero.into()),
            count => {
                bytes = &bytes[count..];
                offset += count as u64;
            }
        }
    }
    Ok(())
}

pub fn read_exact_at(file: &File, mut bytes: &mut [u8], mut offset: u64) -> io::Result<()> {
    while !bytes.is_empty() {
        match file.seek_read(bytes, offset)? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            count => {
                bytes = &mut bytes[count..];
                offset += count as u64;
            }
        }
    }
    Ok(())
}

pub fn read_at(file: &File, bytes: &mut [u8], offset: u64) -> io::Result<usize> {
    file.seek_read(bytes, offset)
}

/// Bytes of a page, MiB of memory, or processors, for `$pagesize`, `$mb_memory` and `$ncpus`.
pub fn keyword(name: &str) -> Option<u64> {
    // SAFETY: it is of numbers and addresses, which may be 0.
    let mut system: SYSTEM_INFO = unsafe { std::mem::zeroed() };
    // SAFETY: the call fills in the structure that it is given.
    unsafe { GetSystemInfo(&mut system) };
    match name {
        "$pagesize" => Some(system.dwPageSize as u64),
        "$mb_memory" => memory_bytes().map(|bytes| bytes >> 20),
        "$ncpus" => Some(system.dwNumberOfProcessors as u64),
        _ => None,
    }
}

fn memory_bytes() -> Option<u64> {
    // SAFETY: it is of numbers alone, which may be 0.
    let mut memory: MEMORYSTATUSEX = unsafe { std::mem::zeroed() };
    memory.dwLength = size_of::<MEMORYSTATUSEX>() as u32;
    // SAFETY: the call fills in the structure, whose size it is told.
    succeeded(unsafe { GlobalMemoryStatusEx(&mut memory) }).ok().map(|()| memory.ullTotalPhys)
}

/// How long the machine has slept since it was started: the clock of a run counts that here.
pub fn asleep() -> Nanos {
    Nanos::ZERO
}

/// Processor time of this process.
pub fn cpu_time() -> Nanos {
    let used = usage(false);
    Nanos(used.user.0 + used.system.0)
}

/// What this process used, or this thread alone. Switches and faults are not counted here.
pub fn usage(of_thread: bool) -> Usage {
    let mut times = [FILETIME { dwLowDateTime: 0, dwHighDateTime: 0 }; 4];
    let [begun, ended, kernel, user] = &mut times;
    // SAFETY: they are numbers that stand for this thread and this process.
    let thread = unsafe { GetCurrentThread() };
    // SAFETY: as above.
    let process = unsafe { GetCurrentProcess() };
    if of_thread {
        // SAFETY: the call fills in the four times.
        unsafe { GetThreadTimes(thread, begun, ended, kernel, user) }
    } else {
        // SAFETY: the call fills in the four times.
        unsafe { GetProcessTimes(process, begun, ended, kernel, user) }
    };
    // In units of 100 ns.
    let time = |of: &FILETIME| Nanos(((of.dwHighDateTime as u64) << 32 | of.dwLowDateTime as u64) * 100);
    Usage { user: time(user), system: time(kernel), switches: 0, major_faults: 0, minor_faults: 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_devices_and_streams_are_no_names_of_files() {
        for name in ["NUL", "nul.txt", "Con ", "com1.log", "LPT²", "a:b", "a.", "a ", "CONOUT$"] {
            assert!(bad_name(OsStr::new(name)).is_some(), "{name}");
        }
        for name in ["null", "com", "com12", "console.txt", "a b", ".pslc", "lpt.txt", "auxiliary"] {
            assert_eq!(bad_name(OsStr::new(name)), None, "{name}");
        }
    }
}
