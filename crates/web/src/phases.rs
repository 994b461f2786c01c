//! Phases of a run: stretches of bins at one speed, and what requests spent most of their time on in each.

use pslc_load::record::shares;
use serde::Serialize;

use crate::curve::Curve;

/// Of all bins, a phase has this share at least: shorter ones are ripple.
const MIN_PHASE_SHARE: f64 = 0.01;
/// The smallest change of speed that divides a phase.
const MIN_SPEED_RATIO: f64 = 1.12;
/// Fewest bins of a phase, and of the first one: a small cache may be full soon.
const MIN_PHASE_BINS: usize = 4;
const MIN_FIRST_BINS: usize = 2;
/// Bins to either side whose median stands for a bin, so that one across an end makes no phase.
const MEDIAN_REACH_BINS: usize = 3;

/// A phase. Positions count all bytes that were moved since the run began; an end may lie within a bin.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Phase {
    /// In the words of `pslc.analysis.CAUSES`, and its share of the time.
    pub cause: &'static str,
    pub confidence: f64,
    pub from_bytes: u64,
    pub to_bytes: u64,
    pub from_ns: u64,
    pub to_ns: u64,
    /// Bytes moved over the time that it took, without pauses between jobs.
    pub bytes_per_s: f64,
}

impl Phase {
    /// All phases of a curve that began at `start_ns`. In `pauses`, from and to in nanoseconds, no job ran.
    pub fn all(curve: &Curve, start_ns: u64, pauses: &[(u64, u64)]) -> Vec<Phase> {
        let bins = Bins::new(curve, start_ns, pauses);
        let edges = bins.edges();
        let inner = edges.windows(3).map(|edges| bins.end_between(edges[0], edges[1], edges[2]));
        let mut ends = vec![bins.end(0)];
        ends.extend(inner);
        ends.push(bins.end(curve.len()));
        let phase = |(edges, pair): (&[usize], &[End])| {
            let busy_s = (pair[1].busy_ns - pair[0].busy_ns) / 1e9;
            let paused_ns = (bins.at_ns[edges[1]] - bins.at_ns[edges[0]]) as f64
                - (bins.busy_ns[edges[1]] - bins.busy_ns[edges[0]]);
            let grown = |name: &str| match name {
                "host_silent_ns_total" => (curve.grown(name, edges[0], edges[1]) - paused_ns).max(0.0),
                _ => curve.grown(name, edges[0], edges[1]),
            };
            let busy_bins_s = (bins.busy_ns[edges[1]] - bins.busy_ns[edges[0]]) / 1e9;
            let (cause, confidence) = shares(grown, busy_bins_s).first().copied().unwrap_or(("unknown", 0.0));
            Phase {
                cause,
                confidence,
                from_bytes: pair[0].moved.round() as u64,
                to_bytes: pair[1].moved.round() as u64,
                from_ns: pair[0].at_ns,
                to_ns: pair[1].at_ns,
                bytes_per_s: (pair[1].moved - pair[0].moved) / busy_s.max(1e-9),
            }
        };
        edges.windows(2).zip(ends.windows(2)).map(phase).collect()
    }
}

/// Where a phase ends: bytes moved since the run began, time without pauses, and the time.
struct End {
    moved: f64,
    busy_ns: f64,
    at_ns: u64,
}

/// Running sums at the edges of all bins: bytes moved, and time without pauses; and the time.
struct Bins {
    moved: Vec<f64>,
    busy_ns: Vec<f64>,
    at_ns: Vec<u64>,
}

impl Bins {
    fn new(curve: &Curve, start_ns: u64, pauses: &[(u64, u64)]) -> Bins {
        let mut bins = Bins { moved: vec![0.0], busy_ns: vec![0.0], at_ns: vec![start_ns] };
        for (bin, &end) in curve.end_ns.iter().enumerate() {
            let start = bins.at_ns[bin];
            let within = |(from, to): &(u64, u64)| (*to).min(end).saturating_sub((*from).max(start));
            let paused: u64 = pauses.iter().map(within).sum();
            let moved = curve.write_bytes[bin] + curve.read_bytes[bin];
            bins.moved.push(bins.moved[bin] + moved as f64);
            bins.busy_ns.push(bins.busy_ns[bin] + (end - start).saturating_sub(paused).max(1) as f64);
            bins.at_ns.push(end);
        }
        bins
    }

