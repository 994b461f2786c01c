//! fio job files: sections of `option=value`, [global] before them, `${ENV}`, comments.

use super::options::{Draft, Tier, OPTIONS};
use super::{Job, JobError};

/// Where jobs are to run; some options mean something only on a real drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ground {
    Simulated,
    Real,
}

/// Bytes of a job file, its sections, and requests that all its jobs have under way at once: far beyond what a
/// measurement needs, and far below what fills a machine.
pub const MOST_BYTES: usize = 16_000_000;
pub const MOST_SECTIONS: usize = 10_000;
pub const MOST_SLOTS: u64 = 1_000_000;
/// Options of all sections, those of [global] counted in each.
pub const MOST_OPTIONS: usize = 300_000;

/// Read a job file for a target of `capacity_bytes`. `source` is its name in errors; `overrides` are `option`, `value`
/// pairs that win over every section; `env` looks up `${NAME}`.
pub fn parse(
    source: &str,
    text: &str,
    overrides: &[(String, String)],
    ground: Ground,
    capacity_bytes: u64,
    env: &dyn Fn(&str) -> Option<String>,
) -> Result<Vec<Job>, JobError> {
    let too_much = |message: String, hint: &str| {
        Err(JobError { place: source.to_string(), message, hint: hint.to_string() })
    };
    if text.len() > MOST_BYTES {
        let message = format!("{} bytes; at most {MOST_BYTES}", text.len());
        return too_much(message, "a job file is a text of a few lines");
    }
    let mut jobs: Vec<Job> = Vec::new();
    let mut global: Vec<Line> = Vec::new();
    let mut sections: Vec<(String, usize, Vec<Line>)> = Vec::new();
    let mut options = 0;
    for (index, raw) in text.lines().enumerate() {
        let place = format!("{source}:{}", index + 1);
        let line = raw.trim();
        if line.is_empty() || line.starts_with('#') || line.starts_with(';') {
            continue;
        }
        if let Some(name) = line.strip_prefix('[') {
            let Some(name) = name.strip_suffix(']').map(str::trim).filter(|n| !n.is_empty()) else {
                let hint = "a section is a name in brackets: [sequential-fill]".to_string();
                return Err(JobError { place, message: format!("\"{line}\" is no section"), hint });
            };
            if sections.len() == MOST_SECTIONS {
                let message = format!("more than {MOST_SECTIONS} sections");
                return too_much(message, "loops=N repeats a job, numjobs=N makes it several times");
            }
            options += if name == "global" { 0 } else { global.len() };
            if options > MOST_OPTIONS {
                let message =
                    format!("more than {MOST_OPTIONS} options, those of [global] counted in each section");
                return too_much(message, "give fewer sections, or fewer options in [global]");
            }
            let inherited = if name == "global" { Vec::new() } else { global.clone() };
            sections.push((name.to_string(), index + 1, inherited));
            continue;
        }
        let (option, value) = line.split_once('=').unwrap_or((line, ""));
        let value = expand(value.trim(), env).map_err(|message| JobError {
            place: place.clone(),
            message,
            hint: "set it in the environment, or write the value".into(),
        })?;
        let line = Line { place, option: option.trim().to_string(), value };
        match sections.last_mut() {
            Some((name, _, _)) if name == "global" => global.push(line),
            Some((_, _, lines)) => lines.push(line),
            None => {
                return Err(JobError {
                    place: line.place,
                    message: format!("{} stands before any section", line.option),
                    hint: "begin with [global] or a job's name in brackets".into(),
                })
            }
        }
    }
    let mut group = 0;
    for (name, at, mut lines) in sections.into_iter().filter(|(name, ..)| name != "global") {
        lines.extend(overrides.iter().map(|(option, value)| Line {
            place: format!("--{option}={value}"),
            option: option.clone(),
            value: value.clone(),
        }));
        let given = |option: &str| lines.iter().any(|line| line.option == option);
        if !jobs.is_empty() && (given("new_group") || given("stonewall")) {
            group += 1;
        }
        let mut job = section(source, &name, at, &lines, ground, capacity_bytes)?;
        job.group = group;
        jobs.push(job);
    }
    if jobs.is_empty() {
        return Err(JobError {
            place: source.to_string(),
            message: "there is no job in it".into(),
            hint: "a job is a section, [name], with options such as rw=write".into(),
        });
    }
    let slots: u64 = jobs.iter().map(|job| job.numjobs as u64 * job.iodepth as u64).sum();
    if slots > MOST_SLOTS {
        let message = format!("numjobs times iodepth is {slots} over all jobs; at most {MOST_SLOTS}");
        return too_much(message, "no drive has more than 65536 requests in each queue; give fewer numjobs");
    }
    Ok(jobs)
}

#[derive(Clone, Debug)]
struct Line {
    place: String,
    option: String,
    value: String,
}

fn section(
    source: &str,
    name: &str,
    at: usize,
    lines: &[Line],
    ground: Ground,
    capacity: u64,
) -> Result<Job, JobError> {
    let mut draft = Draft::new(capacity);
    draft.job.name = name.to_string();
    for line in lines {
        draft.job.options.push((line.option.clone(), line.value.clone()));
        if line.option == "name" {
            draft.job.name = line.value.clone();
            continue;
        }
        let row = OPTIONS.iter().find(|(names, _)| names.contains(&line.option.as_str()));
        let Some((_, tier)) = row else {
            let known = OPTIONS.iter().flat_map(|(names, _)| names.iter().copied());
            let near = pslc_ssd::profile::nearest(&line.option, known);
            return Err(JobError {
                place: line.place.clone(),
                message: format!("unknown option {}", line.option),
                hint: format!("did you mean {near}? docs/how-to.md lists what is obeyed"),
            });
        };
        let ignored = match (tier, ground) {
            (Tier::Obey(apply), _) | (Tier::Real(apply, _), Ground::Real) => {
                apply(&mut draft, &line.value).map_err(|wrong| JobError {
                    place: line.place.clone(),
                    message: format!("{}: {}", line.option, wrong.what),
                    hint: wrong.hint.unwrap_or_else(|| "as in fio's manual".into()),
                })?;
                continue;
            }
            (Tier::Ignore(why), _) | (Tier::Real(_, why), Ground::Simulated) => why,
        };
        let note = format!("{} is ignored: {ignored}", line.option);
        if !draft.job.notes.contains(&note) {
            draft.job.notes.push(note);
        }
    }
    draft.finish().map_err(|(option, wrong)| {
        let line = lines.iter().rev().find(|line| line.option == option);
        let place = line.map_or_else(|| format!("{source}:{at}"), |line| line.place.clone());
        let hint = wrong.hint.unwrap_or_else(|| "the whole target is size=100%".into());
        JobError { place, message: format!("{option}: {}", wrong.what), hint }
    })
}

/// Replace `${NAME}` by the environment's value.
fn expand(value: &str, env: &dyn Fn(&str) -> Option<String>) -> Result<String, String> {
    let mut out = String::new();
    let mut rest = value;
    while let Some(at) = rest.find("${") {
        let Some(end) = rest[at..].find('}') else { break };
        let name = &rest[at + 2..at + end];
        out.push_str(&rest[..at]);
        out.push_str(&env(name).ok_or_else(|| format!("${{{name}}} is not set"))?);
        rest = &rest[at + end + 1..];
    }
    out.push_str(rest);
    Ok(out)
}
