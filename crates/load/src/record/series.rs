//! What happened over time, and over bytes: snapshots of running totals at the ends of bins of equal size. When there
//! are more than 4096 bins every other snapshot is dropped and bins are twice as wide, so any run fits. Over bytes the
//! first bins stay narrow: a run may be long beside the cache that it begins with.

use std::ops::Range;

use pslc_ssd::{Nanos, Pace};

use super::moved::moved_by;
use super::spectrum::{Spectrum, Tally};

const MAX_ROWS: usize = 4096;

/// Running totals of completed requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sums {
    /// By kind: reads, writes, trims.
    pub bytes: [u64; 3],
    pub count: [u64; 3],
    pub latency_ns: u64,
    /// Latency of flushes, which are no requests of a series.
    pub flush_ns: u64,
}

#[derive(Clone, Debug)]
struct Snapshot {
    end: Nanos,
    sums: Sums,
    latency_max: u64,
    latencies: Spectrum,
}

/// Bins along one axis.
#[derive(Clone, Debug)]
pub struct Series {
    /// Width of a bin, in nanoseconds or bytes.
    pub width: u64,
    /// Where the present bin ends.
    edge: u64,
    /// Bins beyond which two become one.
    max_rows: usize,
    /// A bin wider than this is no wider than its distance from the start over [`HEAD_BINS`].
    narrow: u64,
    /// Bins at the start that stay narrower than `width`, and where they end.
    head_rows: usize,
    head_end: u64,
    rows: Vec<Snapshot>,
    /// The target's columns at the end of each row, one row after the other.
    values: Vec<u64>,
    /// Latencies of the present bin, as far as they were given; none once the last bin is closed.
    latencies: Tally,
    /// Bins have neither latencies nor columns.
    moved_only: bool,
}

/// The percentiles of latency that each bin tells, in permille, and their columns.
const PERCENTILES: [(u64, &str); 3] = [(500, "lat_p50_ns"), (990, "lat_p99_ns"), (999, "lat_p999_ns")];

/// Bins of one width at the start, before those of twice the width.
const HEAD_BINS: u64 = 128;

impl Series {
    /// Bins of up to `narrow` become wider anywhere, wider ones only far from the start. With a `coarseness`, so many
    /// times fewer bins at most, which say only what was moved.
    pub fn new(start: u64, width: u64, narrow: u64, coarseness: Option<u64>) -> Series {
        let times = coarseness.unwrap_or(1).max(1);
        Series {
            width,
            edge: start + width,
            // An odd number of bins is halved, so the most is even.
            max_rows: (MAX_ROWS / times as usize).max(2) / 2 * 2,
            narrow,
            head_rows: 0,
            head_end: start,
            rows: Vec::new(),
            values: Vec::new(),
            latencies: Tally::new(),
            moved_only: coarseness.is_some(),
        }
    }

    /// Latencies of the present bin.
    pub fn add_latencies(&mut self, latencies: &Spectrum, max_ns: u64) {
        self.latencies.add(latencies, max_ns);
    }

    /// Whether the axis has reached the end of the present bin.
    #[inline]
    pub fn is_due(&self, at: u64) -> bool {
        at >= self.edge
    }

    /// Where the present bin ends.
    pub(super) fn edge(&self) -> u64 {
        self.edge
    }

    /// Close every bin that ends at or before `at`; `end` gives the time of the end of a bin from its edge.
    pub fn close(&mut self, at: u64, sums: Sums, columns: &[u64], end: impl Fn(u64) -> Nanos) {
        while self.edge <= at {
            self.push(end(self.edge), sums, columns);
            self.edge += self.width;
            if self.rows.len() > self.max_rows {
                self.halve();
            }
        }
    }

    /// Close the last bin, full or not, if anything happened in it.
    pub fn finish(&mut self, now: Nanos, sums: Sums, columns: &[u64]) {
        if sums != self.rows.last().map_or(Sums::default(), |row| row.sums) {
            self.push(now, sums, columns);
        }
    }

    fn push(&mut self, end: Nanos, sums: Sums, columns: &[u64]) {
        let (latencies, latency_max) = self.latencies.take();
        self.rows.push(Snapshot { end, sums, latency_max, latencies });
        if !self.moved_only {
            if self.values.is_empty() {
                // Memory that is not used is not taken.
                self.values.reserve_exact((self.max_rows + 1) * columns.len());
            }
            self.values.extend_from_slice(columns);
        }
    }

