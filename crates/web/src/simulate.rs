//! A question about a drive, answered by running it.

use std::collections::{BTreeMap, HashMap};

use pslc_load::job::{self, Ground};
use pslc_load::record::Recording;
use pslc_load::{lay_out, run, Progress, SimTarget, Target};
use pslc_ssd::profile::{self, Profile};
use pslc_ssd::{Config, Hint, Machine, Nanos, Words};
use serde::{Deserialize, Serialize};

use crate::curve::Curve;
use crate::film::{Film, Filmed};
use crate::parts::{self, MadeProfile};
use crate::phases::Phase;

/// A drive and what it is asked to do.
#[derive(Clone, Debug, Deserialize)]
pub struct Question {
    /// TOML, and what it is called in errors.
    pub profile: String,
    #[serde(default = "a_profile")]
    pub name: String,
    /// Texts of profiles by name, for `base =`.
    #[serde(default)]
    pub library: HashMap<String, String>,
    /// JSON of parts by kind and name (`nand/NAME`, `controller/NAME`), for `nand.part =` and `controller.part =`.
    #[serde(default)]
    pub parts: HashMap<String, String>,
    /// Keys and values that win over the profile.
    #[serde(default)]
    pub overrides: Vec<(String, String)>,
    /// A job file; its sizes are those of the drive that is run, so a scaled one is asked in percent.
    pub job: String,
    /// The drive is so many times smaller, and the answer is of that drive.
    #[serde(default = "whole")]
    pub denominator: u32,
    #[serde(default = "seed")]
    pub seed: u64,
}

fn a_profile() -> String {
    "profile".into()
}

fn whole() -> u32 {
    1
}

fn seed() -> u64 {
    1
}

/// What is wrong with a question, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Failure {
    pub message: String,
    pub hint: String,
}

impl Failure {
    pub(crate) fn new(error: &dyn std::fmt::Display, hint: Hint) -> Failure {
        Failure { message: error.to_string(), hint: hint.into_owned() }
    }
}

/// When a picture was taken.
#[derive(Clone, Copy, Debug, Serialize)]
struct Moment {
    at_ns: u64,
    moved_bytes: u64,
}

#[derive(Clone, Debug, Serialize)]
pub struct Answer {
    drive: DriveFacts,
    pub denominator: u32,
    /// By bytes, in bins of equal size.
    pub curve: Curve,
    /// By time, in bins of equal time.
    pub over_time: Curve,
    pub start_ns: u64,
    pub end_ns: u64,
    pub phases: Vec<Phase>,
    /// The drive's counters at the end, and what they were at the beginning.
    counters: BTreeMap<&'static str, u64>,
    counters_before: BTreeMap<&'static str, u64>,
    film: Vec<Moment>,
    /// The drive is mended to what the profile may not have meant; a sentence each.
    notes: Vec<String>,
    interrupted: Option<String>,
}

#[derive(Clone, Debug, Serialize)]
struct DriveFacts {
    name: String,
    capacity_bytes: u64,
    cache_bytes: u64,
    cache_mode: String,
    when_full: String,
    bits_per_cell: u32,
    superblocks: u32,
    link_write_bytes_per_s: u64,
}

/// Run the drive. `report` is called with how far it has come, in permille.
///
/// # Errors
///
/// The profile, the job or the scale cannot be: `Failure` says what, and what to do.
pub fn simulate(question: &Question, report: &dyn Fn(u32)) -> Result<(Answer, Film), Failure> {
    let config = config(question)?;
    let mut target = SimTarget::new(Nanos::ZERO, Machine::new(&config));
    let jobs = job::parse("job", &question.job, &[], Ground::Simulated, config.capacity_bytes, &|_| None)
        .map_err(|error| Failure::new(&error, error.hint()))?;
    lay_out(&mut target, &jobs, Ground::Simulated, &mut |_: &_| true)
        .map_err(|error| Failure { message: error.to_string(), hint: "ask for less".into() })?;
    let start = target.now();
    let mut filmed = Filmed { target: &mut target, film: Film::default() };
    let mut look = |progress: &Progress| {
        report(permille(progress));
        true
    };
    let recording = run(&mut filmed, &jobs, question.seed, &mut look);
    let film = filmed.film;
    let names = target.columns();
    let curve = Curve::new(&recording.bytes, names, &recording.before);
    let over_time = Curve::new(&recording.time, names, &recording.before);
    let counters = |values: &[u64]| names.iter().copied().zip(values.iter().copied()).collect();
    let answer = Answer {
        drive: facts(&config, target.drive().link_ceilings().1),
        denominator: question.denominator,
        phases: Phase::all(&curve, start.0, &pauses(&recording)),
        curve,
        over_time,
        start_ns: start.0,
        end_ns: recording.end.0,
        counters: counters(&recording.totals),
        counters_before: counters(&recording.before),
        film: film.frames.iter().map(|frame| Moment { at_ns: frame.at.0, moved_bytes: frame.moved_bytes }).collect(),
        notes: config.notes(),
        interrupted: recording.error.map(|error| error.to_string()),
    };
    Ok((answer, film))
}

fn load(question: &Question) -> Result<Profile, Failure> {
    let texts = parts::foundation(question)?;
    let library = |name: &str| texts.get(name).cloned();
    profile::load(&question.name, &question.profile, &library, &question.overrides)
        .map_err(|error| Failure::new(&error, error.hint()))
}

/// The whole drive as a profile that stands alone.
pub fn resolved(question: &Question) -> Result<MadeProfile, Failure> {
    Ok(MadeProfile { profile: load(question)?.to_toml() })
}

fn config(question: &Question) -> Result<Config, Failure> {
    let whole = load(question)?.config;
    if question.denominator == 1 {
        return Ok(whole);
    }
    whole.scaled(1, question.denominator).ok_or_else(|| Failure {
        message: format!(
            "the drive cannot be 1/{} of itself: a block of {} pages has no such part of whole word lines",
            question.denominator, whole.nand.pages_per_block
        ),
        hint: "ask for the whole drive".into(),
    })
}

/// Between the end of all jobs so far and the start of the next.
fn pauses(recording: &Recording) -> Vec<(u64, u64)> {
    let mut jobs: Vec<(u64, u64)> = recording.stats.iter().map(|job| (job.start.0, job.end.0)).collect();
    jobs.sort_unstable();
    let mut ended = jobs.first().map_or(0, |(_, end)| *end);
    let mut pauses = Vec::new();
    for (start, end) in jobs {
        if start > ended {
            pauses.push((ended, start));
        }
        ended = ended.max(end);
    }
    pauses
}

fn permille(progress: &Progress) -> u32 {
    let share = |done: u64, all: u64| (done as u128 * 1000 / all.max(1) as u128).min(1000) as u32;
    match progress.total_bytes {
        0 => share(progress.elapsed.0, progress.total_time.0),
        total => share(progress.done_bytes, total),
    }
}

fn facts(config: &Config, link_write_bytes_per_s: u64) -> DriveFacts {
    DriveFacts {
        name: config.name.clone(),
        capacity_bytes: config.capacity_bytes,
        cache_bytes: config.cache.most_bytes(),
        cache_mode: config.cache.mode.word().into(),
        when_full: config.cache.when_full.word().into(),
        bits_per_cell: config.nand.bits_per_cell,
        superblocks: config.nand.superblocks(),
        link_write_bytes_per_s,
    }
}
