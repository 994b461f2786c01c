//! What a verifying job reads again, as fio does: every write of a pass behind it, and with a `verify_backlog` already in
//! between. Under a random map writes are read in their order; without one (fio's LFSR needs none) blocks may have been
//! written twice, and are read by address, the newest alone.

use std::collections::{BTreeMap, VecDeque};

use pslc_ssd::{Op, Request};

use super::Stream;
use crate::job::{Job, Mix};
use crate::verify::VerifyBacklog;

#[derive(Clone, Debug)]
pub(super) struct Verifier {
    phase: Phase,
    written: Written,
    backlog: Option<Backlog>,
    /// Nothing is written before it is read.
    only: bool,
    /// What is listed is the newest write of its place. Time alone ends a pass with a backlog, and the random map begins
    /// again within it: a place is then listed twice. fio looks at no number of such a job.
    newest: bool,
}

/// What is read, and which of its job's writes it was; not known of an earlier run's.
#[derive(Clone, Copy, Debug)]
pub(super) struct Check {
    pub request: Request,
    pub number: Option<u64>,
}

/// A write that is to be read: offset, length, number of the write. Numbers go round with those in the headers.
type Entry = (u64, u32, u32);

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
    Listed(VecDeque<Entry>),
    ByAddress(BTreeMap<u64, (u32, u32)>),
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

impl Verifier {
    pub fn of(job: &Job) -> Option<Verifier> {
        let verify = job.verify.as_ref().filter(|verify| verify.reads_back && job.writes() && !job.null)?;
        let mapped = job.rw.random && !job.norandommap && !job.lfsr;
        let in_order = !job.rw.random && job.rw.hole == 0 && job.strided.is_none();
        // What is made out again has no list that a backlog could be taken from, nor has a pass that is not written.
        let asked = verify.backlog.filter(|_| !verify.repeats && !verify.only);
        let backlog = asked.map(|asked| Backlog { asked, left: 0, last: Op::Read, under_way: Vec::new() });
        let written = match job.rw.mix {
            _ if verify.repeats && (mapped || in_order) => Written::Again(None),
            Mix::Write if (mapped || in_order) && backlog.is_none() => Written::Again(None),
            Mix::Write | Mix::ReadWrite | Mix::TrimWrite if mapped => Written::Listed(VecDeque::new()),
            _ => Written::ByAddress(BTreeMap::new()),
        };
        // A pass of an engine that makes one request at a time ends with the time.
        let comes = !(job.time_based && job.one_at_a_time) || backlog.is_some() || verify.only;
        let newest = !(job.time_based && backlog.is_some() && matches!(written, Written::Listed(_)));
        comes.then_some(Verifier { phase: Phase::Writing, written, backlog, only: verify.only, newest })
    }

    /// A pass begins.
    pub fn begin(&mut self, pass: Stream) {
        self.phase = Phase::Writing;
        if let Written::Again(begun) = &mut self.written {
            *begun = Some(Box::new(Stream { fsync: 0, ..pass }));
        }
    }

    /// Write `number` of the job is made.
    pub fn note(&mut self, request: &Request, number: u64) {
        if request.op == Op::Write {
            let (offset, len) = (request.offset, request.len);
            self.written.add((offset, len, number as u32));
            if let Some(backlog) = &mut self.backlog {
                backlog.under_way.push((offset, len));
            }
        }
    }

    /// Writes are noted and not made.
    pub fn skips_writes(&self) -> bool {
        self.only
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
    pub fn between(&mut self) -> Option<Check> {
        let backlog = self.backlog.as_mut()?;
        let count = self.written.len();
        if backlog.left == 0 && backlog.last != Op::Read && count % backlog.asked.every == 0 {
            backlog.left = backlog.asked.batch;
        }
        let (offset, len, _) = self.written.first().filter(|_| backlog.left > 0)?;
        let under_way = |&(at, length): &(u64, u32)| at < offset + len as u64 && offset < at + length as u64;
        if backlog.under_way.iter().any(under_way) {
            return None;
        }
        backlog.left -= 1;
        self.take()
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
    pub fn next(&mut self) -> Option<Check> {
        if !matches!(self.phase, Phase::Reading) {
            return None;
        }
        let read = self.take();
        if read.is_none() {
            // The stream of a pass that ended early would go on when asked again.
            self.phase = Phase::Read;
        }
        read
    }

    fn take(&mut self) -> Option<Check> {
        let (offset, len, number) = self.written.take()?;
        let number = (!self.only && self.newest).then_some(number as u64);
        Some(Check { request: Request { op: Op::Read, offset, len, fua: false }, number })
    }
}

impl Written {
    fn add(&mut self, (offset, len, number): Entry) {
        match self {
            Written::Again(_) => {}
            Written::Listed(list) => list.push_back((offset, len, number)),
            Written::ByAddress(kept) => {
                // What a later write overlaps is gone.
                let end = offset + len as u64;
                while let Some((&at, _)) =
                    kept.range(..end).next_back().filter(|&(&at, &(length, _))| at + length as u64 > offset)
                {
                    kept.remove(&at);
                }
                kept.insert(offset, (len, number));
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

    fn first(&self) -> Option<Entry> {
        match self {
            Written::Again(_) => None,
            Written::Listed(list) => list.front().copied(),
            Written::ByAddress(kept) => kept.first_key_value().map(|(&offset, &(len, number))| (offset, len, number)),
        }
    }

    fn take(&mut self) -> Option<Entry> {
        match self {
            Written::Again(begun) => {
                let stream = begun.as_mut()?;
                while stream.goes_on() {
                    let request = stream.request(|op| op)?;
                    if request.op == Op::Write {
                        return Some((request.offset, request.len, stream.last_write() as u32));
                    }
                }
                None
            }
            Written::Listed(list) => list.pop_front(),
            Written::ByAddress(kept) => kept.pop_first().map(|(offset, (len, number))| (offset, len, number)),
        }
    }
}

/// How many writes a verifying job has to remember at most, of so many that it makes.
pub fn remembered(job: &Job, requests: f64) -> f64 {
    match Verifier::of(job) {
        None | Some(Verifier { written: Written::Again(_), .. }) => 0.0,
        Some(Verifier { backlog: Some(backlog), .. }) => {
            requests.min((2 * backlog.asked.every + job.iodepth as u64) as f64)
        }
        // Of one pass.
        Some(_) if job.time_based => requests.min((job.size / job.sizes.write.smallest() as u64) as f64),
        Some(_) => requests,
    }
}