    /// Leave the bins at the start as they are that would be too wide there.
    fn extend_head(&mut self) {
        let wider = 2 * self.width;
        let end = if wider > self.narrow { wider.saturating_mul(HEAD_BINS) } else { 0 };
        // At least half of all bins become wider, so there is room again.
        let room = (self.max_rows / 2).saturating_sub(self.head_rows) as u64;
        let rows = end.saturating_sub(self.head_end).div_ceil(self.width).min(room);
        self.head_rows += rows as usize;
        self.head_end += rows * self.width;
    }

    fn halve(&mut self) {
        self.extend_head();
        let stride = self.values.len() / self.rows.len();
        let odd = (self.rows.len() - self.head_rows) % 2 == 1;
        let last = if odd { self.rows.pop() } else { None };
        let mut index = 0;
        let mut both = Tally::new();
        let (head_rows, values) = (self.head_rows, &mut self.values);
        let mut kept = 0;
        self.rows.retain_mut(|row| {
            index += 1;
            if index > head_rows {
                both.add(&row.latencies, row.latency_max);
                if (index - head_rows) % 2 == 1 {
                    return false;
                }
                (row.latencies, row.latency_max) = both.take();
            }
            values.copy_within((index - 1) * stride..index * stride, kept * stride);
            kept += 1;
            true
        });
        self.values.truncate(kept * stride);
        // The bin that lost its partner goes on, a new one is wider: either until an edge of the wider grid.
        match last {
            Some(last) => self.latencies.add(&last.latencies, last.latency_max),
            None => self.edge += self.width,
        }
        self.width *= 2;
    }

    /// What was moved counts while it was moved, and not where its request ended.
    pub fn book_moved(&mut self, paces: &[Option<Pace>; 2]) {
        for (kind, pace) in paces.iter().enumerate() {
            if let Some(pace) = pace {
                let rows = self.rows.iter_mut().rev().map(|row| (row.end.0, &mut row.sums.bytes[kind]));
                moved_by(rows, *pace);
            }
        }
    }

    /// What requests spent their time on counts where they ended, and not where they were asked for: of the time in these
    /// columns as much as that of all that had ended.
    pub fn book_waits(&mut self, columns: Range<usize>, before: &[u64]) {
        let stride = before.len();
        if columns.is_empty() {
            return;
        }
        let rows = self.values.chunks(stride);
        let asked: Vec<Vec<u64>> =
            std::iter::once(before).chain(rows).map(|row| row[columns.clone()].to_vec()).collect();
        let totals: Vec<u64> = asked.iter().map(|row| row.iter().sum()).collect();
        let mut at = 0;
        for (row, snapshot) in self.rows.iter().enumerate() {
            let ended = totals[0] + snapshot.sums.latency_ns + snapshot.sums.flush_ns;
            while at < row && totals[at + 1] <= ended {
                at += 1;
            }
            let (passed, all) = (ended.saturating_sub(totals[at]), totals[at + 1] - totals[at]);
            let passed = passed.min(all) as u128;
            let between = |(a, b): (&u64, &u64)| a + ((b - a) as u128 * passed / all.max(1) as u128) as u64;
            let ends = asked[at].iter().zip(&asked[at + 1]).map(between);
            self.values[row * stride..][columns.clone()].iter_mut().zip(ends).for_each(|(to, end)| *to = end);
        }
    }

    /// Bins of bytes end when their bytes were moved, and not where the request of the last of them ended.
    pub fn end_sooner(&mut self, start: Nanos, before: &[u64], paces: &[Option<Pace>; 2]) {
        let mut ends: Vec<Nanos> = self.rows.iter().map(|row| row.end).collect();
        for (at, pair) in self.rows.windows(2).enumerate().rev() {
            let moved = pair[1].sums.bytes.iter().zip(&pair[0].sums.bytes).map(|(all, here)| all - here);
            let times = paces.iter().zip(moved).filter_map(|(pace, moved)| Some(pace.as_ref()?.time(moved)));
            let time = times.max().unwrap_or(0);
            ends[at] = ends[at].min(Nanos(ends[at + 1].0.saturating_sub(time).max(start.0)));
        }
        let sooner = ends.iter().zip(&self.rows).enumerate().filter(|(_, (end, row))| **end < row.end);
        let moved: Vec<(usize, Vec<u64>)> =
            sooner.map(|(at, (end, _))| (at, self.values_at(*end, start, before))).collect();
        for (at, values) in moved {
            self.rows[at].end = ends[at];
            self.values[at * before.len()..][..before.len()].copy_from_slice(&values);
        }
    }

