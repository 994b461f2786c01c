//! Threads that each do one request at a time: everywhere, at the price of a thread for each request under way.

use std::io;
use std::os::fd::BorrowedFd;
use std::sync::mpsc::{channel, Receiver, Sender};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use pslc_ssd::Op;

use super::{Done, Task};

const MOST: u32 = 256;

pub struct Threads {
    /// Dropped first, which ends the threads.
    tasks: Option<Sender<Task>>,
    /// In a mutex only so that the whole may be shared; one thread asks.
    done: Mutex<Receiver<Done>>,
    workers: Vec<JoinHandle<()>>,
}

impl Threads {
    pub fn new(slots: u32) -> io::Result<Threads> {
        let (tasks, queue) = channel::<Task>();
        let (finished, done) = channel();
        let queue = Arc::new(Mutex::new(queue));
        let workers = (0..slots.clamp(1, MOST)).map(|_| {
            let (queue, finished) = (queue.clone(), finished.clone());
            std::thread::Builder::new().name("pslc-io".into()).spawn(move || loop {
                let task = queue.lock().expect("no worker panics with it").recv();
                let Ok(task) = task else { return };
                if finished.send(Done { slot: task.slot, result: perform(&task) }).is_err() {
                    return;
                }
            })
        });
        Ok(Threads {
            tasks: Some(tasks),
            done: Mutex::new(done),
            workers: workers.collect::<io::Result<_>>()?,
        })
    }

    pub fn submit(&mut self, task: Task) -> io::Result<()> {
        let tasks = self.tasks.as_ref().expect("not dropped yet");
        tasks.send(task).map_err(|_| io::Error::other("every thread has ended"))
    }

    pub fn next(&mut self, wait: Duration) -> Option<Done> {
        self.done.get_mut().expect("nobody panics with it").recv_timeout(wait).ok()
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        self.tasks = None;
        for worker in self.workers.drain(..) {
            let _ = worker.join();
        }
    }
}

/// Do it here and now.
pub fn perform(task: &Task) -> io::Result<u32> {
    let request = &task.request;
    let len = if matches!(request.op, Op::Read | Op::Write) { request.len as usize } else { 0 };
    // SAFETY: the file stays open while requests are under way.
    let fd = unsafe { BorrowedFd::borrow_raw(task.fd) };
    // SAFETY: the buffer is this slot's own and long enough.
    let buffer = unsafe { std::slice::from_raw_parts_mut(task.buffer, len) };
    let moved = match request.op {
        Op::Read => rustix::io::pread(fd, buffer, request.offset)?,
        Op::Write => match task.sync {
            None => rustix::io::pwrite(fd, buffer, request.offset)?,
            Some(mode) => system::write_through(fd, buffer, request.offset, mode)?,
        },
        Op::Trim => {
            system::trim(fd, request.offset, request.len as u64)?;
            0
        }
        Op::Flush => {
            system::flush(fd, task.data_only)?;
            0
        }
    };
    Ok(moved as u32)
}

#[cfg(target_os = "linux")]
mod system {
    use std::io::{self, IoSlice};
    use std::os::fd::BorrowedFd;

    use pslc_load::job::SyncMode;
    use rustix::fs::FallocateFlags;
    use rustix::io::ReadWriteFlags;

    pub fn write_through(fd: BorrowedFd, bytes: &[u8], offset: u64, mode: SyncMode) -> io::Result<usize> {
        let flags = match mode {
            SyncMode::Sync => ReadWriteFlags::SYNC,
            SyncMode::Dsync => ReadWriteFlags::DSYNC,
        };
        Ok(rustix::io::pwritev2(fd, &[IoSlice::new(bytes)], offset, flags)?)
    }

    pub fn trim(fd: BorrowedFd, offset: u64, len: u64) -> io::Result<()> {
        Ok(rustix::fs::fallocate(fd, FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE, offset, len)?)
    }

    pub fn flush(fd: BorrowedFd, data_only: bool) -> io::Result<()> {
        Ok(if data_only { rustix::fs::fdatasync(fd) } else { rustix::fs::fsync(fd) }?)
    }
}

#[cfg(target_os = "macos")]
mod system {
    use std::io;
    use std::os::fd::BorrowedFd;

    use pslc_load::job::SyncMode;

    pub fn write_through(fd: BorrowedFd, bytes: &[u8], offset: u64, _: SyncMode) -> io::Result<usize> {
        let moved = rustix::io::pwrite(fd, bytes, offset)?;
        flush(fd, true)?;
        Ok(moved)
    }

    pub fn trim(_: BorrowedFd, _: u64, _: u64) -> io::Result<()> {
        Err(io::Error::new(io::ErrorKind::Unsupported, "pslc trims on Linux only"))
    }

    /// `fsync` leaves data in the drive's buffer here.
    pub fn flush(fd: BorrowedFd, _: bool) -> io::Result<()> {
        Ok(rustix::fs::fcntl_fullfsync(fd)?)
    }
}
