//! Where pages are: the controller looks at its map, which may have to be read.

use super::page_range::PageRange;
use super::Drive;
use crate::cell_mode::CellMode;
use crate::controller::{Look, MAPPED_PAGES};
use crate::units::Nanos;
use crate::waits::Cause;

impl Drive {
    /// When the controller knows where these pages are: at once where the whole map is in DRAM.
    #[inline]
    pub(super) fn look_up(&mut self, at: Nanos, pages: PageRange, change: bool) -> Nanos {
        if self.map_cache.is_some() {
            self.look_up_in_cache(at, pages, change)
        } else {
            at
        }
    }

    fn look_up_in_cache(&mut self, at: Nanos, pages: PageRange, change: bool) -> Nanos {
        let Some(cache) = &mut self.map_cache else { return at };
        let mut mapped = at + cache.access;
        let last = pages.first.0 + pages.count.max(1) - 1;
        for segment in pages.first.0 / MAPPED_PAGES..=last / MAPPED_PAGES {
            let Look::Miss { writes } = cache.look(segment, change) else { continue };
            let die = segment % self.nand.dies();
            mapped = mapped.max(self.nand.host_read(at, die, CellMode::Slc, (0, 1), 1).arrived);
            self.map_read_pages += 1;
            self.map_pages_to_write += writes as u32;
            let unit = self.nand.program_unit(CellMode::Slc, 1000);
            if self.map_pages_to_write == unit.pages {
                self.nand.work = Cause::Mapping;
                self.nand.program(at, die, &unit);
                self.map_pages_to_write = 0;
                self.map_programmed_pages += unit.pages as u64;
            }
        }
        mapped
    }
}
