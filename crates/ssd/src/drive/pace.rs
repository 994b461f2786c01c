//! How fast each counter can grow, by what does the work that it counts: the dies, the link, the power supply.

use super::Drive;
use crate::cell_mode::CellMode;

/// The most that something can grow by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    /// In 2^32 nanoseconds.
    growth: u64,
}

impl Pace {
    /// So much in so many nanoseconds.
    pub fn new(amount: u64, ns: u64) -> Pace {
        let growth = ((amount as u128) << 32).div_ceil(ns.max(1) as u128);
        Pace { growth: u64::try_from(growth).unwrap_or(u64::MAX).max(1) }
    }

    /// The most in a time.
    #[inline(always)]
    pub fn within(&self, ns: u64) -> u64 {
        ((ns as u128 * self.growth as u128) >> 32) as u64
    }

    /// The time that it takes at least to grow by so much.
    pub fn time(&self, amount: u64) -> u64 {
        (((amount as u128) << 32) / self.growth as u128) as u64
    }
}

impl Drive {
    /// How fast a counter of [`Drive::COLUMNS`] can grow; `None` of a gauge, and of what no part of the drive bounds.
    pub fn pace(&self, column: &str) -> Option<Pace> {
        let (read, written) = self.link_ceilings();
        let a_second = |amount: u64| Pace::new(amount, 1_000_000_000);
        let pace = match column {
            "host_read_bytes_total" => a_second(read),
            "host_write_bytes_total" => a_second(written),
            "link_read_busy_ns_total" | "link_write_busy_ns_total" => Pace::new(1, 1),
            "die_busy_ns_total" => Pace::new(self.nand.dies() as u64, 1),
            "host_to_slc_bytes_total" | "slc_programmed_bytes_total" | "map_programmed_bytes_total" => {
                self.programs(CellMode::Slc)
            }
            "host_to_native_bytes_total" | "native_programmed_bytes_total" => self.programs(CellMode::Native),
            "folded_bytes_total" | "idle_folded_bytes_total" | "gc_bytes_total" => self.programs(self.ftl.main()),
            "slc_erases_total" | "static_erases_total" => self.erases(CellMode::Slc),
            "native_erases_total" => self.erases(CellMode::Native),
            "energy_nj_total" => self.draws(read + written)?,
            _ => return None,
        };
        Some(pace)
    }

    /// Bytes that all dies program, at the least that relocation takes for each where it goes to these cells.
    fn programs(&self, mode: CellMode) -> Pace {
        let permille = if mode == self.ftl.main() { self.ftl.least_permille().min(1000) } else { 1000 };
        let (pages, time) = self.nand.program_pace(mode, permille);
        Pace::new(self.unit().bytes(pages), time.0)
    }

    /// Blocks that all planes erase.
    fn erases(&self, mode: CellMode) -> Pace {
        Pace::new(self.planes, self.nand.erase_time(mode).0)
    }

    /// Nanojoules, with all dies at what draws most and both directions of the link full.
    fn draws(&self, bytes_per_s: u64) -> Option<Pace> {
        let power = self.power.as_ref()?;
        let die = power.die_read_mw.max(power.die_program_mw).max(power.die_erase_mw);
        // A microwatt for a nanosecond is a femtojoule.
        let work_uw = 1000 * (power.active_mw + self.nand.dies() as u64 * die);
        let data_uw = (power.data_pj_per_byte as u128 * bytes_per_s as u128 / 1_000_000) as u64;
        Some(Pace::new(work_uw + data_uw, 1_000_000))
    }
}
