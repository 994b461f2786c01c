//! Work that is counted while it is done. A drive's counters grow when work is begun: one request may begin the fold of a
//! whole superblock, and many requests are handed over at once.
//!
//! ```text
//!   begun at once  |‾‾‾‾‾‾‾‾      done      _/‾‾      as steep as all dies together, the link or the supply are at most
//!                  |                     _/
//!               ___|                  __/
//! ```

use pslc_ssd::{Nanos, Pace};

/// How much of what was begun is done, of each counter that has a pace.
#[derive(Clone, Debug, Default)]
pub struct Work {
    counters: Vec<Counter>,
    /// When it was looked at last.
    looked: Nanos,
}

#[derive(Clone, Copy, Debug)]
struct Counter {
    column: usize,
    pace: Pace,
    /// What was done when it was looked at last.
    done: u64,
    /// Where not all was, since when it has grown at its pace, and from what.
    behind: Option<(Nanos, u64)>,
}

impl Work {
    /// From now on each counter grows at its pace at most; of these totals all is done, the first time.
    pub fn begin(&mut self, now: Nanos, totals: &[u64], pace: impl Fn(usize) -> Option<Pace>) {
        let before = std::mem::take(&mut self.counters);
        let paced = (0..totals.len()).filter_map(|column| Some((column, pace(column)?)));
        self.counters = paced
            .map(|(column, pace)| match before.iter().find(|counter| counter.column == column) {
                Some(counter) => Counter { pace, ..*counter },
                None => Counter { column, pace, done: totals[column], behind: None },
            })
            .collect();
        self.looked = if before.is_empty() { now } else { self.looked };
    }

    /// Of what was begun, what can be done at `now`; not before the last call.
    pub fn settle(&mut self, now: Nanos, totals: &mut [u64]) {
        for counter in &mut self.counters {
            let total = &mut totals[counter.column];
            if *total == counter.done {
                counter.behind = None;
                continue;
            }
            let (since, from) = counter.behind.unwrap_or((self.looked, counter.done));
            let limit = from + counter.pace.within(now.saturating_sub(since).0);
            counter.behind = (*total > limit).then_some((since, from));
            *total = limit.min(*total);
            counter.done = *total;
        }
        self.looked = self.looked.max(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn work_is_done_at_its_pace_never_before_it_is_begun_and_all_of_it_in_the_end(
            looks in prop::collection::vec((0u64..50, 0u64..3000), 1..80),
            amount in 1u64..90,
            ns in 1u64..9,
        ) {
            let pace = Pace::new(amount, ns);
            let mut work = Work::default();
            work.begin(Nanos::ZERO, &[0, 0], |column| (column == 0).then_some(pace));
            let (mut now, mut begun, mut before) = (Nanos::ZERO, 0, (Nanos::ZERO, 0));
            for (after, more) in looks {
                (now, begun) = (now + Nanos(after), begun + more);
                let mut totals = [begun, begun];
                work.settle(now, &mut totals);
                let [done, unbounded] = totals;
                prop_assert!(before.1 <= done && done <= begun && unbounded == begun);
                // Between two looks a part of a unit of work may end.
                prop_assert!(done - before.1 <= pace.within((now - before.0).0) + 1, "{done} after {before:?}");
                before = (now, done);
            }
            let mut totals = [begun, begun];
            work.settle(now + Nanos(pace.time(begun) + ns), &mut totals);
            prop_assert_eq!(totals[0], begun);
        }
    }
}
