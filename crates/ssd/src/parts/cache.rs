//! The cache: what a controller's firmware does, on cells of so many bits.

use super::quantity::{quantity, written, SHARE};
use super::values::Values;
use super::{Controller, PartsError, Raw};
use crate::profile::units::BYTES;

/// Policies under which every byte goes through the cache.
const FOLDS_FIRST: [&str; 3] = ["fold", "fold-cost-benefit", "static-first"];
/// Policies under which folding goes on beside writes into native cells.
const FOLDS_BESIDE: [&str; 4] = ["direct-while-folding", "fold-beside", "watermarks", "predict-idle"];
/// What a profile may hold.
const MIN_OVERHEAD: f64 = 0.1;
const MAX_OVERHEAD: f64 = 40.0;
/// What a share of the capacity is rounded down to.
const CACHE_STEP: u64 = 100_000_000;
/// Of the capacity, from which on a hybrid cache has its static part alone.
const FULL_PERMILLE: u64 = 980;

/// The policy whose folding is like that of another.
pub fn way_of_folding(when_full: &str) -> &'static str {
    if FOLDS_FIRST.contains(&when_full) {
        return "fold";
    }
    if FOLDS_BESIDE.contains(&when_full) {
        return "direct-while-folding";
    }
    "direct-then-fold"
}

/// The habits of a firmware on cells of so many bits, each with its source.
#[derive(Clone, Copy)]
struct Habits<'a> {
    controller: &'a Controller,
    is_qlc: bool,
}

impl Habits<'_> {
    fn get(&self, key: &str) -> Option<(Raw, String)> {
        let (table, value) = match self.controller.habits_qlc.get(key).filter(|_| self.is_qlc) {
            Some(value) => ("habits_qlc", Some(value)),
            None => ("habits", self.controller.habits.get(key)),
        };
        value.map(|value| (value.clone(), self.controller.how(&format!("{table}.{key}"))))
    }

    fn require(&self, key: &'static str) -> Result<(Raw, String), PartsError> {
        self.get(key).ok_or_else(|| PartsError::NoHabit { controller: self.controller.name.clone(), key })
    }
}

/// Mode, size and policy; bytes of pSLC that are set aside.
pub fn derive(values: &mut Values, capacity: u64) -> Result<u64, PartsError> {
    let bits = values.die.bits_per_cell;
    let habits = Habits { controller: values.controller, is_qlc: bits > 3 };
    let mode = match (values.is_given("cache.static"), values.is_given("cache.dynamic")) {
        (false, false) => {
            let (mode, how) = habits.require("mode")?;
            values.set("cache.mode", mode, how).text()
        }
        (is_static, is_dynamic) => {
            let (mode, sizes) = match (is_static, is_dynamic) {
                (true, true) => ("hybrid-slc", "cache.static and cache.dynamic"),
                (true, false) => ("static-slc", "cache.static"),
                _ => ("dynamic-slc", "cache.dynamic"),
            };
            values.set("cache.mode", mode.into(), format!("derived: {sizes} given")).text()
        }
    };
    let is_sized = values.is_given("cache.static") || values.is_given("cache.dynamic");
    if let (false, "static-slc" | "dynamic-slc") = (is_sized, mode.as_str()) {
        let (share, source) = habits.require("share")?;
        let part = quantity(&share.text(), SHARE, "share")? as f64 / 10_000.0;
        // No more than the cells of the capacity hold at one bit each.
        let bytes = (capacity as f64 * part.min(1.0 / bits as f64)) as u64 / CACHE_STEP * CACHE_STEP;
        let how = format!("{} of the capacity, at most 1/{bits}; {source}", share.text());
        let key = format!("cache.{}", mode.trim_end_matches("-slc"));
        values.set(&key, Raw::Text(written(bytes, BYTES.units)), how);
    }
    if matches!(mode.as_str(), "pure-xlc" | "pure-slc") {
        return Ok(0);
    }
    let (usual, how) = habits.require("when_full")?;
    let when_full = values.set("cache.when_full", usual.clone(), how);
    let reuse = habits.get("reuse").filter(|(reuse, _)| when_full == usual && reuse.text() != "as-freed");
    // The cache is the only way in: it is used again as it is freed, and dead data are freed first.
    let is_only_way_in = matches!(when_full.text().as_str(), "fold" | "fold-cost-benefit");
    let reuse = if is_only_way_in {
        ("as-freed".into(), "follows from cache.when_full".into())
    } else {
        // A habit of another policy says nothing of this one.
        reuse.unwrap_or_else(|| ("after-idle".into(), "assumed".into()))
    };
    values.set("cache.reuse", reuse.0, reuse.1);
    folding(values, &when_full.text());
    for key in ["dead", "shrink_from", "shrink_to"] {
        let habit = habits.get(key).filter(|_| key != "dead" || !is_only_way_in);
        if let Some((value, how)) = habit {
            values.set(&format!("cache.{key}"), value, how);
        }
    }
    if mode == "hybrid-slc" && !is_only_way_in && habits.get("shrink_from").is_none() {
        shrinking(values, capacity, bits)?;
    }
    idle(values, habits)?;
    if !matches!(mode.as_str(), "static-slc" | "hybrid-slc") {
        return Ok(0);
    }
    values.current("cache.static").map_or(Ok(0), |size| quantity(&size.text(), BYTES.units, "cache.static"))
}

