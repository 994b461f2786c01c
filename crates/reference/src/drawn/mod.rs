//! Random profiles of tiny drives: for every key of a profile, how it is drawn, or why it is not.

pub mod steps;

use std::collections::BTreeMap;

use pslc_ssd::config::*;
use pslc_ssd::{profile, Words};

/// What was drawn so far, by key.
type Drawn = BTreeMap<&'static str, String>;

/// Draws a key from a number and the keys before it; `None`: it is not written. 0 draws what is plainest.
type Draw = fn(u32, &Drawn) -> Option<String>;

/// Keys that no request is answered earlier or later for.
pub const EXEMPT: &[(&str, &str)] = &[
    ("base", "where other keys come from; tests/profile.rs"),
    ("name", "text"),
    ("nand.part", "where other keys come from; tests/test_parts.py"),
    ("controller.part", "as nand.part"),
    ("ftl.map_unit", "the slow drive knows 4 KiB alone; tests/map_unit.rs compares units"),
];

/// The others, each after those that it depends on.
pub const DRAWN: &[(&str, Draw)] = &[
    ("cache.mode", |n, _| match n % 8 {
        0 | 1 => Some(CacheMode::DynamicSlc.word().into()),
        _ => Some(word_of::<CacheMode>(n)),
    }),
    ("link", |n, _| {
        one_of(
            n,
            &[
                "pcie3x1",
                "sata600",
                "pcie4x4",
                "sata300",
                "pcie1x1",
                "pcie2x2",
                "pcie5x1",
                "pcie6x1",
                "usb10g",
                "usb5g",
                "usb20g",
                "ufs-g3x2",
                "ufs-g4x2",
                "ufs-g5x2",
                "emmc-hs400",
                "emmc-hs400-cqe",
                "sd-uhs1",
            ],
        )
    }),
    ("usb.transport", |n, d| usb(d).then(|| one_of(n, &["", "bot", "uas"])).flatten()),
    ("usb.discard", |n, d| usb(d).then(|| one_of(n, &["", "dropped", "passed"])).flatten()),
    ("usb.behind", |n, d| usb(d).then(|| one_of(n, &["", "sata600", "pcie3x1", "sata150", "emmc-hs400"])).flatten()),
    ("nand.channels", |n, _| one_of(n, &["2", "1", "3"])),
    ("nand.dies", |n, d| Some((number(d, "nand.channels") * [2, 1, 3][n as usize % 3]).to_string())),
    ("nand.planes", |n, _| one_of(n, &["1", "2"])),
    ("nand.bits_per_cell", |n, d| {
        if d["cache.mode"] == CacheMode::PureXlc.word() {
            one_of(n, &["3", "1", "2", "4", "5"])
        } else {
            // One bit a cell has no faster mode to be a cache in.
            one_of(n, &["3", "2", "3", "4", "3", "5"])
        }
    }),
    ("nand.blocks_per_plane", |n, _| one_of(n, &["32", "28", "32", "48", "90"])),
    ("nand.pages_per_block", |n, d| Some((number(d, "nand.bits_per_cell") * [1, 1, 2][n as usize % 3]).to_string())),
    ("nand.page", |n, _| one_of(n, &["16KiB", "8KiB", "16KiB"])),
    ("nand.bus", |n, _| one_of(n, &["400MT/s", "100MT/s", "1600MT/s"])),
    ("nand.slc.read", |n, _| one_of(n, &["20us", "31us"])),
    ("nand.slc.program", |n, _| one_of(n, &["150us", "77us"])),
    ("nand.slc.erase", |n, _| one_of(n, &["2ms", "900us"])),
    ("nand.native.read", |n, _| one_of(n, &["50us", "83us"])),
    ("nand.native.program", |n, _| one_of(n, &["1500us", "611us"])),
    ("nand.native.erase", |n, _| one_of(n, &["3ms", "1300us"])),
    ("nand.plane_reads", |n, _| one_of(n, &["", "independent", "together"])),
    ("nand.suspend", |n, _| one_of(n, &["", "", "none"])),
    ("nand.suspend.program", |n, d| suspends(d).then(|| among(n, &["15us", "4us"]))),
    ("nand.suspend.erase", |n, d| suspends(d).then(|| among(n, &["40us", "9us"]))),
    ("nand.suspend.limit", |n, d| suspends(d).then(|| among(n, &["3", "1", "100"]))),
    ("controller.write_buffer", |n, d| Some(bytes([4, 2, 9][n as usize % 3] * unit_bytes(d)))),
    ("controller.write_cache", |n, _| one_of(n, &["", "", "on", "off"])),
    ("controller.plp", |n, _| one_of(n, &["", "", "off", "on"])),
    ("controller.rewrites", |n, _| one_of(n, &["", "", "programmed", "merged", "merged"])),
    ("controller.flush", |n, _| one_of(n, &["", "50us", "1ms"])),
    ("controller.slc_write", |n, _| one_of(n, &["", "", "none", "70MB/s", "300MB/s"])),
    ("controller.copy_in", |n, _| one_of(n, &["", "none", "5GB/s", "300MB/s"])),
    ("controller.native_write", |n, _| one_of(n, &["", "", "none", "20MB/s", "60MB/s"])),
    ("controller.cores", |n, _| one_of(n, &["2", "1", "5"])),
    ("controller.command", |n, _| one_of(n, &["1500ns", "30us"])),
    ("controller.read", |n, _| one_of(n, &["", "900ns", "20us"])),
    ("controller.write", |n, _| one_of(n, &["", "700ns", "25us"])),
    ("controller.latency", |n, _| one_of(n, &["", "", "3us", "40us"])),
    ("controller.read_ahead", |n, _| one_of(n, &["", "", "64KiB", "400KiB", "4KiB"])),
    ("controller.map", |n, _| one_of(n, &["", "", "dram", "4KiB", "8KiB", "1MiB"])),
    ("controller.map_access", |n, _| one_of(n, &["", "700ns"])),
    ("ftl.gc", |n, _| Some(word_of::<VictimRule>(n))),
    ("ftl.reserve_superblocks", |n, _| one_of(n, &["3", "4", "7"])),
    ("cache.static", |n, d| one_of(n, &["2", "1", ""]).filter(|n| !n.is_empty()).map(|n| superblocks(d, &n))),
    ("cache.dynamic", |n, d| one_of(n, &["8", "3", "5", ""]).map(|n| superblocks(d, &n))),
    ("cache.dynamic_least", |n, d| one_of(n, &["", "1", "4"]).map(|n| superblocks(d, &n))),
    ("cache.shrink_from", |n, _| one_of(n, &["", "25%", "41.5%"])),
    ("cache.shrink_to", |n, d| if d.contains_key("cache.shrink_from") { one_of(n, &["", "50%", "80%"]) } else { None }),
    ("cache.when_full", |n, _| Some(word_of::<WhenFull>(n))),
    ("cache.host_share", |n, _| one_of(n, &["", "50%", "21.5%", "90%"])),
    ("cache.fold_overhead", |n, _| one_of(n, &["1.5", "", "2.75"])),
    ("cache.fold_below", |n, d| {
        one_of(n, &["", "5", "9", "14"]).map(|n| bytes(n.parse::<u64>().unwrap() * native_bytes(d)))
    }),
    ("cache.fold_batch", |n, d| {
        if d.contains_key("cache.dynamic") && d["cache.mode"] != "static-slc" {
            one_of(n, &["", "1", "2", "3"]).map(|n| superblocks(d, &n))
        } else {
            None
        }
    }),
    ("cache.reuse", |n, d| {
        if waits(d) {
            Some(Reuse::AsFreed.word().into())
        } else {
            one_of(n, &["", Reuse::AsFreed.word(), Reuse::WhenEmpty.word(), Reuse::AfterIdle.word()])
        }
    }),
    ("cache.dead", |n, d| {
        if waits(d) {
            one_of(n, &["", "free-at-once"])
        } else {
            one_of(n, &["", "free-at-once", "until-idle"])
        }
    }),
    ("cache.worn", |n, d| if waits(d) { None } else { one_of(n, &["", "off", "off", "goes-on"]) }),
    ("wear.slc_cycles", |n, d| d.get("cache.worn").filter(|worn| *worn == "off").map(|_| among(n, &["1", "2"]))),
    ("cache.idle", |n, _| one_of(n, &["", "", "never"])),
    ("cache.idle.threshold", |n, d| idles(d).then(|| among(n, &["5ms", "300us", "40ms"]))),
    ("cache.idle.rate", |n, d| idles(d).then(|| one_of(n, &["", "", "20MB/s"])).flatten()),
    ("cache.idle.residue", |n, d| idles(d).then(|| one_of(n, &["", "80KiB"])).flatten()),
    ("cache.idle.collect", |n, d| {
        let superblocks = idles(d).then(|| one_of(n, &["", "2", "5"])).flatten();
        superblocks.map(|n| bytes(n.parse::<u64>().unwrap() * native_bytes(d)))
    }),
    ("capacity", |n, d| Some(bytes(capacity(d, [900, 1000, 600][n as usize % 3])))),
    ("capacity_pure_slc", |n, d| {
        // Where it is left out, it is a whole number of GB.
        let share = capacity(d, [800, 900, 500][n as usize % 3]) / number(d, "nand.bits_per_cell");
        (d["cache.mode"] == CacheMode::PureSlc.word()).then(|| bytes(share))
    }),
    ("power.active", |n, _| one_of(n, &["", "2W", "6.5W"])),
    ("power.idle", |n, d| draws(d).then(|| among(n, &["50mW", "900mW"]))),
    ("power.idle_after", |n, d| draws(d).then(|| among(n, &["10ms", "1ms"]))),
    ("power.exit", |n, d| draws(d).then(|| one_of(n, &["3ms", "", "400us"])).flatten()),
    ("power.die_read", |n, d| draws(d).then(|| among(n, &["50mW", "700mW"]))),
    ("power.die_program", |n, d| draws(d).then(|| among(n, &["60mW", "900mW"]))),
    ("power.die_erase", |n, d| draws(d).then(|| among(n, &["70mW", "950mW"]))),
    ("power.data", |n, d| draws(d).then(|| among(n, &["500pJ/B", "90nJ/B"]))),
    ("power.state1.after", |n, d| draws(d).then(|| one_of(n, &["", "2ms", "7ms"])).flatten()),
    ("power.state1.draws", |n, d| deepens(d, 1).then(|| one_of(n, &["", "20mW", "300mW"])).flatten()),
    ("power.state1.entry", |n, d| deepens(d, 1).then(|| one_of(n, &["", "1ms", "9ms"])).flatten()),
    ("power.state1.exit", |n, d| deepens(d, 1).then(|| one_of(n, &["", "2ms", "15ms"])).flatten()),
    ("power.state1.background", |n, d| deepens(d, 1).then(|| one_of(n, &["", "goes-on", "goes-on"])).flatten()),
    ("power.state2.after", |n, d| deepens(d, 1).then(|| one_of(n, &["", "8ms", "12ms"])).flatten()),
    ("power.state2.draws", |n, d| deepens(d, 2).then(|| one_of(n, &["", "5mW"])).flatten()),
    ("power.state2.entry", |n, d| deepens(d, 2).then(|| one_of(n, &["", "3ms"])).flatten()),
    ("power.state2.exit", |n, d| deepens(d, 2).then(|| one_of(n, &["", "22ms"])).flatten()),
    ("power.state2.background", |n, d| deepens(d, 2).then(|| one_of(n, &["", "goes-on", "goes-on"])).flatten()),
    ("power.state3.after", |n, d| deepens(d, 2).then(|| one_of(n, &["", "13ms", "20ms"])).flatten()),
    ("power.state3.draws", |n, d| deepens(d, 3).then(|| one_of(n, &["", "1mW"])).flatten()),
    ("power.state3.entry", |n, d| deepens(d, 3).then(|| one_of(n, &["", "4ms"])).flatten()),
    ("power.state3.exit", |n, d| deepens(d, 3).then(|| one_of(n, &["", "40ms"])).flatten()),
    ("power.state3.background", |n, d| deepens(d, 3).then(|| one_of(n, &["", "goes-on"])).flatten()),
    ("heat.ambient", |n, d| draws(d).then(|| one_of(n, &["", "25C", "41.5C"])).flatten()),
    ("heat.chips", |n, d| warms(d).then(|| among(n, &["0.5J/K", "1J/K"]))),
    ("heat.board", |n, d| warms(d).then(|| among(n, &["2J/K", "30J/K"]))),
    ("heat.chips_to_board", |n, d| warms(d).then(|| among(n, &["3K/W", "8K/W"]))),
    ("heat.board_to_air", |n, d| warms(d).then(|| among(n, &["9K/W", "2K/W"]))),
    ("heat.throttle1.at", |n, d| warms(d).then(|| above(d, among(n, &["600", "1000"])))),
    ("heat.throttle1.until", |n, d| throttles(d, 1).then(|| above(d, among(n, &["550", "280"])))),
    ("heat.throttle1.speed", |n, d| throttles(d, 1).then(|| among(n, &["70%", "20%"]))),
    ("heat.throttle2.at", |n, d| {
        throttles(d, 1).then(|| one_of(n, &["1400", "", "1900"])).flatten().map(|at| above(d, at))
    }),
    ("heat.throttle2.until", |n, d| throttles(d, 2).then(|| above(d, among(n, &["560", "1200"])))),
    ("heat.throttle2.speed", |n, d| throttles(d, 2).then(|| among(n, &["10%", "33.3%"]))),
    ("heat.throttle3.at", |n, d| throttles(d, 2).then(|| one_of(n, &["2500", ""])).flatten().map(|at| above(d, at))),
    ("heat.throttle3.until", |n, d| throttles(d, 3).then(|| above(d, among(n, &["1300", "2300"])))),
    ("heat.throttle3.speed", |n, d| throttles(d, 3).then(|| among(n, &["5%", "0.5%"]))),
    ("host.cores", |n, _| one_of(n, &["", "1", "2"])),
    ("host.read", |n, d| d.contains_key("host.cores").then(|| among(n, &["4us", "70us"]))),
    ("host.write", |n, d| d.contains_key("host.cores").then(|| among(n, &["5us", "90us"]))),
    ("host.page_cache", |n, _| one_of(n, &["", "64MiB", "128MiB"])),
    ("host.driver_cache", |n, d| if d.contains_key("host.page_cache") { None } else { one_of(n, &["", "", "64MiB"]) }),
    ("host.dirty", |n, d| caches(d).then(|| one_of(n, &["", "200KiB", "480KiB"])).flatten()),
    ("host.background", |n, d| if d.contains_key("host.dirty") { one_of(n, &["100KiB", "0B"]) } else { None }),
    ("host.request", |n, d| caches(d).then(|| one_of(n, &["", "16KiB", "64KiB"])).flatten()),
    ("host.depth", |n, d| caches(d).then(|| one_of(n, &["", "1", "3"])).flatten()),
    ("host.memory", |n, d| caches(d).then(|| one_of(n, &["", "1GB/s"])).flatten()),
    ("cache.dynamic_cells", |n, d| {
        if number(d, "nand.bits_per_cell") > 2 {
            one_of(n, &["", "slc", "mlc", "mlc"])
        } else {
            one_of(n, &["", "slc"])
        }
    }),
    ("nand.mlc.read", |n, d| two_bits(d).then(|| among(n, &["35us", "44us"]))),
    ("nand.mlc.program", |n, d| two_bits(d).then(|| among(n, &["600us", "390us"]))),
    ("nand.mlc.erase", |n, d| two_bits(d).then(|| among(n, &["2500us", "1100us"]))),
    ("ftl.gc_overhead", |n, _| one_of(n, &["", "1.4", "0.8", "2.25"])),
    ("ftl.erase_every", |n, _| one_of(n, &["", "", "", "", "", "", "", "64KiB", "300KiB", "2MiB"])),
    ("wear.native_cycles", |n, d| d.contains_key("wear.slc_cycles").then(|| among(n, &["1000", "2", "5"]))),
    ("nand.slc.retention", |n, _| one_of(n, &["", "", "", "5ms", "90ms"])),
    ("nand.mlc.retention", |n, d| two_bits(d).then(|| one_of(n, &["", "4ms", "60ms"])).flatten()),
    ("nand.native.retention", |n, _| one_of(n, &["", "", "3ms", "40ms", "900us"])),
    ("nand.retry_growth", |n, _| one_of(n, &["", "1.01", "1.25", "4"])),
    ("nand.retries", |n, _| one_of(n, &["", "1", "7"])),
    ("nand.read_disturb", |n, _| one_of(n, &["", "", "700us", "20ms"])),
    ("ftl.refresh", |n, d| idles(d).then(|| one_of(n, &["", "", "", "never", "4s", "15s"])).flatten()),
];

