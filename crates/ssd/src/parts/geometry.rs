//! Dies, channels, blocks and spare.

use super::quantity::{quantity, written};
use super::values::{source, Values};
use super::{PartsError, Raw};
use crate::profile::units::{BYTES, TRANSFERS};

/// As the check of a profile wants beyond the reserve: open, or kept for moving data.
const OPEN_SUPERBLOCKS: u64 = 4;
const RESERVE_SUPERBLOCKS: u64 = 8;
/// What spare space is rounded down to.
const SPARE_STEP: u64 = 100_000_000;

/// `set_aside` bytes of pSLC are the static part of the cache.
pub fn derive(values: &mut Values, capacity: u64, set_aside: u64) -> Result<(), PartsError> {
    let (die, controller) = (values.die, values.controller);
    let bits = values.count("nand.bits_per_cell", die.bits_per_cell, values.die.how("bits_per_cell"))?;
    // Makers sell a die of 512 Gb (64 GiB) as 64 GB: what is binary beyond it is spare.
    let nominal = (die.bytes as f64 / (1u64 << 30) as f64 * 1e9) as u64;
    if 2 * capacity < nominal {
        let [capacity, die, min] = [capacity, nominal, nominal / 2].map(|bytes| written(bytes, BYTES.units));
        return Err(PartsError::TooSmall { capacity, die, min });
    }
    let (needed, mut channels) = dies_on_channels(capacity.div_ceil(nominal), controller.channels);
    let gigabytes = die.bytes >> 30;
    let how = format!("derived: {} over dies of {gigabytes} GB, on whole channels", written(capacity, BYTES.units));
    let dies = values.count("nand.dies", needed, how)?.max(1);
    if dies != needed {
        channels = (1..=controller.channels).rev().find(|count| dies % count == 0).unwrap_or(1);
    }
    let used = if channels == controller.channels {
        String::new()
    } else {
        format!("; {channels} of {} are used by {dies} dies", controller.channels)
    };
    values.set("nand.channels", Raw::Whole(channels as i64), values.controller.how("channels") + &used);
    let planes = values.count("nand.planes", die.planes, values.die.how("planes"))?;
    let pages = values.count("nand.pages_per_block", die.pages_per_block, values.die.how("pages_per_block"))?;
    let page = values.amount("nand.page", die.page_bytes, BYTES, values.die.how("page"))?;
    let block = (page * pages * planes).max(1);
    let superblock = block * dies;
    let blocks = blocks(values, capacity, set_aside * bits, block, superblock)?;
    let native_bytes = superblock as i128 * blocks as i128 - (set_aside * bits) as i128;
    if set_aside == 0 {
        watermark(values, capacity, native_bytes, bits)?;
    }
    let bus = die.bus_mts.min(controller.bus_mts);
    let slower = if die.bus_mts <= controller.bus_mts { values.die.how("bus") } else { values.controller.how("bus") };
    let how = format!("the slower of die and controller, {slower}");
    values.set("nand.bus", Raw::Text(written(bus, TRANSFERS.units)), how);
    values.set("nand.plane_reads", Raw::Text(die.plane_reads.clone()), values.die.how("plane_reads"));
    values.set("ftl.gc", "greedy".into(), "assumed: the usual choice".into());
    values.set("ftl.reserve_superblocks", Raw::Whole(RESERVE_SUPERBLOCKS as i64), "assumed".into());
    Ok(())
}

/// Blocks of each plane: those of the die, or the fewest that host data, the static cache and the moving of data need.
fn blocks(values: &mut Values, capacity: u64, set_aside: u64, block: u64, superblock: u64) -> Result<u64, PartsError> {
    let die = values.die;
    let whole = die.bytes.div_ceil(block);
    let nominal = (whole as f64 * (1.0 + die.spare)) as u64;
    let needed =
        capacity.div_ceil(superblock) + set_aside.div_ceil(superblock) + RESERVE_SUPERBLOCKS + OPEN_SUPERBLOCKS;
    let (blocks, how) = if nominal < needed {
        let what = "the least that hold the capacity, the static cache and the reserve";
        (needed, format!("derived: {what} ({nominal} nominal)"))
    } else {
        let spare = format!("{:.1}% spare ({})", 100.0 * die.spare, source(&die.source, "spare"));
        (nominal, format!("derived: {whole} blocks hold {} Gb, and {spare}", die.bytes >> 27))
    };
    values.count("nand.blocks_per_plane", blocks, how)
}

/// Where the direct phase ends, of a drive whose cache is dynamic alone: beside a static part the dynamic one is small, and
/// the spare space takes it (Samsung's 970 EVO of 500 GB writes 663 MB/s on average with 600 MB/s past its cache).
fn watermark(values: &mut Values, capacity: u64, native_bytes: i128, bits: u64) -> Result<(), PartsError> {
    let is_direct = values.current("cache.when_full").is_some_and(|policy| policy.text() == "direct-then-fold");
    let Some(dynamic) = values.current("cache.dynamic").filter(|_| is_direct) else { return Ok(()) };
    let dynamic = quantity(&dynamic.text(), BYTES.units, "cache.dynamic")?;
    let spare = u64::try_from(native_bytes - capacity as i128).unwrap_or(0);
    if dynamic.saturating_mul(bits) >= capacity {
        // Such a cache lives on the spare space itself.
        let how = format!("derived: a cache of 1/{bits} of the capacity and more takes spare space");
        values.set("cache.fold_below", "0B".into(), how);
    } else if spare > 0 {
        let how = "derived: all spare space, as the direct phases of nine reviewed drives end at capacity - (n-1)S";
        let text = written(spare / SPARE_STEP * SPARE_STEP, BYTES.units);
        values.set("cache.fold_below", Raw::Text(text), how.into());
    }
    Ok(())
}

/// How many dies, at least so many, and over how many channels: every channel has as many as the others. All channels
/// where that takes an eighth more dies at most, otherwise at least half of them.
fn dies_on_channels(min_dies: u64, channels: u64) -> (u64, u64) {
    if min_dies <= channels {
        return (min_dies, min_dies);
    }
    let whole = min_dies.next_multiple_of(channels);
    if whole * 8 <= min_dies * 9 {
        return (whole, channels);
    }
    let fewest = (channels / 2).max(1);
    (min_dies..)
        .find_map(|dies| (fewest..=channels).rev().find(|used| dies % used == 0).map(|used| (dies, used)))
        .expect("a multiple of the channels comes")
}
