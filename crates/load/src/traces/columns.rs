//! Tables with a line of names, between commas, semicolons or tabs. Which column is the time, the operation, the offset, the
//! size and the device is told by the usual names, or by `--columns time=ts:us,op=kind,offset=lba:sectors,size=len`.

use pslc_ssd::Op;

use super::lines::{self, LineResult, Lines};
use super::number::{length, offset, scaled};
use super::{ColumnFault, Devices, Entry, Format, Reading, TraceFault};

pub const TABLE: &str = "table";

pub const FORMAT: Format = lines::format::<Columns>();

/// What a column can be, and the names it is known by.
const USUAL_NAMES: [(&str, &[&str]); 6] = [
    ("time", &["time", "timestamp", "ts", "time_ns", "time_us", "time_ms", "time_s", "ts_ns", "ts_us", "ts_ms"]),
    ("op", &["op", "type", "kind", "rw", "iotype", "io_type", "opcode", "operation"]),
    ("offset", &["offset", "offset_bytes", "lba", "lbn", "sector", "offset_sectors"]),
    ("size", &["size", "length", "len", "bytes", "size_bytes", "length_bytes", "sectors", "size_sectors"]),
    ("device", &["device", "device_name", "disk", "volume", "lun", "dev"]),
    ("took", &["response", "latency", "took_ns", "latency_us", "response_us", "latency_ns", "response_ns"]),
];

const TIME: usize = 0;
const OP: usize = 1;
const OFFSET: usize = 2;
const SIZE: usize = 3;
const DEVICE: usize = 4;
const TOOK: usize = 5;

struct Columns {
    separator: u8,
    /// By field: what it is, and its unit.
    fields: Vec<Option<(usize, u64)>>,
    /// What all requests are, where no column says it.
    always: Option<Op>,
    /// `always` is assumed: the columns that the user names leave none that could say it.
    assumed: bool,
    /// The next line is that of the names.
    first: bool,
}

/// The unit of a column: said after a colon, or by the end of its name; else seconds and bytes.
fn unit(what: &str, name: &str, wanted: Option<&str>) -> Result<u64, ColumnFault> {
    let timed = matches!(what, "time" | "took");
    let table: &[(&str, u64)] = if timed {
        &[("ns", 1), ("us", 1000), ("ms", 1_000_000), ("s", 1_000_000_000)]
    } else {
        &[("bytes", 1), ("sectors", 512), ("sector", 512), ("lba", 512), ("lbn", 512), ("kib", 1024)]
    };
    if let Some(wanted) = wanted {
        let row = table.iter().find(|(word, _)| *word == wanted);
        return row.map(|(_, unit)| *unit).ok_or_else(|| ColumnFault::NoUnit {
            unit: wanted.to_string(),
            column: name.to_string(),
            units: table.iter().map(|(word, _)| *word).collect(),
        });
    }
    let end = name.rsplit(['_', ' ']).next().unwrap_or(name).to_ascii_lowercase();
    let default = if timed { 1_000_000_000 } else { 1 };
    Ok(table.iter().find(|(word, _)| *word == end).map_or(default, |(_, unit)| *unit))
}

/// What each of a table's columns is, by its place in `USUAL_NAMES`, with its unit. `wanted` is what users say: what, and the
/// column's name, perhaps with its unit after a colon.
fn assign(
    names: &[&str],
    assigned: &[(String, String)],
    needs_op: bool,
) -> Result<Vec<Option<(usize, u64)>>, ColumnFault> {
    let (mut fields, mut missing) = (vec![None; names.len()], Vec::new());
    if let Some((what, _)) = assigned.iter().find(|(what, _)| !USUAL_NAMES.iter().any(|(kind, _)| kind == what)) {
        return Err(ColumnFault::NoKind { kind: what.clone(), kinds: USUAL_NAMES.map(|(kind, _)| kind) });
    }
    for (at, (what, usual)) in USUAL_NAMES.into_iter().enumerate() {
        let assigned = assigned.iter().find(|(of, _)| of == what).map(|(_, name)| name.as_str());
        let (field, unit_said) = match assigned {
            Some(assigned) => {
                let (name, unit) = match assigned.rsplit_once(':') {
                    Some((name, unit)) => (name, Some(unit)),
                    None => (assigned, None),
                };
                let field = names.iter().position(|each| *each == name);
                let field =
                    field.ok_or_else(|| ColumnFault::NoColumn { column: name.to_string(), columns: owned(names) })?;
                (Some(field), unit)
            }
            None => {
                let is_usual = |name: &str| usual.contains(&name.to_ascii_lowercase().as_str());
                (names.iter().position(|name| is_usual(name)), None)
            }
        };
        match field {
            Some(field) => fields[field] = Some((at, unit(what, names[field], unit_said)?)),
            None if at <= SIZE && (at != OP || needs_op) => missing.push(what),
            None => {}
        }
    }
    if missing.is_empty() {
        Ok(fields)
    } else {
        Err(ColumnFault::Missing { kinds: missing, columns: owned(names) })
    }
}

/// Whether the user says which column is of a kind.
fn asks_for(reading: &Reading, kind: usize) -> bool {
    reading.columns.iter().any(|(what, _)| what == USUAL_NAMES[kind].0)
}

