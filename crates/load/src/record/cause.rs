//! The cause of a phase of a simulated drive: what its requests spent most of their time on. One function for the analysis
//! and for the page, without a threshold: the drive accounts each nanosecond of a request to one cause (`pslc_ssd::Cause`).

use pslc_ssd::{Cause, Words};

/// Where the time of a phase went, as shares that add up to 1 and in the words of a recording's phases, the largest first;
/// nothing where the drive was asked for nothing. `grown` tells by how much a counter grew in the phase, which took
/// `seconds`, and of a gauge what it was for most of it.
pub fn shares(grown: impl Fn(&str) -> f64, seconds: f64) -> Vec<(&'static str, f64)> {
    let waited = |cause: Cause| grown(&format!("waited_{}_ns_total", cause.word())).max(0.0);
    let total: f64 = Cause::ALL.iter().map(|cause| waited(*cause)).sum();
    let asked_ns = (seconds * 1e9).max(1.0);
    let silent = (grown("host_silent_ns_total") / asked_ns).clamp(0.0, 1.0);
    // A flush waits for what the dies do, and then for the controller.
    let flushed = grown("flush_wait_ns_total").clamp(0.0, total);
    let dies: f64 = Cause::ALL.iter().filter(|cause| is_of_dies(**cause)).map(|cause| waited(*cause)).sum();
    let left = |cause: Cause| match cause {
        Cause::Commands => waited(cause) - (flushed - dies).clamp(0.0, waited(cause)),
        _ if is_of_dies(cause) && dies > 0.0 => waited(cause) * (1.0 - flushed.min(dies) / dies),
        _ => waited(cause),
    };
    let holds_data = grown("slc_superblocks") >= 1.0;
    let mut shares: Vec<(&'static str, f64)> = vec![("host", silent), ("flush", 0.0)];
    let mut add = |word: &'static str, ns: f64| {
        let share = if total > 0.0 { ns / total * (1.0 - silent) } else { 0.0 };
        match shares.iter_mut().find(|(known, _)| *known == word) {
            Some((_, sum)) => *sum += share,
            None => shares.push((word, share)),
        }
    };
    for cause in Cause::ALL {
        add(word(*cause, holds_data), left(*cause));
    }
    let rest: f64 = Cause::ALL.iter().map(|cause| left(*cause)).sum();
    add("flush", total - rest);
    shares.retain(|(_, share)| *share > 0.0);
    shares.sort_by(|a, b| b.1.total_cmp(&a.1));
    shares
}

fn is_of_dies(cause: Cause) -> bool {
    matches!(cause, Cause::Folding | Cause::Collection | Cause::Erasing | Cause::Direct | Cause::Cache)
}

/// The word of a cause in a recording's phases, where the cache holds data or not.
fn word(cause: Cause, holds_data: bool) -> &'static str {
    match cause {
        Cause::Own | Cause::Reading => "read",
        Cause::Folding => "fold",
        Cause::Collection => "gc",
        Cause::Erasing => "erase",
        Cause::Direct if holds_data => "direct",
        Cause::Direct => "native",
        Cause::Cache => "pslc",
        Cause::Mapping => "map",
        Cause::Link => "link",
        Cause::Heat => "thermal",
        Cause::Waking => "power",
        Cause::Commands => "controller",
        Cause::Processor => "cpu",
        Cause::Memory => "page-cache",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: &[(&str, f64)], seconds: f64) -> Vec<(&'static str, f64)> {
        shares(|name| values.iter().find(|(known, _)| *known == name).map_or(0.0, |(_, value)| *value), seconds)
    }

    #[test]
    fn the_largest_share_comes_first_and_they_add_up_to_one() {
        let values = [
            ("waited_folding_ns_total", 5e9),
            ("waited_direct_ns_total", 3e9),
            ("waited_own_ns_total", 1e9),
            ("waited_reading_ns_total", 1e9),
            ("host_silent_ns_total", 0.5e9),
            ("slc_superblocks", 4.0),
        ];
        let all = of(&values, 1.0);
        assert_eq!(all, [("host", 0.5), ("fold", 0.25), ("direct", 0.15), ("read", 0.1)]);
        assert_eq!(of(&values[1..2], 1.0), [("native", 1.0)], "no superblock of a cache holds data");
        assert!(of(&[], 1.0).is_empty());
    }

    #[test]
    fn a_flush_takes_its_wait_from_the_dies_and_then_from_the_controller() {
        let values = [
            ("waited_cache_ns_total", 4e9),
            ("waited_commands_ns_total", 4e9),
            ("waited_link_ns_total", 2e9),
            ("flush_wait_ns_total", 6e9),
        ];
        assert_eq!(of(&values, 1.0), [("flush", 0.6), ("link", 0.2), ("controller", 0.2)]);
    }
}
