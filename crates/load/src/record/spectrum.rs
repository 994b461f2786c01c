//! How latencies are spread: counts in eighths of an octave, so that each bin of a series can hold its own.
//!
//! ```text
//!   ns      0 1 2 .. 7 | 8 9 .. 15 | 16 18 .. 30 | 32 36 .. 60 | ...     up to 18 min
//!   bucket  one each   | 8 each octave
//! ```

/// Eight buckets below 8 ns, and eight in each octave from there to 2^40 ns; longer latencies count as the longest.
pub const BUCKETS: usize = 304;

/// The bucket of a latency.
#[inline]
pub fn bucket(ns: u64) -> usize {
    if ns < 8 {
        return ns as usize;
    }
    let octave = 63 - ns.leading_zeros() as usize;
    (((octave - 2) << 3) + ((ns >> (octave - 3)) & 7) as usize).min(BUCKETS - 1)
}

/// Where a bucket begins, in nanoseconds; the next one begins where it ends.
pub fn begin(bucket: usize) -> u64 {
    match bucket {
        0..=7 => bucket as u64,
        _ => (8 + (bucket as u64 & 7)) << ((bucket >> 3) - 1),
    }
}

/// Latencies of a bin that is still open.
#[derive(Clone, Debug)]
pub struct Tally {
    counts: Box<[u32; BUCKETS]>,
    /// A bit for each bucket that holds some.
    in_use: [u64; BUCKETS.div_ceil(64)],
    max_ns: u64,
}

impl Default for Tally {
    fn default() -> Tally {
        Tally::new()
    }
}

impl Tally {
    pub fn new() -> Tally {
        Tally { counts: Box::new([0; BUCKETS]), in_use: [0; BUCKETS.div_ceil(64)], max_ns: 0 }
    }

    #[inline]
    pub fn note(&mut self, ns: u64) {
        self.count(bucket(ns), 1);
        self.max_ns = self.max_ns.max(ns);
    }

    #[inline]
    fn count(&mut self, bucket: usize, times: u32) {
        self.counts[bucket] += times;
        self.in_use[bucket / 64] |= 1 << (bucket % 64);
    }

    pub fn add(&mut self, spectrum: &Spectrum, max_ns: u64) {
        spectrum.buckets().for_each(|(bucket, count)| self.count(bucket, count));
        self.max_ns = self.max_ns.max(max_ns);
    }

    /// Whether nothing was noted.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.in_use.iter().all(|&bits| bits == 0)
    }

    /// What was noted since the last time, and the longest of it.
    pub fn take(&mut self) -> (Spectrum, u64) {
        let max_ns = std::mem::take(&mut self.max_ns);
        let in_use = std::mem::take(&mut self.in_use);
        let words = || in_use.iter().enumerate().filter(|(_, &bits)| bits != 0);
        let (Some((low, first)), Some((high, last))) = (words().next(), words().next_back()) else {
            return (Spectrum::default(), max_ns);
        };
        let from = 64 * low + first.trailing_zeros() as usize;
        let end = 64 * high + last.ilog2() as usize + 1;
        let counts = self.counts[from..end].into();
        self.counts[from..end].fill(0);
        (Spectrum { from, counts }, max_ns)
    }
}

/// The latencies of a bin: counts from bucket `from` on.
#[derive(Clone, Debug, Default)]
pub struct Spectrum {
    from: usize,
    counts: Box<[u32]>,
}

impl Spectrum {
    fn buckets(&self) -> impl Iterator<Item = (usize, u32)> + '_ {
        self.counts.iter().enumerate().map(|(at, &count)| (self.from + at, count))
    }

    /// The latency that `permille` of the requests took at most, to an eighth of an octave; 0 without requests.
    pub fn percentile(&self, permille: u64) -> u64 {
        let total: u64 = self.counts.iter().map(|&count| count as u64).sum();
        let mut rank = (total * permille).div_ceil(1000).max(1);
        for (bucket, count) in self.buckets() {
            let count = count as u64;
            if rank <= count {
                let width = begin(bucket + 1) - begin(bucket);
                return begin(bucket) + width * rank / count;
            }
            rank -= count;
        }
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn buckets_follow_each_other_and_hold_what_begins_in_them() {
        for at in 0..BUCKETS {
            assert_eq!(bucket(begin(at)), at);
            assert_eq!(bucket(begin(at + 1) - 1), at);
        }
        assert_eq!(bucket(u64::MAX), BUCKETS - 1);
        assert_eq!(begin(BUCKETS), 1 << 40);
    }

    proptest! {
        #[test]
        fn percentiles_are_those_of_the_sorted_list_to_an_eighth_of_an_octave(
            mut values in prop::collection::vec(8u64..1_000_000_000, 1..300),
            permille in 1u64..1000,
        ) {
            let mut parts = [Tally::new(), Tally::new()];
            for (i, &ns) in values.iter().enumerate() {
                parts[i % 2].note(ns);
            }
            let [mut first, mut second] = parts;
            let (rest, longest) = second.take();
            first.add(&rest, longest);
            let (all, longest) = first.take();
            let got = all.percentile(permille);
            values.sort_unstable();
            prop_assert_eq!(longest, values[values.len() - 1]);
            let exact = values[(values.len() as u64 * permille).div_ceil(1000) as usize - 1];
            prop_assert!(got > exact - exact / 8 && got <= exact + exact / 8 + 1, "{got} for {exact}");
            prop_assert!(first.is_empty());
            prop_assert_eq!(first.take().0.percentile(permille), 0);
        }
    }
}
