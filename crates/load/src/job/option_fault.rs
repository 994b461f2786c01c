//! What is wrong with an option's value.

use std::borrow::Cow;

use pslc_ssd::{codes, Hint};

/// Why a job cannot have this value of an option.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum OptionFault {
    #[error("\"{text}\" is no size")]
    NoSize { text: String },
    #[error("{text} is more than all of it")]
    MoreThanAll { text: String },
    #[error("\"{text}\" is no range")]
    NoRange { text: String },
    #[error("{bytes} bytes")]
    Block { bytes: u64 },
    /// fio's `4KiB` is 4000 bytes.
    #[error("{bytes} bytes, which fio takes {text} for")]
    DecimalBlock { bytes: u64, text: String },
    #[error("{bytes} bytes")]
    LongRequest { bytes: u32 },
    #[error("\"{text}\" has shares of {percent} percent")]
    Shares { text: String, percent: u32 },
    #[error("\"{text}\" has parts of {percent} percent")]
    Parts { text: String, percent: u32 },
    #[error("\"{text}\" has more than three {what}: reads, writes, trims")]
    MoreThanThree { text: String, what: &'static str },

    #[error("\"{text}\" is no time")]
    NoTime { text: String },
    /// fio does not know the unit, of which this is the first letter.
    #[error("\"{text}\" is {number} microseconds to fio")]
    Microseconds { text: String, number: u64, unit: String },
    #[error("{text} is too long")]
    LongTime { text: String },
    #[error("\"{text}\" is not a whole number from {min} to {max}")]
    Count { text: String, min: u64, max: u64 },
    #[error("\"{text}\" is no number of 0 or more")]
    Decimal { text: String },
    #[error("{text} percent")]
    Percent { text: String },
    #[error("\"{text}\" is no list of percentiles")]
    Percentiles { text: String },

    /// `words` are all that may stand there, with a `nor`.
    #[error("\"{text}\" is neither {words}")]
    Neither { text: String, words: &'static str },
    #[error("\"{text}\" is unknown")]
    UnknownWord { text: String, choices: Cow<'static, str> },
    #[error("\"{text}\" is no engine")]
    NoEngine { text: String },
    #[error("\"{text}\" is no stride")]
    NoStride { text: String },
    #[error("\"{text}\" is no distribution")]
    NoDistribution { text: String },
    #[error("pareto's share is {share}")]
    Pareto { share: f64 },
    #[error("zipf theta is {theta}")]
    Zipf { theta: f64 },
    #[error("the deviation is {percent}")]
    Normal { percent: f64 },
    #[error("\"{name}\" is no criterion")]
    NoCriterion { name: String },
    #[error("{seconds} seconds")]
    LongSteadyState { seconds: u64, max: u64 },
    #[error("clock {text} is another than that of times since 1970")]
    OtherClock { text: String },
    #[error("zbd is for zoned drives")]
    ZonedDrive,
    #[error("a trace is replayed alone")]
    TraceBesideJobs,

    #[error("\"{text}\" is no part of a pattern")]
    NoPatternPart { text: String },
    #[error("the pattern is empty")]
    EmptyPattern,
    #[error("{bytes} bytes")]
    LongPattern { bytes: usize, max: usize },
    #[error("%o is for verify_pattern")]
    OffsetInBuffer,
    #[error(
        "fio 3.33 keeps 128 bytes of the data for it and no checksum, so that most faults are not found"
    )]
    Sha512,
    #[error("there is no pattern to look for")]
    NoVerifyPattern,
    #[error(
        "where each request of an earlier run began is not told by its data, and the pattern begins there"
    )]
    PatternOfSizes { grain: u32 },
    #[error("a request of {size} bytes is not of whole blocks of {block}")]
    NotWholeBlocks { size: u32, block: usize },
    #[error("a block of {block} bytes has no room for {head} of header and checksum, and data")]
    NoRoomForHeader { block: usize, head: usize },
    #[error("header and checksum are {head} bytes, and would be moved by {offset} into themselves")]
    HeaderOnItself { head: usize, offset: usize },
    #[error("fio 3.33 leaves old headers in such a pattern, and finds its own data wrong")]
    OldHeaders,

    #[error("there is an fsync, too")]
    FsyncToo,
    #[error("there is a {other}, too")]
    RateToo { other: &'static str },
    #[error("there are zones, too")]
    ZonesToo,
    #[error("{min} a second at least, and {max} at most")]
    RateBelowMin { min: u64, max: u64 },
    #[error("{job} waits for itself")]
    WaitsForItself { job: String },
    #[error("there are no zones")]
    NoZones,
    #[error("strided, and no zonesize")]
    NoZoneSize,
    #[error("fio draws over the whole size from the beginning of each zone on")]
    DistributionOfZones,
    #[error("{bytes} bytes from offset {offset} end past the {capacity} of the target")]
    PastEnd { bytes: u64, offset: u64, capacity: u64 },
    #[error("{bytes} bytes is less than one block")]
    BelowOneBlock { bytes: u64 },
    #[error("{bytes} bytes")]
    Pieces { bytes: u64, block: u64 },
    #[error("the copy ends at {end}, past the {capacity} of the target")]
    CopyPastEnd { end: u64, capacity: u64 },
    #[error("only what is read is copied")]
    CopyOfNoRead,
}

