//! What cannot be together, or is beyond a limit, though each value can be read.

use super::super::units::{write_decimal, BYTES, TIME};
use crate::codes;
use crate::codes::Hint;
use crate::units::{MapUnit, Nanos};

/// Why a drive cannot be as its keys say.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CheckFault {
    #[error("nand.dies is {dies} on {channels} channels")]
    DiesOnChannels { dies: u32, channels: u32 },
    #[error("nand.page is {}", BYTES.write(*bytes as u64))]
    Page { bytes: u32 },
    #[error("nand.pages_per_block is {pages} with {bits} bits a cell")]
    PagesPerBlock { pages: u32, bits: u32 },
    #[error("nand.bits_per_cell is 1, so there is no faster mode for a cache")]
    CacheOfOneBit,
    #[error("nand.bus is 0MT/s")]
    NoBus,

    #[error("ftl.map_unit is {}", BYTES.write(*bytes))]
    MapUnitBeyondPlanes { bytes: u64, planes_bytes: u64 },
    #[error("ftl.map_unit is {}, and planes read for themselves", BYTES.write(*bytes))]
    MapUnitBeyondPage { bytes: u64, page_bytes: u64 },
    #[error("the geometry has {units} mapping units of {}", BYTES.write(*unit_bytes))]
    TooManyMapUnits { units: u64, unit_bytes: u64, max: u64 },

    #[error("{key} is {}", TIME.write(time.0))]
    Time { key: &'static str, time: Nanos },
    #[error("controller.read_ahead is {}", BYTES.write(*bytes))]
    ReadAhead { bytes: u64 },
    /// `none` says what holds without that limit of the rate.
    #[error("{key} is 0")]
    NoRate { key: &'static str, none: &'static str },
    #[error("controller.flush is {}", TIME.write(time.0))]
    Flush { time: Nanos },
    #[error("controller.map holds less than one page of the map")]
    MapBelowPage,

    #[error("cache.host_share is {}%", write_decimal(*permille as u64, 10))]
    HostShare { permille: u32 },
    #[error("{key} is {}", write_decimal(*permille as u64, 1000))]
    Overhead { key: &'static str, permille: u32 },
    #[error(
        "the cache shrinks from {}% to {}% full",
        write_decimal(*from_permille as u64, 10),
        write_decimal(*to_permille as u64, 10)
    )]
    Shrink { from_permille: u32, to_permille: u32 },
    #[error("cache.when_full is \"{when_full}\", but the cache is not reused as it is freed")]
    ReuseUnderWait { when_full: &'static str },
    #[error("cache.when_full is \"{when_full}\", under which dead data are what is freed first")]
    DeadUnderWait { when_full: &'static str },
    #[error("ftl.erase_every is {}, which is more than the drive", BYTES.write(*bytes))]
    EraseEvery { bytes: u64, max_bytes: u64 },
    #[error("cache.fold_batch is {}, which is more than the cache", BYTES.write(*bytes))]
    FoldBatch { bytes: u64, max_bytes: u64 },
    #[error("cache.idle.rate is 0")]
    NoIdleRate,

    #[error("{key} is of a bridge, and the link is not USB")]
    NoBridge { key: &'static str },
    #[error("{table} is not entered later than the state before it")]
    PowerStateOrder { table: &'static str },
    #[error("cache.dynamic_cells is mlc, two bits a cell, and cells hold {bits}")]
    TwoBitsOfTwo { bits: u32 },
    #[error("cache.dynamic_cells is mlc, and there is no table nand.mlc")]
    NoTimesOfTwoBits,
    #[error("there is a table heat but none of power")]
    HeatWithoutPower,
    #[error("the smaller heat capacity times the smaller resistance is under a second")]
    HeatTooQuick,
    #[error("{table} does not begin above where it ends, above the step before, with some speed left")]
    Throttle { table: &'static str },

    #[error("there are both host.page_cache and host.driver_cache")]
    TwoPageCaches,
    #[error("{key} is {}", BYTES.write(*bytes))]
    PageCache { key: &'static str, bytes: u64 },
    #[error("host.request is {}", BYTES.write(*bytes as u64))]
    HostRequest { bytes: u32 },
    #[error("{key} is before a drive of {}", BYTES.write(*drive_bytes))]
    PageCacheOfLargeDrive { key: &'static str, drive_bytes: u64 },
    #[error("host.memory is 0")]
    NoHostMemory,

    #[error("controller.write_buffer is {}", BYTES.write(*bytes))]
    WriteBuffer { bytes: u64, unit_bytes: u64 },
    #[error(
        "{key} is {}, but {superblocks} superblocks of {} leave no spare blocks for it",
        gb(*bytes),
        BYTES.write(*superblock_bytes)
    )]
    Capacity { key: &'static str, bytes: u64, superblocks: u64, superblock_bytes: u64, max_bytes: u64 },
    #[error("cache.static is {}, set aside beside the capacity", gb(*bytes))]
    StaticCache { bytes: u64, max_bytes: u64 },
    #[error("cache.dynamic is {} but the drive can hold {} as cache", gb(*bytes), gb(*max_bytes))]
    DynamicCache { bytes: u64, max_bytes: u64, bits: u32 },
}

codes!(CheckFault {
    DiesOnChannels => "profile-dies-on-channels",
    Page => "profile-bad-page",
    PagesPerBlock => "profile-bad-pages-per-block",
    CacheOfOneBit => "profile-cache-of-one-bit",
    TwoBitsOfTwo => "profile-two-bits-of-two",
    NoTimesOfTwoBits => "profile-no-times-of-two-bits",
    NoBus => "profile-no-bus",
    MapUnitBeyondPlanes => "profile-map-unit-beyond-planes",
    MapUnitBeyondPage => "profile-map-unit-beyond-page",
    TooManyMapUnits => "profile-too-many-map-units",
    Time => "profile-bad-time",
    ReadAhead => "profile-bad-read-ahead",
    NoRate => "profile-no-rate",
    Flush => "profile-bad-flush",
    MapBelowPage => "profile-map-below-page",
    HostShare => "profile-bad-host-share",
    Overhead => "profile-bad-overhead",
    Shrink => "profile-bad-shrink",
    ReuseUnderWait => "profile-reuse-under-wait",
    DeadUnderWait => "profile-dead-under-wait",
    EraseEvery => "profile-bad-erase-every",
    FoldBatch => "profile-bad-fold-batch",
    NoIdleRate => "profile-no-idle-rate",
    NoBridge => "profile-no-bridge",
    PowerStateOrder => "profile-power-state-order",
    HeatWithoutPower => "profile-heat-without-power",
    HeatTooQuick => "profile-heat-too-quick",
    Throttle => "profile-bad-throttle",
    TwoPageCaches => "profile-two-page-caches",
    PageCache => "profile-bad-page-cache",
    HostRequest => "profile-bad-host-request",
    PageCacheOfLargeDrive => "profile-page-cache-of-large-drive",
    NoHostMemory => "profile-no-host-memory",
    WriteBuffer => "profile-bad-write-buffer",
    Capacity => "profile-capacity-too-large",
    StaticCache => "profile-static-cache-too-large",
    DynamicCache => "profile-dynamic-cache-too-large",
});

impl CheckFault {
    /// What to write instead.
    pub fn hint(&self) -> Hint {
        match self {
            Self::DiesOnChannels { channels, .. } => {
                format!("a multiple of nand.channels, such as {}", channels * 4).into()
            }
            Self::Page { .. } => "a multiple of 4KiB, at most 256KiB; 16KiB is usual".into(),
            Self::PagesPerBlock { .. } => {
                "a multiple of nand.bits_per_cell: every word line holds one page a bit".into()
            }
            Self::CacheOfOneBit => "cache.mode = \"pure-xlc\", or 2 to 5 bits".into(),
            Self::TwoBitsOfTwo { .. } => "\"slc\", or nand.bits_per_cell of 3 to 5".into(),
            Self::NoTimesOfTwoBits => "nand.mlc.read, .program, .erase: 45us, 600us, 5ms, for one".into(),
            Self::NoBus => "\"1200MT/s\", for one".into(),
            Self::MapUnitBeyondPlanes { planes_bytes, .. } => map_planes(*planes_bytes),
            Self::MapUnitBeyondPage { page_bytes, .. } => map_page(*page_bytes),
            Self::TooManyMapUnits { unit_bytes, max, .. } => map_limit(*unit_bytes, *max),
            Self::Time { .. } => "more than nothing and at most 24h".into(),
            Self::ReadAhead { .. } => "at most 1GiB; a few hundred KiB are usual".into(),
            Self::NoRate { none, .. } => format!("\"none\": {none}").into(),
            Self::Flush { .. } => "at most 60s; consumer drives take 0.1 to 3 ms".into(),
            Self::MapBelowPage => "at least 4KiB, which map 4MiB of the drive; \"dram\": all of it".into(),
            Self::NoBridge { .. } => {
                "link = \"usb10g\", for one; a drive without a bridge has no [usb]".into()
            }
            Self::PowerStateOrder { .. } => "each deeper state comes after a longer silence".into(),
            Self::HeatWithoutPower => "add [power]: nothing else makes heat".into(),
            Self::HeatTooQuick => {
                "a chip on a board takes seconds to warm: for one \"4J/K\" and \"3K/W\"".into()
            }
            Self::Throttle { .. } => "at = \"90C\", until = \"85C\", speed = \"50%\", for one".into(),
            Self::HostShare { .. } => "1% to 99%".into(),
            Self::Overhead { .. } => "0.1 (copied on the die) to 100; 1.0 is a direct write".into(),
            Self::Shrink { .. } => "shrink_from at most shrink_to, and that at most 100%".into(),
            Self::ReuseUnderWait { when_full } => {
                format!("cache.reuse = \"as-freed\": with \"{when_full}\" nothing else ends the wait").into()
            }
            Self::DeadUnderWait { .. } => "cache.dead = \"free-at-once\"".into(),
            Self::EraseEvery { max_bytes, .. } | Self::FoldBatch { max_bytes, .. } => at_most(*max_bytes),
            Self::NoIdleRate => "idle = \"never\"".into(),
            Self::TwoPageCaches => {
                "one of them: the first to see a request would leave the other nothing".into()
            }
            Self::PageCache { .. } => {
                "at least 64MiB, and twice host.dirty, which is at least host.background".into()
            }
            Self::HostRequest { .. } => "a multiple of 4KiB, at most 1GiB".into(),
            Self::PageCacheOfLargeDrive { .. } => {
                "remove it: such a cache knows the pages of 17TB at most".into()
            }
            Self::NoHostMemory => "\"10GB/s\", for one".into(),
            Self::WriteBuffer { unit_bytes, .. } => {
                format!("at least two program units, {}, and at most 1TiB", BYTES.write(2 * unit_bytes))
                    .into()
            }
            Self::Capacity { max_bytes, .. } => room(*max_bytes, ", or a larger nand.blocks_per_plane"),
            Self::StaticCache { max_bytes, .. } => room(*max_bytes, ""),
            Self::DynamicCache { max_bytes, bits, .. } => {
                room(*max_bytes, &format!(" with {bits} bits a cell"))
            }
        }
    }
}

/// The largest size that a key may have.
fn at_most(bytes: u64) -> Hint {
    format!("at most {}", BYTES.write(bytes)).into()
}

/// How much of the cells there is, and what else would do.
fn room(max_bytes: u64, else_what: &str) -> Hint {
    format!("at most {} on this geometry{else_what}", gb(max_bytes)).into()
}

/// The largest unit of a map of planes that work together.
fn map_planes(planes_bytes: u64) -> Hint {
    format!("at most a page of every plane, {}, and a whole part of it", BYTES.write(planes_bytes)).into()
}

/// The largest unit of a map of planes that read for themselves.
fn map_page(page_bytes: u64) -> Hint {
    format!("at most nand.page, {}, or nand.plane_reads = \"together\"", BYTES.write(page_bytes)).into()
}

/// Gigabytes to two decimals.
fn gb(bytes: u64) -> String {
    format!("{}GB", write_decimal((bytes + 5_000_000) / 10_000_000, 100))
}

/// How much a map of so many units can number.
fn map_limit(unit_bytes: u64, max: u64) -> Hint {
    const TB: u64 = 1_000_000_000_000;
    let raw = |unit: u64| BYTES.write(max * unit / TB * TB);
    let larger = match unit_bytes < MapUnit::MAX_BYTES {
        true => format!("; ftl.map_unit = \"64KiB\" allows {}", raw(MapUnit::MAX_BYTES)),
        false => String::new(),
    };
    format!("at most {max}, which is {} raw{larger}", raw(unit_bytes)).into()
}
