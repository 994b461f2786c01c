//! A target as simple as can be, and a small simulated drive.
#![allow(dead_code, reason = "each test file uses a part of it")]

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use pslc_load::job::{self, Ground, Job};
use pslc_load::{Completion, SimTarget, Target, TargetError};
use pslc_ssd::{Machine, Nanos, Request};

/// Every request takes as long as every other, however many there are. Keeps what it was given, and when.
pub struct Even {
    pub takes: Nanos,
    pub now: Nanos,
    pub log: Vec<(Nanos, Request)>,
    /// How many requests there were when the page cache was to forget something.
    pub forgotten: Vec<usize>,
    pub under_way: usize,
    pub most: usize,
    pub fails_at: Option<usize>,
    pending: BinaryHeap<Reverse<(Nanos, usize, u32)>>,
}

impl Even {
    pub fn new(takes: Nanos) -> Even {
        Even {
            takes,
            now: Nanos::ZERO,
            log: Vec::new(),
            forgotten: Vec::new(),
            under_way: 0,
            most: 0,
            fails_at: None,
            pending: BinaryHeap::new(),
        }
    }
}

impl Target for Even {
    fn capacity_bytes(&self) -> u64 {
        CAPACITY
    }
    fn block_bytes(&self) -> u32 {
        512
    }
    fn now(&mut self) -> Nanos {
        self.now
    }
    fn submit(&mut self, slot: u32, request: &Request) -> Result<(), TargetError> {
        if self.fails_at == Some(self.log.len()) {
            let source = std::io::Error::other("broken");
            return Err(TargetError::Io { op: "write", offset: request.offset, len: request.len, source });
        }
        self.pending.push(Reverse((self.now + self.takes, self.log.len(), slot)));
        self.log.push((self.now, *request));
        self.under_way += 1;
        self.most = self.most.max(self.under_way);
        Ok(())
    }
    fn next(&mut self, until: Nanos) -> Result<Option<Completion>, TargetError> {
        match self.pending.peek() {
            Some(&Reverse((at, _, slot))) if at <= until => {
                self.pending.pop();
                self.under_way -= 1;
                self.now = at;
                Ok(Some(Completion { slot, at }))
            }
            _ => {
                assert!(until < Nanos::MAX, "waiting for ever");
                self.now = until;
                Ok(None)
            }
        }
    }
    fn invalidate(&mut self, _: u64, _: u64) {
        self.forgotten.push(self.log.len());
    }
    fn columns(&self) -> &'static [&'static str] {
        &["taken_total"]
    }
    fn sample(&mut self, into: &mut [u64]) {
        into[0] = self.log.len() as u64;
    }
}

pub const CAPACITY: u64 = 1 << 30;

pub fn jobs(text: &str) -> Vec<Job> {
    job::parse("test.fio", text, &[], Ground::Simulated, CAPACITY, &|_| None).unwrap_or_else(|error| panic!("{error}"))
}

/// A drive of 2 GB with 16 dies of TLC.
pub fn small_drive() -> SimTarget {
    let text = include_str!("small.toml");
    let profile = pslc_ssd::profile::load("small.toml", text, &|_| None, &[]);
    SimTarget::new(Nanos::ZERO, Machine::new(&profile.unwrap_or_else(|error| panic!("{error}")).config))
}
