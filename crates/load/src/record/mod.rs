//! The recording of a run: the statistics of each job, and everything over time and over bytes.

mod cause;
mod counts;
mod latency;
mod log;
mod moved;
mod samples;
mod series;
mod spectrum;
mod steady;

pub use cause::shares;
pub use latency::{buckets, Latency};
pub use log::{Entry, Log};
pub use samples::{Sampler, Spread};
pub use series::{Series, Sums};
pub use spectrum::{bucket, Spectrum, Tally, BUCKETS};
pub use steady::Steadiness;

use pslc_ssd::{Nanos, Op, Request};

use crate::job::Job;
use crate::target::{Target, TargetError, Usage, Verdict};
use crate::traces::Survey;

/// What a job verified.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Verified {
    /// That are what was written, each with a header of its own where there are headers, and their bytes.
    pub blocks: u64,
    pub bytes: u64,
    /// Bytes that were read and not judged, for another write changed them meanwhile.
    pub unjudged_bytes: u64,
    /// Bytes that were read of a target that keeps no data, or not to be compared.
    pub unseen_bytes: u64,
    /// Reads in which a block is not what was written; the job ends at the first, with those under way.
    pub wrong_reads: u64,
}

impl Verified {
    pub(crate) fn add(&mut self, verdict: Verdict, len: u32) {
        match verdict {
            Verdict::Right { blocks } => {
                self.blocks += blocks;
                self.bytes += len as u64;
            }
            Verdict::Unjudged => self.unjudged_bytes += len as u64,
            Verdict::Unseen => self.unseen_bytes += len as u64,
            Verdict::Wrong => self.wrong_reads += 1,
        }
    }

    fn join(&mut self, other: &Verified) {
        self.blocks += other.blocks;
        self.bytes += other.bytes;
        self.unjudged_bytes += other.unjudged_bytes;
        self.unseen_bytes += other.unseen_bytes;
        self.wrong_reads += other.wrong_reads;
    }
}

/// One line of a report: a clone of a job, or under `group_reporting` all of a group.
#[derive(Clone, Debug)]
pub struct JobStats {
    pub name: String,
    pub group: u32,
    /// Which of the parsed jobs it reports, the first of them under `group_reporting`.
    pub job: usize,
    /// Reads, writes, trims, flushes.
    pub kinds: [Latency; 4],
    /// Of reads, writes and trims where the target tells the two apart: from issue until the system has the request, and
    /// from then until it has come back.
    pub submission: [Latency; 3],
    pub completion: [Latency; 3],
    /// Flushes that fio counts as requests: not those of data alone.
    pub fsyncs: u64,
    /// Of a job that verifies.
    pub verified: Verified,
    /// What its workers took of the machine.
    pub usage: Usage,
    /// Requests handed over with 1, 2-3, 4-7, 8-15, 16-31, 32-63, 64 and more under way, itself counted.
    pub depths: [u64; 7],
    /// Bytes and requests a second, by sample.
    pub bytes_rate: Sampler,
    pub requests_rate: Sampler,
    /// Of a job that ends when it is steady.
    pub steady: Option<Steadiness>,
    /// Requests that were to be under way at most, at the end, of the last of its workers; 0 if that never began.
    pub depth: u32,
    pub last_worker: usize,
    /// These are reported with those of another.
    pub part_of: Option<usize>,
    pub start: Nanos,
    pub end: Nanos,
    /// How long its workers ran, in sum.
    pub worked: Nanos,
}

impl JobStats {
    /// Nothing yet, of job `number` of those parsed.
    pub(crate) fn new(job: &Job, number: usize) -> JobStats {
        JobStats {
            group: job.group,
            job: number,
            bytes_rate: Sampler::new(job.bwavgtime),
            requests_rate: Sampler::new(job.iopsavgtime),
            steady: job.steady_state.map(Steadiness::new),
            ..JobStats::named(&job.name)
        }
    }

    /// Nothing yet, of what is no job of a file.
    pub(crate) fn named(name: &str) -> JobStats {
        JobStats {
            name: name.into(),
            group: 0,
            job: 0,
            kinds: std::array::from_fn(|_| Latency::new()),
            submission: std::array::from_fn(|_| Latency::new()),
            completion: std::array::from_fn(|_| Latency::new()),
            fsyncs: 0,
            verified: Verified::default(),
            usage: Usage::default(),
            depths: [0; 7],
            bytes_rate: Sampler::new(SAMPLED),
            requests_rate: Sampler::new(SAMPLED),
            steady: None,
            depth: 0,
            last_worker: 0,
            part_of: None,
            start: Nanos::MAX,
            end: Nanos::ZERO,
            worked: Nanos::ZERO,
        }
    }

    /// What counts begins here, if nothing has; whether it is steady is looked at since `behind_ramp`.
    pub(crate) fn begin(&mut self, at: Nanos, behind_ramp: Nanos) {
        self.start = self.start.min(at);
        self.bytes_rate.begin(at);
        self.requests_rate.begin(at);
        if let Some(steady) = &mut self.steady {
            steady.begin(behind_ramp);
        }
    }

