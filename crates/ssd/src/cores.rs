//! Processor cores as a queue: the controller's, and the host's.

use crate::consistency::{ensure, Consistency};
use crate::units::Nanos;

#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct Cores {
    /// When each is free.
    free: Vec<Nanos>,
}

impl Cores {
    pub fn new(count: u32) -> Cores {
        Cores { free: vec![Nanos::ZERO; count as usize] }
    }

    pub fn check(&self, count: u32) -> Consistency {
        ensure(self.free.len() == count as usize, "processor cores")
    }

    /// How long each is busy still, in order.
    pub fn timing_relative_to(&self, now: Nanos, into: &mut Vec<u64>) {
        let from = into.len();
        into.extend(self.free.iter().map(|free| free.saturating_sub(now).0));
        into[from..].sort_unstable();
    }

    /// All of it is later by `span`.
    pub fn shift_timing(&mut self, span: Nanos) {
        self.free.iter_mut().for_each(|free| *free += span);
    }

    /// Work for `time` at or after `now` on the core that is free first; returns when it is done.
    #[inline]
    pub fn take(&mut self, now: Nanos, time: Nanos) -> Nanos {
        let first = self.free.iter_mut().min().expect("a core");
        *first = now.max(*first) + time;
        *first
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_queues_for_the_core_that_is_free_first() {
        let mut cores = Cores::new(2);
        let done: Vec<u64> = (0..4).map(|_| cores.take(Nanos(5), Nanos(10)).0).collect();
        assert_eq!(done, [15, 15, 25, 25]);
    }
}
