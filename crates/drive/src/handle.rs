//! A path is looked up once. What is opened, inspected and written afterwards is what was found then, whatever the path
//! leads to by then.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// Find `path` without opening what it leads to: opening alone can start a watchdog or block on a FIFO. A symbolic link
/// is followed when `follow`.
pub fn find(path: &Path, follow: bool) -> io::Result<File> {
    let flags = libc::O_PATH | if follow { 0 } else { libc::O_NOFOLLOW };
    OpenOptions::new().read(true).custom_flags(flags).open(path)
}

/// Open the same inode again, with flags such as O_DIRECT.
pub fn reopen(file: &File, write: bool, flags: i32) -> io::Result<File> {
    OpenOptions::new().read(true).write(write).custom_flags(flags).open(itself(file))
}

/// Where a descriptor leads to, by the kernel; what is renamed keeps its name here.
pub fn real_path(file: &File) -> io::Result<PathBuf> {
    fs::read_link(itself(file))
}

/// A path to what is open, which no name leads elsewhere.
pub fn itself(file: &File) -> PathBuf {
    PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()))
}