/// Fill levels between which the dynamic part of a hybrid cache goes: it takes free space of the host's, and a drive that
/// is nearly full has its static part alone.
fn shrinking(values: &mut Values, capacity: u64, bits: u64) -> Result<(), PartsError> {
    let Some(size) = values.current("cache.dynamic") else { return Ok(()) };
    let needed = bits * quantity(&size.text(), BYTES.units, "cache.dynamic")?;
    let from = FULL_PERMILLE.min(1000 - (1000 * needed / capacity).min(1000));
    let how = format!("derived: the dynamic part takes {bits} times its size of free space");
    values.set("cache.shrink_from", Raw::Text(format!("{}.{}%", from / 10, from % 10)), how);
    let how = "ht4u.net, PCIe round-up of 2017, page 14: a 960 EVO with 10 GB free has its static 4 GB left";
    values.set("cache.shrink_to", Raw::Text(format!("{}%", FULL_PERMILLE / 10)), how.into());
    Ok(())
}

fn idle(values: &mut Values, habits: Habits) -> Result<(), PartsError> {
    if values.is_given("cache.idle") {
        return Ok(());
    }
    let (idle, how) = habits.require("idle")?;
    if idle.text() != "never" {
        values.set("cache.idle.threshold", idle, how);
    } else if !values.gives_table("cache.idle") {
        values.set("cache.idle", idle, how);
    }
    Ok(())
}

/// Space that idle time makes free where the firmware collects then: a share of the capacity beyond what the cache leaves.
pub fn collect(values: &mut Values, capacity: u64) -> Result<(), PartsError> {
    let habits = Habits { controller: values.controller, is_qlc: values.die.bits_per_cell > 3 };
    let (Some((share, how)), Some(_)) = (habits.get("collect"), values.current("cache.idle.threshold")) else {
        return Ok(());
    };
    let kept = values
        .current("cache.fold_below")
        .map_or(Ok(0), |kept| quantity(&kept.text(), BYTES.units, "cache.fold_below"))?;
    let part = quantity(&share.text(), SHARE, "collect")?;
    let bytes = (kept + capacity / 10_000 * part) / CACHE_STEP * CACHE_STEP;
    values.set("cache.idle.collect", Raw::Text(written(bytes, BYTES.units)), how);
    Ok(())
}

/// Die time of a folded program over a native one, and the host's share of it where folding goes on beside its writes:
/// there a folded program takes as long as a native one.
fn folding(values: &mut Values, when_full: &str) {
    let (chip, die) = (values.controller, values.die);
    let way = way_of_folding(when_full);
    let Some(cost) = chip.folding.get(die.cells()).and_then(|ways| ways.get(way)) else { return };
    let how = chip.how(&format!("folding.{}", die.cells()));
    if way == "direct-while-folding" {
        let equal = "assumed: folding beside writes costs what a direct program costs";
        values.set("cache.fold_overhead", Raw::Decimal(1.0), equal.into());
        let percent = (100.0 / (1.0 + cost)).round().clamp(1.0, 99.0);
        values.set("cache.host_share", Raw::Text(format!("{percent}%")), how);
    } else {
        let overhead = (cost * (die.bits_per_cell - 1) as f64).clamp(MIN_OVERHEAD, MAX_OVERHEAD);
        values.set("cache.fold_overhead", Raw::Decimal((overhead * 1e3).round() / 1e3), how);
    }
}
