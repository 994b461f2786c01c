//! What must hold between keys: the geometry gives the capacity, the cells hold the cache, and space can always be
//! reclaimed.

use super::error::ProfileError;
use super::keys::{STATES, THROTTLES};
use super::reader::Reader;
use super::units;
use crate::config::*;
use crate::units::{MapUnit, Nanos, PAGE_BYTES};
use crate::words::Words;

/// Superblocks beyond the reserve that are open or kept for moving data.
const OPEN_SUPERBLOCKS: u64 = 4;

impl Config {
    /// Superblocks that hold no data of the host's; a policy that sorts writes keeps one more open.
    fn kept_superblocks(&self, sorts: bool) -> u64 {
        self.ftl.reserve_superblocks as u64 + OPEN_SUPERBLOCKS + sorts as u64
    }

    /// Whether a policy may sort writes: there is room for the superblock more that it keeps open.
    pub fn has_room_to_sort(&self) -> bool {
        let data = self.capacity_bytes.div_ceil(self.nand.superblock_bytes(CellMode::Native));
        let usable = (self.nand.superblocks() as u64).saturating_sub(self.kept_superblocks(true));
        data + self.static_superblocks() <= usable
    }

    /// Whether host writes may wait for the cache: what is freed of it is used again at once.
    pub fn may_wait(&self) -> bool {
        self.cache.reuse == Reuse::AsFreed && !self.cache.dead_until_idle
    }
}

/// `is_run`: the drive is run as it is, so its map must be able to number its pages.
pub fn check(c: &Config, reader: &Reader, is_run: bool) -> Result<(), ProfileError> {
    // What the drive has room for is asked last: it follows from all else.
    let of_size = [numbers, page_cache];
    let checks = [geometry, times, controller, policy, usb, power_states, thermal];
    for check in checks.iter().chain(is_run.then_some(&of_size).into_iter().flatten()) {
        if let Err(fault) = check(c, reader) {
            reader.fault(fault);
        }
    }
    if reader.faults.borrow().is_empty() {
        space(c, reader)?;
    }
    Ok(())
}

fn geometry(c: &Config, reader: &Reader) -> Result<(), ProfileError> {
    let nand = &c.nand;
    let fail = |key: &str, message: String, hint: String| Err(reader.error(key, message, hint));
    if nand.dies % nand.channels != 0 {
        return fail(
            "nand.dies",
            format!("nand.dies is {} on {} channels", nand.dies, nand.channels),
            format!("a multiple of nand.channels, such as {}", nand.channels * 4),
        );
    }
    if nand.page_bytes == 0 || nand.page_bytes as u64 % PAGE_BYTES != 0 || nand.page_bytes > 1 << 18 {
        return fail(
            "nand.page",
            format!("nand.page is {}", units::BYTES.write(nand.page_bytes as u64)),
            "a multiple of 4KiB, at most 256KiB; 16KiB is usual".into(),
        );
    }
    if nand.pages_per_block % nand.bits_per_cell != 0 {
        return fail(
            "nand.pages_per_block",
            format!(
                "nand.pages_per_block is {} with {} bits a cell",
                nand.pages_per_block, nand.bits_per_cell
            ),
            "a multiple of nand.bits_per_cell: every word line holds one page a bit".into(),
        );
    }
    if nand.bits_per_cell == 1 && c.cache.mode != CacheMode::PureXlc {
        return fail(
            "nand.bits_per_cell",
            "nand.bits_per_cell is 1, so there is no faster mode for a cache".into(),
            "cache.mode = \"pure-xlc\", or 2 to 5 bits".into(),
        );
    }
    if nand.bus_mts == 0 {
        return fail("nand.bus", "nand.bus is 0MT/s".into(), "\"1200MT/s\", for one".into());
    }
    mapping(c, reader)
}

/// The map's unit.
fn mapping(c: &Config, reader: &Reader) -> Result<(), ProfileError> {
    let nand = &c.nand;
    let fail = |key: &str, message: String, hint: String| Err(reader.error(key, message, hint));
    if !nand.map_unit.begins_at(nand.planes as u64 * nand.page_bytes as u64) {
        let multi_plane = units::BYTES.write(nand.planes as u64 * nand.page_bytes as u64);
        return fail(
            "ftl.map_unit",
            format!("ftl.map_unit is {}", units::BYTES.write(nand.map_unit.size())),
            format!("at most a page of every plane, {multi_plane}, and a whole part of it"),
        );
    }
    if nand.independent_reads && nand.map_unit.size() > nand.page_bytes as u64 {
        return fail(
            "ftl.map_unit",
            format!(
                "ftl.map_unit is {}, and planes read for themselves",
                units::BYTES.write(nand.map_unit.size())
            ),
            format!(
                "at most nand.page, {}, or nand.plane_reads = \"together\"",
                units::BYTES.write(nand.page_bytes as u64)
            ),
        );
    }
    Ok(())
}

