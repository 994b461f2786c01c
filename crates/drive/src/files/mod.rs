//! The one way in which pslc makes files: whole or not at all, and never over what is not its own.
//!
//! ```text
//!   NewFile::begin    the folder is opened once; what has the name there is looked at
//!      write ...      a file without a name (O_TMPFILE), or with a random one (O_EXCL|O_NOFOLLOW)
//!   NewFile::commit   its bytes reach the disk; looked at again, then the two names change places, so that
//!                     whatever has come to the name meanwhile is found out and gets it back; the folder
//!                     reaches the disk: after a power cut there is the file before, whole, or this one
//! ```
//!
//! A link, a file with several names, a device, a pipe, a socket and a read-only file are never replaced, whoever asks.

mod mark;
mod random;

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use crate::error::{failed, FileError, OpenError};
use crate::sys::{self, About, Folder};

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

/// Why a file was not made.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    #[error(transparent)]
    Refused(#[from] FileError),
    #[error("{}: {error}", path.display())]
    System { path: PathBuf, error: io::Error },
}

impl WriteError {
    fn system(path: &Path, error: io::Error) -> WriteError {
        WriteError::System { path: path.to_path_buf(), error }
    }
}

impl From<WriteError> for OpenError {
    fn from(error: WriteError) -> OpenError {
        match error {
            WriteError::Refused(error) => error.into(),
            WriteError::System { path, error } => failed("write it", &path, error),
        }
    }
}

impl From<WriteError> for io::Error {
    fn from(error: WriteError) -> io::Error {
        match error {
            WriteError::System { error, .. } => error,
            WriteError::Refused(error) => io::Error::other(error),
        }
    }
}

/// A file that gets its name when it is whole. Dropped before that it is gone.
#[derive(Debug)]
pub struct NewFile<'a> {
    path: PathBuf,
    folder: Folder,
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
        let (file, part) = folder
            .create_unnamed(mode)
            .map_or_else(|| named(&folder, mode).map(|(file, part)| (file, Some(part))), |file| Ok((file, None)))
            .and_then(|(file, part)| {
                sys::make_own(&file)?;
                folder.hand_over(&file)?;
                Ok((file, part))
            })
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

    /// It gets its name, on the disk, where its bytes have come before. The file stays open.
    pub fn commit(mut self) -> Result<File, WriteError> {
        self.file.sync_all().map_err(|error| WriteError::system(&self.path, error))?;
        let file = self.take_name()?;
        self.folder.sync().map_err(|error| WriteError::system(&self.path, error))?;
        Ok(file)
    }

    /// It gets its name. The file stays open. A power cut may leave it empty, or without its name.
    pub fn commit_unsynced(mut self) -> Result<File, WriteError> {
        self.take_name()
    }

    fn take_name(&mut self) -> Result<File, WriteError> {
        let there = judged(&self.folder, &self.name, &self.path, &self.replace)?;
        if let Some(there) = &there {
            there.hand_down(&self.file).map_err(|error| WriteError::system(&self.path, error))?;
        }
        if self.file.metadata().is_ok_and(|about| about.len() == self.summed) {
            mark::set(&self.file, self.sum.clone());
        }
        let part = match self.part.clone() {
            Some(part) => part,
            None => linked(&self.folder, &self.file).map_err(|error| WriteError::system(&self.path, error))?,
        };
        self.part = Some(part.clone());
        match there {
            None => self.take_free_name(&part)?,
            Some(there) => self.take_name_of(there, &part)?,
        }
        self.part = None;
        self.file.try_clone().map_err(|error| WriteError::system(&self.path, error))
    }

    fn take_free_name(&self, part: &OsStr) -> Result<(), WriteError> {
        match self.folder.rename(part, &self.name) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(meanwhile(&self.path)),
            renamed => renamed.map_err(|error| WriteError::system(&self.path, error)),
        }
    }

    /// Change places with what was judged. What else has come to the name in between gets it back.
    fn take_name_of(&self, there: About, part: &OsStr) -> Result<(), WriteError> {
        let failed = |error| WriteError::system(&self.path, error);
        match self.folder.exchange(part, &self.name) {
            Ok(true) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => return self.take_free_name(part),
            // It was judged a moment ago, and the file system can do no more.
            Ok(false) => {
                drop(there);
                return self.folder.replace(part, &self.name).map_err(failed);
            }
            Err(error) => return Err(failed(error)),
        }
        let before = self.folder.look(part).map_err(failed)?;
        if before.is_some_and(|before| there.is_unchanged(&before)) {
            return self.folder.remove(part).map_err(failed);
        }
        self.folder.exchange(part, &self.name).map_err(failed)?;
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
            let _ = self.folder.remove(part);
        }
    }
}

/// Make a file of these bytes, on the disk where it is to be `synced`.
pub fn write(path: &Path, bytes: &[u8], replace: Replace, mode: u32, synced: bool) -> Result<(), WriteError> {
    let mut file = NewFile::begin(path, replace, mode)?;
    file.write_all(bytes).map_err(|error| WriteError::system(path, error))?;
    let committed = if synced { file.commit() } else { file.commit_unsynced() };
    committed.map(drop)
}

