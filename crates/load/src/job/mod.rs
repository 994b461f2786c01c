//! A job in fio's words, and the job files that hold them.

mod draft;
mod engines;
mod error;
mod file;
mod keywords;
mod limits;
mod options;
mod sizes;
mod traits;
mod until;
mod values;
mod words;

pub use draft::Draft;
pub use error::{codes, FileFault, JobError, JobFault, ValueFault};
pub use file::{parse, Ground};
pub use options::{engine_table, table, Verdict};
pub use sizes::{ByKind, Extent, Sizes, Strided, Zones};
pub use traits::{traits, Traits};
pub use until::{LatencyTarget, LeastRate, Measure, SteadyState};

use pslc_ssd::Nanos;

pub use crate::option_fault::OptionFault;
use crate::verify::Verify;
use sizes::Asked;

/// What a job does to the drive, and in which order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pattern {
    pub random: bool,
    pub mix: Mix,
    /// Of so many requests one is random, and the others follow it (`rw=randwrite:8`); 1 otherwise.
    pub run: u32,
    /// Bytes between the end of a request and the next in sequence (`rw=read:4k`); below 0 it goes backwards.
    pub hole: i64,
    /// Requests that follow a random one go to its place again (`rw_sequencer=identical`).
    pub identical: bool,
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

/// How random offsets are spread.
#[derive(Clone, Debug, PartialEq)]
pub enum Distribution {
    Uniform,
    /// Zipf with this theta.
    Zipf(f64),
    /// Pareto's principle: this share of the blocks gets the rest of the requests (0.2: a fifth gets four fifths).
    Pareto(f64),
    /// A normal distribution with this deviation, in percent of the region.
    Normal(f64),
    /// Shares of the requests for parts of the region.
    Zoned(Box<ByKind<Zones>>),
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
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Data {
    /// Random once, and a number of its own in each sector, so that nothing compresses or repeats.
    Scrambled,
    /// Random once, so that each write of as many bytes repeats another.
    Repeated,
    /// Random anew for each write.
    Refilled,
    Zeros,
    /// Random anew, but this share, in percent, of each 4 KiB is zeros.
    Compressible(u32),
    /// These bytes over and over, in each request from its beginning.
    Pattern(crate::verify::Pattern),
}

/// How the page cache is told that a job will work (`fadvise_hint`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Advice {
    Random,
    Sequential,
}

/// Which other jobs end with one (`exit_what`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExitWhat {
    Group,
    /// Those between the same two stonewalls.
    Stonewall,
    All,
}

/// When a job leaves the drive alone between its requests, and for how long.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ThinkTime {
    /// 0: never.
    pub time: Nanos,
    /// Requests before it thinks; where nothing is said, 1, or with a period none.
    pub blocks: Option<u32>,
    /// They count when they are made, not when they have come back.
    pub when_made: bool,
    /// How long it works before it thinks, if it is more than 0.
    pub period: Nanos,
    /// It does not catch up on its rates (`rate_ignore_thinktime`).
    pub ignored_by_rate: bool,
}

/// When paced requests are due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    Linear,
    /// As independent users send them.
    Poisson,
}

