//! Traces: requests with the times at which somebody made them, read as a stream. A format is a row of `rows`, or a file;
//! which one a trace is of is found by trying each on its beginning.
//!
//! ```text
//!   file -> packed (gzip, zstd, xz) -> lines -> a format -> Source -> Trace (times from 0, cuts, one device)
//!                                      blktrace (binary, a file a processor) ^
//! ```
//!
//! A new format is a row of `rows` or a file here, and a line in `FORMATS`.

mod blkparse;
mod blktrace;
mod columns;
mod error;
mod fio_iolog;
mod ftrace;
mod iolog_writer;
mod lines;
mod number;
mod packed;
mod pages;
mod procmon;
mod rows;
mod survey;

use std::io::Read;
use std::path::Path;

use pslc_ssd::{Nanos, Op, Request};

pub use columns::{columns, Assigned};
pub use error::{ColumnFault, TraceError, TraceFault};
pub use iolog_writer::IologWriter;
pub use pages::Pages;
pub use survey::{survey, Burst, OverTime, Survey, Surveyor, Volume};

/// A request of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// When it was made; of a source on its own clock, of a trace since its first request.
    pub at: Nanos,
    /// How long it took there; 0 where the trace does not tell.
    pub took: Nanos,
    /// Which of the devices.
    pub device: u32,
    pub request: Request,
}

impl Entry {
    fn new(at: u64, device: u32, op: Op, offset: u64, len: u32) -> Entry {
        let request = match op {
            Op::Flush => Request::flush(),
            _ => Request { op, offset, len, fua: false },
        };
        Entry { at: Nanos(at), took: Nanos::ZERO, device, request }
    }
}

/// The devices of a trace, numbered in the order they come.
#[derive(Clone, Debug, Default)]
pub struct Devices {
    names: Vec<String>,
    last: u32,
}

impl Devices {
    /// The number of a device. Mostly it is that of the request before.
    #[inline]
    fn number(&mut self, name: &[u8]) -> u32 {
        match self.names.get(self.last as usize) {
            Some(last) if last.as_bytes() == name => self.last,
            _ => self.find(&String::from_utf8_lossy(name)),
        }
    }

    #[cold]
    fn find(&mut self, name: &str) -> u32 {
        let number = self.names.iter().position(|device| device == name).unwrap_or_else(|| {
            self.names.push(name.to_string());
            self.names.len() - 1
        });
        self.last = number as u32;
        self.last
    }

    /// Their names, by number.
    pub fn names(&self) -> &[String] {
        &self.names
    }
}

/// Where requests come from: a file of some format, or a program's own batches.
pub trait Source: Send {
    /// Append some requests, in the order of the trace; false when there are no more.
    fn fill(&mut self, into: &mut Vec<Entry>) -> Result<bool, TraceError>;

    /// The devices met so far, by their number.
    fn devices(&self) -> &[String];

    /// Lines that could not be read and were left out.
    fn skipped(&self) -> u64 {
        0
    }

    /// What was taken for what, a sentence each.
    fn notes(&self) -> Vec<String> {
        Vec::new()
    }
}

/// What a file does not say by itself.
#[derive(Clone, Debug, Default)]
pub struct Reading {
    /// Name of the format; found out by content where it is `None`.
    pub format: Option<String>,
    /// Of a table: what a column is, and its name there with its unit: (`time`, `ts:us`).
    pub columns: Vec<(String, String)>,
    /// Leave out lines that cannot be read, and count them.
    pub skip_broken: bool,
}

/// A format of lines.
pub struct Format {
    pub name: &'static str,
    /// Whose traces, for people.
    pub about: &'static str,
    /// Try it on the beginning of a file: lines that are requests, and lines that are not understood.
    tries: fn(&[u8], &Reading) -> (usize, usize),
    open: fn(lines::Opening) -> Result<Box<dyn Source>, TraceError>,
}

/// Every format of text; blktrace's binary one is told by its first bytes.
pub const FORMATS: &[Format] = &[
    fio_iolog::FORMAT,
    rows::FIO_IOLOG_V1,
    blkparse::FORMAT,
    ftrace::FORMAT,
    rows::MSR,
    rows::ALIBABA,
    rows::TENCENT,
    rows::SYSTOR,
    rows::SPC,
    rows::FIU,
    rows::MQSIM,
    rows::DISKSIM,
    rows::BIOSNOOP,
    rows::IOSNOOP,
    procmon::FORMAT,
    columns::FORMAT,
];

