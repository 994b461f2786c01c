//! The one way in which pslc makes files: whole or not at all, and never over what is not its own.
//!
//! ```text
//!   NewFile::begin    the folder is opened once; what has the name there is looked at
//!      write ...      a file without a name (O_TMPFILE), or with a random one (O_EXCL|O_NOFOLLOW)
//!   NewFile::commit   looked at again, then the two names change places, so that whatever has come
//!                     to the name meanwhile is found out and gets it back
//! ```
//!
//! A link, a file with several names, a device, a pipe, a socket and a read-only file are never replaced, whoever asks.

mod mark;
mod random;

use std::ffi::{OsStr, OsString};
use std::fs::{File, FileType, Metadata, OpenOptions, Permissions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{openat, readlinkat, renameat, renameat_with, unlinkat, AtFlags, Mode, OFlags, RenameFlags};
use rustix::io::Errno;

use crate::error::OpenError;
use crate::guard::facts;
use crate::guard::scratch::failed;

pub use random::random;

/// Of a file that anyone may read whom the umask lets.
pub const SHARED: u32 = 0o666;
/// Of a file with somebody's data in it.
pub const PRIVATE: u32 = 0o600;

/// What may have the name that a new file is to get.
#[derive(Clone, Copy, Debug)]
pub enum Replace<'a> {
    /// Nothing.
    Never,
    /// What pslc made and nobody changed since. A file that lost its mark, as copies do, is known by how it begins.
    Ours(Option<&'a [u8]>),
    /// A file that begins so, as far as it goes, whatever follows.
    Like(&'a [u8]),
    /// This file.
    This(&'a File),
    /// Any file: its user named it.
    Any,
}

/// What has a name, found without following it.
struct Found {
    about: Metadata,
    /// As long as it is open no other file gets its number.
    _held: Option<File>,
}

/// Why a file was not made.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    #[error(transparent)]
    Refused(#[from] OpenError),
    #[error("{}: {error}", path.display())]
    System { path: PathBuf, error: io::Error },
}

impl WriteError {
    fn system(path: &Path, error: impl Into<io::Error>) -> WriteError {
        WriteError::System { path: path.to_path_buf(), error: error.into() }
    }
}

impl From<WriteError> for OpenError {
    fn from(error: WriteError) -> OpenError {
        match error {
            WriteError::Refused(error) => error,
            WriteError::System { path, error } => failed("write it", &path, error),
        }
    }
}

impl From<WriteError> for io::Error {
    fn from(error: WriteError) -> io::Error {
        match error {
            WriteError::System { error, .. } => error,
            WriteError::Refused(error) => io::Error::other(error.message),
        }
    }
}

/// A file that gets its name when it is whole. Dropped before that it is gone.
#[derive(Debug)]
pub struct NewFile<'a> {
    path: PathBuf,
    folder: File,
    name: OsString,
    replace: Replace<'a>,
    file: File,
    /// Its name until it has its own; none where the file system makes files without.
    part: Option<OsString>,
    sum: crc32fast::Hasher,
    /// Bytes that went into the sum: what is written past it leaves no mark.
    summed: u64,
}

impl<'a> NewFile<'a> {
    /// Fails where the name is taken by what may not be replaced, or nothing can be made there.
    pub fn begin(path: &Path, replace: Replace<'a>, mode: u32) -> Result<NewFile<'a>, WriteError> {
        let (folder, name) = place(path)?;
        judged(&folder, name, path, &replace)?;
        let (file, part) = unnamed(&folder, mode)
            .map_or_else(
                || named(&folder, mode).map(|(file, part)| (file, Some(part))),
                |file| Ok((file, None)),
            )
            .map_err(|error| WriteError::system(path, error))?;
        Ok(NewFile {
            path: path.to_path_buf(),
            folder,
            name: name.to_os_string(),
            replace,
            file,
            part,
            sum: crc32fast::Hasher::new(),
            summed: 0,
        })
    }

    pub fn file(&self) -> &File {
        &self.file
    }

    /// It gets its name. The file stays open.
    pub fn commit(mut self) -> Result<File, WriteError> {
        let there = judged(&self.folder, &self.name, &self.path, &self.replace)?;
        if let Some(there) = &there {
            // It is the same file to whoever may read it.
            let mode = Permissions::from_mode(there.about.mode() & 0o777);
            self.file.set_permissions(mode).map_err(|error| WriteError::system(&self.path, error))?;
            let _ = std::os::unix::fs::fchown(&self.file, Some(there.about.uid()), Some(there.about.gid()));
        }
        if self.file.metadata().is_ok_and(|about| about.len() == self.summed) {
            mark::set(&self.file, self.sum.clone());
        }
        let part = match self.part.clone() {
            Some(part) => part,
            None => {
                linked(&self.folder, &self.file).map_err(|error| WriteError::system(&self.path, error))?
            }
        };
        self.part = Some(part.clone());
        match there {
            None => self.take_free_name(&part)?,
            Some(there) => self.take_name_of(&there, &part)?,
        }
        self.part = None;
        self.file.try_clone().map_err(|error| WriteError::system(&self.path, error))
    }

    fn take_free_name(&self, part: &OsStr) -> Result<(), WriteError> {
        let taken = renameat_with(&self.folder, part, &self.folder, &self.name, RenameFlags::NOREPLACE);
        match taken {
            Ok(()) => Ok(()),
            Err(Errno::EXIST) => Err(meanwhile(&self.path)),
            // A second name cannot be one that is there, either.
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {
                let flags = AtFlags::empty();
                match rustix::fs::linkat(&self.folder, part, &self.folder, &self.name, flags) {
                    Ok(()) => unlinkat(&self.folder, part, AtFlags::empty())
                        .map_err(|error| WriteError::system(&self.path, error)),
                    Err(Errno::EXIST) => Err(meanwhile(&self.path)),
                    Err(error) => Err(WriteError::system(&self.path, error)),
                }
            }
            Err(error) => Err(WriteError::system(&self.path, error)),
        }
    }

    /// Change places with what was judged. What else has come to the name in between gets it back.
    fn take_name_of(&self, there: &Found, part: &OsStr) -> Result<(), WriteError> {
        let failed = |error: Errno| WriteError::system(&self.path, error);
        let change = || renameat_with(&self.folder, part, &self.folder, &self.name, RenameFlags::EXCHANGE);
        match change() {
            Ok(()) => {}
            Err(Errno::NOENT) => return self.take_free_name(part),
            // It was judged a moment ago, and the file system can do no more.
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {
                return renameat(&self.folder, part, &self.folder, &self.name).map_err(failed);
            }
            Err(error) => return Err(failed(error)),
        }
        let before = look(&self.folder, part).map_err(|error| WriteError::system(&self.path, error))?;
        if before.is_some_and(|before| same(&before.about, &there.about)) {
            return unlinkat(&self.folder, part, AtFlags::empty()).map_err(failed);
        }
        change().map_err(failed)?;
        Err(meanwhile(&self.path))
    }
}

impl Write for NewFile<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.file.write(bytes)?;
        self.sum.update(&bytes[..count]);
        self.summed += count as u64;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for NewFile<'_> {
    fn drop(&mut self) {
        if let Some(part) = &self.part {
            let _ = unlinkat(&self.folder, part, AtFlags::empty());
        }
    }
}

/// Make a file of these bytes; where it is synced they have reached the disk before it has its name.
pub fn write(path: &Path, bytes: &[u8], replace: Replace, mode: u32, synced: bool) -> Result<(), WriteError> {
    let mut file = NewFile::begin(path, replace, mode)?;
    let written = file.write_all(bytes).and_then(|()| if synced { file.file.sync_all() } else { Ok(()) });
    written.map_err(|error| WriteError::system(path, error))?;
    file.commit().map(drop)
}

/// Remove a file as far as it might be replaced.
pub fn remove(path: &Path, replace: Replace) -> Result<(), WriteError> {
    let failed = |error: Errno| WriteError::system(path, error);
    let (folder, name) = place(path)?;
    let Some(there) = judged(&folder, name, path, &replace)? else { return Ok(()) };
    let part = part_name();
    renameat(&folder, name, &folder, &part).map_err(failed)?;
    let found = look(&folder, &part).map_err(|error| WriteError::system(path, error))?;
    if found.is_some_and(|found| same(&found.about, &there.about)) {
        return unlinkat(&folder, &part, AtFlags::empty()).map_err(failed);
    }
    renameat_with(&folder, &part, &folder, name, RenameFlags::NOREPLACE).map_err(failed)?;
    Err(meanwhile(path))
}

/// Whether a file could be made there, with a block in it. Leaves nothing behind.
pub fn check(path: &Path, replace: Replace) -> Result<(), WriteError> {
    let mut file = NewFile::begin(path, replace, PRIVATE)?;
    let tried = file.write_all(&[0; 4096]).and_then(|()| file.file.sync_data());
    tried.map_err(|error| WriteError::system(path, error))
}

/// Open a file that pslc keeps beside another, to read it or to go on in it: never through a link, and never one that
/// has another name. None where there is none.
pub fn open(path: &Path, write: bool) -> Result<Option<File>, WriteError> {
    // A pipe would hold up whoever opens it.
    let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK;
    let file = match OpenOptions::new().read(true).write(write).custom_flags(flags).open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) if error.raw_os_error() == Some(libc::ELOOP) => {
            return Err(refused(path, "is a symbolic link").into());
        }
        Err(error) => return Err(WriteError::system(path, error)),
    };
    let about = file.metadata().map_err(|error| WriteError::system(path, error))?;
    plain(&about, path)?;
    Ok(Some(file))
}

