//! Formats whose lines are fields in a fixed order: a row of `ROWS` each.

use pslc_ssd::{Nanos, Op};

use super::lines::{self, LineResult, Lines};
use super::number::{length, offset, read_or_write, scaled, whole, words};
use super::{Devices, Entry, Format, Reading, TraceFault};

pub const FIO_IOLOG_V1: Format = lines::format::<Fields<0>>();
pub const MSR: Format = lines::format::<Fields<1>>();
pub const ALIBABA: Format = lines::format::<Fields<2>>();
pub const TENCENT: Format = lines::format::<Fields<3>>();
pub const SYSTOR: Format = lines::format::<Fields<4>>();
pub const SPC: Format = lines::format::<Fields<5>>();
pub const FIU: Format = lines::format::<Fields<6>>();
pub const MQSIM: Format = lines::format::<Fields<7>>();
pub const DISKSIM: Format = lines::format::<Fields<8>>();
pub const BIOSNOOP: Format = lines::format::<Fields<9>>();
pub const IOSNOOP: Format = lines::format::<Fields<10>>();

const SECOND: u64 = 1_000_000_000;
/// Bytes of a sector.
const SECTOR: u64 = 512;

/// What a field says. Its numbers are of units of so many nanoseconds or bytes.
enum Field {
    /// Nothing about the request.
    Unused,
    /// The same, in a whole number.
    UnusedNumber,
    /// The device's name, or a part of it.
    Name,
    /// The same, in a whole number.
    Number,
    Time(u64),
    /// In whole nanoseconds.
    WholeTime,
    Took(u64),
    /// It may be empty.
    TookIfKnown(u64),
    Kind(fn(&[u8]) -> Option<Op>),
    Offset(u64),
    Len(u64),
}

use Field::{Kind, Len, Name, Number, Offset, Time, Took, TookIfKnown, Unused, UnusedNumber, WholeTime};

/// A format: the fields of a line, each with what is expected where something else stands.
struct Row {
    name: &'static str,
    about: &'static str,
    /// What a line is.
    line: &'static str,
    fields: &'static [(Field, &'static str)],
    /// How many fields there are, and what is between them.
    count: &'static str,
    /// Between commas, or else between blanks.
    commas: bool,
    /// More fields may follow.
    open: bool,
    /// Stands between the parts of the device's name.
    joint: u8,
    /// Its times are those at which requests ended.
    ends: bool,
    /// A line is no request where this field has this text.
    none: &'static [(usize, &'static [u8])],
    note: Option<&'static str>,
}

const COMMAS: Row = Row {
    name: "",
    about: "",
    line: "",
    fields: &[],
    count: "five fields between commas",
    commas: true,
    open: false,
    joint: b'.',
    ends: false,
    none: &[],
    note: None,
};

const BLANKS: Row = Row { count: "five fields between blanks", commas: false, ..COMMAS };

