//! The computer around the drive: cores, tags, and a page cache as a list of pages.

use pslc_ssd::config::*;
use pslc_ssd::{Nanos, Op, Request};

use super::{Reference, PAGE};

pub struct ReferenceMachine {
    pub drive: Reference,
    host: Host,
    tags: Option<usize>,
    /// When each core of the host is free.
    cores: Vec<u64>,
    /// When each request so far that took a tag ends.
    tagged: Vec<u64>,
    cache: Cache,
}

#[derive(Default)]
struct Cache {
    /// Pages that are held, least recently used first.
    held: Vec<u64>,
    /// Dirty pages that wait to be written, longest first.
    waiting: Vec<u64>,
    /// Requests that write back: end, pages.
    writing: Vec<(u64, usize)>,
    /// When the last of them was begun, or could have been.
    cursor: u64,
    /// When the memory that copies is free.
    copying: u64,
    next_read: u64,
}

fn tags(link: Link) -> Option<usize> {
    match link {
        Link::Pcie { .. } | Link::Usb { .. } => None,
        Link::Emmc { queue: false } | Link::Sd => Some(1),
        _ => Some(32),
    }
}

impl ReferenceMachine {
    pub fn new(c: &Config) -> ReferenceMachine {
        ReferenceMachine {
            drive: Reference::new(c),
            host: c.host,
            tags: c.links().filter_map(tags).min(),
            cores: vec![0; c.host.cpu.map_or(0, |cpu| cpu.cores as usize)],
            tagged: Vec::new(),
            cache: Cache::default(),
        }
    }

    pub fn submit(&mut self, now: Nanos, request: &Request, direct: bool) -> Nanos {
        let mut now = now.0;
        if let Some(cpu) = self.host.cpu {
            let core = (0..self.cores.len()).min_by_key(|&i| (self.cores[i], i)).unwrap();
            let time = if request.op == Op::Read { cpu.read.0 } else { cpu.write.0 };
            now = self.cores[core].max(now) + time;
            self.cores[core] = now;
        }
        if let Some(of) = self.host.page_cache {
            if of.driver || !direct {
                return Nanos(self.through_cache(of, now, request));
            }
            if matches!(request.op, Op::Write | Op::Trim) {
                self.drop_pages(Reference::pages_of(request));
            }
        }
        let Some(tags) = self.tags else {
            return Nanos(self.ask(now, request));
        };
        // The request waits until fewer than that are under way.
        self.tagged.sort_unstable();
        let tag = match self.tagged.len().checked_sub(tags) {
            Some(at) => now.max(self.tagged[at]),
            None => now,
        };
        let done = self.ask(tag, request);
        self.tagged.push(done);
        Nanos(done)
    }

    pub fn advance(&mut self, now: Nanos) {
        if let Some(of) = self.host.page_cache {
            self.write_back(of, now.0);
        }
        self.drive.advance(now.max(self.drive.now()));
    }

    /// The drive's clock does not run backwards: what comes late is asked for at its time.
    fn ask(&mut self, at: u64, request: &Request) -> u64 {
        self.drive.submit(Nanos(at).max(self.drive.now()), request).0
    }

    fn through_cache(&mut self, of: PageCache, now: u64, request: &Request) -> u64 {
        self.write_back(of, now);
        let range = Reference::pages_of(request);
        match request.op {
            Op::Read => self.read(of, now, range),
            Op::Write => {
                let done = self.write(of, now, range);
                if request.fua {
                    self.flush(of, done)
                } else {
                    done
                }
            }
            Op::Trim => {
                self.drop_pages(range);
                self.ask(now, request)
            }
            Op::Flush => self.flush(of, now),
        }
    }

    /// What the background does until `now`.
    fn write_back(&mut self, of: PageCache, now: u64) {
        self.work(of, now, of.background_bytes, 0);
        self.cache.cursor = self.cache.cursor.max(now);
    }

