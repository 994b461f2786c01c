//! The closed loop: each worker of a job keeps `iodepth` requests under way until it is done. The runner reads no clock
//! but the target's, so the same loop drives a simulated drive and a real one.

mod floor;
mod search;
mod think;
mod until;
mod worker;

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use pslc_ssd::{Nanos, Op, Request};

use crate::job::{ExitWhat, Job, Mix};
use crate::progress::Progress;
use crate::record::{Entry, JobStats, Log, Recorder, Recording, Times};
use crate::target::{Purpose, Target, TargetError, Usage, Verdict};
use worker::{State, Worker};

/// The longest request of any job.
fn largest(jobs: &[Job]) -> u32 {
    jobs.iter().map(Job::largest).max().unwrap_or(0)
}

/// The longest request that carries data: a trim needs no buffer.
pub(crate) fn carried(jobs: &[Job]) -> u32 {
    jobs.iter().filter(|job| job.rw.mix != Mix::Trim).map(Job::largest).max().unwrap_or(0)
}

/// Memory of a slot, with what waits for a time or is under way in it, and of a worker.
pub(crate) const SLOT_BYTES: u64 = (size_of::<Slot>() + 64) as u64;
pub(crate) const WORKER_BYTES: u64 =
    (size_of::<Worker>() + size_of::<JobStats>() + worker::AHEAD * size_of::<Request>()) as u64;

/// What an observer wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    Go,
    /// Go on, and give me what is recorded so far.
    Keep,
    /// Hand over nothing more, and give me what is recorded so far; what is under way is awaited, however long, and the
    /// recording is marked as interrupted.
    Stop,
}

/// Watches a run.
pub trait Observer {
    fn look(&mut self, progress: &Progress) -> Next;

    /// Of a run that is made to be compared in a few bins: how many times wider than usual those of the recording are,
    /// which then say only what was moved, without latencies and the target's columns; of jobs' latencies their mean is
    /// known, not how they are spread. It is several times quicker.
    fn coarseness(&self) -> Option<u64> {
        None
    }

    /// Completions between two looks at most, where a target would be looked at less often.
    fn patience(&self) -> u32 {
        u32::MAX
    }

    /// What was recorded until now, as asked for by [`Next::Keep`] and [`Next::Stop`].
    fn keep(&mut self, _so_far: Recording) {}
}

/// A closure stops the run by returning false.
impl<F: FnMut(&Progress) -> bool> Observer for F {
    fn look(&mut self, progress: &Progress) -> Next {
        if self(progress) {
            Next::Go
        } else {
            Next::Stop
        }
    }
}

/// Run `jobs` to their end, or until the observer, who is asked every few completions, wants no more.
pub fn run<T: Target>(target: &mut T, jobs: &[Job], seed: u64, observer: &mut dyn Observer) -> Recording {
    target.before_run(jobs, &mut |progress| observer.look(progress) != Next::Stop);
    let mut runner = Runner::new(target, jobs, seed, observer.coarseness());
    let slots: Vec<&Job> = runner.slots.iter().map(|slot| &jobs[runner.workers[slot.worker as usize].job]).collect();
    let begun = target.begin(&slots, carried(jobs));
    target.skip_waits();
    let error = begun.and_then(|()| runner.all(target, observer)).err().or_else(|| runner.wrong_block.take());
    target.end();
    runner.recorder.finish(target, runner.interrupted, error)
}

struct Runner {
    recorder: Recorder,
    /// The first that was found; its job ended there, and the others went on.
    wrong_block: Option<TargetError>,
    workers: Vec<Worker>,
    slots: Vec<Slot>,
    /// Slots that wait for a time: a start delay, a rate, a think time.
    wakes: BinaryHeap<Reverse<(Nanos, u32)>>,
    /// Slots that waited for a request which had to be alone, in the order in which they were free.
    ready: VecDeque<u32>,
    flows: Vec<Flow>,
    /// A job that ends takes others with it.
    exitall: bool,
    /// When to look which workers may begin, and which are steady: a start delay is over, a worker has ended, a second
    /// is over.
    next_start: Nanos,
    /// As it was when it was shared out last.
    usage: Usage,
    start: Nanos,
    total_bytes: u64,
    total_time: Nanos,
    interrupted: bool,
}

