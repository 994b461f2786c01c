//! A completion port of Windows: reads and writes are handed over one by one, and whichever is done first comes first.
//! Flushes and trims, which Windows does while the caller waits, are made by threads that tell the port.

use std::cell::UnsafeCell;
use std::collections::VecDeque;
use std::io;
use std::os::windows::io::{AsRawHandle, FromRawHandle, OwnedHandle};
use std::ptr::null_mut;
use std::sync::mpsc::{channel, Receiver, Sender};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use pslc_ssd::Op;
use windows_sys::Win32::Foundation::{ERROR_HANDLE_EOF, ERROR_IO_PENDING, HANDLE, INVALID_HANDLE_VALUE, WAIT_TIMEOUT};
use windows_sys::Win32::Media::{timeBeginPeriod, timeEndPeriod};
use windows_sys::Win32::Storage::FileSystem::{ReadFile, WriteFile};
use windows_sys::Win32::System::IO::{
    CreateIoCompletionPort, GetQueuedCompletionStatus, PostQueuedCompletionStatus, OVERLAPPED, OVERLAPPED_0,
    OVERLAPPED_0_0,
};

use super::{perform, Done, Task, PATIENCE};
use crate::sys::{worded, Raw};

/// Flushes and trims at once.
const MAX_HELPERS: u32 = 8;
/// Whose a completion is: the system's, or a thread's, which has left the result.
const OF_SYSTEM: usize = 0;
const OF_HELPER: usize = 1;

/// Where a request stands, while the system has it: its number in `places` is that of its slot.
type Place = UnsafeCell<OVERLAPPED>;

pub struct Port {
    /// Dropped first, which ends the threads.
    helpers: Option<Helpers>,
    port: Arc<OwnedHandle>,
    places: Box<[Place]>,
    slots: u32,
    under_way: u32,
    /// What was refused at once, of which the port never hears.
    refused: VecDeque<Done>,
}

// SAFETY: the system writes to a place until its request has come back, and nobody reads it before.
unsafe impl Send for Port {}
// SAFETY: everything that is done needs the whole of it.
unsafe impl Sync for Port {}

struct Helpers {
    tasks: Option<Sender<Task>>,
    done: Mutex<Receiver<Done>>,
    threads: Vec<JoinHandle<()>>,
}

fn place(offset: u64) -> OVERLAPPED {
    let at = OVERLAPPED_0_0 { Offset: offset as u32, OffsetHigh: (offset >> 32) as u32 };
    OVERLAPPED { Internal: 0, InternalHigh: 0, Anonymous: OVERLAPPED_0 { Anonymous: at }, hEvent: null_mut() }
}