/// Whether the map can number all units.
fn numbers(c: &Config, reader: &Reader) -> Result<(), ProfileError> {
    let nand = &c.nand;
    let fail = |key: &str, message: String, hint: String| Err(reader.error(key, message, hint));
    let max_pages = u32::MAX as u64;
    let pages = nand.superblocks() as u64 * nand.superblock_pages(CellMode::Native);
    if pages >= max_pages || nand.superblock_pages(CellMode::Native) >= max_pages {
        let raw = |unit: u64| units::BYTES.write(max_pages * unit / 1_000_000_000_000 * 1_000_000_000_000);
        let unit = nand.map_unit.size();
        let larger = match unit < MapUnit::MAX_BYTES {
            true => format!("; ftl.map_unit = \"64KiB\" allows {}", raw(MapUnit::MAX_BYTES)),
            false => String::new(),
        };
        return fail(
            "nand.blocks_per_plane",
            format!("the geometry has {pages} mapping units of {}", units::BYTES.write(unit)),
            format!("at most {max_pages}, which is {} raw{larger}", raw(unit)),
        );
    }
    Ok(())
}

fn times(c: &Config, reader: &Reader) -> Result<(), ProfileError> {
    let (slc, native) = (&c.nand.slc, &c.nand.native);
    let mut times = vec![
        ("nand.slc.read", slc.read),
        ("nand.slc.program", slc.program),
        ("nand.slc.erase", slc.erase),
        ("nand.native.read", native.read),
        ("nand.native.program", native.program),
        ("nand.native.erase", native.erase),
        ("controller.command", c.controller.command),
        ("controller.read", c.controller.read),
        ("controller.write", c.controller.write),
    ];
    times.extend(c.cache.idle.map(|idle| ("cache.idle.threshold", idle.threshold)));
    let longest = Nanos::from_secs(24 * 3600);
    for (key, time) in times {
        if time == Nanos::ZERO || time > longest {
            return Err(reader.error(
                key,
                format!("{key} is {}", units::TIME.write(time.0)),
                "more than nothing and at most 24h".into(),
            ));
        }
    }
    Ok(())
}

fn controller(c: &Config, reader: &Reader) -> Result<(), ProfileError> {
    if c.controller.read_ahead_bytes > 1 << 30 {
        let read_ahead = units::BYTES.write(c.controller.read_ahead_bytes);
        return Err(reader.error(
            "controller.read_ahead",
            format!("controller.read_ahead is {read_ahead}"),
            "at most 1GiB; a few hundred KiB are usual".into(),
        ));
    }
    let rates = [
        ("controller.slc_write", c.controller.slc_write_bytes_per_s, "as fast as the dies program"),
        ("controller.native_write", c.controller.native_write_bytes_per_s, "as fast as the dies program"),
        (
            "controller.copy_in",
            c.controller.copy_in_bytes_per_s,
            "a write is answered when the link has brought it",
        ),
    ];
    if let Some((key, _, none)) = rates.into_iter().find(|(_, rate, _)| *rate == Some(0)) {
        return Err(reader.error(key, format!("{key} is 0"), format!("\"none\": {none}")));
    }
    if c.controller.flush > Nanos::from_secs(60) {
        return Err(reader.error(
            "controller.flush",
            format!("controller.flush is {}", units::TIME.write(c.controller.flush.0)),
            "at most 60s; consumer drives take 0.1 to 3 ms".into(),
        ));
    }
    if c.controller.map.is_some_and(|map| map.bytes < PAGE_BYTES) {
        return Err(reader.error(
            "controller.map",
            "controller.map holds less than one page of the map".into(),
            "at least 4KiB, which map 4MiB of the drive; \"dram\": all of it".into(),
        ));
    }
    Ok(())
}

