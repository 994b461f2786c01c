//! The simulated drive as a target: virtual time, which passes only as far as the runner asks.

use pslc_ssd::custom::Custom;
use pslc_ssd::{Config, Drive, Machine, Nanos, Pace, Request, Waits};

use crate::job::Job;
use crate::queue::{Pending, Queue};
use crate::target::{Completion, Target, TargetError};
use crate::work::Work;

/// A simulated drive in its computer, with the requests that are under way.
#[derive(Clone, Debug)]
pub struct SimTarget {
    machine: Machine,
    /// Whether the requests of a slot go past the page cache.
    direct: Vec<bool>,
    /// Whether memory of the computer may take what is read, and what is written.
    in_memory: [bool; 2],
    now: Nanos,
    pending: Queue,
    submitted: u64,
    work: Work,
}

/// Drive time that passes between two looks round: a drive that follows its temperature takes some 15 ms for it.
pub(crate) const BITE: Nanos = Nanos::from_secs(1000);

impl SimTarget {
    /// A machine whose clock stands at `now`.
    pub fn new(now: Nanos, machine: Machine) -> SimTarget {
        SimTarget {
            machine,
            direct: Vec::new(),
            in_memory: [false; 2],
            now,
            pending: Queue::default(),
            submitted: 0,
            work: Work::default(),
        }
    }

    pub fn machine(&self) -> &Machine {
        &self.machine
    }

    /// See [`Machine::format`].
    pub fn format(&mut self, config: &Config) {
        self.machine.format(config);
    }

    /// See [`Machine::switch_cache`].
    pub fn switch_cache(&mut self, config: &Config, on: bool, emptied: bool) {
        self.machine.switch_cache(config, on, emptied);
    }

    /// Write back and flush what it holds, and switch it off for a time in which data age by `aged`; see
    /// [`Machine::switch_off`].
    pub fn switch_off(&mut self, config: &Config, aged: Nanos) {
        let done = self.machine.submit(self.now, &Request::flush(), false);
        self.now = self.now.max(done);
        self.machine.advance(self.now);
        self.machine.switch_off(config, aged);
    }

    /// See [`Machine::lose_power`].
    pub fn lose_power(&mut self, lost: u32) {
        self.machine.lose_power(lost);
    }

    /// See [`Machine::set_custom`].
    pub fn set_custom(&mut self, custom: Custom) {
        self.machine.set_custom(custom);
    }

    pub fn drive(&self) -> &Drive {
        self.machine.drive()
    }

    /// How far its time passes at once.
    pub fn farthest(&self) -> Nanos {
        self.now.saturating_add(BITE)
    }

    /// When the first of what is under way completes.
    pub fn next_at(&mut self) -> Option<Nanos> {
        self.pending.first_at()
    }

    /// As `submit`; returns when the request completes.
    #[inline]
    pub fn submit_told(&mut self, slot: u32, request: &Request) -> Nanos {
        let at = self.machine.submit(self.now, request, self.direct.get(slot as usize).is_none_or(|direct| *direct));
        self.submitted += 1;
        self.pending.push(Pending::new(at, self.submitted, slot));
        at
    }

    /// As `submit_told` at `now`, up to when everything that completes was taken.
    pub(crate) fn submit_at(&mut self, now: Nanos, slot: u32, request: &Request) -> Nanos {
        self.now = now;
        self.submit_told(slot, request)
    }
}

impl Target for SimTarget {
    const CAN_CUT_PAUSES: bool = true;

    fn begin(&mut self, slots: &[&Job], _largest: u32) -> Result<(), TargetError> {
        self.direct = slots.iter().map(|job| job.direct).collect();
        let in_memory = |moves: fn(&Job) -> bool| slots.iter().any(|job| !job.direct && moves(job));
        let copies = |job: &Job| job.writes() || job.copy_to.is_some();
        self.in_memory = [in_memory(Job::reads), in_memory(copies)].map(|any| any && self.machine.has_page_cache());
        let mut totals = vec![0; Machine::COLUMNS.len()];
        self.machine.sample(self.now, &mut totals);
        let drive = self.machine.drive();
        self.work.begin(self.now, &totals, |column| drive.pace(Machine::COLUMNS[column]));
        Ok(())
    }

    fn unwritten(&self, offset: u64, len: u64) -> Vec<(u64, u64)> {
        self.drive().unwritten(offset, len)
    }

    fn skip_waits(&mut self) {
        self.machine.begin_run();
    }

    /// What a run that was cut off left under way has completed when the next one begins.
    fn end(&mut self) {
        while let Some(pending) = self.pending.take_until(Nanos::MAX) {
            self.now = self.now.max(pending.at());
        }
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

    #[inline(always)]
    fn next(&mut self, until: Nanos) -> Result<Option<Completion>, TargetError> {
        match self.pending.take_until(until) {
            Some(first) => {
                self.now = first.at();
                Ok(Some(Completion { slot: first.slot(), at: self.now }))
            }
            _ => {
                self.now = until.min(self.farthest());
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

    fn moved_paces(&self) -> [Option<Pace>; 2] {
        let pace = |(name, in_memory): (&str, bool)| (!in_memory).then(|| self.drive().pace(name)).flatten();
        [("host_read_bytes_total", self.in_memory[0]), ("host_write_bytes_total", self.in_memory[1])].map(pace)
    }

    fn sample(&mut self, into: &mut [u64]) {
        self.sample_at(self.now, into);
    }

    fn sample_at(&mut self, at: Nanos, into: &mut [u64]) {
        self.machine.settle();
        self.machine.sample(at, into);
        self.work.settle(at, into);
    }

    fn peek(&mut self, into: &mut [u64]) {
        let (settled, work) = (self.machine.settled(), self.work.clone());
        self.sample(into);
        self.machine.unsettle(settled);
        self.work = work;
    }

    fn sample_begun(&mut self, into: &mut [u64]) {
        let settled = self.machine.settled();
        self.machine.settle();
        self.machine.sample(self.now, into);
        self.machine.unsettle(settled);
    }
}