/// The folder of a file, and its name there.
fn place(path: &Path) -> Result<(File, &OsStr), WriteError> {
    let Some(name) = path.file_name() else {
        let what = format!("{} is no name of a file", path.display());
        return Err(OpenError::new(what, "give a file in a folder that is there").into());
    };
    let parent = match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    };
    let folder = OpenOptions::new().read(true).custom_flags(libc::O_DIRECTORY).open(parent);
    Ok((folder.map_err(|error| WriteError::system(path, error))?, name))
}

/// What has a name in a folder, where it may be replaced; None where nothing has it.
fn judged(folder: &File, name: &OsStr, path: &Path, replace: &Replace) -> Result<Option<Found>, WriteError> {
    let Some(found) = look(folder, name).map_err(|error| WriteError::system(path, error))? else {
        return Ok(None);
    };
    let there = &found.about;
    if there.file_type().is_symlink() {
        let leads = readlinkat(folder, name, Vec::new()).unwrap_or_default();
        let what = format!("is a symbolic link, to {}", leads.to_string_lossy());
        return Err(refused(path, &what).into());
    }
    // Whoever has it open knows what it is; its other names keep what they have.
    if let Replace::This(file) = replace {
        if file.metadata().is_ok_and(|about| same(&about, there)) {
            return Ok(Some(found));
        }
    }
    plain(there, path)?;
    if there.mode() & 0o222 == 0 {
        let what = format!("is read-only (mode {:o})", there.mode() & 0o7777);
        return Err(refused(path, &what).into());
    }
    let read = || -> Result<File, WriteError> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file =
            openat(folder, name, flags, Mode::empty()).map_err(|error| WriteError::system(path, error))?;
        Ok(File::from(file))
    };
    let may = match replace {
        Replace::Never | Replace::This(_) => false,
        Replace::Any => true,
        Replace::Like(start) => begins(&mut read()?, start),
        Replace::Ours(start) => match mark::fits(&read()?) {
            Some(fits) => fits,
            None => start.is_some_and(|start| read().is_ok_and(|mut file| begins(&mut file, start))),
        },
    };
    match (may, replace) {
        (true, _) => Ok(Some(found)),
        (false, Replace::Never) => Err(OpenError::new(
            format!("{} exists, and is not overwritten", path.display()),
            "give another name, or remove that file",
        )
        .into()),
        (false, _) => Err(OpenError::new(
            format!("{} was not made by pslc, or was changed since, and is not overwritten", path.display()),
            "move it to another place, or remove it",
        )
        .into()),
    }
}

