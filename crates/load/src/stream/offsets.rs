//! Where requests begin: in sequence, each direction from a position of its own, or at random.

use pslc_ssd::Op;
use rand_core::Rng;
use rand_pcg::Pcg64Mcg;

use super::map::Map;
use super::permutation::Permutation;
use super::zipf::Zipf;
use super::{below, unit};
use crate::job::{ByKind, Distribution, Extent, Job, Mix, Strided, Zones};

/// How random offsets are found.
#[derive(Clone, Debug)]
enum Order {
    /// Every block once; requests are all of one size.
    Once {
        places: Permutation,
        drawn: u64,
    },
    /// No block twice; requests of several sizes are cut where a block had its turn.
    Mapped(Map),
    Uniform,
    Zipf(Zipf, Permutation),
    /// The exponent of Pareto's principle: rank r of n blocks is below x n with probability x^(1 / exponent).
    Pareto(f64, Permutation),
    /// The deviation, in blocks.
    Normal(u64, Permutation),
    Zoned(Box<ByKind<Zones>>),
}

/// Where a request begins, in bytes from the beginning of the region, and whether that was drawn.
#[derive(Clone, Copy, Debug)]
pub struct Offset {
    pub at: u64,
    pub random: bool,
}

#[derive(Clone, Debug)]
pub struct Offsets {
    start: u64,
    region: u64,
    end: u64,
    random: bool,
    order: Order,
    /// Blocks of every kind, to which random offsets are aligned, and how many there are.
    align: [u64; 3],
    blocks: [u64; 3],
    /// What a block of the map is.
    min_bytes: [u64; 3],
    /// Random requests, and those that follow one: one in `run` is random.
    run: u32,
    run_left: u32,
    /// Bytes between the end of a request in sequence and the next.
    hole: i64,
    identical: bool,
    percentage: [u32; 3],
    trim_write: bool,
    /// Of the last request of each kind, from the beginning of the region: where it began, and where it ended.
    last: [Option<u64>; 3],
    position: [u64; 3],
    strided: Option<Strided>,
    /// Where the zone begins, from the beginning of the region, and bytes made in it.
    zone: u64,
    in_zone: u64,
    draws: Pcg64Mcg,
    chances: Pcg64Mcg,
    /// It began anew, since that was asked last.
    again: bool,
}

impl Offsets {
    /// fio has a generator of its own for blocks of which some are hot, which it does not set back for a further pass.
    pub fn go_on_drawing(&mut self, before: &Offsets) {
        if matches!(self.order, Order::Zipf(..) | Order::Pareto(..) | Order::Normal(..)) {
            self.draws = before.draws.clone();
        }
    }

    pub fn new(job: &Job, extent: &Extent, generator: impl Fn(u64) -> Pcg64Mcg) -> Offsets {
        let mut draws = generator(0);
        let min_bytes = job.sizes.each(|sizes| sizes.smallest() as u64);
        let region = match job.strided {
            Some(zones) => zones.range,
            None => extent.region.min(job.capacity - extent.start),
        };
        let (align, min) = (job.align.each(|&align| align as u64), min_bytes.smallest());
        let files = job.files.map_or(0, |files| files.min(region / min * min));
        let ranks = region.div_ceil(min_bytes.read.min(min_bytes.write)).max(1);
        let align = if files > 0 { ByKind::all(files) } else { align };
        let blocks =
            align.zip(&min_bytes, |&align, &min_bytes| (region - min_bytes.saturating_sub(align).min(region)) / align);
        let uniform = job.sizes.is_one() && align == min_bytes && min == job.bs.largest() as u64;
        let mut permutation = |len: u64| Permutation::new(len, draws.next_u64());
        let order = match &job.distribution {
            _ if files > 0 => Order::Once { places: permutation((region / files).max(1)), drawn: 0 },
            Distribution::Zipf(theta) => Order::Zipf(Zipf::new(ranks, *theta), permutation(ranks)),
            Distribution::Pareto(share) => {
                Order::Pareto(libm::log(*share) / libm::log(1.0 - share), permutation(ranks))
            }
            Distribution::Normal(percent) => {
                let deviation = (ranks as f64 * percent / 100.0).ceil() as u64;
                Order::Normal(deviation.min(ranks / 2), permutation(ranks))
            }
            Distribution::Zoned(zones) => Order::Zoned(zones.clone()),
            Distribution::Uniform if job.norandommap || !job.rw.random => Order::Uniform,
            Distribution::Uniform if uniform => Order::Once { places: permutation((region / min).max(1)), drawn: 0 },
            Distribution::Uniform => Order::Mapped(Map::new(region / min)),
        };
        Offsets {
            start: extent.start,
            region: extent.region,
            end: job.capacity - extent.start,
            random: job.rw.random,
            order,
            align: align.array(),
            blocks: blocks.array(),
            min_bytes: min_bytes.array(),
            run: if files > 0 { (files / min) as u32 } else { job.rw.run },
            run_left: 0,
            hole: job.rw.hole,
            identical: job.rw.identical,
            percentage: job.percentage_random.array(),
            trim_write: job.rw.mix == Mix::TrimWrite,
            last: [None; 3],
            position: [0; 3],
            strided: job.strided,
            zone: 0,
            in_zone: 0,
            draws,
            chances: generator(3),
            again: false,
        }
    }