/// A number that draws this word for a key that nothing before it decides.
pub fn number_of(key: &str, word: &str) -> u32 {
    let (_, draw) = DRAWN.iter().find(|(other, _)| *other == key).expect("a key that is drawn");
    (0..1000).find(|number| draw(*number, &Drawn::new()).as_deref() == Some(word)).expect("a word of it")
}

/// The keys that these numbers set, one for each key of [`DRAWN`].
fn drawn(numbers: &[u32]) -> Drawn {
    let mut drawn = Drawn::new();
    for ((key, draw), number) in DRAWN.iter().zip(numbers) {
        if let Some(value) = draw(*number, &drawn) {
            drawn.insert(key, value);
        }
    }
    drawn
}

/// The profile that these numbers draw; with a page cache it is not that of [`config`], whose is smaller.
pub fn text(numbers: &[u32]) -> String {
    let line = |(key, value): (&&str, &String)| match value.parse::<u64>() {
        Ok(number) => format!("{key} = {number}\n"),
        Err(_) => format!("{key} = \"{value}\"\n"),
    };
    let lines = drawn(numbers);
    std::iter::once("name = \"tiny\"\n".into()).chain(lines.iter().map(line)).collect()
}

/// The drive that these numbers draw; an error where the profile's check refuses it.
pub fn config(numbers: &[u32]) -> Result<Config, profile::ProfileError> {
    let drawn = drawn(numbers);
    let overrides: Vec<(String, String)> = drawn.iter().map(|(key, value)| (key.to_string(), value.clone())).collect();
    let mut config = profile::load("tiny.toml", "name = \"tiny\"", &|_| None, &overrides)?.config;
    if let Some(cache) = &mut config.host.page_cache {
        // A profile's page cache is larger than these drives. What is not said follows from its size.
        let said = |key| drawn.contains_key(key);
        cache.bytes /= 64;
        cache.background_bytes = if said("host.background") { cache.background_bytes } else { cache.bytes / 10 };
        cache.dirty_bytes = if said("host.dirty") { cache.dirty_bytes } else { cache.bytes / 5 };
    }
    Ok(config)
}