/// Fails for what is no regular file with one name.
fn plain(about: &Metadata, path: &Path) -> Result<(), OpenError> {
    let kind: FileType = about.file_type();
    if !kind.is_file() {
        return Err(refused(path, &format!("is no regular file, but {}", facts::kind(&kind))));
    }
    if about.nlink() > 1 {
        return Err(refused(path, &format!("has {} names (hard links)", about.nlink())));
    }
    Ok(())
}

fn refused(path: &Path, what: &str) -> OpenError {
    OpenError::new(
        format!("{} {what}, and is not overwritten", path.display()),
        "give the name of a new file, or remove that one",
    )
}

fn meanwhile(path: &Path) -> WriteError {
    let what = format!("{} was put there by another program meanwhile", path.display());
    OpenError::new(what, "nothing was written over; run it again, with another name").into()
}

/// Whether a file begins so, as far as it goes: nothing is lost with an empty one.
fn begins(file: &mut File, start: &[u8]) -> bool {
    let mut found = Vec::new();
    let read = file.take(start.len() as u64).read_to_end(&mut found);
    read.is_ok() && start.starts_with(&found)
}

fn same(one: &Metadata, other: &Metadata) -> bool {
    (one.dev(), one.ino(), one.nlink()) == (other.dev(), other.ino(), other.nlink())
}