/// One request's place in a queue.
struct Slot {
    worker: u32,
    issued: Nanos,
    request: Request,
    /// The request is made but waits for its time.
    held: bool,
    /// It has come back, and the worker was not offered the slot again.
    back: bool,
    /// Its line in the worker's log.
    line: usize,
    /// Of a worker that verifies.
    purpose: Purpose,
}

/// Who takes part in a run: a worker for each clone of a job, with its slots, and where its figures go.
#[derive(Default)]
struct Cast {
    stats: Vec<JobStats>,
    workers: Vec<Worker>,
    slots: Vec<Slot>,
    flows: Vec<Flow>,
}

impl Cast {
    fn of(jobs: &[Job], seed: u64) -> Cast {
        let mut cast = Cast::default();
        for (number, job) in jobs.iter().enumerate() {
            for index in 0..job.numjobs as u64 {
                let stats = cast.stats_of(jobs, number);
                cast.stats[stats].last_worker = cast.workers.len();
                let mut worker = Worker::new(job, number as u64, index, seed, stats, cast.slots.len() as u32);
                worker.flow = job.flow.map(|(id, weight)| (cast.join(id, weight), weight));
                let number = cast.workers.len() as u32;
                cast.slots.extend((0..job.iodepth).map(|_| Slot {
                    worker: number,
                    issued: Nanos::ZERO,
                    request: Request::flush(),
                    held: false,
                    back: false,
                    line: 0,
                    purpose: Purpose::Plain,
                }));
                cast.workers.push(worker);
            }
        }
        cast
    }

    /// Where the figures of a clone of a job go: to those of its group, if it reports as one.
    fn stats_of(&mut self, jobs: &[Job], number: usize) -> usize {
        let job = &jobs[number];
        let shared = self
            .stats
            .iter()
            .position(|of| job.group_reporting && jobs[of.job].group_reporting && of.group == job.group);
        // Who may begin to measure anew does so alone.
        let measures_anew = job.latency_target.target > Nanos::ZERO || job.ramp_time > Nanos::ZERO;
        match shared.filter(|_| !measures_anew) {
            Some(shared) => shared,
            None => {
                self.stats.push(JobStats { part_of: shared, ..JobStats::new(job, number) });
                self.stats.len() - 1
            }
        }
    }

    /// The place of a flow, with the weight of one job more.
    fn join(&mut self, id: u32, weight: u32) -> usize {
        let at = self.flows.iter().position(|flow| flow.id == id).unwrap_or_else(|| {
            self.flows.push(Flow { id, weights: 0, count: 1, parked: Vec::new() });
            self.flows.len() - 1
        });
        self.flows[at].weights = self.flows[at].weights.wrapping_add(weight);
        at
    }
}

impl Runner {
    fn new<T: Target>(target: &mut T, jobs: &[Job], seed: u64, coarseness: Option<u64>) -> Runner {
        let Cast { stats, mut workers, slots, flows } = Cast::of(jobs, seed);
        let sized = jobs.iter().all(|job| !job.time_based);
        let total_bytes = if sized { workers.iter().map(Worker::total_bytes).fold(0, u64::saturating_add) } else { 0 };
        let total_time = total_time(jobs);
        let mut recorder = Recorder::new(target, stats, total_bytes, largest(jobs), coarseness);
        for (at, worker) in workers.iter_mut().enumerate().filter(|(_, worker)| jobs[worker.job].logged) {
            worker.log = Some(recorder.logs.len());
            recorder.logs.push(Log {
                job: worker.job,
                number: at + 1,
                begin: Nanos::ZERO,
                counts_from: Nanos::ZERO,
                end: Nanos::ZERO,
                entries: Vec::new(),
            });
        }
        Runner {
            recorder,
            wrong_block: None,
            workers,
            slots,
            wakes: BinaryHeap::new(),
            ready: VecDeque::new(),
            flows,
            exitall: jobs.iter().any(|job| job.exitall),
            next_start: Nanos::ZERO,
            usage: Usage::default(),
            start: target.now(),
            total_bytes,
            total_time,
            interrupted: false,
        }
    }

