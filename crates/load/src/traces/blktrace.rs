//! blktrace's binary files, one a processor (`sda.blktrace.0`, `sda.blktrace.1`), or all in one as `blkparse -d` writes them: a
//! stream of `struct blk_io_trace` (linux/blktrace_api.h), each followed by data of its own. Given one of several, all are
//! read and merged by time.

use std::io::Read;
use std::path::{Path, PathBuf};

use pslc_ssd::Op;

use super::blkparse::Kind;
use super::{packed, Bytes, Devices, Entry, Source, TraceError, TraceFault};

pub const NAME: &str = "blktrace";
pub const ABOUT: &str = "blktrace's binary files";

const MAGIC: u32 = 0x6561_7400;
const HEADER: usize = 48;
/// The part of an action that is the event; what is above is its category.
const EVENT: u32 = 0xff;
const EVENTS: [(u32, &str); 3] = [(7, "issued (D)"), (1, "queued (Q)"), (8, "complete (C)")];
const WRITE: u32 = 1 << 17;
const FLUSH: u32 = 1 << 18;
const PASSTHROUGH: u32 = 1 << 25;
const NOTIFY: u32 = 1 << 26;
const DISCARD: u32 = 1 << 29;
const FUA: u32 = 1 << 31;

/// Whether a file that begins so is one, or an empty one of a processor that saw nothing, beside others that did.
pub fn is(path: &Path, head: &[u8]) -> bool {
    let of_another =
        || siblings(path).first().is_some_and(|other| packed::head(other, 4).is_ok_and(|head| begins(&head)));
    begins(head) || (head.is_empty() && of_another())
}

fn begins(head: &[u8]) -> bool {
    let Some(first) = head.first_chunk::<4>() else { return false };
    [u32::from_le_bytes(*first), u32::from_be_bytes(*first)].iter().any(|magic| magic & !0xff == MAGIC)
}

/// One event.
#[derive(Clone, Copy)]
struct Event {
    sequence: u32,
    time: u64,
    sector: u64,
    bytes: u32,
    action: u32,
    device: u32,
    cpu: u32,
}

struct File {
    place: String,
    bytes: Bytes,
    big_endian: bool,
    read: u64,
    /// The first that was not merged yet.
    first: Option<Event>,
}

struct Blktrace {
    files: Vec<File>,
    event: (u32, &'static str),
    devices: Devices,
}

/// Open a file and those beside it that are of the same trace.
pub fn open(path: &Path) -> Result<Box<dyn Source>, TraceError> {
    let mut files = siblings(path).iter().map(|path| File::open(path)).collect::<Result<Vec<_>, _>>()?;
    // Which events there are is known only from looking: the beginning of each file will do.
    let mut is_present = [false; 3];
    for path in siblings(path) {
        let mut file = File::open(&path)?;
        for _ in 0..LOOKED {
            let Some(event) = file.first else { break };
            let at = EVENTS.iter().position(|(code, _)| event.action & EVENT == *code);
            if let Some(at) = at.filter(|_| event.action & NOTIFY == 0) {
                is_present[at] = true;
            }
            file.advance()?;
        }
    }
    let event = EVENTS[is_present.iter().position(|&some| some).unwrap_or(0)];
    files.retain(|file| file.first.is_some());
    Ok(Box::new(Blktrace { files, event, devices: Devices::default() }))
}

/// Events that are looked at to know which there are.
const LOOKED: usize = 2000;

/// `sda.blktrace.0` and those of the other processors; the file itself where it is not named so.
fn siblings(path: &Path) -> Vec<PathBuf> {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let Some((stem, cpu)) = name.rsplit_once(".blktrace.") else { return vec![path.into()] };
    if cpu.parse::<u32>().is_err() {
        return vec![path.into()];
    }
    let parts = (0..4096).map(|cpu| path.with_file_name(format!("{stem}.blktrace.{cpu}")));
    parts.filter(|path| path.metadata().is_ok_and(|metadata| metadata.len() > 0)).collect()
}

impl File {
    fn open(path: &Path) -> Result<File, TraceError> {
        let head = packed::head(path, 4)?;
        let mut file = File {
            place: path.display().to_string(),
            bytes: Box::new(std::io::BufReader::with_capacity(256 << 10, packed::open(path)?)),
            big_endian: head.first().is_some_and(|&first| first == 0x65),
            read: 0,
            first: None,
        };
        file.advance()?;
        Ok(file)
    }

