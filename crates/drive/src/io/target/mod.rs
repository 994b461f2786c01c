//! A file or a device as a target: the clock is the wall's, requests are the system's.
//!
//! ```text
//!   files      what requests are made on       content    what they write, and what they read of it
//!   layout     a new file is written once      check      jobs that cannot be
//!   counters   what is moved                  ends       what lay at both ends of a drive
//! ```

mod check;
mod content;
mod counters;
mod ends;
mod files;
mod layout;

use std::collections::VecDeque;
use std::fs::File;
use std::sync::mpsc::Sender;
use std::sync::Arc;
use std::time::{Duration, Instant};

use pslc_load::heartbeat::Heartbeat;
use pslc_load::in_flight::{self, InFlight};
use pslc_load::job::{Data, Job, SyncMode};
use pslc_load::verify::Verify;
use pslc_load::{Completion, Progress, Purpose, Target, TargetError, Usage, Verdict};
use pslc_ssd::{Nanos, Op, Request};

use crate::io::arena::Arena;
use crate::io::clock::Watchdog;
use crate::io::data::Maker;
use crate::io::engine::{name, perform, Done, Engine, Kind, Task, PATIENCE};
use crate::io::judge::Judge;
#[cfg(target_os = "linux")]
use crate::io::page_cache;
use crate::io::stat::DeviceStat;
#[cfg(target_os = "linux")]
use crate::io::Mark;
use crate::io::Written;
#[cfg(windows)]
use crate::sys::discard;
use crate::sys::{self, Raw};
use counters::Counters;
#[cfg(target_os = "linux")]
use files::discard;
pub(crate) use files::Trim;
use layout::extends;

pub struct RealTarget {
    /// Past the page cache and through it; the first is absent where the file system refuses it.
    direct: Option<File>,
    buffered: File,
    /// Those of the workers that go through the page cache.
    opened: Vec<File>,
    #[cfg_attr(not(any(target_os = "linux", windows)), expect(dead_code, reason = "files only"))]
    trim: Trim,
    capacity: u64,
    block: u32,
    written: Written,
    wanted: Option<Kind>,
    kind: Option<Kind>,
    clock: Watchdog<Instant>,
    heart: Arc<Heartbeat>,
    /// The heart beats, during a run.
    beating: Option<Sender<()>>,
    in_flight: InFlight,
    maker: Maker,
    /// How each worker verifies, and what of it may be judged; of a run in which nobody does, nothing.
    verifying: Vec<Option<Verify>>,
    /// What each worker writes.
    data: Vec<Data>,
    judge: Option<Judge>,
    /// What is wrong with what was read, by slot, until it is asked for.
    failures: Vec<(u32, TargetError)>,
    slots: Vec<Slot>,
    // The engine goes before the memory that it uses.
    engine: Option<Engine>,
    arena: Option<Arena>,
    /// One worker runs.
    alone: bool,
    /// Slots whose requests wait for the engine's next call of the system.
    gathered: Vec<u32>,
    /// The file has to be written once before it is measured on, and writes of it that the system makes in their order.
    is_to_be_laid_out: bool,
    in_order: u32,
    /// Bytes that were.
    laid_out: u64,
    /// Why that failed, until a run begins.
    not_laid_out: Option<TargetError>,
    /// Requests that were done at once.
    ready: VecDeque<Done>,
    under_way: u32,
    counters: Counters,
    /// Dropped last: it tells when the file was written for the last time.
    #[cfg(target_os = "linux")]
    mark: Option<Mark>,
}

#[derive(Clone, Copy, Debug)]
struct Slot {
    request: Request,
    /// Of reads and writes.
    fd: Raw,
    sync: Option<SyncMode>,
    data_only: bool,
    primed: bool,
    worker: u32,
    purpose: Purpose,
    verdict: Verdict,
    /// Its engine makes a request and waits for it, in one call.
    one_at_a_time: bool,
    /// When the system had the request.
    submitted: Nanos,
}

