//! What jobs are going to do, before they do it.

use pslc_ssd::Nanos;

use crate::job::{ByKind, Job, Mix};
use crate::record::{Entry, Latency};
use crate::runner;
use crate::stream::{remembered, Stream};

/// Bytes by kind, at most; for a job that ends by time alone they are not known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    pub bytes: ByKind<u64>,
    /// How long jobs take that end by time, one after the other.
    pub timed: Nanos,
    /// How long the drive is left alone before jobs.
    pub idle: Nanos,
    /// A job writes until its time is over.
    pub writes_until_time: bool,
}

pub fn plan(jobs: &[Job]) -> Plan {
    let mut plan = Plan::default();
    for (number, job) in jobs.iter().enumerate() {
        let writes = job.writes() || job.copy_to.is_some();
        if job.null {
            plan.idle += job.runtime.unwrap_or_default();
            continue;
        }
        plan.idle += job.pause;
        if job.time_based {
            plan.writes_until_time |= writes;
            plan.timed += job.runtime.unwrap_or_default();
            continue;
        }
        let total = total_bytes(job, number);
        let reads = (total as u128 * job.rwmixread as u128 / 100) as u64;
        let verify = job.verify.as_ref().filter(|_| writes);
        if verify.is_some_and(|verify| verify.reads_back) {
            add(&mut plan.bytes.read, written_of(job, total, reads));
        }
        if verify.is_some_and(|verify| verify.only) {
            continue;
        }
        match job.rw.mix {
            Mix::Read if job.copy_to.is_some() => {
                add(&mut plan.bytes.read, total / 2);
                add(&mut plan.bytes.write, total / 2);
            }
            Mix::Read => add(&mut plan.bytes.read, total),
            Mix::Write => add(&mut plan.bytes.write, total),
            Mix::Trim => add(&mut plan.bytes.trim, total),
            Mix::ReadWrite => {
                add(&mut plan.bytes.read, reads);
                add(&mut plan.bytes.write, total - reads);
            }
            Mix::TrimWrite => {
                add(&mut plan.bytes.trim, total / 2);
                add(&mut plan.bytes.write, total / 2);
            }
        }
    }
    plan
}

/// What a job writes, of so much that it moves, and reads.
fn written_of(job: &Job, total: u64, reads: u64) -> u64 {
    match job.rw.mix {
        Mix::ReadWrite => total - reads,
        Mix::TrimWrite => total / 2,
        _ => total,
    }
}

fn add(sum: &mut u64, more: u64) {
    *sum = sum.saturating_add(more);
}

/// What all clones of a job move; `u64::MAX` where that is less.
fn total_bytes(job: &Job, number: usize) -> u64 {
    Stream::new(job, number as u64, 0, 0).total_bytes().saturating_mul(job.numjobs as u64)
}

/// How fast a target can be at the very best.
#[derive(Clone, Copy, Debug)]
pub struct Best {
    pub bytes_per_s: f64,
    /// Requests a second.
    pub iops: f64,
}

/// What jobs take at least, on a target that is at its best all the time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BestCase {
    /// Seconds on the target's clock.
    pub seconds: f64,
    /// Requests that are made in that time.
    pub requests: f64,
}

