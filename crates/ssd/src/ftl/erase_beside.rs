//! Erasing beside the host's writes: for so much host data the next free superblock that holds old data is erased, plane
//! after plane. A drive that was formatted, and has yet to erase every block, so starts slowly.

use super::Ftl;
use crate::config::Config;
use crate::consistency::{ensure, Consistency};
use crate::nand::Nand;
use crate::units::Nanos;

/// How far host writes have come towards the next erase.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
pub struct EraseBeside {
    /// Pages of host data for each superblock. 0: none is erased beside them.
    every: u32,
    /// Pages programmed since the last.
    since: u32,
    planes: u32,
}

impl EraseBeside {
    pub fn new(config: &Config) -> EraseBeside {
        let every = config.nand.map_unit.needed(config.ftl.erase_every_bytes) as u32;
        EraseBeside { every, since: 0, planes: config.nand.planes }
    }

    /// Between requests none is due.
    pub fn check(&self, config: &Config) -> Consistency {
        let new = EraseBeside::new(config);
        ensure((self.every, self.planes) == (new.every, new.planes) && self.since < self.every.max(1), "erasing")
    }
}

impl Ftl {
    /// Whether host units grant erases.
    #[inline]
    pub(super) fn erases_beside(&self) -> bool {
        self.erasing.every > 0 && self.superblocks.are_to_erase()
    }

    /// Erase what the host unit just programmed grants.
    pub(super) fn erase_beside(&mut self, nand: &mut Nand, at: Nanos) {
        if !self.erases_beside() {
            return;
        }
        self.erasing.since += self.host.as_ref().expect("a host unit was programmed").unit_pages;
        while self.erasing.since >= self.erasing.every {
            self.erasing.since -= self.erasing.every;
            let next = self.superblocks.free_to_erase().next();
            if let Some(mode) = next.and_then(|superblock| self.superblocks.erase(superblock)) {
                (0..self.erasing.planes).for_each(|_| nand.erase_superblock(at, mode));
            }
        }
    }
}
