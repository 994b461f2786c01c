//! What has to be on a drive before jobs can read it: as fio lays out a file before the first job that reads it.

use crate::job::{self, Ground, Job};
use crate::{run, Observer, Target, TargetError};

/// A part of the target: where it begins and its bytes.
pub type Range = (u64, u64);

/// What `jobs` read that neither a job before them writes nor `unwritten` leaves out.
fn left_out(jobs: &[Job], unwritten: impl Fn(Range) -> Vec<Range>) -> Vec<Range> {
    let mut covered: Vec<Range> = Vec::new();
    let mut missing = Vec::new();
    for job in jobs.iter().filter(|job| !job.null) {
        for clone in 0..job.numjobs as u64 {
            let extent = job.extent(clone);
            let rest = job.capacity - extent.start;
            // Zones go on to the end, and the last of the requests between holes past that of the region.
            let past = if job.rw.hole > 0 { job.largest() as u64 } else { 0 };
            let region = if job.strided.is_some() { rest } else { (extent.region + past).min(rest) };
            let range = (extent.start, region);
            if job.reads() {
                for part in without(range, &covered) {
                    missing.extend(unwritten(part));
                }
                covered.push(range);
            }
            if job.writes() && job.strided.is_none() {
                covered.push(range);
            }
        }
    }
    missing
}

/// `range` without what is `covered`.
fn without(range: Range, covered: &[Range]) -> Vec<Range> {
    let mut left = vec![range];
    for &(from, len) in covered {
        let to = from + len;
        left = left
            .into_iter()
            .flat_map(|(start, len)| {
                let end = start + len;
                let before = (start, end.min(from).saturating_sub(start));
                let after_start = start.max(to);
                [before, (after_start, end.saturating_sub(after_start))]
            })
            .filter(|(_, len)| *len > 0)
            .collect();
    }
    left
}

/// What `jobs` read of a drive that is neither written nor going to be by a job before them.
pub fn missing<T: Target>(target: &T, jobs: &[Job]) -> Vec<Range> {
    left_out(jobs, |(offset, len)| target.unwritten(offset, len))
}

/// The bytes that `jobs` read of a new drive, or of a new file, before any of them writes there.
pub fn layout_bytes(jobs: &[Job]) -> u64 {
    left_out(jobs, |range| vec![range]).iter().map(|(_, len)| len).sum()
}

/// Where the furthest request of all jobs ends.
pub fn end_bytes(jobs: &[Job]) -> u64 {
    let clones = jobs.iter().filter(|job| !job.null).flat_map(|job| {
        (0..job.numjobs as u64).map(|clone| job.extent(clone)).map(|extent| extent.start + extent.region)
    });
    clones.max().unwrap_or(0)
}

/// Write what is missing, in sequence, and let it reach the cells: on a real drive through the page cache, as fio does.
/// Returns the bytes, 0 if nothing was, and `None` if the observer wanted no more.
pub fn lay_out<T: Target>(
    target: &mut T,
    jobs: &[Job],
    ground: Ground,
    observer: &mut dyn Observer,
) -> Result<Option<u64>, TargetError> {
    let direct = matches!(ground, Ground::Simulated) as u8;
    let ranges = missing(target, jobs);
    let bytes = ranges.iter().map(|(_, len)| len).sum();
    for (offset, len) in ranges {
        let whole = len / MIB * MIB;
        // The rest is in one piece; ranges are whole pages.
        for (bs, offset, size) in [(MIB, offset, whole), (len - whole, offset + whole, len - whole)] {
            if size > 0 {
                let text = format!(
                    "[layout]\nrw=write\nbs={bs}\nioengine=libaio\niodepth=8\ndirect={direct}\nend_fsync=1\n\
                     offset={offset}\nsize={size}\n"
                );
                let jobs = job::parse("layout", &text, &[], ground, target.capacity_bytes(), &|_| None);
                let recording = run(target, &jobs.expect("our own words"), 0, observer);
                if let Some(error) = recording.error {
                    return Err(error);
                }
                if recording.interrupted {
                    return Ok(None);
                }
            }
        }
    }
    Ok(Some(bytes))
}

const MIB: u64 = 1 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    fn jobs(text: &str) -> Vec<Job> {
        job::parse("t", text, &[], Ground::Simulated, 64 * MIB, &|_| None).unwrap()
    }

    #[test]
    fn what_is_read_and_written_by_no_job_before_is_missing() {
        let all = |range: Range| vec![range];
        let text = "[global]\nsize=8m\n[w]\nrw=write\noffset=4m\n[r]\nstonewall\nrw=randread\nsize=16m\n[s]\nrw=read\n";
        assert_eq!(left_out(&jobs(text), all), [(0, 4 * MIB), (12 * MIB, 4 * MIB)]);
        assert_eq!(left_out(&jobs("[r]\nrw=randrw\nsize=1m\n[w]\nrw=write\n"), all), [(0, MIB)]);
        assert_eq!(left_out(&jobs("[r]\nrw=read\nsize=1m\n"), |_| Vec::new()), []);
    }
}