    /// Which workers may begin, as fio decides it: in order, none before its delay is over, and none behind a stonewall
    /// while another runs.
    #[cold]
    fn start_workers<T: Target>(&mut self, target: &mut T) {
        let now = target.now();
        self.next_start = Nanos::MAX;
        if self.interrupted {
            return;
        }
        self.end_what_is_steady(now);
        let mut running = self.workers.iter().any(|worker| worker.state == State::Running);
        for at in 0..self.workers.len() {
            let worker = &self.workers[at];
            if worker.state != State::Waiting {
                continue;
            }
            let earliest = self.start.saturating_add(worker.delay);
            if earliest > now {
                self.next_start = self.next_start.min(earliest);
                continue;
            }
            if worker.stonewall && running {
                break;
            }
            if worker.wait_for.as_ref().is_some_and(|name| self.is_to_end(name)) {
                continue;
            }
            running = true;
            self.begin(target, at, now);
        }
        let watched = self.reported().filter_map(|(_, stats)| stats.steady.as_ref());
        let due = watched.map(|steady| steady.due).min().unwrap_or(Nanos::MAX);
        self.next_start = self.next_start.min(due);
    }

    /// Whether a worker of the job of this name has not ended.
    fn is_to_end(&self, name: &str) -> bool {
        let names = self.workers.iter().filter(|worker| worker.state != State::Done);
        names.into_iter().any(|worker| worker.name == name)
    }

    fn begin<T: Target>(&mut self, target: &mut T, at: usize, now: Nanos) {
        self.share_usage(target);
        self.workers[at].state = State::Running;
        self.tell_whether_alone(target);
        let worker = &mut self.workers[at];
        let begin = now.saturating_add(worker.pause);
        worker.begin(begin);
        if let Some(log) = worker.log {
            let log = &mut self.recorder.logs[log];
            (log.begin, log.counts_from) = (begin, worker.counts_from);
        }
        worker.drop_cached(target);
        let stats = &mut self.recorder.stats[worker.stats];
        stats.begin(begin, worker.counts_from);
        if stats.last_worker == at {
            stats.depth = worker.search.as_ref().map_or(worker.iodepth, |search| search.depth);
        }
        // A null engine has nothing to do but to wait.
        let first = match (worker.null, worker.runtime) {
            (true, Some(runtime)) => worker.counts_from + runtime,
            _ => begin,
        };
        let slots = worker.first_slot..worker.first_slot + worker.iodepth;
        self.wakes.extend(slots.map(|slot| Reverse((first, slot))));
    }

    fn tell_whether_alone<T: Target>(&self, target: &mut T) {
        let running = self.workers.iter().filter(|worker| worker.state == State::Running && !worker.null);
        target.alone(running.count() == 1);
    }

    /// What was taken of the machine since the last look is of the workers that ran, in equal parts: one thread makes the
    /// requests of all.
    fn share_usage<T: Target>(&mut self, target: &mut T) {
        let usage = target.usage();
        let before = std::mem::replace(&mut self.usage, usage);
        let running: Vec<usize> =
            self.workers.iter().filter(|worker| worker.state == State::Running).map(|worker| worker.stats).collect();
        for (number, &stats) in running.iter().enumerate() {
            // What does not divide goes to the first.
            let part = |now: u64, before: u64| {
                let (all, count) = (now.saturating_sub(before), running.len() as u64);
                all / count + u64::from((number as u64) < all % count)
            };
            let of = &mut self.recorder.stats[stats].usage;
            of.user += Nanos(part(usage.user.0, before.user.0));
            of.system += Nanos(part(usage.system.0, before.system.0));
            of.switches += part(usage.switches, before.switches);
            of.major_faults += part(usage.major_faults, before.major_faults);
            of.minor_faults += part(usage.minor_faults, before.minor_faults);
        }
    }

