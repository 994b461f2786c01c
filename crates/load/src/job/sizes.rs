//! Where a job works and how large its requests are.

use pslc_ssd::Op;

use super::Job;

/// One value each for reads, writes and trims, as fio's comma-separated options give them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct ByKind<T> {
    pub read: T,
    pub write: T,
    pub trim: T,
}

impl<T> ByKind<T> {
    pub fn all(value: T) -> ByKind<T>
    where
        T: Clone,
    {
        ByKind { read: value.clone(), write: value.clone(), trim: value }
    }

    /// Flushes are none of the three and count as writes.
    #[inline]
    pub fn of(&self, op: Op) -> &T {
        match op {
            Op::Read => &self.read,
            Op::Trim => &self.trim,
            _ => &self.write,
        }
    }

    pub fn each<U>(&self, f: impl Fn(&T) -> U) -> ByKind<U> {
        ByKind { read: f(&self.read), write: f(&self.write), trim: f(&self.trim) }
    }

    pub fn zip<U, V>(&self, other: &ByKind<U>, f: impl Fn(&T, &U) -> V) -> ByKind<V> {
        ByKind {
            read: f(&self.read, &other.read),
            write: f(&self.write, &other.write),
            trim: f(&self.trim, &other.trim),
        }
    }

    pub fn array(self) -> [T; 3] {
        [self.read, self.write, self.trim]
    }
}

impl<T: Ord + Copy> ByKind<T> {
    pub fn smallest(&self) -> T {
        self.read.min(self.write).min(self.trim)
    }

    pub fn largest(&self) -> T {
        self.read.max(self.write).max(self.trim)
    }
}

/// The sizes of requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sizes {
    One(u32),
    /// From the one to the other, in multiples of the smaller.
    Range(u32, u32),
    /// Sizes and the share of each in percent.
    Split(Vec<(u32, u32)>),
}

impl Sizes {
    pub fn smallest(&self) -> u32 {
        match self {
            Sizes::One(size) | Sizes::Range(size, _) => *size,
            Sizes::Split(split) => split.iter().map(|&(size, _)| size).min().expect("it is not empty"),
        }
    }

    pub fn largest(&self) -> u32 {
        match self {
            Sizes::One(size) | Sizes::Range(_, size) => *size,
            Sizes::Split(split) => split.iter().map(|&(size, _)| size).max().expect("it is not empty"),
        }
    }
}

impl ByKind<Sizes> {
    /// Every request is of one size.
    pub fn is_one(&self) -> bool {
        let smallest = self.each(Sizes::smallest);
        self.each(Sizes::largest) == smallest && smallest.smallest() == smallest.largest()
    }
}

/// Shares of the requests, in percent, and the part of the region that each goes to, one after the other.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Zones {
    pub list: Vec<(u32, u64)>,
    /// Parts are in bytes, not in percent.
    pub absolute: bool,
}

impl Zones {
    /// The blocks of the zone that the request at `percent` of all (below 100) goes to: the first, and that after the
    /// last. Of `blocks` blocks of `align` bytes.
    pub fn blocks(&self, percent: u32, blocks: u64, align: u64) -> (u64, u64) {
        let (mut share, mut at) = (0, 0);
        for &(part, size) in &self.list {
            share += part;
            if percent < share {
                return if self.absolute {
                    (at / align, (at + size) / align)
                } else {
                    let from = at * blocks / 100;
                    (from, from + blocks * size / 100)
                };
            }
            at += size;
        }
        (0, blocks)
    }
}

/// A size as it was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Asked {
    /// Bytes, or percent.
    pub size: Option<(u64, bool)>,
    /// Percent of the region to move.
    pub io_percent: Option<u64>,
    /// The smallest and the largest size of the file.
    pub filesize: Option<(u64, u64)>,
}

/// Requests stay in a zone until so many bytes have moved, and then go on behind it (fio's `zonemode=strided`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Strided {
    /// Bytes to move in each zone.
    pub bytes: u64,
    /// Bytes of a zone.
    pub range: u64,
    /// Bytes between two.
    pub skip: u64,
}

/// Where a clone of a job works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    pub start: u64,
    /// Bytes of the region; requests begin in it.
    pub region: u64,
    /// Bytes of one pass over it.
    pub pass: u64,
}

impl Job {
    /// Where clone `clone` works: fio's rules for `size`, `filesize`, `offset` and their percentages, on a target that
    /// is one file.
    pub fn extent(&self, clone: u64) -> Extent {
        let start = self.offset.saturating_add(self.offset_increment.saturating_mul(clone));
        let start = start.div_ceil(self.offset_align).saturating_mul(self.offset_align).min(self.capacity);
        let smallest = self.sizes.each(Sizes::smallest).smallest() as u64;
        let rest = self.capacity - start;
        let bytes = self.asked.size.and_then(|(size, percent)| (!percent && size > 0).then_some(size));
        let mut region = match self.asked.filesize {
            Some((low, high)) if self.capacity < low || self.capacity > high => {
                low.midpoint(high).saturating_sub(start)
            }
            Some(_) => rest,
            None => bytes.unwrap_or(rest),
        };
        if let Some((percent, true)) = self.asked.size {
            if percent != 100 {
                let file = region as u128 + start as u128;
                region = ((file * percent as u128 / 100) as u64).min(region);
                region -= region % smallest;
            }
        }
        let total = match self.asked.io_percent {
            Some(percent) => (region as u128 * percent as u128 / 100) as u64,
            None => region,
        };
        Extent { start, region, pass: bytes.map_or(total, |size| size.min(total)) }
    }
}
