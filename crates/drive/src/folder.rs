//! Where files may be made or overwritten: on a file system that holds files, in a folder that lets go of them.

use std::fs::File;
use std::path::Path;

use rustix::fs::{ioctl_getflags, IFlags};

use crate::error::OpenError;
use crate::handle;
use crate::mounts;

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
    let mount = mounts::of(file).unwrap_or_default();
    if KERNEL.contains(&mount.kind.as_str()) {
        return Err(OpenError::new(format!("{shown} is on {}, which is the kernel's", mount.kind), hint));
    }
    let real = handle::real_path(file).unwrap_or_else(|_| path.to_path_buf());
    if let Some(system) = SYSTEM.iter().find(|system| real.starts_with(system)) {
        if !real.starts_with(SHARED_MEMORY) {
            return Err(OpenError::new(format!("{shown} is in {system}, which is the system's"), hint));
        }
    }
    Ok(())
}

/// Fails where the name of a file could not be removed again, or none be made.
pub fn lets_go(folder: &File, path: &Path) -> Result<(), OpenError> {
    // Not every file system knows such marks.
    let flags = ioctl_getflags(folder).unwrap_or(IFlags::empty());
    for (flag, word) in [(IFlags::APPEND, "append-only"), (IFlags::IMMUTABLE, "immutable")] {
        if flags.contains(flag) {
            return Err(OpenError::new(
                format!("{}: its folder is {word}, so a scratch file could not be removed", path.display()),
                "give a path in another folder on the drive; nothing was written",
            ));
        }
    }
    Ok(())
}
