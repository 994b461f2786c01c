//! Every key of a profile, once: its name, its unit or words, its default, and where it goes in a [`Config`].

use super::error::{PlacedFault, ProfileError, ReadFault};
use super::nearest::nearest;
use super::reader::{Reader, Switch};
use super::units;
use super::visit::{quoted, Toml, Visit};
use crate::config::*;
use crate::units::{MapUnit, Nanos};

/// Words for two values, the default first.
const DYNAMIC_CELLS: Switch = [("slc", false), ("mlc", true)];
const DEAD: Switch = [("free-at-once", false), ("until-idle", true)];
const WORN: Switch = [("goes-on", false), ("off", true)];
const PLANE_READS: Switch = [("together", false), ("independent", true)];
const PLP: Switch = [("off", false), ("on", true)];
const REWRITES: Switch = [("programmed", false), ("merged", true)];
const WRITE_CACHE: Switch = [("on", true), ("off", false)];
const LINKS: &[&str] = &[
    "sata150",
    "sata300",
    "sata600",
    "pcie3x4",
    "pcie4x4",
    "pcie5x4",
    "usb5g",
    "usb10g",
    "usb20g",
    "ufs-g3x2",
    "ufs-g4x2",
    "ufs-g5x2",
    "emmc-hs400",
    "emmc-hs400-cqe",
    "sd-uhs1",
];
const TRANSPORT: Switch = [("uas", false), ("bot", true)];
const DISCARD: Switch = [("passed", false), ("dropped", true)];
const BACKGROUND: Switch = [("stops", false), ("goes-on", true)];
/// Tables of the deeper power states, and their keys.
pub const STATES: [[&str; 6]; POWER_STATES] = [
    [
        "power.state1",
        "power.state1.after",
        "power.state1.draws",
        "power.state1.entry",
        "power.state1.exit",
        "power.state1.background",
    ],
    [
        "power.state2",
        "power.state2.after",
        "power.state2.draws",
        "power.state2.entry",
        "power.state2.exit",
        "power.state2.background",
    ],
    [
        "power.state3",
        "power.state3.after",
        "power.state3.draws",
        "power.state3.entry",
        "power.state3.exit",
        "power.state3.background",
    ],
];
/// Tables of the steps of thermal throttling, and their keys.
pub const THROTTLES: [[&str; 4]; 3] = [
    ["heat.throttle1", "heat.throttle1.at", "heat.throttle1.until", "heat.throttle1.speed"],
    ["heat.throttle2", "heat.throttle2.at", "heat.throttle2.until", "heat.throttle2.speed"],
    ["heat.throttle3", "heat.throttle3.at", "heat.throttle3.until", "heat.throttle3.speed"],
];

/// A configuration on its way from or to a profile, in which capacities are apart.
#[derive(Default)]
struct Draft {
    base: Option<u64>,
    capacity: u64,
    capacity_pure_slc: Option<u64>,
    config: Config,
}

/// Every key that a profile may have.
pub fn all() -> Vec<&'static str> {
    let mut keys = Vec::new();
    visit(&mut Visit::List(&mut keys), &mut Draft::default());
    keys
}

/// Keys that are one of several words, such as `cache.mode`, and these words.
pub fn words() -> Vec<(&'static str, Vec<&'static str>)> {
    let mut words = Vec::new();
    visit(&mut Visit::Words(&mut words), &mut Draft::default());
    words
}

/// Everything as the keys say, unchecked beyond each key's own form. What is wrong with keys is one error.
pub fn read(reader: &Reader) -> Result<Config, ProfileError> {
    let mut draft = Draft::default();
    visit(&mut Visit::Read(reader), &mut draft);
    ProfileError::of(reader.source, reader.faults.take())?;
    let Draft { capacity, capacity_pure_slc, mut config, .. } = draft;
    let bytes = match config.cache.mode {
        CacheMode::PureSlc => capacity_pure_slc.unwrap_or_else(|| {
            let whole = 1_000_000_000;
            capacity / config.nand.bits_per_cell as u64 / whole * whole
        }),
        _ => capacity,
    };
    let unit = config.nand.map_unit;
    config.capacity_bytes = unit.bytes(unit.whole(bytes));
    Ok(config)
}

/// The configuration as a profile that stands alone.
pub fn write(config: &Config) -> String {
    let pure_slc = config.cache.mode == CacheMode::PureSlc;
    let mut draft = Draft {
        base: None,
        // The native capacity is not known any more in this mode, and not needed.
        capacity: config.capacity_bytes * if pure_slc { config.nand.bits_per_cell as u64 } else { 1 },
        capacity_pure_slc: pure_slc.then_some(config.capacity_bytes),
        config: config.clone(),
    };
    let mut toml = Toml::default();
    visit(&mut Visit::Write(&mut toml), &mut draft);
    toml.text
}

