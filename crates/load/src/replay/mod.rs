//! A trace replayed on a target: at its own times, so that the pauses in it are the drive's idle time, or one request after
//! the other.

mod fit;
mod slow;

use std::collections::VecDeque;

use pslc_ssd::{Nanos, Op, Request, PAGE_BYTES};

use crate::job::Job;
use crate::progress::Progress;
use crate::record::{JobStats, Recorder, Recording, Times};
use crate::runner::{Next, Observer};
use crate::target::{Completion, Target, TargetError};
use crate::traces::{Pages, Surveyor, Trace, TraceError, TraceFault, AHEAD};
pub use fit::{Fit, Remap};
use slow::Accounts;
pub use slow::Slow;

/// When requests are handed over.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Pace {
    /// At the trace's times, so many times as fast.
    Original { speed: f64 },
    /// As soon as there is room.
    Asap,
}

/// How a trace is replayed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Replay {
    pub pace: Pace,
    pub fit: Fit,
    pub footing: Footing,
    /// Look at what the trace asks for on the way; it must be of one device then.
    pub survey: bool,
}

/// What the target asks of a replay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Footing {
    /// The longest request, in bytes.
    pub largest: u32,
    /// Requests begin and end at multiples of so many bytes: they are made larger where they do not.
    pub block: u32,
    /// A request that is made so much after its time is not late.
    pub slack: Nanos,
    /// How long the drive is left alone after a prefill.
    pub rest: Nanos,
}

impl Footing {
    /// A simulated drive takes any request, at its time to the nanosecond.
    pub const SIMULATED: Footing =
        Footing { largest: LARGEST, block: 1, slack: Nanos::ZERO, rest: Nanos::from_secs(600) };

    /// A real one takes whole blocks, and no clock of a machine is better than this. Its rest would be the user's.
    pub fn real(largest: u32, block: u32) -> Footing {
        let whole = largest.div_ceil(block).saturating_add(1).saturating_mul(block);
        Footing { largest: whole.max(LARGEST), block, slack: Nanos::from_millis(1), rest: Nanos::ZERO }
    }

    /// A request of whole blocks, and whether it was another one.
    fn whole(&self, request: &Request, capacity: u64) -> (Request, bool) {
        if self.block == 1 || request.op == Op::Flush {
            return (*request, false);
        }
        let block = self.block as u64;
        let begin = request.offset / block * block;
        let end = (request.offset + request.len as u64).next_multiple_of(block).min(capacity);
        let blocks = Request { offset: begin, len: (end - begin) as u32, ..*request };
        (blocks, blocks.offset != request.offset || blocks.len != request.len)
    }
}

/// What a recording does not say of a replay.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Replayed {
    /// Requests of the trace that were handed over.
    pub requests: u64,
    /// Those that had to wait for room among the ones under way, past their time; the most, and all of it.
    pub late: u64,
    pub late_most: Nanos,
    pub late_sum: Nanos,
    /// Requests whose address was changed.
    pub moved: u64,
    /// Requests that were made larger, to whole blocks.
    pub widened: u64,
    /// Bytes read where neither the trace nor a prefill had written; in whole pages.
    pub unwritten_bytes: u64,
    /// What its cache held at most, looked at every 64 requests, and when it was first reached.
    pub cache_most_bytes: u64,
    pub cache_most_at: Nanos,
    /// Bytes that were written before, because the trace reads them.
    pub prefilled_bytes: u64,
    /// What the time of the slowest went to; empty where the target does not tell.
    pub slow: Vec<Slow>,
}

/// Requests between two looks at how full the cache is.
const LOOK: u64 = 64;

/// Replay a trace. `job` gives the number of requests that can be under way, and how they are named.
pub fn replay<T: Target>(
    target: &mut T,
    job: &Job,
    trace: &mut Trace,
    how: &Replay,
    prefill: Option<&Pages>,
    observer: &mut dyn Observer,
) -> Result<(Recording, Replayed), TraceError> {
    let slots = vec![job; job.iodepth as usize];
    let capacity = target.capacity_bytes();
    target.before_run(&[], &mut |progress| observer.look(progress) != Next::Stop);
    let mut begun = target.begin(&slots, how.footing.largest);
    let mut outcome = Replayed::default();
    if let (Some(pages), Ok(())) = (prefill, &begun) {
        outcome.prefilled_bytes = pages.bytes();
        begun = fill(target, pages, how.footing.rest);
    }
    // Then a survey says what was never written.
    let alike = how.survey && how.fit == Fit::Exact && prefill.is_none();
    let start = target.now();
    let mut stats = JobStats::new(job, 0);
    stats.begin(start, start);
    let mut run = Run {
        recorder: Recorder::new(target, vec![stats], 0, LARGEST, observer.coarseness()),
        slots: vec![(Request::flush(), start); slots.len()],
        free: (0..slots.len() as u32).rev().collect(),
        start,
        until_look: T::LOOK_EVERY,
        stopped: false,
        remap: Remap::new(how.fit, capacity),
        written: (!alike).then(|| Written::new(capacity, prefill)),
        accounts: Accounts::new(),
        surveyor: how.survey.then(Surveyor::new),
        outcome,
    };
    let outcome = begun.map_err(Failure::Target).and_then(|()| run.all(target, trace, how, observer));
    target.end();
    let error = match outcome {
        Ok(()) => None,
        Err(Failure::Target(error)) => Some(error),
        Err(Failure::Trace(error)) => return Err(error),
    };
    let stats = &mut run.recorder.stats[0];
    (stats.end, stats.worked) = (target.now(), target.now() - start);
    run.outcome.moved = run.remap.moved;
    run.outcome.slow = if target.waits().is_some() { run.accounts.slow() } else { Vec::new() };
    let mut recording = run.recorder.finish(target, run.stopped, error);
    recording.survey = run.surveyor.map(|surveyor| Box::new(surveyor.so_far(trace)));
    if let (true, Some(survey)) = (alike, &recording.survey) {
        run.outcome.unwritten_bytes = survey.unwritten_bytes;
    }
    Ok((recording, run.outcome))
}

