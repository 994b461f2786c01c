//! The simulated drive as a target: virtual time, which passes only as far as the runner asks.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use pslc_ssd::{Drive, Nanos, Request};

use crate::target::{Completion, Target, TargetError};

/// A simulated drive with the requests that are under way.
#[derive(Clone, Debug)]
pub struct SimTarget {
    drive: Drive,
    now: Nanos,
    /// Completions by time; at equal times the first submitted comes first.
    pending: BinaryHeap<Reverse<(Nanos, u64, u32)>>,
    submitted: u64,
}

impl SimTarget {
    pub fn new(drive: Drive) -> SimTarget {
        SimTarget { drive, now: Nanos::ZERO, pending: BinaryHeap::new(), submitted: 0 }
    }

    pub fn drive(&self) -> &Drive {
        &self.drive
    }
}

impl Target for SimTarget {
    fn capacity_bytes(&self) -> u64 {
        self.drive.capacity_bytes()
    }

    fn block_bytes(&self) -> u32 {
        512
    }

    fn now(&mut self) -> Nanos {
        self.now
    }

    #[inline]
    fn submit(&mut self, slot: u32, request: &Request) -> Result<(), TargetError> {
        let at = self.drive.submit(self.now, request);
        self.submitted += 1;
        self.pending.push(Reverse((at, self.submitted, slot)));
        Ok(())
    }

    #[inline]
    fn next(&mut self, until: Nanos) -> Result<Option<Completion>, TargetError> {
        match self.pending.peek() {
            Some(&Reverse((at, _, slot))) if at <= until => {
                self.pending.pop();
                self.now = at;
                Ok(Some(Completion { slot, at }))
            }
            _ => {
                self.now = until;
                self.drive.advance(until);
                Ok(None)
            }
        }
    }

    #[inline]
    fn prepare(&self, request: &Request) {
        self.drive.prepare(request);
    }

    fn columns(&self) -> &'static [&'static str] {
        Drive::COLUMNS
    }

    fn sample(&mut self, into: &mut [u64]) {
        self.drive.sample(into);
    }
}
