//! Where a physical page is. A superblock is filled unit by unit, and units go round the dies:
//!
//! ```text
//!   unit     0      1     ...   D-1     D     ...
//!   die      0      1     ...   D-1     0     ...      (die d is on channel d mod channels)
//! ```
//!
//! A unit is what one program writes: a row of every plane, times the bits per cell in native mode.

use crate::config::{CacheMode, CellMode, Config};

#[derive(Clone, Debug)]
pub struct Geometry {
    /// Mode of everything that is not cache: native, or pSLC on a drive that runs so as a whole.
    pub main: CellMode,
    /// Physical page numbers a superblock takes: its pages in the main mode.
    pub stride: u32,
    pub slc_pages: u32,
    pub row_pages: u32,
    pub slc_unit: u32,
    pub native_unit: u32,
    pub dies: u32,
}

/// A place in the NAND.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    pub superblock: u32,
    /// Program unit in the superblock.
    pub unit: u32,
    pub die: u32,
    /// Pages from this one to the end of its row.
    pub row_rest: u32,
}

impl Geometry {
    pub fn new(config: &Config) -> Geometry {
        let nand = &config.nand;
        let main = match config.cache.mode {
            CacheMode::PureSlc => CellMode::Slc,
            _ => CellMode::Native,
        };
        Geometry {
            main,
            stride: nand.superblock_pages(main) as u32,
            slc_pages: nand.superblock_pages(CellMode::Slc) as u32,
            row_pages: nand.row_pages(),
            slc_unit: nand.row_pages(),
            native_unit: nand.row_pages() * nand.bits_per_cell,
            dies: nand.dies,
        }
    }

    #[inline]
    pub fn unit_pages(&self, mode: CellMode) -> u32 {
        match mode {
            CellMode::Slc => self.slc_unit,
            CellMode::Native => self.native_unit,
        }
    }

    /// Pages of a superblock in that mode.
    #[inline]
    pub fn pages(&self, mode: CellMode) -> u32 {
        match mode {
            CellMode::Slc => self.slc_pages,
            CellMode::Native => self.stride,
        }
    }

    #[inline]
    pub fn superblock_of(&self, page: u32) -> u32 {
        page / self.stride
    }

    #[inline]
    pub fn first_page(&self, superblock: u32) -> u32 {
        superblock * self.stride
    }

    /// Where a page is, in a superblock of that mode.
    #[inline]
    pub fn place(&self, page: u32, mode: CellMode) -> Place {
        let superblock = page / self.stride;
        let offset = page - superblock * self.stride;
        let unit = offset / self.unit_pages(mode);
        Place { superblock, unit, die: unit % self.dies, row_rest: self.row_pages - offset % self.row_pages }
    }
}