/// The pages that a trace reads before it writes them, as they lie on the drive.
pub fn reads_first(trace: &mut Trace, fit: Fit, capacity: u64) -> Result<Pages, TraceError> {
    let (mut remap, mut written) = (Remap::new(fit, capacity), Written::new(capacity, None));
    let (mut pages, mut parts) = (Pages::default(), VecDeque::new());
    while let Some(entry) = trace.next_entry()? {
        remap.put(&entry.request, &mut parts).map_err(|error| at(trace, error))?;
        for part in parts.drain(..) {
            match part.op {
                Op::Read => {
                    for page in Pages::of(part.offset, part.len) {
                        if !written.has(page) {
                            pages.add(page * PAGE_BYTES, 1);
                        }
                    }
                }
                Op::Write => written.add(&part),
                _ => {}
            }
        }
    }
    Ok(pages)
}

fn several(trace: &Trace) -> TraceError {
    at(trace, TraceFault::SeveralDevices)
}

/// A fault with the name of its trace.
fn at(trace: &Trace, fault: TraceFault) -> TraceError {
    TraceError::new(trace.place(), fault)
}

/// Series begin with bins of so many bytes.
const LARGEST: u32 = 128 << 10;
/// A prefill writes so many bytes at once, and leaves the drive alone afterwards.
const PIECE: u64 = 128 << 10;

/// Write some pages in the order of their addresses, wait until they are in the cells, and let the drive settle.
fn fill<T: Target>(target: &mut T, pages: &Pages, rest: Nanos) -> Result<(), TargetError> {
    let capacity = target.capacity_bytes();
    for run in pages.runs() {
        let (mut at, end) = (run.start * PAGE_BYTES, (run.end * PAGE_BYTES).min(capacity));
        while at < end {
            let len = (end - at).min(PIECE);
            complete(target, &Request::write(at, len as u32))?;
            at += len;
        }
    }
    complete(target, &Request::flush())?;
    let rested = target.now() + rest;
    while target.now() < rested {
        target.next(rested)?;
    }
    Ok(())
}

fn complete<T: Target>(target: &mut T, request: &Request) -> Result<(), TargetError> {
    target.submit(0, request)?;
    while target.next(Nanos::MAX)?.is_none() {}
    Ok(())
}

/// Pages of the drive that hold data, a bit each; untouched parts take no memory.
struct Written(Vec<u64>);

impl Written {
    fn new(capacity: u64, before: Option<&Pages>) -> Written {
        let mut written = Written(vec![0; capacity.div_ceil(64 * PAGE_BYTES) as usize]);
        for page in before.into_iter().flat_map(Pages::runs).flatten() {
            written.set(page);
        }
        written
    }

    fn set(&mut self, page: u64) {
        self.0[(page / 64) as usize] |= 1 << (page % 64);
    }

    #[inline]
    fn has(&self, page: u64) -> bool {
        self.0[(page / 64) as usize] & 1 << (page % 64) != 0
    }

    #[inline]
    fn add(&mut self, request: &Request) {
        Pages::of(request.offset, request.len).for_each(|page| self.set(page));
    }

    #[inline]
    fn missing(&self, request: &Request) -> u64 {
        Pages::of(request.offset, request.len).filter(|&page| !self.has(page)).count() as u64
    }
}

enum Failure {
    Trace(TraceError),
    Target(TargetError),
}

impl From<TargetError> for Failure {
    fn from(error: TargetError) -> Failure {
        Failure::Target(error)
    }
}

struct Run {
    recorder: Recorder,
    /// What is under way, and since when.
    slots: Vec<(Request, Nanos)>,
    free: Vec<u32>,
    start: Nanos,
    until_look: u32,
    stopped: bool,
    remap: Remap,
    written: Option<Written>,
    accounts: Accounts,
    surveyor: Option<Surveyor>,
    outcome: Replayed,
}

