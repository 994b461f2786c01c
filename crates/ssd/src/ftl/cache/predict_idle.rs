//! Folding begins early in a silence that will be long. Most of the last silences tell: where they outlasted the profile's
//! threshold the drive waits for a tenth of it only, and where they did not it waits as always. While the host writes it
//! is as with `direct-then-fold`.
//!
//! That past idle periods foretell the next: R. Golding, P. Bosch, C. Staelin, T. Sullivan, J. Wilkes, "Idleness is not
//! sloth", USENIX 1995.

use super::{Overflow, Policy, View, WriteThrottle};
use crate::ftl::silences::Silences;
use crate::units::Nanos;

pub struct PredictIdle;

impl Policy for PredictIdle {
    const OVERFLOW: Overflow = Overflow::Native;
    const PREDICTS: bool = true;

    fn throttle(_: &View) -> WriteThrottle {
        WriteThrottle::None
    }

    fn idle_start(threshold: Nanos, silences: &Silences) -> Option<Nanos> {
        let long = silences.median().is_some_and(|median| median > threshold);
        Some(if long { Nanos(threshold.0 / 10) } else { threshold })
    }
}
