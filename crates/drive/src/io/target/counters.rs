//! What a run moves, what the device underneath moves for everyone, and the processor's time.

use pslc_ssd::Nanos;

use crate::io::stat::DeviceStat;
use crate::sys;

/// What is counted here, and then what the device counts.
const COLUMNS: [&str; 6] = [
    "host_read_bytes_total",
    "host_write_bytes_total",
    "host_trim_bytes_total",
    "cpu_ns_total",
    "device_read_bytes_total",
    "device_write_bytes_total",
];
/// Columns that are counted here.
const OWN: usize = 3;
/// The other ones are of the system, which takes microseconds to tell them. A bin may be a single request, so they are
/// asked for no more often than this.
const FRESH: Nanos = Nanos::from_millis(1);

/// The columns of a real target.
#[derive(Default)]
pub struct Counters {
    /// Bytes that were read, written and trimmed.
    pub moved: [u64; OWN],
    /// The devices underneath, where they are known.
    stats: Vec<DeviceStat>,
    /// What the system counts, and until when that is fresh enough.
    counted: [u64; COLUMNS.len() - OWN],
    fresh_until: Nanos,
}

impl Counters {
    pub fn watch(&mut self, stats: Vec<DeviceStat>) {
        self.stats = stats;
    }

    /// Ask the system anew at the next sample.
    pub fn refresh(&mut self) {
        self.fresh_until = Nanos::ZERO;
    }

    pub fn columns(&self) -> &'static [&'static str] {
        &COLUMNS[..if self.stats.is_empty() { OWN + 1 } else { COLUMNS.len() }]
    }

    pub fn sample(&mut self, now: Nanos, into: &mut [u64]) {
        if now >= self.fresh_until {
            self.fresh_until = now + FRESH;
            let bytes = self.stats.iter_mut().map(DeviceStat::bytes);
            let [read, write] = bytes.fold([0; 2], |sum, of| [sum[0] + of[0], sum[1] + of[1]]);
            self.counted = [sys::cpu_time().0, read, write];
        }
        into[..OWN].copy_from_slice(&self.moved);
        let counted = into.len() - OWN;
        into[OWN..].copy_from_slice(&self.counted[..counted]);
    }
}
