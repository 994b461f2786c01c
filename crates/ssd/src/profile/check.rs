//! What must hold between keys: the geometry gives the capacity, the cells hold the cache, and space can always be
//! reclaimed.

use super::error::{CheckFault, PlacedFault};
use super::keys::{STATES, THROTTLES};
use super::reader::Reader;
use crate::config::*;
use crate::units::{Nanos, PAGE_BYTES};
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
        self.cache.reuse == Reuse::AsFreed && !self.cache.dead_until_idle && !self.cache.off_when_worn
    }
}

/// `is_run`: the drive is run as it is, so its map must be able to number its pages.
pub fn check(c: &Config, reader: &Reader, is_run: bool) -> Result<(), PlacedFault> {
    // What the drive has room for is asked last: it follows from all else.
    let of_size = [numbers, page_cache];
    let checks = [geometry, times, aging, controller, policy, usb, power_states, thermal];
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

fn geometry(c: &Config, reader: &Reader) -> Result<(), PlacedFault> {
    let nand = &c.nand;
    let fail = |key: &str, fault: CheckFault| Err(reader.at(key, fault));
    if nand.dies % nand.channels != 0 {
        let fault = CheckFault::DiesOnChannels { dies: nand.dies, channels: nand.channels };
        return fail("nand.dies", fault);
    }
    if nand.page_bytes == 0 || nand.page_bytes as u64 % PAGE_BYTES != 0 || nand.page_bytes > 1 << 18 {
        return fail("nand.page", CheckFault::Page { bytes: nand.page_bytes });
    }
    if nand.pages_per_block % nand.bits_per_cell != 0 {
        let fault = CheckFault::PagesPerBlock { pages: nand.pages_per_block, bits: nand.bits_per_cell };
        return fail("nand.pages_per_block", fault);
    }
    if nand.bits_per_cell == 1 && c.cache.mode != CacheMode::PureXlc {
        return fail("nand.bits_per_cell", CheckFault::CacheOfOneBit);
    }
    if c.cache.dynamic_mlc && nand.bits_per_cell < 3 {
        return fail("cache.dynamic_cells", CheckFault::TwoBitsOfTwo { bits: nand.bits_per_cell });
    }
    if c.cache.dynamic_mlc && nand.mlc.is_none() {
        return fail("cache.dynamic_cells", CheckFault::NoTimesOfTwoBits);
    }
    if nand.bus_mts == 0 {
        return fail("nand.bus", CheckFault::NoBus);
    }
    mapping(c, reader)
}

/// The map's unit.
fn mapping(c: &Config, reader: &Reader) -> Result<(), PlacedFault> {
    let nand = &c.nand;
    let (bytes, page_bytes) = (nand.map_unit.size(), nand.page_bytes as u64);
    let planes_bytes = nand.planes as u64 * page_bytes;
    if !nand.map_unit.begins_at(planes_bytes) {
        return Err(reader.at("ftl.map_unit", CheckFault::MapUnitBeyondPlanes { bytes, planes_bytes }));
    }
    if nand.independent_reads && bytes > page_bytes {
        return Err(reader.at("ftl.map_unit", CheckFault::MapUnitBeyondPage { bytes, page_bytes }));
    }
    Ok(())
}

/// Whether the map can number all units.
fn numbers(c: &Config, reader: &Reader) -> Result<(), PlacedFault> {
    let nand = &c.nand;
    let max = u32::MAX as u64;
    let units = nand.superblocks() as u64 * nand.superblock_pages(CellMode::Native);
    if units >= max || nand.superblock_pages(CellMode::Native) >= max {
        let fault = CheckFault::TooManyMapUnits { units, unit_bytes: nand.map_unit.size(), max };
        return Err(reader.at("nand.blocks_per_plane", fault));
    }
    Ok(())
}

fn times(c: &Config, reader: &Reader) -> Result<(), PlacedFault> {
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
    if let Some(mlc) = &c.nand.mlc {
        times.extend([("nand.mlc.read", mlc.read), ("nand.mlc.program", mlc.program), ("nand.mlc.erase", mlc.erase)]);
    }
    times.extend(c.cache.idle.map(|idle| ("cache.idle.threshold", idle.threshold)));
    let longest = Nanos::from_secs(24 * 3600);
    match times.into_iter().find(|(_, time)| *time == Nanos::ZERO || *time > longest) {
        Some((key, time)) => Err(reader.at(key, CheckFault::Time { key, time })),
        None => Ok(()),
    }
}

/// How data age.
fn aging(c: &Config, reader: &Reader) -> Result<(), PlacedFault> {
    let nand = &c.nand;
    let times = [
        ("nand.slc.retention", nand.slc.retention),
        ("nand.mlc.retention", nand.mlc.and_then(|mlc| mlc.retention)),
        ("nand.native.retention", nand.native.retention),
        ("ftl.refresh", c.ftl.refresh),
    ];
    let longest = Nanos::from_secs(20 * 365 * 86_400);
    for (key, time) in times {
        if let Some(time) = time.filter(|time| *time == Nanos::ZERO || *time > longest) {
            return Err(reader.at(key, CheckFault::Age { key, time }));
        }
    }
    let permille = nand.retry_growth_permille;
    if !(1010..=1_000_000).contains(&permille) {
        return Err(reader.at("nand.retry_growth", CheckFault::RetryGrowth { permille }));
    }
    if c.ftl.refresh.is_some() && c.cache.idle.is_none() {
        return Err(reader.at("ftl.refresh", CheckFault::RefreshWithoutIdle));
    }
    Ok(())
}

fn controller(c: &Config, reader: &Reader) -> Result<(), PlacedFault> {
    let controller = &c.controller;
    let fail = |key: &str, fault: CheckFault| Err(reader.at(key, fault));
    if controller.read_ahead_bytes > 1 << 30 {
        return fail("controller.read_ahead", CheckFault::ReadAhead { bytes: controller.read_ahead_bytes });
    }
    let rates = [
        ("controller.slc_write", controller.slc_write_bytes_per_s, "as fast as the dies program"),
        ("controller.native_write", controller.native_write_bytes_per_s, "as fast as the dies program"),
        ("controller.copy_in", controller.copy_in_bytes_per_s, "a write is answered when the link has brought it"),
    ];
    if let Some((key, _, none)) = rates.into_iter().find(|(_, rate, _)| *rate == Some(0)) {
        return fail(key, CheckFault::NoRate { key, none });
    }
    if controller.flush > Nanos::from_secs(60) {
        return fail("controller.flush", CheckFault::Flush { time: controller.flush });
    }
    if controller.map.is_some_and(|map| map.bytes < PAGE_BYTES) {
        return fail("controller.map", CheckFault::MapBelowPage);
    }
    Ok(())
}

fn policy(c: &Config, reader: &Reader) -> Result<(), PlacedFault> {
    let cache = &c.cache;
    let fail = |key: &str, fault: CheckFault| Err(reader.at(key, fault));
    if !(10..=990).contains(&cache.host_share_permille) {
        let permille = cache.host_share_permille;
        return fail("cache.host_share", CheckFault::HostShare { permille });
    }
    let overheads =
        [("cache.fold_overhead", cache.fold_overhead_permille), ("ftl.gc_overhead", c.ftl.gc_overhead_permille)];
    if let Some((key, permille)) = overheads.into_iter().find(|(_, of)| !(100..=100_000).contains(of)) {
        return fail(key, CheckFault::Overhead { key, permille });
    }
    if c.ftl.erase_every_bytes > c.capacity_bytes {
        let (bytes, max_bytes) = (c.ftl.erase_every_bytes, c.capacity_bytes);
        return fail("ftl.erase_every", CheckFault::EraseEvery { bytes, max_bytes });
    }
    let (from_permille, to_permille) = (cache.shrink_from_permille, cache.shrink_to_permille);
    if from_permille > to_permille || to_permille > 1000 {
        return fail("cache.shrink_to", CheckFault::Shrink { from_permille, to_permille });
    }
    let when_full = cache.when_full.word();
    let waits = cache.when_full.overflow() != Overflow::Native;
    if waits && cache.reuse != Reuse::AsFreed {
        return fail("cache.reuse", CheckFault::ReuseUnderWait { when_full });
    }
    if waits && cache.dead_until_idle {
        return fail("cache.dead", CheckFault::DeadUnderWait { when_full });
    }
    if waits && cache.off_when_worn {
        return fail("cache.worn", CheckFault::WornUnderWait { when_full });
    }
    if cache.off_when_worn && c.wear.is_none() {
        return fail("cache.worn", CheckFault::WornWithoutCycles);
    }
    let (bytes, max_bytes) = (cache.fold_batch_bytes, cache.most_bytes());
    if max_bytes > 0 && bytes > max_bytes {
        return fail("cache.fold_batch", CheckFault::FoldBatch { bytes, max_bytes });
    }
    if cache.idle.is_some_and(|idle| idle.rate_bytes_per_s == Some(0)) {
        return fail("cache.idle.rate", CheckFault::NoIdleRate);
    }
    Ok(())
}

fn usb(c: &Config, reader: &Reader) -> Result<(), PlacedFault> {
    if c.usb.is_some() && !matches!(c.link, Link::Usb { .. }) {
        let keys = ["usb.transport", "usb.discard", "usb.behind"];
        let key = keys.into_iter().find(|key| reader.value(key).is_some()).unwrap_or(keys[0]);
        return Err(reader.at(key, CheckFault::NoBridge { key }));
    }
    Ok(())
}

fn power_states(c: &Config, reader: &Reader) -> Result<(), PlacedFault> {
    let Some(power) = &c.power else { return Ok(()) };
    let mut before = Nanos::ZERO;
    for (state, [table, after, ..]) in power.states.iter().zip(STATES) {
        let Some(state) = state else { continue };
        if state.after <= before {
            return Err(reader.at(after, CheckFault::PowerStateOrder { table }));
        }
        before = state.after;
    }
    Ok(())
}

fn thermal(c: &Config, reader: &Reader) -> Result<(), PlacedFault> {
    let Some(heat) = &c.heat else { return Ok(()) };
    if c.power.is_none() {
        return Err(reader.at("heat.ambient", CheckFault::HeatWithoutPower));
    }
    // Steps of a tenth of a second follow only what is slower.
    let quickest = heat.chips_mj_per_k.min(heat.board_mj_per_k) as i128
        * heat.chips_to_board_mk_per_w.min(heat.board_to_air_mk_per_w) as i128;
    if quickest < 1_000_000 {
        return Err(reader.at("heat.chips", CheckFault::HeatTooQuick));
    }
    for (index, step) in heat.throttle.iter().enumerate() {
        let below = index.checked_sub(1).map(|below| &heat.throttle[below]);
        let above = below.is_none_or(|last| step.at_mc > last.at_mc && step.until_mc >= last.until_mc);
        if step.until_mc >= step.at_mc || !above || !(1..=1000).contains(&step.share_permille) {
            let [table, at, ..] = THROTTLES[index];
            return Err(reader.at(at, CheckFault::Throttle { table }));
        }
    }
    Ok(())
}

fn page_cache(c: &Config, reader: &Reader) -> Result<(), PlacedFault> {
    let Some(cache) = &c.host.page_cache else { return Ok(()) };
    let fail = |key: &str, fault: CheckFault| Err(reader.at(key, fault));
    let key = if cache.driver { "host.driver_cache" } else { "host.page_cache" };
    if cache.driver && reader.value("host.page_cache").is_some() {
        return fail(key, CheckFault::TwoPageCaches);
    }
    let ordered = cache.background_bytes <= cache.dirty_bytes && cache.dirty_bytes <= cache.bytes / 2;
    if !ordered || cache.bytes < 64 << 20 {
        return fail(key, CheckFault::PageCache { key, bytes: cache.bytes });
    }
    if cache.request_bytes % 4096 != 0 || cache.request_bytes == 0 || cache.request_bytes > 1 << 30 {
        return fail("host.request", CheckFault::HostRequest { bytes: cache.request_bytes });
    }
    if c.capacity_bytes / PAGE_BYTES >= u32::MAX as u64 {
        return fail(key, CheckFault::PageCacheOfLargeDrive { key, drive_bytes: c.capacity_bytes });
    }
    if cache.memory_bytes_per_s == 0 {
        return fail("host.memory", CheckFault::NoHostMemory);
    }
    Ok(())
}

fn space(c: &Config, reader: &Reader) -> Result<(), PlacedFault> {
    let nand = &c.nand;
    let fail = |key: &str, fault: CheckFault| Err(reader.at(key, fault));
    let (bytes, unit_bytes) = (c.controller.write_buffer_bytes, nand.unit_bytes(CellMode::Native));
    if bytes < 2 * unit_bytes || bytes > 1 << 40 {
        return fail("controller.write_buffer", CheckFault::WriteBuffer { bytes, unit_bytes });
    }
    let slc = nand.superblock_bytes(CellMode::Slc);
    let dynamic_bytes = nand.superblock_bytes(c.cache.dynamic_cells());
    let (main, key) = match c.cache.mode {
        CacheMode::PureSlc => (CellMode::Slc, "capacity_pure_slc"),
        _ => (CellMode::Native, "capacity"),
    };
    let superblocks = nand.superblocks() as u64;
    let superblock_bytes = nand.superblock_bytes(main);
    let set_aside = c.static_superblocks();
    let kept = c.kept_superblocks(c.cache.when_full.sorts());
    let data = c.capacity_bytes.div_ceil(superblock_bytes);
    let usable = superblocks.saturating_sub(kept);
    if c.capacity_bytes == 0 || data > usable {
        let (bytes, max_bytes) = (c.capacity_bytes, usable * superblock_bytes);
        return fail(key, CheckFault::Capacity { key, bytes, superblocks, superblock_bytes, max_bytes });
    }
    if data + set_aside > usable {
        let fault = CheckFault::StaticCache { bytes: c.cache.static_bytes, max_bytes: (usable - data) * slc };
        return fail("cache.static", fault);
    }
    let dynamic = match c.cache.mode {
        CacheMode::DynamicSlc | CacheMode::HybridSlc => c.cache.dynamic_bytes / dynamic_bytes,
        _ => 0,
    };
    if dynamic + set_aside > usable {
        let (bytes, max_bytes) = (c.cache.dynamic_bytes, (usable - set_aside) * dynamic_bytes);
        let fault = CheckFault::DynamicCache { bytes, max_bytes, bits: nand.bits_per_cell };
        return fail("cache.dynamic", fault);
    }
    Ok(())
}
