//! What the drive does while the host is silent: it folds the cache, and then erases what is free, so that the host's next
//! superblocks need not be erased before they are programmed.
//!
//! ```text
//!   last request    idle.threshold                             next request
//!        |----------------|-- fold --|-- fold --|-- erase --|-- erase --|
//! ```

use super::Ftl;
use crate::config::Idle;
use crate::nand::Nand;
use crate::units::Nanos;

/// How far background work has come.
#[derive(Clone, Copy)]
enum Progress {
    /// Nothing is left to do; the last of it was begun then.
    Done(Nanos),
    /// Time ended first.
    Interrupted,
}

impl Ftl {
    /// Work in the background while the host has been silent since `since`, up to `until`. Returns when the last of it was
    /// begun, `until` where more is left, and `since` where there was none.
    pub fn background(&mut self, nand: &mut Nand, since: Nanos, until: Nanos) -> Nanos {
        let Some(idle) = self.config.idle else { return since };
        // A policy that never folds in the background erases there all the same.
        let start = since + self.idle_start.unwrap_or(idle.threshold);
        if until <= start {
            return since;
        }
        let mut progress = Progress::Done(since);
        if self.idle_start.is_some() {
            progress = self.fold_in_background(nand, &idle, since, start, until);
        }
        if let Progress::Done(worked) = progress {
            progress = self.erase_ahead(nand, worked, start, until);
        }
        match progress {
            Progress::Done(worked) => worked,
            Progress::Interrupted => until,
        }
    }

    /// Fold from `start` on until only the residue is left.
    fn fold_in_background(
        &mut self,
        nand: &mut Nand,
        idle: &Idle,
        since: Nanos,
        start: Nanos,
        until: Nanos,
    ) -> Progress {
        self.exhausted = false;
        self.release_kept();
        let residue = self.unit().whole(idle.residue_bytes);
        let (mut worked, mut at) = (since, start);
        let progress = loop {
            at = at.max(self.relocation.next_start(nand, start));
            if at >= until {
                break Progress::Interrupted;
            }
            nand.forget_before(at);
            let folded = self.pages.folded;
            let moved = if self.pages.slc_valid > residue { self.fold(nand, at) } else { None };
            let Some(moved) = moved else {
                self.program_relocated(nand, at);
                break Progress::Done(worked);
            };
            worked = at;
            self.pages.idle_folded += self.pages.folded - folded;
            if let Some(rate) = idle.rate_bytes_per_s {
                self.relocation
                    .pause_until(at + Nanos(self.unit().bytes(moved as u64) * 1_000_000_000 / rate));
            }
        };
        self.decide_throttle();
        progress
    }

    /// Erase free superblocks, one at a time, once the dies have nothing else to do: a host that comes back waits for one
    /// erase at most.
    fn erase_ahead(&mut self, nand: &mut Nand, mut worked: Nanos, start: Nanos, until: Nanos) -> Progress {
        for superblock in self.superblocks.free_to_erase().collect::<Vec<u32>>() {
            let at = start.max(nand.free_at());
            if at >= until {
                return Progress::Interrupted;
            }
            nand.forget_before(at);
            if let Some(mode) = self.superblocks.erase(superblock) {
                nand.erase_superblock(at, mode);
                worked = at;
            }
        }
        Progress::Done(worked)
    }
}