const ROWS: [Row; 11] = [
    // `1, 4096, 8192`. It has no times: everything is made at once, as `--pace asap` takes it. (fio's HOWTO, "Trace file
    // format v1".)
    Row {
        name: "fio-iolog-v1",
        about: "fio's iolog, version 1",
        line: "0 (read) or 1 (write), offset, bytes",
        fields: &[
            (Kind(write_is_1), "0 or 1"),
            (Offset(1), "an offset in bytes"),
            (Len(1), "a length in bytes, below 4 GiB"),
        ],
        count: "three fields between commas",
        note: Some("the trace has no times: every request is made at its beginning, as soon as there is room"),
        ..COMMAS
    },
    // `128166372003061629,usr,0,Read,7014609920,24576,41286`. Times are FILETIME, in 100 ns since 1601, as are responses.
    // (Narayanan, Donnelly, Rowstron: Write Off-Loading, FAST 2008; the traces' own README.)
    Row {
        name: "msr",
        about: "MSR Cambridge",
        line: "FILETIME,host,disk,Read or Write,offset,bytes,response in 100 ns",
        fields: &[
            (Time(100), "a time in 100 ns"),
            (Name, "a host"),
            (Name, "a disk"),
            (Kind(read_or_write), "Read or Write"),
            (Offset(1), "an offset in bytes"),
            (Len(1), "a size in bytes, below 4 GiB"),
            (Took(100), "a response time in 100 ns"),
        ],
        count: "seven fields between commas",
        ..COMMAS
    },
    // `419,W,8792731648,16384,1577808144360767`. (github.com/alibaba/block-traces, README.)
    Row {
        name: "alibaba",
        about: "Alibaba Cloud block traces, 2020",
        line: "device,R or W,offset,bytes,time in us",
        fields: &[
            (Number, "the number of a device"),
            (Kind(read_or_write), "R or W"),
            (Offset(1), "an offset in bytes"),
            (Len(1), "a length in bytes, below 4 GiB"),
            (Time(1000), "a time in microseconds"),
        ],
        ..COMMAS
    },
    // `1538323200,12910952,128,0,1063`. (Zhang et al.: OSCA, ATC 2020; SNIA IOTTA 27917.) Times are whole seconds: the
    // requests of one second are all made at its beginning.
    Row {
        name: "tencent",
        about: "Tencent Cloud block storage, 2018",
        line: "time in s,offset in sectors,sectors,0 (read) or 1 (write),volume",
        fields: &[
            (Time(SECOND), "a time in seconds"),
            (Offset(SECTOR), "an offset in sectors"),
            (Len(SECTOR), "a size in sectors, below 4 GiB"),
            (Kind(write_is_1), "0 or 1"),
            (Number, "the number of a volume"),
        ],
        ..COMMAS
    },
    // `1456127962.023491,0.000259,R,3,3374317568,4096` after a line of names. (Lee et al.: Understanding Storage Traffic
    // Characteristics on Enterprise Virtual Desktop Infrastructure, SYSTOR 2017; SNIA IOTTA 4928.) Trims and flushes are
    // not in it. Where the kind is empty there was no answer, so nobody knows what it was.
    Row {
        name: "systor17",
        about: "SYSTOR '17, a VDI of an enterprise",
        line: "time in s,response in s,R or W,LUN,offset,bytes",
        fields: &[
            (Time(SECOND), "a time in seconds"),
            (TookIfKnown(SECOND), "a response time in seconds"),
            (Kind(read_or_write), "R or W"),
            (Number, "the number of a LUN"),
            (Offset(1), "an offset in bytes"),
            (Len(1), "a size in bytes, below 4 GiB"),
        ],
        count: "six fields between commas",
        none: &[(0, b"Timestamp"), (2, b"")],
        ..COMMAS
    },
    // `0,303567,3584,w,0.026214`. (SPC Trace File Format Specification 1.0.1; Financial and WebSearch of the UMass Trace
    // Repository.) Each application storage unit has addresses of its own.
    Row {
        name: "spc",
        about: "Storage Performance Council: Financial, WebSearch",
        line: "ASU,LBA in sectors,bytes,r or w,time in s",
        fields: &[
            (Number, "the number of an application storage unit"),
            (Offset(SECTOR), "an LBA"),
            (Len(1), "a size in bytes, below 4 GiB"),
            (Kind(read_or_write), "r or w"),
            (Time(SECOND), "a time in seconds"),
        ],
        open: true,
        ..COMMAS
    },
    // `0 4892 syslogd 904265560 8 W 6 0 531e779d...`. (Koller, Rangaswami: I/O Deduplication, FAST 2010; SNIA IOTTA 391.)
    // At the end there may be no MD5 of the content, or several: the traces of homes have one for each 512 bytes.
    Row {
        name: "fiu",
        about: "FIU: mail, web-vm, home",
        line: "time in ns,process id,process,LBA,sectors,R or W,major,minor,hash, between blanks",
        fields: &[
            (Time(1), "a time in nanoseconds"),
            (UnusedNumber, "the number of a process"),
            (Unused, "a process"),
            (Offset(SECTOR), "an LBA"),
            (Len(SECTOR), "a count of sectors, below 4 GiB"),
            (Kind(read_or_write), "R or W"),
            (Number, "major and minor number of a device"),
            (Number, "major and minor number of a device"),
        ],
        count: "eight fields or more between blanks",
        open: true,
        joint: b',',
        ..BLANKS
    },
    // `4851300 1 524288 16 0`. (`ASCIITraceWriteCode`, `ASCIITraceReadCode` in MQSim's source.) DiskSim's has the same five
    // fields, but a time in milliseconds: with a point it is taken for that one.
    Row {
        name: "mqsim",
        about: "MQSim's ASCII",
        line: "time in ns,device,LBA,sectors,0 (write) or 1 (read), between blanks",
        fields: &[
            (WholeTime, "a time in whole nanoseconds"),
            (Number, "the number of a device"),
            (Offset(SECTOR), "an LBA"),
            (Len(SECTOR), "a count of sectors, below 4 GiB"),
            (Kind(read_is_1), "0 or 1"),
        ],
        note: Some("taken for MQSim's format: 0 is a write and 1 a read, times are in nanoseconds; --format disksim takes milliseconds"),
        ..BLANKS
    },
    // `12.503000 0 303567 8 1`. (`iotrace_ascii_get_ioreq_event` in DiskSim's source, READ 1.)
    Row {
        name: "disksim",
        about: "DiskSim's ASCII",
        line: "time in ms,device,block,sectors,flags in hex (1: read), between blanks",
        fields: &[
            (Time(1_000_000), "a time in milliseconds"),
            (Number, "the number of a device"),
            (Offset(SECTOR), "a block"),
            (Len(SECTOR), "a count of sectors, below 4 GiB"),
            (Kind(odd_is_read), "flags in hex"),
        ],
        note: Some("taken for DiskSim's format: times are in milliseconds, odd flags are reads; --format mqsim takes nanoseconds"),
        ..BLANKS
    },
    // `1.022346    supervise      1950   xvda1   W 13115272   4096       0.98` after a line of names. (biosnoop.py of bcc,
    // whose time is that of the end.)
    Row {
        name: "biosnoop",
        about: "biosnoop of bcc",
        line: "time in s,process,id,disk,R or W,sector,bytes,latency in ms, between blanks",
        fields: &[
            (Time(SECOND), "a time in seconds"),
            (Unused, "a process"),
            (Unused, "the number of a process"),
            (Name, "a disk"),
            (Kind(read_or_write), "R or W"),
            (Offset(SECTOR), "a sector"),
            (Len(1), "a size in bytes, below 4 GiB"),
            (Took(1_000_000), "a latency in milliseconds"),
        ],
        count: "eight fields between blanks",
        ends: true,
        none: &[(0, b"TIME(s)")],
        ..BLANKS
    },
    // `3.022346 3.023326 supervise 1950 WS 202,1 13115272 4096 0.98` after a line of names. (iosnoop -ts of perf-tools.)
    Row {
        name: "iosnoop",
        about: "iosnoop -ts of perf-tools",
        line: "start and end in s,process,id,R or W and flags,device,sector,bytes,latency in ms, between blanks",
        fields: &[
            (Time(SECOND), "a time in seconds"),
            (Unused, "the time of the end"),
            (Unused, "a process"),
            (Unused, "the number of a process"),
            (Kind(with_flags), "R or W, and flags"),
            (Name, "a device"),
            (Offset(SECTOR), "a sector"),
            (Len(1), "a size in bytes, below 4 GiB"),
            (Took(1_000_000), "a latency in milliseconds"),
        ],
        count: "nine fields between blanks",
        none: &[(0, b"STARTs")],
        ..BLANKS
    },
];

