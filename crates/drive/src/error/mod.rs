//! Why a file or a device cannot be used. Nothing was written.
//!
//! An error is what was found, as data. Its sentence (`Display`), its hint and its code are made of that here, and nowhere
//! else. Programs go by the code, which stays when a sentence is put better.

use std::io;
use std::path::{Path, PathBuf};

use pslc_ssd::faults;
use pslc_ssd::state::StateError;
pub use pslc_ssd::Hint;

use crate::sys::limit_hint;

mod device;
mod drive_file;
mod job;
mod new_file;
mod physical_drive;
mod target_file;
mod unsupported;

pub use device::DeviceError;
pub use drive_file::DriveFileError;
pub use job::UnfitJob;
pub use new_file::FileError;
pub use physical_drive::PhysicalDriveError;
pub use target_file::TargetFileError;
pub use unsupported::Unsupported;

/// Why something cannot be opened or made, by what it is.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    #[error(transparent)]
    Device(#[from] DeviceError),
    #[error(transparent)]
    PhysicalDrive(#[from] PhysicalDriveError),
    #[error(transparent)]
    TargetFile(#[from] TargetFileError),
    #[error(transparent)]
    Unsupported(#[from] Unsupported),
    #[error(transparent)]
    File(#[from] FileError),
    #[error(transparent)]
    DriveFile(#[from] DriveFileError),
    /// The bytes of a drive file.
    #[error("{path}: {source}")]
    State { path: PathBuf, source: StateError },
    #[error(transparent)]
    System(#[from] SystemError),
}

impl OpenError {
    /// What programs know this error by, however its sentence is put.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Device(error) => error.code(),
            Self::PhysicalDrive(error) => error.code(),
            Self::TargetFile(error) => error.code(),
            Self::Unsupported(error) => error.code(),
            Self::File(error) => error.code(),
            Self::DriveFile(error) => error.code(),
            Self::State { source, .. } => source.code(),
            Self::System(error) => error.code(),
        }
    }

    /// What to do next.
    pub fn hint(&self) -> Hint {
        match self {
            Self::Device(error) => error.hint(),
            Self::PhysicalDrive(error) => error.hint(),
            Self::TargetFile(error) => error.hint(),
            Self::Unsupported(error) => error.hint(),
            Self::File(error) => error.hint(),
            Self::DriveFile(error) => error.hint(),
            Self::State { source, .. } => source.hint(),
            Self::System(error) => error.hint(),
        }
    }
}

faults! {
    /// What the system did not do with a path; `action` is what follows "cannot".
    #[derive(Debug, thiserror::Error)]
    pub enum SystemError {
        #[error("{path}: cannot {action}: {}", words(source))]
        NoRoom { action: &'static str, path: PathBuf, source: io::Error } = "system-no-room"
            => "make room on that file system, or give another folder",
        #[error("{path}: cannot {action}: {}", words(source))]
        Failed { action: &'static str, path: PathBuf, source: io::Error } = "system-failed"
            => limit_hint(source)
                .unwrap_or_else(|| "give a path in a folder on the drive that you can write to".into()),
    }
}

/// The error of a drive file whose bytes are no drive.
pub fn no_drive(path: &Path, source: StateError) -> OpenError {
    OpenError::State { path: path.to_path_buf(), source }
}

/// The error of an action on a path.
pub fn failed(action: &'static str, path: &Path, source: io::Error) -> OpenError {
    let path = path.to_path_buf();
    let error = match source.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => SystemError::NoRoom { action, path, source },
        _ => SystemError::Failed { action, path, source },
    };
    error.into()
}

/// An error of the system without its number.
fn words(error: &io::Error) -> String {
    #[cfg(windows)]
    if let Some(words) = error.raw_os_error().and_then(|code| crate::sys::words(code as u32)) {
        return words.into();
    }
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or(&text).to_string()
}

/// The codes of all errors of this crate.
pub fn codes() -> impl Iterator<Item = &'static str> {
    let types = [
        DeviceError::CODES,
        PhysicalDriveError::CODES,
        TargetFileError::CODES,
        Unsupported::CODES,
        UnfitJob::CODES,
        FileError::CODES,
        DriveFileError::CODES,
        SystemError::CODES,
    ];
    types.into_iter().flatten().copied()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn each_code_is_of_one_variant_and_in_kebab_case() {
        let mut distinct = HashSet::new();
        for code in codes() {
            assert!(distinct.insert(code), "{code} is of two variants");
            let plain =
                code.split('-').all(|word| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_lowercase()));
            assert!(plain, "{code}");
        }
        assert!(distinct.len() > 50);
    }

    #[test]
    fn a_full_disk_has_a_code_and_a_hint_of_its_own() {
        let full = failed("save the drive", Path::new("/x/disk"), io::ErrorKind::StorageFull.into());
        assert_eq!(full.code(), "system-no-room");
        assert!(full.hint().starts_with("make room"));
        let other = failed("open it", Path::new("/x/disk"), io::Error::from_raw_os_error(2));
        assert_eq!(other.code(), "system-failed");
        assert_eq!(other.to_string(), "/x/disk: cannot open it: No such file or directory");
    }
}
