//! Cycles: a host that keeps writing alike brings the drive back to the state that it was in before, only later.
//!
//! ```text
//!   requests    w0  w1  w2  w3  w4  w5  w6  ...
//!   state       A   b   c   A'  b'  c'  A''          A' is A, every time in it `span` later
//!               |---cycle---|---cycle---|
//! ```
//!
//! What times a write is the link, the cores, the buffer, the channels and the dies; none of them looks at the clock but
//! in comparison. So from equal states equal requests are answered equally, and those of a cycle that is known need not
//! be worked out again: what they did is worked out when somebody looks, whole cycles at once. The maps, and what a policy
//! decides by, are kept up with each request (`drive/cycling.rs`).

use crate::link::LinkBusy;
use crate::units::Nanos;
use crate::waits::Account;

/// What adds up over a cycle: host units programmed; time waited for the buffer, on the links, and of dies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CycleCounters {
    pub units: u64,
    pub waited: Nanos,
    pub link: [LinkBusy; 2],
    pub programming: Nanos,
}

impl CycleCounters {
    fn zip(&self, other: &CycleCounters, of: impl Fn(u64, u64) -> u64) -> CycleCounters {
        let time = |a: Nanos, b: Nanos| Nanos(of(a.0, b.0));
        CycleCounters {
            units: of(self.units, other.units),
            waited: time(self.waited, other.waited),
            link: std::array::from_fn(|at| self.link[at].zip(other.link[at], &of)),
            programming: time(self.programming, other.programming),
        }
    }

    /// What came since `before`.
    fn since(&self, before: &CycleCounters) -> CycleCounters {
        self.zip(before, |now, before| now - before)
    }

    /// Both added.
    fn plus(&self, other: &CycleCounters) -> CycleCounters {
        self.zip(other, |a, b| a + b)
    }

    fn times(&self, count: u64) -> CycleCounters {
        self.zip(self, |once, _| once * count)
    }
}

/// A write: when it comes, from the beginning of its cycle, its bytes, and how long it takes; what the cycle has added with
/// it and to the account, and the pages that are in the buffer then.
#[derive(Clone, Copy, Debug)]
pub struct CycleStep {
    pub at: Nanos,
    pub len: u32,
    pub latency: Nanos,
    pub counters: CycleCounters,
    pub account: Account,
    pub held: u32,
}

/// Writes that were answered and have not been worked out.
#[derive(Debug)]
pub struct PendingCycles {
    /// Whole cycles of them: how much later it is, and what they add.
    pub span: Nanos,
    pub counters: CycleCounters,
    pub account: Account,
    /// The others, with their times.
    pub steps: Vec<CycleStep>,
}

/// Writes until a state that did not recur is given up for another: twice as many each time, between these.
const MIN_PATIENCE_WRITES: usize = 16;
const MAX_PATIENCE_WRITES: usize = 1024;
/// Writes that follow each other undisturbed before a state is tried after something else came between.
const MIN_UNDISTURBED_WRITES: usize = 8;

/// A few numbers of a state that tell most others apart: how long until the last write is done, room in the buffer, the
/// die whose turn it is, and how long until it is free.
pub type Hint = [u64; 4];

#[derive(Clone, Debug, Default)]
pub struct CycleCache {
    /// The state that a cycle begins with, relative to the time.
    hint: Hint,
    first_state: Vec<u64>,
    /// When it was met, with what counters; the writes since, as long as they are not interrupted.
    met: Nanos,
    counters: CycleCounters,
    account: Account,
    steps: Vec<CycleStep>,
    uninterrupted: bool,
    /// Writes since, and after how many another state is tried.
    writes_since: usize,
    patience: usize,
    /// Writes since something else came between.
    undisturbed: usize,
    /// Length of a cycle, and what it adds; zero until it is known.
    span: Nanos,
    counters_per_cycle: CycleCounters,
    account_per_cycle: Account,
    /// The cycle goes on: which step comes next, and when it began. The drive is `pending` writes before: at step `applied`
    /// of a cycle that began at `applied_began`.
    repeating: bool,
    next: usize,
    began: Nanos,
    applied: usize,
    applied_began: Nanos,
    pending: u64,
    /// The present state, to compare.
    candidate: Vec<u64>,
    /// Writes that were answered from cycles, and are worked out.
    applied_writes: u64,
}

impl CycleCache {
    /// Writes that were answered from cycles.
    pub fn answered(&self) -> u64 {
        self.applied_writes + self.pending
    }

    /// How long a write takes that comes now, where that is known.
    #[inline]
    pub fn answer(&mut self, now: Nanos, len: u32) -> Option<Nanos> {
        if !self.repeating {
            return None;
        }
        let step = &self.steps[self.next];
        if self.began + step.at != now || step.len != len {
            return None;
        }
        let latency = step.latency;
        self.next += 1;
        if self.next == self.steps.len() {
            self.next = 0;
            self.began += self.span;
        }
        self.pending += 1;
        Some(latency)
    }

    /// Whether the cycle is being repeated.
    pub fn is_repeating(&self) -> bool {
        self.repeating
    }

    /// Whether the drive is behind what was answered.
    #[inline]
    pub fn has_pending(&self) -> bool {
        self.pending > 0
    }

