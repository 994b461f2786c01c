//! A worker, one of the `numjobs` clones of a job: its requests, when they may go, and when it ends.

use std::collections::VecDeque;

use pslc_ssd::{Nanos, Op, Request};
use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;

use crate::job::{ByKind, ExitWhat, Job, Mix, Pace};
use crate::stream::Stream;
use crate::target::Target;

use super::floor::Floor;
use super::search::DepthSearch;
use super::think::Thinker;

/// Requests are made this far ahead, at least and at most, so that the target can prefetch for them.
const LEAST_AHEAD: usize = 32;
pub const AHEAD: usize = 2 * LEAST_AHEAD;

/// Whether a worker has begun, and ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    Waiting,
    Running,
    Done,
}

/// One of the `numjobs` clones of a job.
pub struct Worker {
    pub name: String,
    pub state: State,
    pub stream: Stream,
    /// All that it does is to keep its queue full with reads and writes: whatever else a job may ask for need not be
    /// looked at with each request.
    pub plain: bool,
    /// What comes next depends on what has come back.
    pub depends: bool,
    /// The target is told what each request is to the verifying job.
    pub verifies: bool,
    pub job: usize,
    pub ahead: VecDeque<Request>,
    pub stats: usize,
    pub group: u32,
    /// Of the target: what the job works on, when it goes through the page cache that is to hold nothing of it.
    invalidate: Option<(u64, u64)>,
    /// How many of those ahead come before one that begins anew, so that the page cache is to hold nothing again.
    anew: Option<usize>,
    /// From the beginning of the run.
    pub delay: Nanos,
    pub stonewall: bool,
    /// Job whose workers have to be done before.
    pub wait_for: Option<String>,
    /// How long the drive is left alone when the worker may begin.
    pub pause: Nanos,
    pub exit_what: ExitWhat,
    /// For the depth that keeps a latency.
    pub search: Option<Box<DepthSearch>>,
    /// For the rates that have to be kept.
    pub floor: Option<Box<Floor>>,
    /// Its engine waits for each request, so that handing over is all of it.
    pub one_at_a_time: bool,
    /// The drive is not touched.
    pub null: bool,
    pub ramp: Nanos,
    /// What is measured is forgotten at the end of the ramp.
    pub ramping: bool,
    pub runtime: Option<Nanos>,
    pub first_slot: u32,
    pub iodepth: u32,
    /// Nothing is handed over during a flush.
    flush_blocks: bool,
    /// What is under way alone has to come back before anything else is handed over.
    pub blocked: bool,
    /// Its flushes are of data alone.
    pub data_only: bool,
    /// A pass ends with a flush.
    pub end_fsync: bool,
    /// So does the file when it is closed, as fio does behind each pass, and behind what is verified.
    pub fsync_on_close: bool,
    /// Something was made since the last flush, or a pass begun.
    pub unsynced: bool,
    /// A flush at the end of a pass is under way, which fio does not count.
    pub closing: bool,
    pub thinktime: Nanos,
    pub thinker: Option<Box<Thinker>>,
    /// By kind, how much later than its rates ask a job goes on that does not catch up on what it thought.
    lag: Option<[Nanos; 3]>,
    /// Bytes a second, by kind.
    pub rate: [Option<u64>; 3],
    /// Requests a second, by kind.
    pub rate_iops: [Option<u64>; 3],
    pub paced: bool,
    /// Directions of a mix whose turn it may be.
    choices: [bool; 2],
    /// When requests of each kind are due that come at random, and their mean distance.
    random_due: Option<([Nanos; 3], Pcg64Mcg)>,
    min_bytes: [u64; 3],
    /// Number of a flow and the weight in it, and requests made in it.
    pub flow: Option<(usize, u32)>,
    pub flow_count: u64,
    /// Number of its log.
    pub log: Option<usize>,

