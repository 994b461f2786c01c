//! What a request's time goes to: an account that moves with it through the drive, from cause to cause.
//!
//! ```text
//!   submitted   awake   taken    known      room in the buffer          here
//!       |waking |commands|mapping |folding|direct|folding| link          |
//! ```
//!
//! Waiting for a die is split by what the die does meanwhile. Each nanosecond has one cause, so they add up to the latency.

use crate::units::Nanos;
use crate::words::{words, Words};

words! {
    /// What a request spends its time on.
    pub enum Cause {
        /// What it is about itself: sensing, its own way over a channel, what is read to complete a page.
        Own = "own",
        /// Dies that fold.
        Folding = "folding",
        /// Dies that collect garbage.
        Collection = "collection",
        /// Dies that erase.
        Erasing = "erasing",
        /// Dies that program native cells with what hosts wrote.
        Direct = "direct",
        /// Dies that program one bit a cell with what hosts wrote.
        Cache = "cache",
        /// Dies and channels that serve other reads.
        Reading = "reading",
        /// The map is not in the controller.
        Mapping = "mapping",
        /// The link is busy, or with the request itself.
        Link = "link",
        /// What the link takes longer because it is slowed down for heat.
        Heat = "heat",
        /// Leaving the idle state.
        Waking = "waking",
        /// The controller's work for it and for commands before it.
        Commands = "commands",
    }
}

const COUNT: usize = <Cause as Words>::ALL.len();

/// The time of one request by cause.
#[derive(Clone, Debug, Default)]
pub struct Waits {
    by: [u64; COUNT],
    /// Accounted for up to here.
    until: Nanos,
}

impl Waits {
    /// How many causes there are.
    pub const COUNT: usize = COUNT;

    #[inline]
    pub(crate) fn begin(&mut self, now: Nanos) {
        if self.go_on() {
            *self = Waits { by: [0; COUNT], until: now };
        }
    }

    /// Nobody will ask: nothing is accounted for any more.
    pub(crate) fn stop(&mut self) {
        *self = Waits { by: [0; COUNT], until: Nanos::MAX };
    }

    /// Whether anything is accounted for.
    #[inline]
    pub(crate) fn go_on(&self) -> bool {
        self.until != Nanos::MAX
    }

    #[inline]
    pub(crate) fn until(&self) -> Nanos {
        self.until
    }

    /// The time up to `to` went to this; nothing where all of it went to something else.
    #[inline]
    pub(crate) fn spend(&mut self, to: Nanos, cause: Cause) {
        if to > self.until {
            self.by[cause as usize] += to.0 - self.until.0;
            self.until = to;
        }
    }

    /// It is done. What was waited for longer than that is nobody's.
    #[inline]
    pub(crate) fn end(&mut self, done: Nanos) {
        self.spend(done, Cause::Own);
        if self.until > done && self.go_on() {
            self.cut(self.until.0 - done.0);
        }
    }

    #[cold]
    fn cut(&mut self, mut over: u64) {
        for ns in &mut self.by {
            let part = over.min(*ns);
            *ns -= part;
            over -= part;
        }
    }

    /// Of what went to one so many permille stay there; the rest goes to the other.
    #[cold]
    pub(crate) fn leave(&mut self, permille: u32, from: Cause, to: Cause) {
        let all = self.by[from as usize];
        let stays = (all as u128 * permille as u128 / 1000) as u64;
        self.by[from as usize] = stays;
        self.by[to as usize] += all - stays;
    }

    /// So much more, if any.
    #[inline]
    pub(crate) fn add(&mut self, to: Nanos, from: Nanos, cause: Cause) {
        self.by[cause as usize] += to.0.saturating_sub(from.0);
    }

    /// What is long ago counts less.
    #[inline]
    pub(crate) fn fade(&mut self) {
        for ns in &mut self.by {
            *ns -= *ns / 16;
        }
    }

    /// The time up to `to` is shared as others are.
    pub(crate) fn spend_as(&mut self, to: Nanos, shares: &[u64; COUNT]) {
        if to > self.until {
            self.share(to.0 - self.until.0, shares);
            self.until = to;
        }
    }

    /// A length of time more, shared as others are.
    pub(crate) fn share(&mut self, ns: u64, shares: &[u64; COUNT]) {
        let all: u128 = shares.iter().map(|&part| part as u128).sum();
        let mut left = ns;
        for (mine, &part) in self.by.iter_mut().zip(shares) {
            let share = (ns as u128 * part as u128).checked_div(all).unwrap_or(0) as u64;
            *mine += share;
            left -= share;
        }
        self.by[Cause::Own as usize] += left;
    }

    /// Nanoseconds by [`Cause`].
    #[inline]
    pub fn by(&self) -> &[u64; COUNT] {
        &self.by
    }
}