    fn all<T: Target>(&mut self, target: &mut T, observer: &mut dyn Observer) -> Result<(), TargetError> {
        self.usage = target.usage();
        let look_every = T::LOOK_EVERY.min(observer.patience());
        let mut until_look = look_every;
        let mut under_way = 0u32;
        loop {
            if let Some(&slot) = self.ready.front() {
                under_way += self.offer_ready(target, slot)?;
                continue;
            }
            let first = self.wakes.peek().map_or(Nanos::MAX, |&Reverse((at, _))| at);
            let wake = first.min(self.next_start);
            if wake == Nanos::MAX && under_way == 0 {
                return Ok(());
            }
            let now = target.now();
            if self.next_start <= now {
                self.start_workers(target);
                continue;
            }
            let until = if under_way == 0 { self.recorder.pause::<T>(wake) } else { wake };
            let slot = if first <= now {
                let Reverse((_, slot)) = self.wakes.pop().expect("peeked at");
                slot
            } else if let Some(completion) = target.next(until)? {
                under_way -= 1;
                let len = self.complete(target, completion.slot, completion.at)?;
                // A request of a gigabyte takes as long as many small ones.
                until_look = until_look.saturating_sub(1 + (len >> 16));
                if until_look == 0 {
                    until_look = look_every;
                    self.look(target, observer);
                }
                completion.slot
            } else {
                // Time went by without a completion: think times and idle drives must be interruptible as well, and are
                // recorded before the next request changes what the target says.
                let now = target.now();
                self.recorder.pass(target, now);
                self.look(target, observer);
                continue;
            };
            under_way += self.offer(target, slot)?;
        }
    }

    fn look<T: Target>(&mut self, target: &mut T, observer: &mut dyn Observer) {
        let so_far = Progress {
            done_bytes: self.recorder.moved_bytes(),
            total_bytes: self.total_bytes,
            elapsed: target.now() - self.start,
            total_time: self.total_time,
        };
        if self.interrupted {
            return;
        }
        let next = observer.look(&so_far);
        if next != Next::Go {
            observer.keep(self.recorder.so_far(target));
        }
        if next == Next::Stop {
            self.interrupted = true;
            self.next_start = Nanos::MAX;
            self.stop(|_| true);
        }
    }

    /// End workers early: they hand over nothing more. What waits for a time is done now; what is under way is awaited.
    fn stop(&mut self, which: impl Fn(&Worker) -> bool) {
        for worker in self.workers.iter_mut().filter(|worker| which(worker)) {
            worker.end = Nanos::ZERO;
            if worker.state == State::Waiting {
                worker.state = State::Done;
            }
        }
        let parked = self.flows.iter_mut().flat_map(|flow| flow.parked.drain(..));
        let waiting = std::mem::take(&mut self.wakes).into_iter().map(|Reverse(wake)| wake);
        let all = waiting.chain(parked.map(|slot| (Nanos::ZERO, slot)));
        let workers = &self.workers;
        let now_if_over = |(at, slot): (Nanos, u32)| {
            let over = workers
                .iter()
                .any(|w| w.end == Nanos::ZERO && (w.first_slot..w.first_slot + w.iodepth).contains(&slot));
            Reverse((if over { Nanos::ZERO } else { at }, slot))
        };
        self.wakes = all.map(now_if_over).collect();
    }

    /// A request has come back; returns its length.
    #[inline]
    fn complete<T: Target>(&mut self, target: &mut T, at: u32, now: Nanos) -> Result<u32, TargetError> {
        let slot = &self.slots[at as usize];
        let len = slot.request.len;
        let worker = &mut self.workers[slot.worker as usize];
        if !worker.plain {
            self.complete_and_look(target, at, now)?;
            return Ok(len);
        }
        worker.under_way -= 1;
        let times = Times { issued: slot.issued, submitted: target.submitted(at), now };
        self.recorder.record(target, worker.stats, &slot.request, times, true);
        Ok(len)
    }