impl Run {
    fn all<T: Target>(
        &mut self,
        target: &mut T,
        trace: &mut Trace,
        how: &Replay,
        observer: &mut dyn Observer,
    ) -> Result<(), Failure> {
        let mut parts = VecDeque::new();
        while let Some(entry) = trace.next_entry().map_err(Failure::Trace)? {
            if let Some(surveyor) = &mut self.surveyor {
                surveyor.note(&entry);
                if entry.device > 0 && trace.is_of_all() {
                    return Err(Failure::Trace(several(trace)));
                }
            }
            // Where an address goes is not known yet, but mostly it stays.
            if let Some(ahead) = trace.ahead(AHEAD - 1) {
                if how.fit == Fit::Exact && ahead.request.offset < target.capacity_bytes() {
                    target.prepare(&ahead.request);
                }
            }
            self.remap.put(&entry.request, &mut parts).map_err(|error| Failure::Trace(at(trace, error)))?;
            let due = match how.pace {
                Pace::Original { speed: 1.0 } => self.start.saturating_add(entry.at),
                Pace::Original { speed } => self.start.saturating_add(Nanos((entry.at.0 as f64 / speed) as u64)),
                Pace::Asap => Nanos::ZERO,
            };
            self.await_time(target, trace, due, observer)?;
            let mut late = Nanos::ZERO;
            while let Some(part) = parts.pop_front() {
                let (part, widened) = how.footing.whole(&part, target.capacity_bytes());
                self.outcome.widened += widened as u64;
                while self.free.is_empty() {
                    self.step(target, trace, Nanos::MAX, observer)?;
                }
                if self.stopped {
                    break;
                }
                let now = target.now();
                late = now.saturating_sub(due);
                self.issue(target, &part, now)?;
            }
            if self.stopped {
                break;
            }
            self.outcome.requests += 1;
            if due > Nanos::ZERO && late > how.footing.slack {
                self.outcome.late += 1;
                self.outcome.late_most = self.outcome.late_most.max(late);
                self.outcome.late_sum = self.outcome.late_sum.saturating_add(late);
            }
            if self.outcome.requests % LOOK == 0 {
                self.look_at_cache(target);
            }
        }
        while self.free.len() < self.slots.len() {
            self.step(target, trace, Nanos::MAX, observer)?;
        }
        self.look_at_cache(target);
        Ok(())
    }

    /// Let time pass until a request is due.
    fn await_time<T: Target>(
        &mut self,
        target: &mut T,
        trace: &Trace,
        due: Nanos,
        observer: &mut dyn Observer,
    ) -> Result<(), TargetError> {
        while target.now() < due && !self.stopped {
            let is_pause = self.free.len() == self.slots.len();
            let until = if is_pause { self.recorder.pause::<T>(due) } else { due };
            self.step(target, trace, until, observer)?;
        }
        Ok(())
    }

    #[inline]
    fn step<T: Target>(
        &mut self,
        target: &mut T,
        trace: &Trace,
        until: Nanos,
        observer: &mut dyn Observer,
    ) -> Result<(), TargetError> {
        if let Some(Completion { slot, at }) = target.next(until)? {
            let (request, issued) = self.slots[slot as usize];
            self.free.push(slot);
            let submitted = target.submitted(slot);
            self.recorder.record(target, 0, &request, Times { issued, submitted, now: at }, true);
        } else {
            let now = target.now();
            self.recorder.pass(target, now);
        }
        // In a pause too: on a real drive it lasts.
        self.until_look -= 1;
        if self.until_look == 0 {
            self.until_look = T::LOOK_EVERY.min(observer.patience());
            self.look(target, trace, observer);
        }
        Ok(())
    }

    #[inline]
    fn issue<T: Target>(&mut self, target: &mut T, request: &Request, now: Nanos) -> Result<(), TargetError> {
        match (request.op, &mut self.written) {
            (Op::Read, Some(written)) => {
                self.outcome.unwritten_bytes += written.missing(request) * PAGE_BYTES;
            }
            (Op::Write, Some(written)) => written.add(request),
            _ => {}
        }
        let slot = self.free.pop().expect("there is room");
        self.slots[slot as usize] = (*request, now);
        let under_way = self.slots.len() - self.free.len();
        self.recorder.stats[0].depths[under_way.ilog2().min(6) as usize] += 1;
        target.submit(slot, request)?;
        if let Some(waits) = target.waits() {
            self.accounts.enter(request.op, waits);
        }
        Ok(())
    }

    fn look_at_cache<T: Target>(&mut self, target: &mut T) {
        let Some(held) = target.cache_bytes() else { return };
        if held > self.outcome.cache_most_bytes {
            self.outcome.cache_most_bytes = held;
            self.outcome.cache_most_at = target.now() - self.start;
        }
    }

    fn look<T: Target>(&mut self, target: &mut T, trace: &Trace, observer: &mut dyn Observer) {
        let so_far = Progress {
            done_bytes: self.recorder.moved_bytes(),
            total_bytes: 0,
            elapsed: target.now() - self.start,
            total_time: Nanos::ZERO,
        };
        if self.stopped {
            return;
        }
        let next = observer.look(&so_far);
        if next != Next::Go {
            let survey = self.surveyor.as_ref().map(|surveyor| Box::new(surveyor.so_far(trace)));
            observer.keep(Recording { survey, ..self.recorder.so_far(target) });
        }
        self.stopped = next == Next::Stop;
    }
}
