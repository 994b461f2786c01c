//! Jobs that look at what they measure: those that end when they are steady, and those that look for their depth.

use std::cmp::Reverse;

use pslc_ssd::{Nanos, Op};

use super::search::Verdict;
use super::worker::{State, Worker};
use super::Runner;
use crate::record::{JobStats, Steadiness};
use crate::target::{Target, TargetError};

impl Runner {
    /// Stats of workers that run, as they are reported, each once, with its number.
    pub(super) fn reported(&self) -> impl Iterator<Item = (usize, &JobStats)> {
        let running = |at: &usize| {
            let runs = |worker: &Worker| worker.state == State::Running && self.reported_at(worker) == *at;
            self.workers.iter().any(runs)
        };
        (0..self.recorder.stats.len()).filter(running).map(|at| (at, &self.recorder.stats[at]))
    }

    fn reported_at(&self, worker: &Worker) -> usize {
        self.recorder.stats[worker.stats].part_of.unwrap_or(worker.stats)
    }

    /// Look at jobs whose second is over, and end those that are steady.
    pub(super) fn end_what_is_steady(&mut self, now: Nanos) {
        let is_due = |steady: &Steadiness| steady.due <= now && !steady.attained;
        let due: Vec<usize> =
            self.reported().filter(|(_, stats)| stats.steady.as_ref().is_some_and(is_due)).map(|(at, _)| at).collect();
        for at in due {
            let parts = self.recorder.stats.iter().enumerate();
            let parts = parts.filter(|(part, stats)| *part == at || stats.part_of == Some(at));
            let totals = parts.fold([0; 2], |sum, (_, stats)| {
                let [count, bytes] = stats.moved();
                [sum[0] + count, sum[1] + bytes]
            });
            let steady = self.recorder.stats[at].steady.as_mut().expect("it is due");
            if steady.look(now, totals) {
                let part_of: Vec<_> = self.recorder.stats.iter().map(|stats| stats.part_of).collect();
                self.stop(|worker| worker.stats == at || part_of[worker.stats] == Some(at));
            }
        }
    }

    /// A request has come back of a worker that looks for its depth.
    #[cold]
    pub(super) fn search<T: Target>(&mut self, target: &mut T, at: u32, now: Nanos) -> Result<(), TargetError> {
        let slot = &self.slots[at as usize];
        let (number, latency) = (slot.worker as usize, now - slot.issued);
        let worker = &mut self.workers[number];
        let search = worker.search.as_mut().expect("it looks for one");
        let verdict = match slot.request.op {
            Op::Flush => Verdict::Nothing,
            _ => search.completed(now, latency, worker.under_way, now >= worker.counts_from),
        };
        self.recorder.stats[worker.stats].depth = search.depth;
        if !search.draining && !worker.thinking {
            // The slot that has just come back is offered next.
            let room = search.depth.saturating_sub(worker.under_way + 1) as usize;
            let woken = worker.parked.drain(worker.parked.len().saturating_sub(room)..);
            self.wakes.extend(woken.map(|slot| Reverse((now, slot))));
        }
        match verdict {
            Verdict::Nothing => {}
            Verdict::Restart => {
                let stats = worker.stats;
                worker.restart(now);
                self.share_usage(target);
                self.recorder.stats[stats].restart(now);
                self.next_start = Nanos::ZERO;
            }
            Verdict::End => {
                let first_slot = worker.first_slot;
                self.stop(|worker| worker.first_slot == first_slot);
            }
            Verdict::TooLate => {
                let target = search.how.target;
                let (latency_us, target_us) = (latency.0 / 1000, target.0 / 1000);
                return Err(TargetError::Late { latency_us, target_us });
            }
        }
        Ok(())
    }
}
