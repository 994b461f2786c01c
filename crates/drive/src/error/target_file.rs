//! Files to measure on: new ones, those that are there, and the folders they are in.

use std::path::PathBuf;

use pslc_ssd::faults;

use super::Hint;

/// Where a file can be.
const IN_A_FOLDER: &str = "give a file in a folder on the drive to be measured; nothing was written";
/// What to do instead.
pub(super) const ON_A_NEW_FILE: &str = "measure on a new file on the drive: --on FILE --size 20GB; nothing was written";

faults! {
    /// Why a file must not be made, or written to, to measure on it.
    #[derive(Debug, thiserror::Error)]
    pub enum TargetFileError {
        #[error("{path} is on {file_system}, which is the kernel's")]
        KernelFileSystem { path: PathBuf, file_system: String } = "kernel-file-system" => IN_A_FOLDER,
        #[error("{path} is in {folder}, which is the system's")]
        SystemFolder { path: PathBuf, folder: &'static str } = "system-folder" => IN_A_FOLDER,
        /// Its mark is `append-only` or `immutable`.
        #[error("{path}: its folder is {mark}, so a scratch file could not be removed")]
        LockedFolder { path: PathBuf, mark: &'static str } = "locked-folder"
            => "give a path in another folder on the drive; nothing was written",

        #[error("a scratch file of {bytes} bytes")]
        ScratchTooSmall { bytes: u64 } = "scratch-too-small" => "--size=20GB, for one",
        #[error("{path} names no file")]
        ScratchNameless { path: PathBuf } = "scratch-nameless" => ON_A_NEW_FILE,
        /// A name that the system keeps for a device, or does not take.
        #[error("{path}: {why}")]
        ScratchBadName { path: PathBuf, why: &'static str } = "scratch-bad-name" => ON_A_NEW_FILE,
        #[error("{folder} is no folder")]
        ScratchNoFolder { folder: PathBuf } = "scratch-no-folder" => "give a path in a folder",
        #[error("{path} exists, and is not overwritten")]
        ScratchExists { path: PathBuf } = "scratch-exists"
            => if cfg!(windows) {
                "give a new name"
            } else {
                "give a new name, or --reuse to measure on this file and lose what is in it"
            },
        /// What has its name is no regular file.
        #[error("{path} exists, and is {kind}")]
        ScratchNameTaken { path: PathBuf, kind: &'static str } = "scratch-name-taken"
            => "give a new name in a folder on the drive to be measured",
        #[error("{path} is on {file_system}, which tells no size")]
        ScratchNoSize { path: PathBuf, file_system: String } = "scratch-no-size"
            => "what lies there may be memory that a file fills up: give a folder on the drive to be measured",
        #[error("{path}: {} wanted, but FAT holds files of at most 4 GiB", size(*wanted_bytes))]
        ScratchBeyondFat { path: PathBuf, wanted_bytes: u64 } = "scratch-beyond-fat" => "--size 4GB",
        #[error(
            "{path}: {} wanted, but {} are free beyond what is kept ({kept_percent} % of {})",
            size(*wanted_bytes),
            size(*free_bytes),
            kept_of(*few, *quota)
        )]
        ScratchNoSpace {
            path: PathBuf, wanted_bytes: u64, free_bytes: u64, kept_percent: u64, few: bool, quota: bool
        }
            = "scratch-no-space"
            => match free_bytes / 1_000_000 {
                0 => Hint::from("give a folder on the drive's file system that has more room, or make some"),
                megabytes => format!("--size={megabytes}MB at most").into(),
            },

        #[error("{path} is a symbolic link out of its folder, to {to}")]
        LinkOutOfFolder { path: PathBuf, to: PathBuf } = "file-link-out-of-folder"
            => format!("--on {}, if that is meant", to.display()),
        #[error("{path} is no regular file, but a block device")]
        DeviceAsFile { path: PathBuf } = "file-is-device"
            => "a block device is written only with --destroy-data SERIAL",
        #[error("{path} is no regular file, but {kind}")]
        NotRegular { path: PathBuf, kind: &'static str } = "file-not-regular"
            => "--reuse is for regular files; nothing was written",
        #[error("{path} has {names} names (hard links), and would change under all of them")]
        HardLinks { path: PathBuf, names: u64 } = "file-hard-links"
            => "measure on a copy of it; nothing was written",
        #[error("{path} is read-only (mode {mode:o})")]
        ReadOnly { path: PathBuf, mode: u32 } = "file-read-only"
            => "if it may be lost: chmod u+w; nothing was written",
        /// Who uses it, a sentence each.
        #[error("{path} is in use: {}", users.join("; "))]
        InUse { path: PathBuf, users: Vec<String> } = "file-in-use"
            => "stop what uses it; nothing was written",
        /// `name` is what `--overwrite-file` takes.
        #[error("{path} was not made by pslc, or was changed since, and would be overwritten")]
        NotOurs { path: PathBuf, name: String } = "file-not-written-by-pslc"
            => format!("if it may be lost: --overwrite-file {name}; nothing was written"),
        /// Since its user agreed to lose it.
        #[error("{path} is not what it was when it was looked at")]
        Changed { path: PathBuf } = "file-changed" => "look again what it is; nothing was written",
        #[error("{path} is locked")]
        Locked { path: PathBuf } = "file-locked" => "wait until it is free; nothing was written",
        #[error("{path} has {bytes} bytes")]
        TooSmall { path: PathBuf, bytes: u64 } = "file-too-small"
            => "at least 8 KiB; without --reuse one is made with --size",
    }
}

fn size(bytes: u64) -> String {
    match bytes {
        0..1_000_000_000 => format!("{:.0} MB", bytes as f64 / 1e6),
        _ => format!("{:.1} GB", bytes as f64 / 1e9),
    }
}

fn kept_of(few: bool, quota: bool) -> &'static str {
    match (quota, few) {
        (true, _) => "its project's quota",
        (false, true) => "the file system",
        (false, false) => "the file system, 2 GB at least",
    }
}
