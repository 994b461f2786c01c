//! Units as types. A time, a logical page and a physical page are not interchangeable numbers.

use std::fmt;
use std::ops::{Add, AddAssign, Sub};

use crate::dense::Access;

/// A point on, or a span of, the drive's virtual clock, in integer nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
#[serde(try_from = "u64")]
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

/// The latest time that is read from a file, 73 years: what is added to it does not overflow.
const MAX_READ: u64 = 1 << 61;

impl TryFrom<u64> for Nanos {
    type Error = &'static str;

    fn try_from(ns: u64) -> Result<Nanos, &'static str> {
        (ns <= MAX_READ).then_some(Nanos(ns)).ok_or("a time of more than 73 years")
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

/// Bytes of one page of the flash translation layer in most drives, the smallest unit of the mapping; what a host or
/// a trace calls a page.
pub const PAGE_BYTES: u64 = 4096;

/// Bytes that an entry of the map stands for, a power of two: what the flash translation layer calls a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(try_from = "u64", into = "u64")]
pub struct MapUnit {
    shift: u32,
}

impl MapUnit {
    /// The largest unit; drives of 30 TB and more have 16 to 64 KiB.
    pub const MAX_BYTES: u64 = 64 << 10;

    /// Bytes of one unit.
    #[inline(always)]
    pub fn size(self) -> u64 {
        1 << self.shift
    }

    /// Bytes of so many units.
    #[inline(always)]
    pub fn bytes(self, units: u64) -> u64 {
        units << self.shift
    }

    /// Whole units in so many bytes: also the unit in which a byte offset is.
    #[inline(always)]
    pub fn whole(self, bytes: u64) -> u64 {
        bytes >> self.shift
    }

    /// Units that so many bytes need.
    #[inline(always)]
    pub fn needed(self, bytes: u64) -> u64 {
        (bytes + self.size() - 1) >> self.shift
    }

    /// Whether a unit begins at this byte offset.
    #[inline(always)]
    pub fn begins_at(self, offset: u64) -> bool {
        offset & (self.size() - 1) == 0
    }
}

impl Default for MapUnit {
    fn default() -> MapUnit {
        MapUnit { shift: PAGE_BYTES.trailing_zeros() }
    }
}

impl TryFrom<u64> for MapUnit {
    type Error = &'static str;

    fn try_from(bytes: u64) -> Result<MapUnit, &'static str> {
        if bytes.is_power_of_two() && (PAGE_BYTES..=MapUnit::MAX_BYTES).contains(&bytes) {
            Ok(MapUnit { shift: bytes.trailing_zeros() })
        } else {
            Err("a mapping unit that is no power of two from 4 to 64 KiB")
        }
    }
}

impl From<MapUnit> for u64 {
    fn from(unit: MapUnit) -> u64 {
        unit.size()
    }
}

/// The number of a page in one of the two address spaces that the mapping relates.
pub trait PageNumber: Copy + Eq {
    /// How a map of it is walked.
    const ACCESS: Access;
    fn new(number: u32) -> Self;
    fn number(self) -> u32;
}

macro_rules! page_number {
    ($(#[$about:meta])* $name:ident, $access:ident) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
        pub struct $name(pub u32);

        impl $name {
            /// No page: nothing is mapped here.
            pub const NONE: $name = $name(u32::MAX);
        }

        impl PageNumber for $name {
            const ACCESS: Access = Access::$access;
            #[inline(always)]
            fn new(number: u32) -> $name {
                $name(number)
            }
            #[inline(always)]
            fn number(self) -> u32 {
                self.0
            }
        }

        impl Add<u32> for $name {
            type Output = $name;
            #[inline(always)]
            fn add(self, pages: u32) -> $name {
                $name(self.0 + pages)
            }
        }

        impl AddAssign<u32> for $name {
            #[inline(always)]
            fn add_assign(&mut self, pages: u32) {
                self.0 += pages;
            }
        }

        /// Pages from one to the other.
        impl Sub for $name {
            type Output = u32;
            #[inline(always)]
            fn sub(self, other: $name) -> u32 {
                self.0 - other.0
            }
        }
    };
}

page_number! {
    /// A logical page number: which 4 KiB of what the host addresses.
    Lpn, Random
}
page_number! {
    /// A physical page number: which 4 KiB of the NAND, counted superblock by superblock.
    Ppn, Sequential
}
