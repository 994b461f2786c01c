//! What was moved in each bin, and where that went in the drive.

use std::collections::HashMap;

use pslc_load::record::Series;
use serde::Serialize;

/// Bins at most: a screen has no more columns.
const MAX_BINS: usize = 1200;

/// Bins in their order. Bytes are those of the bin itself, times and states those at its end.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Curve {
    pub end_ns: Vec<u64>,
    pub write_bytes: Vec<u64>,
    pub read_bytes: Vec<u64>,
    /// Of what the host wrote: programmed into pSLC cells, and into native ones.
    pub to_slc_bytes: Vec<u64>,
    pub to_native_bytes: Vec<u64>,
    /// Moved out of the cache while the host waited or wrote, moved in idle time, and moved by garbage collection.
    pub folded_bytes: Vec<u64>,
    pub idle_folded_bytes: Vec<u64>,
    pub collected_bytes: Vec<u64>,
    /// Valid in the cache.
    pub cache_bytes: Vec<u64>,
    pub temperature_millicelsius: Vec<u64>,
    pub throttle_level: Vec<u64>,
    /// What requests spent their time on, and the gauges that causes ask for, by column: at the beginning and at the end of
    /// each bin.
    #[serde(skip)]
    pub account: HashMap<String, Vec<u64>>,
}

impl Curve {
    /// Of a run that began with the columns at `before`.
    pub fn new(series: &Series, names: &[&str], before: &[u64]) -> Curve {
        let columns: HashMap<String, Vec<u64>> = series.columns(names).into_iter().collect();
        let stride = series.len().div_ceil(MAX_BINS).max(1);
        let at_start: HashMap<&str, u64> = names.iter().copied().zip(before.iter().copied()).collect();
        let bins = Bins { columns: &columns, stride };
        let spent = |name: &str| bins.differences(name, at_start.get(name).copied().unwrap_or(0));
        let all_folded = spent("folded_bytes_total");
        let idle_folded_bytes = spent("idle_folded_bytes_total");
        let folded_bytes =
            all_folded.iter().zip(&idle_folded_bytes).map(|(all, idle)| all.saturating_sub(*idle)).collect();
        Curve {
            end_ns: bins.last("end_ns"),
            write_bytes: bins.sums("write_bytes"),
            read_bytes: bins.sums("read_bytes"),
            to_slc_bytes: spent("host_to_slc_bytes_total"),
            to_native_bytes: spent("host_to_native_bytes_total"),
            folded_bytes,
            idle_folded_bytes,
            collected_bytes: spent("gc_bytes_total"),
            cache_bytes: bins.last("slc_valid_bytes"),
            temperature_millicelsius: bins.last("temperature_millicelsius"),
            throttle_level: bins.last("throttle_level"),
            account: at_start
                .iter()
                .filter(|(name, _)| is_of_causes(name))
                .map(|(name, before)| (name.to_string(), [vec![*before], bins.last(name)].concat()))
                .collect(),
        }
    }

    /// By how much a counter grew in bins `from..to`, or what a gauge was in the middle of them.
    pub fn grown(&self, name: &str, from: usize, to: usize) -> f64 {
        match self.account.get(name) {
            Some(values) if name.ends_with("_total") => (values[to] - values[from]) as f64,
            Some(values) => values[(from + to).div_ceil(2)] as f64,
            None => 0.0,
        }
    }

    pub fn len(&self) -> usize {
        self.end_ns.len()
    }

    pub fn is_empty(&self) -> bool {
        self.end_ns.is_empty()
    }
}

/// Whether a column is one that causes are told by.
fn is_of_causes(name: &str) -> bool {
    name.starts_with("waited_") || ["host_silent_ns_total", "flush_wait_ns_total", "slc_superblocks"].contains(&name)
}

/// Columns of a series, so many of its bins taken as one.
struct Bins<'a> {
    columns: &'a HashMap<String, Vec<u64>>,
    stride: usize,
}

impl Bins<'_> {
    fn groups<T>(&self, name: &str, of: impl Fn(&[u64]) -> T) -> Vec<T> {
        self.columns.get(name).map_or_else(Vec::new, |values| values.chunks(self.stride).map(of).collect())
    }

    fn sums(&self, name: &str) -> Vec<u64> {
        self.groups(name, |values| values.iter().sum())
    }

    fn last(&self, name: &str) -> Vec<u64> {
        self.groups(name, |values| *values.last().expect("a group has values"))
    }

    /// By how much a running total grew.
    fn differences(&self, name: &str, mut before: u64) -> Vec<u64> {
        let grown = |total: u64| {
            let more = total - before;
            before = total;
            more
        };
        self.last(name).into_iter().map(grown).collect()
    }
}
