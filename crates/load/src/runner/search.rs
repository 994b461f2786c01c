//! The depth that keeps a latency, looked for as fio does (`latency_target`): doubled while requests are quick enough,
//! then by halves between the last that was and the first that was not.

use pslc_ssd::Nanos;

use crate::job::LatencyTarget;

/// What comes of a completion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Nothing,
    /// The depth stays; all that is reported is measured from now on.
    Restart,
    /// It was measured.
    End,
    /// A request was late at depth 1, and none may be.
    TooLate,
}

/// A search under way.
#[derive(Clone, Debug)]
pub struct DepthSearch {
    pub how: LatencyTarget,
    max_depth: u32,
    pub depth: u32,
    /// The last depth that was quick enough, and the first that was not.
    low: u32,
    high: u32,
    /// Windows that were quick enough just below `high`.
    stable: u32,
    /// The window: its begin, its requests, those that were late.
    begin: Nanos,
    done: u64,
    late: u64,
    /// Nothing is handed over until all that is under way has come back.
    pub draining: bool,
    /// What is measured is to be what is reported, as soon as nothing is under way.
    restart: bool,
    last_run: bool,
}

impl DepthSearch {
    pub fn new(how: LatencyTarget, max_depth: u32) -> DepthSearch {
        DepthSearch {
            how,
            max_depth,
            depth: 1,
            low: 1,
            high: max_depth,
            stable: 0,
            begin: Nanos::ZERO,
            done: 0,
            late: 0,
            draining: false,
            restart: false,
            last_run: false,
        }
    }

    /// The first window begins.
    pub fn begin(&mut self, at: Nanos) {
        (self.begin, self.done, self.late) = (at, 0, 0);
    }

    /// Whether another request has to wait for one of those under way.
    #[inline]
    pub fn is_full(&self, under_way: u32) -> bool {
        under_way > 0 && (self.draining || under_way >= self.depth)
    }

    /// A read, write or trim has come back, with `under_way` others out. `counts` is false during a ramp.
    pub fn completed(&mut self, now: Nanos, latency: Nanos, under_way: u32, counts: bool) -> Verdict {
        self.done += 1;
        if latency > self.how.target {
            self.late += 1;
            if self.how.percentile == 100.0 && !self.down() {
                return Verdict::TooLate;
            }
        }
        if !counts {
            self.begin(now);
            return Verdict::Nothing;
        }
        let mut verdict = Verdict::Nothing;
        if !self.draining && now.saturating_sub(self.begin) >= self.how.window {
            let quick = 100.0 * (self.done - self.late) as f64 / self.done as f64;
            if quick >= self.how.percentile {
                verdict = self.up(now);
            } else {
                self.down();
            }
        }
        if self.draining && under_way == 0 {
            self.draining = false;
            self.begin(now);
            if std::mem::take(&mut self.restart) {
                verdict = Verdict::Restart;
            }
        }
        verdict
    }

    /// Too slow: go down, unless that is not possible.
    fn down(&mut self) -> bool {
        if self.depth == 1 {
            return false;
        }
        self.high = self.depth;
        if self.depth == self.low {
            self.low -= 1;
        }
        self.depth = (self.depth + self.low) / 2;
        self.stable = 0;
        self.draining = true;
        true
    }

    /// Quick enough: go up, or stay.
    fn up(&mut self, now: Nanos) -> Verdict {
        let depth = self.depth;
        self.low = depth;
        if depth + 1 == self.high {
            // The border may have moved: try it now and then.
            self.stable += 1;
            if self.stable == 3 {
                self.high += 1;
                self.stable = 0;
            }
        }
        let next = if self.high == self.max_depth { depth * 2 } else { (depth + self.high) / 2 };
        self.depth = next.min(self.max_depth);
        self.begin(now);
        if self.how.run || self.depth != depth {
            return Verdict::Nothing;
        }
        if self.last_run {
            return Verdict::End;
        }
        (self.last_run, self.restart, self.draining) = (true, true, true);
        Verdict::Nothing
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Windows of 100 requests on a drive whose latency is its depth in microseconds; the depths of all windows.
    fn depths(target_us: u64, max_depth: u32, percentile: f64, run: bool, windows: usize) -> (Vec<u32>, Verdict) {
        let how =
            LatencyTarget { target: Nanos::from_micros(target_us), window: Nanos::from_millis(1), percentile, run };
        let mut search = DepthSearch::new(how, max_depth);
        search.begin(Nanos::ZERO);
        let (mut now, mut tried) = (Nanos::ZERO, vec![1]);
        for _ in 0..windows * 100 {
            now += Nanos::from_micros(10);
            let under_way = if search.draining { 0 } else { search.depth - 1 };
            let latency = Nanos::from_micros(search.depth as u64);
            let what = search.completed(now, latency, under_way, true);
            if matches!(what, Verdict::End | Verdict::TooLate) {
                return (tried, what);
            }
            if search.depth != *tried.last().unwrap() {
                tried.push(search.depth);
            }
        }
        (tried, Verdict::Nothing)
    }

    #[test]
    fn the_depth_doubles_then_halves_and_stays_where_requests_are_quick_enough() {
        assert_eq!(depths(11, 64, 99.0, false, 100), (vec![1, 2, 4, 8, 16, 12, 10, 11], Verdict::End));
        assert_eq!(depths(1000, 20, 99.0, false, 100), (vec![1, 2, 4, 8, 16, 20], Verdict::End));
    }

    #[test]
    fn where_it_goes_on_the_next_depth_is_tried_again() {
        let (tried, end) = depths(11, 64, 99.0, true, 100);
        assert_eq!(end, Verdict::Nothing);
        assert_eq!(tried[..8], [1, 2, 4, 8, 16, 12, 10, 11]);
        assert!(tried[8..].chunks_exact(2).all(|pair| pair == [12, 11]) && tried.len() > 12, "{tried:?}");
    }

    #[test]
    fn a_late_request_at_depth_1_ends_it_where_none_may_be() {
        assert_eq!(depths(0, 8, 100.0, false, 10), (vec![1], Verdict::TooLate));
        // Where some may be late, it stays there.
        assert_eq!(depths(0, 8, 50.0, false, 10), (vec![1], Verdict::Nothing));
        assert_eq!(depths(3, 8, 100.0, false, 10), (vec![1, 2, 4, 3], Verdict::End));
    }
}
