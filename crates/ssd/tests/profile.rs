//! The profile loader: what it accepts, what it refuses, and in which words.

use std::fs;

use proptest::prelude::*;
use pslc_ssd::config::*;
use pslc_ssd::profile::{load, Profile, ProfileError};
use pslc_ssd::Nanos;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../python/pslc/drives");

fn shipped(name: &str) -> Option<String> {
    fs::read_to_string(format!("{FOLDER}/{name}.toml")).ok()
}

fn aldrin() -> String {
    shipped("aldrin-pro-2tb").unwrap()
}

fn with(overrides: &[(&str, &str)]) -> Result<Profile, ProfileError> {
    let overrides: Vec<(String, String)> = overrides.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect();
    load("aldrin-pro-2tb.toml", &aldrin(), &shipped, &overrides)
}

fn replaced(from: &str, to: &str) -> ProfileError {
    let text = aldrin();
    assert!(text.contains(from), "{from}");
    load("mine.toml", &text.replacen(from, to, 1), &shipped, &[]).unwrap_err()
}

/// The error and its hint, as they are shown.
fn shown(error: &ProfileError) -> String {
    format!("{error}\n\nhint: {}", error.hint())
}

fn line_of(text: &str, what: &str) -> usize {
    text[..text.find(what).unwrap()].matches('\n').count() + 1
}

#[test]
fn every_shipped_profile_loads_and_says_where_its_values_come_from() {
    let mut count = 0;
    for entry in fs::read_dir(FOLDER).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|e| e == "toml") {
            let text = fs::read_to_string(&path).unwrap();
            // Parts are Python's: tests/test_drives.py loads what is made of them.
            if text.contains(".part = ") {
                continue;
            }
            let profile = load(&path.display().to_string(), &text, &shipped, &[]).unwrap();
            for table in ["nand.slc.program", "nand.native.program", "cache.mode"] {
                assert!(
                    profile.provenance.iter().any(|(key, note)| key == table && note.len() > 5),
                    "{}: no provenance of {table}",
                    path.display()
                );
            }
            count += 1;
        }
    }
    assert!(count >= 3);
}

#[test]
fn a_profile_written_out_loads_as_the_same_drive_in_every_mode() {
    for mode in ["pure-xlc", "static-slc", "dynamic-slc", "pure-slc"] {
        let profile = with(&[("cache.mode", mode), ("cache.dynamic_least", "1.5GB")]).unwrap();
        let again = load("again.toml", &profile.to_toml(), &|_| None, &[]).unwrap();
        assert_eq!(again.config, profile.config);
        assert_eq!(again.provenance, profile.provenance);
    }
}

#[test]
fn so_does_one_with_a_host_a_body_and_no_dram() {
    let profile = with(&[
        ("controller.map", "64MiB"),
        ("controller.map_access", "1us"),
        ("controller.write_cache", "off"),
        ("nand.plane_reads", "independent"),
        ("heat.throttle1.at", "80.5C"),
        ("heat.throttle1.until", "75C"),
        ("heat.throttle1.speed", "40%"),
        ("host.cores", "2"),
        ("host.read", "4us"),
        ("host.write", "5us"),
        ("host.driver_cache", "1GB"),
    ])
    .unwrap();
    assert_eq!(profile.config.heat.as_ref().unwrap().throttle[0].at_mc, 80_500);
    assert!(profile.config.host.page_cache.unwrap().driver);
    let again = load("again.toml", &profile.to_toml(), &|_| None, &[]).unwrap();
    assert_eq!(again.config, profile.config);
}

