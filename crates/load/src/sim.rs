//! The simulated drive as a target: virtual time, which passes only as far as the runner asks.

use std::cmp::Reverse;
use std::collections::binary_heap::PeekMut;
use std::collections::BinaryHeap;

use pslc_ssd::{Config, Drive, Machine, Nanos, Request, Waits};

use crate::job::Job;
use crate::target::{Completion, Target, TargetError};

/// A simulated drive in its computer, with the requests that are under way.
#[derive(Clone, Debug)]
pub struct SimTarget {
    machine: Machine,
    /// Whether the requests of a slot go past the page cache.
    direct: Vec<bool>,
    now: Nanos,
    /// Completions by time; at equal times the first submitted comes first.
    pending: BinaryHeap<Reverse<Pending>>,
    /// The first of `pending` has been handed out. It goes when the next request takes its place, as it mostly does:
    /// one way through the heap where there would be two.
    taken: bool,
    submitted: u64,
}

/// When, number of the request, slot: in one number that orders as they do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Pending(u128);

const SLOT_BITS: u32 = 24;

/// Drive time that passes between two looks round: a drive that follows its temperature takes some 15 ms for it.
const BITE: Nanos = Nanos::from_secs(1000);

impl Pending {
    #[inline]
    fn new(at: Nanos, number: u64, slot: u32) -> Pending {
        debug_assert!(slot < 1 << SLOT_BITS);
        Pending((at.0 as u128) << 64 | (number << SLOT_BITS | slot as u64) as u128)
    }

    #[inline]
    fn at(self) -> Nanos {
        Nanos((self.0 >> 64) as u64)
    }

    #[inline]
    fn slot(self) -> u32 {
        self.0 as u32 & ((1 << SLOT_BITS) - 1)
    }
}

impl SimTarget {
    /// A machine whose clock stands at `now`.
    pub fn new(now: Nanos, machine: Machine) -> SimTarget {
        SimTarget { machine, direct: Vec::new(), now, pending: BinaryHeap::new(), taken: false, submitted: 0 }
    }

    pub fn machine(&self) -> &Machine {
        &self.machine
    }

    /// See [`Machine::format`].
    pub fn format(&mut self, config: &Config) {
        self.machine.format(config);
    }

    pub fn drive(&self) -> &Drive {
        self.machine.drive()
    }

    /// When the first of what is under way completes.
    pub fn next_at(&mut self) -> Option<Nanos> {
        if std::mem::take(&mut self.taken) {
            PeekMut::pop(self.pending.peek_mut().expect("the one that was taken"));
        }
        self.pending.peek().map(|Reverse(first)| first.at())
    }

    /// As `submit`; returns when the request completes.
    #[inline]
    pub fn submit_told(&mut self, slot: u32, request: &Request) -> Nanos {
        let at = self.machine.submit(
            self.now,
            request,
            self.direct.get(slot as usize).is_none_or(|direct| *direct),
        );
        self.submitted += 1;
        let pending = Reverse(Pending::new(at, self.submitted, slot));
        if std::mem::take(&mut self.taken) {
            *self.pending.peek_mut().expect("the one that was taken") = pending;
        } else {
            self.pending.push(pending);
        }
        at
    }
}

impl Target for SimTarget {
    fn begin(&mut self, slots: &[&Job], _largest: u32) -> Result<(), TargetError> {
        self.direct = slots.iter().map(|job| job.direct).collect();
        Ok(())
    }

    fn skip_waits(&mut self) {
        self.machine.begin_run();
    }

    /// What a run that was cut off left under way has completed when the next one begins.
    fn end(&mut self) {
        let under_way = std::mem::take(&mut self.pending).into_iter().map(|Reverse(pending)| pending.at());
        self.now = under_way.fold(self.now, Nanos::max);
        self.taken = false;
        self.machine.end_run();
    }

    fn capacity_bytes(&self) -> u64 {
        self.drive().capacity_bytes()
    }

    fn block_bytes(&self) -> u32 {
        512
    }

    fn now(&mut self) -> Nanos {
        self.now
    }

    #[inline]
    fn submit(&mut self, slot: u32, request: &Request) -> Result<(), TargetError> {
        self.submit_told(slot, request);
        Ok(())
    }

    #[inline]
    fn next(&mut self, until: Nanos) -> Result<Option<Completion>, TargetError> {
        if std::mem::take(&mut self.taken) {
            PeekMut::pop(self.pending.peek_mut().expect("the one that was taken"));
        }
        match self.pending.peek() {
            Some(&Reverse(first)) if first.at() <= until => {
                self.taken = true;
                self.now = first.at();
                Ok(Some(Completion { slot: first.slot(), at: self.now }))
            }
            _ => {
                self.now = until.min(self.now.saturating_add(BITE));
                self.machine.advance(self.now);
                Ok(None)
            }
        }
    }

    #[inline]
    fn waits(&self) -> Option<&Waits> {
        Some(self.machine.waits())
    }

    #[inline]
    fn cache_bytes(&self) -> Option<u64> {
        Some(self.drive().cache_bytes())
    }

    fn invalidate(&mut self, offset: u64, len: u64) {
        self.machine.invalidate(offset, len);
    }

    #[inline]
    fn prepare(&self, request: &Request) {
        self.machine.prepare(request);
    }

    fn columns(&self) -> &'static [&'static str] {
        Machine::COLUMNS
    }

    fn sample(&mut self, into: &mut [u64]) {
        self.machine.catch_up();
        self.machine.sample(self.now, into);
    }
}