impl Port {
    pub fn new(slots: u32) -> io::Result<Port> {
        // SAFETY: it is a new port, of no file yet.
        let port = unsafe { CreateIoCompletionPort(INVALID_HANDLE_VALUE, null_mut(), 0, 1) };
        if port.is_null() {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the handle is new and nobody else's.
        let port = Arc::new(unsafe { OwnedHandle::from_raw_handle(port as _) });
        let places = (0..slots.max(1)).map(|_| UnsafeCell::new(place(0))).collect();
        // Waits end on ticks of the system's timer, of 15.6 ms otherwise.
        // SAFETY: the call takes a number; `drop` takes it back.
        unsafe { timeBeginPeriod(1) };
        Ok(Port { helpers: None, port, places, slots, under_way: 0, refused: VecDeque::new() })
    }

    /// Hear of the requests of a file, which is of no other port.
    pub fn attach(&mut self, file: Raw) -> io::Result<()> {
        // SAFETY: both handles are open.
        let port = unsafe { CreateIoCompletionPort(file as HANDLE, self.handle(), OF_SYSTEM, 1) };
        if port.is_null() {
            return Err(io::Error::last_os_error());
        }
        Ok(())
    }

    fn handle(&self) -> HANDLE {
        self.port.as_raw_handle() as HANDLE
    }

    pub fn submit(&mut self, task: Task) -> io::Result<()> {
        let request = &task.request;
        let at = self.places[task.slot as usize].get();
        // SAFETY: a slot has one request, and the last one has come back.
        unsafe { *at = place(request.offset) };
        let file = task.fd as HANDLE;
        let done = match request.op {
            // SAFETY: the file is open and the buffer the slot's own until the request has come back.
            Op::Read => unsafe { ReadFile(file, task.buffer, request.len, null_mut(), at) },
            // SAFETY: as above.
            Op::Write => unsafe { WriteFile(file, task.buffer, request.len, null_mut(), at) },
            Op::Trim | Op::Flush => {
                self.under_way += 1;
                return self.help(task);
            }
        };
        if done == 0 {
            let error = io::Error::last_os_error();
            if error.raw_os_error() != Some(ERROR_IO_PENDING as i32) {
                self.refused.push_back(Done { slot: task.slot, result: moved_or(error) });
                return Ok(());
            }
        }
        self.under_way += 1;
        Ok(())
    }

    fn help(&mut self, task: Task) -> io::Result<()> {
        if self.helpers.is_none() {
            self.helpers = Some(Helpers::new(&self.port, self.slots.clamp(1, MAX_HELPERS))?);
        }
        let tasks = self.helpers.as_ref().and_then(|helpers| helpers.tasks.as_ref());
        tasks.expect("just made").send(task).map_err(|_| io::Error::other("every thread has ended"))
    }

    pub fn next(&mut self, wait: Duration) -> io::Result<Option<Done>> {
        if let Some(done) = self.refused.pop_front() {
            return Ok(Some(done));
        }
        if self.under_way == 0 {
            std::thread::sleep(wait);
            return Ok(None);
        }
        // What the timer cannot tell is waited for awake.
        let whole = wait.as_millis() as u32;
        let begin = Instant::now();
        loop {
            let left = wait.saturating_sub(begin.elapsed());
            let millis = if left >= PATIENCE { whole } else { (left.as_millis() as u32).saturating_sub(1) };
            match self.take(millis)? {
                Some(done) => return Ok(Some(done)),
                None if begin.elapsed() >= wait => return Ok(None),
                None if left < Duration::from_millis(2) => std::thread::yield_now(),
                None => {}
            }
        }
    }

    /// What has come back within so many milliseconds.
    fn take(&mut self, millis: u32) -> io::Result<Option<Done>> {
        let (mut moved, mut whose, mut at) = (0, 0, null_mut::<OVERLAPPED>());
        // SAFETY: the port is open, and the call fills in three values.
        let taken = unsafe { GetQueuedCompletionStatus(self.handle(), &mut moved, &mut whose, &mut at, millis) };
        let error = (taken == 0).then(io::Error::last_os_error);
        if whose == OF_HELPER && taken != 0 {
            self.under_way -= 1;
            let helpers = self.helpers.as_ref().expect("it has told of one");
            return Ok(helpers.done.lock().expect("nobody panics with it").try_recv().ok());
        }
        if at.is_null() {
            return match error {
                Some(error) if error.raw_os_error() != Some(WAIT_TIMEOUT as i32) => Err(error),
                _ => Ok(None),
            };
        }
        self.under_way -= 1;
        let slot = (at as usize - self.places.as_ptr() as usize) / size_of::<Place>();
        let result = error.map_or(Ok(moved), moved_or);
        Ok(Some(Done { slot: slot as u32, result }))
    }
}

/// Nothing is read behind the end of a file, which is no error elsewhere.
fn moved_or(error: io::Error) -> io::Result<u32> {
    match error.raw_os_error() {
        Some(code) if code == ERROR_HANDLE_EOF as i32 => Ok(0),
        _ => Err(worded(error)),
    }
}

impl Drop for Port {
    fn drop(&mut self) {
        // The system writes to places and buffers until then.
        while self.under_way > 0 && self.next(PATIENCE).is_ok() {}
        self.helpers = None;
        // SAFETY: `new` has asked for it.
        unsafe { timeEndPeriod(1) };
    }
}

impl Helpers {
    fn new(port: &Arc<OwnedHandle>, count: u32) -> io::Result<Helpers> {
        let (tasks, queue) = channel::<Task>();
        let (finished, done) = channel();
        let queue = Arc::new(Mutex::new(queue));
        let threads = (0..count).map(|_| {
            let (queue, finished, port) = (queue.clone(), finished.clone(), port.clone());
            std::thread::Builder::new().name("pslc-flush".into()).spawn(move || loop {
                let task = queue.lock().expect("no thread panics with it").recv();
                let Ok(task) = task else { return };
                if finished.send(Done { slot: task.slot, result: perform(&task) }).is_err() {
                    return;
                }
                // SAFETY: the port is open for as long as this thread has it.
                unsafe { PostQueuedCompletionStatus(port.as_raw_handle() as HANDLE, 0, OF_HELPER, null_mut()) };
            })
        });
        let threads = threads.collect::<io::Result<_>>()?;
        Ok(Helpers { tasks: Some(tasks), done: Mutex::new(done), threads })
    }
}

impl Drop for Helpers {
    fn drop(&mut self) {
        self.tasks = None;
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}
