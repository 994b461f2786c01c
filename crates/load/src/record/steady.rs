//! Whether a job is steady: the rates of its last seconds, and what fio makes of them (`steadystate`).

use std::collections::VecDeque;

use pslc_ssd::Nanos;

use crate::job::{Measure, SteadyState};

const SECOND: Nanos = Nanos::from_secs(1);

/// The rates of the last seconds, and what they came to when they were last looked at.
#[derive(Clone, Debug)]
pub struct Steadiness {
    pub asked: SteadyState,
    /// Requests and bytes a second, of each of the last seconds, at most `duration` of them.
    pub rates: VecDeque<[u64; 2]>,
    pub attained: bool,
    /// What is held against the limit; 0 until there were as many seconds as are asked for.
    pub criterion: f64,
    pub slope: f64,
    pub deviation: f64,
    begin: Nanos,
    /// When the current second is over.
    pub(crate) due: Nanos,
    last: Nanos,
    counted: [u64; 2],
}

impl Steadiness {
    pub(crate) fn new(asked: SteadyState) -> Steadiness {
        Steadiness {
            asked,
            rates: VecDeque::new(),
            attained: false,
            criterion: 0.0,
            slope: 0.0,
            deviation: 0.0,
            begin: Nanos::MAX,
            due: Nanos::MAX,
            last: Nanos::MAX,
            counted: [0; 2],
        }
    }

    /// Seconds count from here, if they do not yet.
    pub(crate) fn begin(&mut self, at: Nanos) {
        if self.begin == Nanos::MAX {
            (self.begin, self.last, self.due) = (at, at, at.saturating_add(SECOND));
        }
    }

    /// What is counted begins at 0 once more.
    pub(crate) fn restart(&mut self, at: Nanos) {
        (self.begin, self.last, self.due) = (at, at, at.saturating_add(SECOND));
        self.counted = [0; 2];
    }

    /// A second is over, with so many requests and bytes in sum; whether that makes the job steady.
    pub(crate) fn look(&mut self, now: Nanos, totals: [u64; 2]) -> bool {
        let span = now - std::mem::replace(&mut self.last, now);
        self.due = if self.due + SECOND > now { self.due + SECOND } else { now + SECOND };
        let before = std::mem::replace(&mut self.counted, totals);
        let passed = now.saturating_sub(self.begin);
        // As fio has it: the first second that is looked at ends a second after the ramp, or later.
        if self.asked.ramp > Nanos::ZERO && passed < self.asked.ramp + SECOND {
            return false;
        }
        let rate = |kind: usize| {
            let moved = totals[kind].saturating_sub(before[kind]) as u128;
            (moved * 1_000_000_000 / span.0.max(1) as u128) as u64
        };
        if self.rates.len() == self.asked.duration as usize {
            self.rates.pop_front();
        }
        self.rates.push_back([rate(0), rate(1)]);
        if self.rates.len() == self.asked.duration as usize {
            self.judge();
            let value = if self.asked.slope { self.criterion.abs() } else { self.criterion };
            self.attained = value < self.asked.limit;
        }
        self.attained
    }

    fn judge(&mut self) {
        let count = self.rates.len() as u64;
        let of = self.asked.of as usize;
        let sum: u64 = self.rates.iter().map(|rate| rate[of]).sum();
        let mean = if self.asked.slope {
            // The line through the points (0, first) to (n - 1, last), by least squares.
            let sum_xy: u128 = self.rates.iter().enumerate().map(|(x, rate)| x as u128 * rate[of] as u128).sum();
            let n = count as f64;
            let (sum_x, sum_x2) = (n * (n - 1.0) / 2.0, (n - 1.0) * n * (2.0 * n - 1.0) / 6.0);
            self.slope = (sum_xy as f64 - sum_x * sum as f64 / n) / (sum_x2 - sum_x * sum_x / n);
            self.criterion = self.slope;
            (sum / count) as f64
        } else {
            let mean = sum as f64 / count as f64;
            let off = self.rates.iter().map(|rate| (rate[of] as f64 - mean).abs());
            self.deviation = off.fold(0.0, f64::max);
            self.criterion = self.deviation;
            mean
        };
        if self.asked.percent {
            self.criterion *= 100.0 / mean;
        }
    }
}

impl Measure {
    /// fio's word.
    pub fn word(self) -> &'static str {
        match self {
            Measure::Requests => "iops",
            Measure::Bytes => "bw",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(slope: bool, percent: bool, limit: f64, duration: u32, ramp: Nanos) -> Steadiness {
        let asked = SteadyState { of: Measure::Requests, slope, limit, percent, duration, ramp };
        let mut steadiness = Steadiness::new(asked);
        steadiness.begin(Nanos::ZERO);
        steadiness
    }

    /// Seconds until it is steady, if it becomes so.
    fn seconds(mut watch: Steadiness, rates: &[u64]) -> (Option<u64>, Steadiness) {
        let mut total = 0;
        for (second, rate) in (1..).zip(rates) {
            total += rate;
            if watch.look(Nanos::from_secs(second), [total, 0]) {
                return (Some(second), watch);
            }
        }
        (None, watch)
    }

    #[test]
    fn a_job_is_steady_when_no_second_of_the_last_ones_is_far_from_their_mean() {
        let rates = [1000, 500, 110, 100, 90, 100, 100, 100];
        let (at, watch) = seconds(of(false, true, 10.5, 3, Nanos::ZERO), &rates);
        assert_eq!((at, watch.criterion, watch.deviation), (Some(5), 10.0, 10.0));
        // As many as the limit are too many.
        assert_eq!(seconds(of(false, false, 10.0, 3, Nanos::ZERO), &rates).0, Some(6));
        assert_eq!(seconds(of(false, true, 5.0, 3, Nanos::ZERO), &rates).0, Some(8));
        assert_eq!(seconds(of(false, true, 5.0, 4, Nanos::ZERO), &rates).0, None);
    }

    #[test]
    fn a_slope_is_that_of_the_line_through_the_last_seconds_up_or_down() {
        let (at, watch) = seconds(of(true, false, 5.5, 3, Nanos::ZERO), &[400, 300, 200, 190, 195]);
        assert_eq!((at, watch.slope, watch.criterion), (Some(5), -2.5, -2.5));
        let (at, watch) = seconds(of(true, true, 2.0, 3, Nanos::ZERO), &[400, 300, 200, 190, 195]);
        assert_eq!(at, Some(5));
        assert!((watch.criterion + 2.5 / 195.0 * 100.0).abs() < 1e-9, "{}", watch.criterion);
        assert_eq!(seconds(of(true, true, 2.0, 1, Nanos::ZERO), &[100, 100]).0, None, "one point has no slope");
    }

    #[test]
    fn the_first_second_looked_at_begins_behind_the_ramp() {
        let rates = [1, 2, 3, 100, 100, 100, 100];
        assert_eq!(seconds(of(false, true, 1.0, 2, Nanos::from_secs(3)), &rates).0, Some(5));
        assert_eq!(seconds(of(false, true, 1.0, 2, Nanos::from_millis(3500)), &rates).0, Some(6));
    }
}
