//! Where files may be made or overwritten: on a file system that holds files, in a folder that lets go of them.

use std::fs::File;
use std::path::Path;

use crate::error::OpenError;

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
pub fn check(file: &File, path: &Path) -> Result<(), OpenError> {
    let shown = path.display();
    let hint = "give a file in a folder on the drive to be measured; nothing was written";
    let kind = system::file_system(file);
    if KERNEL.contains(&kind.as_str()) {
        return Err(OpenError::new(format!("{shown} is on {kind}, which is the kernel's"), hint));
    }
    let real = system::real_path(file).unwrap_or_else(|| path.to_path_buf());
    if let Some(system) = SYSTEM.iter().find(|system| real.starts_with(system)) {
        if !real.starts_with(SHARED_MEMORY) {
            return Err(OpenError::new(format!("{shown} is in {system}, which is the system's"), hint));
        }
    }
    Ok(())
}

/// Fails where the name of a file could not be removed again, or none be made.
pub fn lets_go(folder: &File, path: &Path) -> Result<(), OpenError> {
    match system::keeps(folder) {
        None => Ok(()),
        Some(word) => Err(OpenError::new(
            format!("{}: its folder is {word}, so a scratch file could not be removed", path.display()),
            "give a path in another folder on the drive; nothing was written",
        )),
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
