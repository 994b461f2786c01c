//! A policy of the cache and a victim rule from outside this crate, which the FTL asks in place of the profile's. They are
//! asked when a superblock is opened or freed, or chosen to be emptied; one that sorts is asked of each write as well.
//!
//! They are no part of the drive's state: a drive that is read from a file has those of its profile.

use std::fmt::Debug;
use std::sync::Arc;

use super::cache::{FoldOrder, HostWrite, Overflow, Space, View, WriteThrottle};
use super::superblocks::Superblock;
use super::victim::VictimRule;
use crate::cell_mode::CellMode;
use crate::units::Nanos;

/// What a policy decides when a superblock is opened or freed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Decision {
    pub throttle: WriteThrottle,
    pub overflow: Overflow,
    pub order: FoldOrder,
}

/// The questions of a policy. Nothing but [`Overflow::Native`] may be answered where [`crate::Config::may_wait`] is false.
pub trait CustomPolicy: Debug + Send + Sync {
    fn decide(&self, view: &View) -> Decision;

    /// Whether `place` is asked of each write, for which [`crate::Config::has_room_to_sort`].
    fn sorts(&self) -> bool;

    fn place(&self, space: &Space, write: &HostWrite) -> CellMode;

    /// Whether `idle_start` looks at the silences so far.
    fn predicts(&self) -> bool;

    fn idle_start(&self, threshold: Nanos, silences: &[Nanos]) -> Option<Nanos>;
}

/// The superblocks of which one is emptied next.
#[derive(Debug)]
pub struct Candidates<'a> {
    pub superblocks: Vec<(u32, &'a Superblock)>,
    /// Pages of one that is full.
    pub full: u32,
    /// Superblocks that were opened so far.
    pub openings: u64,
}

/// A victim rule that empties one superblock after another and frees none.
#[derive(Clone, Copy, Debug)]
pub struct Stuck {
    /// Superblocks it chose since the host's last one was opened, and how many there are.
    pub chosen: u32,
    pub superblocks: u32,
    pub free: u32,
    pub reserve: u32,
    /// Valid pages of the next that it would have chosen from, on average, and of a full one.
    pub valid: u32,
    pub full: u32,
}

pub trait CustomVictimRule: Debug + Send + Sync {
    /// The victim's place among at least one candidate. `None`: it has none, and the greedy rule helps out.
    fn choose(&self, candidates: &Candidates) -> Option<usize>;

    /// More superblocks were emptied than there are, and the host still waits. The greedy rule goes on.
    fn stuck(&self, state: &Stuck);
}

/// What is asked in place of the profile's policy and rule.
#[derive(Clone, Debug, Default)]
pub struct Custom {
    pub policy: Option<Arc<dyn CustomPolicy>>,
    pub victims: Option<Arc<dyn CustomVictimRule>>,
    pub(super) decision: Decision,
    /// Victims since the host's last superblock was opened.
    pub(super) chosen: u32,
}

impl Custom {
    pub fn new(policy: Option<Arc<dyn CustomPolicy>>, victims: Option<Arc<dyn CustomVictimRule>>) -> Custom {
        Custom { policy, victims, ..Custom::default() }
    }
}

impl super::Ftl {
    /// Ask these from now on. A drive that asks already goes on with what was decided: these are copies of its own.
    pub fn set_custom(&mut self, custom: Custom) {
        let before = std::mem::replace(&mut self.custom, custom);
        if before.policy.is_some() || before.victims.is_some() {
            (self.custom.decision, self.custom.chosen) = (before.decision, before.chosen);
            return;
        }
        self.sorts = self.policy_sorts() && self.config.most_bytes() > 0;
        self.idle_start = self.idle_start_after_silences();
        let view = self.view();
        if let Some(policy) = &self.custom.policy {
            // The throttle is decided with the first superblock, as under any policy.
            self.custom.decision = policy.decide(&view);
        }
    }

    pub(super) fn policy_sorts(&self) -> bool {
        match &self.custom.policy {
            Some(policy) => policy.sorts(),
            None => self.config.when_full.sorts(),
        }
    }

    /// How long the host must be silent before the cache is folded; `None`: for ever.
    pub(super) fn idle_start_after_silences(&self) -> Option<Nanos> {
        match (&self.custom.policy, self.config.idle) {
            (Some(policy), Some(idle)) => policy.idle_start(idle.threshold, &self.silences.in_order()),
            _ => super::idle_start(&self.config, &self.silences),
        }
    }

    #[inline]
    pub(super) fn overflow(&self) -> Overflow {
        if self.custom.policy.is_some() {
            self.custom.decision.overflow
        } else {
            self.config.when_full.overflow()
        }
    }

    pub(super) fn fold_order(&self) -> FoldOrder {
        if self.custom.policy.is_some() {
            self.custom.decision.order
        } else {
            self.config.when_full.order()
        }
    }

    pub(super) fn decide_throttle(&mut self) {
        let view = self.view();
        self.throttle = match &self.custom.policy {
            None => self.config.when_full.throttle(&view),
            Some(policy) => {
                self.custom.decision = policy.decide(&view);
                self.custom.decision.throttle
            }
        };
    }

    /// The victim of a rule from outside; the greedy one where it has none, or has been at it for too long.
    pub(super) fn custom_victim(&self, rule: &dyn CustomVictimRule, candidates: Candidates) -> Option<u32> {
        if candidates.superblocks.is_empty() {
            return None;
        }
        let count = self.superblocks.count();
        if self.custom.chosen > count {
            let valid: u64 = candidates.superblocks.iter().map(|(_, block)| block.valid as u64).sum();
            rule.stuck(&Stuck {
                chosen: self.custom.chosen,
                superblocks: count,
                free: self.superblocks.free(),
                reserve: self.reserve,
                valid: (valid / candidates.superblocks.len() as u64) as u32,
                full: candidates.full,
            });
        }
        let place = rule.choose(&candidates);
        let chosen = place.and_then(|place| candidates.superblocks.get(place)).map(|(index, _)| *index);
        let Candidates { superblocks, full, openings } = candidates;
        let superblocks = superblocks.into_iter().map(|(index, block)| (index, block.candidate()));
        chosen.or_else(|| VictimRule::Greedy.choose(superblocks, full, openings))
    }
}
