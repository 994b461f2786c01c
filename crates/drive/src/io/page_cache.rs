//! What the page cache is told: how a job will work, and what to forget.

use std::fs::File;
use std::io;
use std::num::NonZeroU64;
use std::os::fd::AsRawFd;

use pslc_load::job::{Advice, Job};

use crate::handle;

/// The file once more, for one worker, with what it has the system know.
pub fn open_for(file: &File, job: &Job) -> io::Result<File> {
    let own = handle::reopen(file, true, 0)?;
    let advice = match job.advice {
        Some(Advice::Random) => rustix::fs::Advice::Random,
        Some(Advice::Sequential) => rustix::fs::Advice::Sequential,
        None => return Ok(own),
    };
    // Nothing but speed depends on it.
    let _ = rustix::fs::fadvise(&own, 0, None, advice);
    Ok(own)
}

/// A range of a file, without what is dirty, as far as the system follows the advice.
pub fn forget(file: &File, offset: u64, len: u64) {
    let _ = rustix::fs::fadvise(file, offset, NonZeroU64::new(len), rustix::fs::Advice::DontNeed);
}

/// All of a block device, with what is dirty.
pub fn forget_device(device: &File) {
    const BLKFLSBUF: libc::c_ulong = 0x1261;
    // SAFETY: the call takes no argument, and the descriptor is open.
    unsafe { libc::ioctl(device.as_raw_fd(), BLKFLSBUF as _, 0) };
}
