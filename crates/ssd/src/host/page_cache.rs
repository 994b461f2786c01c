//! The page cache: writes end when they are copied, and reach the drive later; reads find what is still there.
//!
//! ```text
//!   dirty
//!   limit       - - - - ._____ writers wait for the drive
//!   background  - - /- - - - - the drive is written to, `depth` requests at a time
//!                  /
//! ```

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use crate::config;
use crate::consistency::{ensure, Consistency};
use crate::cores::Cores;
use crate::dense::{Access, Dense};
use crate::drive::CyclingDrive;
use crate::request::{Op, Request};
use crate::units::{Nanos, PAGE_BYTES};

/// Pages that were touched, or made dirty, together. Those of them that were since have a later stamp.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
struct Run {
    first: u32,
    count: u32,
    stamp: u32,
}

#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct PageCache {
    of: config::PageCache,
    memory: Cores,
    /// Stamp of each page that is held, and of each that is dirty and waits to be written; else 0.
    held: Dense,
    dirty: Dense,
    /// Least recently used first; longest dirty first.
    used: VecDeque<Run>,
    waiting: VecDeque<Run>,
    stamp: u32,
    held_pages: u64,
    waiting_pages: u64,
    writing_pages: u64,
    /// Ends and pages of the requests that write back.
    under_way: BinaryHeap<Reverse<(Nanos, u32)>>,
    /// When the last of them was begun, or could have been.
    cursor: Nanos,
    /// The page after the last read.
    next: u32,
    /// Time that requests have spent on copies.
    #[serde(skip)]
    pub copying: Nanos,
}

/// Stamps of what is read from a file: one is given to each request.
const MAX_STAMP: u32 = 1 << 31;

impl PageCache {
    pub fn new(of: &config::PageCache, capacity_bytes: u64) -> PageCache {
        let pages = (capacity_bytes / PAGE_BYTES) as u32;
        PageCache {
            of: *of,
            memory: Cores::new(1),
            held: Dense::new(pages, Access::Random),
            dirty: Dense::new(pages, Access::Random),
            used: VecDeque::new(),
            waiting: VecDeque::new(),
            stamp: 0,
            held_pages: 0,
            waiting_pages: 0,
            writing_pages: 0,
            under_way: BinaryHeap::new(),
            cursor: Nanos::ZERO,
            next: 0,
            copying: Nanos::ZERO,
        }
    }

    /// Whether it is this cache, and each page that is held or dirty is in the list from which it goes.
    pub fn check(&self, of: &config::PageCache, capacity_bytes: u64) -> Consistency {
        let pages = capacity_bytes / PAGE_BYTES;
        let lengths = self.held.len() as u64 == pages && self.dirty.len() as u64 == pages;
        ensure(self.of == *of && lengths && self.stamp < MAX_STAMP, "page cache")?;
        self.memory.check(1)?;
        self.check_list(&self.held, &self.used, self.held_pages)?;
        self.check_list(&self.dirty, &self.waiting, self.waiting_pages)?;
        let writing: u64 = self.under_way.iter().map(|Reverse((_, count))| *count as u64).sum();
        let is_held = |page: usize| self.held.values().get(page).is_some_and(|stamp| *stamp != 0);
        ensure(
            writing == self.writing_pages
                && self.under_way.len() <= of.depth as usize
                && self.held_bytes() <= of.bytes
                && self.dirty_bytes() <= of.dirty_bytes
                && self.dirty.in_use().all(|page| is_held(page as usize)),
            "page cache",
        )
    }

    /// Whether `count` pages have a stamp, and each is in exactly one run with the same stamp.
    fn check_list(&self, stamps: &Dense, runs: &VecDeque<Run>, count: u64) -> Consistency {
        let mut sorted: Vec<&Run> = runs.iter().collect();
        sorted.sort_unstable_by_key(|run| (run.stamp, run.first));
        let end = |run: &Run| run.first as u64 + run.count as u64;
        let apart = |(a, b): (&&Run, &&Run)| a.stamp != b.stamp || end(a) <= b.first as u64;
        let within = |run: &&Run| end(run) <= stamps.len() as u64 && (1..=self.stamp).contains(&run.stamp);
        ensure(sorted.iter().all(within) && sorted.iter().zip(sorted.iter().skip(1)).all(apart), "page cache")?;
        let values = stamps.values();
        let of_run = |run: &Run| {
            if values.is_empty() {
                0
            } else {
                let values = &values[run.first as usize..end(run) as usize];
                values.iter().filter(|stamp| **stamp == run.stamp).count() as u64
            }
        };
        let listed: u64 = runs.iter().map(of_run).sum();
        ensure(listed == count && stamps.in_use().count() as u64 == count, "page cache")
    }

