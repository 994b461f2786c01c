//! How far a run has come.

use pslc_ssd::Nanos;

/// How far a run has come, in bytes and in time.
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