/// Remove a file as far as it might be replaced.
pub fn remove(path: &Path, replace: Replace) -> Result<(), WriteError> {
    let failed = |error| WriteError::system(path, error);
    let (folder, name) = place(path)?;
    let Some(there) = judged(&folder, name, path, &replace)? else { return Ok(()) };
    let part = part_name();
    folder.rename(name, &part).map_err(failed)?;
    if folder.look(&part).map_err(failed)?.is_some_and(|now| there.is_unchanged(&now)) {
        drop(there);
        return folder.remove(&part).map_err(failed);
    }
    folder.rename(&part, name).map_err(failed)?;
    Err(meanwhile(path))
}

/// Whether a file could be made there, with a block in it. Leaves nothing behind.
pub fn check(path: &Path, replace: Replace) -> Result<(), WriteError> {
    let mut file = NewFile::begin(path, replace, PRIVATE)?;
    let tried = file.write_all(&[0; 4096]).and_then(|()| file.file.sync_data());
    tried.map_err(|error| WriteError::system(path, error))
}

/// Who became root by sudo owns what was made at `path`, if its folder is theirs.
pub fn hand_over(path: &Path) -> io::Result<()> {
    Folder::open(sys::parent(path))?.hand_over(&sys::open_patiently(path)?)
}

/// Open a file that pslc keeps beside another, to read it or to go on in it: never through a link, and never one that
/// has another name. None where there is none.
pub fn open(path: &Path, write: bool) -> Result<Option<File>, WriteError> {
    let file = match sys::open_itself(path, write) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) if sys::is_link_error(&error) => {
            return Err(FileError::Link { path: path.to_path_buf(), to: None }.into());
        }
        Err(error) => return Err(WriteError::system(path, error)),
    };
    let about = About::of(&file).map_err(|error| WriteError::system(path, error))?;
    plain(&about, path)?;
    Ok(Some(file))
}

/// The folder of a file, and its name there.
fn place(path: &Path) -> Result<(Folder, &OsStr), WriteError> {
    let Some(name) = path.file_name() else {
        return Err(FileError::NoName { path: path.to_path_buf() }.into());
    };
    if let Some(why) = sys::bad_name(name) {
        return Err(FileError::BadName { path: path.to_path_buf(), why }.into());
    }
    let folder = Folder::open(sys::parent(path)).map_err(|error| WriteError::system(path, error))?;
    Ok((folder, name))
}

/// What has a name in a folder, where it may be replaced; None where nothing has it.
fn judged(folder: &Folder, name: &OsStr, path: &Path, replace: &Replace) -> Result<Option<About>, WriteError> {
    let Some(there) = folder.look(name).map_err(|error| WriteError::system(path, error))? else {
        return Ok(None);
    };
    if there.is_link() {
        let to = Some(folder.leads_to(name));
        return Err(FileError::Link { path: path.to_path_buf(), to }.into());
    }
    // Whoever has it open knows what it is; its other names keep what they have.
    let is_this =
        matches!(replace, Replace::This(file) if About::of(file).is_ok_and(|about| about.is_unchanged(&there)));
    if !is_this {
        plain(&there, path)?;
    }
    if let Some(why) = there.read_only() {
        let is_another_users = there.is_another_users();
        return Err(FileError::ReadOnly { path: path.to_path_buf(), why, is_another_users }.into());
    }
    if is_this {
        return Ok(Some(there));
    }
    let read = || folder.read(name).map_err(|error| WriteError::system(path, error));
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
        (true, _) => Ok(Some(there)),
        (false, Replace::Never) => Err(FileError::Exists { path: path.to_path_buf() }.into()),
        (false, _) => Err(FileError::NotOurs { path: path.to_path_buf() }.into()),
    }
}

/// Fails for what is no regular file with one name.
fn plain(about: &About, path: &Path) -> Result<(), FileError> {
    if !about.is_file() {
        return Err(FileError::NotRegular { path: path.to_path_buf(), kind: about.kind() });
    }
    if about.names() > 1 {
        return Err(FileError::HardLinks { path: path.to_path_buf(), names: about.names() });
    }
    Ok(())
}

fn meanwhile(path: &Path) -> WriteError {
    FileError::TakenMeanwhile { path: path.to_path_buf() }.into()
}

/// Whether a file begins so, as far as it goes: nothing is lost with an empty one.
fn begins(file: &mut File, start: &[u8]) -> bool {
    let mut head = Vec::new();
    let read = file.take(start.len() as u64).read_to_end(&mut head);
    read.is_ok() && start.starts_with(&head)
}

/// A file with a name that nobody guesses.
fn named(folder: &Folder, mode: u32) -> io::Result<(File, OsString)> {
    loop {
        let part = part_name();
        match folder.create(&part, mode) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            made => return made.map(|file| (file, part)),
        }
    }
}

/// Give a file without a name one that nobody guesses.
fn linked(folder: &Folder, file: &File) -> io::Result<OsString> {
    loop {
        let part = part_name();
        match folder.link(file, &part) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            linked => return linked.map(|()| part),
        }
    }
}

fn part_name() -> OsString {
    format!(".pslc-{:016x}.part", random()).into()
}

#[cfg(test)]
mod tests;
