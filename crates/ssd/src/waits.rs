//! What requests spend their time on: an account that grows with each nanosecond of each request, by cause.
//!
//! ```text
//!   submitted   awake   taken    known      room in the buffer          here
//!       |waking |commands|mapping |folding|direct|folding| link          |
//! ```
//!
//! Waiting for a die is split by what the die does meanwhile. Each nanosecond has one cause, so they add up to the latencies.
//! Room in the write buffer comes when a program ends; who waited for it waited for what all dies were at.

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
        /// The host's processor.
        Processor = "processor",
        /// The host's memory: copies to and from its page cache.
        Memory = "memory",
    }
}

const COUNT: usize = <Cause as Words>::ALL.len();

/// Nanoseconds, or weights, by [`Cause`].
pub type ByCause = [u64; COUNT];

/// The causes up to those of drives, and of them up to those of dies that work for the drive.
const OF_DRIVES: usize = Cause::Commands as usize + 1;
const OF_DIES: usize = Cause::Mapping as usize + 1;

impl Cause {
    /// Whether dies work for it.
    pub fn is_work(self) -> bool {
        (self as usize) < OF_DIES
    }
}

/// Time of all requests so far.
#[derive(Clone, Copy, Debug, Default)]
pub struct Account {
    /// By cause, where that is known at once.
    spent: [u64; OF_DRIVES],
    /// For room in the write buffer, and for programs that a flush waits for.
    waited: u64,
    /// For room that data took which had not come yet: for what those waited for.
    followed: u64,
    /// What the dies were given to do.
    work: [u64; OF_DIES],
}

impl Account {
    /// Time that went to this.
    #[inline(always)]
    pub fn spend(&mut self, cause: Cause, time: Nanos) {
        self.spent[cause as usize] += time.0;
    }

    /// Time that a write or flush waited for programs.
    #[inline(always)]
    pub fn wait(&mut self, time: Nanos) {
        self.waited += time.0;
    }

    /// Time that a write waited for data before it to come.
    #[inline(always)]
    pub fn follow(&mut self, time: Nanos) {
        self.followed += time.0;
    }

    /// A die works for so long.
    #[inline(always)]
    pub fn work(&mut self, cause: Cause, time: Nanos) {
        self.work[cause as usize] += time.0;
    }

    fn zip(&self, other: &Account, of: impl Fn(u64, u64) -> u64) -> Account {
        Account {
            spent: std::array::from_fn(|at| of(self.spent[at], other.spent[at])),
            waited: of(self.waited, other.waited),
            followed: of(self.followed, other.followed),
            work: std::array::from_fn(|at| of(self.work[at], other.work[at])),
        }
    }

    /// What came since `before`.
    pub fn since(&self, before: &Account) -> Account {
        self.zip(before, |now, before| now - before)
    }

    /// With so many times another.
    pub fn plus(&self, other: &Account, times: u64) -> Account {
        self.zip(other, |sum, more| sum + more * times)
    }
}

/// Adds a time to others, in proportion to weights; all of it to [`Cause::Own`] where there are none.
fn share(by: &mut ByCause, ns: u64, weights: &[u64]) {
    let all: u64 = weights.iter().sum();
    if all == 0 {
        by[Cause::Own as usize] += ns;
        return;
    }
    // A factor of 32 bits and one for what is beyond them: no product of a part overflows.
    let shift = (64 - all.leading_zeros()).saturating_sub(32);
    let factor = ((ns as u128) << 32) / (all >> shift).max(1) as u128;
    let (mut left, mut largest) = (ns, 0);
    for (at, &part) in weights.iter().enumerate() {
        let share = (((part >> shift) as u128 * factor) >> 32) as u64;
        let share = share.min(left);
        by[at] += share;
        left -= share;
        largest = if part > weights[largest] { at } else { largest };
    }
    by[largest] += left;
}

/// Time by cause, of an account that goes on: by what was waited for since it was last looked at.
#[derive(Clone, Debug, Default)]
pub struct Waits {
    by: ByCause,
    last: Account,
    /// What dies did when they were waited for last.
    recent: [u64; OF_DIES],
}

impl Waits {
    /// How many causes there are.
    pub const COUNT: usize = COUNT;

    /// Look at the account anew, and tell what came since the last time. Of the link's time `cold_permille` would have been
    /// needed without heat. Of what dies did before, `kept` sixteenths count still.
    pub(crate) fn look(&mut self, account: &Account, cold_permille: u32, kept: u64) {
        self.by = ByCause::default();
        for (cause, ns) in self.by.iter_mut().enumerate().take(OF_DRIVES) {
            *ns = account.spent[cause] - self.last.spent[cause];
        }
        let (waited, followed) = (account.waited - self.last.waited, account.followed - self.last.followed);
        if kept == 0 || waited + followed > 0 {
            let works = account.work != self.last.work;
            for (cause, ns) in self.recent.iter_mut().enumerate().take(if works { OF_DIES } else { 0 }) {
                *ns = *ns / 16 * kept + account.work[cause] - self.last.work[cause];
            }
            self.last.work = account.work;
        }
        if waited + followed > 0 {
            // Those that were followed waited for room as well, and for the link.
            let link = self.by[Cause::Link as usize];
            let crossed = (followed as u128 * link as u128).checked_div((waited + link) as u128).unwrap_or(0) as u64;
            self.by[Cause::Link as usize] += crossed;
            share(&mut self.by, waited + followed - crossed, &self.recent);
        }
        if cold_permille < 1000 {
            let link = self.by[Cause::Link as usize];
            let cold = (link as u128 * cold_permille as u128 / 1000) as u64;
            self.by[Cause::Link as usize] = cold;
            self.by[Cause::Heat as usize] += link - cold;
        }
        (self.last.spent, self.last.waited, self.last.followed) = (account.spent, account.waited, account.followed);
    }

    /// What dies did until now counts no more.
    pub(crate) fn forget_work(&mut self) {
        self.recent = Default::default();
    }

    /// More time, of what the rest goes to.
    pub(crate) fn add_alike(&mut self, ns: u64, weights: &ByCause) {
        share(&mut self.by, ns, weights);
    }

    /// More time that went to this.
    pub(crate) fn add(&mut self, cause: Cause, time: Nanos) {
        self.by[cause as usize] += time.0;
    }

    /// The sum.
    pub(crate) fn total(&self) -> u64 {
        self.by.iter().sum()
    }

    /// Nanoseconds by [`Cause`].
    #[inline]
    pub fn by(&self) -> &ByCause {
        &self.by
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_writes_waited_for_room_is_shared_as_the_dies_were_at_work() {
        let mut account = Account::default();
        account.spend(Cause::Link, Nanos(10));
        account.wait(Nanos(101));
        account.work(Cause::Folding, Nanos(300));
        account.work(Cause::Direct, Nanos(100));
        let mut waits = Waits::default();
        waits.look(&account, 1000, 0);
        let by = *waits.by();
        assert_eq!((by[Cause::Folding as usize], by[Cause::Direct as usize]), (76, 25));
        assert_eq!(by.iter().sum::<u64>(), 111);
        account.spend(Cause::Link, Nanos(10));
        waits.look(&account, 300, 0);
        let by = *waits.by();
        assert_eq!((by[Cause::Link as usize], by[Cause::Heat as usize]), (3, 7));
    }
}