#[test]
fn mistakes_in_the_body_and_the_host_are_named() {
    for (changes, what) in [
        (&[("host.cores", "2")][..], "host.read is missing"),
        (&[("host.page_cache", "1GB"), ("host.driver_cache", "1GB")][..], "there are both"),
        (&[("host.page_cache", "32MiB")][..], "host.page_cache is 32MiB"),
        (&[("host.page_cache", "1GB"), ("host.dirty", "900MB")][..], "host.page_cache is 1GB"),
        (&[("controller.map", "1KiB")][..], "less than one page of the map"),
        (&[("heat.chips", "0.001J/K")][..], "under a second"),
        (
            &[("heat.throttle1.at", "80C"), ("heat.throttle1.until", "85C"), ("heat.throttle1.speed", "40%")][..],
            "does not begin above where it ends",
        ),
        (&[("power.data", "470pJ")][..], "unknown unit"),
    ] {
        let error = with(changes).unwrap_err();
        assert!(error.to_string().contains(what) && !error.hint().is_empty(), "{error}");
    }
}

#[test]
fn units_are_read_exactly() {
    let c = with(&[("nand.native.program", "2.9155ms"), ("cache.dynamic", "300GB")]).unwrap().config;
    assert_eq!(c.nand.native.program, Nanos(2_915_500));
    assert_eq!(c.cache.dynamic_bytes, 300_000_000_000);
    assert_eq!(c.nand.page_bytes, 16384);
}

#[test]
fn a_profile_based_on_another_changes_only_what_it_says() {
    let text = "base = \"aldrin-pro-2tb\"\nname = \"mine\"\n[cache]\nidle = \"never\"\n";
    let mine = load("mine.toml", text, &shipped, &[]).unwrap().config;
    let base = with(&[]).unwrap().config;
    assert_eq!(mine.cache.idle, None);
    assert_eq!(Config { name: base.name.clone(), cache: base.cache.clone(), ..mine }, base);
}

#[test]
fn a_base_that_leads_back_is_refused() {
    let library = |name: &str| match name {
        "a" => Some("base = \"b\"".to_string()),
        _ => Some("base = \"a\"".to_string()),
    };
    let error = load("mine.toml", "base = \"a\"", &library, &[]).unwrap_err();
    assert!(error.to_string().contains("mine.toml -> a.toml -> b.toml -> a.toml"), "{error}");
}

#[test]
fn a_typo_names_its_line_and_the_nearest_key() {
    let text = aldrin().replace("fold_overhead = 2.62", "fold_overhaed = 2.62");
    let error = load("mine.toml", &text, &shipped, &[]).unwrap_err();
    let line = line_of(&text, "fold_overhaed");
    assert_eq!(
        shown(&error),
        format!(
            "mine.toml:{line}: unknown key cache.fold_overhaed\n\nhint: did you mean \
             cache.fold_overhead?"
        )
    );
}

#[test]
fn a_bare_number_is_refused_where_a_unit_is_needed() {
    let error = replaced("dynamic = \"691GB\"", "dynamic = 691");
    assert!(error.to_string().contains("bare number"), "{error}");
    assert!(error.hint().contains("16KiB"), "{error}");
    let error = replaced("dynamic = \"691GB\"", "dynamic = \"691\"");
    assert!(error.to_string().contains("has no unit"), "{error}");
}

