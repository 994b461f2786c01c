//! Phases of a run: stretches of bins at one speed, in which what the host wrote went the same way by the drive's counters.
//!
//! ```text
//!   causes of bins -> runs -> short runs join the neighbour nearest in speed -> cut where the speed changes for good
//!                  -> each end placed within the bins that lie across it
//! ```

use serde::Serialize;

use crate::curve::Curve;

/// Copied for every byte that the host wrote, above which copying is what the phase is about.
const MIN_COPIED_RATIO: f64 = 0.1;
/// A phase has this share of all bins at least, as in `pslc.analysis.thresholds`; the first one may be shorter.
const MIN_PHASE_SHARE: f64 = 0.005;
/// A phase that only its speed tells from the one before has this share of all bins at least: shorter ones are ripple.
const MIN_SPEED_PHASE_SHARE: f64 = 0.02;
/// The smallest change of speed that divides a phase, as in `pslc.analysis.thresholds`.
const MIN_SPEED_RATIO: f64 = 1.12;
/// Fewest bins of a phase, and of the first one.
const MIN_PHASE_BINS: usize = 4;
const MIN_FIRST_BINS: usize = 2;
/// Bins to either side whose median stands for a bin, so that one across an end makes no phase.
const MEDIAN_REACH_BINS: usize = 3;

/// Where what the host writes goes, in the words of `pslc.analysis.CAUSES`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Cause {
    /// Into pSLC cells, with nothing else to do.
    #[serde(rename = "pslc")]
    Cache,
    /// Into native cells at once.
    #[serde(rename = "direct")]
    Direct,
    /// Room in the cache is made by moving what it holds.
    #[serde(rename = "fold")]
    Folding,
    /// Into native cells, while the cache is emptied.
    #[serde(rename = "direct-while-folding")]
    DirectWhileFolding,
    /// Room is made by moving what is still valid out of superblocks with few valid pages.
    #[serde(rename = "gc")]
    GarbageCollection,
    /// The host reads.
    #[serde(rename = "read")]
    Reading,
}

/// A phase. Positions count all bytes that were moved since the run began; an end may lie within a bin.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Phase {
    pub cause: Cause,
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
        let runs: Vec<Run> =
            bins.absorb_short_runs(&Run::all(curve)).into_iter().flat_map(|run| bins.cut(run)).collect();
        let mut ends = vec![bins.end(0)];
        ends.extend(runs.windows(2).map(|pair| bins.end_between(pair[0], pair[1])));
        ends.push(bins.end(curve.len()));
        let phase = |(run, pair): (&Run, &[End])| {
            let busy_s = (pair[1].busy_ns - pair[0].busy_ns) / 1e9;
            Phase {
                cause: run.cause,
                from_bytes: pair[0].moved.round() as u64,
                to_bytes: pair[1].moved.round() as u64,
                from_ns: pair[0].at_ns,
                to_ns: pair[1].at_ns,
                bytes_per_s: (pair[1].moved - pair[0].moved) / busy_s.max(1e-9),
            }
        };
        runs.iter().zip(ends.windows(2)).map(phase).collect()
    }
}

/// Bins `from..to`, of one cause.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Run {
    cause: Cause,
    from: usize,
    to: usize,
}

impl Run {
    fn all(curve: &Curve) -> Vec<Run> {
        let mut runs: Vec<Run> = Vec::new();
        for bin in 0..curve.len() {
            match (cause(curve, bin), runs.last_mut()) {
                (cause, Some(run)) if run.cause == cause => run.to = bin + 1,
                (cause, _) => runs.push(Run { cause, from: bin, to: bin + 1 }),
            }
        }
        runs
    }

