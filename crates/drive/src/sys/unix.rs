//! Linux and macOS.

use std::ffi::OsStr;
use std::fs::{self, File, FileType, Metadata, OpenOptions, Permissions};
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};
use std::os::unix::fs::{FileExt, FileTypeExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use pslc_load::job::SyncMode;
use pslc_load::Usage;
use pslc_ssd::Nanos;
use rustix::fs::{
    access, flock, linkat, openat, readlinkat, renameat, renameat_with, seek, unlinkat, Access, AtFlags,
    FlockOperation, Mode, OFlags, RenameFlags, SeekFrom, XattrFlags,
};
#[cfg(target_os = "linux")]
use rustix::fs::{fallocate, FallocateFlags};
use rustix::io::Errno;
use rustix::process::geteuid;
use rustix::time::{clock_gettime, ClockId};

/// An open file, as requests name it.
pub type Raw = RawFd;

pub fn raw(file: &File) -> Raw {
    file.as_raw_fd()
}

/// What has a name, as far as it matters to whoever would replace it.
#[derive(Debug)]
pub struct About {
    about: Metadata,
    /// As long as it is open no other file gets its number.
    held: Option<File>,
}

impl About {
    pub fn of(file: &File) -> io::Result<About> {
        Ok(About { about: file.metadata()?, held: None })
    }

    /// Of what a path leads to.
    pub fn at(path: &Path) -> io::Result<About> {
        Ok(About { about: fs::metadata(path)?, held: None })
    }

    pub fn is_link(&self) -> bool {
        self.about.file_type().is_symlink()
    }

    pub fn is_file(&self) -> bool {
        self.about.is_file()
    }

    pub fn kind(&self) -> &'static str {
        kind(&self.about.file_type())
    }

    pub fn names(&self) -> u64 {
        self.about.nlink()
    }

    /// The mode that forbids this user, or everyone, to write to it.
    pub fn read_only(&self) -> Option<String> {
        let mode = self.about.mode();
        let denied = |file| access(itself(file), Access::WRITE_OK) == Err(Errno::ACCESS);
        if mode & 0o222 != 0 && self.held.as_ref().is_some_and(denied) {
            return Some(format!("mode {:o}, of user {}", mode & 0o7777, self.about.uid()));
        }
        (mode & 0o222 == 0).then(|| format!("mode {:o}", mode & 0o7777))
    }

    /// Root may change the mode of any file, who is not root that of the own ones.
    pub fn is_another_users(&self) -> bool {
        !geteuid().is_root() && self.about.uid() != geteuid().as_raw()
    }

    pub fn is_same_file(&self, other: &About) -> bool {
        let number = |of: &About| (of.about.dev(), of.about.ino());
        number(self) == number(other)
    }

    /// Nor has it got another name or lost one.
    pub fn is_unchanged(&self, now: &About) -> bool {
        self.is_same_file(now) && self.names() == now.names()
    }

    /// Whoever may use this file may use the new one that takes its place.
    pub fn hand_down(&self, new: &File) -> io::Result<()> {
        new.set_permissions(Permissions::from_mode(self.about.mode() & 0o777))?;
        // Only root gives files away.
        let _ = std::os::unix::fs::fchown(new, Some(self.about.uid()), Some(self.about.gid()));
        Ok(())
    }
}

/// A new file can be read and written by its owner, whatever the umask: pslc itself does both.
pub fn make_own(file: &File) -> io::Result<()> {
    let mode = file.metadata()?.mode() & 0o7777;
    match mode & 0o600 {
        0o600 => Ok(()),
        _ => file.set_permissions(Permissions::from_mode(mode | 0o600)),
    }
}

/// What is neither a regular file nor a block device is called.
pub fn kind(of: &FileType) -> &'static str {
    match of {
        of if of.is_char_device() => "a character device",
        of if of.is_fifo() => "a FIFO",
        of if of.is_socket() => "a socket",
        of if of.is_dir() => "a folder",
        of if of.is_symlink() => "a symbolic link",
        of if of.is_block_device() => "a block device",
        _ => "a file",
    }
}

/// Why a name is none of a file, on any file system; every name may be one here.
pub fn bad_name(_: &OsStr) -> Option<&'static str> {
    None
}

/// A folder that is held open.
#[derive(Debug)]
pub struct Folder(File);

impl Folder {
    pub fn open(path: &Path) -> io::Result<Folder> {
        OpenOptions::new().read(true).custom_flags(libc::O_DIRECTORY).open(path).map(Folder)
    }

