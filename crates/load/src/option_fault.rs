//! What is wrong with an option's value.

use std::borrow::Cow;

use pslc_ssd::faults;

/// What to write of a value that its sentence tells all of.
const AS_IN_FIO: &str = "as in fio's manual";
/// What to write of a job that is not on its target.
const WHOLE_TARGET: &str = "the whole target is size=100%";
/// What a pattern is.
const PATTERN: &str = "\"abcd\", 0xdeadbeef, -10, %o, or several of them in a row";

faults! {
    /// Why a job cannot have this value of an option.
    #[derive(Clone, Debug, PartialEq, thiserror::Error)]
    pub enum OptionFault {
        #[error("\"{text}\" is no size")]
        NoSize { text: String } = "job-no-size" => "4k, 1m, 20g or 50%",
        #[error("{text} is more than all of it")]
        MoreThanAll { text: String } = "job-more-than-all" => "at most 100%",
        #[error("\"{text}\" is no range")]
        NoRange { text: String } = "job-no-range" => "4k-64k",
        #[error("{bytes} bytes")]
        Block { bytes: u64 } = "job-bad-block" => "a multiple of 512 from 512 to 1g, 4g for trims",
        /// fio's `4KiB` is 4000 bytes.
        #[error("{bytes} bytes, which fio takes {text} for")]
        DecimalBlock { bytes: u64, text: String } = "job-decimal-block"
            => text.trim_end_matches(['i', 'b', 'I', 'B']).to_string(),
        #[error("{bytes} bytes")]
        LongRequest { bytes: u32 } = "job-long-request" => "at most 1g, but for trims",
        #[error("\"{text}\" has shares of {percent} percent")]
        Shares { text: String, percent: u32 } = "job-bad-shares" => "100 in sum",
        #[error("\"{text}\" has parts of {percent} percent")]
        Parts { text: String, percent: u32 } = "job-bad-parts" => "100 in sum",
        #[error("\"{text}\" has more than three {what}: reads, writes, trims")]
        MoreThanThree { text: String, what: &'static str } = "job-more-than-three" => AS_IN_FIO,

        #[error("\"{text}\" is no time")]
        NoTime { text: String } = "job-no-time" => "30s, 5m, 500ms or 20us",
        /// fio does not know the unit, of which this is the first letter.
        #[error("\"{text}\" is {number} microseconds to fio")]
        Microseconds { text: String, number: u64, unit: String } = "job-microseconds"
            => format!("{number}{unit}"),
        #[error("{text} is too long")]
        LongTime { text: String } = "job-long-time" => "at most 1000d",
        #[error("\"{text}\" is not a whole number from {min} to {max}")]
        Count { text: String, min: u64, max: u64 } = "job-bad-count" => AS_IN_FIO,
        #[error("\"{text}\" is no number of 0 or more")]
        Decimal { text: String } = "job-bad-decimal" => AS_IN_FIO,
        #[error("{text} percent")]
        Percent { text: String } = "job-bad-percent" => "at most 100",
        #[error("\"{text}\" is no list of percentiles")]
        Percentiles { text: String } = "job-bad-percentiles"
            => "50:99:99.9, up to 20 of them, each from 0 to 100",

        /// `words` are all that may stand there, with a `nor`.
        #[error("\"{text}\" is neither {words}")]
        Neither { text: String, words: &'static str } = "job-neither-word" => AS_IN_FIO,
        #[error("\"{text}\" is unknown")]
        UnknownWord { text: String, choices: Cow<'static, str> } = "job-unknown-word" => choices.clone(),
        #[error("\"{text}\" is no engine")]
        NoEngine { text: String } = "job-no-engine" => "io_uring, libaio or psync",
        #[error("\"{text}\" is no stride")]
        NoStride { text: String } = "job-no-stride" => "a multiple of 512",
        #[error("\"{text}\" is no distribution")]
        NoDistribution { text: String } = "job-no-distribution"
            => "random, zipf:1.2, pareto:0.2, normal:20 or zoned:50/5:50/95",
        #[error("pareto's share is {share}")]
        Pareto { share: f64 } = "job-bad-pareto" => "above 0 and below 1",
        #[error("zipf theta is {theta}")]
        Zipf { theta: f64 } = "job-bad-zipf" => "above 0, below 10 and not 1",
        #[error("the deviation is {percent}")]
        Normal { percent: f64 } = "job-bad-normal" => "from 0 to below 100 percent",
        #[error("\"{name}\" is no criterion")]
        NoCriterion { name: String } = "job-no-criterion"
            => "iops, iops_slope, bw or bw_slope and a limit, such as iops_slope:0.3%",
        #[error("{seconds} seconds")]
        LongSteadyState { seconds: u64, max: u64 } = "job-long-steady-state"
            => format!("at most {max} for ss_dur"),
        #[error("clock {text} is another than that of times since 1970")]
        OtherClock { text: String } = "job-other-clock" => "log_alternate_epoch_clock_id=0",
        #[error("zbd is for zoned drives")]
        ZonedDrive = "job-zoned-drive" => "zonemode=strided for any drive",
        #[error("a trace is replayed alone")]
        TraceBesideJobs = "job-trace-beside-jobs" => "give its job a file of its own",

        #[error("\"{text}\" is no part of a pattern")]
        NoPatternPart { text: String } = "job-no-pattern-part" => PATTERN,
        #[error("the pattern is empty")]
        EmptyPattern = "job-empty-pattern" => PATTERN,
        #[error("{bytes} bytes")]
        LongPattern { bytes: usize, max: usize } = "job-long-pattern" => format!("at most {max}"),
        #[error("%o is for verify_pattern")]
        OffsetInBuffer = "job-offset-in-buffer" => "bytes, such as 0xdeadbeef",
        #[error(
            "fio 3.33 keeps 128 bytes of the data for it and no checksum, so that most faults are not found"
        )]
        Sha512 = "job-sha512" => "sha3-512, sha256 or crc32c",
        #[error("there is no pattern to look for")]
        NoVerifyPattern = "job-no-verify-pattern" => "verify_pattern=0xdeadbeef",
        #[error(
            "where each request of an earlier run began is not told by its data, and the pattern begins there"
        )]
        PatternOfSizes { grain: u32 } = "job-pattern-of-sizes"
            => format!("requests of one size, or a pattern without %o whose length divides {grain}"),
        #[error("a request of {size} bytes is not of whole blocks of {block}")]
        NotWholeBlocks { size: u32, block: usize } = "job-not-whole-blocks" => "a divisor of every size",
        #[error("a block of {block} bytes has no room for {head} of header and checksum, and data")]
        NoRoomForHeader { block: usize, head: usize } = "job-no-room-for-header" => "larger blocks",
        #[error("header and checksum are {head} bytes, and would be moved by {offset} into themselves")]
        HeaderOnItself { head: usize, offset: usize } = "job-header-on-itself" => format!("{head} or more"),
        #[error("fio 3.33 leaves old headers in such a pattern, and finds its own data wrong")]
        OldHeaders = "job-old-headers" => "verify=crc32c, or no verify_offset",

        #[error("there is an fsync, too")]
        FsyncToo = "job-fsync-too" => "one of them",
        #[error("there is a {other}, too")]
        RateToo { other: &'static str } = "job-rate-too" => "fio takes one of them",
        #[error("there are zones, too")]
        ZonesToo = "job-zones-too" => "leave out the zonemode",
        #[error("{min} a second at least, and {max} at most")]
        RateBelowMin { min: u64, max: u64 } = "job-rate-below-min" => "at most the rate",
        #[error("{job} waits for itself")]
        WaitsForItself { job: String } = "job-waits-for-itself" => "name a job that stands before it",
        #[error("there are no zones")]
        NoZones = "job-no-zones" => "zonemode=strided makes them",
        #[error("strided, and no zonesize")]
        NoZoneSize = "job-no-zone-size" => "zonesize=64m",
        #[error("fio draws over the whole size from the beginning of each zone on")]
        DistributionOfZones = "job-distribution-of-zones" => "leave out the zonemode",
        #[error("{bytes} bytes from offset {offset} end past the {capacity} of the target")]
        PastEnd { bytes: u64, offset: u64, capacity: u64 } = "job-past-end" => WHOLE_TARGET,
        #[error("{bytes} bytes is less than one block")]
        BelowOneBlock { bytes: u64 } = "job-below-one-block" => WHOLE_TARGET,
        #[error("{bytes} bytes")]
        Pieces { bytes: u64, block: u64 } = "job-bad-pieces"
            => format!("whole blocks of {block}, all of one size"),
        #[error("the copy ends at {end}, past the {capacity} of the target")]
        CopyPastEnd { end: u64, capacity: u64 } = "job-copy-past-end" => WHOLE_TARGET,
        #[error("only what is read is copied")]
        CopyOfNoRead = "job-copy-of-no-read" => "rw=read or rw=randread",
    }
}

impl OptionFault {
    /// Whether the job would not be on its target, with a size that fio may read as another than was meant.
    pub fn is_of_target(&self) -> bool {
        matches!(self, Self::PastEnd { .. } | Self::BelowOneBlock { .. } | Self::CopyPastEnd { .. })
    }
}