    pub begin: Nanos,
    /// When the ramp is over; nothing is handed over from `end` on.
    pub counts_from: Nanos,
    pub end: Nanos,
    /// Slots that may still hand something over.
    pub live: u32,
    pub under_way: u32,
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

/// When a worker may begin: anywhere between the two ends of its `startdelay`.
fn drawn_delay(job: &Job, draws: &mut Pcg64Mcg) -> Nanos {
    let (low, high) = job.startdelay;
    Nanos(low.0 + ((draws.next_u64() as u128 * (high.0 - low.0 + 1) as u128) >> 64) as u64)
}

/// Whether more is to be done about each request of a job than to make the next one.
fn needs_looks(job: &Job) -> bool {
    job.logged
        || job.one_at_a_time
        || job.null
        || job.flow.is_some()
        || job.rate_min.is_some()
        || job.ramp_time > Nanos::ZERO
        || job.think.time > Nanos::ZERO
        || job.latency_target.target > Nanos::ZERO
        || job.fsync > 0
        || job.end_fsync
        || matches!(job.rw.mix, Mix::Trim | Mix::TrimWrite)
}

/// Whether a mix may draw reads, and writes.
fn choices(job: &Job) -> [bool; 2] {
    let mix = job.rw.mix == Mix::ReadWrite;
    [mix && job.rwmixread > 0, mix && job.rwmixread < 100]
}

impl Worker {
    pub fn new(job: &Job, number: u64, index: u64, seed: u64, stats: usize, first_slot: u32) -> Worker {
        let kinds = |of: &ByKind<Option<u64>>| [of.read, of.write, of.trim];
        let (mut rate, mut rate_iops) = (kinds(&job.rate), kinds(&job.rate_iops));
        if !job.reads() {
            // What is verified is read as fast as it comes.
            (rate[0], rate_iops[0]) = (None, None);
        }
        let extent = job.extent(index);
        let mut draws = Pcg64Mcg::seed_from_u64(seed ^ (number << 32 | index));
        let delay = drawn_delay(job, &mut draws);
        let stream = Stream::new(job, number, index, seed).checked(job);
        let paced = rate.iter().chain(&rate_iops).any(Option::is_some);
        // Which write of its job one is has to be known when it is made.
        let depends = stream.depends() || job.verify.is_some();
        Worker {
            name: job.name.clone(),
            state: State::Waiting,
            plain: !(needs_looks(job) || paced || depends),
            depends,
            verifies: job.verify.is_some(),
            stream,
            job: number as usize,
            ahead: VecDeque::with_capacity(AHEAD),
            stats,
            group: job.group,
            invalidate: (job.invalidate && !job.direct && !job.null).then_some((extent.start, extent.region)),
            anew: None,
            delay,
            // Clones of a job begin together.
            stonewall: job.stonewall && index == 0,
            wait_for: job.wait_for.clone(),
            pause: job.pause,
            exit_what: job.exit_what,
            search: (job.latency_target.target > Nanos::ZERO)
                .then(|| Box::new(DepthSearch::new(job.latency_target, job.iodepth))),
            floor: job.rate_min.is_some().then(|| Box::new(Floor::new(&job.rate_min))),
            one_at_a_time: job.one_at_a_time,
            null: job.null,
            ramp: job.ramp_time,
            ramping: job.ramp_time > Nanos::ZERO,
            runtime: job.runtime,
            first_slot,
            iodepth: job.iodepth,
            flush_blocks: job.flush_blocks,
            blocked: false,
            data_only: job.data_only,
            end_fsync: job.end_fsync,
            fsync_on_close: job.fsync_on_close,
            unsynced: true,
            closing: false,
            thinktime: job.think.time,
            thinker: (job.think.time > Nanos::ZERO).then(|| Box::new(Thinker::new(job.think))),
            lag: job.think.ignored_by_rate.then_some([Nanos::ZERO; 3]),
            rate,
            rate_iops,
            paced,
            choices: choices(job),
            random_due: (job.pace == Pace::Poisson).then_some(([Nanos::ZERO; 3], draws)),
            min_bytes: job.sizes.each(|sizes| sizes.smallest() as u64).array(),
            flow: None,
            flow_count: 0,
            log: None,
            begin: Nanos::ZERO,
            resume: Nanos::ZERO,
            counts_from: Nanos::ZERO,
            end: Nanos::MAX,
            live: job.iodepth,
            under_way: 0,
            issued_bytes: [0; 3],
            issued_count: [0; 3],
            thinking: false,
            parked: Vec::new(),
        }
    }

    /// Whether its engine hands over nothing else until such a request has come back.
    #[inline]
    pub fn blocks(&self, op: Op) -> bool {
        self.iodepth > 1 && (op == Op::Trim || (op == Op::Flush && self.flush_blocks))
    }

    /// Nothing more can be handed over until something has come back.
    #[inline]
    pub fn is_full(&self) -> bool {
        self.blocked || self.under_way >= self.search.as_ref().map_or(self.iodepth, |search| search.depth)
    }

    /// It has thought behind a request of this kind, which some jobs do not catch up on: but for one request, as in fio,
    /// which is to go at once.
    pub fn ignore_thinking(&mut self, kind: usize) {
        let Some(lag) = self.lag.as_mut().filter(|_| kind < 3) else { return };
        let rate = self.rate[kind].or(self.rate_iops[kind].map(|rate| rate * self.min_bytes[kind]));
        let Some(rate) = rate else { return };
        let each = Nanos((self.min_bytes[kind] as u128 * 1_000_000_000 / rate as u128).min(LATEST as u128) as u64);
        lag[kind] += if each <= self.thinktime { self.thinktime - each } else { self.thinktime };
        if let Some((due, _)) = &mut self.random_due {
            due[kind] += self.thinktime;
        }
    }