    /// A request has come back of a worker that is not plain.
    #[inline(never)]
    fn complete_and_look<T: Target>(&mut self, target: &mut T, at: u32, now: Nanos) -> Result<(), TargetError> {
        self.end_ramp(target, at, now);
        let slot = &mut self.slots[at as usize];
        let worker = &mut self.workers[slot.worker as usize];
        let was_full = worker.is_full();
        worker.under_way -= 1;
        slot.back = true;
        let closing = std::mem::take(&mut worker.closing);
        let submitted = if worker.one_at_a_time { None } else { target.submitted(at) };
        if let Some(log) = worker.log {
            let entry = &mut self.recorder.logs[log].entries[slot.line];
            entry.latency = now - slot.issued;
            entry.submission = submitted.map_or(Nanos::ZERO, |at| at.saturating_sub(slot.issued));
        }
        if worker.blocked && (closing || worker.blocks(slot.request.op)) {
            worker.blocked = false;
            self.ready.extend(worker.parked.drain(..));
        }
        let times = Times { issued: slot.issued, submitted, now };
        self.recorder.record(target, worker.stats, &slot.request, times, !closing);
        let mut is_wrong = false;
        if matches!(slot.purpose, Purpose::Check(_)) {
            let verdict = target.verdict(at);
            is_wrong = verdict == Verdict::Wrong;
            self.recorder.stats[worker.stats].verified.add(verdict, slot.request.len);
        }
        let kind = slot.request.op as usize;
        if let Some(thinker) = &mut worker.thinker {
            if kind < 3 {
                thinker.back();
            }
            worker.thinking = worker.thinking || (was_full && thinker.is_due(now));
        }
        if worker.thinking && worker.under_way == 0 {
            worker.thinking = false;
            let resume = now + worker.thinktime;
            worker.ignore_thinking(kind);
            self.wakes.extend(worker.parked.drain(..).map(|slot| Reverse((resume, slot))));
            // The slot that has just come back is offered next; it must think as well.
            worker.resume = resume;
        }
        if slot.request.op == Op::Flush && !closing && !worker.data_only {
            self.recorder.stats[worker.stats].fsyncs += 1;
        }
        if let (Some(floor), true) = (&mut worker.floor, !worker.ramping && kind < 3) {
            floor.completed(kind, slot.request.len as u64, worker.counts_from, now)?;
        }
        if worker.search.is_some() {
            self.search(target, at, now)?;
        }
        if is_wrong {
            let first_slot = self.workers[self.slots[at as usize].worker as usize].first_slot;
            self.wrong_block = self.wrong_block.take().or_else(|| target.failure(at));
            self.stop(|worker| worker.first_slot == first_slot);
        }
        Ok(())
    }

    /// Once its ramp is over, what a worker has done until then is forgotten; one that ends before is reported with it.
    #[inline]
    fn end_ramp<T: Target>(&mut self, target: &mut T, at: u32, now: Nanos) {
        let worker = &mut self.workers[self.slots[at as usize].worker as usize];
        if worker.ramping && now >= worker.counts_from {
            worker.ramping = false;
            worker.stream.forget_count();
            let (from, stats) = (worker.counts_from, worker.stats);
            worker.restart(from);
            self.share_usage(target);
            self.recorder.stats[stats].restart(from);
        }
    }

    /// The slots that waited for a request which had to be alone, the first of which is given: they wait on together where
    /// another such request is under way by now.
    fn offer_ready<T: Target>(&mut self, target: &mut T, first: u32) -> Result<u32, TargetError> {
        // They are of one worker, since none has come back meanwhile.
        let worker = &mut self.workers[self.slots[first as usize].worker as usize];
        if worker.thinking || worker.blocked {
            worker.parked.extend(self.ready.drain(..));
            return Ok(0);
        }
        self.ready.pop_front();
        self.offer(target, first)
    }