/// Names of all formats, and whose they are.
pub fn formats() -> Vec<(&'static str, &'static str)> {
    let text = FORMATS.iter().map(|format| (format.name, format.about));
    text.chain([(blktrace::NAME, blktrace::ABOUT)]).collect()
}

/// Bytes of a file that its format is told by.
const HEAD: usize = 64 << 10;

/// The format of a file, or `None` where it is of none.
pub fn detect(path: &Path) -> Result<Option<&'static str>, TraceError> {
    let head = packed::head(path, HEAD)?;
    if blktrace::is(path, &head) {
        return Ok(Some(blktrace::NAME));
    }
    Ok(best(&head, &Reading::default()).map(|format| format.name))
}

/// The format that understands most of the lines, and more than half of them.
fn best(head: &[u8], reading: &Reading) -> Option<&'static Format> {
    let tried = FORMATS.iter().map(|format| (format, (format.tries)(head, reading)));
    let fits = tried.filter(|(_, (requests, broken))| *requests > 0 && requests > broken);
    fits.min_by(|(_, a), (_, b)| (a.1 * (b.0 + b.1)).cmp(&(b.1 * (a.0 + a.1)))).map(|(format, _)| format)
}

/// Open a file of any format.
fn source(path: &Path, reading: &Reading) -> Result<(&'static str, Box<dyn Source>), TraceError> {
    let refused = |fault| TraceError::new(path.display(), fault);
    let head = packed::head(path, HEAD)?;
    // Columns are named of tables only.
    let wanted = reading.format.as_deref().or((!reading.columns.is_empty()).then_some(columns::TABLE));
    if wanted == Some(blktrace::NAME) || (wanted.is_none() && blktrace::is(path, &head)) {
        return Ok((blktrace::NAME, blktrace::open(path)?));
    }
    let format = match wanted {
        Some(name) => FORMATS
            .iter()
            .find(|format| format.name == name)
            .ok_or_else(|| refused(TraceFault::UnknownFormat { name: name.to_string() }))?,
        None => best(&head, reading).ok_or_else(|| {
            if let Some(fault) = columns::missing(&head) {
                return refused(fault.into());
            }
            let first = String::from_utf8_lossy(head.split(|&byte| byte == b'\n').next().unwrap_or(&[]));
            let beginning =
                first.chars().filter(|letter| !letter.is_control() && *letter != '\u{fffd}').take(60).collect();
            refused(TraceFault::NoFormat { beginning })
        })?,
    };
    let opening = lines::Opening {
        place: path.display().to_string(),
        bytes: packed::open(path)?,
        head,
        reading: reading.clone(),
    };
    Ok((format.name, (format.open)(opening)?))
}

/// Which part of a trace.
#[derive(Clone, Debug, Default)]
pub struct Cut {
    /// Only this device.
    pub device: Option<String>,
    /// Since the trace's first request.
    pub from: Nanos,
    pub to: Option<Nanos>,
    /// Without requests of these kinds (fio's `replay_skip`).
    pub without: Vec<Op>,
    /// Offsets are divided by this (`replay_scale`), and are then multiples of that many bytes (`replay_align`), as blktrace's
    /// lengths are; 0 is 1.
    pub scale: u64,
    pub align: u64,
}

impl Cut {
    /// A request where it is wanted.
    #[inline]
    fn placed(&self, request: Request, format: &str) -> Request {
        if self.scale <= 1 && self.align <= 1 || request.op == Op::Flush {
            return request;
        }
        let align = self.align.max(1);
        let len = if format == blktrace::NAME {
            (request.len as u64).next_multiple_of(align).min(u32::MAX as u64) as u32
        } else {
            request.len
        };
        Request { offset: request.offset / self.scale.max(1) / align * align, len, ..request }
    }
}

/// A trace as a stream of requests with times from 0. Memory does not grow with its length.
pub struct Trace {
    source: Box<dyn Source>,
    format: &'static str,
    place: String,
    cut: Cut,
    batch: Vec<Entry>,
    next: usize,
    /// Time of the first request.
    begin: Option<Nanos>,
    /// Number of the device that is wanted, once it was met.
    wanted: Option<u32>,
    met: usize,
    ended: bool,
    /// Requests without any bytes, left out.
    pub empty: u64,
    /// The furthest that times went back; such a request counts as made with the one before.
    pub backwards: Nanos,
    latest: Nanos,
}

