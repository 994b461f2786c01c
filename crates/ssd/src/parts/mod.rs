//! A whole profile from a die, a controller, a capacity and a cache: each value with how it came about.
//!
//! What is given wins, and what follows from it follows from what was given: `nand.dies = 32` moves the channels, blocks
//! and spare along. Units in dotted keys are those of profiles.
//!
//! ```text
//!   quantity   numbers with units
//!   error      why no profile can be made
//!   cache      mode, size and policy: what the controller's firmware does
//!   geometry   dies, channels, blocks, spare and where direct writes end
//!   values     the derivation under way
//! ```

mod cache;
mod error;
mod geometry;
mod quantity;
mod values;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::profile::units::{BYTES, POWER, RATE, TIME};
pub use cache::way_of_folding;
pub use error::PartsError;
use quantity::{drive_size, quantity, written};
use values::{source, Values};

/// A value as a part file or a profile holds it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Raw {
    Whole(i64),
    Decimal(f64),
    Text(String),
}

impl Raw {
    /// As TOML writes it.
    fn literal(&self) -> String {
        match self {
            Raw::Text(text) => format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"")),
            Raw::Whole(number) => number.to_string(),
            Raw::Decimal(number) => format!("{number:?}"),
        }
    }

    fn text(&self) -> String {
        match self {
            Raw::Text(text) => text.clone(),
            other => other.literal(),
        }
    }

    fn whole(&self) -> Option<u64> {
        match self {
            Raw::Whole(number) => u64::try_from(*number).ok(),
            Raw::Decimal(number) => Some(*number as u64),
            Raw::Text(text) => text.trim().parse().ok(),
        }
    }
}

impl From<&str> for Raw {
    fn from(text: &str) -> Raw {
        Raw::Text(text.into())
    }
}

/// tR, tPROG and tBERS in nanoseconds, of a multi-plane operation on one die.
#[derive(Clone, Debug, Deserialize)]
pub struct Times {
    pub read: u64,
    pub program: u64,
    pub erase: u64,
}

/// A NAND die as its part file describes it (python/pslc/device/parts).
#[derive(Clone, Debug, Deserialize)]
pub struct Nand {
    pub name: String,
    pub maker: String,
    pub generation: String,
    pub bits_per_cell: u64,
    /// Nominal, in native mode.
    pub bytes: u64,
    pub planes: u64,
    pub page_bytes: u64,
    pub pages_per_block: u64,
    pub bus_mts: u64,
    pub slc: Times,
    pub native: Times,
    /// Share of blocks beyond the nominal ones.
    pub spare: f64,
    pub plane_reads: String,
    pub slc_cycles: u64,
    pub native_cycles: u64,
    pub read_mw: u64,
    pub program_mw: u64,
    pub erase_mw: u64,
    pub source: BTreeMap<String, String>,
}

/// A controller with the habits of its usual firmware.
#[derive(Clone, Debug, Deserialize)]
pub struct Controller {
    pub name: String,
    pub maker: String,
    pub model: String,
    pub link: String,
    pub channels: u64,
    pub bus_mts: u64,
    pub cores: u64,
    /// Core time of commands, nanoseconds.
    pub command: u64,
    pub read: u64,
    pub write: u64,
    /// Of a command, beyond the time of a core.
    pub latency: u64,
    /// `dram`, or the bytes of the map that are held.
    pub map: String,
    pub map_access: u64,
    pub write_buffer: Option<u64>,
    /// Bytes a second.
    pub slc_write: u64,
    pub copy_in: Option<u64>,
    /// Capacitors carry the buffer.
    pub plp: bool,
    /// Time of a flush beyond the programs of the buffer, nanoseconds.
    pub flush: u64,
    /// By cells: `TLC` or `QLC`.
    pub native_write: BTreeMap<String, u64>,
    /// By cells, then by way of folding: die time of a folded byte over (bits a cell - 1) native programs.
    pub folding: BTreeMap<String, BTreeMap<String, f64>>,
    pub read_ahead: u64,
    pub suspend: Option<BTreeMap<String, Raw>>,
    pub active_mw: u64,
    pub idle_mw: u64,
    pub data_pj_per_byte: u64,
    pub habits: BTreeMap<String, Raw>,
    /// On cells of four bits and more these go first.
    pub habits_qlc: BTreeMap<String, Raw>,
    pub source: BTreeMap<String, String>,
}

