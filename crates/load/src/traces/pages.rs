//! A set of 4 KiB pages of any address space: bits in pieces of 4 MiB, of which only those exist that hold some.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::ops::Range;

use pslc_ssd::PAGE_BYTES;

const PAGES: u64 = 1024;
const WORDS: usize = PAGES as usize / 64;

/// A piece that some pages of are in the set, or all.
#[derive(Clone, Debug)]
enum Piece {
    Some(Box<[u64; WORDS]>),
    All,
}

impl Piece {
    fn bits(&self) -> [u64; WORDS] {
        match self {
            Piece::Some(bits) => **bits,
            Piece::All => [u64::MAX; WORDS],
        }
    }
}

/// A set of pages.
#[derive(Clone, Debug, Default)]
pub struct Pages {
    pieces: HashMap<u64, Piece, BuildHasherDefault<Spread>>,
    count: u64,
}

/// Numbers of pieces are spread by a multiplication (Knuth's): nobody gains from making two of them meet.
#[derive(Clone, Debug, Default)]
struct Spread(u64);

impl Hasher for Spread {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_u64(byte as u64));
    }

    #[inline]
    fn write_u64(&mut self, number: u64) {
        self.0 = (self.0 ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(32);
    }
}

/// The words of a piece that a range of its pages touches, and which bits of each.
#[inline]
fn words(pages: Range<u64>) -> impl Iterator<Item = (usize, u64)> {
    let (first, last) = (pages.start as usize, pages.end as usize - 1);
    (first / 64..=last / 64).map(move |word| {
        let from = if word == first / 64 { first % 64 } else { 0 };
        let to = if word == last / 64 { last % 64 } else { 63 };
        (word, u64::MAX << from & u64::MAX >> (63 - to))
    })
}

/// The pieces of a range of pages, and which pages of each.
#[inline]
fn pieces(pages: Range<u64>) -> impl Iterator<Item = (u64, Range<u64>)> {
    let mut next = pages.start;
    std::iter::from_fn(move || {
        let piece = next / PAGES;
        let (from, end) = (next, pages.end.min((piece + 1) * PAGES));
        next = end;
        (from < end).then_some((piece, from % PAGES..end - piece * PAGES))
    })
}

impl Pages {
    /// Add the pages of a range in bytes; how many of them are new.
    #[inline]
    pub fn add(&mut self, offset: u64, len: u32) -> u64 {
        let before = self.count;
        for (piece, pages) in pieces(Self::of(offset, len)) {
            let piece_bits = match self.pieces.get_mut(&piece) {
                Some(piece_bits) => piece_bits,
                None => self.pieces.entry(piece).or_insert_with(|| Piece::Some(Box::default())),
            };
            let Piece::Some(bits) = piece_bits else { continue };
            let mut full = false;
            for (word, wanted) in words(pages) {
                self.count += (wanted & !bits[word]).count_ones() as u64;
                bits[word] |= wanted;
                full = bits[word] == u64::MAX;
            }
            if full && bits.iter().all(|&word| word == u64::MAX) {
                *piece_bits = Piece::All;
            }
        }
        self.count - before
    }

    /// How many pages of a range in bytes are in the set.
    #[inline]
    pub fn among(&self, offset: u64, len: u32) -> u64 {
        let of = |(piece, pages): (u64, Range<u64>)| match self.pieces.get(&piece) {
            None => 0,
            Some(Piece::All) => pages.end - pages.start,
            Some(Piece::Some(bits)) => {
                words(pages).map(|(word, wanted)| (bits[word] & wanted).count_ones() as u64).sum()
            }
        };
        pieces(Self::of(offset, len)).map(of).sum()
    }

    /// The pages that a range in bytes touches.
    pub fn of(offset: u64, len: u32) -> Range<u64> {
        offset / PAGE_BYTES..(offset + len as u64).div_ceil(PAGE_BYTES)
    }

    /// All of them, in bytes.
    pub fn bytes(&self) -> u64 {
        self.count * PAGE_BYTES
    }

    /// Those that are not in `other`, in bytes.
    pub fn bytes_not_in(&self, other: &Pages) -> u64 {
        let missing = |(number, piece): (&u64, &Piece)| {
            let here = piece.bits();
            let there = other.pieces.get(number).map_or([0; WORDS], Piece::bits);
            here.iter().zip(there).map(|(here, there)| (here & !there).count_ones() as u64).sum::<u64>()
        };
        self.pieces.iter().map(missing).sum::<u64>() * PAGE_BYTES
    }

    /// Ranges of pages that follow each other, in ascending order.
    pub fn runs(&self) -> Vec<Range<u64>> {
        let mut numbers: Vec<u64> = self.pieces.keys().copied().collect();
        numbers.sort_unstable();
        let mut runs: Vec<Range<u64>> = Vec::new();
        let mut add = |range: Range<u64>| match runs.last_mut() {
            Some(last) if last.end == range.start => last.end = range.end,
            _ => runs.push(range),
        };
        for piece in numbers {
            let first = piece * PAGES;
            match &self.pieces[&piece] {
                Piece::All => add(first..first + PAGES),
                Piece::Some(bits) => {
                    let held = (0..PAGES).filter(|bit| bits[(bit / 64) as usize] & 1 << (bit % 64) != 0);
                    held.for_each(|bit| add(first + bit..first + bit + 1));
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
        fn it_holds_what_a_set_of_numbers_would(ranges in prop::collection::vec((0u64..1 << 26, 0u32..12 << 20), 1..40)) {
            let (mut pages, mut plain) = (Pages::default(), BTreeSet::new());
            let mut half = Pages::default();
            for (number, &(at, len)) in ranges.iter().enumerate() {
                if number % 2 == 0 {
                    half.add(at, len);
                    prop_assert_eq!(half.bytes_not_in(&pages) + pages.bytes(), {
                        let both: BTreeSet<_> = plain.iter().copied().chain(half.runs().into_iter().flatten()).collect();
                        both.len() as u64 * PAGE_BYTES
                    });
                }
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
