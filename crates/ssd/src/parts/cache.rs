//! The cache: what a controller's firmware does, on cells of so many bits.

use super::quantity::{quantity, written, BYTES, SHARE};
use super::values::Values;
use super::{Controller, Nand, PartsError, Raw};

/// Policies under which every byte goes through the cache.
const FOLDS_FIRST: [&str; 3] = ["fold", "fold-cost-benefit", "static-first"];
/// Policies under which folding goes on beside writes into native cells.
const FOLDS_BESIDE: [&str; 4] = ["direct-while-folding", "fold-beside", "watermarks", "predict-idle"];
/// By the way of folding, and by cells: medians of the rows of docs/accuracy/calibration.csv. Beside writes it costs
/// what a direct program costs: no review tells more, and the SN850 of 1 TB has emptied its cache before it is full, at
/// most 1.1.
pub const FOLD_OVERHEADS: [(&str, &str, f64); 4] = [
    ("direct-then-fold", "TLC", 2.77),
    ("direct-then-fold", "QLC", 1.1),
    ("fold", "TLC", 2.93),
    ("fold", "QLC", 1.1),
];
/// What a share of the capacity is rounded down to.
const CACHE_STEP: u64 = 100_000_000;

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
        values.set(&key, Raw::Text(written(bytes, BYTES)), how);
    }
    if matches!(mode.as_str(), "pure-xlc" | "pure-slc") {
        return Ok(0);
    }
    let (usual, how) = habits.require("when_full")?;
    let when_full = values.set("cache.when_full", usual.clone(), how);
    let reuse = habits.get("reuse").filter(|(reuse, _)| when_full == usual && reuse.text() != "as-freed");
    // The cache is the only way in: it is used again as it is freed, and dead data are freed first.
    let is_only_way_in = matches!(when_full.text().as_str(), "fold" | "fold-cost-benefit");
    let reuse = match is_only_way_in {
        true => ("as-freed".into(), "follows from cache.when_full".into()),
        // A habit of another policy says nothing of this one.
        false => reuse.unwrap_or_else(|| ("after-idle".into(), "assumed".into())),
    };
    values.set("cache.reuse", reuse.0, reuse.1);
    let (overhead, how) = fold_overhead(values.die, habits, &when_full.text(), &usual.text());
    values.set("cache.fold_overhead", overhead, how);
    for key in ["host_share", "dead", "shrink_from", "shrink_to"] {
        let habit = habits.get(key).filter(|_| key != "dead" || !is_only_way_in);
        if let Some((value, how)) = habit {
            values.set(&format!("cache.{key}"), value, how);
        }
    }
    idle(values, habits)?;
    if !matches!(mode.as_str(), "static-slc" | "hybrid-slc") {
        return Ok(0);
    }
    values.current("cache.static").map_or(Ok(0), |size| quantity(&size.text(), BYTES, "cache.static"))
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

/// As drives on the die, or with the controller under the policy of its firmware, show it: of QLC the die comes first,
/// of TLC the controller. Otherwise that of all drives that fold this way.
fn fold_overhead(die: &Nand, habits: Habits, when_full: &str, usual: &str) -> (Raw, String) {
    let way = way_of_folding(when_full);
    if way == "direct-while-folding" {
        let how = "assumed: folding beside writes costs what a direct program costs";
        return (Raw::Decimal(1.0), how.into());
    }
    let of_die = die.fold_overhead.map(|factor| (Raw::Decimal(factor), die.how("fold_overhead")));
    let of_firmware = habits.get("fold_overhead").filter(|_| way == way_of_folding(usual));
    let estimate = match habits.is_qlc {
        true => of_die.or(of_firmware),
        false => of_firmware.or(of_die),
    };
    estimate.unwrap_or_else(|| {
        let cells = if habits.is_qlc { "QLC" } else { "TLC" };
        let (.., median) = FOLD_OVERHEADS
            .into_iter()
            .find(|(other, of, _)| (*other, *of) == (way, cells))
            .expect("a row of each way and cells");
        let how =
            format!("assumed: the median of {cells} drives that do {way} (docs/accuracy/calibration.csv)");
        (Raw::Decimal(median), how)
    })
}
