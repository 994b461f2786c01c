//! Rates that a job has to keep, as fio looks at them (`rate_min`, `rate_iops_min`).

use pslc_ssd::Nanos;

use crate::job::LeastRate;
use crate::target::TargetError;

/// A job may be slow for so long at its beginning.
const SETTLE: Nanos = Nanos::from_secs(2);
/// fio counts whole milliseconds.
const MS: u64 = 1_000_000;

/// One kind of request.
#[derive(Clone, Copy, Debug, Default)]
struct Moved {
    bytes: u64,
    count: u64,
}

/// What a worker has moved, and what it had when that was looked at last.
#[derive(Clone, Debug)]
pub struct Floor {
    cycle_ms: u64,
    bytes: [Option<u64>; 3],
    requests: [Option<u64>; 3],
    moved: [Moved; 3],
    last_window: [Option<(Moved, Nanos)>; 3],
}

impl Floor {
    pub fn new(min: &LeastRate) -> Floor {
        Floor {
            cycle_ms: min.cycle.0 / MS,
            bytes: min.bytes.array(),
            requests: min.requests.array(),
            moved: Default::default(),
            last_window: Default::default(),
        }
    }

    /// Everything counts from now on.
    pub fn restart(&mut self) {
        (self.moved, self.last_window) = Default::default();
    }

    /// A request of kind `kind` and `len` bytes has come back `now`, of a job that counts since `begin`.
    pub fn completed(&mut self, kind: usize, len: u64, begin: Nanos, now: Nanos) -> Result<(), TargetError> {
        self.moved[kind].bytes += len;
        self.moved[kind].count += 1;
        if now.saturating_sub(begin) < SETTLE {
            return Ok(());
        }
        (0..3).try_for_each(|kind| self.look(kind, now))
    }

    fn look(&mut self, kind: usize, now: Nanos) -> Result<(), TargetError> {
        let moved = self.moved[kind];
        if moved.count == 0 {
            return Ok(());
        }
        if let Some((last_window, at)) = self.last_window[kind] {
            let ms = now.saturating_sub(at).0 / MS;
            if ms < self.cycle_ms.max(1) {
                return Ok(());
            }
            let rate = |more: u64| (more as u128 * 1000 / ms as u128) as u64;
            for (option, min, rate) in [
                ("rate_min", self.bytes[kind], rate(moved.bytes - last_window.bytes)),
                ("rate_iops_min", self.requests[kind], rate(moved.count - last_window.count)),
            ] {
                if let Some(min) = min.filter(|&min| rate < min) {
                    return Err(TargetError::Slow { option, min, rate, ms });
                }
            }
        }
        self.last_window[kind] = Some((moved, now));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::ByKind;

    /// When requests of 1000 bytes, `every` so many ms, are found to be too slow.
    fn slow(min: LeastRate, every: impl Fn(u64) -> u64) -> Option<(u64, String)> {
        let (mut floor, mut now) = (Floor::new(&min), 0);
        while now < 20_000 {
            now += every(now);
            let completed = floor.completed(0, 1000, Nanos::ZERO, Nanos::from_millis(now));
            if let Err(error) = completed {
                return Some((now, error.to_string()));
            }
        }
        None
    }

    fn bytes(min: u64) -> LeastRate {
        LeastRate { bytes: ByKind { read: Some(min), ..Default::default() }, ..Default::default() }
    }

    #[test]
    fn a_job_that_keeps_its_rate_goes_on() {
        assert_eq!(slow(bytes(100_000), |_| 10), None);
        let requests = ByKind { read: Some(100), ..Default::default() };
        assert_eq!(slow(LeastRate { requests, ..Default::default() }, |_| 10), None);
    }

    #[test]
    fn what_is_slow_is_told_a_cycle_after_two_seconds() {
        let (at, error) = slow(bytes(100_001), |_| 10).unwrap();
        assert_eq!(at, 3000);
        assert_eq!(error, "rate_min=100001 is not kept: 100000 a second over 1000 ms");
        let short = LeastRate { cycle: Nanos::from_millis(100), ..bytes(100_001) };
        assert_eq!(slow(short, |_| 10).unwrap().0, 2100);
    }

    #[test]
    fn the_first_two_seconds_may_be_slow_and_a_stall_is_told_when_it_is_over() {
        assert_eq!(slow(bytes(90_000), |now| if now < 1900 { 1000 } else { 10 }), None);
        let (at, _) = slow(bytes(90_000), |now| if now == 5000 { 700 } else { 10 }).unwrap();
        assert_eq!(at, 6000);
    }
}
