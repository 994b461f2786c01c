//! io_uring: a few requests are handed over in one call, but never so many that the drive runs out of them.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use io_uring::types::{Fd, FsyncFlags, SubmitArgs, Timespec};
use io_uring::{opcode, squeue, IoUring};
use pslc_load::job::SyncMode;
use pslc_ssd::Op;
use rustix::fs::FallocateFlags;
use rustix::process::{getrlimit, Resource};

use super::{Done, Task, PATIENCE};

pub struct Uring {
    ring: IoUring,
    /// The buffers are registered, as buffer 0.
    fixed: bool,
    under_way: u32,
    /// In the submission queue, and how many of them are handed over without waiting for more.
    gathered: u32,
    batch: u32,
    /// The ticker is under way.
    ticking: bool,
}

/// `IORING_ENTER_GETEVENTS`.
const GETEVENTS: u32 = 1;
/// Marks the ticker's completion; slots are far fewer.
const TICKER: u64 = u64::MAX;
/// [`PATIENCE`], as the ring takes it.
static PERIOD: Timespec = Timespec::new().nsec(PATIENCE.as_nanos() as u32);

/// A ring of this process was built before.
static BUILT: AtomicBool = AtomicBool::new(false);
/// How long the kernel may take to give back what rings had locked that are closed: it does so behind the call.
const GIVEN_BACK_WITHIN: Duration = Duration::from_secs(2);

