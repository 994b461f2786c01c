//! Timelines: what is reserved when. A shared wire (a channel, a link) is the list of the gaps between its reservations.
//!
//! A transfer takes the earliest gap that is long enough, at or after the time its data are ready. So a transfer that
//! is ready early may pass one that was asked for before it but has to wait for its die:
//!
//! ```text
//!   reserved      |####|      |########|        |###|
//!   ready, len 4         ^ here: the gap fits
//!   ready, len 8               too long: -----> here: [########]
//! ```

mod past;

pub use past::forget;

use crate::consistency::{ensure, Consistency};
use crate::units::Nanos;

#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
struct Gap {
    start: Nanos,
    end: Nanos,
}

/// Gaps at the end that are looked at one by one.
const NEAR: usize = 8;

#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct Timeline {
    /// Ascending.
    gaps: Vec<Gap>,
    /// End of the last reservation: free from here on.
    end: Nanos,
}

impl Timeline {
    /// Reserve `len` at or after `ready`; returns when it starts. Nothing will ever be asked for before `horizon`.
    #[inline(always)]
    pub fn reserve(&mut self, horizon: Nanos, ready: Nanos, len: Nanos) -> Nanos {
        debug_assert!(ready >= horizon);
        if ready > self.end {
            if self.gaps.len() == self.gaps.capacity() {
                forget(&mut self.gaps, |gap| gap.end <= horizon);
            }
            self.gaps.push(Gap { start: self.end, end: ready });
            self.end = ready + len;
            return ready;
        }
        if self.gaps.last().is_some_and(|last| last.end > ready) {
            if let Some(start) = self.reserve_in_gap(horizon, ready, len) {
                return start;
            }
        }
        let start = self.end;
        self.end = start + len;
        start
    }

    pub fn check(&self) -> Consistency {
        let ends = self.gaps.iter().map(|gap| gap.end);
        let before = std::iter::once(Nanos::ZERO).chain(ends);
        let ordered = self.gaps.iter().zip(before).all(|(gap, before)| before <= gap.start && gap.start < gap.end);
        ensure(ordered && self.gaps.last().is_none_or(|last| last.end <= self.end), "wires")
    }

    /// What may still be asked for after `now`, and what is reserved.
    pub fn timing_relative_to(&self, now: Nanos, into: &mut Vec<u64>) {
        let ahead = self.gaps.iter().rev().take_while(|gap| gap.end > now);
        into.extend(ahead.flat_map(|gap| [gap.start.saturating_sub(now).0, (gap.end - now).0]));
        // A gap is not empty, so this is none.
        into.extend([u64::MAX, self.end.saturating_sub(now).0]);
    }

    /// All reservations that are not past at `now` are later by `span`.
    pub fn shift_timing(&mut self, now: Nanos, span: Nanos) {
        let past = self.gaps.partition_point(|gap| gap.end <= now);
        self.gaps.drain(..past);
        for gap in &mut self.gaps {
            gap.start += span;
            gap.end += span;
        }
        self.end += span;
    }

    /// Take the first gap that is long enough, if one is.
    #[inline(never)]
    fn reserve_in_gap(&mut self, horizon: Nanos, ready: Nanos, len: Nanos) -> Option<Nanos> {
        // Those that end after `ready` are mostly few, and the first of them mostly is long enough. They are many where a wire
        // is waited for while data of many dies are ready out of order.
        let is_past = |gap: &Gap| gap.end <= ready;
        let near = self.gaps.len().saturating_sub(NEAR);
        let first = match self.gaps[near..].iter().rposition(is_past) {
            Some(past) => near + past + 1,
            None => self.gaps[..near].partition_point(is_past),
        };
        let fits = |gap: &Gap| gap.start.max(ready) + len <= gap.end;
        let first = first + self.gaps[first..].iter().position(fits)?;
        let start = self.gaps[first].start.max(ready);
        let gap = &mut self.gaps[first];
        let rest = Gap { start: start + len, end: gap.end };
        match (gap.start < start, rest.start < rest.end) {
            (false, true) => *gap = rest,
            (true, false) => gap.end = start,
            (false, false) => drop(self.gaps.remove(first)),
            (true, true) => {
                gap.end = start;
                self.insert(horizon, first + 1, rest);
            }
        }
        Some(start)
    }

    #[inline]
    fn insert(&mut self, horizon: Nanos, at: usize, gap: Gap) {
        let gone =
            if self.gaps.len() == self.gaps.capacity() { forget(&mut self.gaps, |gap| gap.end <= horizon) } else { 0 };
        self.gaps.insert(at - gone, gap);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn n(ns: u64) -> Nanos {
        Nanos(ns)
    }

    #[test]
    fn a_transfer_starts_when_ready_on_a_free_wire() {
        assert_eq!(Timeline::default().reserve(n(0), n(7), n(3)), n(7));
    }

    #[test]
    fn a_transfer_is_late_by_one_at_a_gap_that_is_short_by_one() {
        let mut wire = Timeline::default();
        assert_eq!(wire.reserve(n(0), n(10), n(5)), n(10));
        assert_eq!(wire.clone().reserve(n(0), n(0), n(10)), n(0), "ten fit before ten");
        assert_eq!(wire.reserve(n(0), n(0), n(11)), n(15), "eleven do not");
    }

    proptest! {
        #[test]
        fn a_transfer_takes_the_first_room_that_is_long_enough(asked in prop::collection::vec((0u64..3000, 1u64..40), 1..200)) {
            let (mut wire, mut reserved) = (Timeline::default(), Vec::<(u64, u64)>::new());
            for (ready, len) in asked {
                let fits = |at: u64| reserved.iter().all(|&(start, end)| at + len <= start || end <= at);
                let ends = reserved.iter().map(|&(_, end)| end).filter(|&end| end > ready);
                let first = ends.chain([ready]).filter(|&at| fits(at)).min().unwrap();
                prop_assert_eq!(wire.reserve(n(0), n(ready), n(len)), n(first));
                reserved.push((first, first + len));
            }
        }
    }
}
