//! Rounds: a host that keeps writing alike brings the drive back to the state that it was in before, only later.
//!
//! ```text
//!   requests    w0  w1  w2  w3  w4  w5  w6  ...
//!   state       A   b   c   A'  b'  c'  A''          A' is A, every time in it `span` later
//!               |---round---|---round---|
//! ```
//!
//! What times a write is the link, the cores, the buffer, the channels and the dies; none of them looks at the clock but
//! in comparison. So from equal states equal requests are answered equally, and those of a round that is known need not
//! be worked out again: what they did is caught up with when somebody looks, whole rounds at once. The maps, and what a
//! policy decides by, are kept up with each request.

use crate::units::Nanos;

/// What adds up: host units programmed, time in the buffer's queue, on the lines, and of dies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    pub units: u64,
    pub waited: Nanos,
    pub line: Nanos,
    pub to_drive: Nanos,
    pub programming: Nanos,
}

impl Totals {
    /// What came since `before`.
    fn since(&self, before: &Totals) -> Totals {
        Totals {
            units: self.units - before.units,
            waited: self.waited - before.waited,
            line: self.line - before.line,
            to_drive: self.to_drive - before.to_drive,
            programming: self.programming - before.programming,
        }
    }

    fn times(&self, count: u64) -> Totals {
        let times = |time: Nanos| Nanos(time.0 * count);
        Totals {
            units: self.units * count,
            waited: times(self.waited),
            line: times(self.line),
            to_drive: times(self.to_drive),
            programming: times(self.programming),
        }
    }
}

/// A write: when it comes, from the beginning of the round, its bytes, and how long it takes.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    pub at: Nanos,
    pub len: u32,
    pub takes: Nanos,
}

/// Writes that were answered and have not been worked out.
#[derive(Debug)]
pub struct Behind {
    /// Whole rounds of them: how much later it is, and what they add.
    pub span: Nanos,
    pub gain: Totals,
    /// The others, with their times.
    pub rest: Vec<Step>,
}

/// A round is at least as long as the shortest and at most as long as the longest wait for its end.
const SHORTEST: usize = 16;
const LONGEST: usize = 1024;
/// Writes that follow each other undisturbed before a state is tried after something else came between.
const CALM: usize = 8;

/// A few numbers of a state that tell most others apart: how long until the last write is done, room in the buffer, the
/// die whose turn it is, and how long until it is free.
pub type Hint = [u64; 4];

#[derive(Clone, Debug, Default)]
pub struct Rounds {
    /// The state that a round begins with, relative to the time.
    hint: Hint,
    begins: Vec<u64>,
    /// When it was met, with what totals; the writes since, as long as there is nothing else between them.
    met: Nanos,
    totals: Totals,
    steps: Vec<Step>,
    unbroken: bool,
    /// Writes since, and after how many another state is tried.
    watched: usize,
    patience: usize,
    /// Writes since something else came between.
    calm: usize,
    /// Length of a round, and what it adds; zero until it is known.
    span: Nanos,
    gain: Totals,
    /// The round goes on: which step comes next, when it began. The drive stands at another: `behind` writes before.
    repeats: bool,
    next: usize,
    began: Nanos,
    stands: usize,
    stands_began: Nanos,
    behind: u64,
    /// For another state, to compare.
    other: Vec<u64>,
    /// Writes that were answered by what is known.
    pub answered: u64,
}

impl Rounds {
    /// How long a write takes that comes now, where that is known.
    #[inline]
    pub fn answer(&mut self, now: Nanos, len: u32) -> Option<Nanos> {
        if !self.repeats {
            return None;
        }
        let step = &self.steps[self.next];
        if self.began + step.at != now || step.len != len {
            return None;
        }
        let takes = step.takes;
        self.next += 1;
        if self.next == self.steps.len() {
            self.next = 0;
            self.began += self.span;
        }
        self.behind += 1;
        self.answered += 1;
        Some(takes)
    }

    /// Whether a round is being repeated.
    pub fn repeats(&self) -> bool {
        self.repeats
    }

    /// Whether the drive is as it would be had every write been worked out.
    #[inline]
    pub fn is_level(&self) -> bool {
        self.behind == 0
    }

    /// What is to be worked out, one write at least; it is from now on.
    pub fn catch_up(&mut self) -> Behind {
        // States are the same for what comes at the beginning of the round or later. So the last write is among the rest:
        // what follows may come at once.
        let count = self.steps.len() as u64;
        let whole = (self.behind - 1) / count;
        let rest = self.behind - whole * count;
        let span = Nanos(self.span.0 * whole);
        self.stands_began += span;
        let rest = (0..rest).map(|_| {
            let step = self.steps[self.stands];
            let at = self.stands_began + step.at;
            self.stands += 1;
            if self.stands == self.steps.len() {
                self.stands = 0;
                self.stands_began += self.span;
            }
            Step { at, ..step }
        });
        let rest = rest.collect();
        self.behind = 0;
        debug_assert_eq!((self.stands, self.stands_began), (self.next, self.began));
        Behind { span, gain: self.gain.times(whole), rest }
    }

    /// Whether the last that came was something else: that more of it comes changes nothing.
    #[inline]
    pub fn are_left(&self) -> bool {
        !self.repeats && !self.unbroken && self.calm == 0
    }

    /// Something else comes between, which nothing is known of.
    #[inline]
    pub fn leave(&mut self) {
        debug_assert!(self.is_level());
        if std::mem::take(&mut self.repeats) {
            self.watched = 0;
        }
        self.unbroken = false;
        self.calm = 0;
    }

    /// A write is going to be worked out, and the round is not being repeated. Whether that is not needed, as the round
    /// begins with such a write in this state, of which `relative` tells.
    pub fn watch(
        &mut self,
        now: Nanos,
        len: u32,
        totals: Totals,
        hint: Hint,
        relative: impl Fn(&mut Vec<u64>),
    ) -> bool {
        let known = self.span > Nanos::ZERO;
        let begins_so = self.steps.first().is_some_and(|step| step.len == len) && hint == self.hint;
        if begins_so && now > self.met && (known || self.unbroken) {
            self.other.clear();
            relative(&mut self.other);
            if self.other == self.begins {
                if !known {
                    (self.span, self.gain) = (now - self.met, totals.since(&self.totals));
                }
                self.patience = SHORTEST;
                (self.repeats, self.next, self.stands) = (true, 0, 0);
                (self.began, self.stands_began) = (now, now);
                return true;
            }
        }
        let broken = !known && !self.unbroken;
        self.calm += 1;
        let tries = if broken { self.calm > CALM } else { self.watched >= self.patience };
        if tries {
            self.patience = if broken { SHORTEST } else { (2 * self.patience).min(LONGEST) };
            self.begins.clear();
            relative(&mut self.begins);
            (self.hint, self.met, self.totals) = (hint, now, totals);
            (self.span, self.watched, self.unbroken) = (Nanos::ZERO, 0, true);
            self.steps.clear();
        }
        self.watched += 1;
        false
    }

    /// A write was worked out.
    #[inline]
    pub fn follow(&mut self, now: Nanos, len: u32, takes: Nanos) {
        if self.span == Nanos::ZERO && self.unbroken {
            self.steps.push(Step { at: now - self.met, len, takes });
        }
    }
}
