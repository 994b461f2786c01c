//! Data that age: from a time on they are read in several tries, and rewritten while the host is silent where the firmware
//! does that (docs/model.md, "Data that age").
//!
//! ```text
//!   tries   4                                            ________
//!           3                         __________________|
//!           2            ____________|
//!           1  _________|            |                  |
//!           written     retention    retention x growth | retention x growth^2     age
//! ```

use super::superblocks::{State, Superblock, Superblocks};
use super::Ftl;
use crate::config::{CellMode, Config, Wear};
use crate::consistency::{ensure, Consistency};
use crate::nand::Nand;
use crate::units::Nanos;

/// How many times as fast as in new cells data age in cells at the end of their life, less one: bit errors grow with
/// cycles^0.14 and time^0.54 (where that was read: docs/model.md), so time counts 1000^0.26 = 6 times at 1000 cycles.
const WEAR_GAIN: u128 = 5;

/// What is counted of the time in which a drive is switched off: 36 years, half of what is read from a file.
const MAX_OFF: Nanos = Nanos(1 << 60);

/// What a profile says of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Law {
    /// Age at which the first read has to be tried again, by [`CellMode`].
    retention: [Option<Nanos>; 3],
    growth_permille: u32,
    max_retries: u32,
    /// Age that a read of a block adds to the data in it.
    read_disturb: Nanos,
    refresh: Option<Nanos>,
    wear: Option<Wear>,
    dies: u32,
}

impl Law {
    fn new(config: &Config) -> Law {
        let nand = &config.nand;
        Law {
            retention: [CellMode::Slc, CellMode::Mlc, CellMode::Native].map(|mode| nand.timing(mode).retention),
            growth_permille: nand.retry_growth_permille,
            max_retries: nand.retries,
            read_disturb: nand.read_disturb,
            refresh: config.ftl.refresh,
            wear: config.wear,
            dies: nand.dies,
        }
    }

    /// Whether data age at all.
    fn is_active(&self) -> bool {
        self.refresh.is_some() || self.retention.iter().any(Option::is_some)
    }

    /// Cycles that cells stand in a mode, and those that these had: time counts (stands + 5 had) / stands times.
    fn wear(&self, block: &Superblock) -> (u128, u128) {
        let Some(wear) = self.wear else { return (1, 0) };
        match block.mode {
            CellMode::Slc => (wear.slc_cycles as u128, block.slc_erases as u128),
            CellMode::Mlc | CellMode::Native => (wear.native_cycles as u128, block.native_erases as u128),
        }
    }
}

/// The age of what each superblock holds.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct Aging {
    #[serde(skip)]
    law: Law,
    /// What data aged while the drive was switched off.
    off: Nanos,
    /// When each superblock was opened, on a clock that goes on while the drive is switched off.
    opened: Vec<Nanos>,
    /// Reads of the host's since then, by superblock and die; empty where reads disturb nothing.
    reads: Vec<u32>,
    /// A superblock that is being emptied because its data are old.
    refreshed: Option<u32>,
}

impl Aging {
    /// Nothing in it; `None` where data do not age.
    pub fn new(config: &Config) -> Option<Box<Aging>> {
        let law = Law::new(config);
        let superblocks = config.nand.superblocks() as usize;
        let counters = if law.read_disturb > Nanos::ZERO { superblocks * law.dies as usize } else { 0 };
        law.is_active().then(|| {
            let opened = vec![Nanos::ZERO; superblocks];
            Box::new(Aging { law, off: Nanos::ZERO, opened, reads: vec![0; counters], refreshed: None })
        })
    }

    /// What follows from the profile alone and is not in a drive file.
    pub fn describe(&mut self, config: &Config) {
        self.law = Law::new(config);
    }

    /// Whether it is `described` of this drive, of which `victim` is being emptied.
    pub fn check(&self, described: &Aging, victim: Option<u32>) -> Consistency {
        let lengths = |aging: &Aging| (aging.opened.len(), aging.reads.len());
        let possible = self.refreshed.is_none() || self.refreshed == victim;
        ensure(lengths(self) == lengths(described) && possible, "age of data")
    }

    /// The drive was switched off for a time in which data aged by so much.
    pub fn switched_off(&mut self, aged: Nanos) {
        self.off = self.off.saturating_add(aged).min(MAX_OFF);
    }

    /// A superblock takes new data from `at` on.
    pub fn begins(&mut self, superblock: u32, at: Nanos) {
        self.opened[superblock as usize] = at + self.off;
        if let Some(reads) = self.reads_of(superblock) {
            self.reads[reads].fill(0);
        }
    }

    fn reads_of(&self, superblock: u32) -> Option<std::ops::Range<usize>> {
        let dies = self.law.dies as usize;
        let first = superblock as usize * dies;
        (!self.reads.is_empty()).then_some(first..first + dies)
    }

