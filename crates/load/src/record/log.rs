//! Every request of a worker, for fio's own logs. Kept only where a job asks for one.

use pslc_ssd::{Nanos, Op};

/// One request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    pub issued: Nanos,
    /// `Nanos::MAX` while it is under way.
    pub latency: Nanos,
    /// The part of it until the system had the request.
    pub submission: Nanos,
    pub op: Op,
    pub len: u32,
    pub offset: u64,
}

/// The requests of one worker, in the order in which they were handed over.
#[derive(Clone, Debug)]
pub struct Log {
    /// Which of the parsed jobs it is of, and the number of the worker among all, from 1.
    pub job: usize,
    pub number: usize,
    pub begin: Nanos,
    /// The end of its `ramp_time`: what came back before is in no log of times and rates.
    pub counts_from: Nanos,
    /// When it ended; `Nanos::ZERO` while it has not.
    pub end: Nanos,
    pub entries: Vec<Entry>,
}
