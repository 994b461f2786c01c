//! Files to measure on: new ones, those that are there, and the folders they are in.

use std::path::PathBuf;

use pslc_ssd::codes;

use super::Hint;

/// Why a file must not be made, or written to, to measure on it.
#[derive(Debug, thiserror::Error)]
pub enum TargetFileError {
    #[error("{path} is on {file_system}, which is the kernel's")]
    KernelFileSystem { path: PathBuf, file_system: String },
    #[error("{path} is in {folder}, which is the system's")]
    SystemFolder { path: PathBuf, folder: &'static str },
    /// Its mark is `append-only` or `immutable`.
    #[error("{path}: its folder is {mark}, so a scratch file could not be removed")]
    LockedFolder { path: PathBuf, mark: &'static str },

    #[error("a scratch file of {bytes} bytes")]
    ScratchTooSmall { bytes: u64 },
    #[error("{path} names no file")]
    ScratchNameless { path: PathBuf },
    /// A name that the system keeps for a device, or does not take.
    #[error("{path}: {why}")]
    ScratchBadName { path: PathBuf, why: &'static str },
    #[error("{folder} is no folder")]
    ScratchNoFolder { folder: PathBuf },
    #[error("{path} exists, and is not overwritten")]
    ScratchExists { path: PathBuf },
    /// What has its name is no regular file.
    #[error("{path} exists, and is {kind}")]
    ScratchNameTaken { path: PathBuf, kind: &'static str },
    #[error(
        "{path}: {} wanted, but {} are free beyond what is kept ({kept_percent} % of the file system, 2 GB at least)",
        gb(*wanted_bytes),
        gb(*free_bytes)
    )]
    ScratchNoSpace { path: PathBuf, wanted_bytes: u64, free_bytes: u64, kept_percent: u64 },

    #[error("{path} is a symbolic link out of its folder, to {to}")]
    LinkOutOfFolder { path: PathBuf, to: PathBuf },
    #[error("{path} is no regular file, but a block device")]
    DeviceAsFile { path: PathBuf },
    #[error("{path} is no regular file, but {kind}")]
    NotRegular { path: PathBuf, kind: &'static str },
    #[error("{path} has {names} names (hard links), and would change under all of them")]
    HardLinks { path: PathBuf, names: u64 },
    #[error("{path} is read-only (mode {mode:o})")]
    ReadOnly { path: PathBuf, mode: u32 },
    /// Who uses it, a sentence each.
    #[error("{path} is in use:\n  {}", users.join("\n  "))]
    InUse { path: PathBuf, users: Vec<String> },
    /// `name` is what `--overwrite-file` takes.
    #[error("{path} was not made by pslc, or was changed since, and would be overwritten")]
    NotOurs { path: PathBuf, name: String },
    /// Since its user agreed to lose it.
    #[error("{path} is not what it was when it was looked at")]
    Changed { path: PathBuf },
    #[error("{path} is locked")]
    Locked { path: PathBuf },
    #[error("{path} has {bytes} bytes")]
    TooSmall { path: PathBuf, bytes: u64 },
}

codes!(TargetFileError {
    KernelFileSystem => "kernel-file-system",
    SystemFolder => "system-folder",
    LockedFolder => "locked-folder",
    ScratchTooSmall => "scratch-too-small",
    ScratchNameless => "scratch-nameless",
    ScratchBadName => "scratch-bad-name",
    ScratchNoFolder => "scratch-no-folder",
    ScratchExists => "scratch-exists",
    ScratchNameTaken => "scratch-name-taken",
    ScratchNoSpace => "scratch-no-space",
    LinkOutOfFolder => "file-link-out-of-folder",
    DeviceAsFile => "file-is-device",
    NotRegular => "file-not-regular",
    HardLinks => "file-hard-links",
    ReadOnly => "file-read-only",
    InUse => "file-in-use",
    NotOurs => "file-not-written-by-pslc",
    Changed => "file-changed",
    Locked => "file-locked",
    TooSmall => "file-too-small",
});

impl TargetFileError {
    /// What to do next.
    pub fn hint(&self) -> Hint {
        match self {
            Self::KernelFileSystem { .. } | Self::SystemFolder { .. } => {
                "give a file in a folder on the drive to be measured; nothing was written".into()
            }
            Self::LockedFolder { .. } => {
                "give a path in another folder on the drive; nothing was written".into()
            }
            Self::ScratchTooSmall { .. } => "--size=20GB, for one".into(),
            Self::ScratchNameless { .. } | Self::ScratchBadName { .. } => {
                "measure on a new file on the drive: --on FILE --size 20GB; nothing was written".into()
            }
            Self::ScratchNoFolder { .. } => "give a path in a folder".into(),
            Self::ScratchExists { .. } if cfg!(windows) => "give a new name".into(),
            Self::ScratchExists { .. } => {
                "give a new name, or --reuse to measure on this file and lose what is in it".into()
            }
            Self::ScratchNameTaken { .. } => "give a new name in a folder on the drive to be measured".into(),
            Self::ScratchNoSpace { free_bytes, .. } => match free_bytes / 1_000_000 {
                0 => "give a folder on the drive's file system that has more room, or make some".into(),
                megabytes => format!("--size={megabytes}MB at most").into(),
            },
            Self::LinkOutOfFolder { to, .. } => format!("--on {}, if that is meant", to.display()).into(),
            Self::DeviceAsFile { .. } => "a block device is written only with --destroy-data SERIAL".into(),
            Self::NotRegular { .. } => "--reuse is for regular files; nothing was written".into(),
            Self::HardLinks { .. } => "measure on a copy of it; nothing was written".into(),
            Self::ReadOnly { .. } => "if it may be lost: chmod u+w; nothing was written".into(),
            Self::InUse { .. } => "stop what uses it; nothing was written".into(),
            Self::NotOurs { name, .. } => {
                format!("if it may be lost: --reuse --overwrite-file {name}; nothing was written").into()
            }
            Self::Changed { .. } => "look again what it is; nothing was written".into(),
            Self::Locked { .. } => "wait until it is free; nothing was written".into(),
            Self::TooSmall { .. } => "at least 8 KiB; without --reuse one is made with --size".into(),
        }
    }
}

fn gb(bytes: u64) -> String {
    format!("{:.1} GB", bytes as f64 / 1e9)
}