impl RealTarget {
    pub(crate) fn new(
        direct: Option<File>,
        buffered: File,
        trim: Trim,
        capacity: u64,
        block: u32,
        written: Written,
    ) -> RealTarget {
        let start = Instant::now();
        let heart = Arc::new(Heartbeat::new(start));
        RealTarget {
            direct,
            buffered,
            opened: Vec::new(),
            trim,
            capacity,
            block,
            written,
            wanted: None,
            kind: None,
            in_flight: InFlight::new(heart.clone()),
            clock: Watchdog::new(Instant::now, start, heart.clone()),
            heart,
            beating: None,
            maker: Maker::new(0),
            verifying: Vec::new(),
            data: Vec::new(),
            judge: None,
            failures: Vec::new(),
            slots: Vec::new(),
            engine: None,
            arena: None,
            alone: false,
            gathered: Vec::new(),
            is_to_be_laid_out: false,
            in_order: 1,
            laid_out: 0,
            not_laid_out: None,
            ready: VecDeque::new(),
            under_way: 0,
            counters: Counters::default(),
            #[cfg(target_os = "linux")]
            mark: None,
        }
    }

    /// The file is pslc's own from now on.
    #[cfg(target_os = "linux")]
    pub(crate) fn marked(mut self, mark: Mark) -> RealTarget {
        self.mark = Some(mark);
        self
    }

    /// A new file in which the system would write zeros in front of a write: it is written once before the first run, but
    /// for one that makes it longer by writes in their order, of which the system keeps that of `in_order` at once.
    pub(crate) fn with_layout(mut self, in_order: u32) -> RealTarget {
        (self.is_to_be_laid_out, self.in_order) = (true, in_order);
        self
    }

    /// Bytes that were written before the first run, because the system would have written zeros there.
    pub fn laid_out_bytes(&self) -> u64 {
        self.laid_out
    }

    /// Use this engine and no other.
    pub fn with_engine(mut self, kind: Kind) -> RealTarget {
        self.wanted = Some(kind);
        self
    }

    /// Record what the devices underneath move for everyone, too.
    pub fn watch(&mut self, stats: Vec<DeviceStat>) {
        self.counters.watch(stats);
    }

    /// The engine of the last run.
    pub fn engine(&self) -> Option<Kind> {
        self.kind
    }

    /// The data of the next run follow from `seed`.
    pub fn seed(&mut self, seed: u64) {
        self.maker = Maker::new(seed);
    }

    fn task(&mut self, at: u32) -> Task {
        let slot = self.slots[at as usize];
        let fd = match slot.request.op {
            Op::Read | Op::Write => slot.fd,
            Op::Trim | Op::Flush => sys::raw(&self.buffered),
        };
        let buffer = self.arena.as_mut().expect("a run has begun").buffer(at).as_mut_ptr();
        let sync = if slot.request.fua { slot.sync } else { None };
        Task { slot: at, request: slot.request, fd, buffer, sync, data_only: slot.data_only }
    }

    /// The system has what was gathered.
    #[inline]
    fn handed_over(&mut self, now: Nanos) {
        for slot in self.gathered.drain(..) {
            self.slots[slot as usize].submitted = now;
        }
    }

    /// Look at what came back.
    fn finish(&mut self, done: Done) -> Result<Completion, TargetError> {
        let at = self.now();
        self.in_flight.answered(done.slot, at);
        let slot = self.slots[done.slot as usize];
        let Request { op, offset, len, .. } = slot.request;
        let op_name = name(op);
        let moved = done.result.map_err(|source| TargetError::of_request(op_name, offset, len, source))?;
        if matches!(op, Op::Read | Op::Write) && moved != len {
            return Err(TargetError::Short { op: op_name, offset, len, moved });
        }
        if let Some(judge) = &mut self.judge {
            match (op, slot.purpose) {
                (Op::Write | Op::Trim, _) => judge.written(done.slot, offset),
                (Op::Read, Purpose::Check(number)) => {
                    let judged = judge.checked(done.slot, offset);
                    self.slots[done.slot as usize].verdict =
                        if judged { self.compare(done.slot, number) } else { Verdict::Unjudged };
                }
                _ => {}
            }
        }
        if op != Op::Flush {
            self.counters.moved[op as usize] += len as u64;
        }
        Ok(Completion { slot: done.slot, at })
    }
}

