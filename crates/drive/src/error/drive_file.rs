//! Files that hold a simulated drive, with their journal and their data.

use std::io;
use std::path::PathBuf;

use pslc_ssd::codes;

/// Why a simulated drive cannot be taken from its file, or be put there.
#[derive(Debug, thiserror::Error)]
pub enum DriveFileError {
    #[error("the drive has no file")]
    NoFile,
    #[error("{path} exists, and is not overwritten")]
    Exists { path: PathBuf },
    #[error("{path} is {kind}, not a regular file")]
    NotRegular { path: PathBuf, kind: &'static str },
    /// A journal, or data, beside no drive.
    #[error("{path} is there, of a drive that is not")]
    LeftBehind { path: PathBuf },
    /// By whom, where that is known.
    #[error("{path}: the drive is held by {}", by.as_deref().unwrap_or("another program"))]
    Held { path: PathBuf, by: Option<String> },
    #[error("{path} is no journal of this drive: it is of another one, or damaged")]
    WrongJournal { path: PathBuf },
    #[error("no memory for its data: {source}")]
    NoMemoryForData { source: io::Error },
    #[error("{path}: {source}")]
    DataNotKept { path: PathBuf, source: io::Error },
    #[error("{path} was not made by pslc, and would be written over")]
    ForeignData { path: PathBuf },
    #[error("{path} holds the data of another drive")]
    DataOfAnother { path: PathBuf },
}

codes!(DriveFileError {
    NoFile => "drive-no-file",
    Exists => "drive-exists",
    NotRegular => "drive-not-regular",
    LeftBehind => "drive-left-behind",
    Held => "drive-held",
    WrongJournal => "drive-wrong-journal",
    NoMemoryForData => "drive-data-no-memory",
    DataNotKept => "drive-data-not-kept",
    ForeignData => "drive-data-foreign",
    DataOfAnother => "drive-data-of-another",
});

impl DriveFileError {
    /// What to do next.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::NoFile => "save(\"disk.pslc\") makes one",
            Self::Exists { .. } => "give the new drive another file",
            Self::NotRegular { .. } => "pslc drives create FILE --like NAME makes the file of a drive",
            Self::LeftBehind { .. } => {
                "give the new drive another file, or remove that one; nothing was written"
            }
            Self::Held { .. } => "one command at a time has a drive: wait for that one to end",
            Self::WrongJournal { .. } => {
                "move it to another place; what the drive was asked since it was saved is lost if it is its own"
            }
            Self::NoMemoryForData { .. } => "--data none keeps none",
            Self::DataNotKept { .. } => "make room, or serve it with --data memory",
            Self::ForeignData { .. } | Self::DataOfAnother { .. } => {
                "move it to another place, or serve the drive with --data memory; nothing was written"
            }
        }
    }
}
