//! Times in which this process did not run: it was stopped, or the machine slept. They are nobody's, least of all the
//! drive's, and are left out of the clock of a run.
//!
//! ```text
//!   engine      a     a     a  (waits for the drive)  a              a            a   reads the clock
//!   heartbeat   |  |  |  |  |  |  |  |  |  |  |  |  | |              |  |  |  |  |    a thread of its own
//!                           '------ the drive -------'    '-- gap --'
//! ```

use std::sync::mpsc::{channel, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use pslc_ssd::Nanos;

/// Between two beats.
const TICK: Duration = Duration::from_millis(50);
/// Time without a beat and without a look at the clock from which the process did not run: a scheduler delays by less.
pub const MIN_GAP: Nanos = Nanos::from_millis(250);

/// A time in which the process did not run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gap {
    /// On the target's clock, which stands still meanwhile.
    pub at: Nanos,
    pub lasts: Nanos,
}

/// Beats of a thread beside that of the engine, whose times are those of the system's clock from `start`.
#[derive(Debug)]
pub struct Heartbeat {
    start: Instant,
    beats: Mutex<Beats>,
}

#[derive(Debug, Default)]
struct Beats {
    /// The last one; None while nothing is to beat.
    last: Option<Nanos>,
    /// Times without one, until the engine's thread says whether it ran.
    late: Vec<(Nanos, Nanos)>,
    /// How long the machine has slept since it was started.
    asleep: Nanos,
    gaps: Vec<Gap>,
    left_out: Nanos,
}

impl Beats {
    /// Times between two moments in which no beat came, as far as they are long.
    fn missed(&self, from: Nanos, to: Nanos) -> impl Iterator<Item = (Nanos, Nanos)> + '_ {
        let late = self.late.iter().copied().chain(self.last.map(|last| (last, to)));
        late.map(move |(since, until)| (since.max(from), until.min(to)))
            .filter(|(since, until)| until.saturating_sub(*since) >= MIN_GAP)
    }

    /// A beat, with how long the machine has slept, which the clock does not count.
    fn beat(&mut self, now: Nanos, asleep: Nanos) {
        let Some(last) = self.last else { return };
        if now.saturating_sub(last) >= MIN_GAP {
            self.late.push((last, now));
        }
        let slept = asleep.saturating_sub(self.asleep);
        if slept >= MIN_GAP {
            self.gaps.push(Gap { at: now.saturating_sub(self.left_out), lasts: slept });
        }
        (self.last, self.asleep) = (Some(now.max(last)), self.asleep.max(asleep));
    }

    fn leave_out(&mut self, from: Nanos, to: Nanos) -> Nanos {
        let (before, missed) = (self.left_out, self.missed(from, to).collect::<Vec<_>>());
        for (since, until) in missed {
            self.gaps.push(Gap { at: since.saturating_sub(self.left_out), lasts: until - since });
            self.left_out += until - since;
        }
        self.late.clear();
        self.last = self.last.map(|last| last.max(to));
        self.left_out - before
    }

    fn since(&self, moment: Nanos, now: Nanos) -> Nanos {
        let from = moment + self.left_out;
        let missed: u64 = self.missed(from, now).map(|(since, until)| (until - since).0).sum();
        Nanos(now.saturating_sub(from).0 - missed)
    }
}

impl Heartbeat {
    pub fn new(start: Instant) -> Heartbeat {
        Heartbeat { start, beats: Mutex::default() }
    }

    fn now(&self) -> Nanos {
        Nanos(self.start.elapsed().as_nanos() as u64)
    }

