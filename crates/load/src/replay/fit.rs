//! Where the addresses of a trace are on a drive that may be smaller than the one it was taken on.

use std::collections::{HashMap, VecDeque};

use pslc_ssd::{Op, Request};

use crate::traces::TraceFault;

/// What is to be done with addresses past the end of the drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fit {
    /// They are an error.
    Exact,
    /// They begin again at 0.
    Wrap,
    /// Pieces of 1 MiB in the order in which they are first used, one after the other.
    Compact,
    /// All addresses shrink alike, from a span of so many bytes.
    Scale(u64),
}

const PIECE: u64 = 1 << 20;
/// Scaled addresses keep their place within so many bytes.
const ALIGNED: u64 = 4096;

/// Puts requests onto a drive.
#[derive(Debug)]
pub struct Remap {
    fit: Fit,
    capacity: u64,
    pieces: HashMap<u64, u64>,
    /// Requests whose address was changed.
    pub moved: u64,
}

impl Remap {
    pub fn new(fit: Fit, capacity: u64) -> Remap {
        Remap { fit, capacity, pieces: HashMap::new(), moved: 0 }
    }

    /// Append what becomes of a request: itself, or several where its pieces lie apart.
    #[inline]
    pub fn put(&mut self, request: &Request, into: &mut VecDeque<Request>) -> Result<(), TraceFault> {
        if request.op == Op::Flush {
            into.push_back(*request);
            return Ok(());
        }
        let end = request.offset + request.len as u64;
        match self.fit {
            Fit::Exact | Fit::Wrap if end <= self.capacity => into.push_back(*request),
            Fit::Exact => {
                return Err(TraceFault::PastEnd { end, capacity: self.capacity });
            }
            Fit::Wrap => self.within(request, request.offset % self.capacity, into)?,
            Fit::Scale(span) => {
                let scaled = if span > self.capacity {
                    (request.offset as u128 * self.capacity as u128 / span as u128) as u64
                } else {
                    request.offset
                };
                let at = scaled / ALIGNED * ALIGNED + request.offset % ALIGNED;
                self.within(request, at, into)?;
            }
            Fit::Compact => self.compact(request, into)?,
        }
        Ok(())
    }

    /// At an address, or before the end of the drive where it would reach beyond.
    fn within(&mut self, request: &Request, at: u64, into: &mut VecDeque<Request>) -> Result<(), TraceFault> {
        let Some(last) = self.capacity.checked_sub(request.len as u64) else {
            return Err(TraceFault::LongRequest { len: request.len, capacity: self.capacity });
        };
        self.moved += (at.min(last) != request.offset) as u64;
        into.push_back(Request { offset: at.min(last), ..*request });
        Ok(())
    }

    fn compact(&mut self, request: &Request, into: &mut VecDeque<Request>) -> Result<(), TraceFault> {
        let first = into.len();
        let (mut at, end) = (request.offset, request.offset + request.len as u64);
        while at < end {
            let next = (at / PIECE + 1) * PIECE;
            let place = match self.pieces.get(&(at / PIECE)) {
                Some(place) => *place,
                None => {
                    let place = self.pieces.len() as u64 * PIECE;
                    if place + PIECE > self.capacity {
                        return Err(TraceFault::ManyAddresses { capacity: self.capacity });
                    }
                    self.pieces.insert(at / PIECE, place);
                    place
                }
            };
            let len = (next.min(end) - at) as u32;
            let offset = place + at % PIECE;
            let follows = into.len() > first;
            match into.back_mut() {
                Some(last) if follows && last.offset + last.len as u64 == offset => last.len += len,
                _ => into.push_back(Request { offset, len, ..*request }),
            }
            at = next;
        }
        self.moved += (into[first].offset != request.offset) as u64;
        Ok(())
    }
}
