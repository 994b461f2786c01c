//! The closed loop: each clone of a job keeps `iodepth` requests under way until it is done. The runner reads no clock
//! but the target's, so the same loop drives a simulated drive and a real one.

mod clone;

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use pslc_ssd::{Nanos, Request};

use crate::job::Job;
use crate::record::{Latency, Recorder, Recording, Unit};
use crate::target::{Target, TargetError};
use clone::Clone;

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
fn largest(jobs: &[Job]) -> u32 {
    jobs.iter().map(|job| job.bs.read.max(job.bs.write).max(job.bs.trim)).max().unwrap_or(0)
}

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
    let mut runner = Runner::new(target, jobs, seed);
    let slots: Vec<&Job> =
        runner.slots.iter().map(|slot| &jobs[runner.clones[slot.clone as usize].job]).collect();
    let begun = target.begin(&slots, largest(jobs));
    let error = begun.and_then(|()| runner.waves(target, observer)).err();
    target.end();
    runner.recorder.finish(target, runner.interrupted, error)
}

struct Runner {
    recorder: Recorder,
    clones: Vec<Clone>,
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
    clone: u32,
    issued: Nanos,
    request: Request,
    /// The request is made but waits for its time.
    held: bool,
}

impl Runner {
    fn new<T: Target>(target: &mut T, jobs: &[Job], seed: u64) -> Runner {
        let mut units: Vec<Unit> = Vec::new();
        let mut clones = Vec::new();
        let mut slots = Vec::new();
        let mut wave = 0;
        for (number, job) in jobs.iter().enumerate() {
            if job.stonewall && number > 0 {
                wave += 1;
            }
            for index in 0..job.numjobs as u64 {
                let shared = units.iter().position(|unit| {
                    job.group_reporting && jobs[unit.job].group_reporting && unit.group == job.group
                });
                let unit = shared.unwrap_or_else(|| {
                    units.push(Unit {
                        name: job.name.clone(),
                        group: job.group,
                        job: number,
                        kinds: std::array::from_fn(|_| Latency::new()),
                        depths: [0; 7],
                        start: Nanos::MAX,
                        end: Nanos::ZERO,
                    });
                    units.len() - 1
                });
                let clone = clones.len() as u32;
                let first_slot = slots.len() as u32;
                slots.extend((0..job.iodepth).map(|_| Slot {
                    clone,
                    issued: Nanos::ZERO,
                    request: Request::flush(),
                    held: false,
                }));
                clones.push(Clone::new(job, number as u64, index, seed, unit, wave, first_slot));
            }
        }
        let sized = jobs.iter().all(|job| !job.time_based);
        let total_bytes = match sized {
            true => clones.iter().map(Clone::total_bytes).sum(),
            false => 0,
        };
        let length = |job: &Job| job.startdelay + job.ramp_time + job.runtime.unwrap_or_default();
        let mut total_time = Nanos::ZERO;
        if jobs.iter().all(|job| job.runtime.is_some()) {
            let longest = |wave: usize| {
                let of = clones.iter().filter(|clone| clone.wave == wave);
                of.map(|clone| length(&jobs[units[clone.unit].job])).max().unwrap_or_default()
            };
            (0..=wave).for_each(|wave| total_time += longest(wave));
        }
        let recorder = Recorder::new(target, units, total_bytes, largest(jobs));
        Runner {
            recorder,
            clones,
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
        let last = self.clones.iter().map(|clone| clone.wave).max().unwrap_or(0);
        for wave in 0..=last {
            if self.interrupted {
                break;
            }
            let now = target.now();
            for at in 0..self.clones.len() {
                let clone = &mut self.clones[at];
                if clone.wave == wave {
                    let begin = now + clone.delay;
                    clone.begin(begin);
                    let unit = &mut self.recorder.units[clone.unit];
                    unit.start = unit.start.min(clone.counts_from);
                    let slots = clone.first_slot..clone.first_slot + clone.iodepth;
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
                until_look -= 1;
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
            self.clones.iter_mut().for_each(|clone| clone.end = Nanos::ZERO);
            // What waits for a time is done now; what is under way is still awaited.
            let waiting = std::mem::take(&mut self.wakes);
            self.wakes = waiting.into_iter().map(|Reverse((_, slot))| Reverse((Nanos::ZERO, slot))).collect();
        }
    }

    #[inline]
    fn complete<T: Target>(&mut self, target: &mut T, at: u32, now: Nanos) {
        let slot = &self.slots[at as usize];
        let clone = &mut self.clones[slot.clone as usize];
        clone.under_way -= 1;
        let counts = now >= clone.counts_from;
        self.recorder.record(target, clone.unit, &slot.request, slot.issued, now, counts);
        if clone.thinking && clone.under_way == 0 {
            clone.thinking = false;
            let resume = now + clone.thinktime;
            self.wakes.extend(clone.parked.drain(..).map(|slot| Reverse((resume, slot))));
            // The slot that has just come back is offered next; it must think as well.
            clone.resume = resume;
        }
    }

    /// A free slot: hand over the next request, wait, or be done. Returns the requests handed over: 0 or 1.
    #[inline]
    fn offer<T: Target>(&mut self, target: &mut T, at: u32) -> Result<u32, TargetError> {
        let slot = &mut self.slots[at as usize];
        let clone = &mut self.clones[slot.clone as usize];
        let now = target.now();
        if clone.thinking {
            clone.parked.push(at);
            return Ok(0);
        }
        if now >= clone.end {
            return self.retire(target, at, now);
        }
        if now < clone.resume {
            self.wakes.push(Reverse((clone.resume, at)));
            return Ok(0);
        }
        if !std::mem::take(&mut slot.held) {
            let Some(request) = clone.next(target) else { return self.retire(target, at, now) };
            slot.request = request;
            if clone.paced {
                let due = clone.due(&request);
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
        let clone = &mut self.clones[slot.clone as usize];
        slot.issued = now;
        clone.under_way += 1;
        clone.issued += 1;
        if clone.thinktime > Nanos::ZERO && clone.issued % clone.thinktime_blocks as u64 == 0 {
            clone.thinking = true;
        }
        if now >= clone.counts_from {
            let level = clone.under_way.ilog2().min(6);
            self.recorder.units[clone.unit].depths[level as usize] += 1;
        }
        target.submit(at, &slot.request)
    }

    /// The slot has nothing more to do; the last of a clone ends it, with a flush if the job wants one.
    #[cold]
    fn retire<T: Target>(&mut self, target: &mut T, at: u32, now: Nanos) -> Result<u32, TargetError> {
        let slot = &mut self.slots[at as usize];
        let clone = &mut self.clones[slot.clone as usize];
        clone.live -= 1;
        if clone.live > 0 {
            return Ok(0);
        }
        if let Some(stream) = clone.verify.take().filter(|_| !self.interrupted) {
            clone.stream = stream;
            clone.live = clone.iodepth;
            let slots = clone.first_slot..clone.first_slot + clone.iodepth;
            self.wakes.extend(slots.map(|slot| Reverse((now, slot))));
            return Ok(0);
        }
        if clone.end_fsync && !self.interrupted {
            clone.end_fsync = false;
            clone.live = 1;
            clone.end = Nanos::ZERO;
            slot.request = Request::flush();
            self.issue(target, at, now)?;
            return Ok(1);
        }
        let unit = &mut self.recorder.units[clone.unit];
        unit.end = unit.end.max(now);
        Ok(0)
    }
}
