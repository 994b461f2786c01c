//! Files that hold a simulated drive, with their journal and their data.

use std::io;
use std::path::PathBuf;

use pslc_ssd::faults;

use crate::sys::limit_hint;

/// What to do with data of another drive.
const OTHER_DATA: &str = "move it to another place, or serve the drive with --data memory; nothing was written";

faults! {
    /// Why a simulated drive cannot be taken from its file, or be put there.
    #[derive(Debug, thiserror::Error)]
    pub enum DriveFileError {
        #[error("the drive has no file")]
        NoFile = "drive-no-file" => "save(\"disk.pslc\") makes one",
        #[error("{path} exists, and is not overwritten")]
        Exists { path: PathBuf } = "drive-exists" => "give the new drive another file",
        #[error("{path} is {kind}, not a regular file")]
        NotRegular { path: PathBuf, kind: &'static str } = "drive-not-regular"
            => "pslc drives create FILE --like NAME makes the file of a drive",
        /// A journal, or data, beside no drive.
        #[error("{path} is there, of a drive that is not")]
        LeftBehind { path: PathBuf } = "drive-left-behind"
            => "give the new drive another file, or remove that one; nothing was written",
        /// By whom, where that is known.
        #[error("{path}: the drive is held by {}", by.as_deref().unwrap_or("another program"))]
        Held { path: PathBuf, by: Option<String> } = "drive-held"
            => "one command at a time has a drive: wait for that one to end",
        #[error("{path} is no journal of this drive: it is of another one, or damaged")]
        WrongJournal { path: PathBuf } = "drive-wrong-journal"
            => "move it to another place; what the drive was asked since it was saved is lost if it is its own",
        #[error("no memory for its data: {source}")]
        NoMemoryForData { source: io::Error } = "drive-data-no-memory" => "--data none keeps none",
        #[error("{path}: {source}")]
        DataNotKept { path: PathBuf, source: io::Error } = "drive-data-not-kept"
            => limit_hint(source).unwrap_or_else(|| "make room, or serve it with --data memory".into()),
        #[error("{path} was not made by pslc, and would be written over")]
        ForeignData { path: PathBuf } = "drive-data-foreign" => OTHER_DATA,
        #[error("{path} holds the data of another drive")]
        DataOfAnother { path: PathBuf } = "drive-data-of-another" => OTHER_DATA,
    }
}