    /// All that came before is forgotten.
    pub(crate) fn restart(&mut self, at: Nanos) {
        let mut steady = self.steady.take();
        if let Some(steady) = &mut steady {
            steady.restart(at);
        }
        *self = JobStats {
            group: self.group,
            job: self.job,
            part_of: self.part_of,
            depth: self.depth,
            last_worker: self.last_worker,
            // What is right is so whenever it was read.
            verified: self.verified,
            bytes_rate: self.bytes_rate.anew(),
            requests_rate: self.requests_rate.anew(),
            ..JobStats::named(&self.name)
        };
        self.begin(at, at);
        self.steady = steady;
    }

    /// Reads, writes and trims: requests and bytes.
    pub(crate) fn moved(&self) -> [u64; 2] {
        let sum = |of: fn(&Latency) -> u64| self.kinds[..3].iter().map(of).sum();
        [sum(|kind| kind.count), sum(|kind| kind.bytes)]
    }

    /// What `other` reports is reported here as well.
    fn add(&mut self, other: &JobStats) {
        let mine = self.kinds.iter_mut().chain(&mut self.submission).chain(&mut self.completion);
        let theirs = other.kinds.iter().chain(&other.submission).chain(&other.completion);
        mine.zip(theirs).for_each(|(mine, theirs)| mine.add(theirs));
        self.fsyncs += other.fsyncs;
        self.verified.join(&other.verified);
        self.usage.add(&other.usage);
        self.depths.iter_mut().zip(other.depths).for_each(|(mine, theirs)| *mine += theirs);
        self.bytes_rate.add(&other.bytes_rate);
        self.requests_rate.add(&other.requests_rate);
        if other.last_worker > self.last_worker {
            (self.depth, self.last_worker) = (other.depth, other.last_worker);
        }
        self.start = self.start.min(other.start);
        self.end = self.end.max(other.end);
        self.worked += other.worked;
    }

    fn sample(&mut self, now: Nanos) {
        let [read, write, trim, _] = &self.kinds;
        if self.bytes_rate.is_due(now) {
            self.bytes_rate.take(now, [read.bytes, write.bytes, trim.bytes]);
        }
        if self.requests_rate.is_due(now) {
            self.requests_rate.take(now, [read.count, write.count, trim.count]);
        }
    }
}

/// Everything that was recorded. A run that was stopped, or whose target failed, has what came before.
#[derive(Debug)]
pub struct Recording {
    pub stats: Vec<JobStats>,
    /// Bins of equal time.
    pub time: Series,
    /// Bins of equal bytes.
    pub bytes: Series,
    /// Of the jobs that asked for one.
    pub logs: Vec<Log>,
    /// What was asked for, of a replay that looks.
    pub survey: Option<Box<Survey>>,
    pub start: Nanos,
    pub end: Nanos,
    /// The target's columns at the start and at the end.
    pub before: Vec<u64>,
    pub totals: Vec<u64>,
    pub interrupted: bool,
    pub error: Option<TargetError>,
}

/// Bins of time start this wide.
const FIRST_BIN: Nanos = Nanos::from_millis(1);
/// Bins of bytes when the total is known, or those of all of the drive where it is written more than once.
const BYTE_BINS: u64 = 2048;
/// The narrowest bin of bytes.
const FINEST: u64 = 4096;

/// fio's default of `bwavgtime` and `iopsavgtime`.
const SAMPLED: Nanos = Nanos::from_millis(500);

/// Of one request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Times {
    pub issued: Nanos,
    /// When the system had it, where that is known.
    pub submitted: Option<Nanos>,
    /// When it came back.
    pub now: Nanos,
}

/// Takes completions in the order of time.
#[derive(Clone, Debug)]
pub(crate) struct Recorder {
    pub stats: Vec<JobStats>,
    pub logs: Vec<Log>,
    time: Series,
    bytes: Series,
    sums: Sums,
    /// Latencies since a bin of either series was closed: both are given them then.
    latencies: Tally,
    start: Nanos,
    before: Vec<u64>,
    row: Vec<u64>,
    /// Neither how latencies are spread nor what the target says is recorded.
    moved_only: bool,
}

impl Recorder {
    /// `total_bytes` is 0 where it is not known; `largest` is the longest request; for `coarseness` see
    /// [`Observer::coarseness`](crate::Observer::coarseness).
    pub fn new<T: Target>(
        target: &mut T,
        stats: Vec<JobStats>,
        total_bytes: u64,
        largest: u32,
        coarseness: Option<u64>,
    ) -> Recorder {
        let times = coarseness.unwrap_or(1);
        let narrow = target.capacity_bytes().saturating_mul(times) / BYTE_BINS;
        let width = (total_bytes * times / BYTE_BINS).min(narrow).max(largest as u64).max(FINEST);
        let start = target.now();
        let mut before = vec![0; target.columns().len()];
        target.sample(&mut before);
        Recorder {
            stats,
            logs: Vec::new(),
            time: Series::new(start.0, FIRST_BIN.0 * times, u64::MAX, coarseness),
            bytes: Series::new(0, width, narrow, coarseness),
            sums: Sums::default(),
            latencies: Tally::new(),
            start,
            row: before.clone(),
            before,
            moved_only: coarseness.is_some(),
        }
    }

