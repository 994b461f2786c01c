//! Time in which nothing is asked for: work in the background, states of rest, and the temperature.

use super::Drive;
use crate::power::{energy_pj, Activity};
use crate::units::Nanos;

/// What is drawn within it is spread evenly over it.
pub(super) const LONGEST_AT_ONCE: Nanos = Nanos::from_secs(1);

impl Drive {
    /// Let the time up to `now` pass: what the host's silence leaves is used for background work.
    #[inline(always)]
    pub fn advance(&mut self, now: Nanos) {
        assert!(now >= self.now, "time runs forwards: {} after {}", now, self.now);
        if self.heat.as_ref().is_some_and(|heat| now >= heat.due) {
            self.update_temperature(now);
        }
        self.advance_idle(now);
    }

    #[inline(always)]
    fn advance_idle(&mut self, now: Nanos) {
        let before = self.now;
        self.now = now;
        if now > self.silent_since {
            self.rest(before);
        }
        self.nand.forget_before(now);
    }

    /// The host has been silent since its last request ended: work in the background up to now, and states of rest, of
    /// which those `before` the last call are counted.
    #[inline(never)]
    fn rest(&mut self, before: Nanos) {
        let now = self.now;
        self.silent += now - before.max(self.silent_since).min(now);
        let deep = self.power.as_ref().and_then(|power| power.background_until());
        let until = deep.map_or(now, |after| now.min(self.silent_since + after));
        let worked = self.ftl.background(&mut self.nand, self.silent_since, until);
        if let Some(power) = &self.power {
            let spans = self.waking.rest(power, self.silent_since, self.silent_since.max(worked), now);
            for (idle, (begin, end)) in self.idle.iter_mut().zip(spans.into_iter().flatten()) {
                *idle += now.min(end).saturating_sub(before.max(begin));
            }
        }
    }

    /// Follow the temperature up to `now`.
    #[inline(never)]
    fn update_temperature(&mut self, now: Nanos) {
        let mut until = self.now;
        while until < now {
            until = now.min(until + LONGEST_AT_ONCE);
            self.advance_idle(until);
            let energy_nj = self.energy_nj(until, Nanos::ZERO);
            let Some(heat) = &mut self.heat else { return };
            if until >= heat.due {
                if let Some(share) = heat.step(until, energy_nj) {
                    self.link.set_share(share);
                }
            }
        }
    }

    /// Energy drawn up to `now`, as far as requests or calls have come, in nanojoules, with so much more `programming`; 0
    /// where the profile does not say what the parts draw.
    pub(super) fn energy_nj(&self, now: Nanos, programming: Nanos) -> u64 {
        let Some(power) = &self.power else { return 0 };
        let done = Activity {
            time: self.now.max(now.min(self.silent_since)),
            idle: self.idle,
            reading: self.nand.reading,
            programming: self.nand.programming + programming,
            erasing: self.nand.erasing,
            host_bytes: self.host_read_bytes + self.host_write_bytes,
        };
        (energy_pj(power, &done) / 1000) as u64
    }
}
