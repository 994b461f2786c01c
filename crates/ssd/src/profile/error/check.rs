//! What cannot be together, or is beyond a limit, though each value can be read.

use super::super::units::{write_decimal, BYTES, TIME};
use crate::faults;
use crate::units::{MapUnit, Nanos};

faults! {
    /// Why a drive cannot be as its keys say.
    #[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
    pub enum CheckFault {
        #[error("nand.dies is {dies} on {channels} channels")]
        DiesOnChannels { dies: u32, channels: u32 } = "profile-dies-on-channels"
            => format!("a multiple of nand.channels, such as {}", channels * 4),
        #[error("nand.page is {}", BYTES.write(*bytes as u64))]
        Page { bytes: u32 } = "profile-bad-page" => "a multiple of 4KiB, at most 256KiB; 16KiB is usual",
        #[error("nand.pages_per_block is {pages} with {bits} bits a cell")]
        PagesPerBlock { pages: u32, bits: u32 } = "profile-bad-pages-per-block"
            => "a multiple of nand.bits_per_cell: every word line holds one page a bit",
        #[error("nand.bits_per_cell is 1, so there is no faster mode for a cache")]
        CacheOfOneBit = "profile-cache-of-one-bit" => "cache.mode = \"pure-xlc\", or 2 to 5 bits",
        #[error("nand.bus is 0MT/s")]
        NoBus = "profile-no-bus" => "\"1200MT/s\", for one",

        #[error("ftl.map_unit is {}", BYTES.write(*bytes))]
        MapUnitBeyondPlanes { bytes: u64, planes_bytes: u64 } = "profile-map-unit-beyond-planes"
            => format!("at most a page of every plane, {}, and a whole part of it", BYTES.write(*planes_bytes)),
        #[error("ftl.map_unit is {}, and planes read for themselves", BYTES.write(*bytes))]
        MapUnitBeyondPage { bytes: u64, page_bytes: u64 } = "profile-map-unit-beyond-page"
            => format!("at most nand.page, {}, or nand.plane_reads = \"together\"", BYTES.write(*page_bytes)),
        #[error("the geometry has {units} mapping units of {}", BYTES.write(*unit_bytes))]
        TooManyMapUnits { units: u64, unit_bytes: u64, max: u64 } = "profile-too-many-map-units"
            => map_limit(*unit_bytes, *max),

        #[error("{key} is {}", TIME.write(time.0))]
        Time { key: &'static str, time: Nanos } = "profile-bad-time" => "more than nothing and at most 24h",
        #[error("{key} is {}", TIME.write(time.0))]
        Age { key: &'static str, time: Nanos } = "profile-bad-age" => "more than nothing and at most 20 years",
        #[error("nand.retry_growth is {}", write_decimal(*permille as u64, 1000))]
        RetryGrowth { permille: u32 } = "profile-bad-retry-growth"
            => "1.01 to 1000: how many times as old data are at each further retry",
        #[error("ftl.refresh is set, and cache.idle is \"never\"")]
        RefreshWithoutIdle = "profile-refresh-without-idle"
            => "add cache.idle.threshold: data are rewritten while the host is silent",
        #[error("controller.read_ahead is {}", BYTES.write(*bytes))]
        ReadAhead { bytes: u64 } = "profile-bad-read-ahead" => "at most 1GiB; a few hundred KiB are usual",
        /// `none` says what holds without that limit of the rate.
        #[error("{key} is 0")]
        NoRate { key: &'static str, none: &'static str } = "profile-no-rate" => format!("\"none\": {none}"),
        #[error("controller.flush is {}", TIME.write(time.0))]
        Flush { time: Nanos } = "profile-bad-flush" => "at most 60s; consumer drives take 0.1 to 3 ms",
        #[error("controller.map holds less than one page of the map")]
        MapBelowPage = "profile-map-below-page"
            => "at least 4KiB, which map 4MiB of the drive; \"dram\": all of it",

        #[error("cache.host_share is {}%", write_decimal(*permille as u64, 10))]
        HostShare { permille: u32 } = "profile-bad-host-share" => "1% to 99%",
        #[error("{key} is {}", write_decimal(*permille as u64, 1000))]
        Overhead { key: &'static str, permille: u32 } = "profile-bad-overhead"
            => "0.1 (copied on the die) to 100; 1.0 is a direct write",
        #[error(
            "the cache shrinks from {}% to {}% full",
            write_decimal(*from_permille as u64, 10),
            write_decimal(*to_permille as u64, 10)
        )]
        Shrink { from_permille: u32, to_permille: u32 } = "profile-bad-shrink"
            => "shrink_from at most shrink_to, and that at most 100%",
        #[error("cache.when_full is \"{when_full}\", but the cache is not reused as it is freed")]
        ReuseUnderWait { when_full: &'static str } = "profile-reuse-under-wait"
            => format!("cache.reuse = \"as-freed\": with \"{when_full}\" nothing else ends the wait"),
        #[error("cache.when_full is \"{when_full}\", under which dead data are what is freed first")]
        DeadUnderWait { when_full: &'static str } = "profile-dead-under-wait"
            => "cache.dead = \"free-at-once\"",
        #[error("cache.when_full is \"{when_full}\", under which all data go through the cache")]
        WornUnderWait { when_full: &'static str } = "profile-worn-under-wait"
            => "cache.worn = \"goes-on\"",
        #[error("cache.worn is \"off\", and nothing says what its cells stand")]
        WornWithoutCycles = "profile-worn-without-cycles" => "add wear.slc_cycles and wear.native_cycles",
        #[error("ftl.erase_every is {}, which is more than the drive", BYTES.write(*bytes))]
        EraseEvery { bytes: u64, max_bytes: u64 } = "profile-bad-erase-every"
            => format!("at most {}", BYTES.write(*max_bytes)),
        #[error("cache.fold_batch is {}, which is more than the cache", BYTES.write(*bytes))]
        FoldBatch { bytes: u64, max_bytes: u64 } = "profile-bad-fold-batch"
            => format!("at most {}", BYTES.write(*max_bytes)),
        #[error("cache.idle.rate is 0")]
        NoIdleRate = "profile-no-idle-rate" => "idle = \"never\"",

        #[error("{key} is of a bridge, and the link is not USB")]
        NoBridge { key: &'static str } = "profile-no-bridge"
            => "link = \"usb10g\", for one; a drive without a bridge has no [usb]",
        #[error("{table} is not entered later than the state before it")]
        PowerStateOrder { table: &'static str } = "profile-power-state-order"
            => "each deeper state comes after a longer silence",
        #[error("cache.dynamic_cells is mlc, two bits a cell, and cells hold {bits}")]
        TwoBitsOfTwo { bits: u32 } = "profile-two-bits-of-two" => "\"slc\", or nand.bits_per_cell of 3 to 5",
        #[error("cache.dynamic_cells is mlc, and there is no table nand.mlc")]
        NoTimesOfTwoBits = "profile-no-times-of-two-bits"
            => "nand.mlc.read, .program, .erase: 45us, 600us, 5ms, for one",
        #[error("there is a table heat but none of power")]
        HeatWithoutPower = "profile-heat-without-power" => "add [power]: nothing else makes heat",
        #[error("the smaller heat capacity times the smaller resistance is under a second")]
        HeatTooQuick = "profile-heat-too-quick"
            => "a chip on a board takes seconds to warm: for one \"4J/K\" and \"3K/W\"",
        #[error("{table} does not begin above where it ends, above the step before, with some speed left")]
        Throttle { table: &'static str } = "profile-bad-throttle"
            => "at = \"90C\", until = \"85C\", speed = \"50%\", for one",

        #[error("there are both host.page_cache and host.driver_cache")]
        TwoPageCaches = "profile-two-page-caches"
            => "one of them: the first to see a request would leave the other nothing",
        #[error("{key} is {}", BYTES.write(*bytes))]
        PageCache { key: &'static str, bytes: u64 } = "profile-bad-page-cache"
            => "at least 64MiB, and twice host.dirty, which is at least host.background",
        #[error("host.request is {}", BYTES.write(*bytes as u64))]
        HostRequest { bytes: u32 } = "profile-bad-host-request" => "a multiple of 4KiB, at most 1GiB",
        #[error("{key} is before a drive of {}", BYTES.write(*drive_bytes))]
        PageCacheOfLargeDrive { key: &'static str, drive_bytes: u64 } = "profile-page-cache-of-large-drive"
            => "remove it: such a cache knows the pages of 17TB at most",
        #[error("host.memory is 0")]
        NoHostMemory = "profile-no-host-memory" => "\"10GB/s\", for one",

        #[error("controller.write_buffer is {}", BYTES.write(*bytes))]
        WriteBuffer { bytes: u64, unit_bytes: u64 } = "profile-bad-write-buffer"
            => format!("at least two program units, {}, and at most 1TiB", BYTES.write(2 * unit_bytes)),
        #[error(
            "{key} is {}, but {superblocks} superblocks of {} leave no spare blocks for it",
            gb(*bytes),
            BYTES.write(*superblock_bytes)
        )]
        Capacity { key: &'static str, bytes: u64, superblocks: u64, superblock_bytes: u64, max_bytes: u64 }
            = "profile-capacity-too-large" => room(*max_bytes, ", or a larger nand.blocks_per_plane"),
        #[error("cache.static is {}, set aside beside the capacity", gb(*bytes))]
        StaticCache { bytes: u64, max_bytes: u64 } = "profile-static-cache-too-large" => room(*max_bytes, ""),
        #[error("cache.dynamic is {} but the drive can hold {} as cache", gb(*bytes), gb(*max_bytes))]
        DynamicCache { bytes: u64, max_bytes: u64, bits: u32 } = "profile-dynamic-cache-too-large"
            => room(*max_bytes, &format!(" with {bits} bits a cell")),
    }
}

/// How much of the cells there is, and what else would do.
fn room(max_bytes: u64, else_what: &str) -> String {
    // What is said to be possible is: down to the next hundredth.
    format!("at most {} on this geometry{else_what}", gb(max_bytes.saturating_sub(5_000_000)))
}

/// Gigabytes to two decimals.
fn gb(bytes: u64) -> String {
    format!("{}GB", write_decimal((bytes + 5_000_000) / 10_000_000, 100))
}

/// How much a map of so many units can number.
fn map_limit(unit_bytes: u64, max: u64) -> String {
    const TB: u64 = 1_000_000_000_000;
    let raw = |unit: u64| BYTES.write(max * unit / TB * TB);
    let larger = if unit_bytes < MapUnit::MAX_BYTES {
        format!("; ftl.map_unit = \"64KiB\" allows {}", raw(MapUnit::MAX_BYTES))
    } else {
        String::new()
    };
    format!("at most {max}, which is {} raw{larger}", raw(unit_bytes))
}
