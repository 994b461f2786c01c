//! A simulated drive that anyone asks at any time: requests come when they come, each is told at once when it completes,
//! and everything is recorded. The clock is the caller's; in real time it is the wall's.

use pslc_ssd::{Nanos, Op, Request};

use crate::record::{JobStats, Recorder, Recording, Spectrum, Sums, Tally, Times};
use crate::sim::SimTarget;
use crate::target::{Completion, Target};

/// Series begin with bins of so many bytes.
const LARGEST: u32 = 128 << 10;

/// A drive in use.
#[derive(Debug)]
pub struct Live {
    target: SimTarget,
    recorder: Recorder,
    /// What is under way, and since when.
    slots: Vec<(Request, Nanos)>,
    free: Vec<u32>,
    /// Latencies since they were last asked for.
    recent: Tally,
}

impl Live {
    /// Recording begins now; what was under way on the drive before is none of it.
    pub fn new(mut target: SimTarget, name: &str) -> Live {
        target.end();
        target.begin(&[], LARGEST).expect("a simulated drive does not fail");
        let start = target.now();
        let mut stats = JobStats::named(name);
        stats.begin(start, start);
        let recorder = Recorder::new(&mut target, vec![stats], 0, LARGEST, None);
        Live { target, recorder, slots: Vec::new(), free: Vec::new(), recent: Tally::new() }
    }

    /// How far time up to `until` may pass at once: to the end of the present bin, so that what the drive does while nobody
    /// asks is told of each bin, and no further than a drive can be asked to go.
    pub fn step(&self, until: Nanos) -> Nanos {
        self.recorder.pause::<SimTarget>(until).min(self.target.farthest())
    }

    /// Let the time up to `now` pass. Time does not run backwards: an earlier `now` is the last one.
    pub fn pass(&mut self, now: Nanos) {
        let now = now.max(self.target.now());
        while let Ok(Some(Completion { slot, at })) = self.target.next(now) {
            let (request, issued) = self.slots[slot as usize];
            self.free.push(slot);
            if request.op != Op::Flush {
                self.recent.note(at.0 - issued.0);
            }
            let times = Times { issued, submitted: None, now: at };
            self.recorder.record(&mut self.target, 0, &request, times, true);
        }
        self.recorder.pass(&mut self.target, now);
    }

    /// Ask for something at `now`; returns when it completes. It must lie within the drive.
    pub fn submit(&mut self, now: Nanos, request: &Request) -> Nanos {
        self.pass(now);
        let issued = self.target.now();
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push((Request::flush(), issued));
            self.slots.len() as u32 - 1
        });
        self.slots[slot as usize] = (*request, issued);
        let under_way = self.under_way();
        self.recorder.stats[0].depths[under_way.ilog2().min(6) as usize] += 1;
        self.target.submit_told(slot, request)
    }

    /// Requests that have not completed.
    pub fn under_way(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// What completed so far.
    pub fn sums(&self) -> Sums {
        self.recorder.sums()
    }

    /// The latencies of what completed since this was last asked.
    pub fn recent(&mut self) -> Spectrum {
        self.recent.take().0
    }

    pub fn target(&mut self) -> &mut SimTarget {
        &mut self.target
    }

    /// The recording as it would be if it ended now.
    pub fn so_far(&mut self) -> Recording {
        let mut recording = self.recorder.so_far(&mut self.target);
        recording.interrupted = false;
        recording.stats[0].end = recording.end;
        recording
    }

    /// What is under way completes, and the drive is given back with the recording.
    pub fn end(mut self) -> (SimTarget, Recording) {
        while self.under_way() > 0 {
            let at = self.target.next_at().expect("something is under way");
            self.pass(at);
        }
        let recording = self.so_far();
        self.target.end();
        (self.target, recording)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::{self, Ground};
    use pslc_ssd::{profile, Machine};

    fn small() -> SimTarget {
        let text = include_str!("../../../python/pslc/drives/pm871b-128gb.toml");
        let profile = profile::load("small.toml", text, &|_| None, &[]).unwrap();
        SimTarget::new(Nanos::ZERO, Machine::new(&profile.config))
    }

    #[test]
    fn a_closed_loop_of_requests_takes_as_long_as_the_runner_says() {
        let text = "[a]\nrw=write\nbs=128k\niodepth=8\nioengine=libaio\ndirect=1\nsize=400m\n";
        let mut target = small();
        let capacity = target.capacity_bytes();
        let jobs = job::parse("a.fio", text, &[], Ground::Simulated, capacity, &|_| None).unwrap();
        let run = crate::run(&mut target, &jobs, 0, &mut |_: &_| true);
        let mut live = Live::new(small(), "a");
        let mut ends = Vec::new();
        for i in 0..400 * 8 {
            let now = if i < 8 {
                Nanos::ZERO
            } else {
                ends.sort_unstable();
                ends.remove(0)
            };
            ends.push(live.submit(now, &Request::write(i * (128 << 10), 128 << 10)));
        }
        let (_, recording) = live.end();
        assert_eq!(recording.end, run.end);
        assert_eq!(recording.stats[0].kinds[1].count, run.stats[0].kinds[1].count);
        assert_eq!(recording.stats[0].kinds[1].percentiles(&[]), run.stats[0].kinds[1].percentiles(&[]));
        let names = Machine::COLUMNS;
        assert_eq!(recording.totals, run.totals);
        let bytes = |of: &Recording| of.time.columns(names).iter().find(|c| c.0 == "write_bytes").unwrap().1.clone();
        assert_eq!(bytes(&recording).iter().sum::<u64>(), bytes(&run).iter().sum::<u64>());
    }

    #[test]
    fn time_passes_where_nobody_asks_and_is_in_the_series() {
        let mut live = Live::new(small(), "a");
        for i in 0..800 {
            live.submit(Nanos(i * 1_000_000), &Request::write(i * (1 << 20), 1 << 20));
        }
        for second in 1..600 {
            live.pass(Nanos::from_secs(second));
        }
        live.pass(Nanos::from_secs(3));
        let (mut target, recording) = live.end();
        assert_eq!(target.now(), Nanos::from_secs(599));
        let columns = recording.time.columns(Machine::COLUMNS);
        let column = |name: &str| &columns.iter().find(|c| c.0 == name).unwrap().1;
        let held = column("slc_valid_bytes");
        let peak = *held.iter().max().unwrap();
        assert!(peak > 100 << 20 && *held.last().unwrap() < peak, "the cache empties while nobody asks");
        assert!(*column("end_ns").last().unwrap() > Nanos::from_secs(590).0);
    }
}
