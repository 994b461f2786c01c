//! Native command queueing: a SATA port has 32 tags, and a request beyond them waits in the host for one that ends.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::consistency::{ensure, Consistency};
use crate::units::Nanos;

const TAGS: usize = 32;

#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct Ncq {
    /// Ends of the requests that hold a tag.
    under_way: BinaryHeap<Reverse<Nanos>>,
}

impl Ncq {
    pub fn check(&self) -> Consistency {
        ensure(self.under_way.len() <= TAGS, "queue of the SATA port")
    }

    /// When a request of `now` has a tag.
    #[inline]
    pub fn tag(&mut self, now: Nanos) -> Nanos {
        match self.under_way.len() == TAGS {
            true => self.under_way.pop().map_or(now, |Reverse(end)| end.max(now)),
            false => now,
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
        let mut ncq = Ncq::default();
        for i in 0..32 {
            assert_eq!(ncq.tag(Nanos(5)), Nanos(5));
            ncq.sent(Nanos(100 + i));
        }
        assert_eq!(ncq.tag(Nanos(6)), Nanos(100));
        ncq.sent(Nanos(200));
        assert_eq!(ncq.tag(Nanos(7)), Nanos(101));
        ncq.sent(Nanos(300));
        assert_eq!(ncq.tag(Nanos(500)), Nanos(500), "tags that have come back are free");
    }
}
