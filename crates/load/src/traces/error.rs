//! What is wrong with a trace: a variant for each fault, with what its sentence is made of.

use pslc_ssd::{codes, Hint};

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

/// Why a trace cannot be read, written, or replayed on a drive. A `message` is the system's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TraceFault {
    #[error("not a regular file")]
    NotRegular,
    #[error("{message}")]
    Unreadable { message: String },
    /// It began well.
    #[error("{message}")]
    Damaged { message: String },
    #[error("{message}")]
    Unwritable { message: String },
    /// A program that hands over requests failed; the hint is its own.
    #[error("{message}")]
    Batches { message: String, hint: String },

    #[error("unknown format {name}")]
    UnknownFormat { name: String },
    #[error("\"{beginning}\" begins no known trace")]
    NoFormat { beginning: String },
    #[error("its first line is not \"fio version 2 iolog\" or \"fio version 3 iolog\"")]
    NoIolog,
    #[error(transparent)]
    Columns(#[from] ColumnFault),
    /// `lines` are those of the format.
    #[error("\"{}\" is no request: {expected} was expected", line.escape_debug())]
    NoRequest { line: String, expected: &'static str, format: &'static str, lines: &'static str },
    #[error("no event begins here")]
    NoEvent,
    #[error("the last event is cut off")]
    CutEvent,
    #[error("{message}")]
    DamagedEvent { message: String },

    #[error("there is no device {device} in it")]
    NoDevice { device: String, devices: Vec<String> },
    #[error("it is a trace of several devices")]
    SeveralDevices,
    #[error("a request ends at byte {end}, but the drive has {capacity}")]
    PastEnd { end: u64, capacity: u64 },
    #[error("a request of {len} bytes is longer than the drive, {capacity}")]
    LongRequest { len: u32, capacity: u64 },
    #[error("the trace uses more than the drive's {capacity} bytes")]
    ManyAddresses { capacity: u64 },
}

codes!(TraceFault {
    NotRegular => "trace-not-regular",
    Unreadable => "trace-unreadable",
    Damaged => "trace-damaged",
    Unwritable => "trace-unwritable",
    Batches => "trace-batches",
    UnknownFormat => "trace-unknown-format",
    NoFormat => "trace-no-format",
    NoIolog => "trace-no-iolog",
    Columns => "trace-bad-columns",
    NoRequest => "trace-no-request",
    NoEvent => "trace-no-event",
    CutEvent => "trace-cut-event",
    DamagedEvent => "trace-damaged-event",
    NoDevice => "trace-no-device",
    SeveralDevices => "trace-several-devices",
    PastEnd => "trace-past-end",
    LongRequest => "trace-long-request",
    ManyAddresses => "trace-many-addresses",
});

/// Which of a table's columns cannot be what it is to be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ColumnFault {
    #[error("\"{unit}\" is no unit of column {column}: {}", units.join(", "))]
    NoUnit { unit: String, column: String, units: Vec<&'static str> },
    #[error("no column can be \"{kind}\", but {}", kinds.join(", "))]
    NoKind { kind: String, kinds: [&'static str; 6] },
    #[error("there is no column {column}, but {}", columns.join(", "))]
    NoColumn { column: String, columns: Vec<String> },
    #[error("no column is the {kind}: there are {}", columns.join(", "))]
    Missing { kind: &'static str, columns: Vec<String> },
}

impl TraceFault {
    /// What to do next.
    pub fn hint(&self) -> Hint {
        match self {
            Self::NotRegular | Self::Unreadable { .. } => "give a trace that can be read".into(),
            Self::Damaged { .. } => "the file is damaged or cut off; fetch it again".into(),
            Self::Unwritable { .. } => "give a file that can be written, on a disk with room".into(),
            Self::Batches { hint, .. } => hint.clone().into(),
            Self::UnknownFormat { .. } => {
                let names: Vec<&str> = formats().into_iter().map(|(name, _)| name).collect();
                names.join(", ").into()
            }
            Self::NoFormat { .. } => {
                "pslc trace formats lists them; a table takes --columns time=NAME,op=NAME,offset=NAME,size=NAME"
                    .into()
            }
            Self::NoIolog => super::fio_iolog::LINES.into(),
            Self::Columns(_) => "--columns time=ts:us,op=kind,offset=lba:sectors,size=len".into(),
            Self::NoRequest { format, lines, .. } => {
                format!("{format} lines are: {lines}; --skip-bad leaves others out").into()
            }
            Self::NoEvent | Self::CutEvent | Self::DamagedEvent { .. } => {
                "an event is 48 bytes that begin with blktrace's magic number 0x656174; trace again, or give \
                 blkparse's text"
                    .into()
            }
            Self::NoDevice { devices, .. } => format!("it has {}", devices.join(", ")).into(),
            Self::SeveralDevices => "take one of them: --device".into(),
            Self::PastEnd { .. } => {
                "--addresses wrap starts again at 0, compact packs the used addresses, scale shrinks all of them \
                 alike"
                    .into()
            }
            Self::LongRequest { .. } => "replay it on a larger drive".into(),
            Self::ManyAddresses { .. } => {
                "--addresses wrap or scale put several addresses on one; or take a larger drive".into()
            }
        }
    }
}
