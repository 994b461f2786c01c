//! A machine that is written down in the middle and read back answers as one that never stopped; and nothing else than
//! what was written is read.

#[allow(dead_code)]
mod drawn;

use std::io::Cursor;

use drawn::steps::{numbers, requests, steps, Event};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use pslc_ssd::config::{CacheMode, Config};
use pslc_ssd::state::{self, About, StateError};
use pslc_ssd::{Machine, Nanos, Request};

fn about() -> About {
    About { identity: 42, made: "name = \"made\"".into(), profile: "name = \"now\"".into() }
}

fn written(now: Nanos, machine: &Machine) -> Vec<u8> {
    let mut out = Cursor::new(Vec::new());
    state::write(&mut out, &about(), now, machine).unwrap();
    out.into_inner()
}

/// Write a machine down and read it back.
fn again(machine: &Machine) -> Machine {
    let bytes = written(Nanos(7), machine);
    let kept = state::read(&bytes).unwrap();
    assert_eq!((kept.about, kept.now), (about(), Nanos(7)));
    // Nothing is lost the second time either.
    assert_eq!(written(Nanos(7), &kept.machine), bytes);
    kept.machine
}

fn step(machine: &mut Machine, event: &Event) -> Option<Nanos> {
    match &event.request {
        Some(request) => return Some(machine.submit(event.now, request, event.direct)),
        None if event.looked_at => machine.advance(event.now),
        None => {}
    }
    None
}

fn counters(machine: &Machine) -> Vec<u64> {
    let mut values = vec![0; Machine::COLUMNS.len()];
    machine.sample(Nanos::ZERO, &mut values);
    values
}

fn value(machine: &Machine, name: &str) -> u64 {
    counters(machine)[Machine::COLUMNS.iter().position(|column| *column == name).unwrap()]
}

fn drawn_config() -> impl Strategy<Value = Config> {
    numbers().prop_filter_map("the check refuses it", |numbers| drawn::config(&numbers).ok())
}

/// A machine with work under way, drawn.
fn worked(runner: &mut TestRunner) -> (Config, Machine, Nanos) {
    loop {
        let config = drawn_config().new_tree(runner).unwrap().current();
        let events = requests(&steps().new_tree(runner).unwrap().current(), config.capacity_bytes);
        let mut machine = Machine::new(&config);
        for event in &events {
            step(&mut machine, event);
        }
        if let Some(last) = events.last().filter(|_| value(&machine, "folded_bytes_total") > 0) {
            return (config, machine, last.now);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, max_global_rejects: 1000, ..ProptestConfig::default() })]

    #[test]
    fn a_drive_that_was_closed_and_opened_answers_as_one_that_was_not(
        config in drawn_config(),
        steps in steps(),
        cuts in prop::collection::vec(0usize..260, 1..4),
    ) {
        let (mut whole, mut cut) = (Machine::new(&config), Machine::new(&config));
        for (number, event) in requests(&steps, config.capacity_bytes).iter().enumerate() {
            if cuts.iter().any(|at| at % steps.len() == number) {
                cut = again(&cut);
            }
            prop_assert_eq!(step(&mut whole, event), step(&mut cut, event), "request {}", number);
            prop_assert_eq!(counters(&whole), counters(&cut), "after request {}", number);
        }
        cut.drive().audit();
    }
}

#[test]
fn the_cuts_fall_while_data_are_folded_collected_and_trimmed() {
    let mut runner = TestRunner::deterministic();
    let (mut folding, mut collecting, mut trimmed) = (0, 0, 0);
    for _ in 0..100 {
        let (_, machine, _) = worked(&mut runner);
        let copy = again(&machine);
        assert_eq!(counters(&copy), counters(&machine));
        let value = |name| value(&machine, name);
        folding += (value("slc_valid_bytes") > 0 && value("folded_bytes_total") > 0) as u32;
        collecting += (value("gc_bytes_total") > 0) as u32;
        trimmed += (value("host_trim_bytes_total") > 0) as u32;
    }
    assert!(folding > 20 && collecting > 10 && trimmed > 50, "{folding} {collecting} {trimmed}");
}

