//! Energy, from how long each part was busy: a milliwatt for a nanosecond is a picojoule. And what leaving the idle
//! state costs.

use crate::config::Power;
use crate::units::Nanos;

/// How long each part has been busy so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Activity {
    /// Since the beginning.
    pub time: Nanos,
    /// Of it, in the idle state.
    pub idle: Nanos,
    /// All dies added.
    pub reading: Nanos,
    pub programming: Nanos,
    pub erasing: Nanos,
    /// Bytes moved for the host.
    pub host_bytes: u64,
}

/// Energy drawn so far, in picojoules.
pub fn energy_pj(power: &Power, done: &Activity) -> u128 {
    let of = |mw: u64, time: Nanos| mw as u128 * time.0 as u128;
    of(power.active_mw, done.time - done.idle)
        + of(power.idle_mw, done.idle)
        + of(power.die_read_mw, done.reading)
        + of(power.die_program_mw, done.programming)
        + of(power.die_erase_mw, done.erasing)
        + power.data_pj_per_byte as u128 * done.host_bytes as u128
}

/// The idle state as the host meets it: the first command after it waits until the drive is awake.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct Waking {
    asleep: bool,
    /// How long that takes.
    exit: Nanos,
    /// The last work in the present silence.
    worked: Nanos,
    awake: Nanos,
    /// Time spent on waking up.
    pub spent: Nanos,
}

impl Waking {
    /// The host has been silent up to `now`, and the drive has worked up to `worked`. Returns when the idle state begins.
    pub fn rest(&mut self, power: &Power, worked: Nanos, now: Nanos) -> Nanos {
        self.worked = self.worked.max(worked);
        self.exit = power.exit;
        let asleep = self.worked + power.idle_after;
        self.asleep = now > asleep;
        asleep
    }

    /// A command comes at `now`; returns from when on it is worked on.
    #[inline]
    pub fn called(&mut self, now: Nanos) -> Nanos {
        if std::mem::take(&mut self.asleep) {
            self.awake = now + self.exit;
            self.spent += self.exit;
        }
        now.max(self.awake)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_first_command_after_the_idle_state_begins_wakes_the_drive() {
        let power = Power {
            active_mw: 0,
            idle_mw: 0,
            idle_after: Nanos(100),
            exit: Nanos(30),
            die_read_mw: 0,
            die_program_mw: 0,
            die_erase_mw: 0,
            data_pj_per_byte: 0,
        };
        let mut waking = Waking::default();
        waking.rest(&power, Nanos(1000), Nanos(1100));
        assert_eq!(waking.called(Nanos(1100)), Nanos(1100), "not yet asleep");
        waking.rest(&power, Nanos(1000), Nanos(1101));
        assert_eq!(waking.called(Nanos(1101)), Nanos(1131));
        assert_eq!(waking.called(Nanos(1110)), Nanos(1131), "it is still waking up");
        assert_eq!(waking.called(Nanos(1140)), Nanos(1140));
        assert_eq!(waking.spent, Nanos(30));
    }
}
