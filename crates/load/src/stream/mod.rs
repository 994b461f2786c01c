//! The requests of one job clone, in order. They depend on the job and the seed alone, never on time, so they can be
//! made ahead, and are the same on every target.

mod permutation;
mod zipf;

use std::collections::VecDeque;

use pslc_ssd::{Op, Request};
use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;

use crate::job::{ByKind, Distribution, Job, Mix};
use crate::splitmix::splitmix64;
use permutation::Permutation;
use zipf::Zipf;

/// How the next offset is found.
#[derive(Clone, Debug)]
enum Order {
    /// One after the other, round the region.
    Sequential,
    /// Every block once, then every block once in another order.
    Once(Permutation),
    Uniform,
    Zipf(Zipf, Permutation),
    /// The exponent of Pareto's principle: rank r of n blocks is below x n with probability x^(1 / exponent).
    Pareto(f64, Permutation),
}

#[derive(Clone, Debug)]
pub struct Stream {
    mix: Mix,
    mix_read: u32,
    bs: ByKind<u32>,
    split: Option<Box<Split>>,
    /// Where a copy begins.
    copy_to: Option<u64>,
    sync: bool,
    base: u64,
    size: u64,
    order: Order,
    /// Where the next request in sequence begins, from `base`.
    position: u64,
    /// Requests in sequence before the next random offset, and how many are left.
    run: u32,
    run_left: u32,
    /// Percent of random requests that are not to follow the one before, and the draws for that.
    random: u32,
    chances: Pcg64Mcg,
    /// Place in the present pass of `Once`.
    drawn: u64,
    offsets: Pcg64Mcg,
    kinds: Pcg64Mcg,
    /// Bytes and requests still to come; `None`: no end.
    bytes_left: Option<u64>,
    count_left: Option<u64>,
    fsync: u32,
    since_fsync: u32,
    /// Requests that follow from the last one: the write after a trim, a flush.
    due: VecDeque<Request>,
}

/// Requests of several sizes.
#[derive(Clone, Debug)]
struct Split {
    sizes: ByKind<Vec<(u32, u32)>>,
    /// Of all weights.
    sums: ByKind<u64>,
    /// The smallest of all, to which random offsets are aligned.
    smallest: u64,
    draws: Pcg64Mcg,
}

impl Split {
    fn draw(&mut self, op: Op) -> u32 {
        let (sizes, sum) = match op {
            Op::Read => (&self.sizes.read, self.sums.read),
            Op::Trim => (&self.sizes.trim, self.sums.trim),
            _ => (&self.sizes.write, self.sums.write),
        };
        let mut left = below(&mut self.draws, sum) as u32;
        for (size, weight) in sizes {
            match left.checked_sub(*weight) {
                Some(rest) => left = rest,
                None => return *size,
            }
        }
        unreachable!("the draw is below the sum of the weights")
    }
}

/// A generator of its own for each purpose, so that one more draw here changes nothing there.
fn generator(seed: u64, job: u64, clone: u64, purpose: u64) -> Pcg64Mcg {
    let mut state = seed;
    for part in [job, clone, purpose] {
        state = splitmix64(state.wrapping_add(part));
    }
    Pcg64Mcg::seed_from_u64(state)
}

impl Stream {
    /// The stream of clone `clone` of job number `number`.
    pub fn new(job: &Job, number: u64, clone: u64, seed: u64) -> Stream {
        let seed = job.randseed.unwrap_or(seed);
        let mut offsets = generator(seed, number, clone, 0);
        let bs = job.bs;
        let block = bs.read.min(bs.write).min(bs.trim) as u64;
        let split = (!job.bssplit.read.is_empty()).then(|| {
            let sizes = job.bssplit.clone();
            let all = [&sizes.read, &sizes.write, &sizes.trim].into_iter().flatten();
            let smallest = all.map(|(size, _)| *size as u64).min().expect("it is not empty");
            let sum = |sizes: &[(u32, u32)]| sizes.iter().map(|(_, weight)| *weight as u64).sum();
            let sums = ByKind { read: sum(&sizes.read), write: sum(&sizes.write), trim: sum(&sizes.trim) };
            Box::new(Split { sizes, sums, smallest, draws: generator(seed, number, clone, 2) })
        });
        let uniform_size = bs.read == bs.write && bs.write == bs.trim && split.is_none();
        let blocks = (job.size / block).max(1);
        let order = match (job.rw.random, job.distribution) {
            (false, _) => Order::Sequential,
            (true, Distribution::Zipf(theta)) => {
                Order::Zipf(Zipf::new(blocks, theta), Permutation::new(blocks, offsets.next_u64()))
            }
            (true, Distribution::Pareto(share)) => {
                let exponent = libm::log(share) / libm::log(1.0 - share);
                Order::Pareto(exponent, Permutation::new(blocks, offsets.next_u64()))
            }
            (true, Distribution::Uniform) if job.norandommap || !uniform_size => Order::Uniform,
            (true, Distribution::Uniform) => Order::Once(Permutation::new(blocks, offsets.next_u64())),
        };
        Stream {
            mix: job.rw.mix,
            mix_read: job.rwmixread,
            bs,
            split,
            copy_to: job.copy_to.map(|to| to + clone * job.offset_increment),
            sync: job.sync.is_some(),
            base: job.offset + clone * job.offset_increment,
            size: job.size,
            order,
            position: 0,
            run: job.rw.run,
            run_left: 0,
            random: job.percentage_random,
            chances: generator(seed, number, clone, 3),
            drawn: 0,
            offsets,
            kinds: generator(seed, number, clone, 1),
            bytes_left: (!job.time_based).then_some(job.io_size),
            count_left: job.number_ios,
            fsync: job.fsync,
            since_fsync: 0,
            due: VecDeque::new(),
        }
    }

