//! The kernel's block events (ftrace) as `trace_pipe`, `trace-cmd report` and `perf script` print them:
//!
//! ```text
//!     fio-23826   [000] ..... 11589.325044: block_rq_issue: 7,0 WS 4096 () 7904 + 8 be,0,4 [fio]
//!     process-id  cpu   flags seconds       event           device kind bytes (command) sector + sectors ...
//! ```
//!
//! A request is taken once: when it is issued (`block_rq_issue`); in a trace without such events when it is queued
//! (`block_bio_queue`, which has no bytes and no command). The formats are those of `include/trace/events/block.h`.

use super::blkparse::{place, Kind};
use super::lines::{self, LineResult, Lines};
use super::number::{scaled, words};
use super::{Devices, Entry, Format, Reading, TraceFault};

pub const FORMAT: Format = lines::format::<Ftrace>();

const ISSUED: &[u8] = b"block_rq_issue:";
const QUEUED: &[u8] = b"block_bio_queue:";

struct Ftrace {
    event: &'static [u8],
    /// Events that the kernel had no room for.
    lost: u64,
}

impl Lines for Ftrace {
    const NAME: &'static str = "ftrace";
    const ABOUT: &'static str = "the kernel's block events: trace_pipe, trace-cmd, perf script";
    const EXPECTED: &'static str = "process cpu seconds: block_rq_issue: device kind bytes () sector + sectors";

    fn begin(head: &[u8], _: &Reading) -> Result<Ftrace, TraceFault> {
        let issued = memchr::memmem::find(head, ISSUED).is_some();
        Ok(Ftrace { event: if issued { ISSUED } else { QUEUED }, lost: 0 })
    }

    #[inline]
    fn line(&mut self, line: &[u8], devices: &mut Devices, into: &mut Vec<Entry>) -> LineResult {
        if line.starts_with(b"#") {
            return Ok(());
        }
        if let Some(at) = memchr::memmem::find(line, b"[LOST ") {
            let count = words(&line[at + 6..]).next().and_then(super::number::whole);
            self.lost = self.lost.saturating_add(count.ok_or("a count of lost events")?);
            return Ok(());
        }
        let Some(event) = memchr::memmem::find(line, b": block_") else {
            return Err("an event of the block layer");
        };
        let time = words(&line[..event]).last().unwrap_or_default();
        let time = scaled(time, 1_000_000_000).ok_or("a time in seconds before the event")?;
        let Some(rest) = line[event + 2..].strip_prefix(self.event) else {
            return Ok(());
        };
        let mut words = words(rest);
        let mut word = || words.next().ok_or("device, kind, sector + sectors");
        let (device, kind) = (word()?, word()?);
        if !device.contains(&b',') {
            return Err("major and minor number of a device");
        }
        let mut sector = word()?;
        if self.event == ISSUED {
            // Bytes, and a command of SCSI in brackets, which is empty for reads and writes.
            while !word()?.ends_with(b")") {}
            sector = word()?;
        }
        let (b"+", Some(count)) = (word()?, words.next()) else { return Err("sector + sectors") };
        // A flush has the address -1, or 0.
        let place = if count == b"0" { None } else { Some(place(sector, count)?) };
        let Some(kind) = Kind::of(kind) else { return Err("a kind of R, W, D, F and N") };
        kind.push(time, devices.number(device), place, into);
        Ok(())
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if self.event == QUEUED {
            notes.push("the trace has no issues: times are those at which requests were queued, before merging".into());
        }
        if self.lost > 0 {
            notes.push(format!("the kernel lost {} events: those requests are missing", self.lost));
        }
        notes
    }
}