    fn write(&mut self, of: PageCache, now: u64, range: std::ops::Range<u64>) -> u64 {
        let copied = self.copy(of, now, range.clone());
        self.touch(of, range.clone());
        self.cache.waiting.retain(|page| !range.contains(page));
        self.cache.waiting.extend(range);
        copied.max(self.work(of, u64::MAX, of.background_bytes, of.dirty_bytes))
    }

    /// What is not held is read, a request for each gap; in a sequence, as far ahead as the largest request.
    fn read(&mut self, of: PageCache, now: u64, range: std::ops::Range<u64>) -> u64 {
        let ahead = if range.start == self.cache.next_read { of.request_bytes as u64 / PAGE } else { 0 };
        self.cache.next_read = range.end;
        let last = self.drive.pages();
        let mut done = now;
        for page in range.clone() {
            if self.cache.held.contains(&page) {
                continue;
            }
            let most = range.end.max(page + ahead).min(last);
            let to = (page..most).find(|page| self.cache.held.contains(page)).unwrap_or(most);
            done = done.max(self.ask(now, &Request::read(page * PAGE, ((to - page) * PAGE) as u32)));
            self.touch(of, page..to);
        }
        self.touch(of, range.clone());
        self.copy(of, done, range)
    }

    fn flush(&mut self, of: PageCache, now: u64) -> u64 {
        let written = now.max(self.work(of, u64::MAX, 0, 0));
        self.ask(written, &Request::flush())
    }

    fn copy(&mut self, of: PageCache, now: u64, range: std::ops::Range<u64>) -> u64 {
        let time = (range.end - range.start) * PAGE * 1_000_000_000 / of.memory_bytes_per_s;
        self.cache.copying = self.cache.copying.max(now) + time;
        self.cache.copying
    }

    /// Write back, up to `until`, while more than `floor` waits and more than `stop` is dirty; when that ended, if it took
    /// time.
    fn work(&mut self, of: PageCache, until: u64, floor: u64, stop: u64) -> u64 {
        let mut ended = 0;
        loop {
            let writing: usize = self.cache.writing.iter().map(|(_, pages)| pages).sum();
            if (self.cache.waiting.len() + writing) as u64 * PAGE <= stop {
                return ended;
            }
            let more = self.cache.waiting.len() as u64 * PAGE > floor;
            if more && self.cache.writing.len() < of.depth as usize && self.cache.cursor <= until {
                self.begin(of);
                continue;
            }
            self.cache.writing.sort_unstable();
            match self.cache.writing.first() {
                Some(&(end, _)) if end <= until => {
                    self.cache.writing.remove(0);
                    self.cache.cursor = self.cache.cursor.max(end);
                    ended = end;
                }
                _ => return ended,
            }
        }
    }

    /// Write the pages that have waited longest and lie together.
    fn begin(&mut self, of: PageCache) {
        let first = self.cache.waiting[0];
        let together = self.cache.waiting.iter().zip(first..).take_while(|(page, next)| *page == next).count();
        let count = together.min((of.request_bytes as u64 / PAGE) as usize);
        self.cache.waiting.drain(..count);
        let request = Request::write(first * PAGE, (count as u64 * PAGE) as u32);
        let end = self.ask(self.cache.cursor, &request);
        self.cache.writing.push((end, count));
    }

    /// These pages were used last; those that were used longest ago go, unless they are dirty.
    fn touch(&mut self, of: PageCache, range: std::ops::Range<u64>) {
        self.cache.held.retain(|page| !range.contains(page));
        self.cache.held.extend(range);
        while self.cache.held.len() as u64 * PAGE > of.bytes {
            let page = self.cache.held.remove(0);
            if self.cache.waiting.contains(&page) {
                self.cache.held.push(page);
            }
        }
    }

    fn drop_pages(&mut self, range: std::ops::Range<u64>) {
        self.cache.held.retain(|page| !range.contains(page));
        self.cache.waiting.retain(|page| !range.contains(page));
    }
}