/// The kernel's letters: `R`, `WS`, `RM`.
fn with_flags(letters: &[u8]) -> Option<Op> {
    read_or_write(letters.get(..1)?)
}

fn write_is_1(digit: &[u8]) -> Option<Op> {
    match digit {
        b"0" => Some(Op::Read),
        b"1" => Some(Op::Write),
        _ => None,
    }
}

fn read_is_1(digit: &[u8]) -> Option<Op> {
    match digit {
        b"0" => Some(Op::Write),
        b"1" => Some(Op::Read),
        _ => None,
    }
}

fn odd_is_read(flags: &[u8]) -> Option<Op> {
    let flags = u32::from_str_radix(std::str::from_utf8(flags).ok()?, 16).ok()?;
    Some(if flags & 1 == 1 { Op::Read } else { Op::Write })
}

/// Fields of a line at most.
const MAX_FIELDS: usize = 9;

/// The fields at the beginning of a line, and whether there are as many as there should be.
#[inline]
fn split<'a>(mut parts: impl Iterator<Item = &'a [u8]>, row: &Row) -> Option<[&'a [u8]; MAX_FIELDS]> {
    let mut texts = [&[][..]; MAX_FIELDS];
    for text in &mut texts[..row.fields.len()] {
        *text = parts.next()?;
    }
    (row.open || parts.next().is_none()).then_some(texts)
}