fn one_of(n: u32, values: &[&str]) -> Option<String> {
    Some(among(n, values)).filter(|value| !value.is_empty())
}

fn among(n: u32, values: &[&str]) -> String {
    values[n as usize % values.len()].into()
}

pub fn word_of<T: Words>(n: u32) -> String {
    T::ALL[n as usize % T::ALL.len()].word().into()
}

fn number(drawn: &Drawn, key: &str) -> u64 {
    drawn[key].parse().unwrap()
}

fn bytes(count: u64) -> String {
    format!("{count}B")
}

fn multi_plane_bytes(drawn: &Drawn) -> u64 {
    let page = if drawn["nand.page"] == "8KiB" { 8 } else { 16 };
    (page << 10) * number(drawn, "nand.planes")
}

fn unit_bytes(drawn: &Drawn) -> u64 {
    multi_plane_bytes(drawn) * number(drawn, "nand.bits_per_cell")
}

fn native_bytes(drawn: &Drawn) -> u64 {
    multi_plane_bytes(drawn) * number(drawn, "nand.dies") * number(drawn, "nand.pages_per_block")
}

/// That many superblocks of the cache.
fn superblocks(drawn: &Drawn, count: &str) -> String {
    bytes(count.parse::<u64>().unwrap() * native_bytes(drawn) / number(drawn, "nand.bits_per_cell"))
}

