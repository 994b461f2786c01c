//! A large array of page numbers of which only what is used takes memory: an anonymous mapping, in huge pages where the
//! system has them and access is random, because address translation for gigabytes in small pages costs more than the data.

use std::collections::VecDeque;
use std::ops::Range;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_bytes::Bytes;

use crate::processors::share;

#[cfg_attr(target_family = "wasm", path = "heap.rs")]
#[cfg_attr(not(target_family = "wasm"), path = "mapped.rs")]
mod memory;

use memory::Memory;

/// Numbers of a segment: 2 MiB, one huge page. A copy takes the segments in use.
pub const SEGMENT: usize = 1 << 19;
/// Segments that are kept for a while after they were given back: superblocks are freed and filled in turn, and the
/// system makes zeros of each new page.
const SPARE: usize = 32;

/// How an array is walked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    Random,
    /// In small pages: a run in a segment would take the zeros of a huge one.
    Sequential,
}

#[derive(Debug)]
pub struct Dense {
    len: usize,
    access: Access,
    /// Made at the first use.
    memory: Option<Memory>,
    used: Vec<bool>,
    /// Those that were given back last, and may be in use again.
    spare: VecDeque<usize>,
}

impl Dense {
    /// `len` numbers, all 0.
    pub fn new(len: u32, access: Access) -> Dense {
        let len = len as usize;
        Dense { len, access, memory: None, used: vec![false; len.div_ceil(SEGMENT)], spare: VecDeque::new() }
    }

    /// The numbers; empty if none was ever written.
    #[inline]
    pub fn values(&self) -> &[u32] {
        self.memory.as_ref().map_or(&[], Memory::values)
    }

    /// The numbers, to change those from `from` to `to`.
    #[inline]
    pub fn values_mut(&mut self, from: u32, to: u32) -> &mut [u32] {
        if self.memory.is_none() {
            self.memory = Some(Memory::new(self.len, self.access));
        }
        let segments = from as usize / SEGMENT..=(to as usize - 1) / SEGMENT;
        self.used[segments].fill(true);
        &mut self.values_in_use()[from as usize..to as usize]
    }

    /// The numbers, to change those of segments that are in use.
    #[inline]
    pub fn values_in_use(&mut self) -> &mut [u32] {
        match &mut self.memory {
            Some(memory) => memory.values_mut(),
            None => &mut [],
        }
    }

    /// How many numbers there are.
    pub fn len(&self) -> usize {
        self.len
    }

    /// The places of the numbers that are not 0.
    pub fn in_use(&self) -> impl Iterator<Item = u32> + '_ {
        let values = self.values();
        self.used().flat_map(|index| self.segment(index)).filter(|at| values[*at as usize] != 0)
    }

    /// The segments that take memory.
    pub fn used(&self) -> impl Iterator<Item = usize> + '_ {
        self.used.iter().enumerate().filter(|(_, used)| **used).map(|(index, _)| index)
    }

    /// The numbers of a segment are not needed any more: its memory goes back, though not at once, and in a small array
    /// not at all. What they are then is not said.
    pub fn give_back(&mut self, segment: usize) {
        self.used[segment] = false;
        if self.used.len() <= SPARE {
            return;
        }
        self.spare.retain(|other| *other != segment);
        self.spare.push_back(segment);
        if self.spare.len() > SPARE {
            let segment = self.spare.pop_front().expect("there are several");
            let numbers = self.segment(segment);
            if let (false, Some(memory)) = (self.used[segment], &mut self.memory) {
                memory.give_back(numbers);
            }
        }
    }

    /// Numbers as they are written down: little-endian, which those in memory are taken to be.
    pub fn bytes(&self, numbers: Range<u32>) -> &[u8] {
        const { assert!(cfg!(target_endian = "little"), "drives are written as they are in memory") };
        bytemuck::cast_slice(&self.values()[numbers.start as usize..numbers.end as usize])
    }

    /// Set numbers to what was written down; an error if that are not as many.
    pub fn fill(&mut self, numbers: Range<u32>, bytes: &[u8]) -> Result<(), &'static str> {
        let count = numbers.end.saturating_sub(numbers.start) as usize;
        if count == 0 || numbers.end as usize > self.len || bytes.len() != 4 * count {
            return Err("an array of another length");
        }
        let values: &mut [u8] = bytemuck::cast_slice_mut(self.values_mut(numbers.start, numbers.end));
        let share = share(bytes.len());
        if bytes.len() <= share {
            values.copy_from_slice(bytes);
        } else {
            // Most of it is the kernel's, which makes zeros of each new page: that, too, each processor does a part of.
            std::thread::scope(|scope| {
                for (to, from) in values.chunks_mut(share).zip(bytes.chunks(share)) {
                    scope.spawn(|| to.copy_from_slice(from));
                }
            });
        }
        Ok(())
    }

    /// The numbers of a segment.
    fn segment(&self, index: usize) -> Range<u32> {
        (index * SEGMENT) as u32..((index + 1) * SEGMENT).min(self.len) as u32
    }
}

