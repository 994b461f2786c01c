//! What is wrong with a trace: a variant for each fault, with what its sentence is made of.

use pslc_ssd::{faults, Hint};

use super::formats;

/// What is wrong with a trace, and where. Displayed as `file:line: what`, of a trace without a name as `what`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceError {
    pub place: String,
    pub fault: Box<TraceFault>,
}

impl TraceError {
    pub fn new(place: impl std::fmt::Display, fault: impl Into<TraceFault>) -> TraceError {
        TraceError { place: place.to_string(), fault: Box::new(fault.into()) }
    }

    /// What programs know this error by, however its sentence is put.
    pub fn code(&self) -> &'static str {
        self.fault.code()
    }

    /// What to do next.
    pub fn hint(&self) -> Hint {
        self.fault.hint()
    }
}

impl std::fmt::Display for TraceError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if !self.place.is_empty() {
            write!(f, "{}: ", self.place)?;
        }
        self.fault.fmt(f)
    }
}

impl std::error::Error for TraceError {}

/// What an event of blktrace's is.
const EVENT: &str = "an event is 48 bytes that begin with blktrace's magic number 0x656174; trace again, or give \
    blkparse's text";

faults! {
    /// Why a trace cannot be read, written, or replayed on a drive. A `message` is the system's.
    #[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
    pub enum TraceFault {
        #[error("not a regular file")]
        NotRegular = "trace-not-regular" => "give a trace that can be read",
        #[error("{message}")]
        Unreadable { message: String } = "trace-unreadable" => "give a trace that can be read",
        /// It began well.
        #[error("{message}")]
        Damaged { message: String } = "trace-damaged" => "the file is damaged or cut off; fetch it again",
        #[error("{message}")]
        Unwritable { message: String } = "trace-unwritable"
            => "give a file that can be written, on a disk with room",
        /// A program that hands over requests failed; the hint is its own.
        #[error("{message}")]
        Batches { message: String, hint: String } = "trace-batches" => hint.clone(),

        #[error("unknown format {name}")]
        UnknownFormat { name: String } = "trace-unknown-format"
            => formats().into_iter().map(|(name, _)| name).collect::<Vec<_>>().join(", "),
        #[error("\"{beginning}\" begins no known trace")]
        NoFormat { beginning: String } = "trace-no-format"
            => "pslc trace formats lists them; a table takes --columns time=NAME,op=NAME,offset=NAME,size=NAME, or numbers of columns",
        #[error("its first line is not \"fio version 2 iolog\" or \"fio version 3 iolog\"")]
        NoIolog = "trace-no-iolog" => super::fio_iolog::LINES,
        #[error(transparent)]
        Columns { #[from] fault: ColumnFault } = "trace-bad-columns"
            => "--columns time=ts:us,op=kind,offset=lba:sectors,size=len; op=write where all are writes",
        /// `lines` are those of the format.
        #[error("\"{}\" is no request: {expected} was expected", line.escape_debug())]
        NoRequest { line: String, expected: &'static str, format: &'static str, lines: &'static str }
            = "trace-no-request" => format!("{format} lines are: {lines}; --skip-bad leaves others out"),
        #[error("no event begins here")]
        NoEvent = "trace-no-event" => EVENT,
        #[error("the last event is cut off")]
        CutEvent = "trace-cut-event" => EVENT,
        #[error("{message}")]
        DamagedEvent { message: String } = "trace-damaged-event" => EVENT,

        #[error("there is no device {device} in it")]
        NoDevice { device: String, devices: Vec<String> } = "trace-no-device"
            => format!("it has {}", devices.join(", ")),
        #[error("it is a trace of several devices")]
        SeveralDevices = "trace-several-devices" => "take one of them: --device",
        #[error("a request ends at byte {end}, but the drive has {capacity}")]
        PastEnd { end: u64, capacity: u64 } = "trace-past-end"
            => "--addresses wrap starts again at 0, compact packs the used addresses, scale shrinks all of them \
                alike",
        #[error("a request of {len} bytes is longer than the drive, {capacity}")]
        LongRequest { len: u32, capacity: u64 } = "trace-long-request" => "replay it on a larger drive",
        #[error("the trace uses more than the drive's {capacity} bytes")]
        ManyAddresses { capacity: u64 } = "trace-many-addresses"
            => "--addresses wrap or scale put several addresses on one; or take a larger drive",
    }
}

/// Which of a table's columns cannot be what it is to be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ColumnFault {
    #[error("\"{unit}\" is no unit of column {column}: {}", units.join(", "))]
    NoUnit { unit: String, column: String, units: Vec<&'static str> },
    #[error("no column can be \"{kind}\", but {}", kinds.join(", "))]
    NoKind { kind: String, kinds: [&'static str; 6] },
    #[error("there is no column {column}, but {}", columns.join(", "))]
    NoColumn { column: String, columns: Vec<String> },
    #[error("no column is the {}: there are {}", kinds.join(", the "), columns.join(", "))]
    Missing { kinds: Vec<&'static str>, columns: Vec<String> },
}

impl ColumnFault {
    /// Whether a table lacks at most half of the four columns that it needs.
    pub fn is_half_there(&self) -> bool {
        matches!(self, ColumnFault::Missing { kinds, .. } if kinds.len() <= 2)
    }
}
