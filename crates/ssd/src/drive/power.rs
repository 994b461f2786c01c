//! The drive is switched off and on: by the vendor's tool, which sets its cache up anew, or without a word.

use super::Drive;
use crate::config::Config;
use crate::controller::{MapCache, ReadAhead};
use crate::units::Nanos;

impl Drive {
    /// Set the cache up anew, as the vendor's tool does: all data are gone, wear, heat and counters stay. The drive is
    /// switched off and on again for it. `config` is of the same hardware.
    pub fn format(&mut self, config: &Config) {
        let fresh = Drive::new(config);
        self.capacity_bytes = fresh.capacity_bytes;
        let waited = std::mem::replace(&mut self.buffer, fresh.buffer).waited;
        self.buffer.waited = waited;
        self.read_ahead = fresh.read_ahead;
        self.map_cache = fresh.map_cache;
        self.map_pages_to_write = 0;
        self.unflushed = false;
        self.ftl.format(config);
        self.power_cycles += 1;
    }

    /// See [`Ftl::switch_cache`]; `config` is the drive's own.
    pub fn switch_cache(&mut self, config: &Config, on: bool, emptied: bool) {
        self.ftl.switch_cache(config, on, emptied);
    }

    /// Whether what the write buffer holds is in the NAND when the power goes.
    pub fn survives_power_loss(&self) -> bool {
        self.controller.power_loss_protection
    }

    /// The power has gone and come back, and `lost` pages of the write buffer, which the caller has not let it write, are gone.
    pub fn lose_power(&mut self, lost: u32) {
        self.start_again();
        self.unsafe_shutdowns += 1;
        self.lost_pages += lost as u64;
    }

    /// Switched off for a time, in which data age by `aged` at 30 degrees Celsius, and on again. Its clock is of the time in
    /// which it is on. The caller has flushed it.
    pub fn switch_off(&mut self, aged: Nanos) {
        self.start_again();
        if let Some(heat) = &mut self.heat {
            heat.cool_down();
            self.link.set_share(heat.share_permille());
        }
        if let Some(aging) = &mut self.ftl.aging {
            aging.switched_off(aged);
        }
    }

    /// What the controller held of the map and had read ahead is gone.
    fn start_again(&mut self) {
        let (controller, unit) = (&self.controller, self.unit());
        self.map_cache = controller.map.map(|map| MapCache::new(&map, unit.whole(self.capacity_bytes)));
        self.read_ahead =
            (controller.read_ahead_bytes > 0).then(|| ReadAhead::new(unit.whole(controller.read_ahead_bytes) as u32));
        self.map_pages_to_write = 0;
        self.power_cycles += 1;
    }

    /// Times the power went without a word.
    pub fn unsafe_shutdowns(&self) -> u64 {
        self.unsafe_shutdowns
    }

    /// What the write buffer held when the power went, and nothing protected.
    pub fn lost_bytes(&self) -> u64 {
        self.unit().bytes(self.lost_pages)
    }

    /// Times it was switched on.
    pub fn power_cycles(&self) -> u64 {
        self.power_cycles
    }
}
