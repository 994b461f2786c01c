//! Every key of a profile: how it is read into a [`Config`], and how it is written out again.

use super::reader::{Reader, Switch};
use super::{host, nearest, power, units, ProfileError};
use crate::config::*;
use crate::ftl::cache::Overflow;
use crate::units::{Nanos, PAGE_BYTES};
use crate::words::Words;

/// Every key there is.
pub fn all() -> impl Iterator<Item = &'static str> + Clone {
    KEYS.iter().chain(power::KEYS).chain(host::KEYS).copied()
}

/// The drive's own. `*.idle` and `*.suspend` may also be a word in the place of their table.
const KEYS: &[&str] = &[
    "base",
    "name",
    "capacity",
    "capacity_pure_slc",
    "link",
    "nand.part",
    "nand.channels",
    "nand.dies",
    "nand.planes",
    "nand.blocks_per_plane",
    "nand.pages_per_block",
    "nand.page",
    "nand.bits_per_cell",
    "nand.bus",
    "nand.slc.read",
    "nand.slc.program",
    "nand.slc.erase",
    "nand.native.read",
    "nand.native.program",
    "nand.native.erase",
    "nand.plane_reads",
    "nand.suspend",
    "nand.suspend.program",
    "nand.suspend.erase",
    "nand.suspend.limit",
    "controller.part",
    "controller.write_buffer",
    "controller.write_cache",
    "controller.plp",
    "controller.flush",
    "controller.native_write",
    "controller.cores",
    "controller.command",
    "controller.read",
    "controller.write",
    "controller.read_ahead",
    "controller.map",
    "controller.map_access",
    "ftl.gc",
    "ftl.reserve_superblocks",
    "cache.mode",
    "cache.static",
    "cache.dynamic",
    "cache.dynamic_least",
    "cache.shrink_from",
    "cache.shrink_to",
    "cache.when_full",
    "cache.host_share",
    "cache.fold_overhead",
    "cache.fold_below",
    "cache.fold_batch",
    "cache.reuse",
    "cache.dead",
    "cache.idle",
    "cache.idle.threshold",
    "cache.idle.rate",
    "cache.idle.residue",
];

/// Words for false and true, the default first.
const DEAD: Switch = [("free-at-once", false), ("until-idle", true)];
const PLANE_READS: Switch = [("together", false), ("independent", true)];
const SWITCH: Switch = [("on", true), ("off", false)];
const PLP: Switch = [("off", false), ("on", true)];
const LINKS: &[&str] = &["sata150", "sata300", "sata600", "pcie3x4", "pcie4x4", "pcie5x4"];