/// A share of the most that the check lets through, in permille.
fn capacity(drawn: &Drawn, permille: u64) -> u64 {
    let set_aside = if drawn["cache.mode"] == "static-slc" || drawn["cache.mode"] == "hybrid-slc" { 2 } else { 0 };
    let sorts = WhenFull::ALL.iter().any(|policy| policy.word() == drawn["cache.when_full"] && policy.sorts());
    let kept = number(drawn, "ftl.reserve_superblocks") + 4 + sorts as u64 + set_aside;
    let blocks = number(drawn, "nand.blocks_per_plane") - kept;
    blocks * permille / 1000 * native_bytes(drawn)
}

/// Whether what is full must be emptied, or filled up, for the host to go on.
fn waits(drawn: &Drawn) -> bool {
    let policy = WhenFull::ALL.iter().find(|policy| policy.word() == drawn["cache.when_full"]);
    policy.unwrap().overflow() != Overflow::Native
}

fn two_bits(drawn: &Drawn) -> bool {
    drawn.get("cache.dynamic_cells").is_some_and(|cells| cells == "mlc")
}

fn suspends(drawn: &Drawn) -> bool {
    !drawn.contains_key("nand.suspend")
}

fn idles(drawn: &Drawn) -> bool {
    !drawn.contains_key("cache.idle")
}

fn draws(drawn: &Drawn) -> bool {
    drawn.contains_key("power.active")
}

fn usb(drawn: &Drawn) -> bool {
    drawn["link"].starts_with("usb")
}

fn deepens(drawn: &Drawn, state: u32) -> bool {
    drawn.contains_key(format!("power.state{state}.after").as_str())
}

fn warms(drawn: &Drawn) -> bool {
    drawn.contains_key("heat.ambient")
}

fn throttles(drawn: &Drawn, step: u32) -> bool {
    drawn.contains_key(format!("heat.throttle{step}.at").as_str())
}

fn caches(drawn: &Drawn) -> bool {
    drawn.contains_key("host.page_cache") || drawn.contains_key("host.driver_cache")
}

/// So many thousandths of a degree above the air.
fn above(drawn: &Drawn, millidegrees: String) -> String {
    let air = if drawn["heat.ambient"] == "25C" { 25_000 } else { 41_500 };
    let at: u64 = air + millidegrees.parse::<u64>().unwrap();
    format!("{}.{:03}C", at / 1000, at % 1000)
}