    fn count(&self) -> usize {
        self.at_ns.len() - 1
    }

    /// Bytes a nanosecond.
    fn speed(&self, from: usize, to: usize) -> f64 {
        (self.moved[to] - self.moved[from]) / (self.busy_ns[to] - self.busy_ns[from])
    }

    fn end(&self, edge: usize) -> End {
        End { moved: self.moved[edge], busy_ns: self.busy_ns[edge], at_ns: self.at_ns[edge] }
    }

    /// The first bin, each at which the speed changes for good, and the end.
    fn edges(&self) -> Vec<usize> {
        let count = self.count();
        if count == 0 {
            return vec![0];
        }
        let single: Vec<f64> = (0..count).map(|bin| self.speed(bin, bin + 1).max(f64::MIN_POSITIVE).ln()).collect();
        let level: Vec<f64> = (0..count)
            .map(|bin| {
                // The first ones are few, and as they are.
                let reach = MEDIAN_REACH_BINS.min(bin);
                median(single[bin - reach..(bin + reach + 1).min(count)].to_vec())
            })
            .collect();
        let shortest = ((count as f64 * MIN_PHASE_SHARE).ceil() as usize).max(MIN_PHASE_BINS);
        let mut edges = vec![0];
        cut_at_steps(&level, 0, shortest, &mut edges);
        edges.push(count);
        edges
    }

    /// The end of a phase within the two bins at it, whose speed is in between: where both sides would go on at the speed
    /// of their other bins.
    fn end_between(&self, first: usize, edge: usize, next: usize) -> End {
        let plain = self.end(edge);
        let from = if first > 0 { first + 1 } else { 0 };
        let to = if next < self.count() { next - 1 } else { next };
        if edge < from + 3 || to < edge + 3 {
            return plain;
        }
        let (before, after) = (self.speed(from, edge - 1), self.speed(edge + 1, to));
        let moved = self.moved[edge + 1] - self.moved[edge - 1];
        let busy_ns = self.busy_ns[edge + 1] - self.busy_ns[edge - 1];
        let all_ns = (self.at_ns[edge + 1] - self.at_ns[edge - 1]) as f64;
        let alike = (before / after).max(after / before) < MIN_SPEED_RATIO;
        if alike || busy_ns < all_ns || before <= 0.0 || after <= 0.0 {
            return plain;
        }
        let share = ((busy_ns / moved - 1.0 / after) / (1.0 / before - 1.0 / after)).clamp(0.0, 1.0);
        let (left, right) = (share / before, (1.0 - share) / after);
        let spent_ns = busy_ns * left / (left + right);
        End {
            moved: self.moved[edge - 1] + share * moved,
            busy_ns: self.busy_ns[edge - 1] + spent_ns,
            at_ns: self.at_ns[edge - 1] + spent_ns as u64,
        }
    }
}

/// Adds the edges at which `level`, log speeds from bin `first` on, changes for good: each where two means fit best.
fn cut_at_steps(level: &[f64], first: usize, shortest: usize, edges: &mut Vec<usize>) {
    let shortest_left = if first == 0 { MIN_FIRST_BINS } else { shortest };
    if level.len() < shortest_left + shortest {
        return;
    }
    let all: f64 = level.iter().sum();
    let mut left = level[..shortest_left - 1].iter().sum::<f64>();
    let (mut best, mut step, mut place) = (0.0, 0.0, 0);
    for end in shortest_left..=level.len() - shortest {
        left += level[end - 1];
        let (count, rest) = (end as f64, (level.len() - end) as f64);
        let difference: f64 = left / count - (all - left) / rest;
        let gain = count * rest * difference * difference;
        if gain > best {
            (best, step, place) = (gain, difference.abs(), end);
        }
    }
    if place == 0 {
        return;
    }
    // A slow drift differs between the means of both sides, but not just before and behind the edge.
    let near = shortest.div_ceil(2);
    let before = median(level[place.saturating_sub(near)..place].to_vec());
    let after = median(level[place..level.len().min(place + near)].to_vec());
    if step.min((before - after).abs()) < MIN_SPEED_RATIO.ln()
        && !are_apart(&level[place.saturating_sub(shortest)..place - 1], &level[place + 1..place + shortest])
    {
        return;
    }
    cut_at_steps(&level[..place], first, shortest, edges);
    edges.push(first + place);
    cut_at_steps(&level[place..], first + place, shortest, edges);
}