    fn len(&self) -> usize {
        self.to - self.from
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

    fn log_speed(&self, from: usize, to: usize) -> f64 {
        self.speed(from, to).max(f64::MIN_POSITIVE).ln()
    }

    fn end(&self, edge: usize) -> End {
        End { moved: self.moved[edge], busy_ns: self.busy_ns[edge], at_ns: self.at_ns[edge] }
    }

    /// Runs that are long enough for a phase. Short ones between two of them join the one that they are nearer in speed;
    /// as many as make a phase together are one, of the cause that most of its bins have.
    fn absorb_short_runs(&self, runs: &[Run]) -> Vec<Run> {
        let shortest = self.share(MIN_PHASE_SHARE).max(MIN_PHASE_BINS);
        let is_short = |run: &Run| run.len() < if run.from == 0 { MIN_FIRST_BINS } else { shortest };
        let mut merged: Vec<Run> = Vec::new();
        for group in runs.chunk_by(|run, next| is_short(run) && is_short(next)) {
            let Run { from, to, .. } = Run { to: group[group.len() - 1].to, ..group[0] };
            let joins = to - from < shortest && is_short(&group[0]);
            let before = merged.last().copied();
            let after = runs.iter().find(|run| run.from == to).copied();
            match (joins, before, after) {
                (true, Some(before), Some(after)) => {
                    let edge = self.edge_between(before, group, after);
                    merged.push(Run { cause: before.cause, from, to: edge });
                    merged.push(Run { cause: after.cause, from: edge, to });
                }
                (true, Some(neighbour), None) | (true, None, Some(neighbour)) => {
                    merged.push(Run { cause: neighbour.cause, from, to });
                }
                _ => merged.push(Run { cause: most_frequent(group), from, to }),
            }
        }
        merged.retain(|run| run.len() > 0);
        merged.dedup_by(|run, before| {
            let same = run.cause == before.cause;
            before.to = if same { run.to } else { before.to };
            same
        });
        merged
    }

    /// Where short runs change from the speed of the run before them to that of the run behind them.
    fn edge_between(&self, before: Run, short: &[Run], after: Run) -> usize {
        let off = |run: &Run, side: Run| {
            let difference = self.log_speed(run.from, run.to) - self.log_speed(side.from, side.to);
            run.len() as f64 * difference.abs()
        };
        let cost = |count: usize| {
            let (left, right) = short.split_at(count);
            left.iter().map(|run| off(run, before)).sum::<f64>()
                + right.iter().map(|run| off(run, after)).sum::<f64>()
        };
        let costs: Vec<f64> = (0..=short.len()).map(cost).collect();
        let best = (0..costs.len()).min_by(|&a, &b| costs[a].total_cmp(&costs[b])).unwrap_or(0);
        short.get(best).map_or(after.from, |run| run.from)
    }

    fn share(&self, share: f64) -> usize {
        (self.count() as f64 * share).ceil() as usize
    }

    /// A run, cut where its speed changes for good.
    fn cut(&self, run: Run) -> Vec<Run> {
        let single: Vec<f64> = (run.from..run.to).map(|bin| self.log_speed(bin, bin + 1)).collect();
        let level: Vec<f64> = (0..single.len())
            .map(|bin| {
                let to = (bin + MEDIAN_REACH_BINS + 1).min(single.len());
                median(single[bin.saturating_sub(MEDIAN_REACH_BINS)..to].to_vec())
            })
            .collect();
        let shortest = self.share(MIN_SPEED_PHASE_SHARE).max(MIN_PHASE_BINS);
        let mut edges = vec![run.from];
        cut_at_steps(&level, run.from, shortest, &mut edges);
        edges.push(run.to);
        edges.windows(2).map(|pair| Run { cause: run.cause, from: pair[0], to: pair[1] }).collect()
    }

    /// The end of a run within the two bins at it, whose speed is in between: where both sides would go on at the speed
    /// of their other bins.
    fn end_between(&self, run: Run, next: Run) -> End {
        let (edge, last) = (run.to, self.count());
        let plain = self.end(edge);
        let from = if run.from > 0 { run.from + 1 } else { 0 };
        let to = if next.to < last { next.to - 1 } else { last };
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
    if level.len() < 2 * shortest {
        return;
    }
    let all: f64 = level.iter().sum();
    let mut left = level[..shortest - 1].iter().sum::<f64>();
    let (mut best, mut step, mut place) = (0.0, 0.0, 0);
    for end in shortest..=level.len() - shortest {
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
    if step.min((before - after).abs()) < MIN_SPEED_RATIO.ln() {
        return;
    }
    cut_at_steps(&level[..place], first, shortest, edges);
    edges.push(first + place);
    cut_at_steps(&level[place..], first + place, shortest, edges);
}

fn most_frequent(runs: &[Run]) -> Cause {
    let bins = |cause: Cause| runs.iter().filter(|run| run.cause == cause).map(Run::len).sum::<usize>();
    runs.iter().map(|run| run.cause).max_by_key(|cause| bins(*cause)).expect("a group has runs")
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

fn cause(curve: &Curve, bin: usize) -> Cause {
    let (slc, native) = (curve.to_slc_bytes[bin] as f64, curve.to_native_bytes[bin] as f64);
    let written = slc + native;
    if curve.write_bytes[bin] == 0 && curve.read_bytes[bin] > 0 {
        return Cause::Reading;
    }
    let folds = curve.folded_bytes[bin] as f64 > MIN_COPIED_RATIO * written;
    let collects = curve.collected_bytes[bin] as f64 > MIN_COPIED_RATIO * written;
    match (slc >= native, folds) {
        (_, false) if collects => Cause::GarbageCollection,
        (true, true) => Cause::Folding,
        (true, false) => Cause::Cache,
        (false, true) => Cause::DirectWhileFolding,
        (false, false) => Cause::Direct,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bins of 1 GB: how many, at how many MB/s, and whether into the cache.
    fn curve(parts: &[(usize, u64, bool)]) -> Curve {
        let mut curve = Curve::default();
        let mut at_ns = 0;
        for &(count, speed, cached) in parts {
            for _ in 0..count {
                at_ns += 1_000_000_000_000 / speed;
                curve.end_ns.push(at_ns);
                curve.write_bytes.push(1_000_000_000);
                curve.read_bytes.push(0);
                curve.to_slc_bytes.push(if cached { 1_000_000_000 } else { 0 });
                curve.to_native_bytes.push(if cached { 0 } else { 1_000_000_000 });
                curve.folded_bytes.push(0);
                curve.collected_bytes.push(0);
            }
        }
        curve
    }

    fn phases(parts: &[(usize, u64, bool)]) -> Vec<(Cause, u64, u64)> {
        let rounded = |phase: &Phase| {
            (phase.cause, phase.to_bytes / 1_000_000_000, (phase.bytes_per_s / 1e6).round() as u64)
        };
        Phase::all(&curve(parts), 0, &[]).iter().map(rounded).collect()
    }

    #[test]
    fn a_short_phase_of_its_own_speed_is_not_averaged_into_its_neighbour() {
        let rows = phases(&[(330, 5000, true), (10, 1000, false), (660, 500, false)]);
        assert_eq!(rows[0], (Cause::Cache, 330, 5000));
        assert_eq!(rows[1], (Cause::Direct, 1000, 503));
        let rows = phases(&[(330, 5000, true), (50, 1000, false), (620, 500, false)]);
        assert_eq!(rows[1..], [(Cause::Direct, 380, 1000), (Cause::Direct, 1000, 500)]);
    }

    #[test]
    fn a_run_too_short_for_a_phase_belongs_to_the_neighbour_of_its_speed() {
        let rows = phases(&[(300, 5000, true), (2, 500, false), (2, 500, true), (696, 500, false)]);
        assert_eq!(rows, [(Cause::Cache, 300, 5000), (Cause::Direct, 1000, 500)]);
    }

    #[test]
    fn a_bin_across_an_end_slows_neither_side() {
        let rows = phases(&[(300, 5000, true), (1, 909, true), (699, 500, false)]);
        assert_eq!(rows, [(Cause::Cache, 300, 5000), (Cause::Direct, 1000, 500)]);
        let bytes: u64 =
            Phase::all(&curve(&[(300, 5000, true), (1, 909, true), (699, 500, false)]), 0, &[])[0].to_bytes;
        assert!((300_450_000_000..300_550_000_000).contains(&bytes), "{bytes}");
    }

    #[test]
    fn a_pause_is_in_no_speed() {
        let mut paused = curve(&[(100, 1000, true)]);
        paused.end_ns.iter_mut().skip(50).for_each(|end| *end += 30_000_000_000);
        let rows = Phase::all(&paused, 0, &[(50_000_000_000, 80_000_000_000)]);
        assert_eq!(rows.len(), 1);
        assert!((rows[0].bytes_per_s / 1e9 - 1.0).abs() < 1e-9);
    }
}
