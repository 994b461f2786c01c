//! How long requests took: exact sums and extremes, an HDR histogram for everything between.

use super::counts::Counts;
use super::spectrum;

/// fio's percentiles.
pub const PERCENTILES: [f64; 17] =
    [1.0, 5.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0, 95.0, 99.0, 99.5, 99.9, 99.95, 99.99];

/// Upper ends of fio's latency buckets within one decade of units (ns, us); ms goes on to 2000.
const BUCKETS: [u64; 10] = [2, 4, 10, 20, 50, 100, 250, 500, 750, 1000];

/// Completion latencies of one kind of request.
#[derive(Clone, Debug)]
pub struct Latency {
    pub count: u64,
    pub bytes: u64,
    pub min_ns: u64,
    pub max_ns: u64,
    sum_ns: u128,
    /// Made with the first request.
    counts: Option<Counts>,
}

impl Latency {
    /// Of one that has counted something: 2^11 counters, and 2^10 for each doubling after them. Latencies of a run span
    /// some eight doublings, and counters that none of them reaches take no memory.
    pub const BYTES: u64 = 8 * ((1 << 11) + 8 * (1 << 10));

    pub fn new() -> Latency {
        Latency { count: 0, bytes: 0, min_ns: u64::MAX, max_ns: 0, sum_ns: 0, counts: None }
    }

    #[inline]
    pub fn record(&mut self, ns: u64, bytes: u64) {
        self.count(ns, bytes);
        self.counts.get_or_insert_with(Counts::new).record(ns);
    }

    /// What needs no histogram.
    #[inline]
    pub fn count(&mut self, ns: u64, bytes: u64) {
        self.count += 1;
        self.bytes += bytes;
        self.min_ns = self.min_ns.min(ns);
        self.max_ns = self.max_ns.max(ns);
        self.sum_ns += ns as u128;
    }

    /// Those of `other` as well.
    pub fn add(&mut self, other: &Latency) {
        self.count += other.count;
        self.bytes += other.bytes;
        self.min_ns = self.min_ns.min(other.min_ns);
        self.max_ns = self.max_ns.max(other.max_ns);
        self.sum_ns += other.sum_ns;
        if let Some(counts) = &other.counts {
            self.counts.get_or_insert_with(Counts::new).add(counts);
        }
    }

    pub fn mean_ns(&self) -> f64 {
        if self.count == 0 {
            0.0
        } else {
            self.sum_ns as f64 / self.count as f64
        }
    }

    /// Standard deviation, to the histogram's three digits.
    pub fn stddev_ns(&self) -> f64 {
        self.counts.as_ref().map_or(0.0, |counts| counts.histogram().stdev())
    }

    /// fio's percentiles and those of `more`: `("99.000000", ns)`; empty without requests.
    pub fn percentiles(&self, more: &[f64]) -> Vec<(String, u64)> {
        let Some(histogram) = self.counts.as_ref().map(Counts::histogram) else { return Vec::new() };
        let at = |p: f64| histogram.value_at_quantile(p / 100.0).clamp(self.min_ns, self.max_ns);
        let mut wanted: Vec<f64> = PERCENTILES.iter().chain(more).copied().collect();
        wanted.sort_by(f64::total_cmp);
        wanted.dedup();
        wanted.into_iter().map(|p| (format!("{p:.6}"), at(p))).collect()
    }

    /// How many there are in each of fio's buckets, 64 to an octave, by the bucket's name in fio's JSON, in nanoseconds.
    pub fn bins(&self) -> Vec<[u64; 2]> {
        let mut steps: Vec<[u64; 2]> = Vec::new();
        let Some(histogram) = self.counts.as_ref().map(Counts::histogram) else { return steps };
        for step in histogram.iter_recorded() {
            let value = bin(histogram.lowest_equivalent(step.value_iterated_to()));
            match steps.last_mut() {
                Some(last) if last[0] == value => last[1] += step.count_at_value(),
                _ => steps.push([value, step.count_at_value()]),
            }
        }
        steps
    }

    /// How the latencies are spread, in eighths of an octave: where each bucket that holds some begins and ends, in
    /// nanoseconds, and how many it holds.
    pub fn spread(&self) -> Vec<[u64; 3]> {
        let mut buckets: Vec<[u64; 3]> = Vec::new();
        let Some(histogram) = self.counts.as_ref().map(Counts::histogram) else { return buckets };
        for step in histogram.iter_recorded() {
            let bucket = spectrum::bucket(step.value_iterated_to());
            let begin = spectrum::begin(bucket);
            match buckets.last_mut() {
                Some(last) if last[0] == begin => last[2] += step.count_at_value(),
                _ => buckets.push([begin, spectrum::begin(bucket + 1), step.count_at_value()]),
            }
        }
        buckets
    }
}