/// Whether all values on one side are above all on the other, as at the side of a short phase in a long one, of which the
/// means differ little. The bins at the edge itself have a speed in between.
fn are_apart(left: &[f64], right: &[f64]) -> bool {
    let low = |values: &[f64]| values.iter().copied().fold(f64::INFINITY, f64::min);
    let high = |values: &[f64]| values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    (low(left) - high(right)).max(low(right) - high(left)) >= MIN_SPEED_RATIO.ln()
}

/// Of few values: an insertion sort is small, and the page loads it.
fn median(mut values: Vec<f64>) -> f64 {
    for end in 1..values.len() {
        let mut place = end;
        while place > 0 && values[place] < values[place - 1] {
            values.swap(place, place - 1);
            place -= 1;
        }
    }
    values[values.len() / 2]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bins of 1 GB: how many, at how many MB/s, and whether into the cache.
    fn curve(parts: &[(usize, u64, bool)]) -> Curve {
        let mut curve = Curve::default();
        let (mut at_ns, mut waited) = (0, [0, 0]);
        for &(count, speed, cached) in parts {
            for _ in 0..count {
                let took_ns = 1_000_000_000_000 / speed;
                at_ns += took_ns;
                waited[cached as usize] += took_ns;
                curve.end_ns.push(at_ns);
                curve.write_bytes.push(1_000_000_000);
                curve.read_bytes.push(0);
                curve.account.entry("waited_direct_ns_total".into()).or_insert(vec![0]).push(waited[0]);
                curve.account.entry("waited_cache_ns_total".into()).or_insert(vec![0]).push(waited[1]);
            }
        }
        curve
    }

    fn phases(parts: &[(usize, u64, bool)]) -> Vec<(&'static str, u64, u64)> {
        let rounded =
            |phase: &Phase| (phase.cause, phase.to_bytes / 1_000_000_000, (phase.bytes_per_s / 1e6).round() as u64);
        Phase::all(&curve(parts), 0, &[]).iter().map(rounded).collect()
    }

    #[test]
    fn a_short_phase_of_its_own_speed_is_not_averaged_into_its_neighbour() {
        let rows = phases(&[(330, 5000, true), (50, 1000, false), (620, 500, false)]);
        assert_eq!(rows, [("pslc", 330, 5000), ("native", 380, 1000), ("native", 1000, 500)]);
        assert_eq!(phases(&[(3, 5000, true), (997, 500, false)])[0], ("pslc", 3, 5000));
    }

    #[test]
    fn a_short_phase_late_in_a_long_one_is_not_averaged_away() {
        let rows = phases(&[(64, 567, false), (699, 397, false), (1, 434, false), (64, 567, false), (172, 397, false)]);
        assert_eq!(rows.len(), 4, "{rows:?}");
    }

    #[test]
    fn a_stretch_too_short_for_a_phase_belongs_to_a_neighbour() {
        let rows = phases(&[(300, 5000, true), (2, 900, false), (698, 500, false)]);
        assert_eq!(rows.len(), 2);
        assert_eq!(rows[0], ("pslc", 300, 5000));
    }

    #[test]
    fn a_bin_across_an_end_slows_neither_side() {
        let parts = [(300, 5000, true), (1, 909, true), (699, 500, false)];
        assert_eq!(phases(&parts), [("pslc", 300, 5000), ("native", 1000, 500)]);
        let bytes: u64 = Phase::all(&curve(&parts), 0, &[])[0].to_bytes;
        assert!((300_450_000_000..300_550_000_000).contains(&bytes), "{bytes}");
    }

    #[test]
    fn a_pause_is_in_no_speed() {
        let mut paused = curve(&[(100, 1000, true)]);
        paused.end_ns.iter_mut().skip(50).for_each(|end| *end += 30_000_000_000);
        let silent = (0..=100).map(|edge| if edge > 50 { 30_000_000_000 } else { 0 }).collect();
        paused.account.insert("host_silent_ns_total".into(), silent);
        let rows = Phase::all(&paused, 0, &[(50_000_000_000, 80_000_000_000)]);
        assert_eq!(rows.len(), 1);
        assert_eq!((rows[0].cause, rows[0].confidence), ("pslc", 1.0));
        assert!((rows[0].bytes_per_s / 1e9 - 1.0).abs() < 1e-9);
    }
}