impl Reader<'_> {
    fn timing(&self, mode: &str) -> Result<CellTiming, ProfileError> {
        let time = |what: &str| self.quantity(&format!("nand.{mode}.{what}"), None, units::time);
        Ok(CellTiming { read: time("read")?, program: time("program")?, erase: time("erase")? })
    }

    fn suspend(&self) -> Result<Option<Suspend>, ProfileError> {
        if let Some(value) = self.value("nand.suspend") {
            return match value.text.as_str() {
                "none" => Ok(None),
                other => Err(self.error(
                    "nand.suspend",
                    format!("nand.suspend is \"{other}\""),
                    "\"none\", or a table with program, erase and limit".into(),
                )),
            };
        }
        if !self.has_table("nand.suspend") {
            return Ok(None);
        }
        Ok(Some(Suspend {
            program: self.quantity("nand.suspend.program", None, units::time)?,
            erase: self.quantity("nand.suspend.erase", None, units::time)?,
            limit: self.count("nand.suspend.limit", 1, 1_000_000)?,
        }))
    }

    fn idle(&self) -> Result<Option<Idle>, ProfileError> {
        if let Some(value) = self.value("cache.idle") {
            return match value.text.as_str() {
                "never" => Ok(None),
                other => Err(self.error(
                    "cache.idle",
                    format!("cache.idle is \"{other}\""),
                    "\"never\", or a table with threshold and optionally rate and residue".into(),
                )),
            };
        }
        if !self.has_table("cache.idle") {
            return Ok(None);
        }
        let rate = match self.value("cache.idle.rate") {
            Some(_) => Some(self.quantity("cache.idle.rate", None, units::rate)?),
            None => None,
        };
        Ok(Some(Idle {
            threshold: self.quantity("cache.idle.threshold", None, units::time)?,
            rate_bytes_per_s: rate,
            residue_bytes: self.quantity("cache.idle.residue", Some(0), units::bytes)?,
        }))
    }

    fn map(&self) -> Result<Option<MapCache>, ProfileError> {
        match self.value("controller.map") {
            None => return Ok(None),
            Some(value) if value.text == "dram" => return Ok(None),
            Some(_) => {}
        }
        Ok(Some(MapCache {
            bytes: self.quantity("controller.map", None, units::bytes)?,
            access: self.quantity("controller.map_access", Some(Nanos::ZERO), units::time)?,
        }))
    }

    fn controller(&self) -> Result<Controller, ProfileError> {
        let command = self.quantity("controller.command", None, units::time)?;
        Ok(Controller {
            write_buffer_bytes: self.quantity("controller.write_buffer", None, units::bytes)?,
            write_cache: self.switch("controller.write_cache", SWITCH)?,
            cores: self.count("controller.cores", 1, 64)?,
            read: self.quantity("controller.read", Some(command), units::time)?,
            write: self.quantity("controller.write", Some(command), units::time)?,
            command,
            power_loss_protection: self.switch("controller.plp", PLP)?,
            flush: self.quantity("controller.flush", Some(Nanos::ZERO), units::time)?,
            native_write_bytes_per_s: match self.value("controller.native_write") {
                Some(value) if value.text != "none" => {
                    Some(self.quantity("controller.native_write", None, units::rate)?)
                }
                _ => None,
            },
            read_ahead_bytes: self.quantity("controller.read_ahead", Some(0), units::bytes)?,
            map: self.map()?,
        })
    }

    fn link(&self) -> Result<Link, ProfileError> {
        let text = &self.needed("link")?.text;
        parse_link(text).ok_or_else(|| {
            let near = nearest(text, LINKS.iter().copied());
            let hint = format!(
                "did you mean \"{near}\"? SATA: sata150, sata300, sata600; PCIe: pcie1 to pcie6 \
                 with x1, x2, x4, x8 or x16"
            );
            self.error("link", format!("link is \"{text}\", which is unknown"), hint)
        })
    }

    /// Everything as the keys say, unchecked beyond each key's own form.
    pub fn config(&self) -> Result<Config, ProfileError> {
        let share = |key: &str, default: u64| {
            self.quantity(key, Some(default), units::share).map(|permille| permille as u32)
        };
        let bits = self.count("nand.bits_per_cell", 1, 5)?;
        let mode = self.word("cache.mode", None)?;
        let native = self.quantity("capacity", None, units::bytes)?;
        let capacity = match mode {
            CacheMode::PureSlc => {
                let whole = native / bits as u64 / 1_000_000_000 * 1_000_000_000;
                self.quantity("capacity_pure_slc", Some(whole), units::bytes)?
            }
            _ => native,
        };
        let overhead = match self.value("cache.fold_overhead") {
            None => 1000,
            Some(value) => units::ratio(&value.text).map_err(|what| {
                self.error("cache.fold_overhead", what, "1.0 is the cost of a direct write".into())
            })?,
        };
        let page = self.quantity("nand.page", None, units::bytes)?;
        let when_full = self.word("cache.when_full", Some(WhenFull::DirectThenFold))?;
        // A cache that is the only way in is used again as it is freed, and gives back what the data in native cells need,
        // from the first byte on.
        let (shrinks_from, reuse) = match when_full.overflow() {
            Overflow::Wait => (0, Reuse::AsFreed),
            Overflow::Native => (1000, Reuse::AfterIdle),
        };
        let bus = self.quantity("nand.bus", None, units::transfers)?;
        Ok(Config {
            name: self.needed("name")?.text.clone(),
            capacity_bytes: capacity / PAGE_BYTES * PAGE_BYTES,
            link: self.link()?,
            nand: Nand {
                channels: self.count("nand.channels", 1, 64)?,
                dies: self.count("nand.dies", 1, 1024)?,
                planes: self.count("nand.planes", 1, 16)?,
                blocks_per_plane: self.count("nand.blocks_per_plane", 8, 1 << 20)?,
                pages_per_block: self.count("nand.pages_per_block", 1, 1 << 16)?,
                page_bytes: page.min(u32::MAX as u64) as u32,
                bits_per_cell: bits,
                bus_mts: bus.min(u32::MAX as u64) as u32,
                slc: self.timing("slc")?,
                native: self.timing("native")?,
                suspend: self.suspend()?,
                independent_reads: self.switch("nand.plane_reads", PLANE_READS)?,
            },
            controller: self.controller()?,
            ftl: Ftl {
                gc: self.word("ftl.gc", Some(VictimRule::Greedy))?,
                reserve_superblocks: self.count("ftl.reserve_superblocks", 3, 1 << 16)?,
            },
            cache: Cache {
                mode,
                static_bytes: self.quantity("cache.static", Some(0), units::bytes)?,
                dynamic_bytes: self.quantity("cache.dynamic", Some(0), units::bytes)?,
                shrink_from_permille: share("cache.shrink_from", shrinks_from)?,
                shrink_to_permille: share("cache.shrink_to", 1000)?,
                dynamic_least_bytes: self.quantity("cache.dynamic_least", Some(0), units::bytes)?,
                when_full,
                host_share_permille: share("cache.host_share", 500)?,
                fold_overhead_permille: overhead.min(u32::MAX as u64) as u32,
                fold_below_bytes: self.quantity("cache.fold_below", Some(0), units::bytes)?,
                fold_batch_bytes: self.quantity("cache.fold_batch", Some(0), units::bytes)?,
                reuse: self.word("cache.reuse", Some(reuse))?,
                dead_until_idle: self.switch("cache.dead", DEAD)?,
                idle: self.idle()?,
            },
            power: power::power(self)?,
            heat: power::heat(self)?,
            wear: power::wear(self)?,
            host: host::read(self)?,
        })
    }
}

