//! Which superblock is emptied next. Garbage collection wants space at the least cost and takes the rule that the
//! profile names (`ftl.gc`); folding wants the oldest data out of the cache and takes them first in, first out.

use crate::words::words;

words! {
    /// Which of the closed superblocks becomes the victim.
    pub enum VictimRule {
        /// The one with the fewest valid pages; the oldest of those.
        Greedy = "greedy",
        /// The one with the most (1 - u) * age / 2u: Rosenblum and Ousterhout's cost-benefit, whose cost of 1 + u (they read
        /// whole segments) is 2u where only valid pages are read and written.
        CostBenefit = "cost-benefit",
        /// The one that was opened first.
        Fifo = "fifo",
    }
}

impl VictimRule {
    /// The victim among `candidates`, by its index. A superblock holds `full` pages; there were `openings` so far.
    #[inline]
    pub fn choose(self, candidates: impl Iterator<Item = (u32, Candidate)>, full: u32, openings: u64) -> Option<u32> {
        let victim = match self {
            VictimRule::Greedy => candidates.min_by_key(|(_, block)| (block.valid, block.opened)),
            VictimRule::CostBenefit => candidates.max_by(|(_, a), (_, b)| {
                // benefit / cost = (1 - u) * age / 2u, compared by cross multiplication.
                let gain = |valid: u32, opened: u64| (full - valid) as u128 * (openings - opened + 1) as u128;
                let left = gain(a.valid, a.opened) * b.valid as u128;
                let right = gain(b.valid, b.opened) * a.valid as u128;
                left.cmp(&right).then(b.opened.cmp(&a.opened))
            }),
            VictimRule::Fifo => candidates.min_by_key(|(_, block)| block.opened),
        };
        victim.map(|(index, _)| index)
    }
}

/// A closed superblock, as the rules see it.
#[derive(Clone, Copy, Debug)]
pub struct Candidate {
    /// Pages with the newest copy of something.
    pub valid: u32,
    /// When it was opened, as a number over all openings.
    pub opened: u64,
}
