//! What a verifying job reads again behind each pass: every write of it, as fio does. Under a random map they are read in
//! the order of the writes; without one (fio's LFSR needs none) blocks may have been written twice, and are read by
//! address, the newest alone.

use std::collections::BTreeMap;

use pslc_ssd::{Op, Request};

use super::Stream;
use crate::job::{Job, Mix};

#[derive(Clone, Debug)]
pub(super) struct Checks {
    phase: Phase,
    written: Written,
}

#[derive(Clone, Debug)]
enum Phase {
    Writing,
    /// The pass is over, and what it wrote may still be under way.
    Due,
    Reading(Reads),
    /// All of it was read.
    Read,
}

#[derive(Clone, Debug)]
enum Written {
    /// No block twice, in the order in which they are read: the pass from its beginning.
    Again(Option<Box<Stream>>),
    /// Offsets and lengths.
    Listed(Vec<(u64, u32)>),
    ByAddress(Vec<(u64, u32)>),
}

#[derive(Clone, Debug)]
enum Reads {
    Again(Box<Stream>),
    Listed(std::vec::IntoIter<(u64, u32)>),
}

impl Checks {
    pub fn of(job: &Job) -> Option<Checks> {
        let mapped = job.rw.random && !job.norandommap && !job.lfsr;
        let in_order = !job.rw.random && job.rw.hole == 0 && job.strided.is_none();
        let written = match job.rw.mix {
            Mix::Write if mapped || in_order => Written::Again(None),
            Mix::ReadWrite | Mix::TrimWrite if mapped => Written::Listed(Vec::new()),
            _ => Written::ByAddress(Vec::new()),
        };
        let verified = job.verify && job.writes() && !job.time_based && !job.null;
        verified.then_some(Checks { phase: Phase::Writing, written })
    }

    /// A pass begins.
    pub fn begin(&mut self, pass: Stream) {
        self.phase = Phase::Writing;
        if let Written::Again(begun) = &mut self.written {
            *begun = Some(Box::new(Stream { fsync: 0, ..pass }));
        }
    }

    pub fn note(&mut self, request: &Request) {
        match &mut self.written {
            Written::Listed(list) | Written::ByAddress(list) if request.op == Op::Write => {
                list.push((request.offset, request.len));
            }
            _ => {}
        }
    }

    /// The pass is over.
    pub fn end(&mut self) {
        self.phase = Phase::Due;
    }

    pub fn is_writing(&self) -> bool {
        matches!(self.phase, Phase::Writing)
    }

    /// Nothing is under way. Whether there is something to read; else the next pass may begin.
    pub fn read(&mut self) -> bool {
        if !matches!(self.phase, Phase::Due) {
            return false;
        }
        let reads = match &mut self.written {
            Written::Again(begun) => begun.take().map(Reads::Again),
            Written::Listed(list) => Some(Reads::Listed(std::mem::take(list).into_iter())),
            Written::ByAddress(list) => Some(Reads::Listed(newest(std::mem::take(list)).into_iter())),
        };
        match reads {
            Some(reads) => self.phase = Phase::Reading(reads),
            None => return false,
        }
        true
    }

    /// What is read next.
    pub fn next(&mut self) -> Option<Request> {
        let Phase::Reading(reads) = &mut self.phase else { return None };
        let written = match reads {
            Reads::Again(stream) if stream.goes_on() => {
                stream.request(|op| op).map(|written| (written.offset, written.len))
            }
            Reads::Again(_) => None,
            Reads::Listed(list) => list.next(),
        };
        if written.is_none() {
            // The stream of a pass that ended early would go on when asked again.
            self.phase = Phase::Read;
        }
        written.map(|(offset, len)| Request { op: Op::Read, offset, len, fua: false })
    }
}

/// By address; what a later write overlaps is gone.
fn newest(writes: Vec<(u64, u32)>) -> Vec<(u64, u32)> {
    let mut kept: BTreeMap<u64, u32> = BTreeMap::new();
    for (offset, len) in writes {
        let end = offset + len as u64;
        while let Some((&at, _)) =
            kept.range(..end).next_back().filter(|&(&at, &length)| at + length as u64 > offset)
        {
            kept.remove(&at);
        }
        kept.insert(offset, len);
    }
    kept.into_iter().collect()
}

/// Whether a verifying job has to remember its writes.
pub fn remembers(job: &Job) -> bool {
    Checks::of(job).is_some_and(|checks| !matches!(checks.written, Written::Again(_)))
}
