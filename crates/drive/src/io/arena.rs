//! One piece of page-aligned memory, cut into a buffer for each slot.

use memmap2::MmapMut;

const PAGE: usize = 4096;

pub struct Arena {
    memory: MmapMut,
    each: usize,
}

impl Arena {
    /// `slots` buffers of at least `each` bytes.
    pub fn new(slots: usize, each: usize) -> std::io::Result<Arena> {
        let each = each.max(1).next_multiple_of(PAGE);
        Ok(Arena { memory: MmapMut::map_anon(slots.max(1) * each)?, each })
    }

    pub fn buffer(&mut self, slot: u32) -> &mut [u8] {
        let at = slot as usize * self.each;
        &mut self.memory[at..at + self.each]
    }

    /// All of it, to register with the kernel.
    pub fn whole(&mut self) -> &mut [u8] {
        &mut self.memory
    }
}