    /// What the writes that were answered and not worked out add, and the pages that are in the buffer after them; `None`
    /// where there are none.
    pub fn ahead(&self) -> Option<(CycleCounters, u32)> {
        if !self.has_pending() {
            return None;
        }
        let counters = |next: usize| match next.checked_sub(1) {
            Some(last) => self.steps[last].counters,
            None => CycleCounters::default(),
        };
        let whole = (self.began - self.applied_began).0 / self.span.0;
        let all = self.counters_per_cycle.times(whole).plus(&counters(self.next));
        let last = self.next.checked_sub(1).unwrap_or(self.steps.len() - 1);
        Some((all.since(&counters(self.applied)), self.steps[last].held))
    }

    /// What they add to the account.
    pub fn account_ahead(&self) -> Option<Account> {
        if !self.has_pending() {
            return None;
        }
        let account = |next: usize| match next.checked_sub(1) {
            Some(last) => self.steps[last].account,
            None => Account::default(),
        };
        let whole = (self.began - self.applied_began).0 / self.span.0;
        Some(account(self.next).plus(&self.account_per_cycle, whole).since(&account(self.applied)))
    }

    /// What is to be worked out, one write at least; it is from now on.
    pub fn take_pending(&mut self) -> PendingCycles {
        // States are the same for what comes at the beginning of the cycle or later. So the last write is among the steps:
        // what follows may come at once.
        let count = self.steps.len() as u64;
        let whole = (self.pending - 1) / count;
        let span = Nanos(self.span.0 * whole);
        self.applied_began += span;
        let steps = (whole * count..self.pending).map(|_| self.apply_step()).collect();
        self.applied_writes += self.pending;
        self.pending = 0;
        debug_assert_eq!((self.applied, self.applied_began), (self.next, self.began));
        let account = Account::default().plus(&self.account_per_cycle, whole);
        PendingCycles { span, counters: self.counters_per_cycle.times(whole), account, steps }
    }

    /// The next step for the drive, at its time.
    fn apply_step(&mut self) -> CycleStep {
        let step = self.steps[self.applied];
        let at = self.applied_began + step.at;
        self.applied += 1;
        if self.applied == self.steps.len() {
            self.applied = 0;
            self.applied_began += self.span;
        }
        CycleStep { at, ..step }
    }

    /// Whether the last that came was something else: that more of it comes changes nothing.
    #[inline]
    pub fn is_abandoned(&self) -> bool {
        !self.repeating && !self.uninterrupted && self.undisturbed == 0
    }

    /// Something else comes between, which nothing is known of.
    #[inline]
    pub fn abandon(&mut self) {
        debug_assert!(!self.has_pending());
        if std::mem::take(&mut self.repeating) {
            self.writes_since = 0;
        }
        self.uninterrupted = false;
        self.undisturbed = 0;
    }

    /// A write is going to be worked out, and the cycle is not being repeated. Whether that is not needed, as the cycle
    /// begins with such a write in this state, which `timing` writes down.
    pub fn detect(
        &mut self,
        now: Nanos,
        len: u32,
        (counters, account): (CycleCounters, &Account),
        hint: Hint,
        timing: impl Fn(&mut Vec<u64>),
    ) -> bool {
        let has_cycle = self.span > Nanos::ZERO;
        let begins_so = self.steps.first().is_some_and(|step| step.len == len) && hint == self.hint;
        if begins_so && now > self.met && (has_cycle || self.uninterrupted) {
            self.candidate.clear();
            timing(&mut self.candidate);
            if self.candidate == self.first_state {
                if !has_cycle {
                    (self.span, self.counters_per_cycle) = (now - self.met, counters.since(&self.counters));
                    self.account_per_cycle = account.since(&self.account);
                }
                self.patience = MIN_PATIENCE_WRITES;
                (self.repeating, self.next, self.applied) = (true, 0, 0);
                (self.began, self.applied_began) = (now, now);
                return true;
            }
        }
        let interrupted = !has_cycle && !self.uninterrupted;
        self.undisturbed += 1;
        let tries =
            if interrupted { self.undisturbed > MIN_UNDISTURBED_WRITES } else { self.writes_since >= self.patience };
        if tries {
            self.patience =
                if interrupted { MIN_PATIENCE_WRITES } else { (2 * self.patience).min(MAX_PATIENCE_WRITES) };
            self.first_state.clear();
            timing(&mut self.first_state);
            (self.hint, self.met, self.counters) = (hint, now, counters);
            self.account = *account;
            (self.span, self.writes_since, self.uninterrupted) = (Nanos::ZERO, 0, true);
            self.steps.clear();
        }
        self.writes_since += 1;
        false
    }

    /// Whether the writes that are worked out may be those of a cycle.
    #[inline]
    pub fn is_recording(&self) -> bool {
        self.span == Nanos::ZERO && self.uninterrupted
    }

    /// A write was worked out, after which the counters are these, and so many pages in the buffer.
    pub fn record(
        &mut self,
        now: Nanos,
        len: u32,
        latency: Nanos,
        (counters, account): (CycleCounters, &Account),
        held: u32,
    ) {
        let (counters, account) = (counters.since(&self.counters), account.since(&self.account));
        self.steps.push(CycleStep { at: now - self.met, len, latency, counters, account, held });
    }
}