/// Jobs between two stonewalls run together: they share the target, and the longest one counts.
pub fn best_case(jobs: &[Job], best: Best) -> BestCase {
    let mut sum = BestCase::default();
    let mut wave = (0.0, 0.0f64);
    for (number, job) in jobs.iter().enumerate() {
        if job.stonewall && number > 0 {
            sum.seconds += f64::max(wave.0, wave.1);
            wave = (0.0, 0.0);
        }
        let wait = (job.startdelay.0.as_secs_f64() - sum.seconds).max(0.0) + job.pause.as_secs_f64();
        if job.null {
            wave.0 = f64::max(wave.0, wait + job.runtime.unwrap_or_default().as_secs_f64());
            continue;
        }
        let largest = job.largest() as f64;
        let clones = job.numjobs as f64;
        let slowest = |of: &ByKind<Option<u64>>| {
            let used = match job.rw.mix {
                Mix::Read => [of.read, None],
                Mix::Write => [of.write, None],
                Mix::Trim => [of.trim, None],
                Mix::ReadWrite => [of.read, of.write],
                Mix::TrimWrite => [of.trim, of.write],
            };
            used.into_iter().flatten().min().map_or(f64::INFINITY, |rate| rate as f64)
        };
        let paced = (slowest(&job.rate) / largest).min(slowest(&job.rate_iops)) * clones;
        let free = best.iops.min(best.bytes_per_s / largest);
        let per_s = free.min(paced);
        let wanted = if job.time_based { f64::INFINITY } else { total_bytes(job, number) as f64 / largest };
        let until = job.runtime.map_or(f64::INFINITY, |runtime| (job.ramp_time + runtime).as_secs_f64());
        let seconds = (wanted / per_s).min(until);
        let requests = if seconds.is_finite() { wanted.min(seconds * per_s) } else { wanted };
        sum.requests += requests;
        wave.0 = f64::max(wave.0, wait + seconds);
        wave.1 += requests / free;
    }
    sum.seconds += f64::max(wave.0, wave.1);
    sum
}

/// Of a request in a log: its entry, in a list that may have doubled just now, and its columns, handed over and written.
const LOGGED_BYTES: u64 = 2 * size_of::<Entry>() as u64 + 3 * 6 * 8;
/// Of a write that is to be verified, in a list or in the tree that finds the newest.
const REMEMBERED_BYTES: u64 = 3 * 16;

/// Bytes of memory that the load engine takes for jobs, on a real drive with the data that are under way; twice the
/// statistics, as they are copied when they are kept or handed over. What is logged request by request is counted where
/// it is known how many there are, or how fast the target is at best.
pub fn memory_bytes(jobs: &[Job], real: bool, best: Best) -> u64 {
    let largest = if real { runner::carried(jobs) as u64 } else { 0 };
    let mut bytes = 0u64;
    let mut groups = Vec::new();
    for job in jobs {
        let (clones, depth) = (job.numjobs as u64, job.iodepth as u64);
        let reported = if !job.group_reporting {
            clones
        } else if groups.contains(&job.group) {
            0
        } else {
            groups.push(job.group);
            1
        };
        let kinds = match job.rw.mix {
            Mix::Read | Mix::Write | Mix::Trim => 1,
            Mix::ReadWrite | Mix::TrimWrite => 2,
        } + (job.fsync > 0) as u64
            + job.verify.is_some() as u64;
        add(&mut bytes, clones.saturating_mul(depth).saturating_mul(largest + runner::SLOT_BYTES));
        add(&mut bytes, clones * runner::WORKER_BYTES);
        let requests = best_case(std::slice::from_ref(job), best).requests;
        if job.logged && requests.is_finite() {
            add(&mut bytes, (requests * LOGGED_BYTES as f64) as u64);
        }
        let remembered = remembered(job, requests);
        if remembered.is_finite() {
            add(&mut bytes, (remembered * REMEMBERED_BYTES as f64) as u64);
        }
        // On a real drive submission and completion are apart as well.
        let parts = if real && !job.one_at_a_time { 3 } else { 1 };
        add(&mut bytes, 2 * reported * kinds * parts * Latency::BYTES);
    }
    bytes
}

/// Bytes of the region of each job whose writes or trims come in random order, and how much they write: what the map of
/// a simulated drive keeps page by page.
pub fn scattered(jobs: &[Job]) -> Vec<(u64, u64)> {
    let changes = |job: &&(usize, &Job)| job.1.rw.mix != Mix::Read && job.1.rw.random;
    let numbered: Vec<(usize, &Job)> = jobs.iter().enumerate().collect();
    numbered
        .iter()
        .filter(changes)
        .map(|(number, job)| {
            let written = if job.time_based { u64::MAX } else { total_bytes(job, *number) };
            let span = match job.strided {
                Some(_) => job.capacity - job.offset.min(job.capacity),
                None => job.offset_increment.saturating_mul(job.numjobs as u64 - 1).saturating_add(job.size),
            };
            (span, written)
        })
        .collect()
}
