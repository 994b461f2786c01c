//! Which blocks a pass has had: fio's random map, for requests of several sizes. Words of 64 bits, and above each level
//! one that tells which of its words are full. As in fio the last word has bits for blocks past the end, which no request
//! begins with, but which one may reach.

#[derive(Clone, Debug)]
pub struct Map {
    len: u64,
    /// The lowest level first; a bit of a higher one stands for a full word of the one below.
    levels: Vec<Vec<u64>>,
}

impl Map {
    /// `len` blocks, all free.
    pub fn new(len: u64) -> Map {
        let mut levels = Vec::new();
        let mut bits = len.max(1);
        loop {
            let words = bits.div_ceil(64);
            let mut level = vec![0u64; words as usize];
            // Above, what is past the end is no word.
            if !levels.is_empty() && bits % 64 != 0 {
                level[words as usize - 1] = u64::MAX << (bits % 64);
            }
            levels.push(level);
            if words == 1 {
                break;
            }
            bits = words;
        }
        Map { len, levels }
    }

    pub fn is_free(&self, block: u64) -> bool {
        self.levels[0].get((block / 64) as usize).is_some_and(|word| word >> (block % 64) & 1 == 0)
    }

    /// The first free block from `from` on, then from the beginning.
    pub fn next_free(&self, from: u64) -> Option<u64> {
        self.find(from).or_else(|| self.find(0))
    }

    fn find(&self, from: u64) -> Option<u64> {
        let mut at = from;
        let mut level = 0;
        // Up while the rest of a word is full, then down to the first gap.
        loop {
            let word = *self.levels[level].get((at / 64) as usize)?;
            let free = !word & (u64::MAX << (at % 64));
            if free != 0 {
                at = at / 64 * 64 + free.trailing_zeros() as u64;
                break;
            }
            level += 1;
            at = at / 64 + 1;
            if level == self.levels.len() {
                return None;
            }
        }
        while level > 0 {
            level -= 1;
            at = at * 64 + (!self.levels[level][at as usize]).trailing_zeros() as u64;
        }
        (at < self.len).then_some(at)
    }

    /// Take `count` blocks from `block` on, up to the first that is taken. Returns how many.
    pub fn take(&mut self, block: u64, count: u64) -> u64 {
        let mut taken = 0;
        while taken < count && self.is_free(block + taken) {
            self.set(block + taken);
            taken += 1;
        }
        taken
    }

    fn set(&mut self, mut at: u64) {
        for level in &mut self.levels {
            let word = &mut level[(at / 64) as usize];
            *word |= 1 << (at % 64);
            if *word != u64::MAX {
                return;
            }
            at /= 64;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_map_is_a_set(len in 1u64..10_000, takes in prop::collection::vec((any::<u64>(), 1u64..600), 0..300)) {
            let end = len.next_multiple_of(64);
            let (mut map, mut free) = (Map::new(len), vec![true; end as usize]);
            for (at, count) in takes {
                let at = at % len;
                let first = (at..len).chain(0..at).find(|&block| free[block as usize]);
                prop_assert_eq!(map.next_free(at), first);
                let taken = map.take(at, count);
                let expected = (at..end.min(at + count)).take_while(|&block| free[block as usize]).count() as u64;
                prop_assert_eq!(taken, expected);
                free[at as usize..(at + taken) as usize].fill(false);
            }
        }
    }
}
