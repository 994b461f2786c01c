//! Energy, from how long each part was busy: a milliwatt for a nanosecond is a picojoule. And what leaving the idle
//! state costs.

use crate::config::{Power, POWER_STATES};
use crate::units::Nanos;

/// How long each part has been busy so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Activity {
    /// Since the beginning.
    pub time: Nanos,
    /// Of it, in the idle state, and in each deeper one.
    pub idle: [Nanos; LEVELS],
    /// All dies added.
    pub reading: Nanos,
    pub programming: Nanos,
    pub erasing: Nanos,
    /// Bytes moved for the host.
    pub host_bytes: u64,
}

/// The idle state, and the deeper ones.
pub const LEVELS: usize = 1 + POWER_STATES;

/// Energy drawn so far, in picojoules.
pub fn energy_pj(power: &Power, done: &Activity) -> u128 {
    let of = |mw: u64, time: Nanos| mw as u128 * time.0 as u128;
    let resting = done.idle.iter().fold(Nanos::ZERO, |sum, time| sum + *time);
    let deep = power.states.iter().zip(&done.idle[1..]);
    of(power.active_mw, done.time - resting)
        + of(power.idle_mw, done.idle[0])
        + deep.map(|(state, time)| state.map_or(0, |state| of(state.draws_mw, *time))).sum::<u128>()
        + of(power.die_read_mw, done.reading)
        + of(power.die_program_mw, done.programming)
        + of(power.die_erase_mw, done.erasing)
        + power.data_pj_per_byte as u128 * done.host_bytes as u128
}

/// States of rest as the host meets them: the first command after one waits until the drive is awake.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct Waking {
    asleep: bool,
    /// When it will have entered the state that it is in, and how long leaving that takes.
    entered: Nanos,
    exit: Nanos,
    /// The last work in the present silence.
    worked: Nanos,
    awake: Nanos,
    /// Time spent on waking up.
    pub spent: Nanos,
}

impl Waking {
    /// The host has been silent from `since` up to `now`, and the drive has worked up to `worked`. Returns when the idle
    /// state and the deeper ones begin and end, where they do; a deeper one ends those before it. None before the first.
    #[inline]
    pub fn rest(&mut self, power: &Power, since: Nanos, worked: Nanos, now: Nanos) -> Option<[(Nanos, Nanos); LEVELS]> {
        self.worked = self.worked.max(worked);
        let idle = self.worked + power.idle_after;
        (self.asleep, self.entered, self.exit) = (now > idle, idle, power.exit);
        // Between two requests that follow each other closely, as nearly always.
        let awake = !self.asleep && power.states.iter().all(Option::is_none);
        (!awake).then(|| self.states(power, since, idle, now))
    }

    #[inline(never)]
    fn states(&mut self, power: &Power, since: Nanos, idle: Nanos, now: Nanos) -> [(Nanos, Nanos); LEVELS] {
        let mut begins = [Nanos(u64::MAX); LEVELS];
        begins[0] = idle;
        for (begin, state) in begins[1..].iter_mut().zip(power.states.iter().flatten()) {
            // What goes on in the background comes first.
            *begin = self.worked.max(since + state.after);
            if now > *begin {
                (self.asleep, self.entered, self.exit) = (true, *begin + state.entry, state.exit);
            }
        }
        let mut end = Nanos(u64::MAX);
        let mut spans = [(end, end); LEVELS];
        for (span, begin) in spans.iter_mut().zip(begins).rev() {
            *span = (begin, end);
            end = end.min(begin);
        }
        spans
    }

    /// How long waking up still takes.
    pub fn timing_relative_to(&self, now: Nanos) -> u64 {
        self.awake.saturating_sub(now).0
    }

    /// A command comes at `now`; returns from when on it is worked on.
    #[inline]
    pub fn called(&mut self, now: Nanos) -> Nanos {
        if std::mem::take(&mut self.asleep) {
            self.awake = now.max(self.entered) + self.exit;
            self.spent += self.awake - now;
        }
        now.max(self.awake)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_first_command_after_the_idle_state_begins_wakes_the_drive() {
        let power = Power { idle_after: Nanos(100), exit: Nanos(30), ..Power::default() };
        let mut waking = Waking::default();
        assert_eq!(waking.rest(&power, Nanos(900), Nanos(1000), Nanos(1100)), None);
        assert_eq!(waking.called(Nanos(1100)), Nanos(1100), "not yet asleep");
        waking.rest(&power, Nanos(900), Nanos(1000), Nanos(1101));
        assert_eq!(waking.called(Nanos(1101)), Nanos(1131));
        assert_eq!(waking.called(Nanos(1110)), Nanos(1131), "it is still waking up");
        assert_eq!(waking.called(Nanos(1140)), Nanos(1140));
        assert_eq!(waking.spent, Nanos(30));
    }
}
