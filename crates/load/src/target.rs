//! The seam between a workload and what is underneath it: a simulated drive, a file, a block device.

use std::io;
use std::sync::Arc;

use pslc_ssd::{codes, Nanos, Pace, Request, Waits};

use crate::in_flight;
use crate::job::Job;
use crate::progress::Progress;
use crate::verify::Failure;

/// A request that has come back. `slot` is the number the runner gave it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completion {
    pub slot: u32,
    /// When it completed, on the target's clock.
    pub at: Nanos,
}

/// What a run took of the machine, since whenever.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    pub user: Nanos,
    pub system: Nanos,
    /// Context switches of either kind.
    pub switches: u64,
    pub major_faults: u64,
    pub minor_faults: u64,
}

impl Usage {
    /// That of `other` as well.
    pub(crate) fn add(&mut self, other: &Usage) {
        self.user += other.user;
        self.system += other.system;
        self.switches += other.switches;
        self.major_faults += other.major_faults;
        self.minor_faults += other.minor_faults;
    }
}

/// What a request is to a job that verifies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    Plain,
    /// Number of the write among those of its worker, from 0.
    Write(u64),
    /// It is read to be verified: what write of this number wrote, where that is known.
    Check(Option<u64>),
}

/// What came of a read that is to be verified; one that is wrong ends its job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// So many blocks are what was written.
    Right { blocks: u64 },
    /// Another write changed it meanwhile, so nothing can be said.
    Unjudged,
    /// The target keeps no data, or the job asks for no comparison.
    Unseen,
    /// A block is not what was written: `Target::failure` says which.
    Wrong,
}

/// A drive as the runner sees it: an asynchronous queue with a clock.
///
/// The clock is virtual on a simulated drive and the wall's on a real one; the runner never looks at another.
/// Requests are handed over in the order of their time of issue; completions come back in order of time.
pub trait Target {
    /// Completions between two looks at whether to go on. A target that is slow is looked at more often.
    const LOOK_EVERY: u32 = 4096;

    /// Whether a pause may be cut at no cost, so that each bin of time gets what the target says at its own end.
    const CAN_CUT_PAUSES: bool = false;

    /// Before a run of `jobs`, and outside what is measured: make the target such that they find no hindrance which is not
    /// the drive's. `goes_on` is asked as an observer is, and ends it by false. What goes wrong is told by
    /// [`Target::begin`].
    fn before_run(&mut self, _jobs: &[Job], _goes_on: &mut dyn FnMut(&Progress) -> bool) {}

    /// What another thread may see of its requests; `None` of a drive that always answers.
    fn in_flight(&self) -> Option<Arc<in_flight::Shared>> {
        None
    }

    /// A run begins: slot `i` will carry requests of `slots[i]`, with at most `largest` bytes of data.
    fn begin(&mut self, _slots: &[&Job], _largest: u32) -> Result<(), TargetError> {
        Ok(())
    }

    /// Nobody will ask for `waits` in the run that begins.
    fn skip_waits(&mut self) {}

    /// The run is over, done or failed; what is still under way is awaited and forgotten.
    fn end(&mut self) {}

    /// Addressable bytes.
    fn capacity_bytes(&self) -> u64;

    /// The smallest unit of offset and length the target accepts, in bytes.
    fn block_bytes(&self) -> u32;

    /// The time now.
    fn now(&mut self) -> Nanos;

    /// Hand over a request now. It will come back from `next` under the same `slot`.
    fn submit(&mut self, slot: u32, request: &Request) -> Result<(), TargetError>;

    /// What the request is that will be submitted next in this slot, of a job that verifies.
    fn purpose(&mut self, _slot: u32, _mark: Purpose) {}

    /// Of a read that was to be verified and has just come back.
    fn verdict(&mut self, _slot: u32) -> Verdict {
        Verdict::Unseen
    }

    /// Of a read whose verdict was `Wrong`: what is wrong, once.
    fn failure(&mut self, _slot: u32) -> Option<TargetError> {
        None
    }

    /// The next completion, or `None` once the clock has reached `until` with none, or sooner, so that the caller
    /// can look round.
    /// With nothing outstanding this is how time passes: idle time, think time, a start delay.
    fn next(&mut self, until: Nanos) -> Result<Option<Completion>, TargetError>;

    /// Whether the worker whose request comes next is the only one that runs, so that no other waits while a request is
    /// done in `submit`.
    fn alone(&mut self, _alone: bool) {}

    /// When the system had the request of a slot that has just come back; `None` where that is when it was handed over.
    #[inline]
    fn submitted(&self, _slot: u32) -> Option<Nanos> {
        None
    }

