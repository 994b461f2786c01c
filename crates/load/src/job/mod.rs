//! A job in fio's words, and the job files that hold them.

mod file;
mod options;
mod values;

pub use file::{parse, Ground};

use pslc_ssd::Nanos;

/// What a job does to the drive, and in which order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pattern {
    pub random: bool,
    pub mix: Mix,
    /// Requests in sequence before the next random offset (`rw=randwrite:8`); 1 otherwise.
    pub run: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mix {
    Read,
    Write,
    Trim,
    /// Reads and writes, by `rwmixread`.
    ReadWrite,
    /// Each block is trimmed and then written.
    TrimWrite,
}

/// One value each for reads, writes and trims, as fio's comma-separated options give them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct ByKind<T> {
    pub read: T,
    pub write: T,
    pub trim: T,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Distribution {
    Uniform,
    /// Zipf with this theta.
    Zipf(f64),
    /// Pareto's principle: this share of the blocks gets the rest of the requests (0.2: a fifth gets four fifths).
    Pareto(f64),
}

/// Each write is in the drive before it completes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SyncMode {
    /// With all metadata (`O_SYNC`).
    Sync,
    /// With what is needed to read it (`O_DSYNC`).
    Dsync,
}

/// What is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Data {
    /// Random once, and a number of its own in each sector, so that nothing compresses or repeats.
    Scrambled,
    /// Random anew for each write.
    Refilled,
    Zeros,
    /// Random anew, but this share, in percent, of each 4 KiB is zeros.
    Compressible(u32),
}

/// One section of a job file, with everything resolved against the target: sizes in bytes, times in nanoseconds.
#[derive(Clone, Debug)]
pub struct Job {
    pub name: String,
    /// Options as written, those of [global] first.
    pub options: Vec<(String, String)>,
    /// Options accepted and ignored, a sentence each.
    pub notes: Vec<String>,
    /// Reporting group: jobs of one group are reported as one under `group_reporting`.
    pub group: u32,
    pub rw: Pattern,
    /// The largest request of each kind.
    pub bs: ByKind<u32>,
    /// Sizes and the weight of each, where requests are not all of one size; else empty.
    pub bssplit: ByKind<Vec<(u32, u32)>>,
    /// Each block that was read is written here, so many bytes after the beginning of the target plus its place in the
    /// region: a copy. fio has no such option.
    pub copy_to: Option<u64>,
    pub offset: u64,
    /// Bytes of the region.
    pub size: u64,
    /// Bytes to move before the job ends; more than `size` goes round.
    pub io_size: u64,
    pub offset_increment: u64,
    pub iodepth: u32,
    pub numjobs: u32,
    pub runtime: Option<Nanos>,
    pub time_based: bool,
    pub ramp_time: Nanos,
    pub startdelay: Nanos,
    pub stonewall: bool,
    pub loops: u32,
    pub number_ios: Option<u64>,
    pub thinktime: Nanos,
    pub thinktime_blocks: u32,
    /// Bytes a second.
    pub rate: ByKind<Option<u64>>,
    /// Requests a second.
    pub rate_iops: ByKind<Option<u64>>,
    pub norandommap: bool,
    /// Takes the place of the run's seed.
    pub randseed: Option<u64>,
    pub distribution: Distribution,
    /// Percent of random requests that are; the others follow the one before them.
    pub percentage_random: u32,
    /// Percent of a mix that is reads.
    pub rwmixread: u32,
    pub fsync: u32,
    pub end_fsync: bool,
    /// Flushes are of data alone (`fdatasync`).
    pub data_only: bool,
    pub sync: Option<SyncMode>,
    /// Past the page cache; a simulated drive has none.
    pub direct: bool,
    pub data: Data,
    /// What is read is compared with what was written there.
    pub verify: bool,
    pub group_reporting: bool,
}

/// What is wrong with a job file. Displayed as `file:line: what`, an empty line, and a hint.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {message}\n\nhint: {hint}")]
pub struct JobError {
    /// `file:line`, or the option on the command line.
    pub place: String,
    pub message: String,
    pub hint: String,
}
