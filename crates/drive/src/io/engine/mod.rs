//! Ways to have many requests under way: io_uring on Linux, a completion port on Windows, or threads with positioned reads
//! and writes where neither can be had.

#[cfg(windows)]
mod port;
mod threads;
#[cfg(target_os = "linux")]
mod uring;

use std::io;
use std::time::Duration;

use pslc_load::job::SyncMode;
use pslc_ssd::{Op, Request};

use crate::sys::Raw;

#[cfg(windows)]
pub use port::Port;
pub use threads::{perform, Threads};
#[cfg(target_os = "linux")]
pub use uring::Uring;

/// Nothing is waited for longer than this before the caller may look round.
pub const PATIENCE: Duration = Duration::from_millis(100);

/// The name of an engine, as recordings hold it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Uring,
    Port,
    Threads,
}

impl Kind {
    /// That of this system.
    const OWN: Kind = if cfg!(target_os = "linux") {
        Kind::Uring
    } else if cfg!(windows) {
        Kind::Port
    } else {
        Kind::Threads
    };

    pub fn name(self) -> &'static str {
        match self {
            Kind::Uring => "io_uring",
            Kind::Port => "completion port",
            Kind::Threads => "threads",
        }
    }
}

/// A request as an engine needs it. The memory behind `buffer` stays where it is until the request has come back.
#[derive(Clone, Copy, Debug)]
pub struct Task {
    pub slot: u32,
    pub request: Request,
    pub fd: Raw,
    pub buffer: *mut u8,
    pub sync: Option<SyncMode>,
    /// A flush of data alone.
    pub data_only: bool,
}

// SAFETY: the buffer is a slot's own until its request has come back, whichever thread does the work.
unsafe impl Send for Task {}

/// A request that has come back: bytes moved, or the error of the system.
#[derive(Debug)]
pub struct Done {
    pub slot: u32,
    pub result: io::Result<u32>,
}

pub enum Engine {
    #[cfg(target_os = "linux")]
    Uring(Box<Uring>),
    #[cfg(windows)]
    Port(Port),
    Threads(Threads),
}

impl Engine {
    /// An engine for `slots` requests; `memory` holds all their buffers.
    pub fn new(kind: Kind, slots: u32, memory: &mut [u8]) -> io::Result<Engine> {
        match kind {
            Kind::Threads => Ok(Engine::Threads(Threads::new(slots)?)),
            Kind::Uring => Engine::uring(slots, memory),
            Kind::Port => Engine::port(slots),
        }
    }

    /// The system's own engine, or threads in its place, and why it cannot be had.
    pub fn best(slots: u32, memory: &mut [u8]) -> io::Result<(Engine, Option<io::Error>)> {
        match Engine::new(Kind::OWN, slots, memory) {
            Ok(engine) => Ok((engine, None)),
            Err(why) => Ok((Engine::new(Kind::Threads, slots, memory)?, (Kind::OWN != Kind::Threads).then_some(why))),
        }
    }

    #[cfg(target_os = "linux")]
    fn uring(slots: u32, memory: &mut [u8]) -> io::Result<Engine> {
        Ok(Engine::Uring(Box::new(Uring::new(slots, memory)?)))
    }

    #[cfg(not(target_os = "linux"))]
    fn uring(_: u32, _: &mut [u8]) -> io::Result<Engine> {
        Err(io::Error::new(io::ErrorKind::Unsupported, "io_uring is Linux's"))
    }

    #[cfg(windows)]
    fn port(slots: u32) -> io::Result<Engine> {
        Ok(Engine::Port(Port::new(slots)?))
    }

    #[cfg(not(windows))]
    fn port(_: u32) -> io::Result<Engine> {
        Err(io::Error::new(io::ErrorKind::Unsupported, "completion ports are Windows'"))
    }

    /// Before the first request to a file.
    #[cfg(windows)]
    pub fn attach(&mut self, file: Raw) -> io::Result<()> {
        match self {
            Engine::Port(port) => port.attach(file),
            Engine::Threads(_) => Ok(()),
        }
    }

    pub fn kind(&self) -> Kind {
        match self {
            #[cfg(target_os = "linux")]
            Engine::Uring(_) => Kind::Uring,
            #[cfg(windows)]
            Engine::Port(_) => Kind::Port,
            Engine::Threads(_) => Kind::Threads,
        }
    }

    /// Whether the system has it now, with all that came before; else it has it with the next call of `next`.
    #[inline]
    pub fn submit(&mut self, task: Task) -> io::Result<bool> {
        match self {
            #[cfg(target_os = "linux")]
            Engine::Uring(uring) => uring.submit(task),
            #[cfg(windows)]
            Engine::Port(port) => port.submit(task).map(|()| true),
            Engine::Threads(threads) => threads.submit(task).map(|()| true),
        }
    }

    /// The next request to come back, or `None` when `wait` has gone by with none.
    #[inline]
    pub fn next(&mut self, wait: Duration) -> io::Result<Option<Done>> {
        match self {
            #[cfg(target_os = "linux")]
            Engine::Uring(uring) => uring.next(wait),
            #[cfg(windows)]
            Engine::Port(port) => port.next(wait),
            Engine::Threads(threads) => Ok(threads.next(wait)),
        }
    }
}

/// What an operation is called in errors.
pub fn name(op: Op) -> &'static str {
    match op {
        Op::Read => "read",
        Op::Write => "write",
        Op::Trim => "trim",
        Op::Flush => "flush",
    }
}