    /// A free slot: hand over the next request, wait, or be done. Returns the requests handed over: 0 or 1.
    #[inline(always)]
    fn offer<T: Target>(&mut self, target: &mut T, at: u32) -> Result<u32, TargetError> {
        let slot = &mut self.slots[at as usize];
        let worker = &mut self.workers[slot.worker as usize];
        if !worker.plain {
            return self.offer_if_it_may(target, at);
        }
        let now = target.now();
        let next = if now < worker.end { worker.next_ahead(target) } else { None };
        let Some(request) = next else { return self.retire(target, at, now) };
        (slot.request, slot.issued) = (request, now);
        worker.under_way += 1;
        let level = worker.under_way.ilog2().min(6);
        self.recorder.stats[worker.stats].depths[level as usize] += 1;
        target.submit(at, &request)?;
        Ok(1)
    }

    /// As `offer`, of a worker that is not plain.
    #[inline(never)]
    fn offer_if_it_may<T: Target>(&mut self, target: &mut T, at: u32) -> Result<u32, TargetError> {
        let slot = &mut self.slots[at as usize];
        let worker = &mut self.workers[slot.worker as usize];
        let now = target.now();
        if worker.thinking || worker.blocked {
            worker.parked.push(at);
            return Ok(0);
        }
        if std::mem::take(&mut slot.back) && worker.depends {
            // Only now, as in fio, which asks what has come back when it could hand over nothing more.
            worker.stream.completed(&slot.request);
        }
        if now >= worker.end || worker.null {
            return self.retire(target, at, now);
        }
        if now < worker.resume {
            self.wakes.push(Reverse((worker.resume, at)));
            return Ok(0);
        }
        if worker.search.as_ref().is_some_and(|search| search.is_full(worker.under_way)) {
            worker.parked.push(at);
            return Ok(0);
        }
        if !std::mem::take(&mut slot.held) {
            if let Some((flow, weight)) = worker.flow {
                let flow = &mut self.flows[flow];
                if worker.flow_count * flow.weights as u64 > flow.count * weight as u64 {
                    flow.parked.push(at);
                    return Ok(0);
                }
                flow.count += 1;
                worker.flow_count += 1;
                self.wakes.extend(flow.parked.drain(..).map(|slot| Reverse((now, slot))));
            }
            let Some(request) = worker.next(target, now) else { return self.retire(target, at, now) };
            (slot.request, slot.purpose) = (request, worker.stream.purpose());
            if worker.paced {
                let due = worker.due(&request);
                if due > now {
                    slot.held = true;
                    // As in fio, a rate is waited for no longer than the job may run; a think time is.
                    self.wakes.push(Reverse((due.min(worker.end), at)));
                    return Ok(0);
                }
            }
        }
        self.issue(target, at, now)?;
        Ok(1)
    }

    #[inline]
    fn issue<T: Target>(&mut self, target: &mut T, at: u32, now: Nanos) -> Result<(), TargetError> {
        self.end_ramp(target, at, now);
        let slot = &mut self.slots[at as usize];
        let worker = &mut self.workers[slot.worker as usize];
        slot.issued = now;
        if let Some(log) = worker.log {
            let Request { op, len, offset, .. } = slot.request;
            let entries = &mut self.recorder.logs[log].entries;
            slot.line = entries.len();
            entries.push(Entry { issued: now, latency: Nanos::MAX, submission: Nanos::ZERO, op, len, offset });
        }
        if worker.end_fsync {
            let follows = worker.fsync_on_close || !worker.stream.is_verifying();
            worker.unsynced = slot.request.op != Op::Flush && follows;
        }
        worker.blocked = worker.closing || worker.blocks(slot.request.op);
        worker.under_way += 1;
        let is_full = worker.is_full();
        if let Some(thinker) = &mut worker.thinker {
            thinker.moves = slot.request.op != Op::Flush && !worker.stream.is_verifying();
            if slot.request.op != Op::Flush {
                thinker.issued();
            }
            worker.thinking = !is_full && thinker.is_due(now);
        }
        if !worker.closing {
            let level = worker.under_way.ilog2().min(6);
            self.recorder.stats[worker.stats].depths[level as usize] += 1;
        }
        if worker.verifies {
            target.purpose(at, slot.purpose);
        }
        target.submit(at, &slot.request)
    }