/// One section of a job file, with everything resolved against the target: sizes in bytes, times in nanoseconds.
#[derive(Clone, Debug)]
pub struct Job {
    pub name: String,
    /// Options as written, those of [global] first.
    pub options: Vec<(String, String)>,
    /// How many of them are of [global].
    pub global_options: usize,
    /// Options accepted and ignored, a sentence each.
    pub notes: Vec<String>,
    /// Reporting group: jobs of one group are reported as one under `group_reporting`.
    pub group: u32,
    pub rw: Pattern,
    /// The largest request of each kind.
    pub bs: ByKind<u32>,
    pub sizes: ByKind<Sizes>,
    /// What random offsets are multiples of (`blockalign`).
    pub align: ByKind<u32>,
    pub bs_unaligned: bool,
    pub bs_is_seq_rand: bool,
    /// Each block that was read is written here, so many bytes after the beginning of the target plus its place in the
    /// region: a copy. fio has no such option.
    pub copy_to: Option<u64>,
    /// A random job takes pieces of so many bytes, each once, and each in sequence. fio has no such option.
    pub files: Option<u64>,
    pub strided: Option<Strided>,
    /// Bytes of the target.
    pub capacity: u64,
    pub offset: u64,
    /// The offset of each clone is rounded up to a multiple of this.
    pub offset_align: u64,
    pub offset_increment: u64,
    pub(crate) asked: Asked,
    /// Bytes of the region of the first clone.
    pub size: u64,
    /// Bytes to move before the job ends, where that is not the size; more than `size` goes round.
    pub io_size: Option<u64>,
    /// The engine makes the next request when the one before is done.
    pub one_at_a_time: bool,
    /// The engine hands over nothing during a flush, as none does during a trim.
    pub flush_blocks: bool,
    /// The engine touches no drive: the job is a pause of its `runtime`.
    pub null: bool,
    pub iodepth: u32,
    pub numjobs: u32,
    pub runtime: Option<Nanos>,
    pub time_based: bool,
    pub ramp_time: Nanos,
    /// Since the beginning of the run; the job begins then or later.
    pub startdelay: (Nanos, Nanos),
    /// How long the drive is left alone once the job may begin. fio has no such option.
    pub pause: Nanos,
    pub stonewall: bool,
    pub wait_for: Option<String>,
    pub exitall: bool,
    /// When it has gone on as before for so long that it may end.
    pub steady_state: Option<SteadyState>,
    /// The depth is looked for, up to `iodepth`, at which requests are this quick, if its target is more than 0.
    pub latency_target: LatencyTarget,
    pub exit_what: ExitWhat,
    pub loops: u32,
    pub number_ios: Option<u64>,
    pub think: ThinkTime,
    /// Bytes a second.
    pub rate: ByKind<Option<u64>>,
    /// Requests a second.
    pub rate_iops: ByKind<Option<u64>>,
    pub rate_min: LeastRate,
    pub pace: Pace,
    /// Jobs of one flow keep pace by their weights: number of the flow, weight.
    pub flow: Option<(u32, u32)>,
    pub norandommap: bool,
    /// Every block once, and no map needed for that (`random_generator=lfsr`).
    pub lfsr: bool,
    /// Takes the place of the run's seed.
    pub randseed: Option<u64>,
    /// A pass over the region is in the order of the one before.
    pub randrepeat: bool,
    pub distribution: Distribution,
    /// Percent of random requests that are; the others follow the one before them.
    pub percentage_random: ByKind<u32>,
    /// Percent of a mix that is reads.
    pub rwmixread: u32,
    /// A flush goes behind so many writes.
    pub fsync: u32,
    /// Those flushes are of data alone (`fdatasync`).
    pub data_only: bool,
    /// A flush ends each pass; never of a job that writes nothing.
    pub end_fsync: bool,
    /// And the file when it is closed, which is between passes.
    pub fsync_on_close: bool,
    pub sync: Option<SyncMode>,
    /// Past the page cache.
    pub direct: bool,
    /// The page cache holds nothing of the target when the job begins.
    pub invalidate: bool,
    pub advice: Option<Advice>,
    pub data: Data,
    /// What is written is laid out to be verified, and what is read is verified.
    pub verify: Option<Verify>,
    pub group_reporting: bool,
    /// Reads, writes and trims are reported together as well, or only so (`unified_rw_reporting`).
    pub unified: bool,
    /// Of latencies, for reports, in percent; none: fio's.
    pub percentiles: Vec<f64>,
    /// How often bandwidth and requests a second are sampled, for reports.
    pub bwavgtime: Nanos,
    pub iopsavgtime: Nanos,
    /// Every request is kept, for fio's logs.
    pub logged: bool,
}

/// fio's defaults, of a target without bytes.
impl Default for Job {
    #[rustfmt::skip] // A table: rustfmt gives each field a line of its own.
    fn default() -> Job {
        let rw = Pattern { random: false, mix: Mix::Read, run: 1, hole: 0, identical: false };
        let latency_target =
            LatencyTarget { target: Nanos::ZERO, window: Nanos::ZERO, percentile: 100.0, run: false };
        let bs = 4096;
        Job {
            name: String::new(), options: Vec::new(), global_options: 0, notes: Vec::new(), group: 0,
            rw, bs: ByKind::all(bs), sizes: ByKind::all(Sizes::One(bs)), align: ByKind::all(bs),
            bs_unaligned: false, bs_is_seq_rand: false,
            copy_to: None, files: None, strided: None,
            capacity: 0, offset: 0, offset_align: 1, offset_increment: 0,
            asked: Asked::default(), size: 0, io_size: None,
            one_at_a_time: false, flush_blocks: false, null: false, iodepth: 1, numjobs: 1,
            runtime: None, time_based: false, ramp_time: Nanos::ZERO, startdelay: (Nanos::ZERO, Nanos::ZERO),
            pause: Nanos::ZERO, stonewall: false, wait_for: None, exitall: false, exit_what: ExitWhat::Group,
            steady_state: None, latency_target, loops: 1, number_ios: None,
            think: ThinkTime::default(), rate: ByKind::default(), rate_iops: ByKind::default(),
            rate_min: LeastRate::default(), pace: Pace::Linear, flow: None,
            norandommap: false, lfsr: false, randseed: None, randrepeat: true,
            distribution: Distribution::Uniform, percentage_random: ByKind::all(100), rwmixread: 50,
            fsync: 0, data_only: false, end_fsync: false, fsync_on_close: false, sync: None,
            direct: false, invalidate: true, advice: None, data: Data::Scrambled, verify: None,
            group_reporting: false, unified: false, percentiles: Vec::new(),
            bwavgtime: Nanos::from_millis(500), iopsavgtime: Nanos::from_millis(500), logged: false,
        }
    }
}

impl Job {
    pub fn reads(&self) -> bool {
        matches!(self.rw.mix, Mix::Read | Mix::ReadWrite)
    }

    pub fn writes(&self) -> bool {
        matches!(self.rw.mix, Mix::Write | Mix::ReadWrite | Mix::TrimWrite)
    }

    /// The longest request of those that this job makes.
    pub fn largest(&self) -> u32 {
        let copied = if self.copy_to.is_some() { self.bs.write } else { 0 };
        copied.max(match self.rw.mix {
            _ if self.bs_is_seq_rand => self.bs.read.max(self.bs.write),
            Mix::Read => self.bs.read,
            Mix::Write => self.bs.write,
            Mix::Trim => self.bs.trim,
            Mix::ReadWrite => self.bs.read.max(self.bs.write),
            Mix::TrimWrite => self.bs.trim.max(self.bs.write),
        })
    }
}