    pub fn total_bytes(&self) -> u64 {
        self.stream.total_bytes()
    }

    /// What is reported is measured from now on, and time and pace count from here.
    pub fn restart(&mut self, at: Nanos) {
        (self.begin, self.counts_from) = (at, at);
        (self.issued_bytes, self.issued_count) = ([0; 3], [0; 3]);
        if let Some(floor) = &mut self.floor {
            floor.restart();
        }
        if let Some(runtime) = self.runtime.filter(|_| self.end > Nanos::ZERO) {
            self.end = at.saturating_add(runtime);
        }
    }

    pub fn begin(&mut self, at: Nanos) {
        self.begin = at;
        self.counts_from = at.saturating_add(self.ramp);
        if let Some(search) = &mut self.search {
            search.begin(self.counts_from);
        }
        if let Some(thinker) = &mut self.thinker {
            thinker.begin(at);
        }
        if let Some((due, _)) = &mut self.random_due {
            *due = [at; 3];
        }
        // As in fio, the ramp comes before the runtime.
        if let Some(runtime) = self.runtime {
            self.end = self.end.min(self.counts_from.saturating_add(runtime));
        }
    }

    #[inline]
    pub fn next<T: Target>(&mut self, target: &mut T, now: Nanos) -> Option<Request> {
        if self.depends || (self.paced && self.choices == [true, true]) {
            // The direction depends on the time, or a read on what was written, so nothing is made ahead.
            let due = [self.due_of(0), self.due_of(1)];
            let request = self.stream.next_by(|op| match op {
                Op::Read if due[0] > now && due[1] < due[0] => Op::Write,
                Op::Write if due[1] > now && due[0] < due[1] => Op::Read,
                _ => op,
            });
            if self.stream.began_anew() {
                self.drop_cached(target);
            }
            return request;
        }
        self.next_ahead(target)
    }

    /// The next request, made some time ago.
    #[inline]
    pub fn next_ahead<T: Target>(&mut self, target: &mut T) -> Option<Request> {
        if self.ahead.len() < LEAST_AHEAD || self.anew.is_some() {
            self.make_ahead(target);
        }
        self.ahead.pop_front()
    }

    #[inline(never)]
    fn make_ahead<T: Target>(&mut self, target: &mut T) {
        let before = self.ahead.len();
        while self.ahead.len() < AHEAD && self.anew.is_none() {
            if self.stream.next_alike(&mut self.ahead, AHEAD) {
                break;
            }
            let Some(request) = self.stream.next() else { break };
            if self.invalidate.is_some() && self.stream.began_anew() {
                self.anew = Some(self.ahead.len());
            }
            self.ahead.push_back(request);
        }
        // One after the other, so that the processor looks up several addresses at the same time.
        self.ahead.range(before..).for_each(|request| target.prepare(request));
        match &mut self.anew {
            None => {}
            Some(0) => {
                self.anew = None;
                self.drop_cached(target);
            }
            Some(before) => *before -= 1,
        }
    }

    /// The page cache is to hold nothing of what the job works on, where it asks for that.
    #[cold]
    pub fn drop_cached<T: Target>(&mut self, target: &mut T) {
        if let Some((offset, len)) = self.invalidate {
            target.invalidate(offset, len);
        }
    }

    /// When the next request of a kind may be handed over, so that the kind keeps its rates on the average since the
    /// beginning.
    fn due_of(&self, kind: usize) -> Nanos {
        if let Some((due, _)) = &self.random_due {
            return due[kind];
        }
        let after = |done: u64, rate: Option<u64>| match rate {
            Some(rate) => Nanos((done as u128 * 1_000_000_000 / rate as u128).min(LATEST as u128) as u64),
            None => Nanos::ZERO,
        };
        let (bytes, count) = (self.issued_bytes[kind], self.issued_count[kind]);
        let begin = self.lag.map_or(self.begin, |lag| self.begin.saturating_add(lag[kind]));
        begin.saturating_add(after(bytes, self.rate[kind]).max(after(count, self.rate_iops[kind])))
    }

    /// When this request may be handed over.
    pub fn due(&mut self, request: &Request) -> Nanos {
        let Some(kind) = KINDS.iter().position(|op| *op == request.op) else { return self.begin };
        let due = self.due_of(kind);
        self.issued_bytes[kind] += request.len as u64;
        self.issued_count[kind] += 1;
        let rate = self.rate_iops[kind].or(self.rate[kind].map(|bytes| (bytes / self.min_bytes[kind]).max(1)));
        if let (Some((next, draws)), Some(rate)) = (&mut self.random_due, rate) {
            // Between 0 and 1, and never 0.
            let unit = ((draws.next_u64() >> 11) + 1) as f64 / (1u64 << 53) as f64;
            next[kind] += Nanos((-libm::log(unit) * 1e9 / rate as f64) as u64);
        }
        due
    }
}