/// The segments in use, as little-endian bytes.
#[derive(Serialize, Deserialize)]
struct Written<'a> {
    len: u32,
    #[serde(borrow)]
    segments: Vec<(u32, &'a Bytes)>,
}

impl Serialize for Dense {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let segments = self.used().map(|index| (index as u32, Bytes::new(self.bytes(self.segment(index)))));
        Written { len: self.len as u32, segments: segments.collect() }.serialize(to)
    }
}

impl<'de> Deserialize<'de> for Dense {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Dense, D::Error> {
        let written = Written::deserialize(from)?;
        let mut dense = Dense::new(written.len, Access::Random);
        for (index, bytes) in written.segments {
            let numbers = dense.segment(index as usize);
            dense.fill(numbers, bytes).map_err(serde::de::Error::custom)?;
        }
        Ok(dense)
    }
}

impl Clone for Dense {
    fn clone(&self) -> Dense {
        let mut copy = Dense::new(self.len as u32, self.access);
        let values = self.values();
        for index in self.used() {
            let Range { start, end } = self.segment(index);
            copy.values_mut(start, end).copy_from_slice(&values[start as usize..end as usize]);
        }
        copy
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_has_the_same_numbers_and_its_own() {
        let len = 3 * SEGMENT as u32 + 7;
        let mut dense = Dense::new(len, Access::Random);
        assert!(dense.values().is_empty() && dense.clone().values().is_empty());
        dense.values_mut(len - 1, len)[0] = 7;
        let mut copy = dense.clone();
        copy.values_mut(5, 6)[0] = 9;
        assert_eq!((dense.values()[5], dense.values()[len as usize - 1]), (0, 7));
        assert_eq!((copy.values()[5], copy.values()[len as usize - 1]), (9, 7));
    }

    #[test]
    fn memory_goes_back_only_of_segments_beyond_the_spare_ones() {
        let filled = |segments: usize| {
            let mut dense = Dense::new((segments * SEGMENT) as u32, Access::Random);
            for _ in 0..3 {
                dense.values_mut(0, (segments * SEGMENT) as u32).fill(7);
                (0..segments).for_each(|segment| dense.give_back(segment));
            }
            dense
        };
        let small = filled(2);
        assert!(small.values().iter().all(|value| *value == 7), "a small array keeps its memory");
        let large = filled(SPARE + 1);
        assert_eq!(large.spare.len(), SPARE);
        assert_eq!(large.used().count(), 0);
        assert_eq!(large.spare.iter().collect::<std::collections::HashSet<_>>().len(), SPARE, "each is spare once");
        #[cfg(target_os = "linux")]
        assert_eq!((large.values()[0], large.values()[SEGMENT]), (0, 7), "the one given back first, and the next");
    }
}
