//! The write throttle: each program unit of host data grants credits for relocation, which are spent before the host
//! goes on. So host writes and the space they take stay in step.

use super::cache::WriteThrottle;
use super::Ftl;
use crate::cell_mode::CellMode;
use crate::consistency::{ensure, Consistency};
use crate::nand::Nand;
use crate::units::Nanos;

/// Relocation that host writes have granted and that is still to be done. Negative: done in advance.
#[derive(Clone, Copy, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct Credits {
    /// Pages to move so that superblocks come free as fast as they are opened, in 1/65536.
    space: i64,
    /// Pages to fold so that the cache does not fill up, in 1/65536.
    slots: i64,
    /// Die time to spend on folding, in picoseconds.
    die_time: i64,
}

/// A page, in the unit of credits.
pub const PAGE: i64 = 1 << 16;

/// Native programs that may be spent in advance where folding goes on all the time: one unit, with what it takes beyond its
/// program.
const BESIDE_UNITS: i64 = 4;

/// Credits spent in advance, of what is read from a file.
const MIN_CREDITS: i64 = -(1 << 60);

impl Credits {
    /// Between requests none are left to be spent.
    pub fn check(&self) -> Consistency {
        let spent = [self.space, self.slots, self.die_time];
        ensure(spent.iter().all(|credits| (MIN_CREDITS..=0).contains(credits)), "throttle")
    }

    #[inline]
    fn are_left(&self) -> bool {
        self.space > 0 || self.slots > 0 || self.die_time > 0
    }
}

impl Ftl {
    /// Do as many erases and as much relocation as the host unit just programmed grants. A unit moved spends all kinds of
    /// credit at once; what is spent too much counts for the next.
    #[inline]
    pub(super) fn throttle_host(&mut self, nand: &mut Nand, at: Nanos) {
        self.erase_beside(nand, at);
        if !self.grants_relocation() {
            return;
        }
        self.grant(nand);
        while self.credits.are_left() {
            self.spend(nand, at);
        }
    }

    /// Relocate a unit.
    #[inline(never)]
    fn spend(&mut self, nand: &mut Nand, at: Nanos) {
        let before = nand.busy();
        let moved = if self.credits.space > 0 { self.reclaim(nand, at) } else { self.fold(nand, at) };
        let credits = &mut self.credits;
        match moved {
            Some(moved) => {
                credits.space -= moved as i64 * PAGE;
                credits.slots -= moved.max(1) as i64 * PAGE;
                credits.die_time -= (nand.busy() - before).0 as i64 * 1000;
            }
            None => *credits = Credits::default(),
        }
    }

    /// Add what the host unit just programmed grants to the credits in force, and forget the others.
    fn grant(&mut self, nand: &Nand) {
        let host = self.host.as_ref().expect("a host unit was programmed");
        let (mode, unit, switched) = (host.mode, host.unit_pages as i64, host.switched);
        let short = self.is_short();
        if short {
            let _ = self.begin_gc();
        }
        // Cells that are filled up take no space.
        let price = if switched { 0 } else { self.relocation.moves_per_unit() };
        let credits = &mut self.credits;
        credits.space = if short { credits.space + price } else { 0 };
        credits.slots = match self.throttle {
            WriteThrottle::OneForOne => credits.slots + unit * PAGE,
            WriteThrottle::TwoForOne => credits.slots + 2 * unit * PAGE,
            _ => 0,
        };
        let share = self.config.host_share_permille as u64;
        let granted = || (nand.program_unit(mode, 1000).time.0 * (1000 - share) * 1000 / share) as i64;
        credits.die_time = match self.throttle {
            WriteThrottle::Share => credits.die_time + granted(),
            WriteThrottle::Beside => {
                let unit = nand.program_unit(CellMode::Native, 1000).time.0 as i64 * 1000;
                credits.die_time.max(-BESIDE_UNITS * unit) + granted()
            }
            _ => 0,
        };
    }
}
