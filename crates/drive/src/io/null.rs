//! A target that does nothing, at once: what remains is the cost of the load engine on this machine.

use std::collections::VecDeque;
use std::time::Instant;

use pslc_load::{Completion, Target, TargetError};
use pslc_ssd::{Nanos, Request};

pub struct NullTarget {
    start: Instant,
    pending: VecDeque<u32>,
}

impl NullTarget {
    #[allow(clippy::new_without_default, reason = "it starts a clock")]
    pub fn new() -> NullTarget {
        NullTarget { start: Instant::now(), pending: VecDeque::new() }
    }
}

impl Target for NullTarget {
    fn capacity_bytes(&self) -> u64 {
        1 << 40
    }
    fn block_bytes(&self) -> u32 {
        512
    }
    fn now(&mut self) -> Nanos {
        Nanos(self.start.elapsed().as_nanos() as u64)
    }
    fn submit(&mut self, slot: u32, _: &Request) -> Result<(), TargetError> {
        self.pending.push_back(slot);
        Ok(())
    }
    fn next(&mut self, _: Nanos) -> Result<Option<Completion>, TargetError> {
        let at = self.now();
        Ok(self.pending.pop_front().map(|slot| Completion { slot, at }))
    }
    fn columns(&self) -> &'static [&'static str] {
        &[]
    }
    fn sample(&mut self, _: &mut [u64]) {}
}
