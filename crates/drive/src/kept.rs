//! Files that hold a simulated drive: one command at a time has such a file, and changes it whole or not at all.
//!
//! ```text
//!   disk.pslc           locked (flock) while a command has it
//!   ...                 the next one is written without a name, synced, locked; then it takes the name
//!   disk.pslc.journal   what it was asked since, while it is served; whoever opens it next brings it up to that
//!   disk.pslc.data      what was written to it, while it is served
//! ```

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use memmap2::Mmap;
use pslc_ssd::state::{self, About, Kept, StateError};
use pslc_ssd::{Machine, Nanos};

use crate::data;
use crate::error::{failed, no_drive, DriveFileError, OpenError};
use crate::files::{self, NewFile, Replace};
use crate::journal;
use crate::sys;

/// Between two writes to the file.
const BUFFER: usize = 1 << 20;

/// The file of a drive, which nobody else has.
#[derive(Debug)]
pub struct KeptDrive {
    path: PathBuf,
    /// Locked.
    file: File,
    recovered: bool,
}

impl KeptDrive {
    /// Take the file of a drive and read it. If whoever served it was killed, that was a loss of power.
    pub fn open(path: &Path) -> Result<(KeptDrive, Kept), OpenError> {
        // Where a link leads to is what is replaced, not the link.
        let path = sys::canonical(path).map_err(|error| failed("open the drive", path, error))?;
        let file = locked(&path)?;
        // SAFETY: whoever else writes to it, against the lock, makes what is read something else, which the checksums find.
        let bytes = unsafe { Mmap::map(&file) };
        let (kept, recovered) = match bytes {
            Ok(bytes) => {
                state::check_length(&bytes).map_err(|error| no_drive(&path, error))?;
                // From a disk that is read ahead twice as fast; where the kernel does not want to know, it is read all the same.
                #[cfg(unix)]
                let _ = bytes.advise(memmap2::Advice::Sequential);
                // All pages at once, rather than a fault for every few of them.
                #[cfg(target_os = "linux")]
                let _ = bytes.advise(memmap2::Advice::PopulateRead);
                let mut kept = state::read(&bytes).map_err(|error| no_drive(&path, error))?;
                let recovered = journal::recovered(&path, &mut kept, || state::read(&bytes));
                (kept, recovered?)
            }
            Err(_) if file.metadata().is_ok_and(|about| about.len() == 0) => {
                return Err(no_drive(&path, StateError::Foreign));
            }
            Err(error) => return Err(failed("read the drive", &path, error)),
        };
        Ok((KeptDrive { path, file, recovered }, kept))
    }

    /// Make the file of a new drive, where there is none.
    pub fn create(path: &Path, about: &About, now: Nanos, machine: &Machine) -> Result<KeptDrive, OpenError> {
        if fs::symlink_metadata(path).is_ok() {
            return Err(DriveFileError::Exists { path: path.to_path_buf() }.into());
        }
        if let Some(beside) =
            [data::path(path), journal::path(path)].into_iter().find(|of| fs::symlink_metadata(of).is_ok())
        {
            return Err(DriveFileError::LeftBehind { path: beside }.into());
        }
        let file = written(path, about, now, machine, Replace::Never)?;
        Ok(KeptDrive { path: path.to_path_buf(), file, recovered: false })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether it is not in its file as it was opened: it lost its power.
    pub fn recovered(&self) -> bool {
        self.recovered
    }

    /// Fails where `save` could not make the file.
    pub fn check_save(&self) -> Result<(), OpenError> {
        Ok(NewFile::begin(&self.path, Replace::This(&self.file), files::SHARED).map(drop)?)
    }

    /// Put the drive in the place of what the file held; there is no journal afterwards.
    pub fn save(&mut self, about: &About, now: Nanos, machine: &Machine) -> Result<(), OpenError> {
        self.save_beside_journal(about, now, machine)?;
        journal::remove(&self.path);
        self.recovered = false;
        Ok(())
    }

    /// The same, where the journal goes on.
    pub fn save_beside_journal(&mut self, about: &About, now: Nanos, machine: &Machine) -> Result<(), OpenError> {
        // The new file is locked before it has the name, so nobody comes between.
        self.file = written(&self.path, about, now, machine, Replace::This(&self.file))?;
        Ok(())
    }
}

/// Whether a file begins as that of a drive does.
pub fn is_kept(path: &Path) -> bool {
    let mut start = [0; 16];
    let read = regular(path).ok().and_then(|mut file| io::Read::read(&mut file, &mut start).ok());
    read.is_some_and(|count| state::begins(&start[..count]))
}

/// Write a drive, whole, synced and locked, and give it its name.
fn written(path: &Path, about: &About, now: Nanos, machine: &Machine, replace: Replace) -> Result<File, OpenError> {
    let new = NewFile::begin(path, replace, files::SHARED)?;
    let write = || {
        sys::lock(new.file())?;
        let mut out = BufWriter::with_capacity(BUFFER, new.file());
        state::write(&mut out, about, now, machine)?;
        out.flush()
    };
    write().map_err(|error: io::Error| failed("save the drive", path, error))?;
    Ok(new.commit()?)
}

/// Open a regular file to read it. Nothing else is opened: a pipe would wait for who writes to it, and a device may begin
/// something.
fn regular(path: &Path) -> Result<File, OpenError> {
    let failed = |error| failed("open the drive", path, error);
    let plain = |of: sys::About| {
        if of.is_file() {
            Ok(())
        } else {
            Err(DriveFileError::NotRegular { path: path.to_path_buf(), kind: of.kind() })
        }
    };
    plain(sys::About::at(path).map_err(failed)?)?;
    let file = sys::open_patiently(path).map_err(failed)?;
    // It may be another one by now.
    plain(sys::About::of(&file).map_err(failed)?)?;
    Ok(file)
}

/// Open and lock the file of a drive, which still has its name then.
fn locked(drive: &Path) -> Result<File, OpenError> {
    loop {
        let file = regular(drive)?;
        if !sys::lock(&file).map_err(|error| failed("lock the drive", drive, error))? {
            return Err(DriveFileError::Held { path: drive.to_path_buf(), by: holder(&file) }.into());
        }
        let (there, ours) = (sys::About::at(drive), sys::About::of(&file));
        // Otherwise whoever had it has just put another in its place.
        if there.is_ok_and(|there| ours.is_ok_and(|ours| there.is_same_file(&ours))) {
            return Ok(file);
        }
    }
}

#[cfg(target_os = "linux")]
fn holder(file: &File) -> Option<String> {
    crate::guard::holders::flocked(std::os::unix::fs::MetadataExt::ino(&file.metadata().ok()?))
}

#[cfg(not(target_os = "linux"))]
fn holder(_: &File) -> Option<String> {
    None
}