impl Nand {
    /// What constants of controllers are told by.
    fn cells(&self) -> &'static str {
        if self.bits_per_cell > 3 {
            "QLC"
        } else {
            "TLC"
        }
    }

    /// Where the value of a key was read.
    fn how(&self, key: &str) -> String {
        format!("{}: {}", self.name, source(&self.source, key))
    }
}

impl Controller {
    /// Where the value of a key was read.
    fn how(&self, key: &str) -> String {
        format!("{}: {}", self.name, source(&self.source, key))
    }
}

/// A value of a profile, and where it comes from: the part and its source, a derivation, or assumed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Derived {
    pub key: String,
    pub value: Raw,
    pub how: String,
}

/// A die and a controller, and what is given of the drive in the order in which it was stated: its `capacity`, and
/// whatever else, by dotted key.
#[derive(Clone, Debug, Deserialize)]
pub struct Parts {
    pub nand: Nand,
    pub controller: Controller,
    pub given: Vec<(String, Raw)>,
}

impl Parts {
    /// Every key of a profile that is not given, in the order of profiles.
    pub fn derive(&self) -> Result<Vec<Derived>, PartsError> {
        let Parts { nand, controller, .. } = self;
        let mut values = Values::new(self);
        let Some(capacity) = values.given("capacity") else {
            return Err(PartsError::NoCapacity);
        };
        let capacity = quantity(&capacity.text(), BYTES.units, "capacity")?;
        let size = drive_size(capacity);
        let name = format!("{} {}, {} {}, {size}", controller.maker, controller.model, nand.maker, nand.generation);
        values.set("name", Raw::Text(name), "from its parts".into());
        values.set("link", Raw::Text(controller.link.clone()), controller.how("link"));
        let set_aside = cache::derive(&mut values, capacity)?;
        geometry::derive(&mut values, capacity, set_aside)?;
        cache::collect(&mut values, capacity)?;
        times(&mut values)?;
        of_controller(&mut values)?;
        body(&mut values)?;
        Ok(values::in_order(values.rows))
    }

    /// A whole profile: what is given and what is derived, in the order of profiles.
    pub fn profile(&self) -> Result<Vec<Derived>, PartsError> {
        let stated =
            |(key, value): &(String, Raw)| Derived { key: key.clone(), value: value.clone(), how: "given".into() };
        let derived = self.derive()?;
        Ok(values::in_order(self.given.iter().map(stated).chain(derived).collect()))
    }
}

/// A profile as TOML, with `[provenance]`.
pub fn to_toml(rows: &[Derived]) -> String {
    let mut tables: Vec<(&str, Vec<String>)> = vec![("", Vec::new())];
    for row in rows {
        let (table, name) = row.key.rsplit_once('.').unwrap_or(("", &row.key));
        let line = format!("{name} = {}", row.value.literal());
        match tables.iter_mut().find(|(other, _)| *other == table) {
            Some((_, lines)) => lines.push(line),
            None => tables.push((table, vec![line])),
        }
    }
    let provenance = rows.iter().map(|row| format!("\"{}\" = {}", row.key, Raw::from(row.how.as_str()).literal()));
    tables.push(("provenance", provenance.collect()));
    let texts = tables.into_iter().map(|(table, lines)| match table {
        "" => lines.join("\n") + "\n",
        _ => format!("[{table}]\n{}\n", lines.join("\n")),
    });
    texts.collect::<Vec<_>>().join("\n")
}

fn times(values: &mut Values) -> Result<(), PartsError> {
    let die = values.die;
    for (mode, times) in [("slc", &die.slc), ("native", &die.native)] {
        for (what, time) in [("read", times.read), ("program", times.program), ("erase", times.erase)] {
            let how = values.die.how(&format!("{mode}.{what}"));
            values.amount(&format!("nand.{mode}.{what}"), time, TIME, how)?;
        }
    }
    if let (Some(suspend), false) = (&values.controller.suspend, values.is_given("nand.suspend")) {
        for key in ["program", "erase", "limit"] {
            if let Some(value) = suspend.get(key) {
                let how = values.controller.how(&format!("suspend.{key}"));
                values.set(&format!("nand.suspend.{key}"), value.clone(), how);
            }
        }
    }
    Ok(())
}

