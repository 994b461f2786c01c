//! A machine that is written down in the middle and read back answers as one that never stopped; and nothing else than
//! what was written is read.

mod common;

use std::io::Cursor;

use common::{column, counters};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use pslc_reference::drawn;
use pslc_reference::drawn::steps::{numbers, requests, steps, Event};
use pslc_ssd::config::{CacheMode, Config};
use pslc_ssd::state::{self, About, Kept, StateError};
use pslc_ssd::{Machine, Nanos, Request};

fn about() -> About {
    let scale = Some("1/8".into());
    About { identity: 42, original: "name = \"made\"".into(), profile: "name = \"now\"".into(), scale }
}

fn written(now: Nanos, machine: &Machine) -> Vec<u8> {
    let mut out = Cursor::new(Vec::new());
    state::write(&mut out, &about(), now, machine).unwrap();
    out.into_inner()
}

/// Write a machine down and read it back.
fn again(config: &Config, machine: &Machine) -> Machine {
    let now = machine.drive().now();
    let bytes = written(now, machine);
    let kept = read(config, &bytes).unwrap();
    assert_eq!((kept.about, kept.now), (about(), now));
    // Nothing is lost the second time either.
    assert_eq!(written(now, &kept.machine), bytes);
    kept.machine
}

/// Read a drive of that config: those that are drawn have page caches too small for a profile.
fn read(config: &Config, bytes: &[u8]) -> Result<Kept, StateError> {
    state::read_as(bytes, |_| Ok(config.clone()))
}

fn step(machine: &mut Machine, event: &Event) -> Option<Nanos> {
    match &event.request {
        Some(request) => return Some(machine.submit(event.now, request, event.direct)),
        None if event.looked_at => machine.advance(event.now),
        None => {}
    }
    None
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
        if let Some(last) = events.last().filter(|_| column(&machine, "folded_bytes_total") > 0) {
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
                cut = again(&config, &cut);
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
        let (config, machine, _) = worked(&mut runner);
        let copy = again(&config, &machine);
        assert_eq!(counters(&copy), counters(&machine));
        let value = |name| column(&machine, name);
        folding += (value("slc_valid_bytes") > 0 && value("folded_bytes_total") > 0) as u32;
        collecting += (value("gc_bytes_total") > 0) as u32;
        trimmed += (value("host_trim_bytes_total") > 0) as u32;
    }
    assert!(folding > 20 && collecting > 10 && trimmed > 50, "{folding} {collecting} {trimmed}");
}

#[test]
fn a_file_that_is_cut_or_longer_is_refused() {
    let (config, machine, now) = worked(&mut TestRunner::deterministic());
    let mut bytes = written(now, &machine);
    let whole = bytes.len() as u64;
    for length in (0..bytes.len()).step_by(97).chain([bytes.len() - 1]) {
        match read(&config, &bytes[..length]).unwrap_err() {
            StateError::Foreign => assert!(length < 36),
            StateError::Cut { bytes_found, .. } => assert_eq!(bytes_found, length as u64),
            other => panic!("{length} of {whole}: {other}"),
        }
    }
    bytes.push(0);
    assert_eq!(read(&config, &bytes).unwrap_err(), StateError::Longer { bytes: 1 });
}

#[test]
fn a_file_with_one_bit_flipped_is_refused_wherever_it_is() {
    let (config, machine, now) = worked(&mut TestRunner::deterministic());
    let mut bytes = written(now, &machine);
    for at in 0..bytes.len() {
        let bit = 1 << (at * 5 % 8);
        bytes[at] ^= bit;
        let error = read(&config, &bytes).unwrap_err();
        assert!(matches!(error, StateError::Foreign | StateError::Damaged { .. }), "byte {at}: {error}");
        bytes[at] ^= bit;
    }
    assert!(read(&config, &bytes).is_ok());
}

#[test]
fn a_file_of_a_later_version_says_which() {
    let (config, machine, now) = worked(&mut TestRunner::deterministic());
    let mut bytes = written(now, &machine);
    change_head(&mut bytes, |head| head["state"]["version"] = (state::VERSION as i64 + 1).into());
    let error = read(&config, &bytes).unwrap_err();
    assert!(matches!(&error, StateError::TooNew { version, .. } if *version == state::VERSION + 1));
    let (theirs, ours) = (state::VERSION + 1, state::VERSION);
    let words = format!("its state is of version {theirs}, and this pslc reads {ours}");
    assert_eq!(error.to_string(), format!("it was written by pslc {}: {words}", env!("CARGO_PKG_VERSION")));
}

#[test]
fn a_head_that_says_nothing_of_a_section_is_refused() {
    let (config, machine, now) = worked(&mut TestRunner::deterministic());
    let mut bytes = written(now, &machine);
    change_head(&mut bytes, |head| drop(head.remove("state")));
    let error = read(&config, &bytes).unwrap_err();
    assert!(matches!(error, StateError::Strange { part: "head", .. }), "{error}");
}