/// Visit the keys in the order in which they are written.
fn visit(v: &mut Visit, draft: &mut Draft) {
    let c = &mut draft.config;
    // Followed when profiles are gathered; what is merged has none.
    v.key("base", &mut draft.base, |_| Ok(None), |_| None);
    v.key("name", &mut c.name, |r| Ok(r.needed("name")?.text.clone()), |name| Some(quoted(name)));
    v.quantity("capacity", &mut draft.capacity, units::BYTES, None);
    v.optional("capacity_pure_slc", &mut draft.capacity_pure_slc, units::BYTES);
    v.key("link", &mut c.link, read_link, |link| Some(quoted(&link_word(link))));
    let behind_usb = |r: &Reader| {
        let is_given = |key| r.value(key).is_some();
        r.value("link").is_some_and(|link| link.text.starts_with("usb"))
            || is_given("usb.transport")
            || is_given("usb.discard")
            || is_given("usb.behind")
    };
    if let Some(usb) = v.table(&mut c.usb, behind_usb) {
        v.switch("usb.transport", &mut usb.bulk_only, TRANSPORT);
        v.switch("usb.discard", &mut usb.drops_discards, DISCARD);
        v.key("usb.behind", &mut usb.behind, read_behind, |link| link.as_ref().map(|link| quoted(&link_word(link))));
    }
    nand(v, &mut c.nand);
    controller(v, &mut c.controller);
    v.word("ftl.gc", &mut c.ftl.gc, Some(VictimRule::Greedy));
    ratio(v, "ftl.gc_overhead", &mut c.ftl.gc_overhead_permille, 1000);
    v.quantity("ftl.erase_every", &mut c.ftl.erase_every_bytes, units::BYTES, Some(0));
    v.key("ftl.map_unit", &mut c.nand.map_unit, read_map_unit, |unit| Some(quoted(&units::BYTES.write(unit.size()))));
    v.count("ftl.reserve_superblocks", &mut c.ftl.reserve_superblocks, 3, 1 << 16, None);
    v.optional_or("never", "ftl.refresh", &mut c.ftl.refresh, units::TIME);
    cache(v, &mut c.cache);
    if let Some(power) = v.table(&mut c.power, |r| r.has_table("power")) {
        v.quantity("power.active", &mut power.active_mw, units::POWER, None);
        v.quantity("power.idle", &mut power.idle_mw, units::POWER, None);
        v.quantity("power.idle_after", &mut power.idle_after, units::TIME, None);
        v.quantity("power.exit", &mut power.exit, units::TIME, Some(Nanos::ZERO));
        v.quantity("power.die_read", &mut power.die_read_mw, units::POWER, None);
        v.quantity("power.die_program", &mut power.die_program_mw, units::POWER, None);
        v.quantity("power.die_erase", &mut power.die_erase_mw, units::POWER, None);
        v.quantity("power.data", &mut power.data_pj_per_byte, units::ENERGY_PER_BYTE, None);
        let idle_mw = power.idle_mw;
        for (state, [table, after, draws, entry, exit, background]) in power.states.iter_mut().zip(STATES) {
            let Some(state) = v.table(state, |r| r.has_table(table)) else { break };
            v.quantity(after, &mut state.after, units::TIME, None);
            v.quantity(draws, &mut state.draws_mw, units::POWER, Some(idle_mw));
            v.quantity(entry, &mut state.entry, units::TIME, Some(Nanos::ZERO));
            v.quantity(exit, &mut state.exit, units::TIME, Some(Nanos::ZERO));
            v.switch(background, &mut state.background, BACKGROUND);
        }
    }
    if let Some(heat) = v.table(&mut c.heat, |r| r.has_table("heat")) {
        thermal(v, heat);
    }
    if let Some(wear) = v.table(&mut c.wear, |r| r.has_table("wear")) {
        v.count("wear.slc_cycles", &mut wear.slc_cycles, 1, 1_000_000, None);
        v.count("wear.native_cycles", &mut wear.native_cycles, 1, 1_000_000, None);
    }
    host(v, &mut c.host);
}

