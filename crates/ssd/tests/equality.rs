//! The drive in its computer against the slow, obvious version of both: every completion time, over random requests on
//! random profiles. Every key of a profile is drawn, or says why not.

mod common;

use std::collections::{BTreeMap, BTreeSet};

use common::{counted, counters};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use pslc_reference::drawn;
use pslc_reference::drawn::steps::{numbers, requests, steps, Step};
use pslc_reference::drawn::{DRAWN, EXEMPT};
use pslc_reference::ReferenceMachine;
use pslc_ssd::config::{Config, Reuse, WhenFull};
use pslc_ssd::{profile, Machine, Nanos, Words};

/// Completion times, and the counters at the end.
fn run(config: &Config, steps: &[Step]) -> (Vec<Nanos>, Vec<u64>) {
    let mut machine = Machine::new(config);
    let mut done = Vec::new();
    for event in requests(steps, config.capacity_bytes) {
        match event.request {
            Some(request) => {
                done.push(machine.submit(event.now, &request, event.direct));
                let told: u64 = machine.waits().by().iter().sum();
                assert_eq!(told, (done[done.len() - 1] - event.now).0, "each nanosecond has one cause");
            }
            None if event.looked_at => machine.advance(event.now),
            None => {}
        }
    }
    machine.drive().audit();
    let counters = counters(&machine);
    (done, counters)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, max_global_rejects: 1000, ..ProptestConfig::default() })]

    #[test]
    fn every_completion_time_equals_the_slow_version(
        config in numbers().prop_filter_map("the check refuses it", |numbers| drawn::config(&numbers).ok()),
        steps in steps(),
    ) {
        let (done, counters) = run(&config, &steps);
        let mut slow = ReferenceMachine::new(&config);
        let mut done = done.into_iter();
        for event in requests(&steps, config.capacity_bytes) {
            match event.request {
                Some(request) => prop_assert_eq!(
                    done.next(),
                    Some(slow.submit(event.now, &request, event.direct)),
                    "{:?} at {}", request, event.now
                ),
                None if event.looked_at => slow.advance(event.now),
                None => {}
            }
        }
        prop_assert_eq!(counted(&counters, "energy_nj_total"), slow.drive.energy_nj());
        prop_assert_eq!(counted(&counters, "buffer_wait_ns_total"), slow.drive.buffer_waited);
        prop_assert_eq!(counted(&counters, "temperature_millicelsius"), slow.drive.temperature_mc());
    }
}

#[test]
fn every_key_of_a_profile_is_drawn_or_says_why_not() {
    let drawn: BTreeSet<&str> = DRAWN.iter().map(|(key, _)| *key).collect();
    let exempt: BTreeSet<&str> = EXEMPT.iter().map(|(key, _)| *key).collect();
    assert!(drawn.is_disjoint(&exempt));
    let known: BTreeSet<&str> = profile::keys().into_iter().collect();
    let listed: BTreeSet<&str> = drawn.union(&exempt).copied().collect();
    assert_eq!(listed, known, "a key of profiles is drawn in crates/reference/src/drawn, or exempt with a reason");
}

/// What the comparison would be worth little without: each key that is drawn makes some request end at another time.
#[test]
fn every_key_that_is_drawn_matters() {
    let mut runner = TestRunner::deterministic();
    let mut left: BTreeSet<usize> = (0..DRAWN.len()).collect();
    for round in 0..8000 {
        let mut numbers = numbers().new_tree(&mut runner).unwrap().current();
        let steps = steps().new_tree(&mut runner).unwrap().current();
        let Ok(config) = drawn::config(&numbers) else { continue };
        let before = run(&config, &steps).0;
        left.retain(|&key| {
            let kept = std::mem::replace(&mut numbers[key], round);
            let other = drawn::config(&numbers);
            numbers[key] = kept;
            other.is_ok_and(|other| other.capacity_bytes == config.capacity_bytes && run(&other, &steps).0 == before)
        });
        if left.is_empty() {
            return;
        }
    }
    let names: Vec<&str> = left.iter().map(|&key| DRAWN[key].0).collect();
    panic!("these change no completion time: {names:?}");
}

/// Each policy is compared only where it does what no other does.
#[test]
fn the_random_requests_tell_every_two_policies_apart() {
    let mut runner = TestRunner::deterministic();
    let mut alike: BTreeSet<(&str, &str)> = BTreeSet::new();
    for (at, a) in WhenFull::ALL.iter().enumerate() {
        alike.extend(WhenFull::ALL[..at].iter().map(|b| (a.word(), b.word())));
    }
    for _ in 0..4000 {
        let numbers = numbers().new_tree(&mut runner).unwrap().current();
        let steps = steps().new_tree(&mut runner).unwrap().current();
        let Ok(config) = drawn::config(&numbers) else { continue };
        // As the check wants it for every policy, with the spare space that each needs.
        if config.cache.most_bytes() == 0 || config.cache.reuse != Reuse::AsFreed || config.cache.dead_until_idle {
            continue;
        }
        let times = |word: &str| {
            let mut config = config.clone();
            config.cache.when_full = *WhenFull::ALL.iter().find(|policy| policy.word() == word).unwrap();
            config.nand.blocks_per_plane += 1;
            run(&config, &steps).0
        };
        let told: BTreeMap<&str, Vec<Nanos>> =
            alike.iter().flat_map(|(a, b)| [*a, *b]).map(|word| (word, times(word))).collect();
        alike.retain(|(a, b)| told[a] == told[b]);
        if alike.is_empty() {
            return;
        }
    }
    panic!("these answer every request alike: {alike:?}");
}

#[test]
fn the_random_requests_reach_everything_that_can_happen() {
    let mut runner = TestRunner::deterministic();
    let mut reached = vec![0u64; Machine::COLUMNS.len()];
    let mut refused = 0;
    for _ in 0..300 {
        let numbers = numbers().new_tree(&mut runner).unwrap().current();
        let steps = steps().new_tree(&mut runner).unwrap().current();
        match drawn::config(&numbers) {
            Ok(config) => {
                reached.iter_mut().zip(run(&config, &steps).1).for_each(|(sum, value)| *sum += value);
            }
            Err(error) => {
                println!("{error}");
                refused += 1;
            }
        }
    }
    assert!(refused < 30, "{refused} of 300 drawings are no drive");
    for name in [
        "folded_bytes_total",
        "idle_folded_bytes_total",
        "gc_bytes_total",
        "died_in_slc_bytes_total",
        "slc_erases_total",
        "native_erases_total",
        "buffer_wait_ns_total",
        "suspends_total",
        "wake_ns_total",
        "map_read_bytes_total",
        "map_programmed_bytes_total",
        "map_wait_ns_total",
        "throttle_level",
        "host_cpu_busy_ns_total",
        "page_cache_dirty_bytes",
    ] {
        let value = counted(&reached, name);
        assert!(value > 3, "{name}: {value}");
    }
}