codes!(OptionFault {
    NoSize => "job-no-size",
    MoreThanAll => "job-more-than-all",
    NoRange => "job-no-range",
    Block => "job-bad-block",
    DecimalBlock => "job-decimal-block",
    LongRequest => "job-long-request",
    Shares => "job-bad-shares",
    Parts => "job-bad-parts",
    MoreThanThree => "job-more-than-three",
    NoTime => "job-no-time",
    Microseconds => "job-microseconds",
    LongTime => "job-long-time",
    Count => "job-bad-count",
    Decimal => "job-bad-decimal",
    Percent => "job-bad-percent",
    Percentiles => "job-bad-percentiles",
    Neither => "job-neither-word",
    UnknownWord => "job-unknown-word",
    NoEngine => "job-no-engine",
    NoStride => "job-no-stride",
    NoDistribution => "job-no-distribution",
    Pareto => "job-bad-pareto",
    Zipf => "job-bad-zipf",
    Normal => "job-bad-normal",
    NoCriterion => "job-no-criterion",
    LongSteadyState => "job-long-steady-state",
    OtherClock => "job-other-clock",
    ZonedDrive => "job-zoned-drive",
    TraceBesideJobs => "job-trace-beside-jobs",
    NoPatternPart => "job-no-pattern-part",
    EmptyPattern => "job-empty-pattern",
    LongPattern => "job-long-pattern",
    OffsetInBuffer => "job-offset-in-buffer",
    Sha512 => "job-sha512",
    NoVerifyPattern => "job-no-verify-pattern",
    PatternOfSizes => "job-pattern-of-sizes",
    NotWholeBlocks => "job-not-whole-blocks",
    NoRoomForHeader => "job-no-room-for-header",
    HeaderOnItself => "job-header-on-itself",
    OldHeaders => "job-old-headers",
    FsyncToo => "job-fsync-too",
    RateToo => "job-rate-too",
    ZonesToo => "job-zones-too",
    RateBelowMin => "job-rate-below-min",
    WaitsForItself => "job-waits-for-itself",
    NoZones => "job-no-zones",
    NoZoneSize => "job-no-zone-size",
    DistributionOfZones => "job-distribution-of-zones",
    PastEnd => "job-past-end",
    BelowOneBlock => "job-below-one-block",
    Pieces => "job-bad-pieces",
    CopyPastEnd => "job-copy-past-end",
    CopyOfNoRead => "job-copy-of-no-read",
});

