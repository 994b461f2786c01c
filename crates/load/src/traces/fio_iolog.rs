//! fio's iolog, versions 2 and 3, as `write_iolog` makes them:
//!
//! ```text
//!   fio version 2 iolog                 fio version 3 iolog
//!   /dev/sda add                        36 /dev/sda add
//!   /dev/sda write 0 4096               504 /dev/sda write 0 4096      microseconds since the start
//!   /dev/sda wait 1000 0                9177 /dev/sda sync 0 0
//! ```
//!
//! A `wait` of version 2 is so many microseconds. (fio's HOWTO, "Trace file format v2", v3; the unit of version 3 is what
//! fio 3.33 writes.)

use pslc_ssd::Op;

use super::lines::{self, LineResult, Lines};
use super::number::{length, offset, whole, words};
use super::{Devices, Entry, Format, Reading, TraceFault};

pub const FORMAT: Format = lines::format::<Iolog>();

/// What its lines are.
pub const LINES: &str = "[time in us] file action [offset bytes]";

const MICROSECOND: u64 = 1000;

struct Iolog {
    /// Version 3.
    timed: bool,
    /// The waits of version 2 so far.
    waited: u64,
    first: bool,
}

impl Lines for Iolog {
    const NAME: &'static str = "fio-iolog";
    const ABOUT: &'static str = "fio's iolog, versions 2 and 3";
    const EXPECTED: &'static str = LINES;

    fn begin(head: &[u8], _: &Reading) -> Result<Iolog, TraceFault> {
        let timed = match head.split(|&byte| byte == b'\n').next().map(<[u8]>::trim_ascii) {
            Some(b"fio version 2 iolog") => false,
            Some(b"fio version 3 iolog") => true,
            _ => return Err(TraceFault::NoIolog),
        };
        Ok(Iolog { timed, waited: 0, first: true })
    }

    #[inline]
    fn line(&mut self, line: &[u8], devices: &mut Devices, into: &mut Vec<Entry>) -> LineResult {
        if std::mem::take(&mut self.first) {
            return Ok(());
        }
        // Nothing stops a file's name from having blanks in it: what is known is how the line ends.
        let mut rest = line;
        let mut last = || {
            let at = rest.iter().rposition(|&byte| byte == b' ')?;
            let word = &rest[at + 1..];
            rest = rest[..at].trim_ascii_end();
            Some(word)
        };
        let end = last().ok_or("an action")?;
        let managed = matches!(end, b"add" | b"open" | b"close");
        let (action, at, len) = if managed {
            (end, &b"0"[..], &b"0"[..])
        } else {
            let at = last().ok_or("an offset and a length")?;
            (last().ok_or("an action")?, at, end)
        };
        let mut time = self.waited;
        let mut file = rest;
        if self.timed {
            let first = words(rest).next().ok_or("a time")?;
            time = whole(first).and_then(|us| us.checked_mul(MICROSECOND)).ok_or("a time in microseconds")?;
            file = rest[first.len()..].trim_ascii();
        }
        if file.is_empty() {
            return Err("the name of a file");
        }
        let op = match action {
            b"read" => Op::Read,
            b"write" => Op::Write,
            b"trim" => Op::Trim,
            b"sync" | b"datasync" => Op::Flush,
            b"wait" if !self.timed => {
                let wait = whole(at).and_then(|us| us.checked_mul(MICROSECOND)).ok_or("microseconds to wait")?;
                self.waited = self.waited.checked_add(wait).ok_or("microseconds to wait")?;
                return Ok(());
            }
            _ if managed => return Ok(()),
            _ => return Err("add, open, close, read, write, trim, sync, datasync or wait"),
        };
        let at = offset(at, 1).ok_or("an offset in bytes")?;
        let len = length(len, 1).ok_or("a length in bytes, below 4 GiB")?;
        into.push(Entry::new(time, devices.number(file), op, at, len));
        Ok(())
    }
}
