//! Where a physical page is. A superblock is filled unit by unit, and units go round the dies:
//!
//! ```text
//!   unit     0      1     ...   D-1     D     ...
//!   die      0      1     ...   D-1     0     ...      (die d is on channel d mod channels)
//! ```
//!
//! A unit is what one program writes: a multi-plane page (a page of every plane), times the bits
//! per cell in its mode. A superblock that was switched has the units of the cache first, and then as many
//! that hold the bits above those of the first.

use crate::cell_mode::CellMode;
use crate::config::{CacheMode, Config};
use crate::units::{MapUnit, Ppn};

/// A number to divide by, as a multiplication: (n + 1) times the reciprocal rounded down to 64 bits is exact for every
/// 32-bit n. With d * r = 2^64 - 1 - rest and n = q * d + s, (n + 1) * r / 2^64 is q + (s + 1) / d less
/// (n + 1) * (rest + 1) / (d * 2^64): at least q since the product is 2^64 at most, and less than q + 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
struct Divisor {
    by: u32,
    reciprocal: u64,
}

impl Divisor {
    fn new(by: u32) -> Divisor {
        Divisor { by, reciprocal: u64::MAX / by as u64 }
    }

    /// Quotient and remainder.
    #[inline]
    fn split(&self, number: u32) -> (u32, u32) {
        let quotient = ((self.reciprocal as u128 * (number as u128 + 1)) >> 64) as u32;
        (quotient, number - quotient * self.by)
    }
}

#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Geometry {
    /// Mode of everything that is not cache: native, or pSLC on a drive that runs so as a whole.
    pub main: CellMode,
    /// Bytes of a page.
    pub unit: MapUnit,
    /// Physical page numbers a superblock takes: its pages in the main mode.
    pub stride: u32,
    pub slc_pages: u32,
    /// None where it is not known how long they take.
    pub mlc_pages: u32,
    /// How cells of the dynamic cache are used.
    pub dynamic: CellMode,
    pub multi_plane_pages: u32,
    pub slc_unit: u32,
    pub native_unit: u32,
    /// What a program adds to cells of the dynamic cache.
    pub upper_unit: u32,
    pub dies: u32,
    by_stride: Divisor,
    by_multi_plane: Divisor,
    by_bits: Divisor,
    by_upper_bits: Divisor,
    by_dies: Divisor,
}

/// Where in its superblock a page is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageAddress {
    /// Program unit in the superblock.
    pub unit: u32,
    pub die: u32,
    /// Pages of its multi-plane page before this one.
    pub column: u32,
    /// Pages from this one to the end of its multi-plane page.
    pub rest: u32,
}

impl Geometry {
    pub fn new(config: &Config) -> Geometry {
        let nand = &config.nand;
        let main = match config.cache.mode {
            CacheMode::PureSlc => CellMode::Slc,
            _ => CellMode::Native,
        };
        let dynamic = config.cache.dynamic_cells();
        let upper_bits = nand.bits_per_cell - nand.bits(dynamic);
        Geometry {
            main,
            unit: nand.map_unit,
            stride: nand.superblock_pages(main) as u32,
            slc_pages: nand.superblock_pages(CellMode::Slc) as u32,
            mlc_pages: nand.mlc.map_or(0, |_| nand.superblock_pages(CellMode::Mlc) as u32),
            dynamic,
            multi_plane_pages: nand.multi_plane_pages(),
            slc_unit: nand.multi_plane_pages(),
            native_unit: nand.multi_plane_pages() * nand.bits_per_cell,
            upper_unit: nand.multi_plane_pages() * upper_bits,
            dies: nand.dies,
            by_stride: Divisor::new(nand.superblock_pages(main) as u32),
            by_multi_plane: Divisor::new(nand.multi_plane_pages()),
            by_bits: Divisor::new(nand.bits_per_cell),
            // One bit a cell leaves nothing to be switched to.
            by_upper_bits: Divisor::new(upper_bits.max(1)),
            by_dies: Divisor::new(nand.dies),
        }
    }

    #[inline]
    pub fn unit_pages(&self, mode: CellMode) -> u32 {
        match mode {
            CellMode::Slc => self.slc_unit,
            CellMode::Mlc => 2 * self.slc_unit,
            CellMode::Native => self.native_unit,
        }
    }

    /// Pages of a superblock in that mode.
    #[inline]
    pub fn pages(&self, mode: CellMode) -> u32 {
        match mode {
            CellMode::Slc => self.slc_pages,
            CellMode::Mlc => self.mlc_pages,
            CellMode::Native => self.stride,
        }
    }

    /// The superblock of a page, and how many of its pages come before.
    #[inline]
    pub fn split(&self, page: Ppn) -> (u32, u32) {
        self.by_stride.split(page.0)
    }

    /// Whether superblocks of that mode are cache.
    #[inline]
    pub fn is_cache(&self, mode: CellMode) -> bool {
        mode != CellMode::Native && self.main == CellMode::Native
    }

    #[inline]
    pub fn first_page(&self, superblock: u32) -> Ppn {
        Ppn(superblock * self.stride)
    }

    /// Where a page is, `offset` pages into a superblock of that mode.
    #[inline(always)]
    pub fn address(&self, offset: u32, mode: CellMode) -> PageAddress {
        let (multi_plane, column) = self.by_multi_plane.split(offset);
        let unit = match mode {
            CellMode::Slc => multi_plane,
            CellMode::Mlc => multi_plane / 2,
            CellMode::Native => self.by_bits.split(multi_plane).0,
        };
        let (_, die) = self.by_dies.split(unit);
        PageAddress { unit, die, column, rest: self.multi_plane_pages - column }
    }

    /// Where a page is, `offset` pages into a superblock that was switched.
    pub fn address_in_switched(&self, offset: u32) -> PageAddress {
        let Some(upper) = offset.checked_sub(self.pages(self.dynamic)) else {
            return self.address(offset, self.dynamic);
        };
        let (multi_plane, column) = self.by_multi_plane.split(upper);
        let unit = self.by_upper_bits.split(multi_plane).0;
        let (_, die) = self.by_dies.split(unit);
        PageAddress { unit, die, column, rest: self.multi_plane_pages - column }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn dividing_by_a_reciprocal_is_exact(number in any::<u32>(), by in 1u32.., small in 1u32..5000) {
            for by in [by, small, 1, 2, u32::MAX] {
                for number in [number, by - 1, by, 0, u32::MAX] {
                    prop_assert_eq!(Divisor::new(by).split(number), (number / by, number % by));
                }
            }
        }
    }
}