    pub fn moved_bytes(&self) -> u64 {
        self.sums.bytes.iter().sum()
    }

    pub fn sums(&self) -> Sums {
        self.sums
    }

    fn sample<T: Target>(&mut self, target: &mut T) {
        if !self.moved_only {
            target.sample(&mut self.row);
        }
    }

    /// How far a pause up to `until` goes at once: to the end of the present bin, so that what the target does in a pause
    /// is not told of the first of its bins.
    pub fn pause<T: Target>(&self, until: Nanos) -> Nanos {
        if T::CAN_CUT_PAUSES && !self.moved_only {
            until.min(Nanos(self.time.edge()))
        } else {
            until
        }
    }

    /// Nothing more completes before `now`: bins of time that have ended are closed with what the target says now.
    #[inline(always)]
    pub fn pass<T: Target>(&mut self, target: &mut T, now: Nanos) {
        if self.time.is_due(now.0) {
            self.close_times(target, now);
        }
    }

    #[inline(never)]
    fn close_times<T: Target>(&mut self, target: &mut T, now: Nanos) {
        self.share_latencies();
        // A request that takes long is paid for in each of the bins that it lasts.
        while T::CAN_CUT_PAUSES && !self.moved_only && self.time.is_due(now.0) {
            let edge = self.time.edge();
            target.sample_at(Nanos(edge), &mut self.row);
            self.time.close(edge, self.sums, &self.row, Nanos);
        }
        if self.time.is_due(now.0) {
            self.sample(target);
            self.time.close(now.0, self.sums, &self.row, Nanos);
        }
    }

    #[inline(never)]
    fn close_bytes<T: Target>(&mut self, target: &mut T, now: Nanos) {
        self.share_latencies();
        self.sample(target);
        self.bytes.close(self.moved_bytes(), self.sums, &self.row, |_| now);
    }

    /// Both series have what was noted for them.
    fn share_latencies(&mut self) {
        if !self.latencies.is_empty() {
            let (latencies, max_ns) = self.latencies.take();
            self.time.add_latencies(&latencies, max_ns);
            self.bytes.add_latencies(&latencies, max_ns);
        }
    }

    /// A request has come back; where it does not count in `stats`, only the series show it.
    #[inline(always)]
    pub fn record<T: Target>(&mut self, target: &mut T, stats: usize, request: &Request, times: Times, counts: bool) {
        let Times { issued, submitted, now } = times;
        let latency = now.0 - issued.0;
        let kind = request.op as usize;
        self.pass(target, now);
        if counts && self.moved_only {
            self.stats[stats].kinds[kind].count(latency, request.len as u64);
        } else if counts {
            let stats = &mut self.stats[stats];
            stats.kinds[kind].record(latency, request.len as u64);
            if let (Some(submitted), true) = (submitted, kind < 3) {
                stats.submission[kind].record(submitted.saturating_sub(issued).0, 0);
                stats.completion[kind].record(now.saturating_sub(submitted).0, 0);
            }
            if stats.bytes_rate.is_due(now) || stats.requests_rate.is_due(now) {
                stats.sample(now);
            }
        }
        if request.op == Op::Flush {
            self.sums.flush_ns += latency;
            return;
        }
        self.sums.bytes[kind] += request.len as u64;
        self.sums.count[kind] += 1;
        self.sums.latency_ns += latency;
        if !self.moved_only {
            self.latencies.note(latency);
        }
        if self.bytes.is_due(self.moved_bytes()) {
            self.close_bytes(target, now);
        }
    }

    /// The recording as it would be if the run ended now.
    pub fn so_far<T: Target>(&self, target: &mut T) -> Recording {
        self.clone().finish(target, true, None)
    }

    pub fn finish<T: Target>(mut self, target: &mut T, interrupted: bool, error: Option<TargetError>) -> Recording {
        let end = target.now();
        target.peek(&mut self.row);
        self.share_latencies();
        self.time.finish(end, self.sums, &self.row);
        self.bytes.finish(end, self.sums, &self.row);
        if !self.moved_only {
            let is_waited = |name: &&str| name.starts_with("waited_");
            let first = target.columns().iter().position(is_waited).unwrap_or(0);
            let waited = first..first + target.columns().iter().filter(|name| is_waited(name)).count();
            self.time.book_waits(waited.clone(), &self.before);
            self.bytes.book_waits(waited, &self.before);
            let paces = target.moved_paces();
            self.time.book_moved(&paces);
            self.bytes.end_sooner(self.start, &self.before, &paces);
        }
        target.sample_begun(&mut self.row);
        for at in (0..self.stats.len()).rev() {
            if let Some(of) = self.stats[at].part_of {
                let part = self.stats.remove(at);
                self.stats[of].add(&part);
            }
        }
        Recording {
            stats: self.stats,
            time: self.time,
            bytes: self.bytes,
            logs: self.logs,
            survey: None,
            start: self.start,
            end,
            before: self.before,
            totals: self.row,
            interrupted,
            error,
        }
    }
}