fn nand(v: &mut Visit, c: &mut Nand) {
    // Parts were made into the other keys before.
    v.key("nand.part", &mut (), |_| Ok(()), |_| None);
    v.count("nand.channels", &mut c.channels, 1, 64, None);
    v.count("nand.dies", &mut c.dies, 1, 1024, None);
    v.count("nand.planes", &mut c.planes, 1, 16, None);
    v.count("nand.blocks_per_plane", &mut c.blocks_per_plane, 8, 1 << 20, None);
    v.count("nand.pages_per_block", &mut c.pages_per_block, 1, 1 << 16, None);
    v.quantity("nand.page", &mut c.page_bytes, units::BYTES, None);
    v.count("nand.bits_per_cell", &mut c.bits_per_cell, 1, 5, None);
    v.quantity("nand.bus", &mut c.bus_mts, units::TRANSFERS, None);
    v.switch("nand.plane_reads", &mut c.independent_reads, PLANE_READS);
    ratio(v, "nand.retry_growth", &mut c.retry_growth_permille, 1500);
    v.count("nand.retries", &mut c.retries, 1, 100, Some(16));
    v.quantity("nand.read_disturb", &mut c.read_disturb, units::TIME, Some(Nanos::ZERO));
    v.quantity("nand.slc.read", &mut c.slc.read, units::TIME, None);
    v.quantity("nand.slc.program", &mut c.slc.program, units::TIME, None);
    v.quantity("nand.slc.erase", &mut c.slc.erase, units::TIME, None);
    v.optional("nand.slc.retention", &mut c.slc.retention, units::TIME);
    if let Some(mlc) = v.table(&mut c.mlc, |r| r.has_table("nand.mlc")) {
        v.quantity("nand.mlc.read", &mut mlc.read, units::TIME, None);
        v.quantity("nand.mlc.program", &mut mlc.program, units::TIME, None);
        v.quantity("nand.mlc.erase", &mut mlc.erase, units::TIME, None);
        v.optional("nand.mlc.retention", &mut mlc.retention, units::TIME);
    }
    v.quantity("nand.native.read", &mut c.native.read, units::TIME, None);
    v.quantity("nand.native.program", &mut c.native.program, units::TIME, None);
    v.quantity("nand.native.erase", &mut c.native.erase, units::TIME, None);
    v.optional("nand.native.retention", &mut c.native.retention, units::TIME);
    let none = |r: &Reader| r.instead_of_table("nand.suspend", "none", "program, erase and limit");
    v.key("nand.suspend", &mut (), none, |_| None);
    if let Some(suspend) = v.table(&mut c.suspend, |r| r.value("nand.suspend").is_none() && r.has_table("nand.suspend"))
    {
        v.quantity("nand.suspend.program", &mut suspend.program, units::TIME, None);
        v.quantity("nand.suspend.erase", &mut suspend.erase, units::TIME, None);
        v.count("nand.suspend.limit", &mut suspend.limit, 1, 1_000_000, None);
    }
}

fn controller(v: &mut Visit, c: &mut Controller) {
    v.key("controller.part", &mut (), |_| Ok(()), |_| None);
    v.quantity("controller.write_buffer", &mut c.write_buffer_bytes, units::BYTES, None);
    v.switch("controller.write_cache", &mut c.write_cache, WRITE_CACHE);
    v.switch("controller.plp", &mut c.power_loss_protection, PLP);
    v.switch("controller.rewrites", &mut c.merges_rewrites, REWRITES);
    v.quantity("controller.flush", &mut c.flush, units::TIME, Some(Nanos::ZERO));
    v.optional_or("none", "controller.slc_write", &mut c.slc_write_bytes_per_s, units::RATE);
    v.optional_or("none", "controller.native_write", &mut c.native_write_bytes_per_s, units::RATE);
    v.optional_or("none", "controller.copy_in", &mut c.copy_in_bytes_per_s, units::RATE);
    v.count("controller.cores", &mut c.cores, 1, 64, None);
    v.quantity("controller.command", &mut c.command, units::TIME, None);
    v.quantity("controller.read", &mut c.read, units::TIME, Some(c.command));
    v.quantity("controller.write", &mut c.write, units::TIME, Some(c.command));
    v.quantity("controller.latency", &mut c.latency, units::TIME, Some(Nanos::ZERO));
    v.quantity("controller.read_ahead", &mut c.read_ahead_bytes, units::BYTES, Some(0));
    let mut bytes = c.map.map(|map| map.bytes);
    v.optional_or("dram", "controller.map", &mut bytes, units::BYTES);
    if let Some(map) = v.table(&mut c.map, |_| bytes.is_some()) {
        map.bytes = bytes.unwrap_or_default();
        v.quantity("controller.map_access", &mut map.access, units::TIME, Some(Nanos::ZERO));
    }
}

