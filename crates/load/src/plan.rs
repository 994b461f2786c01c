//! What jobs are going to do, before they do it.

use pslc_ssd::Nanos;

use crate::job::{ByKind, Job, Mix};
use crate::stream::Stream;

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
        let writes =
            matches!(job.rw.mix, Mix::Write | Mix::ReadWrite | Mix::TrimWrite) || job.copy_to.is_some();
        plan.idle += job.startdelay;
        if job.time_based {
            plan.writes_until_time |= writes;
            plan.timed += job.runtime.unwrap_or_default();
            continue;
        }
        let total = Stream::new(job, number as u64, 0, 0).total_bytes() * job.numjobs as u64;
        let reads = (total as u128 * job.rwmixread as u128 / 100) as u64;
        match job.rw.mix {
            Mix::Read if job.copy_to.is_some() => {
                plan.bytes.read += total / 2;
                plan.bytes.write += total / 2;
            }
            Mix::Read => plan.bytes.read += total,
            Mix::Write => plan.bytes.write += total,
            Mix::Trim => plan.bytes.trim += total,
            Mix::ReadWrite => {
                plan.bytes.read += reads;
                plan.bytes.write += total - reads;
            }
            Mix::TrimWrite => {
                plan.bytes.trim += total / 2;
                plan.bytes.write += total / 2;
            }
        }
        if job.verify && writes {
            plan.bytes.read += total;
        }
    }
    plan
}
