//! Reading ahead of a host that reads in sequence: what it will ask for next is in the controller when it does.

use std::collections::VecDeque;

use crate::units::Nanos;

/// Requests in a row that make a sequence.
const ROW: u32 = 2;

/// Pages that were read ahead, and when they are in the controller.
#[derive(Clone, Copy, Debug)]
struct Part {
    first: u32,
    count: u32,
    at: Nanos,
}

#[derive(Clone, Debug)]
pub struct ReadAhead {
    /// How far, in pages.
    window: u32,
    /// In order and without gaps.
    parts: VecDeque<Part>,
    /// The page after the last read, and how many reads in a row began where the one before ended.
    next: u32,
    row: u32,
}

impl ReadAhead {
    pub fn new(window: u32) -> ReadAhead {
        ReadAhead { window, parts: VecDeque::new(), next: 0, row: 0 }
    }

    /// A read of `count` pages from `first` on comes in. Returns the pages to read ahead, none if it is not the next of a
    /// sequence.
    pub fn follow(&mut self, first: u32, count: u32, end_of_drive: u32) -> std::ops::Range<u32> {
        self.row = if first == self.next { self.row + 1 } else { 0 };
        self.next = first + count;
        if self.row == 0 {
            self.parts.clear();
        }
        if self.row < ROW {
            return 0..0;
        }
        let from = self.parts.back().map_or(self.next, |last| (last.first + last.count).max(self.next));
        from..(self.next + self.window).min(end_of_drive).max(from)
    }

    /// `count` pages from `first` on, the next to those before, are in the controller at `at`.
    pub fn arrives(&mut self, first: u32, count: u32, at: Nanos) {
        self.parts.push_back(Part { first, count, at });
    }

    /// When page `page` is in the controller and for how many pages that is so; `None` where it was not read ahead.
    pub fn find(&mut self, page: u32) -> Option<(Nanos, u32)> {
        while self.parts.front().is_some_and(|part| part.first + part.count <= page) {
            self.parts.pop_front();
        }
        let part = self.parts.front().filter(|part| part.first <= page)?;
        Some((part.at, part.first + part.count - page))
    }

    /// These pages have been written or trimmed.
    pub fn forget(&mut self, first: u32, count: u32) {
        let touches = |part: &Part| part.first < first + count && first < part.first + part.count;
        if self.parts.iter().any(touches) {
            self.parts.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sequence_is_read_ahead_by_the_window_and_never_twice() {
        let mut ahead = ReadAhead::new(8);
        assert_eq!(ahead.follow(100, 2, 1000), 0..0);
        assert_eq!(ahead.follow(102, 2, 1000), 0..0);
        assert_eq!(ahead.follow(104, 2, 1000), 106..114);
        ahead.arrives(106, 8, Nanos(5));
        assert_eq!(ahead.find(106), Some((Nanos(5), 8)));
        assert_eq!(ahead.follow(106, 2, 1000), 114..116);
    }

    #[test]
    fn what_was_written_since_is_read_again() {
        let mut ahead = ReadAhead::new(8);
        for i in 0..3 {
            ahead.follow(i * 2, 2, 1000);
        }
        ahead.arrives(6, 8, Nanos(5));
        ahead.forget(20, 4);
        assert!(ahead.find(8).is_some());
        ahead.forget(13, 1);
        assert!(ahead.find(8).is_none());
    }

    #[test]
    fn nothing_is_read_past_the_end() {
        let mut ahead = ReadAhead::new(8);
        for i in 0..2 {
            ahead.follow(990 + i * 2, 2, 1000);
        }
        assert_eq!(ahead.follow(994, 4, 1000), 998..1000);
    }
}