fn cache(v: &mut Visit, c: &mut Cache) {
    v.word("cache.mode", &mut c.mode, None);
    v.word("cache.when_full", &mut c.when_full, Some(WhenFull::DirectThenFold));
    v.quantity("cache.static", &mut c.static_bytes, units::BYTES, Some(0));
    v.quantity("cache.dynamic", &mut c.dynamic_bytes, units::BYTES, Some(0));
    v.switch("cache.dynamic_cells", &mut c.dynamic_mlc, DYNAMIC_CELLS);
    // A cache that is the only way in is used again as it is freed, and gives back what the data in native cells need, from
    // the first byte on, but for a twentieth: there is always a way in.
    let (smallest, shrinks_from, reuse) = match c.when_full.overflow() {
        Overflow::Wait => (c.dynamic_bytes / 20, 0, Reuse::AsFreed),
        Overflow::Switch => (0, 1000, Reuse::AsFreed),
        Overflow::Native => (0, 1000, Reuse::AfterIdle),
    };
    v.quantity("cache.dynamic_least", &mut c.dynamic_least_bytes, units::BYTES, Some(smallest));
    v.quantity("cache.shrink_from", &mut c.shrink_from_permille, units::SHARE, Some(shrinks_from));
    v.quantity("cache.shrink_to", &mut c.shrink_to_permille, units::SHARE, Some(1000));
    v.quantity("cache.host_share", &mut c.host_share_permille, units::SHARE, Some(500));
    ratio(v, "cache.fold_overhead", &mut c.fold_overhead_permille, 1000);
    v.quantity("cache.fold_below", &mut c.fold_below_bytes, units::BYTES, Some(0));
    v.quantity("cache.fold_batch", &mut c.fold_batch_bytes, units::BYTES, Some(0));
    v.word("cache.reuse", &mut c.reuse, Some(reuse));
    v.switch("cache.dead", &mut c.dead_until_idle, DEAD);
    v.switch("cache.worn", &mut c.off_when_worn, WORN);
    let table = "threshold and optionally rate, residue and collect";
    let never = |r: &Reader| r.instead_of_table("cache.idle", "never", table);
    let idles = c.idle.is_some();
    v.key("cache.idle", &mut (), never, |_| (!idles).then(|| quoted("never")));
    if let Some(idle) = v.table(&mut c.idle, |r| r.value("cache.idle").is_none() && r.has_table("cache.idle")) {
        v.quantity("cache.idle.threshold", &mut idle.threshold, units::TIME, None);
        v.optional("cache.idle.rate", &mut idle.rate_bytes_per_s, units::RATE);
        v.quantity("cache.idle.residue", &mut idle.residue_bytes, units::BYTES, Some(0));
        v.quantity("cache.idle.collect", &mut idle.collect_bytes, units::BYTES, Some(0));
    }
}

fn thermal(v: &mut Visit, c: &mut Thermal) {
    v.quantity("heat.ambient", &mut c.ambient_mc, units::TEMPERATURE, None);
    v.quantity("heat.chips", &mut c.chips_mj_per_k, units::HEAT_CAPACITY, None);
    v.quantity("heat.board", &mut c.board_mj_per_k, units::HEAT_CAPACITY, None);
    v.quantity("heat.chips_to_board", &mut c.chips_to_board_mk_per_w, units::HEAT_RESISTANCE, None);
    v.quantity("heat.board_to_air", &mut c.board_to_air_mk_per_w, units::HEAT_RESISTANCE, None);
    for (index, [table, at, until, speed]) in THROTTLES.into_iter().enumerate() {
        let mut step = c.throttle.get(index).copied();
        let Some(step) = v.table(&mut step, |r| r.has_table(table)) else { break };
        v.quantity(at, &mut step.at_mc, units::TEMPERATURE, None);
        v.quantity(until, &mut step.until_mc, units::TEMPERATURE, None);
        v.quantity(speed, &mut step.share_permille, units::SHARE, None);
        c.throttle.truncate(index);
        c.throttle.push(*step);
    }
}

