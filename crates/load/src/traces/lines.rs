//! Lines of text, and the requests that a format makes of them.

use std::io::Read;

use super::{Bytes, Devices, Entry, Format, Reading, Source, TraceError, TraceFault};

/// A file that is to be read.
pub struct Opening {
    pub place: String,
    pub bytes: Bytes,
    /// How it begins.
    pub head: Vec<u8>,
    pub reading: Reading,
}

/// What was expected in a line, where something else stands.
pub type LineResult = Result<(), &'static str>;

/// What a format of lines has to know.
pub trait Lines: Send + Sized + 'static {
    const NAME: &'static str;
    /// Whose traces.
    const ABOUT: &'static str;
    /// What a line should be.
    const EXPECTED: &'static str;

    /// A reader for a file that begins with `head`, or why there is none.
    fn begin(head: &[u8], reading: &Reading) -> Result<Self, TraceFault>;

    /// Append the requests of a line, which may be none.
    fn line(&mut self, line: &[u8], devices: &mut Devices, into: &mut Vec<Entry>) -> LineResult;

    fn notes(&self) -> Vec<String> {
        Vec::new()
    }
}

/// The entry of a format in the list of formats.
pub const fn format<L: Lines>() -> Format {
    Format { name: L::NAME, about: L::ABOUT, tries: tries::<L>, open: open::<L> }
}

/// Lines that tell a format.
const TRIED: usize = 200;

fn tries<L: Lines>(head: &[u8], reading: &Reading) -> (usize, usize) {
    let Ok(mut format) = L::begin(head, reading) else { return (0, 1) };
    let (mut devices, mut requests, mut broken) = (Devices::default(), Vec::new(), 0);
    let mut lines: Vec<&[u8]> = head.split(|&byte| byte == b'\n').collect();
    // The last is cut off where the file goes on.
    if lines.len() > 1 {
        lines.pop();
    }
    for line in lines.into_iter().take(TRIED) {
        let line = line.trim_ascii();
        if !line.is_empty() && format.line(line, &mut devices, &mut requests).is_err() {
            broken += 1;
        }
    }
    (requests.len(), broken)
}

fn open<L: Lines>(opening: Opening) -> Result<Box<dyn Source>, TraceError> {
    let format = L::begin(&opening.head, &opening.reading).map_err(|fault| TraceError::new(&opening.place, fault))?;
    Ok(Box::new(Text {
        format,
        place: opening.place,
        bytes: opening.bytes,
        buffer: vec![0; BUFFER],
        from: 0,
        to: 0,
        number: 0,
        devices: Devices::default(),
        skip: opening.reading.skip_broken,
        skipped: 0,
        ended: false,
    }))
}

/// Bytes read at once; the longest line.
const BUFFER: usize = 256 << 10;
/// Requests made at once.
const BATCH: usize = 512;

struct Text<L> {
    format: L,
    place: String,
    bytes: Bytes,
    buffer: Vec<u8>,
    /// What was read and is no request yet.
    from: usize,
    to: usize,
    /// Of the last line, from 1.
    number: u64,
    devices: Devices,
    skip: bool,
    skipped: u64,
    ended: bool,
}

impl<L: Lines> Text<L> {
    /// Where the next line ends, and where the one after it begins; `None` at the end.
    #[inline]
    fn find(&mut self) -> Result<Option<(usize, usize)>, TraceError> {
        let mut looked = self.from;
        loop {
            if let Some(at) = memchr::memchr(b'\n', &self.buffer[looked..self.to]) {
                return Ok(Some((looked + at, looked + at + 1)));
            }
            if self.ended || self.to - self.from == BUFFER {
                return Ok((self.from < self.to).then_some((self.to, self.to)));
            }
            looked = self.to - self.from;
            self.more()?;
        }
    }

    #[cold]
    fn more(&mut self) -> Result<(), TraceError> {
        self.buffer.copy_within(self.from..self.to, 0);
        (self.to, self.from) = (self.to - self.from, 0);
        match self.bytes.read(&mut self.buffer[self.to..]) {
            Ok(0) => self.ended = true,
            Ok(got) => self.to += got,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => {
                let place = format!("{}:{}", self.place, self.number + 1);
                return Err(TraceError::new(place, TraceFault::Damaged { message: error.to_string() }));
            }
        }
        Ok(())
    }
}

impl<L: Lines> Source for Text<L> {
    fn fill(&mut self, into: &mut Vec<Entry>) -> Result<bool, TraceError> {
        let enough = into.len() + BATCH;
        while into.len() < enough {
            let Some((end, next)) = self.find()? else { return Ok(false) };
            let line = self.buffer[self.from..end].trim_ascii();
            self.number += 1;
            self.from = next;
            if line.is_empty() {
                continue;
            }
            let kept = into.len();
            if let Err(expected) = self.format.line(line, &mut self.devices, into) {
                into.truncate(kept);
                if !self.skip {
                    let line = String::from_utf8_lossy(line).chars().take(60).collect();
                    let fault = TraceFault::NoRequest { line, expected, format: L::NAME, lines: L::EXPECTED };
                    return Err(TraceError::new(format!("{}:{}", self.place, self.number), fault));
                }
                self.skipped += 1;
            }
        }
        Ok(true)
    }

    fn devices(&self) -> &[String] {
        self.devices.names()
    }

    fn skipped(&self) -> u64 {
        self.skipped
    }

    fn notes(&self) -> Vec<String> {
        self.format.notes()
    }
}