impl Target for RealTarget {
    const LOOK_EVERY: u32 = 16;

    fn unwritten(&self, offset: u64, len: u64) -> Vec<(u64, u64)> {
        self.written.holes(offset, len)
    }

    fn before_run(&mut self, jobs: &[Job], goes_on: &mut dyn FnMut(&Progress) -> bool) {
        if self.is_to_be_laid_out && !extends(jobs, self.in_order) {
            self.is_to_be_laid_out = false;
            self.not_laid_out = self.lay_out(goes_on);
        }
    }

    fn in_flight(&self) -> Option<Arc<in_flight::Shared>> {
        Some(self.in_flight.shared())
    }

    fn begin(&mut self, slots: &[&Job], largest: u32) -> Result<(), TargetError> {
        if let Some(error) = self.not_laid_out.take() {
            return Err(error);
        }
        let failed = |source| TargetError::Engine { what: "the buffers", source };
        let mut arena = Arena::new(slots.len(), largest as usize).map_err(failed)?;
        let failed = |source| TargetError::Engine { what: "the thread that sees a stopped process", source };
        self.beating = Some(self.heart.begin(sys::asleep).map_err(failed)?);
        let failed = |source| TargetError::Engine { what: "the engine", source };
        let count = slots.len() as u32;
        let (engine, why) = match self.wanted {
            Some(kind) => Engine::new(kind, count, arena.whole()).map(|engine| (engine, None)),
            None => Engine::best(count, arena.whole()),
        }
        .map_err(failed)?;
        if let Some(why) = why {
            self.in_flight.shared().substitutes.get_or_init(|| why.to_string());
        }
        self.kind = Some(engine.kind());
        self.engine = Some(engine);
        self.arena = Some(arena);
        self.opened.clear();
        let mut fds = Vec::with_capacity(slots.len());
        // Workers stand in the order of their jobs, and have as many slots as their depth.
        let mut workers: Vec<(&Job, u64)> = Vec::new();
        while let Some(&job) = slots.get(fds.len()) {
            let failed = |source| TargetError::Engine { what: "the file", source };
            let fd = self.open_for(job).map_err(failed)?;
            let worker = workers.len() as u32;
            fds.extend(std::iter::repeat_n((fd, worker), job.iodepth as usize));
            let clone = workers.last().filter(|(other, _)| std::ptr::eq(*other, job)).map_or(0, |(_, clone)| clone + 1);
            workers.push((job, clone));
        }
        self.verifying = workers.iter().map(|(job, _)| job.verify.clone()).collect();
        self.data = workers.iter().map(|(job, _)| job.data.clone()).collect();
        self.judge = Judge::of(&workers, self.capacity);
        let slot = |(job, (fd, worker)): (&&Job, (Raw, u32))| Slot {
            request: Request::flush(),
            fd,
            sync: job.sync,
            data_only: job.data_only,
            primed: false,
            worker,
            purpose: Purpose::Plain,
            verdict: Verdict::Unseen,
            one_at_a_time: job.one_at_a_time,
            submitted: Nanos::ZERO,
        };
        self.slots = slots.iter().zip(fds).map(slot).collect();
        self.in_flight.begin(self.slots.len());
        Ok(())
    }

    fn end(&mut self) {
        self.gathered.clear();
        self.under_way -= self.ready.drain(..).count() as u32;
        while self.under_way > 0 {
            match self.engine.as_mut().map(|engine| engine.next(PATIENCE)) {
                Some(Ok(Some(_))) => self.under_way -= 1,
                Some(Ok(None)) => {}
                _ => break,
            }
        }
        self.engine = None;
        self.beating = None;
        self.heart.rest();
        self.in_flight.begin(0);
        self.arena = None;
        self.opened.clear();
        self.counters.refresh();
    }

    fn capacity_bytes(&self) -> u64 {
        self.capacity
    }

    fn block_bytes(&self) -> u32 {
        self.block
    }

    #[inline]
    fn now(&mut self) -> Nanos {
        self.clock.now()
    }