fn host(v: &mut Visit, c: &mut Host) {
    let is_any_given = |r: &Reader, keys: &[&str]| keys.iter().any(|key| r.value(key).is_some());
    if let Some(cpu) = v.table(&mut c.cpu, |r| is_any_given(r, &["host.cores", "host.read", "host.write"])) {
        v.count("host.cores", &mut cpu.cores, 1, 256, None);
        v.quantity("host.read", &mut cpu.read, units::TIME, None);
        v.quantity("host.write", &mut cpu.write, units::TIME, None);
    }
    if let Some(cache) = v.table(&mut c.page_cache, |r| is_any_given(r, &["host.page_cache", "host.driver_cache"])) {
        // One for what is not direct, or one before everything; the other keys are of either.
        let size = |driver: bool| (cache.driver == driver).then_some(cache.bytes);
        let (mut page, mut driver) = (size(false), size(true));
        v.optional("host.page_cache", &mut page, units::BYTES);
        v.optional("host.driver_cache", &mut driver, units::BYTES);
        cache.driver = driver.is_some();
        cache.bytes = driver.or(page).unwrap_or_default();
        v.quantity("host.background", &mut cache.background_bytes, units::BYTES, Some(cache.bytes / 10));
        v.quantity("host.dirty", &mut cache.dirty_bytes, units::BYTES, Some(cache.bytes / 5));
        v.quantity("host.request", &mut cache.request_bytes, units::BYTES, Some(512 << 10));
        v.count("host.depth", &mut cache.depth, 1, 4096, Some(32));
        v.quantity("host.memory", &mut cache.memory_bytes_per_s, units::RATE, Some(10_000_000_000));
    }
}

fn read_map_unit(reader: &Reader) -> Result<MapUnit, PlacedFault> {
    let key = "ftl.map_unit";
    if reader.value(key).is_none() {
        return Ok(MapUnit::default());
    }
    let bytes = reader.quantity(key, units::BYTES)?;
    MapUnit::try_from(bytes).map_err(|_| reader.at(key, ReadFault::MapUnit { bytes }))
}

/// A ratio, in permille.
fn ratio(v: &mut Visit, key: &'static str, permille: &mut u32, default: u32) {
    let read = |reader: &Reader| {
        let Some(value) = reader.value(key) else { return Ok(default) };
        match units::ratio(&value.text) {
            Some(permille) => Ok(permille.min(u32::MAX as u64) as u32),
            None => Err(reader.at(key, ReadFault::Ratio { key, text: value.text.clone() })),
        }
    };
    v.key(key, permille, read, |permille| Some(units::write_decimal(*permille as u64, 1000)));
}

fn read_behind(reader: &Reader) -> Result<Option<Link>, PlacedFault> {
    let key = "usb.behind";
    match reader.value(key) {
        None => Ok(None),
        Some(value) if value.text.starts_with("usb") => {
            Err(reader.at(key, ReadFault::BridgeBehindBridge { text: value.text.clone() }))
        }
        Some(value) => link_of(key, &value.text, reader).map(Some),
    }
}

fn read_link(reader: &Reader) -> Result<Link, PlacedFault> {
    link_of("link", &reader.needed("link")?.text, reader)
}

fn link_of(key: &'static str, text: &str, reader: &Reader) -> Result<Link, PlacedFault> {
    parse_link(text).ok_or_else(|| {
        let near = nearest(text, LINKS.iter().copied());
        reader.at(key, ReadFault::UnknownLink { key, text: text.to_string(), near })
    })
}

fn parse_link(text: &str) -> Option<Link> {
    if let Some(rate) = text.strip_prefix("sata") {
        let mbps = rate.parse::<u32>().ok().filter(|rate| [150, 300, 600].contains(rate))? * 10;
        return Some(Link::Sata { mbps });
    }
    if let Some(rate) = text.strip_prefix("usb") {
        let gbps = rate.strip_suffix('g')?.parse::<u32>().ok().filter(|rate| [5, 10, 20].contains(rate))?;
        return Some(Link::Usb { mbps: gbps * 1000 });
    }
    match text {
        "emmc-hs400" => return Some(Link::Emmc { queue: false }),
        "emmc-hs400-cqe" => return Some(Link::Emmc { queue: true }),
        "sd-uhs1" => return Some(Link::Sd),
        _ => {}
    }
    if let Some(gear) = text.strip_prefix("ufs-g") {
        let gear = gear.strip_suffix("x2")?.parse().ok().filter(|gear| (3..=5).contains(gear))?;
        return Some(Link::Ufs { gear });
    }
    let (generation, lanes) = text.strip_prefix("pcie")?.split_once('x')?;
    let generation = generation.parse().ok().filter(|g| (1..=6).contains(g))?;
    let lanes = lanes.parse().ok().filter(|l| [1, 2, 4, 8, 16].contains(l))?;
    Some(Link::Pcie { generation, lanes })
}

fn link_word(link: &Link) -> String {
    match link {
        Link::Sata { mbps } => format!("sata{}", mbps / 10),
        Link::Pcie { generation, lanes } => format!("pcie{generation}x{lanes}"),
        Link::Usb { mbps } => format!("usb{}g", mbps / 1000),
        Link::Ufs { gear } => format!("ufs-g{gear}x2"),
        Link::Emmc { queue } => format!("emmc-hs400{}", if *queue { "-cqe" } else { "" }),
        Link::Sd => "sd-uhs1".into(),
    }
}