    /// Whether direct requests go through it too.
    pub fn before_direct(&self) -> bool {
        self.of.driver
    }

    pub fn held_bytes(&self) -> u64 {
        self.held_pages * PAGE_BYTES
    }

    pub fn dirty_bytes(&self) -> u64 {
        (self.waiting_pages + self.writing_pages) * PAGE_BYTES
    }

    pub fn submit(&mut self, drive: &mut CyclingDrive, now: Nanos, request: &Request) -> Nanos {
        self.write_back(drive, now);
        let (first, count) = pages(request);
        match request.op {
            Op::Read => self.read(drive, now, first, count),
            Op::Write => {
                let done = self.write(drive, now, first, count);
                if request.fua {
                    self.flush(drive, done)
                } else {
                    done
                }
            }
            Op::Trim => {
                self.drop_pages(first, count);
                drive.submit_late(now, request)
            }
            Op::Flush => self.flush(drive, now),
        }
    }

    /// A direct request has gone past it.
    pub fn bypassed(&mut self, request: &Request) {
        if matches!(request.op, Op::Write | Op::Trim) {
            let (first, count) = pages(request);
            self.drop_pages(first, count);
        }
    }

    /// Forget a part of the drive, as far as it is not dirty.
    pub fn invalidate(&mut self, offset: u64, len: u64) {
        let (first, end) = ((offset / PAGE_BYTES) as u32, (offset + len).div_ceil(PAGE_BYTES) as u32);
        if self.held_pages == 0 || first == end {
            return;
        }
        let dirty = self.dirty.values_mut(first, end);
        let held = self.held.values_mut(first, end);
        for (held, _) in held.iter_mut().zip(dirty).filter(|(held, dirty)| **held != 0 && **dirty == 0) {
            *held = 0;
            self.held_pages -= 1;
        }
    }

    /// Write dirty pages back as far as that comes until `now`.
    pub fn write_back(&mut self, drive: &mut CyclingDrive, now: Nanos) {
        self.work(drive, now, self.of.background_bytes, 0);
        self.cursor = self.cursor.max(now);
    }

    fn write(&mut self, drive: &mut CyclingDrive, now: Nanos, first: u32, count: u32) -> Nanos {
        let copied = self.copy(now, count);
        let stamp = self.touch(first, count);
        let mut more = 0;
        for page in self.dirty.values_mut(first, first + count) {
            more += (*page == 0) as u64;
            *page = stamp;
        }
        self.waiting_pages += more;
        self.waiting.push_back(Run { first, count, stamp });
        copied.max(self.work(drive, Nanos::MAX, self.of.background_bytes, self.of.dirty_bytes))
    }

    fn read(&mut self, drive: &mut CyclingDrive, now: Nanos, first: u32, count: u32) -> Nanos {
        let end = first + count;
        let ahead = if first == self.next { self.of.request_bytes / PAGE_BYTES as u32 } else { 0 };
        self.next = end;
        let mut done = now;
        let mut page = first;
        while page < end {
            let held = self.held.values().get(page as usize).is_some_and(|stamp| *stamp != 0);
            if held {
                page += 1;
                continue;
            }
            let last = (drive.drive().capacity_bytes() / PAGE_BYTES) as u32;
            let end_page = end.max(page + ahead).min(last);
            let missing = (page..end_page).take_while(|p| self.held.values().get(*p as usize).is_none_or(|s| *s == 0));
            let run = missing.count() as u32;
            let request = Request::read(page as u64 * PAGE_BYTES, run * PAGE_BYTES as u32);
            done = done.max(drive.submit_late(now, &request));
            self.touch(page, run);
            page += run;
        }
        self.touch(first, count);
        self.copy(done, count)
    }

    fn flush(&mut self, drive: &mut CyclingDrive, now: Nanos) -> Nanos {
        let written = now.max(self.work(drive, Nanos::MAX, 0, 0));
        drive.submit_late(written, &Request::flush())
    }