/// The middle of fio's bucket of a value, as fio rounds it.
fn bin(ns: u64) -> u64 {
    const BITS: u32 = 6;
    // Past its 29 groups of 64 fio has one bucket for all.
    const LAST: u64 = (1 << 33) + (127 << 26);
    let octave = ns.checked_ilog2().unwrap_or(0);
    if octave <= BITS {
        return ns;
    }
    let width = 1 << (octave - BITS);
    (ns / width * width + width / 2).min(LAST)
}

impl Default for Latency {
    fn default() -> Latency {
        Latency::new()
    }
}

/// One row of fio's latency tables: unit (`ns`, `us`, `ms`), upper end as fio writes it, requests in it.
pub type Bucket = (&'static str, String, u64);

/// fio's `latency_ns`, `latency_us` and `latency_ms` tables over several kinds together.
pub fn buckets<'a>(latencies: impl Iterator<Item = &'a Latency>) -> Vec<Bucket> {
    let mut rows: Vec<(u64, Bucket)> = Vec::new();
    for (unit, scale) in [("ns", 1u64), ("us", 1_000), ("ms", 1_000_000)] {
        for end in BUCKETS {
            rows.push((end * scale, (unit, end.to_string(), 0)));
        }
    }
    rows.push((2_000_000_000, ("ms", "2000".into(), 0)));
    rows.push((u64::MAX, ("ms", ">=2000".into(), 0)));
    for histogram in latencies.filter_map(|latency| latency.counts.as_ref()).map(Counts::histogram) {
        for step in histogram.iter_recorded() {
            let value = histogram.lowest_equivalent(step.value_iterated_to());
            let row = rows.iter_mut().find(|(end, _)| value < *end).expect("the last has no end");
            row.1 .2 += step.count_at_value();
        }
    }
    rows.into_iter().map(|(_, bucket)| bucket).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_those_of_the_sorted_list() {
        let mut latency = Latency::new();
        let mut values: Vec<u64> = (0..10_000u64).map(|i| 500 + i * i % 777_777).collect();
        values.iter().for_each(|&v| latency.record(v, 4096));
        values.sort_unstable();
        for (name, ns) in latency.percentiles(&[]) {
            let p: f64 = name.parse().unwrap();
            let exact = values[((p / 100.0 * values.len() as f64).ceil() as usize).max(1) - 1];
            let error = ns.abs_diff(exact) as f64 / exact as f64;
            assert!(error < 0.002, "{name}: {ns} for {exact}");
        }
        assert_eq!(latency.min_ns, values[0]);
        assert_eq!(latency.max_ns, *values.last().unwrap());
        assert_eq!(latency.bytes, 10_000 * 4096);
        let spread = latency.spread();
        assert_eq!(spread.iter().map(|row| row[2]).sum::<u64>(), 10_000);
        assert!(spread.windows(2).all(|pair| pair[0][1] <= pair[1][0]));
        assert!(spread[0][0] <= values[0] && *values.last().unwrap() <= spread.last().unwrap()[1]);
    }

    #[test]
    fn bins_are_fios_64_to_an_octave() {
        let mut latency = Latency::new();
        let values = [0, 63, 127, 128, 129, 130, 255, 256, 5_000, 123_456];
        values.iter().for_each(|&ns| latency.record(ns, 0));
        let expected = [[0, 1], [63, 1], [127, 1], [129, 2], [131, 1], [255, 1], [258, 1], [5_024, 1], [123_392, 1]];
        assert_eq!(latency.bins(), expected);
    }

    #[test]
    fn every_request_is_in_one_bucket() {
        let mut latency = Latency::new();
        let values = [1, 3, 999, 1_500, 600_000, 1_999_999, 3_000_000_000];
        values.iter().for_each(|&ns| latency.record(ns, 0));
        let rows = buckets([&latency].into_iter());
        let filled: Vec<(&str, &str)> =
            rows.iter().filter(|row| row.2 > 0).map(|row| (row.0, row.1.as_str())).collect();
        let expected =
            [("ns", "2"), ("ns", "4"), ("ns", "1000"), ("us", "2"), ("us", "750"), ("ms", "2"), ("ms", ">=2000")];
        assert_eq!(filled, expected);
        assert_eq!(rows.iter().map(|row| row.2).sum::<u64>(), values.len() as u64);
    }
}
