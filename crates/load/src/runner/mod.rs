//! The closed loop: each worker of a job keeps `iodepth` requests under way until it is done. The runner reads no clock
//! but the target's, so the same loop drives a simulated drive and a real one.

mod worker;

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use pslc_ssd::{Nanos, Request};

use crate::job::Job;
use crate::record::{JobStats, Latency, Recorder, Recording};
use crate::target::{Target, TargetError};
use worker::Worker;

/// How far a run has come.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    pub done_bytes: u64,
    /// 0 where a job is time-based.
    pub total_bytes: u64,
    /// Time since the start of the run on the target's clock.
    pub elapsed: Nanos,
    /// How long the jobs take that end by time; 0 where none does.
    pub total_time: Nanos,
}

/// The longest request of any job.
pub(crate) fn largest(jobs: &[Job]) -> u32 {
    jobs.iter().map(|job| job.bs.read.max(job.bs.write).max(job.bs.trim)).max().unwrap_or(0)
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
    /// Hand over nothing more; what is under way is awaited and the recording is marked as interrupted.
    Stop,
}

/// Watches a run.
pub trait Observer {
    fn look(&mut self, progress: &Progress) -> Next;

    /// How many times wider than usual the bins of the recording may be: a run that is made to be compared in a few
    /// bins is several times quicker.
    fn coarseness(&self) -> u64 {
        1
    }

    /// What was recorded until now, as asked for by [`Next::Keep`].
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
    let mut runner = Runner::new(target, jobs, seed, observer.coarseness());
    let slots: Vec<&Job> =
        runner.slots.iter().map(|slot| &jobs[runner.workers[slot.worker as usize].job]).collect();
    let begun = target.begin(&slots, largest(jobs));
    let error = begun.and_then(|()| runner.waves(target, observer)).err();
    target.end();
    runner.recorder.finish(target, runner.interrupted, error)
}

struct Runner {
    recorder: Recorder,
    workers: Vec<Worker>,
    slots: Vec<Slot>,
    /// Slots that wait for a time: a start delay, a rate, a think time.
    wakes: BinaryHeap<Reverse<(Nanos, u32)>>,
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
}

impl Runner {
    fn new<T: Target>(target: &mut T, jobs: &[Job], seed: u64, coarseness: u64) -> Runner {
        let mut stats: Vec<JobStats> = Vec::new();
        let mut workers = Vec::new();
        let mut slots = Vec::new();
        let mut wave = 0;
        for (number, job) in jobs.iter().enumerate() {
            if job.stonewall && number > 0 {
                wave += 1;
            }
            for index in 0..job.numjobs as u64 {
                let shared = stats.iter().position(|of| {
                    job.group_reporting && jobs[of.job].group_reporting && of.group == job.group
                });
                let stats_index = shared.unwrap_or_else(|| {
                    stats.push(JobStats {
                        name: job.name.clone(),
                        group: job.group,
                        job: number,
                        kinds: std::array::from_fn(|_| Latency::new()),
                        depths: [0; 7],
                        start: Nanos::MAX,
                        end: Nanos::ZERO,
                    });
                    stats.len() - 1
                });
                let worker = workers.len() as u32;
                let first_slot = slots.len() as u32;
                slots.extend((0..job.iodepth).map(|_| Slot {
                    worker,
                    issued: Nanos::ZERO,
                    request: Request::flush(),
                    held: false,
                }));
                workers.push(Worker::new(job, number as u64, index, seed, stats_index, wave, first_slot));
            }
        }
        let sized = jobs.iter().all(|job| !job.time_based);
        let total_bytes = match sized {
            true => workers.iter().map(Worker::total_bytes).fold(0, u64::saturating_add),
            false => 0,
        };
        let length = |job: &Job| job.startdelay + job.ramp_time + job.runtime.unwrap_or_default();
        let mut total_time = Nanos::ZERO;
        if jobs.iter().all(|job| job.runtime.is_some()) {
            let longest = |wave: usize| {
                let of = workers.iter().filter(|worker| worker.wave == wave);
                of.map(|worker| length(&jobs[stats[worker.stats].job])).max().unwrap_or_default()
            };
            (0..=wave).for_each(|wave| total_time += longest(wave));
        }
        let recorder = Recorder::new(target, stats, total_bytes, largest(jobs), coarseness);
        Runner {
            recorder,
            workers,
            slots,
            wakes: BinaryHeap::new(),
            start: target.now(),
            total_bytes,
            total_time,
            interrupted: false,
        }
    }

    /// One wave after the other: jobs between two stonewalls run together.
    fn waves<T: Target>(&mut self, target: &mut T, observer: &mut dyn Observer) -> Result<(), TargetError> {
        let last = self.workers.iter().map(|worker| worker.wave).max().unwrap_or(0);
        for wave in 0..=last {
            if self.interrupted {
                break;
            }
            let now = target.now();
            for at in 0..self.workers.len() {
                let worker = &mut self.workers[at];
                if worker.wave == wave {
                    let begin = now + worker.delay;
                    worker.begin(begin);
                    let stats = &mut self.recorder.stats[worker.stats];
                    stats.start = stats.start.min(worker.counts_from);
                    let slots = worker.first_slot..worker.first_slot + worker.iodepth;
                    self.wakes.extend(slots.map(|slot| Reverse((begin, slot))));
                }
            }
            self.wave(target, observer)?;
        }
        Ok(())
    }