#[test]
fn a_file_that_is_cut_or_longer_is_refused() {
    let (_, machine, _) = worked(&mut TestRunner::deterministic());
    let mut bytes = written(Nanos(7), &machine);
    let whole = bytes.len() as u64;
    for length in (0..bytes.len()).step_by(97).chain([bytes.len() - 1]) {
        match state::read(&bytes[..length]).unwrap_err() {
            StateError::Foreign => assert!(length < 8),
            StateError::Cut { found, .. } => assert_eq!(found, length as u64),
            other => panic!("{length} of {whole}: {other}"),
        }
    }
    bytes.push(0);
    assert_eq!(state::read(&bytes).unwrap_err(), StateError::Longer(1));
}

#[test]
fn a_file_with_one_bit_flipped_is_refused_wherever_it_is() {
    let (_, machine, _) = worked(&mut TestRunner::deterministic());
    let mut bytes = written(Nanos(7), &machine);
    for at in 0..bytes.len() {
        let bit = 1 << (at * 5 % 8);
        bytes[at] ^= bit;
        let error = state::read(&bytes).unwrap_err();
        assert!(matches!(error, StateError::Foreign | StateError::Damaged(_)), "byte {at}: {error}");
        bytes[at] ^= bit;
    }
    assert!(state::read(&bytes).is_ok());
}

#[test]
fn a_file_of_a_later_version_says_which() {
    let (_, machine, _) = worked(&mut TestRunner::deterministic());
    let mut bytes = written(Nanos(7), &machine);
    bytes[8] += 1;
    let header = bytes[..36].to_vec();
    bytes[36..40].copy_from_slice(&crc32fast::hash(&header).to_le_bytes());
    let error = state::read(&bytes).unwrap_err();
    assert_eq!(error, StateError::Version(state::VERSION + 1));
    assert_eq!(error.to_string(), "it is of format 5, and this pslc reads format 4");
}

/// If this fails because a drive consists of other things than before, raise `state::VERSION` and set it anew.
#[test]
fn what_a_drive_consists_of_changes_only_with_the_version() {
    let config = drawn::config(&vec![1; drawn::DRAWN.len()]).unwrap();
    let bytes = written(Nanos::ZERO, &Machine::new(&config));
    assert_eq!((state::VERSION, bytes.len(), crc32fast::hash(&bytes)), (4, 1037, 1500688866));
}

#[test]
fn a_formatted_drive_keeps_its_wear_its_heat_and_its_counters_and_loses_its_data() {
    let mut runner = TestRunner::deterministic();
    for _ in 0..50 {
        let (mut config, mut machine, mut now) = worked(&mut runner);
        let before = counters(&machine);
        let mode = match config.cache.mode {
            CacheMode::PureXlc => CacheMode::DynamicSlc,
            _ => CacheMode::PureXlc,
        };
        config.cache.mode = mode;
        machine.format(&config);
        machine.drive().audit();
        for (name, (was, is)) in Machine::COLUMNS.iter().zip(before.iter().zip(counters(&machine))) {
            match *name {
                "died_in_slc_bytes_total" => assert!(is >= *was),
                name if name.ends_with("_total") || name.starts_with("t") => assert_eq!(is, *was, "{name}"),
                "mapped_bytes" | "slc_valid_bytes" | "slc_superblocks" | "buffer_bytes" => assert_eq!(is, 0),
                _ => {}
            }
        }
        assert_eq!(machine.drive().power_cycles(), 2);
        // What is written then goes on: blocks that held data are erased first.
        let erases = value(&machine, "slc_erases_total") + value(&machine, "native_erases_total");
        for page in 0..config.capacity_bytes / 65536 {
            now = machine.submit(now, &Request::write(page * 65536, 65536), true).max(now);
        }
        machine.drive().audit();
        assert!(value(&machine, "slc_erases_total") + value(&machine, "native_erases_total") > erases);
        assert!(again(&machine).drive().power_cycles() == 2);
    }
}