fn of_controller(values: &mut Values) -> Result<(), PartsError> {
    let (c, die) = (values.controller, values.die);
    if c.plp {
        values.set("controller.plp", "on".into(), c.how("plp"));
    } else {
        values.amount("controller.flush", c.flush, TIME, c.how("flush"))?;
    }
    match c.write_buffer {
        Some(bytes) => {
            let how = values.controller.how("write_buffer");
            values.amount("controller.write_buffer", bytes, BYTES, how)?;
        }
        None => {
            let dies = values.current("nand.dies").and_then(Raw::whole).unwrap_or(1);
            let unit = die.planes * die.page_bytes * die.bits_per_cell;
            let bytes = (2 * dies * unit).next_power_of_two().max(1 << 20);
            let how =
                format!("assumed: two native programs of {} KiB for each of {dies} dies, rounded up", unit / 1024);
            values.amount("controller.write_buffer", bytes, BYTES, how)?;
        }
    }
    values.set("controller.cores", Raw::Whole(c.cores as i64), values.controller.how("cores"));
    values.amount("controller.command", c.command, TIME, values.controller.how("command"))?;
    for (key, time) in [("read", c.read), ("write", c.write)] {
        if time != c.command {
            values.amount(&format!("controller.{key}"), time, TIME, values.controller.how(key))?;
        }
    }
    if c.latency > 0 {
        values.amount("controller.latency", c.latency, TIME, values.controller.how("latency"))?;
    }
    if c.read_ahead > 0 {
        values.amount("controller.read_ahead", c.read_ahead, BYTES, values.controller.how("read_ahead"))?;
    }
    let cells = die.cells();
    let native_key = format!("native_write.{cells}");
    let ceilings = [
        ("slc_write", "slc_write", Some(c.slc_write)),
        ("copy_in", "copy_in", c.copy_in),
        ("native_write", native_key.as_str(), c.native_write.get(cells).copied()),
    ];
    for (key, source, rate) in ceilings {
        if let Some(rate) = rate {
            let text = Raw::Text(written(rate, RATE.units));
            values.set(&format!("controller.{key}"), text, values.controller.how(source));
        }
    }
    if c.map != "dram" {
        values.set("controller.map", Raw::Text(c.map.clone()), values.controller.how("map"));
        if c.map_access > 0 {
            values.amount("controller.map_access", c.map_access, TIME, values.controller.how("map_access"))?;
        }
    }
    Ok(())
}

/// Power, heat and wear.
fn body(values: &mut Values) -> Result<(), PartsError> {
    let (c, die) = (values.controller, values.die);
    if !values.gives_table("power") {
        values.amount("power.active", c.active_mw, POWER, values.controller.how("power.active"))?;
        values.amount("power.idle", c.idle_mw, POWER, values.controller.how("power.idle"))?;
        values.set("power.idle_after", "100ms".into(), "assumed".into());
        for (what, milliwatts) in [("read", die.read_mw), ("program", die.program_mw), ("erase", die.erase_mw)] {
            let how = values.die.how(&format!("power.{what}"));
            values.amount(&format!("power.die_{what}"), milliwatts, POWER, how)?;
        }
        let data = format!("{}pJ/B", c.data_pj_per_byte);
        values.set("power.data", Raw::Text(data), values.controller.how("power.data"));
    }
    let link = values.given("link").map_or(c.link.clone(), Raw::text);
    let (kind, board) = if link.starts_with("sata") {
        ("a 2.5-inch case", "60J/K")
    } else {
        ("an M.2 module in still air, under no heat sink", "20J/K")
    };
    // A module without a sink: some 8 K/W to the air; a case spreads the heat.
    for (key, value) in
        [("ambient", "25C"), ("chips", "6J/K"), ("board", board), ("chips_to_board", "3K/W"), ("board_to_air", "8K/W")]
    {
        values.set(&format!("heat.{key}"), value.into(), format!("assumed: {kind}"));
    }
    values.count("wear.slc_cycles", die.slc_cycles, values.die.how("wear.slc_cycles"))?;
    values.count("wear.native_cycles", die.native_cycles, values.die.how("wear.native_cycles"))?;
    Ok(())
}