impl OptionFault {
    /// What to write instead, where that can be said without its line.
    pub fn hint(&self) -> Option<Hint> {
        Some(match self {
            Self::NoSize { .. } => "4k, 1m, 20g or 50%".into(),
            Self::MoreThanAll { .. } => "at most 100%".into(),
            Self::NoRange { .. } => "4k-64k".into(),
            Self::Block { .. } => "a multiple of 512 from 512 to 1g, 4g for trims".into(),
            Self::DecimalBlock { text, .. } => text.trim_end_matches(['i', 'b', 'I', 'B']).to_string().into(),
            Self::LongRequest { .. } => "at most 1g, but for trims".into(),
            Self::Shares { .. } | Self::Parts { .. } => "100 in sum".into(),
            Self::NoTime { .. } => "30s, 5m, 500ms or 20us".into(),
            Self::Microseconds { number, unit, .. } => format!("{number}{unit}").into(),
            Self::LongTime { .. } => "at most 1000d".into(),
            Self::Percent { .. } => "at most 100".into(),
            Self::Percentiles { .. } => "50:99:99.9, up to 20 of them, each from 0 to 100".into(),
            Self::UnknownWord { choices, .. } => choices.clone(),
            Self::NoEngine { .. } => "io_uring, libaio or psync".into(),
            Self::NoStride { .. } => "a multiple of 512".into(),
            Self::NoDistribution { .. } => {
                "random, zipf:1.2, pareto:0.2, normal:20 or zoned:50/5:50/95".into()
            }
            Self::Pareto { .. } => "above 0 and below 1".into(),
            Self::Zipf { .. } => "above 0, below 10 and not 1".into(),
            Self::Normal { .. } => "from 0 to below 100 percent".into(),
            Self::NoCriterion { .. } => {
                "iops, iops_slope, bw or bw_slope and a limit, such as iops_slope:0.3%".into()
            }
            Self::LongSteadyState { max, .. } => format!("at most {max} for ss_dur").into(),
            Self::OtherClock { .. } => "log_alternate_epoch_clock_id=0".into(),
            Self::ZonedDrive => "zonemode=strided for any drive".into(),
            Self::TraceBesideJobs => "give its job a file of its own".into(),
            Self::FsyncToo => "one of them".into(),
            Self::RateToo { .. } => "fio takes one of them".into(),
            Self::ZonesToo | Self::DistributionOfZones => "leave out the zonemode".into(),
            Self::RateBelowMin { .. } => "at most the rate".into(),
            Self::NoZones => "zonemode=strided makes them".into(),
            Self::NoZoneSize => "zonesize=64m".into(),
            Self::Pieces { block, .. } => format!("whole blocks of {block}, all of one size").into(),
            Self::CopyOfNoRead => "rw=read or rw=randread".into(),
            _ => return self.hint_of_pattern(),
        })
    }

    /// The same of patterns and verifying.
    fn hint_of_pattern(&self) -> Option<Hint> {
        Some(match self {
            Self::NoPatternPart { .. } | Self::EmptyPattern => {
                "\"abcd\", 0xdeadbeef, -10, %o, or several of them in a row".into()
            }
            Self::LongPattern { max, .. } => format!("at most {max}").into(),
            Self::OffsetInBuffer => "bytes, such as 0xdeadbeef".into(),
            Self::Sha512 => "sha3-512, sha256 or crc32c".into(),
            Self::NoVerifyPattern => "verify_pattern=0xdeadbeef".into(),
            Self::PatternOfSizes { grain } => {
                format!("requests of one size, or a pattern without %o whose length divides {grain}").into()
            }
            Self::NotWholeBlocks { .. } => "a divisor of every size".into(),
            Self::NoRoomForHeader { .. } => "larger blocks".into(),
            Self::HeaderOnItself { head, .. } => format!("{head} or more").into(),
            Self::OldHeaders => "verify=crc32c, or no verify_offset".into(),
            _ => return None,
        })
    }
}
