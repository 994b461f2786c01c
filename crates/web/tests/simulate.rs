//! A page's questions, answered natively.

use std::collections::HashMap;
use std::fs;

use pslc_load::{SimTarget, Target};
use pslc_ssd::{profile, Machine, Nanos};
use pslc_web::{simulate, Question};

const FILL: &str = "[fill]\nrw=write\nbs=1m\niodepth=32\nsize=100%\n";

fn folder(name: &str) -> HashMap<String, String> {
    let path = format!("{}/../../python/pslc/{name}", env!("CARGO_MANIFEST_DIR"));
    let texts = fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path());
    texts
        .filter(|path| path.extension().is_some_and(|extension| extension == "toml"))
        .map(|path| (path.file_stem().unwrap().to_string_lossy().into(), fs::read_to_string(&path).unwrap()))
        .collect()
}

fn question(drive: &str, job: &str, denominator: u32, overrides: &[(&str, &str)]) -> Question {
    let library = folder("drives");
    let overrides: Vec<(String, String)> =
        overrides.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect();
    Question {
        profile: library[drive].clone(),
        name: format!("{drive}.toml"),
        library,
        overrides,
        job: job.into(),
        denominator,
        parts: HashMap::new(),
        seed: 1,
    }
}

#[test]
fn a_fill_falls_where_the_cache_is_full_and_every_byte_is_in_a_phase() {
    let question = question("600p-512gb", FILL, 1, &[]);
    let (answer, film) = simulate(&question, &|_| {}).unwrap_or_else(|failure| panic!("{failure:?}"));
    let json = serde_json::to_value(&answer).unwrap();
    let capacity = json["drive"]["capacity_bytes"].as_u64().unwrap();
    let phases = json["phases"].as_array().unwrap();
    assert_eq!(phases[0]["cause"], "pslc");
    assert!(phases.len() > 1, "{phases:?}");
    let bytes: u64 =
        phases.iter().map(|phase| phase["to_bytes"].as_u64().unwrap() - phase["from_bytes"].as_u64().unwrap()).sum();
    assert_eq!(bytes, answer.curve.write_bytes.iter().sum::<u64>());
    assert!(bytes <= capacity && bytes > capacity / 100 * 99);
    let cache = phases[0]["to_bytes"].as_u64().unwrap() as f64;
    let size = json["drive"]["cache_bytes"].as_u64().unwrap() as f64;
    assert!((0.9..1.15).contains(&(cache / size)), "{cache} of {size}");
    assert!(film.frames.len() > 50);
    let superblocks = json["drive"]["superblocks"].as_u64().unwrap() as usize;
    assert!(film.frames.iter().all(|frame| frame.superblocks.len() == superblocks));
}

#[test]
fn a_scaled_drive_has_the_speeds_of_the_whole_one() {
    let speeds = |denominator: u32| {
        let question = question("600p-512gb", FILL, denominator, &[]);
        let (answer, _) = simulate(&question, &|_| {}).unwrap_or_else(|failure| panic!("{failure:?}"));
        answer.phases.iter().map(|phase| (phase.cause, phase.bytes_per_s)).collect::<Vec<_>>()
    };
    let (whole, scaled) = (speeds(1), speeds(4));
    assert_eq!(whole.len(), scaled.len(), "{whole:?} {scaled:?}");
    for ((cause, whole), (scaled_cause, scaled)) in whole.into_iter().zip(scaled) {
        assert_eq!(cause, scaled_cause);
        assert!((scaled / whole - 1.0).abs() < 0.1, "{cause:?}: {scaled} of {whole}");
    }
}

#[test]
fn a_pause_between_jobs_slows_no_phase() {
    let write = "rw=write\nbs=1m\niodepth=32\nioengine=io_uring\n";
    let job = format!("[a]\n{write}size=2%\n[b]\nstonewall\nstartdelay=300s\n{write}offset=2%\nsize=2%\n");
    let (answer, _) = simulate(&question("600p-512gb", &job, 1, &[]), &|_| {}).unwrap_or_else(|e| panic!("{e:?}"));
    assert!(answer.phases.iter().all(|phase| phase.bytes_per_s > 3e8), "{:?}", answer.phases);
}

#[test]
fn what_is_wrong_is_named_with_a_hint() {
    let wrong_key = question("600p-512gb", FILL, 1, &[("cache.mod", "pure-xlc")]);
    let failure = simulate(&wrong_key, &|_| {}).map(|_| ()).unwrap_err();
    assert!(failure.message.contains("unknown key cache.mod"), "{failure:?}");
    assert!(failure.hint.contains("cache.mode"), "{failure:?}");
    let wrong_job = question("600p-512gb", "[a]\nrw=wirte\n", 1, &[]);
    assert!(simulate(&wrong_job, &|_| {}).map(|_| ()).unwrap_err().message.contains("wirte"));
}

#[test]
fn filming_changes_nothing() {
    let question = question("660p-1tb", "[a]\nrw=randwrite\nbs=4k\niodepth=8\nio_size=200m\n", 1, &[]);
    let (answer, _) = simulate(&question, &|_| {}).unwrap_or_else(|failure| panic!("{failure:?}"));
    let library = |name: &str| question.library.get(name).cloned();
    let config = profile::load("p", &question.profile, &library, &[]).unwrap().config;
    let jobs = pslc_load::job::parse(
        "job",
        &question.job,
        &[],
        pslc_load::job::Ground::Simulated,
        config.capacity_bytes,
        &|_| None,
    )
    .unwrap();
    let mut target = SimTarget::new(Nanos::ZERO, Machine::new(&config));
    pslc_load::lay_out(&mut target, &jobs, pslc_load::job::Ground::Simulated, &mut |_: &_| true).unwrap();
    let recording = pslc_load::run(&mut target, &jobs, 1, &mut |_: &pslc_load::Progress| true);
    assert_eq!(answer.end_ns, recording.end.0);
    let names = target.columns();
    assert_eq!(answer.curve, pslc_web::Curve::new(&recording.bytes, names, &recording.before));
}
