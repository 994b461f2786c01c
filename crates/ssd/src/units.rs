//! Units as types. A time, a logical page and a physical page are not interchangeable numbers.

use std::fmt;
use std::ops::{Add, AddAssign, Sub};

/// A point on, or a span of, the drive's virtual clock, in integer nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Nanos(pub u64);

impl Nanos {
    pub const ZERO: Nanos = Nanos(0);
    /// Later than any time a run can reach: "not yet", "never".
    pub const MAX: Nanos = Nanos(u64::MAX);

    pub const fn from_micros(us: u64) -> Nanos {
        Nanos(us * 1_000)
    }
    pub const fn from_millis(ms: u64) -> Nanos {
        Nanos(ms * 1_000_000)
    }
    pub const fn from_secs(s: u64) -> Nanos {
        Nanos(s * 1_000_000_000)
    }
    pub fn saturating_sub(self, other: Nanos) -> Nanos {
        Nanos(self.0.saturating_sub(other.0))
    }
    pub fn saturating_add(self, other: Nanos) -> Nanos {
        Nanos(self.0.saturating_add(other.0))
    }
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }
}

impl Add for Nanos {
    type Output = Nanos;
    fn add(self, other: Nanos) -> Nanos {
        Nanos(self.0 + other.0)
    }
}

impl AddAssign for Nanos {
    fn add_assign(&mut self, other: Nanos) {
        self.0 += other.0;
    }
}

impl Sub for Nanos {
    type Output = Nanos;
    fn sub(self, other: Nanos) -> Nanos {
        Nanos(self.0 - other.0)
    }
}

impl fmt::Display for Nanos {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            n if n < 1_000 => write!(f, "{n}ns"),
            n if n < 1_000_000 => write!(f, "{}us", n as f64 / 1e3),
            n if n < 1_000_000_000 => write!(f, "{}ms", n as f64 / 1e6),
            n => write!(f, "{}s", n as f64 / 1e9),
        }
    }
}

/// Bytes of one page of the flash translation layer, the unit of the mapping.
pub const PAGE_BYTES: u64 = 4096;
