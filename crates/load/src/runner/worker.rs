//! A worker, one of the `numjobs` clones of a job: its requests, when they may go, and when it ends.

use std::collections::VecDeque;

use pslc_ssd::{Nanos, Op, Request};

use crate::job::{ByKind, Job, Mix, Pattern};
use crate::stream::Stream;
use crate::target::Target;

/// Requests are made this far ahead, so that the target can prefetch for them.
pub const AHEAD: usize = 32;

/// One of the `numjobs` clones of a job.
pub struct Worker {
    pub stream: Stream,
    pub job: usize,
    /// The same offsets again as reads, once everything is written.
    pub verify: Option<Stream>,
    pub ahead: VecDeque<Request>,
    pub stats: usize,
    pub wave: usize,
    pub delay: Nanos,
    pub ramp: Nanos,
    pub runtime: Option<Nanos>,
    pub first_slot: u32,
    pub iodepth: u32,
    pub end_fsync: bool,
    pub thinktime: Nanos,
    pub thinktime_blocks: u32,
    /// Bytes a second, by kind.
    pub rate: [Option<u64>; 3],
    /// Requests a second, by kind.
    pub rate_iops: [Option<u64>; 3],
    pub paced: bool,

    pub begin: Nanos,
    /// Statistics count from here; nothing is handed over from `end` on.
    pub counts_from: Nanos,
    pub end: Nanos,
    /// Slots that may still hand something over.
    pub live: u32,
    pub under_way: u32,
    pub issued: u64,
    pub issued_bytes: [u64; 3],
    pub issued_count: [u64; 3],
    /// What is under way is awaited before thinking; the slots that wait with it.
    pub thinking: bool,
    pub parked: Vec<u32>,
    pub resume: Nanos,
}

/// Half of what the clock can tell: nothing waits longer.
const LATEST: u64 = u64::MAX / 2;

const KINDS: [Op; 3] = [Op::Read, Op::Write, Op::Trim];

impl Worker {
    pub fn new(
        job: &Job,
        number: u64,
        index: u64,
        seed: u64,
        stats: usize,
        wave: usize,
        first_slot: u32,
    ) -> Worker {
        let kinds = |of: &ByKind<Option<u64>>| [of.read, of.write, of.trim];
        let (rate, rate_iops) = (kinds(&job.rate), kinds(&job.rate_iops));
        Worker {
            stream: Stream::new(job, number, index, seed),
            job: number as usize,
            verify: (job.verify && job.rw.mix == Mix::Write && !job.time_based).then(|| {
                let rw = Pattern { mix: Mix::Read, ..job.rw };
                Stream::new(&Job { rw, fsync: 0, ..job.clone() }, number, index, seed)
            }),
            ahead: VecDeque::with_capacity(AHEAD),
            stats,
            wave,
            delay: job.startdelay,
            ramp: job.ramp_time,
            runtime: job.runtime,
            first_slot,
            iodepth: job.iodepth,
            end_fsync: job.end_fsync,
            thinktime: job.thinktime,
            thinktime_blocks: job.thinktime_blocks,
            rate,
            rate_iops,
            paced: rate.iter().chain(&rate_iops).any(Option::is_some),
            begin: Nanos::ZERO,
            resume: Nanos::ZERO,
            counts_from: Nanos::ZERO,
            end: Nanos::MAX,
            live: job.iodepth,
            under_way: 0,
            issued: 0,
            issued_bytes: [0; 3],
            issued_count: [0; 3],
            thinking: false,
            parked: Vec::new(),
        }
    }

    pub fn total_bytes(&self) -> u64 {
        self.stream.total_bytes().saturating_add(self.verify.as_ref().map_or(0, Stream::total_bytes))
    }

    pub fn begin(&mut self, at: Nanos) {
        self.begin = at;
        self.counts_from = at + self.ramp;
        // As in fio, the ramp comes before the runtime.
        if let Some(runtime) = self.runtime {
            self.end = self.end.min(self.counts_from + runtime);
        }
    }

    #[inline]
    pub fn next<T: Target>(&mut self, target: &T) -> Option<Request> {
        while self.ahead.len() < AHEAD {
            let Some(request) = self.stream.next() else { break };
            target.prepare(&request);
            self.ahead.push_back(request);
        }
        self.ahead.pop_front()
    }

    /// When a request may be handed over so that its kind keeps its rates on the average since the beginning.
    pub fn due(&mut self, request: &Request) -> Nanos {
        let Some(kind) = KINDS.iter().position(|op| *op == request.op) else { return self.begin };
        let (bytes, count) = (self.issued_bytes[kind], self.issued_count[kind]);
        self.issued_bytes[kind] += request.len as u64;
        self.issued_count[kind] += 1;
        let after = |done: u64, rate: Option<u64>| match rate {
            Some(rate) => Nanos((done as u128 * 1_000_000_000 / rate as u128).min(LATEST as u128) as u64),
            None => Nanos::ZERO,
        };
        self.begin.saturating_add(after(bytes, self.rate[kind]).max(after(count, self.rate_iops[kind])))
    }
}
