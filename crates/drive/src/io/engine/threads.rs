//! Threads that each do one request at a time: everywhere, at the price of a thread for each request under way.

use std::io;
use std::sync::mpsc::{channel, Receiver, Sender};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use pslc_ssd::Op;

use super::{Done, Task};
use crate::sys;

const MAX_WORKERS: u32 = 256;

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
        let workers = (0..slots.clamp(1, MAX_WORKERS)).map(|_| {
            let (queue, finished) = (queue.clone(), finished.clone());
            std::thread::Builder::new().name("pslc-io".into()).spawn(move || loop {
                let task = queue.lock().expect("no worker panics with it").recv();
                let Ok(task) = task else { return };
                if finished.send(Done { slot: task.slot, result: perform(&task) }).is_err() {
                    return;
                }
            })
        });
        Ok(Threads { tasks: Some(tasks), done: Mutex::new(done), workers: workers.collect::<io::Result<_>>()? })
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
    let fd = unsafe { sys::borrowed(task.fd) };
    // SAFETY: the buffer is this slot's own and long enough.
    let buffer = unsafe { std::slice::from_raw_parts_mut(task.buffer, len) };
    let moved = match request.op {
        Op::Read => sys::pread(fd, buffer, request.offset)?,
        Op::Write => match task.sync {
            None => sys::pwrite(fd, buffer, request.offset)?,
            Some(mode) => sys::write_through(fd, buffer, request.offset, mode)?,
        },
        Op::Trim => {
            sys::trim(fd, request.offset, request.len as u64)?;
            0
        }
        Op::Flush => {
            sys::flush(fd, task.data_only)?;
            0
        }
    };
    Ok(moved as u32)
}