fn owned(names: &[&str]) -> Vec<String> {
    names.iter().map(ToString::to_string).collect()
}

impl Lines for Columns {
    const NAME: &'static str = TABLE;
    const ABOUT: &'static str = "CSV with a line of names, and Parquet";
    const EXPECTED: &'static str = "values under a line of names: time, op, offset, size and perhaps device";

    fn begin(head: &[u8], reading: &Reading) -> Result<Columns, TraceFault> {
        let first = head.split(|&byte| byte == b'\n').next().unwrap_or_default().trim_ascii();
        let separator = *b",;\t".iter().max_by_key(|of| first.iter().filter(|byte| byte == of).count()).expect("three");
        let text = String::from_utf8_lossy(first).into_owned();
        let names: Vec<&str> = text.split(separator as char).map(|name| name.trim().trim_matches('"')).collect();
        // Columns without names have numbers.
        let bare =
            names.iter().all(|name| scaled(name.as_bytes(), 1).is_some() || operation(name.as_bytes()).is_some());
        let numbers: Vec<String> = (1..=names.len()).map(|place| place.to_string()).collect();
        let names = if bare { numbers.iter().map(String::as_str).collect() } else { names };
        let always = reading
            .columns
            .iter()
            .find(|(what, name)| what == USUAL_NAMES[OP].0 && !names.contains(&name.as_str()))
            .and_then(|(_, name)| operation(name.as_bytes()));
        let assumed = bare && names.len() == reading.columns.len() && !asks_for(reading, OP);
        let always = always.or(assumed.then_some(Op::Write));
        let mut assigned = reading.columns.clone();
        assigned.retain(|(what, _)| always.is_none() || what != USUAL_NAMES[OP].0);
        let fields = assign(&names, &assigned, always.is_none())?;
        Ok(Columns { separator, fields, always, assumed, first: !bare })
    }

    fn notes(&self) -> Vec<String> {
        let text = "no column tells reads from writes: all are taken for writes (op=read in --columns for reads)";
        if self.assumed {
            vec![text.into()]
        } else {
            Vec::new()
        }
    }

    #[inline]
    fn line(&mut self, line: &[u8], devices: &mut Devices, into: &mut Vec<Entry>) -> LineResult {
        if std::mem::take(&mut self.first) {
            return Ok(());
        }
        let (mut values, mut op, mut device) = ([0u64; 6], self.always, &b"0"[..]);
        let mut count = 0;
        for (text, field) in line.split(|&byte| byte == self.separator).zip(&self.fields) {
            count += 1;
            let Some((what, unit)) = *field else { continue };
            let text = text.trim_ascii();
            match what {
                OP => op = Some(operation(text).ok_or("read, write, trim or flush")?),
                DEVICE => device = text,
                TIME => values[TIME] = scaled(text, unit).ok_or("a time")?,
                TOOK => values[TOOK] = scaled(text, unit).ok_or("a response time")?,
                OFFSET => {
                    values[OFFSET] = offset(text, unit).filter(|&at| at < 1 << 60).ok_or("an offset")?;
                }
                _ => values[SIZE] = length(text, unit).ok_or("a size, below 4 GiB")? as u64,
            }
        }
        if count < self.fields.len() {
            return Err("a value for each column");
        }
        let device = devices.number(device);
        let entry = Entry::new(
            values[TIME],
            device,
            op.ok_or("read, write, trim or flush")?,
            values[OFFSET],
            values[SIZE] as u32,
        );
        into.push(Entry { took: pslc_ssd::Nanos(values[TOOK]), ..entry });
        Ok(())
    }
}

/// What a column is, its name there, and nanoseconds or bytes of its unit.
pub type Assigned<'a> = (&'static str, &'a str, u64);

/// The columns of a table that is no text.
pub fn columns<'a>(names: &[&'a str], assigned: &[(String, String)]) -> Result<Vec<Assigned<'a>>, ColumnFault> {
    let fields = assign(names, assigned, true)?;
    let fields_of_names = names.iter().zip(fields);
    Ok(fields_of_names.filter_map(|(name, field)| field.map(|(at, unit)| (USUAL_NAMES[at].0, *name, unit))).collect())
}

/// What a table lacks that begins so, and has half of what it needs.
pub fn missing(head: &[u8]) -> Option<ColumnFault> {
    match Columns::begin(head, &Reading::default()) {
        Err(TraceFault::Columns { fault: fault @ ColumnFault::Missing { .. } }) if fault.is_half_there() => Some(fault),
        _ => None,
    }
}

/// A word for what was asked for, or a command of SCSI in hexadecimal. Other numbers are none: which is which differs from
/// trace to trace.
fn operation(word: &[u8]) -> Option<Op> {
    let lower = word.to_ascii_lowercase();
    match lower.strip_prefix(b"0x").unwrap_or(&lower) {
        b"r" | b"rs" | b"read" | b"08" | b"28" | b"88" | b"a8" => Some(Op::Read),
        b"w" | b"ws" | b"write" | b"0a" | b"2a" | b"8a" | b"aa" => Some(Op::Write),
        b"d" | b"t" | b"discard" | b"trim" | b"unmap" | b"42" => Some(Op::Trim),
        b"f" | b"flush" | b"sync" | b"datasync" | b"fsync" | b"35" | b"91" => Some(Op::Flush),
        _ => None,
    }
}
