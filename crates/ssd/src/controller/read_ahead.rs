//! Reading ahead of a host that reads in sequence: what it will ask for next is in the controller when it does.

use std::collections::VecDeque;

use crate::consistency::{ensure, Consistency};
use crate::units::{Lpn, Nanos};

/// Requests each of which begins where the one before ended, from which on it is a sequence.
const SEQUENCE: u32 = 2;

/// Pages that were read ahead, and when they are in the controller.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
struct Part {
    first: Lpn,
    count: u32,
    at: Nanos,
}

#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct ReadAhead {
    /// How far, in pages.
    window: u32,
    /// In order and without gaps.
    parts: VecDeque<Part>,
    /// The page after the last read, and how many reads began where the one before ended.
    next: Lpn,
    sequence: u32,
}

impl ReadAhead {
    pub fn new(window: u32) -> ReadAhead {
        ReadAhead { window, parts: VecDeque::new(), next: Lpn(0), sequence: 0 }
    }

    pub fn check(&self, window: u32, end_of_drive: Lpn) -> Consistency {
        let within = self
            .parts
            .iter()
            .all(|part| part.first.0 as u64 + part.count as u64 <= end_of_drive.0 as u64 && part.count > 0);
        let follow = |(a, b): (&Part, &Part)| within && a.first + a.count == b.first;
        let ordered = self.parts.iter().zip(self.parts.iter().skip(1)).all(follow);
        ensure(self.window == window && within && ordered && self.next <= end_of_drive, "reading ahead")
    }

    /// A read of `count` pages from `first` on comes in. Returns the pages to read ahead, none if it is not the next of a
    /// sequence.
    pub fn follow(&mut self, first: Lpn, count: u32, end_of_drive: Lpn) -> std::ops::Range<Lpn> {
        self.sequence = if first == self.next { self.sequence.saturating_add(1) } else { 0 };
        self.next = first + count;
        if self.sequence == 0 {
            self.parts.clear();
        }
        if self.sequence < SEQUENCE {
            return self.next..self.next;
        }
        let from = self.parts.back().map_or(self.next, |last| (last.first + last.count).max(self.next));
        from..(self.next + self.window).min(end_of_drive).max(from)
    }

    /// `count` pages from `first` on, the next to those before, are in the controller at `at`.
    pub fn arrives(&mut self, first: Lpn, count: u32, at: Nanos) {
        self.parts.push_back(Part { first, count, at });
    }

    /// When page `page` is in the controller and for how many pages that is so; `None` where it was not read ahead.
    pub fn find(&mut self, page: Lpn) -> Option<(Nanos, u32)> {
        while self.parts.front().is_some_and(|part| part.first + part.count <= page) {
            self.parts.pop_front();
        }
        let part = self.parts.front().filter(|part| part.first <= page)?;
        Some((part.at, part.first + part.count - page))
    }

    /// These pages have been written or trimmed.
    pub fn forget(&mut self, first: Lpn, count: u32) {
        let touches = |part: &Part| part.first < first + count && first < part.first + part.count;
        if self.parts.iter().any(touches) {
            self.parts.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(from: u32, to: u32) -> std::ops::Range<Lpn> {
        Lpn(from)..Lpn(to)
    }

    #[test]
    fn a_sequence_is_read_ahead_by_the_window_and_never_twice() {
        let mut ahead = ReadAhead::new(8);
        assert!(ahead.follow(Lpn(100), 2, Lpn(1000)).is_empty());
        assert!(ahead.follow(Lpn(102), 2, Lpn(1000)).is_empty());
        assert_eq!(ahead.follow(Lpn(104), 2, Lpn(1000)), range(106, 114));
        ahead.arrives(Lpn(106), 8, Nanos(5));
        assert_eq!(ahead.find(Lpn(106)), Some((Nanos(5), 8)));
        assert_eq!(ahead.follow(Lpn(106), 2, Lpn(1000)), range(114, 116));
    }

    #[test]
    fn what_was_written_since_is_read_again() {
        let mut ahead = ReadAhead::new(8);
        for i in 0..3 {
            ahead.follow(Lpn(i * 2), 2, Lpn(1000));
        }
        ahead.arrives(Lpn(6), 8, Nanos(5));
        ahead.forget(Lpn(20), 4);
        assert!(ahead.find(Lpn(8)).is_some());
        ahead.forget(Lpn(13), 1);
        assert!(ahead.find(Lpn(8)).is_none());
    }

    #[test]
    fn nothing_is_read_past_the_end() {
        let mut ahead = ReadAhead::new(8);
        for i in 0..2 {
            ahead.follow(Lpn(990 + i * 2), 2, Lpn(1000));
        }
        assert_eq!(ahead.follow(Lpn(994), 4, Lpn(1000)), range(998, 1000));
    }
}
