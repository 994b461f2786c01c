//! Tags of a link that carries so many requests at a time: one beyond them waits in the host for one that ends.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::consistency::{ensure, Consistency};
use crate::units::Nanos;

#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct Tags {
    #[serde(skip)]
    count: usize,
    /// Ends of the requests that hold a tag.
    under_way: BinaryHeap<Reverse<Nanos>>,
}

impl Tags {
    pub fn new(count: usize) -> Tags {
        Tags { count, under_way: BinaryHeap::new() }
    }

    /// As `new`, with the requests that hold a tag.
    pub fn describe(&mut self, count: usize) {
        self.count = count;
    }

    /// Whether no more requests hold one than there are.
    pub fn check(&self) -> Consistency {
        ensure(self.under_way.len() <= self.count, "tags of the link")
    }

    /// When a request of `now` has a tag.
    #[inline]
    pub fn tag(&mut self, now: Nanos) -> Nanos {
        if self.under_way.len() == self.count {
            self.under_way.pop().map_or(now, |Reverse(end)| end.max(now))
        } else {
            now
        }
    }

    /// It has been sent and will end at `end`.
    #[inline]
    pub fn sent(&mut self, end: Nanos) {
        self.under_way.push(Reverse(end));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_thirty_third_request_waits_for_the_first_that_ends() {
        let mut tags = Tags::new(32);
        for i in 0..32 {
            assert_eq!(tags.tag(Nanos(5)), Nanos(5));
            tags.sent(Nanos(100 + i));
        }
        assert_eq!(tags.tag(Nanos(6)), Nanos(100));
        tags.sent(Nanos(200));
        assert_eq!(tags.tag(Nanos(7)), Nanos(101));
        tags.sent(Nanos(300));
        assert_eq!(tags.tag(Nanos(500)), Nanos(500), "tags that have come back are free");
    }
}
