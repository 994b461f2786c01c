//! The files that requests are made on, and how TRIM is said to them.

#[cfg(target_os = "linux")]
use std::fs::File;
#[cfg(target_os = "linux")]
use std::os::fd::AsRawFd;

use pslc_load::job::Job;

use super::RealTarget;
#[cfg(target_os = "linux")]
use crate::io::page_cache;
use crate::sys::{self, Raw};

/// How TRIM is said to what is underneath.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trim {
    PunchHole,
    #[cfg(any(target_os = "linux", windows))]
    Discard,
}

/// So many files may be opened for workers: a process has a limit, and needs some for itself.
#[cfg(target_os = "linux")]
const MOST_OPENED: usize = 256;

impl RealTarget {
    /// What a worker reads and writes with: past the page cache the same as all others. Through it a file of its own, as
    /// under fio, for what is read ahead is decided for each opened file; that of another where no more can be opened.
    #[cfg(not(windows))]
    pub(super) fn open_for(&mut self, job: &Job) -> std::io::Result<Raw> {
        if let Some(direct) = self.direct.as_ref().filter(|_| job.direct) {
            return Ok(sys::raw(direct));
        }
        #[cfg(target_os = "linux")]
        if self.opened.len() < MOST_OPENED {
            self.opened.extend(page_cache::open_for(&self.buffered, job));
        }
        Ok(sys::raw(self.opened.last().unwrap_or(&self.buffered)))
    }

    /// What a worker reads and writes with: a handle of its own, which the engine of this run hears of. One cannot be
    /// taken from an engine again.
    #[cfg(windows)]
    pub(super) fn open_for(&mut self, job: &Job) -> std::io::Result<Raw> {
        let file = sys::reopen(&self.buffered, job.direct, job.sync.is_some())?;
        let raw = sys::raw(&file);
        self.engine.as_mut().expect("it is made before").attach(raw)?;
        self.opened.push(file);
        Ok(raw)
    }
}

/// `BLKDISCARD` of a range of a block device.
#[cfg(target_os = "linux")]
pub fn discard(device: &File, offset: u64, len: u64) -> std::io::Result<()> {
    const BLKDISCARD: libc::c_ulong = 0x1277;
    let range = [offset, len];
    // SAFETY: the call reads two numbers from `range`, and the descriptor is open.
    match unsafe { libc::ioctl(device.as_raw_fd(), BLKDISCARD as _, range.as_ptr()) } {
        0 => Ok(()),
        _ => Err(std::io::Error::last_os_error()),
    }
}
