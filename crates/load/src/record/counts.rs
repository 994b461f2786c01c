//! Counts in the buckets of an HDR histogram of three digits. To count one is an addition, where the histogram itself also
//! keeps extremes and a total; whoever asks for percentiles gets the histogram that the counts make.

use hdrhistogram::Histogram;

/// Latencies are told apart up to here, 18 minutes.
pub const HIGHEST_NS: u64 = 1 << 40;

/// A doubling has 2^10 buckets, of which three digits need 1000; the first 2^11 nanoseconds have one each.
const BITS: u32 = 10;
/// Buckets up to 2^41 ns: as many as the histogram has.
const LEN: usize = 32 << BITS;

/// The bucket of a latency: 2^10 of them for each doubling, in order.
#[inline]
fn bucket(ns: u64) -> usize {
    let shift = (u64::BITS - BITS - 1) - (ns | ((2 << BITS) - 1)).leading_zeros();
    ((shift << BITS) as u64 + (ns >> shift)) as usize
}

/// The least latency of a bucket.
fn begin(bucket: usize) -> u64 {
    let shift = (bucket >> BITS).saturating_sub(1);
    ((bucket - (shift << BITS)) as u64) << shift
}

pub fn empty_histogram() -> Histogram<u64> {
    Histogram::new_with_bounds(1, HIGHEST_NS, 3).expect("bounds of a histogram")
}

#[derive(Clone, Debug)]
pub struct Counts(Box<[u64; LEN]>);

impl Counts {
    pub fn new() -> Counts {
        Counts(vec![0; LEN].into_boxed_slice().try_into().expect("as long"))
    }

    /// What is longer than all buckets counts as the longest that is told apart.
    #[inline]
    pub fn record(&mut self, ns: u64) {
        match self.0.get_mut(bucket(ns)) {
            Some(count) => *count += 1,
            None => self.0[bucket(HIGHEST_NS)] += 1,
        }
    }

    pub fn add(&mut self, other: &Counts) {
        self.0.iter_mut().zip(other.0.iter()).for_each(|(mine, theirs)| *mine += theirs);
    }

    pub fn histogram(&self) -> Histogram<u64> {
        let mut histogram = empty_histogram();
        for (bucket, &count) in self.0.iter().enumerate().filter(|(_, &count)| count > 0) {
            histogram.saturating_record_n(begin(bucket), count);
        }
        histogram
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn buckets_begin_where_those_before_end() {
        for at in 0..LEN {
            assert_eq!(bucket(begin(at)), at);
            assert!(at == 0 || bucket(begin(at) - 1) == at - 1);
        }
    }

    proptest! {
        #[test]
        fn counts_make_the_histogram_that_records_each(
            latencies in prop::collection::vec((any::<u64>(), 0u32..64), 0..300)
        ) {
            let (mut counts, mut histogram) = (Counts::new(), empty_histogram());
            for (bits, shift) in latencies {
                counts.record(bits >> shift);
                histogram.saturating_record(bits >> shift);
            }
            prop_assert_eq!(histogram.len(), counts.histogram().len());
            let steps = |of: &Histogram<u64>| -> Vec<(u64, u64)> {
                of.iter_recorded().map(|step| (step.value_iterated_to(), step.count_at_value())).collect()
            };
            prop_assert_eq!(steps(&histogram), steps(&counts.histogram()));
            for quantile in [0.01, 0.5, 0.99, 0.9999, 1.0] {
                prop_assert_eq!(histogram.value_at_quantile(quantile), counts.histogram().value_at_quantile(quantile));
            }
            prop_assert_eq!(histogram.stdev().to_bits(), counts.histogram().stdev().to_bits());
        }
    }
}
