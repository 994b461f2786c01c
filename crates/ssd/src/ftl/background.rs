//! What the drive does while the host is silent: it folds the cache, rewrites data that are old, collects garbage until
//! `idle.collect` is free, and then erases what is free, so that the host's next superblocks need not be erased before they
//! are programmed.
//!
//! ```text
//!   last request    idle.threshold                                            next request
//!        |----------------|-- fold --|-- refresh --|-- collect --|-- erase --|-- erase --|
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
        let mut from = start;
        loop {
            if let Progress::Done(worked) = progress {
                progress = self.refresh_in_background(nand, &idle, worked, from, until);
            }
            if let Progress::Done(worked) = progress {
                progress = self.collect_in_background(nand, &idle, worked, from, until);
            }
            if let Progress::Done(worked) = progress {
                progress = self.erase_ahead(nand, worked, from, until);
            }
            match (progress, self.next_refresh()) {
                // More data become old in this silence, or there is room for them now.
                (Progress::Done(_), Some((due, _))) if due < until && (due > from || self.has_room_to_move()) => {
                    from = due.max(nand.horizon());
                }
                (Progress::Done(worked), _) => return worked,
                (Progress::Interrupted, _) => return until,
            }
        }
    }

    /// Move data that are old by then into fresh cells, from `start` on, as long as there is space to begin with.
    fn refresh_in_background(
        &mut self,
        nand: &mut Nand,
        idle: &Idle,
        mut worked: Nanos,
        start: Nanos,
        until: Nanos,
    ) -> Progress {
        if self.aging.is_none() {
            return Progress::Done(worked);
        }
        self.end_dead_refresh();
        let mut at = start.max(nand.horizon());
        while let Some((due, superblock)) = self.next_refresh() {
            at = at.max(self.relocation.next_start(nand, start));
            if due > at || !self.has_room_to_move() {
                break;
            }
            if at >= until {
                return Progress::Interrupted;
            }
            nand.forget_before(at);
            let moved = self.refresh(nand, at, superblock);
            worked = at;
            self.pause_after(idle, at, moved);
        }
        at = at.max(self.relocation.next_start(nand, start));
        if at < until {
            self.program_relocated(nand, at);
        }
        Progress::Done(worked)
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
            self.pause_after(idle, at, moved);
        };
        self.decide_throttle();
        progress
    }

    /// Whether a superblock can be moved though that gives no space; one that was begun can.
    fn has_room_to_move(&self) -> bool {
        self.relocation.has_victim() || self.superblocks.free() > self.reserve
    }

    /// Collect garbage from `start` on until as much is free as the firmware wants.
    fn collect_in_background(
        &mut self,
        nand: &mut Nand,
        idle: &Idle,
        mut worked: Nanos,
        start: Nanos,
        until: Nanos,
    ) -> Progress {
        let wanted = (idle.collect_bytes / self.superblock_bytes(self.geometry.main)) as u32;
        if wanted == 0 {
            return Progress::Done(worked);
        }
        let mut at = start;
        loop {
            // Units of the last one may wait still: they are programmed no sooner than it was moved.
            at = at.max(self.relocation.next_start(nand, start));
            if at >= until {
                return Progress::Interrupted;
            }
            if self.superblocks.free() >= self.reserve + wanted {
                break;
            }
            nand.forget_before(at);
            let Some(moved) = self.reclaim(nand, at) else { break };
            worked = at;
            self.pause_after(idle, at, moved);
        }
        self.program_relocated(nand, at);
        Progress::Done(worked)
    }

    /// Begin the next unit as late as the rate of idle work demands after one of `moved` pages.
    fn pause_after(&mut self, idle: &Idle, at: Nanos, moved: u32) {
        if let Some(rate) = idle.rate_bytes_per_s {
            self.relocation.pause_until(at + Nanos(self.unit().bytes(moved as u64) * 1_000_000_000 / rate));
        }
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
