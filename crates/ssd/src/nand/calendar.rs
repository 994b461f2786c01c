//! A shared wire (a channel, a link) as the list of its reservations.
//!
//! A transfer takes the earliest gap that is long enough, at or after the time its data are ready. So a transfer that
//! is ready early may pass one that was asked for before it but has to wait for its die:
//!
//! ```text
//!   reserved      |####|      |########|        |###|
//!   ready, len 4         ^ here: the gap fits
//!   ready, len 8               too long: -----> here: [########]
//! ```

use super::queue::Queue;
use crate::units::Nanos;

#[derive(Clone, Copy, Debug)]
struct Span {
    start: Nanos,
    end: Nanos,
}

#[derive(Clone, Debug)]
pub struct Calendar {
    /// Disjoint, ascending, never touching; those that are past are dropped when room is needed.
    spans: Queue<Span>,
    /// The last reservation, after all of `spans`.
    last: Span,
    busy: Nanos,
}

impl Default for Calendar {
    fn default() -> Calendar {
        let last = Span { start: Nanos::ZERO, end: Nanos::ZERO };
        Calendar { spans: Queue::default(), last, busy: Nanos::ZERO }
    }
}

impl Calendar {
    /// Reserve `len` at or after `ready`; returns when it starts. Nothing will ever be asked for before `horizon`.
    #[inline(always)]
    pub fn reserve(&mut self, horizon: Nanos, ready: Nanos, len: Nanos) -> Nanos {
        debug_assert!(ready >= horizon);
        self.busy += len;
        if ready < self.last.start {
            return self.reserve_in_gap(horizon, ready, len);
        }
        if ready > self.last.end {
            if self.last.end > horizon {
                self.keep_last(horizon);
            }
            self.last = Span { start: ready, end: ready + len };
            return ready;
        }
        let start = self.last.end;
        self.last.end = start + len;
        start
    }

    /// The general case: look for a gap before the last reservation.
    #[inline(never)]
    fn reserve_in_gap(&mut self, horizon: Nanos, ready: Nanos, len: Nanos) -> Nanos {
        self.drop_past(horizon);
        // Gaps are mostly near the end.
        let spans: &[Span] = &self.spans;
        let mut at = spans.len();
        while at > 0 && spans[at - 1].end > ready {
            at -= 1;
        }
        let mut start = ready;
        while at < spans.len() && spans[at].start < start + len {
            start = spans[at].end;
            at += 1;
        }
        let span = Span { start, end: start + len };
        if at < spans.len() || self.last.start >= span.end {
            self.insert(at, span);
        } else {
            start = self.last.end;
            self.last.end = start + len;
        }
        start
    }

    fn keep_last(&mut self, horizon: Nanos) {
        self.drop_past(horizon);
        self.spans.push_back(self.last);
    }

    #[inline]
    fn drop_past(&mut self, horizon: Nanos) {
        if self.spans.is_at_capacity() {
            while self.spans.first().is_some_and(|first| first.end <= horizon) {
                self.spans.pop_front();
            }
        }
    }

    /// Insert before position `at`, joining neighbours that touch.
    fn insert(&mut self, at: usize, span: Span) {
        let joins_left = at > 0 && self.spans[at - 1].end == span.start;
        if at == self.spans.len() {
            match (joins_left, self.last.start == span.end) {
                (true, true) => {
                    self.last.start = self.spans[at - 1].start;
                    self.spans.remove(at - 1);
                }
                (true, false) => self.spans[at - 1].end = span.end,
                (false, true) => self.last.start = span.start,
                (false, false) => self.spans.push_back(span),
            }
            return;
        }
        let joins_right = self.spans[at].start == span.end;
        match (joins_left, joins_right) {
            (true, true) => {
                self.spans[at - 1].end = self.spans[at].end;
                self.spans.remove(at);
            }
            (true, false) => self.spans[at - 1].end = span.end,
            (false, true) => self.spans[at].start = span.start,
            (false, false) => self.spans.insert(at, span),
        }
    }

    /// Time reserved in all.
    pub fn busy(&self) -> Nanos {
        self.busy
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
        assert_eq!(Calendar::default().reserve(n(0), n(7), n(3)), n(7));
    }

    #[test]
    fn a_transfer_is_late_by_one_at_a_gap_that_is_short_by_one() {
        let mut wire = Calendar::default();
        assert_eq!(wire.reserve(n(0), n(10), n(5)), n(10));
        assert_eq!(wire.clone().reserve(n(0), n(0), n(10)), n(0), "ten fit before ten");
        assert_eq!(wire.reserve(n(0), n(0), n(11)), n(15), "eleven do not");
    }

    proptest! {
        /// Against every nanosecond tried in turn over a plain list that forgets nothing.
        #[test]
        fn it_equals_the_first_fit_over_all_history(asks in prop::collection::vec((0u64..40, 0u64..200, 1u64..20), 1..200)) {
            let mut wire = Calendar::default();
            let mut history: Vec<(u64, u64)> = Vec::new();
            let mut horizon = 0;
            for (step, delay, len) in asks {
                horizon += step;
                let ready = horizon + delay;
                let expected = (ready..)
                    .find(|&s| history.iter().all(|&(a, b)| s + len <= a || s >= b))
                    .unwrap();
                history.push((expected, expected + len));
                prop_assert_eq!(wire.reserve(n(horizon), n(ready), n(len)), n(expected));
            }
        }
    }
}
