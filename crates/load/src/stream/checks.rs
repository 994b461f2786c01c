//! What a verifying job reads again, as fio does: every write of a pass behind it, and with a `verify_backlog` already in
//! between. Under a random map writes are read in their order; without one (fio's LFSR needs none) blocks may have been
//! written twice, and are read by address, the newest alone.

use std::collections::{BTreeMap, VecDeque};

use pslc_ssd::{Op, Request};

use super::Stream;
use crate::job::{Job, Mix, VerifyBacklog};

#[derive(Clone, Debug)]
pub(super) struct Checks {
    phase: Phase,
    written: Written,
    backlog: Option<Backlog>,
}

#[derive(Clone, Debug)]
enum Phase {
    Writing,
    /// The pass is over, and what it wrote may still be under way.
    Due,
    Reading,
    /// All of it was read.
    Read,
}

#[derive(Clone, Debug)]
enum Written {
    /// No block twice, in the order in which they are read: the pass from its beginning.
    Again(Option<Box<Stream>>),
    /// Offsets and lengths.
    Listed(VecDeque<(u64, u32)>),
    ByAddress(BTreeMap<u64, u32>),
}

/// Reads in between.
#[derive(Clone, Debug)]
struct Backlog {
    asked: VerifyBacklog,
    /// Reads that are still due.
    left: u64,
    /// What has come back last.
    last: Op,
    /// Writes that have not.
    under_way: Vec<(u64, u32)>,
}

impl Checks {
    pub fn of(job: &Job) -> Option<Checks> {
        let mapped = job.rw.random && !job.norandommap && !job.lfsr;
        let in_order = !job.rw.random && job.rw.hole == 0 && job.strided.is_none();
        let backlog =
            job.verify_backlog.map(|asked| Backlog { asked, left: 0, last: Op::Read, under_way: Vec::new() });
        let written = match job.rw.mix {
            Mix::Write if (mapped || in_order) && backlog.is_none() => Written::Again(None),
            Mix::Write | Mix::ReadWrite | Mix::TrimWrite if mapped => Written::Listed(VecDeque::new()),
            _ => Written::ByAddress(BTreeMap::new()),
        };
        // A pass of an engine that makes one request at a time ends with the time.
        let comes = !(job.time_based && job.one_at_a_time) || backlog.is_some();
        let verified = job.verify && job.writes() && comes && !job.null;
        verified.then_some(Checks { phase: Phase::Writing, written, backlog })
    }

    /// A pass begins.
    pub fn begin(&mut self, pass: Stream) {
        self.phase = Phase::Writing;
        if let Written::Again(begun) = &mut self.written {
            *begun = Some(Box::new(Stream { fsync: 0, ..pass }));
        }
    }

    pub fn note(&mut self, request: &Request) {
        if request.op == Op::Write {
            let (offset, len) = (request.offset, request.len);
            self.written.add(offset, len);
            if let Some(backlog) = &mut self.backlog {
                backlog.under_way.push((offset, len));
            }
        }
    }

    pub fn has_backlog(&self) -> bool {
        self.backlog.is_some()
    }

    /// A request has come back.
    pub fn completed(&mut self, request: &Request) {
        let Some(backlog) = self.backlog.as_mut().filter(|_| request.op != Op::Flush) else { return };
        backlog.last = request.op;
        if request.op == Op::Write {
            let written = (request.offset, request.len);
            if let Some(at) = backlog.under_way.iter().position(|of| *of == written) {
                backlog.under_way.swap_remove(at);
            }
        }
    }

    /// What is read before the next write: once a backlog has gathered, as many as a batch has, unless the first of them
    /// is under way.
    pub fn between(&mut self) -> Option<Request> {
        let backlog = self.backlog.as_mut()?;
        let count = self.written.len();
        if backlog.left == 0 && backlog.last != Op::Read && count % backlog.asked.every == 0 {
            backlog.left = backlog.asked.batch;
        }
        let (offset, len) = self.written.first().filter(|_| backlog.left > 0)?;
        let under_way = |&(at, length): &(u64, u32)| at < offset + len as u64 && offset < at + length as u64;
        if backlog.under_way.iter().any(under_way) {
            return None;
        }
        backlog.left -= 1;
        self.written.take()
    }

    /// The pass is over.
    pub fn end(&mut self) {
        self.phase = Phase::Due;
    }

    pub fn is_writing(&self) -> bool {
        matches!(self.phase, Phase::Writing)
    }

    pub fn is_reading(&self) -> bool {
        matches!(self.phase, Phase::Reading | Phase::Read)
    }

    /// Nothing is under way. Whether there is something to read; else the next pass may begin.
    pub fn read(&mut self) -> bool {
        let due = matches!(self.phase, Phase::Due);
        if due {
            self.phase = Phase::Reading;
        }
        due
    }

    /// What is read next.
    pub fn next(&mut self) -> Option<Request> {
        if !matches!(self.phase, Phase::Reading) {
            return None;
        }
        let read = self.written.take();
        if read.is_none() {
            // The stream of a pass that ended early would go on when asked again.
            self.phase = Phase::Read;
        }
        read
    }
}

impl Written {
    fn add(&mut self, offset: u64, len: u32) {
        match self {
            Written::Again(_) => {}
            Written::Listed(list) => list.push_back((offset, len)),
            Written::ByAddress(kept) => {
                // What a later write overlaps is gone.
                let end = offset + len as u64;
                while let Some((&at, _)) =
                    kept.range(..end).next_back().filter(|&(&at, &length)| at + length as u64 > offset)
                {
                    kept.remove(&at);
                }
                kept.insert(offset, len);
            }
        }
    }

    fn len(&self) -> u64 {
        match self {
            Written::Again(_) => 0,
            Written::Listed(list) => list.len() as u64,
            Written::ByAddress(kept) => kept.len() as u64,
        }
    }

    fn first(&self) -> Option<(u64, u32)> {
        match self {
            Written::Again(_) => None,
            Written::Listed(list) => list.front().copied(),
            Written::ByAddress(kept) => kept.first_key_value().map(|(&offset, &len)| (offset, len)),
        }
    }

    fn take(&mut self) -> Option<Request> {
        let (offset, len) = match self {
            Written::Again(begun) => {
                let stream = begun.as_mut().filter(|stream| stream.goes_on())?;
                stream.request(|op| op).map(|written| (written.offset, written.len))
            }
            Written::Listed(list) => list.pop_front(),
            Written::ByAddress(kept) => kept.pop_first(),
        }?;
        Some(Request { op: Op::Read, offset, len, fua: false })
    }
}

/// How many writes a verifying job has to remember at most, of so many that it makes.
pub fn remembered(job: &Job, requests: f64) -> f64 {
    match Checks::of(job) {
        None | Some(Checks { written: Written::Again(_), .. }) => 0.0,
        Some(Checks { backlog: Some(backlog), .. }) => {
            requests.min((2 * backlog.asked.every + job.iodepth as u64) as f64)
        }
        // Of one pass.
        Some(_) if job.time_based => requests.min((job.size / job.sizes.write.least() as u64) as f64),
        Some(_) => requests,
    }
}
