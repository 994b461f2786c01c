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
