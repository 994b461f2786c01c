//! blkparse's text, a line an event of a request:
//!
//! ```text
//!     8,0    3       11     0.009507758   697  D  WS 223490 + 56 [kworker/3:1]
//!     device cpu     number seconds       pid  event kind  sector + sectors
//! ```
//!
//! A request is taken once: when it is issued to the drive (D); in a trace without such events when it is queued (Q), or
//! else when it completes (C). Kinds: a first F is a flush before, D a discard, a last F force unit access (`fill_rwbs`
//! in blkparse_fmt.c).

use pslc_ssd::{Op, Request};

use super::lines::{self, LineResult, Lines};
use super::number::{length, offset, scaled, whole, words};
use super::{Devices, Entry, Format, Reading, TraceFault};

pub const FORMAT: Format = lines::format::<Blkparse>();

struct Blkparse {
    event: &'static [u8],
    /// The summary has begun.
    ended: bool,
}

/// Events that can stand for a request, the best first.
const EVENTS: [&[u8]; 3] = [b"D", b"Q", b"C"];

impl Lines for Blkparse {
    const NAME: &'static str = "blkparse";
    const ABOUT: &'static str = "blktrace's events as blkparse prints them";
    const EXPECTED: &'static str = "device cpu number seconds process event kind sector + sectors";

    fn begin(head: &[u8], _: &Reading) -> Result<Blkparse, TraceFault> {
        let events = || head.split(|&byte| byte == b'\n').filter_map(|line| words(line).nth(5));
        let event = EVENTS.into_iter().find(|event| events().any(|kind| kind == *event));
        Ok(Blkparse { event: event.unwrap_or(EVENTS[0]), ended: false })
    }

    #[inline]
    fn line(&mut self, line: &[u8], devices: &mut Devices, into: &mut Vec<Entry>) -> LineResult {
        if self.ended || line.starts_with(b"CPU") || line.starts_with(b"Total (") {
            self.ended = true;
            return Ok(());
        }
        let mut words = words(line);
        let mut word = || words.next().ok_or("device, CPU, number, seconds, process and event");
        let (device, cpu, number, time) = (word()?, word()?, word()?, word()?);
        let (_, event) = (word()?, word()?);
        if !device.contains(&b',') {
            return Err("major and minor number of a device");
        }
        whole(cpu).and(whole(number)).ok_or("the numbers of a processor and an event")?;
        let time = scaled(time, 1_000_000_000).ok_or("a time in seconds")?;
        if event != self.event {
            return Ok(());
        }
        let kind = words.next().ok_or("the kind of a request")?;
        let place = match (words.next(), words.next(), words.next()) {
            (Some(sector), Some(b"+"), Some(count)) => Some(place(sector, count)?),
            _ => None,
        };
        let Some(kind) = Kind::of(kind) else { return Err("a kind of R, W, D, F and N") };
        kind.push(time, devices.number(device), place, into);
        Ok(())
    }

    fn notes(&self) -> Vec<String> {
        let what = match self.event {
            b"D" => return Vec::new(),
            b"Q" => "are queued (Q), before they are merged",
            _ => "complete (C)",
        };
        vec![format!("the trace has no issues (D): times are those at which requests {what}")]
    }
}

/// Where a request is, and how long, of `sector + sectors`.
pub fn place(sector: &[u8], count: &[u8]) -> Result<(u64, u32), &'static str> {
    let at = offset(sector, 512).ok_or("a sector")?;
    Ok((at, length(count, 512).ok_or("a count of sectors, below 4 GiB")?))
}

/// What a request asks of a drive, in blktrace's terms.
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    pub flush: bool,
    pub fua: bool,
    /// `None`: neither data nor a discard.
    pub op: Option<Op>,
}

impl Kind {
    /// blkparse's letters: `[F] D|W|R|N [F] [A] [S] [M]`; a flush alone is `F`, `FF` or `FN`.
    pub fn of(letters: &[u8]) -> Option<Kind> {
        let (flush, rest) = match letters {
            [b'F', rest @ ..] => (true, rest),
            rest => (false, rest),
        };
        let (op, rest) = match rest {
            [b'D', rest @ ..] => (Some(Op::Trim), rest),
            [b'W', rest @ ..] => (Some(Op::Write), rest),
            [b'R', rest @ ..] => (Some(Op::Read), rest),
            [b'N', rest @ ..] => (None, rest),
            [b'F', rest @ ..] if flush => (None, rest),
            [] if flush => (None, rest),
            _ => return None,
        };
        let is_known = rest.iter().all(|letter| b"FASME".contains(letter));
        is_known.then_some(Kind { flush, fua: rest.contains(&b'F'), op })
    }

    /// The requests of an event: a flush that is asked for with data comes before them.
    pub fn push(self, time: u64, device: u32, place: Option<(u64, u32)>, into: &mut Vec<Entry>) {
        if self.flush {
            into.push(Entry::new(time, device, Op::Flush, 0, 0));
        }
        if let (Some(op), Some((at, len))) = (self.op, place.filter(|&(_, len)| len > 0)) {
            let entry = Entry::new(time, device, op, at, len);
            into.push(Entry { request: Request { fua: self.fua, ..entry.request }, ..entry });
        }
    }
}