    /// Age that reads of a die's block of it added.
    fn disturbed(&self, superblock: u32, die: u32) -> Nanos {
        let reads = self.reads_of(superblock).map_or(0, |reads| self.reads[reads.start + die as usize]);
        Nanos(self.law.read_disturb.0.saturating_mul(reads as u64))
    }

    /// How often a read of its block on that die is tried.
    pub fn tries(&self, superblock: u32, block: &Superblock, die: u32, at: Nanos) -> u64 {
        let Some(mut next) = self.law.retention[block.mode as usize].map(|first| first.0 as u128) else {
            return 1;
        };
        let age = (at + self.off).saturating_sub(self.opened[superblock as usize]);
        let age = age.saturating_add(self.disturbed(superblock, die)).0 as u128;
        let (stands, had) = self.law.wear(block);
        let age = age * (stands + WEAR_GAIN * had) / stands;
        let mut retries = 0;
        while retries < self.law.max_retries && age >= next {
            retries += 1;
            next = (next * self.law.growth_permille as u128 / 1000).min(u64::MAX as u128);
        }
        1 + retries as u64
    }

    /// As `tries`, of a read of the host's, which disturbs the others of the block.
    pub fn read(&mut self, superblock: u32, block: &Superblock, die: u32, at: Nanos) -> u64 {
        let tries = self.tries(superblock, block, die, at);
        if let Some(reads) = self.reads_of(superblock) {
            let reads = &mut self.reads[reads.start + die as usize];
            *reads = reads.saturating_add(1);
        }
        tries
    }

    /// When the firmware rewrites what it holds, of data that may be as old as `limit`.
    fn refresh_at(&self, limit: Nanos, superblock: u32, block: &Superblock) -> Nanos {
        let (stands, had) = self.law.wear(block);
        let age = (limit.0 as u128 * stands).div_ceil(stands + WEAR_GAIN * had) as u64;
        let disturbed = (0..self.law.dies).map(|die| self.disturbed(superblock, die)).max();
        let age = Nanos(age).saturating_sub(disturbed.unwrap_or_default());
        self.opened[superblock as usize].saturating_add(age).saturating_sub(self.off)
    }

    /// The superblock whose data are to be rewritten next, and when; one that was begun goes on at once.
    fn next_refresh(&self, superblocks: &Superblocks) -> Option<(Nanos, u32)> {
        let limit = self.law.refresh?;
        if let Some(begun) = self.refreshed {
            return Some((Nanos::ZERO, begun));
        }
        let holds = |block: &Superblock| block.state == State::Closed && block.valid > 0;
        let due = superblocks.iter().filter(|(_, block)| holds(block));
        due.map(|(index, block)| (self.refresh_at(limit, index, block), index)).min()
    }
}

impl Ftl {
    /// When the next data are old enough to be rewritten; `None`: never.
    pub(super) fn next_refresh(&self) -> Option<(Nanos, u32)> {
        self.aging.as_ref()?.next_refresh(&self.superblocks)
    }

    /// Whether data are being moved for no other reason than their age.
    #[inline]
    pub(super) fn is_refreshing(&self) -> bool {
        self.aging.as_ref().is_some_and(|aging| aging.refreshed.is_some())
    }

    /// Move a unit of old data into fresh cells, once a victim that was begun before is empty; returns how many pages were
    /// moved.
    pub(super) fn refresh(&mut self, nand: &mut Nand, at: Nanos, superblock: u32) -> u32 {
        if !self.relocation.has_victim() {
            self.take_victim(superblock);
            self.aging.as_mut().expect("data age").refreshed = Some(superblock);
        }
        self.relocate_unit(nand, at)
    }

    /// All that was still to be rewritten has been written anew by the host.
    pub(super) fn end_dead_refresh(&mut self) {
        let refreshed = self.aging.as_ref().and_then(|aging| aging.refreshed);
        if refreshed.is_some_and(|superblock| self.superblocks.get(superblock).valid == 0) {
            self.abandon_refresh();
        }
    }

    /// The host needs space, and what is being rewritten gives none: the rest of it waits.
    pub(super) fn abandon_refresh(&mut self) {
        let refreshed = self.aging.as_mut().and_then(|aging| aging.refreshed.take());
        let Some(superblock) = refreshed else { return };
        self.relocation.abandon_victim();
        if self.superblocks.get(superblock).valid == 0 {
            self.release_or_keep(superblock);
        }
    }

    /// The victim has been emptied, whatever for.
    pub(super) fn end_refresh(&mut self) {
        if let Some(aging) = &mut self.aging {
            aging.refreshed = None;
        }
    }
}
