//! Whether a drive that was read from a file is one that requests can have led to.

use super::Drive;
use crate::cell_mode::CellMode;
use crate::config::Config;
use crate::consistency::{ensure, ensure_counters, Consistency};
use crate::thermal::Thermal;
use crate::units::{Lpn, Nanos};

/// How long after the drive was last asked or looked at the clock of who has it may stand, in what is read from a file.
const MAX_UNSEEN: Nanos = Nanos::from_secs(24 * 3600);

impl Drive {
    /// What follows from the profile alone and is not in a drive file.
    pub(crate) fn describe(&mut self, config: &Config) {
        self.ftl.describe(config);
        self.controller.latency = config.controller.latency;
    }

    /// Whether it is this drive, at `now`, in a state that requests can have led to.
    pub(crate) fn check(&self, config: &Config, now: Nanos) -> Consistency {
        let controller = &config.controller;
        ensure(
            self.capacity_bytes == config.capacity_bytes
                && self.controller == *controller
                && self.power == config.power
                && self.usb == config.usb.unwrap_or_default()
                && self.planes == config.nand.dies as u64 * config.nand.planes as u64,
            "controller",
        )?;
        self.cores.check(controller.cores)?;
        self.check_counters()?;
        let idle: u64 = self.idle.iter().map(|time| time.0).sum();
        ensure(now <= self.now.max(self.silent_since) + MAX_UNSEEN && idle <= self.now.0, "clock")?;
        self.check_heat(config)?;
        self.nand.check(config, self.now)?;
        self.check_caches(config)?;
        let buffer = self.unit().whole(controller.write_buffer_bytes) as u32;
        self.ftl.check(config, &self.nand)?;
        self.buffer.check(buffer, config.nand.multi_plane_pages(), self.ftl.filling_pages(), &self.nand)
    }

    fn check_counters(&self) -> Consistency {
        let moved = [self.host_read_bytes, self.host_write_bytes, self.host_trim_bytes];
        let waited = [self.silent.0, self.map_waited.0, self.flush_waited.0, self.waking.spent.0];
        let pages = [self.map_read_pages, self.map_programmed_pages, self.lost_pages];
        let events = [self.power_cycles, self.unsafe_shutdowns];
        ensure_counters(&moved, "counters")?;
        ensure_counters(&waited, "counters")?;
        ensure_counters(&pages.map(|pages| pages.saturating_mul(self.unit().size())), "counters")?;
        ensure_counters(&events, "counters")
    }

    fn check_heat(&self, config: &Config) -> Consistency {
        ensure(self.heat.is_some() == config.heat.is_some(), "temperature")?;
        if let (Some(heat), Some(of)) = (&self.heat, &config.heat) {
            heat.check(of, self.now, self.energy_nj(self.now, Nanos::ZERO))?;
        }
        let share = self.heat.as_ref().map_or(1000, Thermal::share_permille);
        self.link.check(config, share)
    }

    fn check_caches(&self, config: &Config) -> Consistency {
        let controller = &config.controller;
        ensure(self.read_ahead.is_some() == (controller.read_ahead_bytes > 0), "reading ahead")?;
        if let Some(ahead) = &self.read_ahead {
            let end_of_drive = Lpn(self.unit().whole(self.capacity_bytes) as u32);
            ahead.check(self.unit().whole(controller.read_ahead_bytes) as u32, end_of_drive)?;
        }
        ensure(self.map_cache.is_some() == controller.map.is_some(), "map cache")?;
        if let (Some(cache), Some(map)) = (&self.map_cache, &controller.map) {
            cache.check(map, self.unit().whole(self.capacity_bytes))?;
        }
        let unit = self.nand.program_unit(CellMode::Slc, 1000).pages;
        ensure(self.map_pages_to_write < unit, "map cache")
    }
}