    /// Bytes still to come; 0 where only time ends the stream.
    pub fn total_bytes(&self) -> u64 {
        let largest = self.bs.read.max(self.bs.write).max(self.bs.trim) as u64;
        let by_count = self.count_left.map_or(u64::MAX, |count| count.saturating_mul(largest));
        let bytes = self.bytes_left.unwrap_or(0).min(by_count);
        if self.mix == Mix::TrimWrite || self.copy_to.is_some() {
            bytes.saturating_mul(2)
        } else {
            bytes
        }
    }

    #[inline]
    fn next_op(&mut self) -> Op {
        match self.mix {
            Mix::Read => Op::Read,
            Mix::Write => Op::Write,
            Mix::Trim | Mix::TrimWrite => Op::Trim,
            Mix::ReadWrite => match below(&mut self.kinds, 100) < self.mix_read as u64 {
                true => Op::Read,
                false => Op::Write,
            },
        }
    }

    /// Where a request of `bs` bytes begins, from `base`.
    #[inline]
    fn next_offset(&mut self, bs: u64) -> u64 {
        if self.run_left > 0 || matches!(self.order, Order::Sequential) || self.follows() {
            self.run_left = self.run_left.saturating_sub(1);
            // What does not fill a block at the end is written where the job has no whole block at all.
            return if self.position + bs <= self.size { self.position } else { self.at_end(bs) };
        }
        self.run_left = self.run - 1;
        let blocks = self.size / bs;
        let (block, size) = (self.bs.read.min(self.bs.write).min(self.bs.trim) as u64, self.size);
        let within = |place: u64| (place * block).min(size - bs) / bs * bs;
        match &mut self.order {
            Order::Once(permutation) => {
                if self.drawn == permutation.len() {
                    self.drawn = 0;
                    *permutation = Permutation::new(permutation.len(), self.offsets.next_u64());
                }
                self.drawn += 1;
                permutation.at(self.drawn - 1) * bs
            }
            Order::Zipf(zipf, places) => {
                let rank = zipf.draw(|| uniform(&mut self.offsets));
                within(places.at(rank))
            }
            Order::Pareto(exponent, places) => {
                let rank = libm::pow(uniform(&mut self.offsets), *exponent) * places.len() as f64;
                within(places.at(rank as u64))
            }
            _ => match &self.split {
                None => below(&mut self.offsets, blocks) * bs,
                Some(split) => {
                    below(&mut self.offsets, (self.size - bs) / split.smallest + 1) * split.smallest
                }
            },
        }
    }

    /// Whether a random request is one of those that follow the one before.
    #[inline]
    fn follows(&mut self) -> bool {
        self.random < 100 && below(&mut self.chances, 100) >= self.random as u64
    }

    /// A sequence at the end of its region: the rest of it if there is some, else the beginning.
    #[cold]
    fn at_end(&self, bs: u64) -> u64 {
        let rest = self.size - self.position.min(self.size);
        if rest > 0 && rest < bs && matches!(self.order, Order::Sequential) {
            self.position
        } else {
            0
        }
    }
}

impl Iterator for Stream {
    type Item = Request;

    /// The next request, or `None` when the job has had all of its own.
    #[inline]
    fn next(&mut self) -> Option<Request> {
        if let Some(request) = self.due.pop_front() {
            return Some(request);
        }
        if self.bytes_left == Some(0) || self.count_left == Some(0) {
            return None;
        }
        let op = self.next_op();
        let bs = match (&mut self.split, op) {
            (Some(split), _) => split.draw(op),
            (None, Op::Read) => self.bs.read,
            (None, Op::Trim) => self.bs.trim,
            (None, _) => self.bs.write,
        };
        let at = self.next_offset(bs as u64);
        let mut len = (bs as u64).min(self.size - at);
        if let Some(left) = &mut self.bytes_left {
            len = len.min(*left);
            *left -= len;
        }
        if let Some(left) = &mut self.count_left {
            *left -= 1;
        }
        self.position = at + len;
        let fua = self.sync && op == Op::Write;
        let request = Request { op, offset: self.base + at, len: len as u32, fua };
        if self.mix == Mix::TrimWrite {
            self.due.push_back(Request { op: Op::Write, fua: self.sync, ..request });
        }
        if let Some(to) = self.copy_to {
            self.due.push_back(Request { op: Op::Write, offset: to + at, fua: self.sync, ..request });
        }
        if self.fsync > 0 && op != Op::Read {
            self.since_fsync += 1;
            if self.since_fsync == self.fsync {
                self.since_fsync = 0;
                self.due.push_back(Request::flush());
            }
        }
        Some(request)
    }
}

/// Uniform below `limit` (Lemire's multiplication; the bias is below limit / 2^64).
#[inline]
fn below(random: &mut Pcg64Mcg, limit: u64) -> u64 {
    ((random.next_u64() as u128 * limit as u128) >> 64) as u64
}

/// Uniform in [0, 1).
#[inline]
fn uniform(random: &mut Pcg64Mcg) -> f64 {
    (random.next_u64() >> 11) as f64 / (1u64 << 53) as f64
}