    /// Who became root by sudo owns what is made in a folder of theirs.
    pub fn hand_over(&self, new: &File) -> io::Result<()> {
        let number = |name| std::env::var(name).ok()?.parse::<u32>().ok();
        match (number("SUDO_UID"), number("SUDO_GID")) {
            (Some(user), Some(group)) if geteuid().is_root() && self.0.metadata()?.uid() == user => {
                std::os::unix::fs::fchown(new, Some(user), Some(group))
            }
            _ => Ok(()),
        }
    }

    /// What has a name in it, without opening or following it.
    #[cfg(target_os = "linux")]
    pub fn look(&self, name: &OsStr) -> io::Result<Option<About>> {
        match openat(&self.0, name, OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty()) {
            Ok(file) => {
                let file = File::from(file);
                Ok(Some(About { about: file.metadata()?, held: Some(file) }))
            }
            Err(Errno::NOENT) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    #[cfg(not(target_os = "linux"))]
    pub fn look(&self, name: &OsStr) -> io::Result<Option<About>> {
        use std::os::unix::ffi::OsStrExt;

        let path = rustix::fs::getpath(&self.0)?;
        match fs::symlink_metadata(Path::new(OsStr::from_bytes(path.as_bytes())).join(name)) {
            Ok(about) => Ok(Some(About { about, held: None })),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Where a symbolic link in it leads.
    pub fn leads_to(&self, name: &OsStr) -> String {
        readlinkat(&self.0, name, Vec::new()).unwrap_or_default().to_string_lossy().into_owned()
    }

    /// To read a file in it, not through a link.
    pub fn read(&self, name: &OsStr) -> io::Result<File> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        Ok(openat(&self.0, name, flags, Mode::empty())?.into())
    }

    /// A new file without a name: whoever is killed leaves nothing behind. None where there are no such files.
    #[cfg(target_os = "linux")]
    pub fn create_unnamed(&self, mode: u32) -> Option<File> {
        let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
        openat(&self.0, ".", flags, Mode::from_raw_mode(mode)).ok().map(File::from)
    }

    #[cfg(not(target_os = "linux"))]
    pub fn create_unnamed(&self, _: u32) -> Option<File> {
        None
    }

    /// A new file.
    pub fn create(&self, name: &OsStr, mode: u32) -> io::Result<File> {
        let flags = OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::RDWR | OFlags::CLOEXEC;
        Ok(openat(&self.0, name, flags, Mode::from_raw_mode(mode as _))?.into())
    }

    /// Give a file without a name a new one.
    pub fn link(&self, file: &File, name: &OsStr) -> io::Result<()> {
        Ok(linkat(rustix::fs::CWD, itself(file), &self.0, name, AtFlags::SYMLINK_FOLLOW)?)
    }

    /// Another name for a file, which nothing has.
    pub fn rename(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        match renameat_with(&self.0, from, &self.0, to, RenameFlags::NOREPLACE) {
            // A second name cannot be one that is there, either.
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {
                linkat(&self.0, from, &self.0, to, AtFlags::empty())?;
                Ok(unlinkat(&self.0, from, AtFlags::empty())?)
            }
            renamed => Ok(renamed?),
        }
    }

    /// Two files change names. False where the file system cannot do that.
    pub fn exchange(&self, name: &OsStr, other: &OsStr) -> io::Result<bool> {
        match renameat_with(&self.0, name, &self.0, other, RenameFlags::EXCHANGE) {
            Ok(()) => Ok(true),
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// The name of another file, which is gone then.
    pub fn replace(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        Ok(renameat(&self.0, from, &self.0, to)?)
    }

    pub fn remove(&self, name: &OsStr) -> io::Result<()> {
        Ok(unlinkat(&self.0, name, AtFlags::empty())?)
    }

    /// Its names have reached the disk, where the file system has such a promise.
    pub fn sync(&self) -> io::Result<()> {
        match self.0.sync_all() {
            Err(error) if matches!(error.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported) => Ok(()),
            synced => synced,
        }
    }
}

/// A path to an open file, on Linux.
fn itself(file: &File) -> String {
    format!("/proc/self/fd/{}", file.as_raw_fd())
}

/// Open what a path leads to; a pipe holds up nobody, and a terminal stays what it is.
pub fn open_patiently(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY).open(path)
}

/// Open a file, unless its name is a link.
pub fn open_itself(path: &Path, write: bool) -> io::Result<File> {
    // A pipe would hold up whoever opens it.
    let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK;
    OpenOptions::new().read(true).write(write).custom_flags(flags).open(path)
}

/// Whether a file was not opened because its name is a link.
pub fn is_link_error(error: &io::Error) -> bool {
    error.raw_os_error() == Some(libc::ELOOP)
}

/// A path without links in it.
pub fn canonical(path: &Path) -> io::Result<PathBuf> {
    path.canonicalize()
}

/// Something to remember of a file, beside what it holds.
pub fn set_attribute(file: &File, name: &str, value: &[u8]) -> io::Result<()> {
    Ok(rustix::fs::fsetxattr(file, format!("user.{name}"), value, XattrFlags::empty())?)
}

/// How many bytes of it are read.
pub fn attribute(file: &File, name: &str, into: &mut [u8]) -> io::Result<usize> {
    Ok(rustix::fs::fgetxattr(file, format!("user.{name}"), into)?)
}

/// Take a file for this process alone; false where another has it.
pub fn lock(file: &File) -> io::Result<bool> {
    match flock(file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(true),
        Err(Errno::WOULDBLOCK) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Room for a file ahead of its end. False where the file system allocates nothing ahead.
#[cfg(target_os = "linux")]
pub fn reserve(file: &File, from: u64, bytes: u64) -> io::Result<bool> {
    match fallocate(file, FallocateFlags::KEEP_SIZE, from, bytes) {
        Ok(()) => Ok(true),
        Err(Errno::OPNOTSUPP | Errno::NOSYS) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// macOS moves the end of a file with its room.
#[cfg(not(target_os = "linux"))]
pub fn reserve(_: &File, _: u64, _: u64) -> io::Result<bool> {
    Ok(false)
}

/// A file without a name, in memory.
#[cfg(target_os = "linux")]
pub fn temporary_file() -> io::Result<File> {
    Ok(rustix::fs::memfd_create("pslc", rustix::fs::MemfdFlags::CLOEXEC)?.into())
}

/// A file that has lost its name.
#[cfg(not(target_os = "linux"))]
pub fn temporary_file() -> io::Result<File> {
    let (folder, name) = (Folder::open(&std::env::temp_dir())?, format!("pslc-{:x}", crate::files::random()));
    let file = folder.create(name.as_ref(), crate::files::PRIVATE)?;
    folder.remove(name.as_ref())?;
    Ok(file)
}

/// A file has holes here wherever nothing was written.
pub fn make_sparse(_: &File) -> io::Result<()> {
    Ok(())
}

/// Make zeros of a part of a file, and a hole of its whole blocks. False where the file system has no holes.
#[cfg(target_os = "linux")]
pub fn punch_hole(file: &File, offset: u64, bytes: u64) -> io::Result<bool> {
    match fallocate(file, FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE, offset, bytes) {
        Ok(()) => Ok(true),
        Err(Errno::OPNOTSUPP | Errno::NOSYS) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

#[cfg(not(target_os = "linux"))]
pub fn punch_hole(_: &File, _: u64, _: u64) -> io::Result<bool> {
    Ok(false)
}

/// The next part of a file, from `at` on, that is no hole.
pub fn next_data(file: &File, at: u64, end: u64) -> io::Result<Option<(u64, u64)>> {
    let from = match seek(file, SeekFrom::Data(at)) {
        Ok(from) if from < end => from,
        Ok(_) | Err(Errno::NXIO) => return Ok(None),
        Err(Errno::INVAL) => return Ok((at < end).then_some((at, end))),
        Err(error) => return Err(error.into()),
    };
    let to = seek(file, SeekFrom::Hole(from))?;
    Ok(Some((from, to.min(end))))
}

pub fn write_all_at(file: &File, bytes: &[u8], offset: u64) -> io::Result<()> {
    file.write_all_at(bytes, offset)
}

pub fn read_exact_at(file: &File, bytes: &mut [u8], offset: u64) -> io::Result<()> {
    file.read_exact_at(bytes, offset)
}

pub fn read_at(file: &File, bytes: &mut [u8], offset: u64) -> io::Result<usize> {
    file.read_at(bytes, offset)
}

/// An open file, while requests to it are under way.
pub type Borrowed<'a> = BorrowedFd<'a>;

pub fn borrow(file: &File) -> Borrowed<'_> {
    file.as_fd()
}

/// # Safety
///
/// The file stays open for as long as that.
pub unsafe fn borrowed<'a>(file: Raw) -> Borrowed<'a> {
    // SAFETY: as the caller says.
    unsafe { BorrowedFd::borrow_raw(file) }
}

pub fn pread(file: Borrowed, bytes: &mut [u8], offset: u64) -> io::Result<usize> {
    Ok(rustix::io::pread(file, bytes, offset)?)
}

pub fn pwrite(file: Borrowed, bytes: &[u8], offset: u64) -> io::Result<usize> {
    Ok(rustix::io::pwrite(file, bytes, offset)?)
}

/// A write that has reached the medium when it is done.
#[cfg(target_os = "linux")]
pub fn write_through(file: Borrowed, bytes: &[u8], offset: u64, mode: SyncMode) -> io::Result<usize> {
    use rustix::io::ReadWriteFlags;

    let flags = match mode {
        SyncMode::Sync => ReadWriteFlags::SYNC,
        SyncMode::Dsync => ReadWriteFlags::DSYNC,
    };
    Ok(rustix::io::pwritev2(file, &[io::IoSlice::new(bytes)], offset, flags)?)
}

#[cfg(not(target_os = "linux"))]
pub fn write_through(file: Borrowed, bytes: &[u8], offset: u64, _: SyncMode) -> io::Result<usize> {
    let moved = pwrite(file, bytes, offset)?;
    flush(file, true)?;
    Ok(moved)
}

/// Tell a file that nothing is there any more.
#[cfg(target_os = "linux")]
pub fn trim(file: Borrowed, offset: u64, bytes: u64) -> io::Result<()> {
    Ok(fallocate(file, FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE, offset, bytes)?)
}

#[cfg(not(target_os = "linux"))]
pub fn trim(_: Borrowed, _: u64, _: u64) -> io::Result<()> {
    Err(io::Error::new(io::ErrorKind::Unsupported, "pslc trims on Linux only"))
}

#[cfg(target_os = "linux")]
pub fn flush(file: Borrowed, data_only: bool) -> io::Result<()> {
    Ok(if data_only { rustix::fs::fdatasync(file) } else { rustix::fs::fsync(file) }?)
}

/// `fsync` leaves data in the drive's buffer here.
#[cfg(not(target_os = "linux"))]
pub fn flush(file: Borrowed, _: bool) -> io::Result<()> {
    Ok(rustix::fs::fcntl_fullfsync(file)?)
}

/// Bytes of a page, MiB of memory, or processors, for `$pagesize`, `$mb_memory` and `$ncpus`.
pub fn keyword(name: &str) -> Option<u64> {
    let page = system(libc::_SC_PAGESIZE)?;
    match name {
        "$pagesize" => Some(page),
        "$mb_memory" => Some((system(libc::_SC_PHYS_PAGES)? * page) >> 20),
        "$ncpus" => system(libc::_SC_NPROCESSORS_CONF),
        _ => None,
    }
}

fn system(what: libc::c_int) -> Option<u64> {
    // SAFETY: the call takes a number and gives one.
    u64::try_from(unsafe { libc::sysconf(what) }).ok()
}

/// Processor time of this process.
pub fn cpu_time() -> Nanos {
    let cpu = clock_gettime(ClockId::ProcessCPUTime);
    Nanos(cpu.tv_sec as u64 * 1_000_000_000 + cpu.tv_nsec as u64)
}

/// How long the machine has slept since it was started, which no clock of a run counts; 0 where the system does not tell.
pub fn asleep() -> Nanos {
    #[cfg(target_os = "linux")]
    {
        // In this order, a wait between the two calls is never taken for a sleep.
        let [boot, awake] = [ClockId::Boottime, ClockId::Monotonic].map(clock_gettime);
        let nanos = |at: rustix::time::Timespec| at.tv_sec as u64 * 1_000_000_000 + at.tv_nsec as u64;
        Nanos(nanos(boot).saturating_sub(nanos(awake)))
    }
    #[cfg(not(target_os = "linux"))]
    Nanos::ZERO
}

/// What this process used, or this thread alone where the system tells that.
pub fn usage(#[cfg_attr(not(target_os = "linux"), expect(unused))] of_thread: bool) -> Usage {
    #[cfg(target_os = "linux")]
    let who = if of_thread { libc::RUSAGE_THREAD } else { libc::RUSAGE_SELF };
    #[cfg(not(target_os = "linux"))]
    let who = libc::RUSAGE_SELF;
    // SAFETY: it is of numbers alone, which may be 0.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: the call fills in the structure that it is given.
    unsafe { libc::getrusage(who, &mut usage) };
    let time = |at: libc::timeval| Nanos(at.tv_sec as u64 * 1_000_000_000 + at.tv_usec as u64 * 1000);
    Usage {
        user: time(usage.ru_utime),
        system: time(usage.ru_stime),
        switches: (usage.ru_nvcsw + usage.ru_nivcsw) as u64,
        major_faults: usage.ru_majflt as u64,
        minor_faults: usage.ru_minflt as u64,
    }
}