    fn beats(&self) -> MutexGuard<'_, Beats> {
        self.beats.lock().expect("nobody panics with it")
    }

    /// Beat on a thread of its own until the sender is dropped. `asleep`: how long the machine has slept.
    pub fn begin(self: &Arc<Heartbeat>, asleep: fn() -> Nanos) -> std::io::Result<Sender<()>> {
        let (sender, receiver) = channel();
        let heart = self.clone();
        {
            let mut beats = self.beats();
            (beats.last, beats.asleep) = (Some(self.now()), asleep());
        }
        std::thread::Builder::new().spawn(move || {
            while receiver.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
                let asleep = asleep();
                let mut beats = heart.beats();
                beats.beat(heart.now(), asleep);
            }
        })?;
        Ok(sender)
    }

    /// No gap begins from here on; its thread may end later, in the next run even.
    pub fn rest(&self) {
        self.beats().last = None;
    }

    /// The engine's thread did not look at the clock between two moments: what is left out of that, for no beat came either.
    #[cold]
    pub fn leave_out(&self, from: Nanos, to: Nanos) -> Nanos {
        self.beats().leave_out(from, to)
    }

    /// Time since a moment of the target's clock, as another thread than the engine's has it.
    pub(crate) fn since(&self, moment: Nanos) -> Nanos {
        let beats = self.beats();
        beats.since(moment, self.now())
    }

    /// All gaps so far.
    pub fn gaps(&self) -> Vec<Gap> {
        self.beats().gaps.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Nanos {
        Nanos::from_millis(ms)
    }

    /// Beats every 50 ms from 0 to 20 s, but for these times.
    fn beats(pauses: &[(u64, u64)]) -> Beats {
        let mut beats = Beats { last: Some(Nanos::ZERO), ..Beats::default() };
        let runs = |at: &u64| pauses.iter().all(|(from, to)| !(from..to).contains(&at));
        (0..20_000).step_by(50).filter(runs).for_each(|at| beats.beat(ms(at), Nanos::ZERO));
        beats
    }

    #[test]
    fn what_is_left_out_is_the_time_in_which_neither_thread_ran() {
        let gap = |at, lasts| Gap { at: ms(at), lasts: ms(lasts) };
        for (pauses, waits, gaps) in [
            // A drive that does not answer stops no heart; a heart that is late alone is a busy machine.
            (vec![], (1_000, 13_000), vec![]),
            (vec![(1_000, 13_000)], (13_500, 14_000), vec![]),
            (vec![(1_000, 1_150)], (900, 1_300), vec![]),
            (vec![(1_000, 13_000)], (1_000, 13_000), vec![gap(1_000, 12_000)]),
            // Stopped twice while a drive was silent for 18 s: the rest is the drive's.
            (vec![(3_000, 7_000), (9_000, 11_000)], (1_000, 19_000), vec![gap(2_950, 4_050), gap(4_900, 2_050)]),
        ] {
            let mut beats = beats(&pauses);
            let all: u64 = gaps.iter().map(|gap: &Gap| gap.lasts.0).sum();
            let silence = beats.since(ms(waits.0), ms(waits.1));
            assert_eq!(beats.leave_out(ms(waits.0), ms(waits.1)), Nanos(all), "{pauses:?}");
            assert_eq!(beats.gaps, gaps);
            assert_eq!(silence, Nanos((ms(waits.1) - ms(waits.0)).0 - all), "before the engine looks, too");
            assert_eq!(beats.leave_out(ms(waits.0), ms(waits.1)), Nanos::ZERO, "once");
        }
    }

    #[test]
    fn a_run_that_begins_at_once_after_another_has_a_heart_that_beats() {
        let heart = Arc::new(Heartbeat::new(Instant::now()));
        let begin = || heart.begin(|| Nanos::ZERO).expect("a thread");
        drop(begin());
        heart.rest();
        let beating = begin();
        let before = heart.beats().last.expect("it beats");
        while heart.beats().last.expect("it still beats") == before {
            std::thread::yield_now();
        }
        drop(beating);
    }

    #[test]
    fn the_engine_may_be_the_first_to_run_again_and_a_sleep_is_no_time_of_the_clock() {
        let mut beats = beats(&[(5_000, 20_000)]);
        assert_eq!(beats.leave_out(ms(5_000), ms(12_000)), ms(7_000));
        beats.beat(ms(12_001), ms(30_000));
        assert_eq!(beats.late, []);
        assert_eq!(beats.gaps[1], Gap { at: ms(5_001), lasts: ms(30_000) });
        assert_eq!(beats.left_out, ms(7_000));
        beats.last = None;
        assert_eq!(beats.leave_out(ms(13_000), ms(60_000)), Nanos::ZERO, "nothing is to beat between runs");
    }
}