/// What has a name in a folder, without opening or following it.
#[cfg(target_os = "linux")]
fn look(folder: &File, name: &OsStr) -> io::Result<Option<Found>> {
    match openat(folder, name, OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty()) {
        Ok(file) => {
            let file = File::from(file);
            Ok(Some(Found { about: file.metadata()?, _held: Some(file) }))
        }
        Err(Errno::NOENT) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

#[cfg(not(target_os = "linux"))]
fn look(folder: &File, name: &OsStr) -> io::Result<Option<Found>> {
    let path = rustix::fs::getpath(folder)?;
    match std::fs::symlink_metadata(Path::new(OsStr::from_bytes(path.as_bytes())).join(name)) {
        Ok(about) => Ok(Some(Found { about, _held: None })),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

#[cfg(not(target_os = "linux"))]
use std::os::unix::ffi::OsStrExt;

/// A file without a name: whoever is killed leaves nothing behind.
#[cfg(target_os = "linux")]
fn unnamed(folder: &File, mode: u32) -> Option<File> {
    let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
    openat(folder, ".", flags, Mode::from_raw_mode(mode)).ok().map(File::from)
}

#[cfg(not(target_os = "linux"))]
fn unnamed(_: &File, _: u32) -> Option<File> {
    None
}

/// A file with a name that nobody guesses.
fn named(folder: &File, mode: u32) -> io::Result<(File, OsString)> {
    let flags = OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::RDWR | OFlags::CLOEXEC;
    loop {
        let part = part_name();
        match openat(folder, &part, flags, Mode::from_raw_mode(mode as _)) {
            Ok(file) => return Ok((File::from(file), part)),
            Err(Errno::EXIST) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// Give a file without a name one that nobody guesses.
#[cfg(target_os = "linux")]
fn linked(folder: &File, file: &File) -> io::Result<OsString> {
    use std::os::fd::AsRawFd;

    let itself = format!("/proc/self/fd/{}", file.as_raw_fd());
    loop {
        let part = part_name();
        match rustix::fs::linkat(rustix::fs::CWD, &itself, folder, &part, AtFlags::SYMLINK_FOLLOW) {
            Ok(()) => return Ok(part),
            Err(Errno::EXIST) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

#[cfg(not(target_os = "linux"))]
fn linked(_: &File, _: &File) -> io::Result<OsString> {
    unreachable!("each file has a name")
}

fn part_name() -> OsString {
    format!(".pslc-{:016x}.part", random()).into()
}

#[cfg(test)]
mod tests;