fn policy(c: &Config, reader: &Reader) -> Result<(), ProfileError> {
    let cache = &c.cache;
    let fail = |key: &str, message: String, hint: &str| Err(reader.error(key, message, hint.to_string()));
    if !(10..=990).contains(&cache.host_share_permille) {
        let share = units::write_decimal(cache.host_share_permille as u64, 10);
        return fail("cache.host_share", format!("cache.host_share is {share}%"), "1% to 99%");
    }
    if !(100..=100_000).contains(&cache.fold_overhead_permille) {
        let overhead = units::write_decimal(cache.fold_overhead_permille as u64, 1000);
        let message = format!("cache.fold_overhead is {overhead}");
        return fail("cache.fold_overhead", message, "0.1 (copied on the die) to 100; 1.0 is a direct write");
    }
    let (from, to) = (cache.shrink_from_permille, cache.shrink_to_permille);
    if from > to || to > 1000 {
        let [from, to] = [from, to].map(|share| units::write_decimal(share as u64, 10));
        return fail(
            "cache.shrink_to",
            format!("the cache shrinks from {from}% to {to}% full"),
            "shrink_from at most shrink_to, and that at most 100%",
        );
    }
    let word = cache.when_full.word();
    let waits = cache.when_full.overflow() != Overflow::Native;
    if waits && cache.reuse != Reuse::AsFreed {
        return fail(
            "cache.reuse",
            format!("cache.when_full is \"{word}\", but the cache is not reused as it is freed"),
            &format!("cache.reuse = \"as-freed\": with \"{word}\" nothing else ends the wait"),
        );
    }
    if waits && cache.dead_until_idle {
        return fail(
            "cache.dead",
            format!("cache.when_full is \"{word}\", under which dead data are what is freed first"),
            "cache.dead = \"free-at-once\"",
        );
    }
    if cache.most_bytes() > 0 && cache.fold_batch_bytes > cache.most_bytes() {
        let batch = units::BYTES.write(cache.fold_batch_bytes);
        return fail(
            "cache.fold_batch",
            format!("cache.fold_batch is {batch}, which is more than the cache"),
            &format!("at most {}", units::BYTES.write(cache.most_bytes())),
        );
    }
    if cache.idle.is_some_and(|idle| idle.rate_bytes_per_s == Some(0)) {
        return fail("cache.idle.rate", "cache.idle.rate is 0".into(), "idle = \"never\"");
    }
    Ok(())
}

fn usb(c: &Config, reader: &Reader) -> Result<(), ProfileError> {
    if c.usb.is_some() && !matches!(c.link, Link::Usb { .. }) {
        let keys = ["usb.transport", "usb.discard", "usb.behind"];
        let key = keys.into_iter().find(|key| reader.value(key).is_some()).unwrap_or(keys[0]);
        let hint = "link = \"usb10g\", for one; a drive without a bridge has no [usb]";
        return Err(reader.error(key, format!("{key} is of a bridge, and the link is not USB"), hint.into()));
    }
    Ok(())
}

fn power_states(c: &Config, reader: &Reader) -> Result<(), ProfileError> {
    let Some(power) = &c.power else { return Ok(()) };
    let mut before = Nanos::ZERO;
    for (state, [table, after, ..]) in power.states.iter().zip(STATES) {
        let Some(state) = state else { continue };
        if state.after <= before {
            let message = format!("{table} is not entered later than the state before it");
            return Err(reader.error(
                after,
                message,
                "each deeper state comes after a longer silence".into(),
            ));
        }
        before = state.after;
    }
    Ok(())
}

fn thermal(c: &Config, reader: &Reader) -> Result<(), ProfileError> {
    let Some(heat) = &c.heat else { return Ok(()) };
    if c.power.is_none() {
        return Err(reader.error(
            "heat.ambient",
            "there is a table heat but none of power".into(),
            "add [power]: nothing else makes heat".into(),
        ));
    }
    // Steps of a tenth of a second follow only what is slower.
    let quickest = heat.chips_mj_per_k.min(heat.board_mj_per_k) as i128
        * heat.chips_to_board_mk_per_w.min(heat.board_to_air_mk_per_w) as i128;
    if quickest < 1_000_000 {
        return Err(reader.error(
            "heat.chips",
            "the smaller heat capacity times the smaller resistance is under a second".into(),
            "a chip on a board takes seconds to warm: for one \"4J/K\" and \"3K/W\"".into(),
        ));
    }
    for (index, step) in heat.throttle.iter().enumerate() {
        let below = index.checked_sub(1).map(|below| &heat.throttle[below]);
        let above = below.is_none_or(|last| step.at_mc > last.at_mc && step.until_mc >= last.until_mc);
        if step.until_mc >= step.at_mc || !above || !(1..=1000).contains(&step.share_permille) {
            let [table, at, ..] = THROTTLES[index];
            return Err(reader.error(
                at,
                format!(
                    "{table} does not begin above where it ends, above the step before, with some speed left"
                ),
                "at = \"90C\", until = \"85C\", speed = \"50%\", for one".into(),
            ));
        }
    }
    Ok(())
}