    /// What the time of the request that was submitted last goes to, where that can be known.
    #[inline]
    fn waits(&self) -> Option<&Waits> {
        None
    }

    /// Valid data in the pSLC cache, where that can be known.
    #[inline]
    fn cache_bytes(&self) -> Option<u64> {
        None
    }

    /// What making requests has taken of the machine so far; nothing where the drive is a computation itself.
    fn usage(&mut self) -> Usage {
        Usage::default()
    }

    /// The page cache forgets this part of the target, as far as it is on the drive.
    fn invalidate(&mut self, _offset: u64, _len: u64) {}

    /// The parts of a range that hold no data, as far as that is known.
    fn unwritten(&self, _offset: u64, _len: u64) -> Vec<(u64, u64)> {
        Vec::new()
    }

    /// A request that will be submitted soon, so that the target can prefetch for it. Changes no state.
    fn prepare(&self, _request: &Request) {}

    /// Names of what `sample` writes, all in base units (`_bytes`, `_ns`, counts). Monotone counters end in
    /// `_total`; the others are gauges.
    fn columns(&self) -> &'static [&'static str];

    /// How fast data can be read and written at most, as far as a target knows.
    fn moved_paces(&self) -> [Option<Pace>; 2] {
        [None; 2]
    }

    /// The counters and gauges as they are now, one value a column.
    fn sample(&mut self, into: &mut [u64]);

    /// The counters and gauges as they were at `at`, since when nothing was handed over; as they are now where a target
    /// does not know.
    fn sample_at(&mut self, _at: Nanos, into: &mut [u64]) {
        self.sample(into);
    }

    /// As `sample`; what is sampled later is as if nobody had looked.
    fn peek(&mut self, into: &mut [u64]) {
        self.sample(into);
    }

    /// As `peek`, with all work that was begun: some of it may not be done yet.
    fn sample_begun(&mut self, into: &mut [u64]) {
        self.sample(into);
    }
}

/// What went wrong below the runner. The run ends there, of a wrong block its job; what was recorded is kept.
#[derive(Debug, thiserror::Error)]
pub enum TargetError {
    #[error("{op} of {len} bytes at offset {offset}: {source}")]
    NoRoom { op: &'static str, offset: u64, len: u32, source: io::Error },
    #[error("{op} of {len} bytes at offset {offset}: {source}")]
    Io { op: &'static str, offset: u64, len: u32, source: io::Error },
    #[error("{op} of {len} bytes at offset {offset}: the drive reported a medium error there ({source})")]
    Medium { op: &'static str, offset: u64, len: u32, source: io::Error },
    #[error("{op} of {len} bytes at offset {offset} moved {moved} only")]
    Short { op: &'static str, offset: u64, len: u32, moved: u32 },
    #[error("read of {len} bytes at offset {offset}: nothing was ever written there, so no flash would be read")]
    Unwritten { offset: u64, len: u32 },
    #[error(
        "verify: read of {len} bytes at offset {offset}: the block of {} bytes at {}: {}",
        failure.len, failure.offset, failure.fault
    )]
    Corrupt { offset: u64, len: u32, failure: Box<Failure> },
    #[error("a request took {latency_us} us with none beside it, and all are to take at most {target_us} us (latency_target)")]
    Late { latency_us: u64, target_us: u64 },
    #[error("{option}={min} is not kept: {rate} a second over {ms} ms")]
    Slow { option: &'static str, min: u64, rate: u64, ms: u64 },
    #[error("the machine's monotonic clock {what}, so nothing can be timed")]
    Clock { what: String },
    #[error("{what}: {source}")]
    Engine { what: &'static str, source: io::Error },
}

codes!(TargetError {
    NoRoom => "run-no-room",
    Io => "run-request-failed",
    Medium => "run-medium-error",
    Short => "run-short-request",
    Unwritten => "run-unwritten",
    Corrupt => "run-corrupt",
    Late => "run-too-late",
    Slow => "run-too-slow",
    Clock => "run-bad-clock",
    Engine => "run-engine-failed",
});

/// Linux's ENODATA, into which its block layer makes a drive's report of a place that it cannot read or write.
const MEDIUM_ERROR: i32 = 61;

impl TargetError {
    /// The error of a request that the system did not do.
    pub fn of_request(op: &'static str, offset: u64, len: u32, source: io::Error) -> TargetError {
        match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                TargetError::NoRoom { op, offset, len, source }
            }
            _ if cfg!(target_os = "linux") && source.raw_os_error() == Some(MEDIUM_ERROR) => {
                TargetError::Medium { op, offset, len, source }
            }
            _ => TargetError::Io { op, offset, len, source },
        }
    }
}
