//! Whether a translation layer that was read from a file is one that requests can have led to.

use std::ops::Range;

use super::aging::Aging;
use super::geometry::Geometry;
use super::page_map::PageMap;
use super::relocation::Relocation;
use super::superblocks::{State, Writer};
use super::{idle_start, sorts, watermarks, Ftl};
use crate::config::Config;
use crate::consistency::{ensure, ensure_counters, Consistency, Inconsistent};
use crate::nand::Nand;
use crate::processors::share;
use crate::units::{Lpn, Ppn};

/// What a superblock holds by the maps.
#[derive(Clone, Copy)]
struct Holds {
    valid: u32,
    /// Pages before the first, and before the end of the last of them.
    first: u32,
    end: u32,
}

impl Ftl {
    pub fn check(&self, config: &Config, nand: &Nand) -> Consistency {
        let cache = &config.cache;
        ensure(
            self.geometry == Geometry::new(config)
                && self.config == *cache
                && (self.reserve, self.fold_below, self.fold_batch) == watermarks(config)
                && self.capacity_pages == self.unit().whole(config.capacity_bytes)
                && self.gc_rule == config.ftl.gc
                && self.worn_after == config.cache_erases()
                && self.sorts == sorts(cache)
                && self.idle_start == idle_start(cache, &self.silences),
            "FTL",
        )?;
        self.silences.check()?;
        self.runs.check()?;
        self.credits.check()?;
        self.erasing.check(config)?;
        self.check_counts()?;
        let (count, set_aside) = (config.nand.superblocks(), config.static_superblocks() as u32);
        self.superblocks.check(count, set_aside, self.host_pages(), &self.geometry)?;
        ensure(self.dead.is_empty() && self.kept.iter().all(|index| *index < count), "superblocks")?;
        self.check_pointers()?;
        self.relocation.check(&Relocation::new(config), &self.geometry, &self.superblocks, nand)?;
        match (&self.aging, Aging::new(config)) {
            (Some(aging), Some(described)) => aging.check(&described, self.relocation.victim())?,
            (aging, described) => ensure(aging.is_some() == described.is_some(), "age of data")?,
        }
        self.check_maps(count)
    }

    /// Pages of host data in the units that are being filled.
    pub fn filling_pages(&self) -> u32 {
        [&self.host, &self.other].into_iter().flatten().map(|pointer| pointer.filling()).sum()
    }

    fn check_counts(&self) -> Consistency {
        let pages = &self.pages;
        let counted = [
            pages.host_to_slc,
            pages.host_to_native,
            pages.folded,
            pages.idle_folded,
            pages.collected,
            pages.died_in_slc,
            pages.slc_programmed,
            pages.native_programmed,
            self.host_units,
        ];
        // They are shown as bytes.
        let bytes = counted.map(|pages| pages.saturating_mul(self.unit().size()));
        ensure_counters(&bytes, "counters")
    }

    /// Each open superblock is filled by one write pointer.
    fn check_pointers(&self) -> Consistency {
        let of_host = [&self.host, &self.other];
        for pointer in of_host.into_iter().flatten() {
            pointer.check(&self.geometry, &self.superblocks, Writer::Host)?;
        }
        ensure(self.sorts || self.other.is_none(), "write pointers")?;
        let pointers = of_host.into_iter().flatten().chain(self.relocation.pointer());
        let mut filled: Vec<u32> = pointers.map(|pointer| pointer.superblock).collect();
        filled.sort_unstable();
        let open = self.superblocks.iter().filter(|(_, block)| block.state == State::Open);
        ensure(filled == open.map(|(index, _)| index).collect::<Vec<u32>>(), "write pointers")
    }

