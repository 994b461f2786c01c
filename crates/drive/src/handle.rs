//! A path is looked up once. What is opened, inspected and written afterwards is what was found then, whatever the path
//! leads to by then.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
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

fn itself(file: &File) -> PathBuf {
    PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()))
}

/// What is neither a regular file nor a block device is called.
pub fn kind(of: &fs::FileType) -> &'static str {
    match of {
        of if of.is_char_device() => "a character device",
        of if of.is_fifo() => "a FIFO",
        of if of.is_socket() => "a socket",
        of if of.is_dir() => "a folder",
        of if of.is_symlink() => "a symbolic link",
        of if of.is_block_device() => "a block device",
        _ => "a file",
    }
}