    /// The next request is of a new pass, or comes after the end of the region was reached.
    pub fn begins_anew(&mut self) {
        self.again = true;
    }

    /// Whether it began anew since the last call.
    #[inline]
    pub fn take_again(&mut self) -> bool {
        std::mem::take(&mut self.again)
    }

    pub fn start(&self) -> u64 {
        self.start
    }

    /// Bytes from `at` to the end of the region.
    pub fn room(&self, at: u64) -> u64 {
        self.region.saturating_sub(at)
    }

    /// Whether the last trim was followed by its write.
    pub fn is_paired(&self) -> bool {
        self.last[Op::Trim as usize] == self.last[Op::Write as usize]
    }

    /// Bytes that were trimmed last, where a write of this kind follows at their place.
    pub fn trimmed(&self, op: Op, at: u64) -> Option<u64> {
        let trim = Op::Trim as usize;
        let pairs = self.trim_write && op == Op::Write && self.last[trim] == Some(at);
        pairs.then(|| self.position[trim] - at)
    }

    /// To the beginning, with all blocks free.
    pub fn rewind(&mut self) {
        (self.zone, self.in_zone) = (0, 0);
        self.rewind_zone();
    }

    /// To the beginning of the zone, with all its blocks free. Without zones all is one.
    fn rewind_zone(&mut self) {
        self.position = [self.zone; 3];
        self.last = [None; 3];
        let blocks = self.blocks_of_map();
        match &mut self.order {
            Order::Once { places, drawn } => {
                *places = Permutation::new(places.len(), self.draws.next_u64());
                *drawn = 0;
            }
            Order::Mapped(map) => *map = Map::new(blocks),
            _ => {}
        }
    }

    fn blocks_of_map(&self) -> u64 {
        let bytes = self.strided.map_or(self.region.min(self.end), |zones| zones.range);
        bytes / self.min_bytes.iter().min().expect("three kinds")
    }

    /// To the zone of the next request of this kind: the next one once all that it is to move has moved, and to its
    /// beginning once its end is reached.
    #[cold]
    fn enter_zone(&mut self, kind: usize, Strided { bytes, range, skip }: Strided) {
        if self.in_zone >= bytes {
            self.in_zone = 0;
            self.zone = self.zone.saturating_add(range).saturating_add(skip);
            if self.zone >= self.end {
                self.zone = 0;
            }
        }
        if self.position[kind] >= self.zone.saturating_add(range) {
            self.position[kind] = self.zone;
        }
        if self.in_zone % range == 0 {
            self.rewind_zone();
        }
    }

    /// Where the next request of this kind begins; `None`: there is no more in this pass.
    #[inline]
    pub fn next(&mut self, op: Op, time_based: bool) -> Option<Offset> {
        let kind = op as usize;
        if let Some(strided) = self.strided {
            self.enter_zone(kind, strided);
        }
        if self.trim_write && op == Op::Write && self.random {
            let at = self.last[Op::Trim as usize]?;
            return Some(Offset { at, random: true });
        }
        let draw = match self.run_left {
            0 => {
                self.run_left = self.run - 1;
                true
            }
            _ => {
                self.run_left -= 1;
                false
            }
        };
        let offset = if !draw && self.identical {
            Offset { at: self.last[kind].map_or(0, |at| at - self.zone), random: false }
        } else if draw && self.random && self.is_drawn(kind) {
            Offset { at: self.random(kind, time_based)?, random: true }
        } else {
            match self.in_sequence(kind, time_based) {
                Some(at) => Offset { at, random: false },
                None if self.random => Offset { at: self.random(kind, time_based)?, random: draw },
                None => return None,
            }
        };
        let at = self.zone + offset.at;
        (offset.at < self.region && at < self.end).then_some(Offset { at, ..offset })
    }

    /// Whether the next requests of this kind, so many of that length, are in sequence or anywhere at random, with the
    /// region's end not among them, and none past `end` of the target.
    pub fn are_alike(&self, op: Op, count: u64, len: u64, end: u64) -> bool {
        let kind = op as usize;
        let plain = self.strided.is_none() && self.run == 1 && !self.trim_write && !self.again;
        let last = match (&self.order, self.random) {
            (_, false) if self.hole == 0 && !self.identical => self.position[kind] + count * len,
            (Order::Uniform, true) if self.percentage[kind] == 100 && self.blocks[kind] > 0 => {
                (self.blocks[kind] - 1) * self.align[kind] + len
            }
            _ => return false,
        };
        plain && last <= self.region.min(self.end) && self.start + last <= end
    }

