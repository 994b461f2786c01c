//! Phases of a run, by the drive's own counters: runs of bins in which what the host wrote went the same way.

use serde::Serialize;

use crate::curve::Curve;

/// Copied for every byte that the host wrote, above which copying is what the phase is about.
const MIN_COPIED_RATIO: f64 = 0.1;
/// A phase has this share of all bins at least; what is shorter belongs to the one before it.
const MIN_PHASE_SHARE: f64 = 0.01;

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

/// A phase. Positions count all bytes that were moved since the run began.
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
        let mut causes: Vec<Cause> = (0..curve.len()).map(|bin| cause(curve, bin)).collect();
        let shortest = (curve.len() as f64 * MIN_PHASE_SHARE).ceil() as usize;
        absorb_short_runs(&mut causes, shortest);
        let mut phases: Vec<Phase> = Vec::new();
        let (mut bytes, mut time) = (0, start_ns);
        for (bin, &cause) in causes.iter().enumerate() {
            let (from_bytes, from_ns) = (bytes, time);
            bytes += curve.write_bytes[bin] + curve.read_bytes[bin];
            time = curve.end_ns[bin];
            match phases.last_mut() {
                Some(phase) if phase.cause == cause => (phase.to_bytes, phase.to_ns) = (bytes, time),
                _ => phases.push(Phase {
                    cause,
                    from_bytes,
                    to_bytes: bytes,
                    from_ns,
                    to_ns: time,
                    bytes_per_s: 0.0,
                }),
            }
        }
        for phase in &mut phases {
            let within =
                |(from, to): &(u64, u64)| (*to).min(phase.to_ns).saturating_sub((*from).max(phase.from_ns));
            let paused: u64 = pauses.iter().map(within).sum();
            let seconds = (phase.to_ns - phase.from_ns).saturating_sub(paused) as f64 / 1e9;
            phase.bytes_per_s = (phase.to_bytes - phase.from_bytes) as f64 / seconds.max(1e-9);
        }
        phases
    }
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

/// Runs shorter than `shortest` take the cause of the run before them; the first that of the one behind it.
fn absorb_short_runs(causes: &mut [Cause], shortest: usize) {
    let mut at = 0;
    while at < causes.len() {
        let length = causes[at..].iter().take_while(|cause| **cause == causes[at]).count();
        let end = at + length;
        let neighbour = if at > 0 { Some(causes[at - 1]) } else { causes.get(end).copied() };
        match neighbour {
            Some(neighbour) if length < shortest => {
                causes[at..end].fill(neighbour);
                // A first run that has joined the next is looked at again with it.
                at = if at > 0 { end } else { 0 };
            }
            _ => at = end,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_too_short_for_a_phase_belongs_to_the_one_before() {
        use Cause::{Cache, Direct, Folding};
        let mut causes = [Direct, Cache, Cache, Cache, Folding, Cache, Direct, Direct, Direct];
        absorb_short_runs(&mut causes, 2);
        assert_eq!(causes, [Cache, Cache, Cache, Cache, Cache, Cache, Direct, Direct, Direct]);
    }
}