    /// Read the next event.
    fn advance(&mut self) -> Result<(), TraceError> {
        self.first = None;
        let mut header = [0; HEADER];
        let mut got = 0;
        while got < HEADER {
            match self.bytes.read(&mut header[got..]) {
                Ok(0) if got == 0 => return Ok(()),
                Ok(0) => return Err(self.broken(TraceFault::CutEvent)),
                Ok(more) => got += more,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => return Err(self.broken(TraceFault::DamagedEvent { message: error.to_string() })),
            }
        }
        let big = self.big_endian;
        let u32_at = |at: usize| {
            let bytes = header[at..at + 4].try_into().expect("four bytes");
            if big {
                u32::from_be_bytes(bytes)
            } else {
                u32::from_le_bytes(bytes)
            }
        };
        let u64_at = |at: usize| {
            let bytes = header[at..at + 8].try_into().expect("eight bytes");
            if big {
                u64::from_be_bytes(bytes)
            } else {
                u64::from_le_bytes(bytes)
            }
        };
        if u32_at(0) & !0xff != MAGIC {
            return Err(self.broken(TraceFault::NoEvent));
        }
        let own = [header[46], header[47]];
        let own = if big { u16::from_be_bytes(own) } else { u16::from_le_bytes(own) } as u64;
        self.first = Some(Event {
            sequence: u32_at(4),
            time: u64_at(8),
            sector: u64_at(16),
            bytes: u32_at(24),
            action: u32_at(28),
            device: u32_at(36),
            cpu: u32_at(40),
        });
        let passed = std::io::copy(&mut (&mut self.bytes).take(own), &mut std::io::sink());
        match passed {
            Ok(passed) if passed == own => {}
            Ok(_) => return Err(self.broken(TraceFault::CutEvent)),
            Err(error) => return Err(self.broken(TraceFault::DamagedEvent { message: error.to_string() })),
        }
        self.read += HEADER as u64 + own;
        Ok(())
    }

    fn broken(&self, fault: TraceFault) -> TraceError {
        TraceError::new(format!("{}: byte {}", self.place, self.read), fault)
    }
}

impl Source for Blktrace {
    fn fill(&mut self, into: &mut Vec<Entry>) -> Result<bool, TraceError> {
        for _ in 0..BATCH {
            // Few processors write at once; a heap would not be faster.
            let earliest = self
                .files
                .iter_mut()
                .filter(|file| file.first.is_some())
                .min_by_key(|file| file.first.map(|event| (event.time, event.cpu, event.sequence)));
            let Some(file) = earliest else { return Ok(false) };
            let event = file.first.expect("those without one are left out");
            file.advance()?;
            let other = NOTIFY | PASSTHROUGH;
            if event.action & EVENT != self.event.0 || event.action & other != 0 {
                continue;
            }
            let op = match event.action {
                action if action & DISCARD != 0 => Op::Trim,
                action if action & WRITE != 0 => Op::Write,
                _ => Op::Read,
            };
            let kind = Kind {
                flush: event.action & FLUSH != 0,
                fua: event.action & FUA != 0,
                op: (event.bytes > 0).then_some(op),
            };
            let name = format!("{},{}", event.device >> 20, event.device & 0xf_ffff);
            let device = self.devices.number(name.as_bytes());
            let place = event.sector.checked_mul(512).filter(|at| *at < 1 << 60).map(|at| (at, event.bytes));
            kind.push(event.time, device, place, into);
        }
        Ok(true)
    }

    fn devices(&self) -> &[String] {
        self.devices.names()
    }

    fn notes(&self) -> Vec<String> {
        match self.event.0 {
            7 => Vec::new(),
            _ => vec![format!("the trace has no issues (D): times are those at which requests are {}", self.event.1)],
        }
    }
}

/// Events looked at at once.
const BATCH: usize = 1024;