fn page_cache(c: &Config, reader: &Reader) -> Result<(), ProfileError> {
    let Some(cache) = &c.host.page_cache else { return Ok(()) };
    let key = if cache.driver { "host.driver_cache" } else { "host.page_cache" };
    if cache.driver && reader.value("host.page_cache").is_some() {
        return Err(reader.error(
            key,
            "there are both host.page_cache and host.driver_cache".into(),
            "one of them: the first to see a request would leave the other nothing".into(),
        ));
    }
    let ordered = cache.background_bytes <= cache.dirty_bytes && cache.dirty_bytes <= cache.bytes / 2;
    if !ordered || cache.bytes < 64 << 20 {
        return Err(reader.error(
            key,
            format!("{key} is {}", units::BYTES.write(cache.bytes)),
            "at least 64MiB, and twice host.dirty, which is at least host.background".into(),
        ));
    }
    if cache.request_bytes % 4096 != 0 || cache.request_bytes == 0 || cache.request_bytes > 1 << 30 {
        return Err(reader.error(
            "host.request",
            format!("host.request is {}", units::BYTES.write(cache.request_bytes as u64)),
            "a multiple of 4KiB, at most 1GiB".into(),
        ));
    }
    if c.capacity_bytes / PAGE_BYTES >= u32::MAX as u64 {
        return Err(reader.error(
            key,
            format!("{key} is before a drive of {}", units::BYTES.write(c.capacity_bytes)),
            "remove it: such a cache knows the pages of 17TB at most".into(),
        ));
    }
    if cache.memory_bytes_per_s == 0 {
        return Err(reader.error("host.memory", "host.memory is 0".into(), "\"10GB/s\", for one".into()));
    }
    Ok(())
}

fn space(c: &Config, reader: &Reader) -> Result<(), ProfileError> {
    let nand = &c.nand;
    let unit = nand.unit_bytes(CellMode::Native);
    if c.controller.write_buffer_bytes < 2 * unit || c.controller.write_buffer_bytes > 1 << 40 {
        return Err(reader.error(
            "controller.write_buffer",
            format!("controller.write_buffer is {}", units::BYTES.write(c.controller.write_buffer_bytes)),
            format!("at least two program units, {}, and at most 1TiB", units::BYTES.write(2 * unit)),
        ));
    }
    let slc = nand.superblock_bytes(CellMode::Slc);
    let (main, capacity_key) = match c.cache.mode {
        CacheMode::PureSlc => (CellMode::Slc, "capacity_pure_slc"),
        _ => (CellMode::Native, "capacity"),
    };
    let total = nand.superblocks() as u64;
    let set_aside = c.static_superblocks();
    let kept = c.kept_superblocks(c.cache.when_full.sorts());
    let data = c.capacity_bytes.div_ceil(nand.superblock_bytes(main));
    let gb = |bytes: u64| format!("{}GB", units::write_decimal((bytes + 5_000_000) / 10_000_000, 100));
    let usable = total.saturating_sub(kept);
    if c.capacity_bytes == 0 || data > usable {
        let max_bytes = usable * nand.superblock_bytes(main);
        return Err(reader.error(
            capacity_key,
            format!(
                "{capacity_key} is {}, but {total} superblocks of {} leave no spare blocks for it",
                gb(c.capacity_bytes),
                units::BYTES.write(nand.superblock_bytes(main)),
            ),
            format!("at most {} on this geometry, or a larger nand.blocks_per_plane", gb(max_bytes)),
        ));
    }
    if data + set_aside > usable {
        return Err(reader.error(
            "cache.static",
            format!("cache.static is {}, set aside beside the capacity", gb(c.cache.static_bytes)),
            format!("at most {} on this geometry", gb((usable - data) * slc)),
        ));
    }
    let dynamic = match c.cache.mode {
        CacheMode::DynamicSlc | CacheMode::HybridSlc => c.cache.dynamic_bytes / slc,
        _ => 0,
    };
    if dynamic + set_aside > usable {
        let bits = nand.bits_per_cell;
        let max_bytes = (usable - set_aside) * slc;
        return Err(reader.error(
            "cache.dynamic",
            format!(
                "cache.dynamic is {} but the drive can hold {} as pSLC",
                gb(c.cache.dynamic_bytes),
                gb(max_bytes)
            ),
            format!("at most {} on this geometry with {bits} bits a cell", gb(max_bytes)),
        ));
    }
    Ok(())
}
