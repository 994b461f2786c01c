//! Keys of what the drive draws, how hot that makes it, and how much its cells stand.

use super::reader::Reader;
use super::{units, ProfileError};
use crate::config::{Config, Power, Thermal, ThermalStep, Wear};
use crate::units::Nanos;

pub const KEYS: &[&str] = &[
    "power.active",
    "power.idle",
    "power.idle_after",
    "power.exit",
    "power.die_read",
    "power.die_program",
    "power.die_erase",
    "power.data",
    "heat.ambient",
    "heat.chips",
    "heat.board",
    "heat.chips_to_board",
    "heat.board_to_air",
    "heat.throttle1.at",
    "heat.throttle1.until",
    "heat.throttle1.speed",
    "heat.throttle2.at",
    "heat.throttle2.until",
    "heat.throttle2.speed",
    "heat.throttle3.at",
    "heat.throttle3.until",
    "heat.throttle3.speed",
    "wear.slc_cycles",
    "wear.native_cycles",
];
const STEPS: [&str; 3] = ["heat.throttle1", "heat.throttle2", "heat.throttle3"];

pub fn power(reader: &Reader) -> Result<Option<Power>, ProfileError> {
    if !reader.has_table("power") {
        return Ok(None);
    }
    let power = |key: &str| reader.quantity(key, None, units::power);
    Ok(Some(Power {
        active_mw: power("power.active")?,
        idle_mw: power("power.idle")?,
        idle_after: reader.quantity("power.idle_after", None, units::time)?,
        exit: reader.quantity("power.exit", Some(Nanos::ZERO), units::time)?,
        die_read_mw: power("power.die_read")?,
        die_program_mw: power("power.die_program")?,
        die_erase_mw: power("power.die_erase")?,
        data_pj_per_byte: reader.quantity("power.data", None, units::energy_per_byte)?,
    }))
}

pub fn heat(reader: &Reader) -> Result<Option<Thermal>, ProfileError> {
    if !reader.has_table("heat") {
        return Ok(None);
    }
    if !reader.has_table("power") {
        return Err(reader.error(
            "heat.ambient",
            "there is a table heat but none of power".into(),
            "add [power]: nothing else makes heat".into(),
        ));
    }
    let capacity = |key: &str| reader.quantity(key, None, units::heat_capacity).map(|mj| mj as i64);
    let resistance = |key: &str| reader.quantity(key, None, units::heat_resistance).map(|mk| mk as i64);
    let heat = Thermal {
        ambient_mc: reader.quantity("heat.ambient", None, units::temperature)? as i64,
        chips_mj_per_k: capacity("heat.chips")?,
        board_mj_per_k: capacity("heat.board")?,
        chips_to_board_mk_per_w: resistance("heat.chips_to_board")?,
        board_to_air_mk_per_w: resistance("heat.board_to_air")?,
        throttle: throttle(reader)?,
    };
    // Steps of a tenth of a second follow only what is slower.
    let quickest = heat.chips_mj_per_k.min(heat.board_mj_per_k)
        * heat.chips_to_board_mk_per_w.min(heat.board_to_air_mk_per_w);
    if quickest < 1_000_000 {
        return Err(reader.error(
            "heat.chips",
            "the smaller heat capacity times the smaller resistance is under a second".into(),
            "a chip on a board takes seconds to warm: for one \"4J/K\" and \"3K/W\"".into(),
        ));
    }
    Ok(Some(heat))
}

fn throttle(reader: &Reader) -> Result<Vec<ThermalStep>, ProfileError> {
    let mut steps: Vec<ThermalStep> = Vec::new();
    for table in STEPS {
        if !reader.has_table(table) {
            break;
        }
        let key = |name: &str| format!("{table}.{name}");
        let temperature = |name: &str| reader.quantity(&key(name), None, units::temperature);
        let step = ThermalStep {
            at_mc: temperature("at")? as i64,
            until_mc: temperature("until")? as i64,
            share_permille: reader.quantity(&key("speed"), None, units::share)? as u32,
        };
        let above = steps.last().is_none_or(|last| step.at_mc > last.at_mc && step.until_mc >= last.until_mc);
        if step.until_mc >= step.at_mc || !above || !(1..=1000).contains(&step.share_permille) {
            return Err(reader.error(
                &key("at"),
                format!(
                    "{table} does not begin above where it ends, above the step before, with some speed left"
                ),
                "at = \"90C\", until = \"85C\", speed = \"50%\", for one".into(),
            ));
        }
        steps.push(step);
    }
    Ok(steps)
}

pub fn wear(reader: &Reader) -> Result<Option<Wear>, ProfileError> {
    if !reader.has_table("wear") {
        return Ok(None);
    }
    Ok(Some(Wear {
        slc_cycles: reader.count("wear.slc_cycles", 1, 1_000_000)?,
        native_cycles: reader.count("wear.native_cycles", 1, 1_000_000)?,
    }))
}

pub fn write(c: &Config, line: &mut impl FnMut(String)) {
    if let Some(power) = &c.power {
        line("\n[power]".into());
        line(format!("active = \"{}\"", units::write_power(power.active_mw)));
        line(format!("idle = \"{}\"", units::write_power(power.idle_mw)));
        line(format!("idle_after = \"{}\"", units::write_time(power.idle_after)));
        line(format!("exit = \"{}\"", units::write_time(power.exit)));
        line(format!("die_read = \"{}\"", units::write_power(power.die_read_mw)));
        line(format!("die_program = \"{}\"", units::write_power(power.die_program_mw)));
        line(format!("die_erase = \"{}\"", units::write_power(power.die_erase_mw)));
        line(format!("data = \"{}pJ/B\"", power.data_pj_per_byte));
    }
    if let Some(heat) = &c.heat {
        line("\n[heat]".into());
        line(format!("ambient = \"{}\"", units::write_thousandths(heat.ambient_mc, "C")));
        line(format!("chips = \"{}\"", units::write_thousandths(heat.chips_mj_per_k, "J/K")));
        line(format!("board = \"{}\"", units::write_thousandths(heat.board_mj_per_k, "J/K")));
        let resistance = |mk: i64| units::write_thousandths(mk, "K/W");
        line(format!("chips_to_board = \"{}\"", resistance(heat.chips_to_board_mk_per_w)));
        line(format!("board_to_air = \"{}\"", resistance(heat.board_to_air_mk_per_w)));
        for (step, table) in heat.throttle.iter().zip(STEPS) {
            line(format!("\n[{table}]"));
            line(format!("at = \"{}\"", units::write_thousandths(step.at_mc, "C")));
            line(format!("until = \"{}\"", units::write_thousandths(step.until_mc, "C")));
            line(format!("speed = \"{}%\"", units::write_decimal(step.share_permille, 10)));
        }
    }
    if let Some(wear) = &c.wear {
        line("\n[wear]".into());
        line(format!("slc_cycles = {}", wear.slc_cycles));
        line(format!("native_cycles = {}", wear.native_cycles));
    }
}
