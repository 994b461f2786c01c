//! Jobs that look at what they measure: until it is steady (`steadystate`), to find the depth that keeps a latency
//! (`latency_target`), or to end where it is too slow (`rate_min`).

use pslc_ssd::Nanos;

use super::values;
use super::ByKind;
use crate::option_fault::OptionFault;

/// What is looked at each second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// Requests a second.
    Requests,
    /// Bytes a second.
    Bytes,
}

/// A job ends once it is steady: over `duration` seconds no rate of a second differs from their mean by as much as
/// `limit`, or their slope is below it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SteadyState {
    pub of: Measure,
    /// Of the line through the rates by least squares; otherwise the largest deviation from the mean.
    pub slope: bool,
    /// A second, or with `percent` of the mean.
    pub limit: f64,
    pub percent: bool,
    /// Whole seconds, at least 1.
    pub duration: u32,
    /// The first rate is that of the second which begins then or later.
    pub ramp: Nanos,
}

/// Seconds that are looked at together: far more than a measurement needs.
const LONGEST: u64 = 1_000_000;

impl SteadyState {
    /// fio's `steadystate`, `steadystate_duration` and `steadystate_ramp_time`; without a duration nothing is looked at.
    pub fn new(text: &str, duration: Nanos, ramp: Nanos, kb_base: u64) -> Result<Option<SteadyState>, OptionFault> {
        let (name, limit) = text.split_once(':').unwrap_or((text, ""));
        let (of, slope) = match name.trim() {
            "iops" => (Measure::Requests, false),
            "iops_slope" => (Measure::Requests, true),
            "bw" => (Measure::Bytes, false),
            "bw_slope" => (Measure::Bytes, true),
            _ => return Err(OptionFault::NoCriterion { name: name.into() }),
        };
        let share = limit.trim().strip_suffix('%');
        let limit = match (share, of) {
            (None, Measure::Bytes) => values::size(limit, 0, kb_base)? as f64,
            _ => values::decimal(share.unwrap_or(limit))?,
        };
        let seconds = duration.0 / 1_000_000_000;
        if seconds > LONGEST {
            return Err(OptionFault::LongSteadyState { seconds, max: LONGEST });
        }
        let percent = share.is_some();
        Ok((seconds > 0).then_some(SteadyState { of, slope, limit, percent, duration: seconds as u32, ramp }))
    }
}

/// The largest depth is looked for at which enough requests of each window take at most `target`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LatencyTarget {
    pub target: Nanos,
    pub window: Nanos,
    /// Percent of the requests; with 100, one that is late is enough to go down.
    pub percentile: f64,
    /// Go on looking until the job ends otherwise; or else one more window at the depth that was found is measured.
    pub run: bool,
}

/// A job that moves less than this ends the run with an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeastRate {
    /// A second.
    pub bytes: ByKind<Option<u64>>,
    pub requests: ByKind<Option<u64>>,
    /// Over how long at least.
    pub cycle: Nanos,
}

impl LeastRate {
    pub fn is_some(&self) -> bool {
        self.bytes != ByKind::default() || self.requests != ByKind::default()
    }
}

impl Default for LeastRate {
    /// fio's.
    fn default() -> LeastRate {
        let none = ByKind::default();
        LeastRate { bytes: none, requests: none, cycle: Nanos::from_secs(1) }
    }
}
