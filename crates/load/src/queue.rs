//! What is under way on a simulated drive, by the time of its completion.

use std::cmp::Reverse;
use std::collections::binary_heap::PeekMut;
use std::collections::BinaryHeap;

use pslc_ssd::Nanos;

/// When, number of the request, slot: in one number that orders as they do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Pending(u128);

const SLOT_BITS: u32 = 24;

impl Pending {
    #[inline]
    pub fn new(at: Nanos, number: u64, slot: u32) -> Pending {
        debug_assert!(slot < 1 << SLOT_BITS);
        Pending((at.0 as u128) << 64 | (number << SLOT_BITS | slot as u64) as u128)
    }

    #[inline]
    pub fn at(self) -> Nanos {
        Nanos((self.0 >> 64) as u64)
    }

    #[inline]
    pub fn slot(self) -> u32 {
        self.0 as u32 & ((1 << SLOT_BITS) - 1)
    }
}

/// Completions by time; at equal times the first submitted comes first.
#[derive(Clone, Debug, Default)]
pub struct Queue {
    /// In order, from `head` on: nearly all complete after all but the last few that were here.
    line: Vec<Pending>,
    head: usize,
    out_of_line: BinaryHeap<Reverse<Pending>>,
    /// The first of the others has been handed out. It goes when another takes its place, as it mostly does: one way
    /// through the heap where there would be two.
    taken: bool,
}

/// Pending requests in the line beyond which one that completes before the last goes to the others: to find its place among
/// fewer is less work than a way through the heap.
const MAX_SORTED: usize = 64;

impl Queue {
    #[inline]
    pub fn push(&mut self, pending: Pending) {
        if self.line.len() == self.line.capacity() {
            self.make_room();
        }
        if self.line.last().is_none_or(|last| *last < pending) {
            self.line.push(pending);
            return;
        }
        if self.line.len() - self.head >= MAX_SORTED {
            self.push_aside(pending);
            return;
        }
        let sooner = |other: &Pending| other.at() <= pending.at();
        let place = self.line[self.head..].iter().rposition(sooner).map_or(0, |last| last + 1);
        self.line.insert(self.head + place, pending);
    }

    /// Let go what was handed out, where the line has no room.
    #[cold]
    fn make_room(&mut self) {
        self.line.drain(..self.head);
        self.line.reserve(4 * self.line.len().max(16));
        self.head = 0;
    }

    /// Among the others.
    #[inline(never)]
    fn push_aside(&mut self, pending: Pending) {
        if std::mem::take(&mut self.taken) {
            *self.out_of_line.peek_mut().expect("the one that was taken") = Reverse(pending);
        } else {
            self.out_of_line.push(Reverse(pending));
        }
    }

    /// The first, and whether it is in the line.
    #[inline]
    fn find(&mut self) -> Option<(Pending, bool)> {
        let first = self.line.get(self.head).map(|&first| (first, true));
        if self.out_of_line.is_empty() {
            first
        } else {
            self.find_out_of_line(first)
        }
    }

    #[inline(never)]
    fn find_out_of_line(&mut self, first: Option<(Pending, bool)>) -> Option<(Pending, bool)> {
        if std::mem::take(&mut self.taken) {
            PeekMut::pop(self.out_of_line.peek_mut().expect("the one that was taken"));
        }
        let other = self.out_of_line.peek().map(|&Reverse(other)| (other, false));
        first.into_iter().chain(other).min()
    }

    /// When the first completes.
    pub fn first_at(&mut self) -> Option<Nanos> {
        self.find().map(|(first, _)| first.at())
    }

    /// Hand out the first, if it completes by then.
    #[inline]
    pub fn take_until(&mut self, until: Nanos) -> Option<Pending> {
        let (first, in_line) = self.find().filter(|(first, _)| first.at() <= until)?;
        if in_line {
            self.head += 1;
        } else {
            self.taken = true;
        }
        Some(first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn it_hands_out_what_a_heap_does(
            steps in prop::collection::vec((0u64..500, 0u64..50, prop::bool::weighted(0.6)), 1..2000),
        ) {
            let (mut queue, mut heap) = (Queue::default(), BinaryHeap::new());
            let mut now = Nanos::ZERO;
            for (number, (after, passes, again)) in (0u64..).zip(steps) {
                now += Nanos(passes);
                if again {
                    let pending = Pending::new(now + Nanos(after), number, number as u32 % 7);
                    prop_assert_eq!((pending.at(), pending.slot()), (now + Nanos(after), number as u32 % 7));
                    queue.push(pending);
                    heap.push(Reverse(pending));
                } else if let Some(Reverse(first)) = heap.peek().copied() {
                    prop_assert_eq!(queue.first_at(), Some(first.at()));
                    prop_assert_eq!(queue.take_until(first.at() - Nanos(1)), None);
                    prop_assert_eq!(queue.take_until(first.at()), Some(first));
                    heap.pop();
                }
            }
            while let Some(Reverse(first)) = heap.pop() {
                prop_assert_eq!(queue.take_until(Nanos::MAX), Some(first));
            }
            prop_assert_eq!(queue.first_at(), None);
        }
    }
}