#[test]
fn each_mistake_is_told_with_its_key_and_a_hint() {
    let cases: &[(&str, &str, &str, &str)] = &[
        ("dynamic = \"691GB\"", "dynamic = \"1.2TB\"", "cache.dynamic is 1200GB but", "at most 7"),
        ("blocks_per_plane = 705", "blocks_per_plane = 625", "leave no spare blocks", "at most 19"),
        ("capacity = \"2000GB\"", "capacity = \"2300GB\"", "capacity is 2300GB", "at most 22"),
        ("dies = 32", "dies = 33", "33 on 8 channels", "multiple"),
        ("dies = 32", "dies = \"32\"", "nand.dies is 32", "without quotes"),
        ("pages_per_block = 1536", "pages_per_block = 1537", "1537 with 3 bits", "multiple"),
        ("page = \"16KiB\"", "page = \"10KB\"", "unknown unit", "16KiB"),
        ("page = \"16KiB\"", "page = \"10kB\"", "nand.page is 10kB", "multiple of 4KiB"),
        ("bits_per_cell = 3", "bits_per_cell = 6", "bits_per_cell is 6", "1 to 5"),
        ("link = \"pcie4x4\"", "link = \"pcie4x3\"", "\"pcie4x3\"", "pcie4x4"),
        ("mode = \"dynamic-slc\"", "mode = \"dinamic\"", "\"dinamic\"", "dynamic-slc"),
        ("\"direct-then-fold\"", "\"direct-then-flod\"", "flod", "direct-then-fold"),
        ("\"direct-then-fold\"", "\"fold\"", "not reused", "as-freed"),
        ("\"after-idle\"", "\"later\"", "\"later\"", "after-idle"),
        ("gc = \"greedy\"", "map_unit = \"12KiB\"\ngc = \"greedy\"", "ftl.map_unit is 12KiB", "64KiB"),
        ("gc = \"greedy\"", "map_unit = \"128KiB\"\ngc = \"greedy\"", "ftl.map_unit is 128KiB", "64KiB"),
        ("blocks_per_plane = 705", "blocks_per_plane = 9000", "mapping units of 4KiB", "ftl.map_unit = \"64KiB\""),
        ("gc = \"greedy\"", "gc = \"greed\"", "\"greed\"", "greedy"),
        ("fold_overhead = 2.62", "fold_overhead = 0.05", "is 0.05", "0.1"),
        ("write_buffer = \"16MiB\"", "write_buffer = \"64KiB\"", "64KiB", "384KiB"),
        ("threshold = \"1s\"", "threshold = \"0s\"", "threshold is 0", "more than nothing"),
        ("reserve_superblocks = 6", "reserve_superblocks = 1", "is 1", "3 to"),
        ("cores = 4", "cores = 0", "cores is 0", "1 to 64"),
        ("when_full =", "shrink_to = \"120%\"\nwhen_full =", "100% to 120%", "at most 100%"),
        ("when_full =", "host_share = \"100%\"\nwhen_full =", "host_share is 100%", "1% to 99%"),
        ("name = \"Pichau", "nme = \"Pichau", "unknown key nme", "name"),
        ("\"nand.slc.read\" =", "\"nand.slc.raed\" =", "unknown key nand.slc.raed", "nand.slc.read"),
        ("[cache.idle]\nthreshold = \"1s\"", "idle = \"soon\"", "cache.idle is \"soon\"", "never"),
        ("link = \"pcie4x4\"\n", "", "link is missing", "base ="),
        ("[nand]", "[nand", "", "TOML"),
    ];
    for (from, to, message, hint) in cases {
        let error = replaced(from, to);
        assert!(error.to_string().starts_with("mine.toml"), "{error}");
        assert!(error.to_string().contains(message), "{to}: {error}");
        // Each of several faults has its hint behind it.
        assert!(format!("{error} {}", error.hint()).contains(hint), "{to}: {error}");
    }
}

#[test]
fn an_override_wins_and_its_mistakes_are_its_own() {
    let c = with(&[("link", "pcie3x4"), ("nand.suspend", "none"), ("nand.dies", "16")]);
    assert!(c.unwrap_err().to_string().contains("capacity"), "half the dies cannot hold 2 TB");
    let error = with(&[("cache.dynamic", "1.2TB")]).unwrap_err();
    assert_eq!(error.faults()[0].place.to_string(), "cache.dynamic=1.2TB");
    assert_eq!(error.code(), "profile-dynamic-cache-too-large");
    let c = with(&[("cache.idle", "never"), ("nand.suspend", "none")]).unwrap().config;
    assert_eq!((c.cache.idle, c.nand.suspend), (None, None));
}

proptest! {
    #[test]
    fn no_text_panics(text in "(\\PC|\\n)*") {
        let _ = load("any.toml", &text, &|_| None, &[]);
    }

    #[test]
    fn no_change_of_a_line_panics(line in 0usize..110, text in "[a-z_]{1,9} = (\"[0-9.]{1,9}[A-Za-z/%]{0,4}\"|[0-9]{1,9})") {
        let mut lines: Vec<String> = aldrin().lines().map(String::from).collect();
        let at = line % lines.len();
        lines[at] = text;
        let _ = load("any.toml", &lines.join("\n"), &shipped, &[]);
    }
}