/// The reader of a row.
#[derive(Default)]
struct Fields<const AT: usize> {
    /// Of the device, where it has several parts.
    name: Vec<u8>,
}

impl<const AT: usize> Lines for Fields<AT> {
    const NAME: &'static str = ROWS[AT].name;
    const ABOUT: &'static str = ROWS[AT].about;
    const EXPECTED: &'static str = ROWS[AT].line;

    fn begin(_: &[u8], _: &Reading) -> Result<Fields<AT>, TraceFault> {
        Ok(Fields::default())
    }

    #[inline]
    fn line(&mut self, line: &[u8], devices: &mut Devices, into: &mut Vec<Entry>) -> LineResult {
        let row = &ROWS[AT];
        let texts = if row.commas { split(line.split(|&byte| byte == b','), row) } else { split(words(line), row) };
        let texts = texts.ok_or(row.count)?;
        if row.none.iter().any(|&(field, text)| texts[field] == text) {
            return Ok(());
        }
        let (mut time, mut took, mut op, mut at, mut len) = (0, 0, Op::Read, 0, 0);
        let mut name: Option<&[u8]> = None;
        self.name.clear();
        for ((field, expected), text) in row.fields.iter().zip(texts) {
            match *field {
                Unused => {}
                UnusedNumber => _ = whole(text).ok_or(*expected)?,
                Name | Number => {
                    if matches!(field, Number) {
                        whole(text).ok_or(*expected)?;
                    }
                    if let Some(first) = name.replace(text.trim_ascii()) {
                        self.name.extend_from_slice(first);
                        self.name.push(row.joint);
                        self.name.extend_from_slice(text);
                    }
                }
                Time(unit) => time = scaled(text, unit).ok_or(*expected)?,
                WholeTime => time = whole(text).ok_or(*expected)?,
                TookIfKnown(_) if text.is_empty() => {}
                Took(unit) | TookIfKnown(unit) => took = scaled(text, unit).ok_or(*expected)?,
                Kind(read) => op = read(text).ok_or(*expected)?,
                Offset(unit) => at = offset(text, unit).ok_or(*expected)?,
                Len(unit) => len = length(text, unit).ok_or(*expected)?,
            }
        }
        if row.ends {
            time = time.saturating_sub(took);
        }
        let device = devices.number(if self.name.is_empty() { name.unwrap_or(b"0") } else { &self.name });
        into.push(Entry { took: Nanos(took), ..Entry::new(time, device, op, at, len) });
        Ok(())
    }

    fn notes(&self) -> Vec<String> {
        ROWS[AT].note.map(String::from).into_iter().collect()
    }
}