    /// Where they begin.
    #[inline]
    pub fn next_alike<'a>(&'a mut self, op: Op, count: u64, len: u64) -> impl Iterator<Item = u64> + 'a {
        let kind = op as usize;
        let (blocks, align) = (self.blocks[kind], self.align[kind]);
        self.in_zone += count * len;
        let (random, draws) = (self.random, &mut self.draws);
        let (last, position) = (&mut self.last[kind], &mut self.position[kind]);
        let mut next = *position;
        (0..count).map(move |_| {
            let at = if random { below(draws, blocks) * align } else { next };
            next = at + len;
            (*last, *position) = (Some(at), next);
            at
        })
    }

    /// Whether a request of a random job is random.
    #[inline]
    fn is_drawn(&mut self, kind: usize) -> bool {
        self.percentage[kind] == 100 || below(&mut self.chances, 100) < self.percentage[kind] as u64
    }

    fn in_sequence(&mut self, kind: usize, time_based: bool) -> Option<u64> {
        let (region, end) = (self.region as i64, (self.start + self.end) as i64);
        if self.position[kind] >= self.region && time_based {
            self.position[kind] = self.zone;
            self.again = true;
        }
        if self.position[kind] >= self.end {
            return None;
        }
        if self.position[kind] == self.zone && self.start + self.zone > 0 && self.hole < 0 {
            // fio counts this one from the beginning of the target.
            self.position[kind] = self.region.min(self.start + self.end).wrapping_sub(self.start);
        }
        let mut at = self.position[kind] as i64 - self.zone as i64;
        if at != 0 && self.hole != 0 {
            at = at.wrapping_add(self.hole);
            // Below 0 is far above the end in fio's unsigned numbers.
            if at < 0 || at >= end {
                at = if self.hole > 0 { self.start as i64 } else { region.min(end) + self.hole };
            }
        }
        u64::try_from(at).ok()
    }

    #[inline]
    fn random(&mut self, kind: usize, time_based: bool) -> Option<u64> {
        let block = match self.draw(kind) {
            Some(block) => block,
            None if time_based => {
                self.rewind_zone();
                self.again = true;
                self.draw(kind)?
            }
            None => return None,
        };
        Some(block * self.align[kind])
    }

    #[inline]
    fn draw(&mut self, kind: usize) -> Option<u64> {
        let blocks = self.blocks[kind];
        if blocks == 0 {
            return None;
        }
        match &mut self.order {
            Order::Once { places, drawn } => {
                if *drawn == places.len() {
                    return None;
                }
                *drawn += 1;
                Some(places.at(*drawn - 1))
            }
            Order::Mapped(map) => {
                let block = below(&mut self.draws, blocks);
                if map.is_free(block) {
                    Some(block)
                } else {
                    map.next_free(block)
                }
            }
            Order::Uniform => Some(below(&mut self.draws, blocks)),
            Order::Zipf(zipf, places) => {
                let rank = zipf.draw(|| unit(&mut self.draws));
                Some(places.at(rank).min(blocks - 1))
            }
            Order::Pareto(exponent, places) => {
                let rank = libm::pow(unit(&mut self.draws), *exponent) * places.len() as f64;
                Some(places.at(rank as u64).min(blocks - 1))
            }
            Order::Normal(deviation, places) => {
                // A mean of twelve, as fio draws it, and up to half a deviation beside it.
                let len = places.len();
                let sum: u64 = (0..12).map(|_| below(&mut self.draws, len + 1)).sum();
                let mut aside = (unit(&mut self.draws) * *deviation as f64) as i64 - *deviation as i64 / 2;
                let mean = sum.div_ceil(12) as i64;
                while mean + aside >= len as i64 || mean + aside < 0 {
                    aside /= 2;
                    if aside == 0 {
                        break;
                    }
                }
                Some(places.at((mean + aside) as u64 % len).min(blocks - 1))
            }
            Order::Zoned(zones) => {
                let percent = below(&mut self.draws, 100) as u32;
                let zones = [&zones.read, &zones.write, &zones.trim][kind];
                let (from, to) = zones.blocks(percent, blocks, self.align[kind]);
                if to > blocks {
                    return None;
                }
                // As in fio, a zone without a block is the block where it begins.
                Some(from + below(&mut self.draws, to.saturating_sub(from)))
            }
        }
    }

    /// A request was made of `len` bytes; it may have to be shorter, where its blocks had their turn.
    #[inline]
    pub fn done(&mut self, op: Op, offset: Offset, len: u64) -> u64 {
        let kind = op as usize;
        let mut len = len;
        if let (Order::Mapped(map), true) = (&mut self.order, offset.random) {
            let min_bytes = self.min_bytes[kind];
            let paired = self.trim_write && op == Op::Write;
            if !paired {
                len = len.min(map.take((offset.at - self.zone) / min_bytes, len.div_ceil(min_bytes)) * min_bytes);
            }
        }
        if self.trim_write && op == Op::Write && self.random {
            len = self.position[Op::Trim as usize] - self.last[Op::Trim as usize].unwrap_or(0);
        }
        if self.trim_write && op == Op::Trim && self.last[kind] == Some(offset.at) {
            // The same place as of the pair before: the write is still to come.
            self.last[Op::Write as usize] = None;
        }
        self.last[kind] = Some(offset.at);
        self.position[kind] = offset.at + len;
        self.in_zone += len;
        len
    }
}
