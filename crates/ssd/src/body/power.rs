//! Energy, from how long each part was busy: a milliwatt for a nanosecond is a picojoule.

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