    fn wave<T: Target>(&mut self, target: &mut T, observer: &mut dyn Observer) -> Result<(), TargetError> {
        let mut until_look = T::LOOK_EVERY;
        let mut under_way = 0u32;
        loop {
            let wake = self.wakes.peek().map_or(Nanos::MAX, |&Reverse((at, _))| at);
            if wake == Nanos::MAX && under_way == 0 {
                return Ok(());
            }
            let now = target.now();
            let slot = if wake <= now {
                let Reverse((_, slot)) = self.wakes.pop().expect("peeked at");
                slot
            } else if let Some(completion) = target.next(wake)? {
                under_way -= 1;
                self.complete(target, completion.slot, completion.at);
                // A request of a gigabyte takes as long as many small ones.
                let work = 1 + (self.slots[completion.slot as usize].request.len >> 16);
                until_look = until_look.saturating_sub(work);
                if until_look == 0 {
                    until_look = T::LOOK_EVERY;
                    self.look(target, observer);
                }
                completion.slot
            } else {
                // Time went by without a completion: think times and idle drives must be interruptible as well.
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
        if next == Next::Keep {
            observer.keep(self.recorder.so_far(target));
        }
        if next == Next::Stop {
            self.interrupted = true;
            self.workers.iter_mut().for_each(|worker| worker.end = Nanos::ZERO);
            // What waits for a time is done now; what is under way is still awaited.
            let waiting = std::mem::take(&mut self.wakes);
            self.wakes = waiting.into_iter().map(|Reverse((_, slot))| Reverse((Nanos::ZERO, slot))).collect();
        }
    }

    #[inline]
    fn complete<T: Target>(&mut self, target: &mut T, at: u32, now: Nanos) {
        let slot = &self.slots[at as usize];
        let worker = &mut self.workers[slot.worker as usize];
        worker.under_way -= 1;
        let counts = now >= worker.counts_from;
        self.recorder.record(target, worker.stats, &slot.request, slot.issued, now, counts);
        if worker.thinking && worker.under_way == 0 {
            worker.thinking = false;
            let resume = now + worker.thinktime;
            self.wakes.extend(worker.parked.drain(..).map(|slot| Reverse((resume, slot))));
            // The slot that has just come back is offered next; it must think as well.
            worker.resume = resume;
        }
    }

    /// A free slot: hand over the next request, wait, or be done. Returns the requests handed over: 0 or 1.
    #[inline]
    fn offer<T: Target>(&mut self, target: &mut T, at: u32) -> Result<u32, TargetError> {
        let slot = &mut self.slots[at as usize];
        let worker = &mut self.workers[slot.worker as usize];
        let now = target.now();
        if worker.thinking {
            worker.parked.push(at);
            return Ok(0);
        }
        if now >= worker.end {
            return self.retire(target, at, now);
        }
        if now < worker.resume {
            self.wakes.push(Reverse((worker.resume, at)));
            return Ok(0);
        }
        if !std::mem::take(&mut slot.held) {
            let Some(request) = worker.next(target) else { return self.retire(target, at, now) };
            slot.request = request;
            if worker.paced {
                let due = worker.due(&request);
                if due > now {
                    slot.held = true;
                    self.wakes.push(Reverse((due, at)));
                    return Ok(0);
                }
            }
        }
        self.issue(target, at, now)?;
        Ok(1)
    }

    #[inline]
    fn issue<T: Target>(&mut self, target: &mut T, at: u32, now: Nanos) -> Result<(), TargetError> {
        let slot = &mut self.slots[at as usize];
        let worker = &mut self.workers[slot.worker as usize];
        slot.issued = now;
        worker.under_way += 1;
        worker.issued += 1;
        if worker.thinktime > Nanos::ZERO && worker.issued % worker.thinktime_blocks as u64 == 0 {
            worker.thinking = true;
        }
        if now >= worker.counts_from {
            let level = worker.under_way.ilog2().min(6);
            self.recorder.stats[worker.stats].depths[level as usize] += 1;
        }
        target.submit(at, &slot.request)
    }

    /// The slot has nothing more to do; the last of a worker ends it, with a flush if the job wants one.
    #[cold]
    fn retire<T: Target>(&mut self, target: &mut T, at: u32, now: Nanos) -> Result<u32, TargetError> {
        let slot = &mut self.slots[at as usize];
        let worker = &mut self.workers[slot.worker as usize];
        worker.live -= 1;
        if worker.live > 0 {
            return Ok(0);
        }
        if let Some(stream) = worker.verify.take().filter(|_| !self.interrupted) {
            worker.stream = stream;
            worker.live = worker.iodepth;
            let slots = worker.first_slot..worker.first_slot + worker.iodepth;
            self.wakes.extend(slots.map(|slot| Reverse((now, slot))));
            return Ok(0);
        }
        if worker.end_fsync && !self.interrupted {
            worker.end_fsync = false;
            worker.live = 1;
            worker.end = Nanos::ZERO;
            slot.request = Request::flush();
            self.issue(target, at, now)?;
            return Ok(1);
        }
        let stats = &mut self.recorder.stats[worker.stats];
        stats.end = stats.end.max(now);
        Ok(0)
    }
}