/// Of a file: a head of TOML, and a line with its checksum.
const HEAD: usize = 1024;

fn head(bytes: &[u8]) -> toml::Table {
    std::str::from_utf8(&bytes[..HEAD]).unwrap().parse().unwrap()
}

/// Change what the head says, with a checksum that is right again.
fn change_head(bytes: &mut [u8], change: impl FnOnce(&mut toml::Table)) {
    let mut table = head(bytes);
    change(&mut table);
    let text = format!("# pslc drive: pslc drives show FILE\n{table}");
    let text = format!("{text}{}", "\n".repeat(HEAD - 17 - text.len()));
    let sum = format!("# crc32 {:08x}\n", crc32fast::hash(text.as_bytes()));
    bytes[..HEAD].copy_from_slice((text + &sum).as_bytes());
}

/// Where the state begins.
fn state_at(bytes: &[u8]) -> usize {
    HEAD + head(bytes)["profile"]["bytes"].as_integer().unwrap() as usize
}

/// The sections of a file with checksums that are right again.
fn sealed(bytes: &mut [u8]) {
    let at = state_at(bytes);
    let sums = [crc32fast::hash(&bytes[HEAD..at]), crc32fast::hash(&bytes[at..])];
    change_head(bytes, |head| {
        for (section, sum) in ["profile", "state"].into_iter().zip(sums) {
            head[section]["crc32"] = (sum as i64).into();
        }
    });
}

/// Change what a file says at a place, in one of the ways that somebody may.
fn forge(bytes: &mut [u8], at: usize, how: u32) {
    match how % 6 {
        0 => bytes[at] ^= 1 << (how / 6 % 8),
        1 => bytes[at] = (how / 6) as u8,
        2 => bytes[at] = bytes[at].wrapping_add(1),
        3 => bytes[at] = bytes[at].wrapping_sub(1),
        // A number that goes on, or that ends here.
        4 => bytes[at] ^= 0x80,
        _ => {
            let other = at + 1 + how as usize / 6 % 40;
            if other < bytes.len() {
                bytes.swap(at, other);
            }
        }
    }
}

/// Read a forged file; what is not refused is asked for all kinds of things.
fn survives(config: &Config, bytes: &[u8], events: &[Event]) -> Result<(), StateError> {
    let Kept { mut machine, now, .. } = read(config, bytes)?;
    for event in events {
        step(&mut machine, &Event { now: now + event.now, request: event.request, ..*event });
    }
    machine.drive().audit();
    counters(&machine);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4000, max_global_rejects: 10_000, ..ProptestConfig::default() })]

    #[test]
    fn a_forged_file_with_right_checksums_is_refused_or_makes_a_drive_that_works(
        config in drawn_config(),
        before in steps(),
        after in steps(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u32>()), 1..3),
    ) {
        let mut machine = Machine::new(&config);
        for event in requests(&before, config.capacity_bytes) {
            step(&mut machine, &event);
        }
        let mut bytes = written(machine.drive().now(), &machine);
        let from = state_at(&bytes);
        for (at, how) in changes {
            let at = from + at.index(bytes.len() - from);
            forge(&mut bytes, at, how);
        }
        sealed(&mut bytes);
        let _ = survives(&config, &bytes, &requests(&after, config.capacity_bytes));
    }
}

#[test]
fn most_of_what_is_forged_is_refused() {
    let mut runner = TestRunner::deterministic();
    let (config, machine, now) = worked(&mut runner);
    let bytes = written(now, &machine);
    let from = state_at(&bytes);
    let refused = (from..bytes.len()).filter(|at| {
        let mut forged = bytes.clone();
        forge(&mut forged, *at, 2);
        sealed(&mut forged);
        read(&config, &forged).is_err()
    });
    let (refused, all) = (refused.count(), bytes.len() - from);
    assert!(2 * refused > all, "{refused} of {all} places");
}

/// If this fails because a drive consists of other things than before, raise `state::VERSION` and set it anew.
#[test]
fn what_a_drive_consists_of_changes_only_with_the_version() {
    let config = drawn::config(&vec![1; drawn::DRAWN.len()]).unwrap();
    let bytes = written(Nanos::ZERO, &Machine::new(&config));
    let state = &bytes[state_at(&bytes)..];
    assert_eq!((state::VERSION, state.len(), crc32fast::hash(state)), (13, 1025, 2666368587));
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
        let erases = column(&machine, "slc_erases_total") + column(&machine, "native_erases_total");
        for page in 0..config.capacity_bytes / 65536 {
            now = machine.submit(now, &Request::write(page * 65536, 65536), true).max(now);
        }
        machine.drive().audit();
        assert!(column(&machine, "slc_erases_total") + column(&machine, "native_erases_total") > erases);
        assert!(again(&config, &machine).drive().power_cycles() == 2);
    }
}