fn provenance(profile: &Profile, key: &str) -> String {
    let found = profile.provenance.iter().find(|(known, _)| known == key);
    found.map_or(String::new(), |(_, note)| note.clone())
}

#[test]
fn a_base_may_be_a_file_seen_from_the_one_that_names_it() {
    let library = |name: &str| match name {
        "./drives/half.toml" => Some("base = \"../whole.toml\"\n[cache]\ndynamic = \"345GB\"\n".to_string()),
        "./drives/../whole.toml" => Some(aldrin()),
        _ => None,
    };
    let text = "base = \"drives/half.toml\"\nname = \"mine\"\n";
    let mine = load("./mine.toml", text, &library, &[]).unwrap();
    assert_eq!((mine.config.name.as_str(), mine.config.cache.dynamic_bytes), ("mine", 345_000_000_000));
    assert_eq!(provenance(&mine, "cache.dynamic"), "set in ./drives/half.toml:3");
    let error = load("./mine.toml", "\nbase = \"none.toml\"\n", &library, &[]).unwrap_err().to_string();
    assert!(error.contains("./mine.toml:2: base is \"none.toml\", which is no file"), "{error}");
    let round = |name: &str| (name == "./a.toml").then(|| "base = \"./a.toml\"".to_string());
    let error = load("mine.toml", "base = \"./a.toml\"", &round, &[]).unwrap_err();
    assert!(error.to_string().contains("mine.toml -> ./a.toml -> "), "{error}");
}

#[test]
fn where_a_value_came_from_is_forgotten_with_the_value() {
    let overridden = with(&[("nand.native.program", "2ms"), ("cache.idle", "never")]).unwrap();
    assert_eq!(provenance(&overridden, "nand.native.program"), "given");
    assert_eq!(provenance(&overridden, "cache.idle"), "given");
    assert!(provenance(&overridden, "nand.native.read").starts_with("assumed"));
    let text = "base = \"aldrin-pro-2tb\"\nnand.bus = \"1600MT/s\"\nnand.channels = 4\n[provenance]\n\"nand.channels\" = \"seen\"\n";
    let mine = load("mine.toml", text, &shipped, &[]).unwrap();
    assert_eq!(provenance(&mine, "nand.bus"), "set in mine.toml:2");
    assert_eq!(provenance(&mine, "nand.channels"), "seen");
}

#[test]
fn what_no_longer_makes_sense_is_derived_anew() {
    // The Aldrin states 640 GB of 2 TB; of another size or geometry that says nothing.
    let half = with(&[("capacity", "1000GB"), ("cache.mode", "pure-slc"), ("nand.dies", "16")]);
    let half = half.unwrap().config;
    assert_eq!(half.capacity_bytes, 333_000_000_000 / 4096 * 4096);
    let faster = with(&[("cache.mode", "pure-slc"), ("nand.slc.program", "200us"), ("nand.bus", "1600MT/s")]);
    assert_eq!(faster.unwrap().config.capacity_bytes, 640_000_000_000);
    let stated = with(&[("capacity", "1000GB"), ("capacity_pure_slc", "300GB"), ("cache.mode", "pure-slc")]);
    assert_eq!(stated.unwrap().config.capacity_bytes, 300_000_000_000 / 4096 * 4096);
    // With "fold" there is one way in, and what followed from that does not hold for other policies.
    assert_eq!(with(&[("cache.when_full", "fold")]).unwrap().config.cache.reuse, Reuse::AsFreed);
    let fold = [("cache.when_full".to_string(), "fold".to_string())];
    let fold = load("pm871b.toml", &shipped("pm871b-128gb").unwrap(), &shipped, &fold).unwrap().config.cache;
    assert_eq!((fold.reuse, fold.dead_until_idle), (Reuse::AsFreed, false), "until-idle has no meaning there");
    let other = [("cache.when_full".to_string(), "direct-then-fold".to_string())];
    let other = load("t500.toml", &shipped("t500-2tb").unwrap(), &shipped, &other).unwrap();
    assert_eq!(other.config.cache.reuse, Reuse::AfterIdle);
    assert_eq!(provenance(&other, "cache.reuse"), "");
}

