//! Memory of a large array as an anonymous mapping: only what is used is there, and what is given back goes.

use memmap2::{MmapMut, MmapOptions};

use super::Access;

#[derive(Debug)]
pub struct Memory {
    map: MmapMut,
    len: usize,
}

impl Memory {
    /// `len` numbers, all 0.
    pub fn new(len: usize, access: Access) -> Memory {
        let map = MmapOptions::new().len(4 * len.max(1)).no_reserve_swap().map_anon();
        let map = map.expect("address space for four bytes a page");
        // Huge pages only make access faster; a system without them ignores the advice.
        #[cfg(target_os = "linux")]
        if access == Access::Random {
            let _ = map.advise(memmap2::Advice::HugePage);
        }
        #[cfg(not(target_os = "linux"))]
        let _ = access;
        Memory { map, len }
    }

    #[inline]
    pub fn values(&self) -> &[u32] {
        // SAFETY: a mapping begins at a page border, so it is aligned for u32, which any bytes are; it is 4 * len bytes long
        // and borrowed with self.
        unsafe { std::slice::from_raw_parts(self.map.as_ptr().cast(), self.len) }
    }

    #[inline]
    pub fn values_mut(&mut self) -> &mut [u32] {
        // SAFETY: as above, and borrowed mutably with self.
        unsafe { std::slice::from_raw_parts_mut(self.map.as_mut_ptr().cast(), self.len) }
    }

    /// Numbers are not needed any more: their memory goes back where the system can take it.
    pub fn give_back(&mut self, numbers: std::ops::Range<u32>) {
        #[cfg(unix)]
        {
            let (at, length) = (4 * numbers.start as usize, 4 * numbers.len());
            // SAFETY: nothing borrows the mapping but self, which is borrowed mutably; private anonymous memory reads as
            // zeros, or as it was, after this. Advice only: where it fails the memory stays.
            let _ = unsafe { self.map.unchecked_advise_range(memmap2::UncheckedAdvice::DontNeed, at, length) };
        }
        #[cfg(not(unix))]
        let _ = numbers;
    }
}