    fn submit(&mut self, at: u32, request: &Request) -> Result<(), TargetError> {
        self.slots[at as usize].request = *request;
        let (offset, len) = (request.offset, request.len as u64);
        match request.op {
            Op::Write => {
                self.fill(at);
                self.written.add(offset, len);
            }
            Op::Trim => self.written.remove(offset, len),
            Op::Read if !self.written.covers(offset, len) => {
                return Err(TargetError::Unwritten { offset, len: request.len });
            }
            _ => {}
        }
        self.under_way += 1;
        self.in_flight.submitted(at, request, self.clock.last());
        if let Some(judge) = &mut self.judge {
            let slot = &self.slots[at as usize];
            match (request.op, slot.purpose) {
                (Op::Write | Op::Trim, _) => {
                    judge.write(at, slot.worker, offset, len, request.op == Op::Trim);
                }
                (Op::Read, Purpose::Check(_)) => judge.check(at, slot.worker, offset, len),
                _ => {}
            }
        }
        #[cfg(any(target_os = "linux", windows))]
        if request.op == Op::Trim && self.trim == Trim::Discard {
            self.slots[at as usize].submitted = self.now();
            let result = discard(&self.buffered, offset, len).map(|()| 0);
            self.ready.push_back(Done { slot: at, result });
            return Ok(());
        }
        let task = self.task(at);
        if self.alone && self.slots[at as usize].one_at_a_time {
            self.ready.push_back(Done { slot: at, result: perform(&task) });
            return Ok(());
        }
        let engine = self.engine.as_mut().expect("a run has begun");
        let failed = |source| TargetError::of_request(name(request.op), offset, request.len, source);
        let handed_over = engine.submit(task).map_err(failed)?;
        self.gathered.push(at);
        if handed_over {
            let now = self.now();
            self.handed_over(now);
        }
        Ok(())
    }

    fn next(&mut self, until: Nanos) -> Result<Option<Completion>, TargetError> {
        self.clock.check()?;
        let done = match self.ready.pop_front() {
            Some(done) => Some(done),
            None => {
                let now = self.now();
                self.handed_over(now);
                let wait = Duration::from_nanos(until.saturating_sub(now).0).min(PATIENCE);
                let engine = self.engine.as_mut().expect("a run has begun");
                let done = if self.under_way == 0 {
                    std::thread::sleep(wait);
                    None
                } else {
                    let what = engine.kind().name();
                    engine.next(wait).map_err(|source| TargetError::Engine { what, source })?
                };
                if done.is_none() {
                    self.clock.waited(wait);
                }
                done
            }
        };
        let Some(done) = done else { return Ok(None) };
        self.under_way -= 1;
        self.finish(done).map(Some)
    }

    fn purpose(&mut self, slot: u32, purpose: Purpose) {
        self.slots[slot as usize].purpose = purpose;
    }

    fn verdict(&mut self, slot: u32) -> Verdict {
        self.slots[slot as usize].verdict
    }

    fn failure(&mut self, slot: u32) -> Option<TargetError> {
        let index = self.failures.iter().position(|&(at, _)| at == slot)?;
        Some(self.failures.swap_remove(index).1)
    }

    fn alone(&mut self, alone: bool) {
        self.alone = alone;
    }

    #[inline]
    fn submitted(&self, slot: u32) -> Option<Nanos> {
        Some(self.slots[slot as usize].submitted)
    }

    /// Of this thread with io_uring, whose own threads work for all; of the process where threads make the requests.
    fn usage(&mut self) -> Usage {
        sys::usage(self.kind == Some(Kind::Uring))
    }

    #[cfg(target_os = "linux")]
    fn invalidate(&mut self, offset: u64, len: u64) {
        match self.trim {
            Trim::Discard => page_cache::forget_device(&self.buffered),
            Trim::PunchHole => page_cache::forget(&self.buffered, offset, len),
        }
    }

    fn columns(&self) -> &'static [&'static str] {
        self.counters.columns()
    }

    fn sample(&mut self, into: &mut [u64]) {
        let now = self.now();
        self.counters.sample(now, into);
    }
}
