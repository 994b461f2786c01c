//! The slowest hundredth of the reads and of the writes, and what their time went to.
//!
//! Which they are is known at the end only, so each bucket of latency keeps an account of its own.

use pslc_ssd::{Op, Waits};

use crate::record::{bucket, BUCKETS};

const KINDS: [Op; 2] = [Op::Read, Op::Write];

#[derive(Clone, Debug)]
struct Bucket {
    count: u64,
    by: [u64; Waits::COUNT],
}

/// The accounts of a replay.
#[derive(Clone, Debug)]
pub struct Accounts {
    kinds: [Vec<Bucket>; 2],
}

/// The slowest hundredth of a kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slow {
    pub op: Op,
    /// Nanoseconds of all of them by cause, in the order of `Cause`.
    pub by: [u64; Waits::COUNT],
}

impl Accounts {
    pub fn new() -> Accounts {
        let empty = Bucket { count: 0, by: [0; Waits::COUNT] };
        Accounts { kinds: std::array::from_fn(|_| vec![empty.clone(); BUCKETS]) }
    }

    /// Enter a request.
    #[inline]
    pub fn enter(&mut self, op: Op, waits: &Waits) {
        let Some(kind) = KINDS.iter().position(|&kind| kind == op) else { return };
        let latency = waits.by().iter().sum();
        let bucket = &mut self.kinds[kind][bucket(latency)];
        bucket.count += 1;
        for (sum, ns) in bucket.by.iter_mut().zip(waits.by()) {
            *sum += ns;
        }
    }

    /// Of the bucket in which the slowest hundredth begins a part is taken.
    pub fn slow(&self) -> Vec<Slow> {
        let of = |(op, buckets): (Op, &Vec<Bucket>)| {
            let mut left = buckets.iter().map(|bucket| bucket.count).sum::<u64>().div_ceil(100);
            let mut slow = Slow { op, by: [0; Waits::COUNT] };
            if left == 0 {
                return None;
            }
            for bucket in buckets.iter().rev().filter(|bucket| bucket.count > 0) {
                let taken = left.min(bucket.count);
                for (sum, &ns) in slow.by.iter_mut().zip(&bucket.by) {
                    *sum += (ns as u128 * taken as u128 / bucket.count as u128) as u64;
                }
                left -= taken;
                if left == 0 {
                    break;
                }
            }
            Some(slow)
        };
        KINDS.into_iter().zip(&self.kinds).filter_map(of).collect()
    }
}