    /// Copy between the program and the cache.
    fn copy(&mut self, now: Nanos, count: u32) -> Nanos {
        let bytes = count as u64 * PAGE_BYTES;
        let copied = self.memory.take(now, Nanos(bytes * 1_000_000_000 / self.of.memory_bytes_per_s));
        self.copying += copied - now;
        copied
    }

    /// Begin and end requests that write back until `until`, as long as more than `floor` bytes wait and more than `stop`
    /// are dirty. Returns when that came to an end; zero if it did not take any time.
    fn work(&mut self, drive: &mut CyclingDrive, until: Nanos, floor: u64, stop: u64) -> Nanos {
        let mut ended = Nanos::ZERO;
        while self.dirty_bytes() > stop {
            let idle = self.under_way.len() < self.of.depth as usize && self.waiting_pages * PAGE_BYTES > floor;
            if idle && self.cursor <= until {
                self.begin(drive);
                continue;
            }
            match self.under_way.peek() {
                Some(&Reverse((end, count))) if end <= until => {
                    self.under_way.pop();
                    self.writing_pages -= count as u64;
                    self.cursor = self.cursor.max(end);
                    ended = end;
                }
                _ => break,
            }
        }
        ended
    }

    /// Write the pages that have waited longest, as one request.
    fn begin(&mut self, drive: &mut CyclingDrive) {
        let max_pages = self.of.request_bytes / PAGE_BYTES as u32;
        let (mut first, mut count) = (0, 0);
        while count < max_pages {
            let Some(run) = self.waiting.front_mut() else { break };
            if run.count == 0 {
                self.waiting.pop_front();
                continue;
            }
            let page = run.first;
            let stamp = &mut self.dirty.values_mut(page, page + 1)[0];
            if *stamp == run.stamp {
                if count > 0 && page != first + count {
                    break;
                }
                if count == 0 {
                    first = page;
                }
                *stamp = 0;
                count += 1;
            }
            run.first += 1;
            run.count -= 1;
        }
        if count == 0 {
            return;
        }
        self.waiting_pages -= count as u64;
        self.writing_pages += count as u64;
        let request = Request::write(first as u64 * PAGE_BYTES, count * PAGE_BYTES as u32);
        let end = drive.submit_late(self.cursor, &request);
        self.under_way.push(Reverse((end, count)));
    }

    /// These pages are held and the last to go. Returns their stamp.
    fn touch(&mut self, first: u32, count: u32) -> u32 {
        self.stamp += 1;
        let mut more = 0;
        for page in self.held.values_mut(first, first + count) {
            more += (*page == 0) as u64;
            *page = self.stamp;
        }
        self.held_pages += more;
        self.used.push_back(Run { first, count, stamp: self.stamp });
        let stamp = self.stamp;
        while self.held_pages * PAGE_BYTES > self.of.bytes {
            let Some(run) = self.used.pop_front() else { break };
            self.evict(run);
        }
        stamp
    }

    /// Pages of a run go, as long as there are too many, unless they were touched since; those that are dirty stay.
    fn evict(&mut self, run: Run) {
        let end = run.first + run.count;
        for page in run.first..end {
            if self.held_pages * PAGE_BYTES <= self.of.bytes {
                self.used.push_front(Run { first: page, count: end - page, stamp: run.stamp });
                return;
            }
            let held = &mut self.held.values_mut(page, page + 1)[0];
            if *held != run.stamp {
                continue;
            }
            if self.dirty.values().get(page as usize).is_some_and(|stamp| *stamp != 0) {
                self.used.push_back(Run { first: page, count: 1, stamp: run.stamp });
            } else {
                *held = 0;
                self.held_pages -= 1;
            }
        }
    }

    fn drop_pages(&mut self, first: u32, count: u32) {
        // Dirty pages are held too: without any there is nothing to drop, and no stamp is made for a drive of terabytes.
        if count == 0 || self.held_pages == 0 {
            return;
        }
        let clear = |stamps: &mut [u32]| {
            let held = stamps.iter().filter(|stamp| **stamp != 0).count() as u64;
            stamps.fill(0);
            held
        };
        self.held_pages -= clear(self.held.values_mut(first, first + count));
        self.waiting_pages -= clear(self.dirty.values_mut(first, first + count));
    }
}

/// The pages that a request touches.
fn pages(request: &Request) -> (u32, u32) {
    let first = request.offset / PAGE_BYTES;
    let end = (request.offset + request.len as u64).div_ceil(PAGE_BYTES);
    (first as u32, (end - first) as u32)
}
