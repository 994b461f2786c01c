//! The files that pslc makes: what may not be replaced.

use std::path::PathBuf;

use pslc_ssd::codes;

/// Why a file must not be made, gone on in or removed.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    #[error("{path} is no name of a file")]
    NoName { path: PathBuf },
    #[error("{path}: {why}, and is no name of a file")]
    BadName { path: PathBuf, why: &'static str },
    #[error("{path} is a symbolic link{}, and is not overwritten", leads(to.as_deref()))]
    Link { path: PathBuf, to: Option<String> },
    #[error("{path} is read-only ({why}), and is not overwritten")]
    ReadOnly { path: PathBuf, why: String },
    #[error("{path} is no regular file, but {kind}, and is not overwritten")]
    NotRegular { path: PathBuf, kind: &'static str },
    #[error("{path} has {names} names (hard links), and is not overwritten")]
    HardLinks { path: PathBuf, names: u64 },
    #[error("{path} exists, and is not overwritten")]
    Exists { path: PathBuf },
    #[error("{path} was not made by pslc, or was changed since, and is not overwritten")]
    NotOurs { path: PathBuf },
    /// Between the look at its name and taking it.
    #[error("{path} was put there by another program meanwhile")]
    TakenMeanwhile { path: PathBuf },
}

codes!(FileError {
    NoName => "output-no-name",
    BadName => "output-bad-name",
    Link => "output-is-link",
    ReadOnly => "output-read-only",
    NotRegular => "output-not-regular",
    HardLinks => "output-hard-links",
    Exists => "output-exists",
    NotOurs => "output-not-written-by-pslc",
    TakenMeanwhile => "output-taken-meanwhile",
});

impl FileError {
    /// What to do next.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::NoName { .. } => "give a file in a folder that is there",
            Self::BadName { .. } => "give another name",
            Self::Link { .. } | Self::ReadOnly { .. } | Self::NotRegular { .. } | Self::HardLinks { .. } => {
                "give the name of a new file, or remove that one"
            }
            Self::Exists { .. } => "give another name, or remove that file",
            Self::NotOurs { .. } => "move it to another place, or remove it",
            Self::TakenMeanwhile { .. } => "nothing was written over; run it again, with another name",
        }
    }
}

/// Where a link leads to, where that is known.
fn leads(to: Option<&str>) -> String {
    to.map_or_else(String::new, |to| format!(", to {to}"))
}