#[test]
fn parts_take_the_place_of_their_tables_and_are_filled_in_below_all_that_is_said() {
    let derived = aldrin().replace("dies = 32", "dies = 64").replace("channels = 8", "channels = 16");
    let library = |name: &str| if name == "parts" { Some(derived.clone()) } else { shipped(name) };
    let text = "nand = \"a-die\"\ncontroller = \"a-chip\"\ncapacity = \"2TB\"\n[cache]\nidle = \"never\"\n";
    let values = pslc_ssd::profile::values("mine.toml", text, &library, &[]).unwrap();
    let keys: Vec<&str> = values.iter().map(|(key, _)| key.as_str()).collect();
    assert_eq!(keys, ["cache.idle", "capacity", "controller.part", "nand.part"]);
    let mine = load("mine.toml", text, &library, &[]).unwrap();
    assert_eq!((mine.config.nand.dies, mine.config.cache.idle), (64, None));
    assert_eq!(provenance(&mine, "capacity"), "set in mine.toml:3");
    assert_eq!(provenance(&mine, "cache.idle"), "set in mine.toml:5");
    assert!(provenance(&mine, "nand.channels").starts_with("stated"));
    assert_eq!(load("again.toml", &mine.to_toml(), &|_| None, &[]).unwrap().config, mine.config);
    // Over a drive by hand, another die forgets the dies there were.
    let overrides = [("nand", "a-die"), ("controller", "a-chip")].map(|(k, v)| (k.to_string(), v.to_string()));
    let mine = load("aldrin-pro-2tb.toml", &aldrin(), &library, &overrides).unwrap();
    assert_eq!((mine.config.nand.dies, mine.config.cache.dynamic_bytes), (64, 691_000_000_000));
}

#[test]
fn all_faults_of_a_profile_are_one_error_with_a_line_each() {
    let text = aldrin()
        .replace("channels = ", "chanels = ")
        .replace("\"16KiB\"", "16")
        .replace("when_full = \"", "when_full = \"x");
    let error = load("mine.toml", &text, &|_| None, &[("cache.idle.rate".into(), "1".into())]).unwrap_err();
    let text = error.to_string();
    let (first, lines) = text.split_once('\n').unwrap();
    let lines: Vec<&str> = lines.lines().collect();
    assert_eq!(first, format!("mine.toml: {} faults", lines.len()), "{error}");
    assert_eq!(error.faults().len(), lines.len());
    assert_eq!(error.code(), "several-faults");
    for words in [
        "unknown key nand.chanels (hint: did you mean nand.channels?)",
        "mine.toml: nand.channels is missing (hint: ",
        "nand.page is 16, a bare number",
        "cache.when_full is \"x",
        "cache.idle.rate=1: cache.idle.rate",
    ] {
        assert_eq!(lines.iter().filter(|line| line.contains(words)).count(), 1, "{words}: {error}");
    }
}

#[test]
fn faults_between_keys_are_one_error_too() {
    let error = with(&[("nand.dies", "33"), ("cache.host_share", "0%"), ("controller.flush", "2min")]).unwrap_err();
    for key in ["nand.dies", "cache.host_share", "controller.flush"] {
        assert!(error.to_string().contains(&format!(": {key} is")), "{error}");
    }
    let codes: Vec<&str> = error.faults().iter().map(|fault| fault.what.code()).collect();
    assert_eq!(codes, ["profile-dies-on-channels", "profile-bad-flush", "profile-bad-host-share"]);
    assert!(error.to_string().starts_with("aldrin-pro-2tb.toml: 3 faults\n"), "{error}");
}