    /// The two maps are inverse, and superblocks hold what they say, where it can have been written.
    fn check_maps(&self, count: u32) -> Consistency {
        let (logical, physical) = (self.capacity_pages as u32, count * self.geometry.stride);
        ensure(self.l2p.has_keys(logical) && self.p2l.has_keys(physical), "page maps")?;
        ensure(self.l2p.values_are_below(physical) && self.p2l.values_are_below(logical), "page maps")?;
        let holds = self.superblocks_by_maps(count)?;
        let (mut mapped, mut in_cache) = (0, 0);
        for ((_, block), holds) in self.superblocks.iter().zip(&holds) {
            ensure(block.valid == holds.valid, "count of valid pages")?;
            mapped += holds.valid as u64;
            in_cache += if self.geometry.is_cache(block.mode) { holds.valid as u64 } else { 0 };
        }
        ensure((self.pages.mapped, self.pages.slc_valid) == (mapped, in_cache), "count of valid pages")?;
        let pointers = [&self.host, &self.other].into_iter().flatten().chain(self.relocation.pointer());
        let mut written: Vec<u32> = self.superblocks.iter().map(|(_, block)| self.geometry.pages(block.mode)).collect();
        pointers.for_each(|pointer| written[pointer.superblock as usize] = pointer.given);
        ensure(holds.iter().zip(written).all(|(holds, written)| holds.end <= written), "page maps")?;
        let moved = self.relocation.emptied().is_none_or(|(index, next)| next <= holds[index as usize].first);
        ensure(moved, "victim")
    }

    /// What the maps say that each superblock holds. Each processor looks at a share of them.
    fn superblocks_by_maps(&self, count: u32) -> Result<Vec<Holds>, Inconsistent> {
        let pages = self.capacity_pages as u32;
        let part = (share(pages as usize * 4) / 4) as u32;
        let ranges = (0..pages).step_by(part.max(1) as usize).map(|from| from..pages.min(from.saturating_add(part)));
        let none = vec![Holds { valid: 0, first: u32::MAX, end: 0 }; count as usize];
        std::thread::scope(|scope| {
            let parts: Vec<_> = ranges
                .map(|range| {
                    let mut holds = none.clone();
                    scope.spawn(move || self.add_range(range, &mut holds).map(|()| holds))
                })
                .collect();
            let mut sum = none.clone();
            for part in parts {
                for (sum, part) in sum.iter_mut().zip(part.join().expect("it only looks")?) {
                    sum.valid += part.valid;
                    sum.first = sum.first.min(part.first);
                    sum.end = sum.end.max(part.end);
                }
            }
            Ok(sum)
        })
    }

    fn add_range(&self, range: Range<u32>, holds: &mut [Holds]) -> Consistency {
        let (mut page, end) = (Lpn(range.start), Lpn(range.end));
        while page < end {
            let scattered = self.add_scattered(page, end - page, holds)?;
            if scattered > 0 {
                page += scattered;
                continue;
            }
            let (at, run) = self.l2p.run(page, end - page);
            if at != Ppn::NONE {
                ensure(maps_back(&self.p2l, at, page, run), "page maps")?;
                self.add_run(at, run, holds);
            }
            page += run;
        }
        Ok(())
    }

    /// The same for up to `limit` pages from `page` on that are mapped one by one; returns how many they are.
    fn add_scattered(&self, page: Lpn, limit: u32, holds: &mut [Holds]) -> Result<u32, Inconsistent> {
        let values = self.l2p.dense_values(page, limit);
        values.clone().filter(|at| *at != Ppn::NONE).for_each(|at| self.p2l.prefetch(at));
        let mut count = 0;
        for at in values {
            if at != Ppn::NONE {
                ensure(self.p2l.get(at) == page + count, "page maps")?;
                self.add_run(at, 1, holds);
            }
            count += 1;
        }
        Ok(count)
    }

    /// A run may cross from one superblock to the next.
    fn add_run(&self, mut at: Ppn, mut run: u32, holds: &mut [Holds]) {
        while run > 0 {
            let (superblock, offset) = self.geometry.split(at);
            let part = run.min(self.geometry.stride - offset);
            let holds = &mut holds[superblock as usize];
            holds.valid += part;
            holds.first = holds.first.min(offset);
            holds.end = holds.end.max(offset + part);
            at += part;
            run -= part;
        }
    }
}

/// Whether `run` physical pages from `at` on are mapped to the logical ones from `page` on.
#[inline]
fn maps_back(p2l: &PageMap<Ppn, Lpn>, mut at: Ppn, mut page: Lpn, mut run: u32) -> bool {
    while run > 0 {
        let (back, part) = p2l.run(at, run);
        if back != page {
            return false;
        }
        at += part;
        page += part;
        run -= part;
    }
    true
}