fn parse_link(text: &str) -> Option<Link> {
    if let Some(rate) = text.strip_prefix("sata") {
        let mbps = rate.parse::<u32>().ok().filter(|rate| [150, 300, 600].contains(rate))? * 10;
        return Some(Link::Sata { mbps });
    }
    let (generation, lanes) = text.strip_prefix("pcie")?.split_once('x')?;
    let generation = generation.parse().ok().filter(|g| (1..=6).contains(g))?;
    let lanes = lanes.parse().ok().filter(|l| [1, 2, 4, 8, 16].contains(l))?;
    Some(Link::Pcie { generation, lanes })
}

fn name_of(value: bool, known: Switch) -> &'static str {
    known.iter().find(|(_, other)| *other == value).expect("either has a name").0
}

/// The configuration as a profile that stands alone.
pub fn write(c: &Config) -> String {
    let (nand, cache) = (&c.nand, &c.cache);
    let link = match c.link {
        Link::Sata { mbps } => format!("sata{}", mbps / 10),
        Link::Pcie { generation, lanes } => format!("pcie{generation}x{lanes}"),
    };
    let mut out = String::new();
    let mut line = |text: String| {
        out.push_str(&text);
        out.push('\n');
    };
    line(format!("name = {}", toml::Value::from(c.name.as_str())));
    let capacity = match cache.mode {
        // The native capacity is not known any more, and not needed in this mode.
        CacheMode::PureSlc => c.capacity_bytes * nand.bits_per_cell as u64,
        _ => c.capacity_bytes,
    };
    line(format!("capacity = \"{}\"", units::write_bytes(capacity)));
    if cache.mode == CacheMode::PureSlc {
        line(format!("capacity_pure_slc = \"{}\"", units::write_bytes(c.capacity_bytes)));
    }
    line(format!("link = \"{link}\""));
    line("\n[nand]".into());
    line(format!("channels = {}", nand.channels));
    line(format!("dies = {}", nand.dies));
    line(format!("planes = {}", nand.planes));
    line(format!("blocks_per_plane = {}", nand.blocks_per_plane));
    line(format!("pages_per_block = {}", nand.pages_per_block));
    line(format!("page = \"{}\"", units::write_bytes(nand.page_bytes as u64)));
    line(format!("bits_per_cell = {}", nand.bits_per_cell));
    line(format!("bus = \"{}MT/s\"", nand.bus_mts));
    line(format!("plane_reads = \"{}\"", name_of(nand.independent_reads, PLANE_READS)));
    for (name, timing) in [("slc", &nand.slc), ("native", &nand.native)] {
        line(format!("\n[nand.{name}]"));
        line(format!("read = \"{}\"", units::write_time(timing.read)));
        line(format!("program = \"{}\"", units::write_time(timing.program)));
        line(format!("erase = \"{}\"", units::write_time(timing.erase)));
    }
    if let Some(suspend) = nand.suspend {
        line("\n[nand.suspend]".into());
        line(format!("program = \"{}\"", units::write_time(suspend.program)));
        line(format!("erase = \"{}\"", units::write_time(suspend.erase)));
        line(format!("limit = {}", suspend.limit));
    }
    line("\n[controller]".into());
    line(format!("write_buffer = \"{}\"", units::write_bytes(c.controller.write_buffer_bytes)));
    line(format!("write_cache = \"{}\"", name_of(c.controller.write_cache, SWITCH)));
    line(format!("plp = \"{}\"", name_of(c.controller.power_loss_protection, PLP)));
    line(format!("flush = \"{}\"", units::write_time(c.controller.flush)));
    let native_write = c.controller.native_write_bytes_per_s.map_or("none".into(), units::write_rate);
    line(format!("native_write = \"{native_write}\""));
    line(format!("cores = {}", c.controller.cores));
    line(format!("command = \"{}\"", units::write_time(c.controller.command)));
    line(format!("read = \"{}\"", units::write_time(c.controller.read)));
    line(format!("write = \"{}\"", units::write_time(c.controller.write)));
    line(format!("read_ahead = \"{}\"", units::write_bytes(c.controller.read_ahead_bytes)));
    match c.controller.map {
        None => line("map = \"dram\"".into()),
        Some(map) => {
            line(format!("map = \"{}\"", units::write_bytes(map.bytes)));
            line(format!("map_access = \"{}\"", units::write_time(map.access)));
        }
    }
    line("\n[ftl]".into());
    line(format!("gc = \"{}\"", c.ftl.gc.word()));
    line(format!("reserve_superblocks = {}", c.ftl.reserve_superblocks));
    line("\n[cache]".into());
    line(format!("mode = \"{}\"", cache.mode.word()));
    line(format!("static = \"{}\"", units::write_bytes(cache.static_bytes)));
    line(format!("dynamic = \"{}\"", units::write_bytes(cache.dynamic_bytes)));
    line(format!("dynamic_least = \"{}\"", units::write_bytes(cache.dynamic_least_bytes)));
    line(format!("shrink_from = \"{}%\"", units::write_decimal(cache.shrink_from_permille, 10)));
    line(format!("shrink_to = \"{}%\"", units::write_decimal(cache.shrink_to_permille, 10)));
    line(format!("when_full = \"{}\"", cache.when_full.word()));
    line(format!("host_share = \"{}%\"", units::write_decimal(cache.host_share_permille, 10)));
    line(format!("fold_overhead = {}", units::write_decimal(cache.fold_overhead_permille, 1000)));
    line(format!("fold_below = \"{}\"", units::write_bytes(cache.fold_below_bytes)));
    line(format!("fold_batch = \"{}\"", units::write_bytes(cache.fold_batch_bytes)));
    line(format!("reuse = \"{}\"", cache.reuse.word()));
    line(format!("dead = \"{}\"", name_of(cache.dead_until_idle, DEAD)));
    match cache.idle {
        None => line("idle = \"never\"".into()),
        Some(idle) => {
            line("\n[cache.idle]".into());
            line(format!("threshold = \"{}\"", units::write_time(idle.threshold)));
            if let Some(rate) = idle.rate_bytes_per_s {
                line(format!("rate = \"{}\"", units::write_rate(rate)));
            }
            line(format!("residue = \"{}\"", units::write_bytes(idle.residue_bytes)));
        }
    }
    power::write(c, &mut line);
    host::write(&c.host, &mut line);
    out
}
