//! How a served drive is now, for whoever shows it.

use pslc_load::record::{Spectrum, Sums};
use pslc_ssd::Nanos;

use crate::pace::Late;

/// Totals since the beginning, and the drive's columns.
#[derive(Clone, Debug)]
pub struct Status {
    pub now: Nanos,
    pub sums: Sums,
    pub under_way: usize,
    /// Latencies of the requests since the last status.
    pub recent: Spectrum,
    pub way_ns: u64,
    pub late: Late,
    pub columns: Vec<u64>,
    /// How busy the host's processors were while there were requests, where the system tells.
    pub busy: Option<f64>,
    /// The disk has refused something.
    pub full: bool,
    /// What there is to say, once.
    pub warnings: Vec<String>,
}

/// How busy the host's processors were while there were requests: the share of their time, each look weighted with the
/// requests since the one before.
#[derive(Debug, Default)]
pub struct Busy {
    idle: u64,
    all: u64,
    replies: u64,
    weighted: f64,
}

impl Busy {
    /// Look; `replies` is how many there were so far. `None` where the system does not tell.
    pub fn share(&mut self, replies: u64) -> Option<f64> {
        let stat = std::fs::read_to_string("/proc/stat").ok()?;
        let times = stat.lines().next()?.split_whitespace().skip(1).take(8);
        let times: Vec<u64> = times.filter_map(|time| time.parse().ok()).collect();
        // user, nice, system, idle, iowait, irq, softirq, steal
        let (idle, all) = (times.iter().skip(3).take(2).sum::<u64>(), times.iter().sum::<u64>());
        let (was, of) = (idle.saturating_sub(self.idle), all.saturating_sub(self.all));
        if self.all > 0 && of > 0 {
            self.weighted += (replies - self.replies) as f64 * (1.0 - was as f64 / of as f64);
        }
        (self.idle, self.all, self.replies) = (idle, all, replies);
        Some(if replies > 0 { self.weighted / replies as f64 } else { 0.0 })
    }
}
