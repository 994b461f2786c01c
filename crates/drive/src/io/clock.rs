//! The time of a real run, and a watchdog over it: on a clock that stands still or runs backwards a job that ends by time
//! would never end. A virtual machine that was paused, or a broken driver, can do that even to a monotonic clock. Time in
//! which this process did not run is left out: the clock stands still then, and what was under way waits no longer.

use std::sync::Arc;
use std::time::{Duration, Instant};

use pslc_load::heartbeat::{Heartbeat, MIN_GAP};
use pslc_load::TargetError;
use pslc_ssd::Nanos;

/// A clock is read so often while requests come back, and may not move: the coarsest tick in 4 ms or faster.
const MOST_READS: u32 = 5_000_000;
/// For so long may have been waited while it did not move.
const MOST_WAITED: Duration = Duration::from_secs(3);
/// So far may it go back: cores may differ a little.
const BACK: Duration = Duration::from_millis(1);

/// Never goes back, and knows when the clock below does. `T` is [`Instant`], or a clock of a test.
pub struct Watchdog<T> {
    read: fn() -> T,
    start: T,
    /// Of the clock below, and of this one, which leaves gaps out.
    read_last: Nanos,
    last: Nanos,
    heart: Arc<Heartbeat>,
    /// Since it last moved.
    reads: u32,
    waited: Duration,
    back: Duration,
}

/// A moment of a clock.
pub trait Moment: Copy {
    /// Since `earlier`; `Err` says how far this one is before it.
    fn since(self, earlier: Self) -> Result<Duration, Duration>;
    fn after(self, time: Duration) -> Self;
}

impl Moment for Instant {
    fn since(self, earlier: Instant) -> Result<Duration, Duration> {
        self.checked_duration_since(earlier).ok_or_else(|| earlier.duration_since(self))
    }

    fn after(self, time: Duration) -> Instant {
        self + time
    }
}

impl<T: Moment> Watchdog<T> {
    /// `heart` began at `start`, too.
    pub fn new(read: fn() -> T, start: T, heart: Arc<Heartbeat>) -> Watchdog<T> {
        Watchdog {
            read,
            start,
            read_last: Nanos::ZERO,
            last: Nanos::ZERO,
            heart,
            reads: 0,
            waited: Duration::ZERO,
            back: Duration::ZERO,
        }
    }

    /// Time since the beginning, which does not go back.
    #[inline]
    pub fn now(&mut self) -> Nanos {
        let since = (self.read)().since(self.start.after(Duration::from_nanos(self.read_last.0)));
        match since {
            Ok(Duration::ZERO) => self.reads += 1,
            Ok(more) => {
                let (from, more) = (self.read_last, Nanos(more.as_nanos() as u64));
                self.read_last += more;
                self.last += more;
                if more >= MIN_GAP {
                    self.last = self.last - self.heart.leave_out(from, self.read_last);
                }
                self.reads = 0;
                self.waited = Duration::ZERO;
            }
            Err(back) => {
                self.reads += 1;
                self.back = self.back.max(back);
            }
        }
        self.last
    }

    /// The time when it was read last.
    #[inline]
    pub fn last(&self) -> Nanos {
        self.last
    }

    /// The kernel was asked to wait for so long.
    pub fn waited(&mut self, time: Duration) {
        let before = self.read_last;
        self.now();
        if self.read_last == before {
            self.waited += time;
        }
    }

    /// An error when the clock cannot be relied on.
    #[inline]
    pub fn check(&self) -> Result<(), TargetError> {
        if self.back <= BACK && self.reads < MOST_READS && self.waited < MOST_WAITED {
            return Ok(());
        }
        let what = if self.back > BACK {
            format!("went back by {:.3} s", self.back.as_secs_f64())
        } else {
            format!("stood still for {:.1} s of waiting and {} looks at it", self.waited.as_secs_f64(), self.reads)
        };
        Err(TargetError::Clock { what })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    thread_local!(static TIME: Cell<u64> = const { Cell::new(0) });

    #[derive(Clone, Copy)]
    struct Fake(u64);

    impl Moment for Fake {
        fn since(self, earlier: Fake) -> Result<Duration, Duration> {
            let apart = Duration::from_nanos(self.0.abs_diff(earlier.0));
            (self.0 >= earlier.0).then_some(apart).ok_or(apart)
        }

        fn after(self, time: Duration) -> Fake {
            Fake(self.0 + time.as_nanos() as u64)
        }
    }

    fn watchdog() -> Watchdog<Fake> {
        TIME.set(1_000_000_000);
        let heart = Arc::new(Heartbeat::new(Instant::now()));
        Watchdog::new(|| Fake(TIME.get()), Fake(1_000_000_000), heart)
    }

    #[test]
    fn a_clock_that_moves_is_trusted() {
        let mut clock = watchdog();
        for step in 1..1000 {
            TIME.set(1_000_000_000 + step * 5_000_000);
            clock.waited(Duration::from_millis(5));
            assert_eq!(clock.now(), Nanos(step * 5_000_000));
            assert!(clock.check().is_ok());
        }
    }

    #[test]
    fn a_clock_that_stands_still_is_told_after_3_s_of_waiting() {
        let mut clock = watchdog();
        for _ in 0..29 {
            clock.waited(Duration::from_millis(100));
            assert!(clock.check().is_ok());
        }
        clock.waited(Duration::from_millis(100));
        assert!(clock.check().unwrap_err().to_string().contains("stood still for 3.0 s"));
    }

    #[test]
    fn a_clock_that_stands_still_while_requests_come_back_is_told() {
        let mut clock = watchdog();
        (0..MOST_READS).for_each(|_| _ = clock.now());
        assert!(clock.check().is_err());
    }

    #[test]
    fn time_never_goes_back_and_a_clock_that_does_is_told() {
        let mut clock = watchdog();
        TIME.set(3_000_000_000);
        assert_eq!(clock.now(), Nanos(2_000_000_000));
        TIME.set(2_500_000_000);
        assert_eq!(clock.now(), Nanos(2_000_000_000));
        assert!(clock.check().unwrap_err().to_string().contains("went back by 0.500 s"));
    }
}
