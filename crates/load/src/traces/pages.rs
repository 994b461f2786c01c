//! A set of 4 KiB pages of any address space: bits in pieces of 4 MiB, of which only those exist that hold some.

use std::collections::HashMap;

use pslc_ssd::PAGE_BYTES;

const PAGES: u64 = 1024;

/// A set of pages.
#[derive(Clone, Debug, Default)]
pub struct Pages {
    pieces: HashMap<u64, Box<[u64; 16]>>,
    count: u64,
}

impl Pages {
    /// Add the pages of a range in bytes; how many of them are new.
    pub fn add(&mut self, offset: u64, len: u32) -> u64 {
        let before = self.count;
        for page in Self::of(offset, len) {
            let piece = self.pieces.entry(page / PAGES).or_default();
            let (word, bit) = ((page % PAGES / 64) as usize, 1 << (page % 64));
            self.count += (piece[word] & bit == 0) as u64;
            piece[word] |= bit;
        }
        self.count - before
    }

    /// How many pages of a range in bytes are in the set.
    pub fn among(&self, offset: u64, len: u32) -> u64 {
        let has = |page: &u64| {
            let piece = self.pieces.get(&(page / PAGES));
            piece.is_some_and(|piece| piece[(page % PAGES / 64) as usize] & 1 << (page % 64) != 0)
        };
        Self::of(offset, len).filter(has).count() as u64
    }

    /// The pages that a range in bytes touches.
    pub fn of(offset: u64, len: u32) -> std::ops::Range<u64> {
        offset / PAGE_BYTES..(offset + len as u64).div_ceil(PAGE_BYTES)
    }

    /// All of them, in bytes.
    pub fn bytes(&self) -> u64 {
        self.count * PAGE_BYTES
    }

    /// Ranges of pages that follow each other, in ascending order.
    pub fn runs(&self) -> Vec<std::ops::Range<u64>> {
        let mut pieces: Vec<u64> = self.pieces.keys().copied().collect();
        pieces.sort_unstable();
        let mut runs: Vec<std::ops::Range<u64>> = Vec::new();
        for piece in pieces {
            for bit in 0..PAGES {
                let page = piece * PAGES + bit;
                if self.pieces[&piece][(bit / 64) as usize] & 1 << (bit % 64) == 0 {
                    continue;
                }
                match runs.last_mut() {
                    Some(last) if last.end == page => last.end += 1,
                    _ => runs.push(page..page + 1),
                }
            }
        }
        runs
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn it_holds_what_a_set_of_numbers_would(ranges in prop::collection::vec((0u64..1 << 26, 0u32..1 << 20), 1..40)) {
            let (mut pages, mut plain) = (Pages::default(), BTreeSet::new());
            for &(at, len) in &ranges {
                let before = plain.len();
                let among = Pages::of(at, len).filter(|page| plain.contains(page)).count() as u64;
                prop_assert_eq!(pages.among(at, len), among);
                plain.extend(Pages::of(at, len));
                prop_assert_eq!(pages.add(at, len), (plain.len() - before) as u64);
            }
            prop_assert_eq!(pages.runs().into_iter().flatten().collect::<Vec<_>>(), plain.into_iter().collect::<Vec<_>>());
        }
    }
}
