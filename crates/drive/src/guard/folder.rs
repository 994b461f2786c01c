//! Where files may be made or overwritten: on a file system that holds files, in a folder that lets go of them.

use std::fs::File;
use std::path::Path;

use crate::error::TargetFileError;

/// File systems whose files are the kernel's.
const KERNEL: &[&str] = &[
    "proc",
    "sysfs",
    "devtmpfs",
    "devpts",
    "debugfs",
    "tracefs",
    "securityfs",
    "cgroup",
    "cgroup2",
    "bpf",
    "efivarfs",
    "pstore",
    "configfs",
    "mqueue",
    "fusectl",
    "binfmt_misc",
    "autofs",
    "rpc_pipefs",
    "nsfs",
    "selinuxfs",
    "smackfs",
    "resctrl",
    "functionfs",
    "hugetlbfs",
];
/// Folders of the system, whatever is mounted there, and what may be used within.
const SYSTEM: &[&str] = &["/dev", "/proc", "/sys"];
const SHARED_MEMORY: &str = "/dev/shm";

/// Fails where no file of a user's is: for a file, or the folder of one.
pub fn check(file: &File, path: &Path) -> Result<(), TargetFileError> {
    let file_system = system::file_system(file);
    if KERNEL.contains(&file_system.as_str()) {
        return Err(TargetFileError::KernelFileSystem { path: path.to_path_buf(), file_system });
    }
    let real = system::real_path(file).unwrap_or_else(|| path.to_path_buf());
    if let Some(folder) = SYSTEM.iter().find(|system| real.starts_with(system)) {
        if !real.starts_with(SHARED_MEMORY) {
            return Err(TargetFileError::SystemFolder { path: path.to_path_buf(), folder });
        }
    }
    Ok(())
}

/// Fails where the name of a file could not be removed again, or none be made.
pub fn lets_go(folder: &File, path: &Path) -> Result<(), TargetFileError> {
    match system::keeps(folder) {
        None => Ok(()),
        Some(mark) => Err(TargetFileError::LockedFolder { path: path.to_path_buf(), mark }),
    }
}

#[cfg(target_os = "linux")]
mod system {
    use std::fs::File;
    use std::path::PathBuf;

    use rustix::fs::{ioctl_getflags, IFlags};

    use crate::{guard::mounts, handle};

    /// The kind of file system, empty where that is unknown.
    pub fn file_system(file: &File) -> String {
        mounts::of(file).unwrap_or_default().kind
    }

    pub fn real_path(file: &File) -> Option<PathBuf> {
        handle::real_path(file).ok()
    }

    /// Why a folder lets go of no name.
    pub fn keeps(folder: &File) -> Option<&'static str> {
        // Not every file system knows such marks.
        let flags = ioctl_getflags(folder).unwrap_or(IFlags::empty());
        let words = [(IFlags::APPEND, "append-only"), (IFlags::IMMUTABLE, "immutable")];
        words.into_iter().find(|(flag, _)| flags.contains(*flag)).map(|(_, word)| word)
    }
}

#[cfg(target_os = "macos")]
mod system {
    use std::ffi::OsString;
    use std::fs::File;
    use std::os::darwin::fs::MetadataExt;
    use std::os::unix::ffi::OsStringExt;
    use std::path::PathBuf;

    /// Not asked: what is the kernel's is below /dev.
    pub fn file_system(_: &File) -> String {
        String::new()
    }

    pub fn real_path(file: &File) -> Option<PathBuf> {
        let path = rustix::fs::getpath(file).ok()?;
        Some(OsString::from_vec(path.into_bytes()).into())
    }

    /// Why a folder lets go of no name.
    pub fn keeps(folder: &File) -> Option<&'static str> {
        let flags = folder.metadata().ok()?.st_flags();
        let words = [
            (libc::UF_APPEND | libc::SF_APPEND, "append-only"),
            (libc::UF_IMMUTABLE | libc::SF_IMMUTABLE, "immutable"),
        ];
        words.into_iter().find(|(flag, _)| flags & flag != 0).map(|(_, word)| word)
    }
}