    /// The target's columns at a time before the last bin ended, between those at the ends of bins.
    fn values_at(&self, at: Nanos, start: Nanos, before: &[u64]) -> Vec<u64> {
        let values = |row: usize| &self.values[row * before.len()..][..before.len()];
        let next = self.rows.partition_point(|row| row.end < at);
        let (from, first) = match next.checked_sub(1) {
            Some(last) => (self.rows[last].end, values(last)),
            None => (start, before),
        };
        let (passed, all) = ((at.0 - from.0) as i128, (self.rows[next].end.0 - from.0).max(1) as i128);
        let between = |(a, b): (&u64, &u64)| (*a as i128 + (*b as i128 - *a as i128) * passed / all) as u64;
        first.iter().zip(values(next)).map(between).collect()
    }

    pub fn len(&self) -> usize {
        self.rows.len()
    }

    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The columns by name: the end of each bin, what was completed within it, and the target's columns at its end.
    pub fn columns(&self, names: &[&str]) -> Vec<(String, Vec<u64>)> {
        let mut out = vec![("end_ns".to_string(), self.rows.iter().map(|row| row.end.0).collect())];
        let mut within = |name: &str, of: &dyn Fn(&Sums) -> u64| {
            let mut before = 0;
            let values = self.rows.iter().map(|row| {
                let now = of(&row.sums);
                let within = now - before;
                before = now;
                within
            });
            out.push((name.to_string(), values.collect()));
        };
        for (at, kind) in ["read", "write", "trim"].iter().enumerate() {
            within(&format!("{kind}_bytes"), &|sums| sums.bytes[at]);
        }
        if self.moved_only {
            return out;
        }
        for (at, kind) in ["reads", "writes", "trims"].iter().enumerate() {
            within(kind, &|sums| sums.count[at]);
        }
        within("lat_sum_ns", &|sums| sums.latency_ns);
        out.push(("lat_max_ns".to_string(), self.rows.iter().map(|row| row.latency_max).collect()));
        for (permille, name) in PERCENTILES {
            // A bucket may end beyond the longest of its latencies.
            let values = self.rows.iter().map(|row| row.latencies.percentile(permille).min(row.latency_max));
            out.push((name.to_string(), values.collect()));
        }
        for (at, name) in names.iter().enumerate() {
            out.push((name.to_string(), self.values.iter().skip(at).step_by(names.len()).copied().collect()));
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn bins_add_up_to_the_totals_however_often_they_were_halved(
            steps in prop::collection::vec((1u64..9000, 0u64..100), 1..3000),
            narrow in prop_oneof![Just(u64::MAX), 1u64..300],
        ) {
            let mut series = Series::new(0, 1, narrow, None);
            let (mut sums, mut noted) = (Sums::default(), Tally::new());
            let mut now = 0;
            let mut largest = 0;
            for (after, latency) in steps {
                now += after;
                if series.is_due(now) {
                    series.close(now, sums, &[sums.count[0]], Nanos);
                }
                sums.bytes[1] += 4096;
                sums.count[1] += 1;
                sums.latency_ns += latency;
                noted.note(latency);
                let (latencies, max_ns) = noted.take();
                series.add_latencies(&latencies, max_ns);
                largest = largest.max(latency);
            }
            series.finish(Nanos(now + 1), sums, &[sums.count[0]]);
            prop_assert!(series.len() <= MAX_ROWS + 1);
            let columns = series.columns(&["x"]);
            let column = |name: &str| &columns.iter().find(|(n, _)| n == name).unwrap().1;
            prop_assert_eq!(column("write_bytes").iter().sum::<u64>(), sums.bytes[1]);
            prop_assert_eq!(column("lat_sum_ns").iter().sum::<u64>(), sums.latency_ns);
            prop_assert_eq!(*column("lat_max_ns").iter().max().unwrap(), largest);
            for (median, longest) in column("lat_p50_ns").iter().zip(column("lat_max_ns")) {
                prop_assert!(median <= longest);
            }
            let ends = column("end_ns");
            prop_assert!(ends.windows(2).all(|pair| pair[0] < pair[1]));
            // All but the last bin are of one width, but for narrower ones at the start.
            let edges: Vec<u64> = std::iter::once(0).chain(ends.iter().copied()).collect();
            let full = &edges[..edges.len() - 1];
            let mut before = 1;
            for (from, width) in full.windows(2).map(|pair| (pair[0], pair[1] - pair[0])) {
                prop_assert!(width.is_power_of_two() && width >= before && width <= series.width, "{from} {width}");
                prop_assert!(width <= narrow.max(1) || width * HEAD_BINS <= from + width, "{from} {width}");
                prop_assert!(narrow < u64::MAX || width == series.width);
                before = width;
            }
        }
    }
}