/// Requests that are read ahead of the present one, where there are so many.
pub const AHEAD: usize = 32;
/// A batch is filled until it has at least so many.
const BATCH: usize = 512;

impl Trace {
    /// Open a file.
    pub fn open(path: &Path, reading: &Reading, cut: Cut) -> Result<Trace, TraceError> {
        let (format, source) = source(path, reading)?;
        Ok(Trace::of(source, format, path.display().to_string(), cut))
    }

    /// A trace from anywhere. `place` is its name in errors.
    pub fn of(source: Box<dyn Source>, format: &'static str, place: String, cut: Cut) -> Trace {
        Trace {
            source,
            format,
            place,
            cut,
            batch: Vec::with_capacity(2 * BATCH),
            next: 0,
            begin: None,
            wanted: None,
            met: 0,
            ended: false,
            empty: 0,
            backwards: Nanos::ZERO,
            latest: Nanos::ZERO,
        }
    }

    pub fn format(&self) -> &'static str {
        self.format
    }

    pub fn place(&self) -> &str {
        &self.place
    }

    /// The devices met so far.
    pub fn devices(&self) -> &[String] {
        self.source.devices()
    }

    /// Whether the requests of every device are wanted.
    pub fn is_of_all(&self) -> bool {
        self.cut.device.is_none()
    }

    pub fn skipped(&self) -> u64 {
        self.source.skipped()
    }

    pub fn notes(&self) -> Vec<String> {
        self.source.notes()
    }

    /// The request `after` so many others, if it was read already.
    #[inline]
    pub fn ahead(&self, after: usize) -> Option<&Entry> {
        self.batch.get(self.next + after)
    }

    /// The next request of the part that is wanted.
    #[inline]
    pub fn next_entry(&mut self) -> Result<Option<Entry>, TraceError> {
        if self.next + AHEAD >= self.batch.len() && !self.ended {
            self.refill()?;
        }
        let entry = self.batch.get(self.next).copied();
        self.next += 1;
        Ok(entry)
    }

    fn refill(&mut self) -> Result<(), TraceError> {
        self.batch.drain(..self.next.min(self.batch.len()));
        self.next = 0;
        while self.batch.len() < BATCH && !self.ended {
            let kept = self.batch.len();
            self.ended = !self.source.fill(&mut self.batch)?;
            self.select(kept);
        }
        if self.ended && self.cut.device.is_some() && self.wanted.is_none() && self.batch.is_empty() {
            let devices = self.source.devices().to_vec();
            let device = self.cut.device.clone().unwrap_or_default();
            return Err(TraceError::new(&self.place, TraceFault::NoDevice { device, devices }));
        }
        Ok(())
    }

    /// Of what was read from `kept` on, keep what is wanted, with times from 0 on that never go back.
    fn select(&mut self, kept: usize) {
        let devices = self.source.devices();
        if let (Some(name), None) = (&self.cut.device, self.wanted) {
            if devices.len() > self.met {
                self.met = devices.len();
                self.wanted = devices.iter().position(|device| device == name).map(|at| at as u32);
            }
        }
        let mut into = kept;
        for at in kept..self.batch.len() {
            let mut entry = self.batch[at];
            let begin = *self.begin.get_or_insert(entry.at);
            if self.cut.device.is_some() && Some(entry.device) != self.wanted {
                continue;
            }
            if entry.request.len == 0 && entry.request.op != Op::Flush {
                self.empty += 1;
                continue;
            }
            let since = entry.at.saturating_sub(begin);
            self.backwards = self.backwards.max(self.latest.saturating_sub(since));
            self.latest = self.latest.max(since);
            if self.latest < self.cut.from || self.cut.without.contains(&entry.request.op) {
                continue;
            }
            if self.cut.to.is_some_and(|to| self.latest >= to) {
                self.ended = true;
                break;
            }
            entry.at = self.latest.saturating_sub(self.cut.from);
            entry.request = self.cut.placed(entry.request, self.format);
            self.batch[into] = entry;
            into += 1;
        }
        self.batch.truncate(into);
    }
}

/// Something to read bytes from.
type Bytes = Box<dyn Read + Send>;
