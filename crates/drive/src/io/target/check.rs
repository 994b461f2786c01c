//! Jobs that the file or its file system cannot do.

use pslc_load::job::{Job, Sizes};

use super::RealTarget;
use crate::error::UnfitJob;

impl RealTarget {
    /// What would fail at the first request.
    pub fn check(&self, jobs: &[Job]) -> Result<(), UnfitJob> {
        for job in jobs.iter().filter(|job| job.direct || self.has_no_cache()) {
            if self.direct.is_none() {
                return Err(UnfitJob::NoDirect { job: job.name.clone() });
            }
            let smallest = job.sizes.each(Sizes::smallest);
            let used = [
                (job.reads(), smallest.read),
                (job.writes(), smallest.write),
                (!job.reads() && !job.writes(), smallest.trim),
            ];
            let sizes = used.into_iter().filter(|(used, _)| *used).map(|(_, size)| ("bs", size as u64));
            let places = [("offset", job.offset), ("offset_increment", job.offset_increment)];
            for (option, bytes) in sizes.chain(places) {
                if bytes % self.block as u64 != 0 {
                    let job = job.name.clone();
                    return Err(UnfitJob::Unaligned { job, option, bytes, block: self.block });
                }
            }
        }
        Ok(())
    }

    /// Windows keeps nothing of a whole drive in its cache, whatever a job asks for.
    fn has_no_cache(&self) -> bool {
        #[cfg(windows)]
        return self.trim == super::Trim::Discard;
        #[cfg(not(windows))]
        false
    }
}