    /// The slot has nothing more to do; the last of a worker ends its pass, with a flush if the job wants one, and begins
    /// the next or ends the worker.
    #[cold]
    fn retire<T: Target>(&mut self, target: &mut T, at: u32, now: Nanos) -> Result<u32, TargetError> {
        let slot = &mut self.slots[at as usize];
        let slot_of = slot.worker as usize;
        let worker = &mut self.workers[slot_of];
        worker.live -= 1;
        if worker.search.is_some() {
            self.wakes.extend(worker.parked.drain(..).map(|slot| Reverse((now, slot))));
        }
        if worker.live > 0 {
            return Ok(0);
        }
        if worker.end_fsync && worker.unsynced && !self.interrupted {
            worker.live = 1;
            return self.close(target, at, now);
        }
        let has_written = !worker.stream.is_verifying();
        if !self.interrupted && now < worker.end && worker.stream.resume() {
            // As in fio, a pass in which nothing is made ends with a flush, too.
            worker.unsynced = !worker.stream.is_verifying();
            worker.live = worker.iodepth;
            let closes = worker.fsync_on_close && has_written;
            let slots = worker.first_slot..worker.first_slot + worker.iodepth;
            let free = slots.filter(|&slot| !closes || slot != at);
            self.wakes.extend(free.map(|slot| Reverse((now, slot))));
            return if closes { self.close(target, at, now) } else { Ok(0) };
        }
        let stats = &mut self.recorder.stats[worker.stats];
        stats.end = stats.end.max(now);
        stats.worked += now.saturating_sub(if worker.ramping { worker.begin } else { worker.counts_from });
        if let Some(log) = worker.log {
            self.recorder.logs[log].end = now;
        }
        self.share_usage(target);
        self.done(slot_of, now);
        self.tell_whether_alone(target);
        Ok(0)
    }

    /// Flush behind a pass, alone.
    fn close<T: Target>(&mut self, target: &mut T, at: u32, now: Nanos) -> Result<u32, TargetError> {
        let slot = &mut self.slots[at as usize];
        (slot.request, slot.purpose) = (Request::flush(), Purpose::Plain);
        let worker = &mut self.workers[slot.worker as usize];
        (worker.closing, worker.plain) = (true, false);
        self.issue(target, at, now)?;
        Ok(1)
    }

    /// A worker has ended: others may begin, and some may have to end with it.
    fn done(&mut self, at: usize, now: Nanos) {
        let worker = &mut self.workers[at];
        worker.state = State::Done;
        let (what, group) = (worker.exit_what, worker.group);
        if let Some((flow, weight)) = worker.flow.take() {
            let flow = &mut self.flows[flow];
            flow.weights = flow.weights.wrapping_sub(weight);
            flow.count -= worker.flow_count;
            self.wakes.extend(flow.parked.drain(..).map(|slot| Reverse((now, slot))));
        }
        if self.exitall && !self.interrupted {
            self.stop(|other| match what {
                ExitWhat::All => true,
                ExitWhat::Group => other.group == group,
                ExitWhat::Stonewall => other.state == State::Running,
            });
        }
        if !self.interrupted {
            self.next_start = Nanos::ZERO;
        }
    }
}

/// Jobs that keep pace with each other.
struct Flow {
    id: u32,
    /// In sum; it overflows, as fio's, where one is below 0.
    weights: u32,
    count: u64,
    /// Slots whose worker is ahead.
    parked: Vec<u32>,
}

/// How long jobs take that all end by time; 0 where one does not.
fn total_time(jobs: &[Job]) -> Nanos {
    let mut total = Nanos::ZERO;
    let mut longest = Nanos::ZERO;
    for (number, job) in jobs.iter().enumerate() {
        let Some(runtime) = job.runtime else { return Nanos::ZERO };
        if job.stonewall && number > 0 {
            total = total.saturating_add(std::mem::take(&mut longest));
        }
        // Delays count from the beginning.
        let begin = total.max(job.startdelay.0).saturating_add(job.pause);
        longest = longest.max(begin.saturating_add(job.ramp_time + runtime) - total);
    }
    total.saturating_add(longest)
}