/// A ring; who may lock little memory waits until that of closed rings is given back.
fn build(entries: u32) -> io::Result<IoUring> {
    let begin = Instant::now();
    loop {
        // Completions are only looked at when this thread asks: no interrupts of it, on kernels that can.
        let ring = IoUring::builder()
            .setup_single_issuer()
            .setup_defer_taskrun()
            .build(entries)
            .or_else(|_| IoUring::new(entries));
        let error = match ring {
            Ok(ring) => {
                BUILT.store(true, Ordering::Relaxed);
                return Ok(ring);
            }
            Err(error) => error,
        };
        match error.raw_os_error() {
            Some(libc::EPERM) => {
                let what = "forbidden by a container or by kernel.io_uring_disabled";
                return Err(io::Error::new(io::ErrorKind::PermissionDenied, what));
            }
            Some(libc::ENOMEM) => {}
            _ => return Err(error),
        }
        if !BUILT.load(Ordering::Relaxed) || begin.elapsed() > GIVEN_BACK_WITHIN {
            let limit = getrlimit(Resource::Memlock).current;
            let limit = limit.map_or("unlimited".into(), |bytes| (bytes >> 10).to_string());
            return Err(io::Error::other(format!("locked memory: ulimit -l {limit}")));
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

impl Uring {
    pub fn new(slots: u32, memory: &mut [u8]) -> io::Result<Uring> {
        let entries = slots.next_power_of_two().clamp(8, 32_768);
        if slots > entries {
            return Err(io::Error::other(format!("{slots} requests at once; io_uring takes 32768")));
        }
        let ring = build(entries)?;
        if !ring.params().is_feature_ext_arg() {
            return Err(io::Error::other("io_uring without timed waits (Linux before 5.11)"));
        }
        let region = libc::iovec { iov_base: memory.as_mut_ptr().cast(), iov_len: memory.len() };
        // Locked memory may be limited, and one buffer is 1 GiB at most; those that are not registered only cost more.
        // SAFETY: the memory outlives the ring, which is drained before either goes.
        let fixed = unsafe { ring.submitter().register_buffers(&[region]) }.is_ok();
        // A single request is handed over by the call that waits for it.
        let batch = if slots == 1 { 2 } else { (slots / 8).clamp(1, 32) };
        Ok(Uring { ring, fixed, under_way: 0, gathered: 0, batch, ticking: false })
    }

    pub fn submit(&mut self, task: Task) -> io::Result<bool> {
        let entry = self.entry(&task).user_data(task.slot as u64);
        // SAFETY: the buffer of a slot is its own until the request has come back; there is room, a slot has one request.
        unsafe { self.ring.submission().push(&entry) }.map_err(|_| io::Error::other("the queue is full"))?;
        self.under_way += 1;
        self.gathered += 1;
        let full = self.gathered >= self.batch;
        if full {
            // What has come back meanwhile is put into the completion queue by this thread alone, in a call that asks for
            // it; waits do, but there is none while some requests are done at once.
            let to_submit = self.ring.submission().len() as u32;
            // SAFETY: nothing is passed beside the queue.
            unsafe { self.ring.submitter().enter::<()>(to_submit, 0, GETEVENTS, None)? };
            self.gathered = 0;
        }
        Ok(full)
    }

    fn entry(&self, task: &Task) -> squeue::Entry {
        let (fd, request) = (Fd(task.fd), &task.request);
        let flags = match task.sync {
            Some(SyncMode::Sync) => rustix::io::ReadWriteFlags::SYNC.bits() as i32,
            Some(SyncMode::Dsync) => rustix::io::ReadWriteFlags::DSYNC.bits() as i32,
            None => 0,
        };
        match (request.op, self.fixed) {
            (Op::Read, true) => opcode::ReadFixed::new(fd, task.buffer, request.len, 0).offset(request.offset).build(),
            (Op::Read, false) => opcode::Read::new(fd, task.buffer, request.len).offset(request.offset).build(),
            (Op::Write, true) => {
                opcode::WriteFixed::new(fd, task.buffer, request.len, 0).offset(request.offset).rw_flags(flags).build()
            }
            (Op::Write, false) => {
                opcode::Write::new(fd, task.buffer, request.len).offset(request.offset).rw_flags(flags).build()
            }
            (Op::Trim, _) => opcode::Fallocate::new(fd, request.len as u64)
                .offset(request.offset)
                .mode((FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE).bits() as i32)
                .build(),
            (Op::Flush, _) => {
                let flags = if task.data_only { FsyncFlags::DATASYNC } else { FsyncFlags::empty() };
                opcode::Fsync::new(fd).flags(flags).build()
            }
        }
    }

    /// Hand over what was gathered and wait for a completion, at the latest the ticker's. A wait with a limit of its own
    /// would set and cancel a timer for each request.
    fn wait(&mut self) -> io::Result<()> {
        if !self.ticking {
            let entry = opcode::Timeout::new(&PERIOD).build().user_data(TICKER);
            // SAFETY: the period is there for ever.
            self.ticking = unsafe { self.ring.submission().push(&entry) }.is_ok();
            if !self.ticking {
                // No room: it comes with the next wait.
                self.ring.submit()?;
                return Ok(());
            }
        }
        match self.ring.submit_and_wait(1) {
            Err(error) if error.kind() != io::ErrorKind::Interrupted => Err(error),
            _ => Ok(()),
        }
    }

    pub fn next(&mut self, wait: Duration) -> io::Result<Option<Done>> {
        loop {
            if let Some(entry) = self.ring.completion().next() {
                if entry.user_data() == TICKER {
                    self.ticking = false;
                    return Ok(None);
                }
                self.under_way -= 1;
                let result = match entry.result() {
                    moved if moved >= 0 => Ok(moved as u32),
                    errno => Err(io::Error::from_raw_os_error(-errno)),
                };
                return Ok(Some(Done { slot: entry.user_data() as u32, result }));
            }
            if self.under_way == 0 {
                std::thread::sleep(wait);
                return Ok(None);
            }
            self.gathered = 0;
            if wait >= PATIENCE {
                self.wait()?;
                continue;
            }
            let limit = Timespec::from(wait);
            let arguments = SubmitArgs::new().timespec(&limit);
            match self.ring.submitter().submit_with_args(1, &arguments) {
                Ok(_) => {}
                // Nothing came back in time.
                Err(error) if error.raw_os_error() == Some(rustix::io::Errno::TIME.raw_os_error()) => {
                    if self.ring.completion().is_empty() {
                        return Ok(None);
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}
