//! fio job files: sections of `option=value`, [global] before them, `${ENV}`, comments.

use super::error::{FileFault, JobError, JobFault, ValueFault};
use super::limits::{MOST_BYTES, MOST_OPTIONS, MOST_SECTIONS, MOST_SLOTS};
use super::options::{find, Tier, OPTIONS};
use super::values::without_unit;
use super::{engines, keywords, words, Draft, Job};

/// Where jobs are to run; some options mean something only on a real drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ground {
    Simulated,
    Real,
}

/// Read a job file for a target of `capacity_bytes`. `source` is its name in errors, until a line `#line N FILE` says
/// that the next one is line N of another; `#line 0 FILE` begins a job file with a [global] of its own, whose jobs run
/// behind those before, as in fio. `overrides` are `option`, `value` pairs that win over every section; `env`
/// looks up `${NAME}` by its name, and fio's keywords, such as `$ncpus`, by theirs with the dollar sign.
pub fn parse(
    source: &str,
    text: &str,
    overrides: &[(String, String)],
    ground: Ground,
    capacity_bytes: u64,
    env: &dyn Fn(&str) -> Option<String>,
) -> Result<Vec<Job>, JobError> {
    let whole = |fault: FileFault| Err(refused(source, fault));
    if text.len() > MOST_BYTES {
        return whole(FileFault::LongFile { bytes: text.len() });
    }
    let mut jobs: Vec<Job> = Vec::new();
    let mut group = 0;
    for Section { name, place, mut lines, behind } in sections(source, text)? {
        lines.extend(overrides.iter().map(|(option, value)| Line {
            place: if value.is_empty() { format!("--{option}") } else { format!("--{option}={value}") },
            option: option.clone(),
            value: value.clone(),
            global: false,
            included: false,
        }));
        let given = |option| last_of(option, &lines).is_some_and(|line| line.value != "0");
        if !jobs.is_empty() && (behind || given("new_group") || given("stonewall")) {
            group += 1;
        }
        let mut job = section(&name, &place, &lines, ground, capacity_bytes, env)?;
        job.group = group;
        job.stonewall |= behind;
        beside_earlier(&job, &jobs).map_err(|fault| refused(&place, fault))?;
        jobs.push(job);
    }
    if jobs.is_empty() {
        return whole(FileFault::NoJob);
    }
    let slots: u64 = jobs.iter().map(|job| job.numjobs as u64 * job.iodepth as u64).sum();
    if slots > MOST_SLOTS {
        return whole(FileFault::ManySlots { slots });
    }
    Ok(jobs)
}

/// Whether a job agrees with those that stand before it in the file.
fn beside_earlier(job: &Job, earlier: &[Job]) -> Result<(), FileFault> {
    let name = &job.name;
    if let Some(waited) = job.wait_for.as_ref().filter(|&waited| earlier.iter().all(|job| job.name != *waited)) {
        return Err(FileFault::NoJobToWaitFor { waited: waited.clone(), job: name.clone() });
    }
    let of_group = |other: &&Job| other.group == job.group && other.steady_state != job.steady_state;
    if let Some(other) = earlier.iter().find(of_group) {
        return Err(FileFault::SteadyStates { job: name.clone(), other: other.name.clone() });
    }
    Ok(())
}

/// Of a job that verifies on a simulated drive.
const UNSEEN: &str =
    "nothing is verified, for a simulated drive keeps no data; under pslc serve it does, and fio can verify them";

#[derive(Clone, Debug)]
struct Line {
    place: String,
    option: String,
    value: String,
    /// It stands in [global].
    global: bool,
    /// It stands in a file that another one includes.
    included: bool,
}

/// The line of an option that counts, under any of its names.
fn last_of<'a>(option: &str, lines: &'a [Line]) -> Option<&'a Line> {
    let names = find(option).map_or(&[][..], |row| row.names);
    lines.iter().rev().find(|line| names.contains(&line.option.as_str()))
}

/// A job with its own lines behind those of [global].
struct Section {
    name: String,
    place: String,
    lines: Vec<Line>,
    /// It is the first one of a further file.
    behind: bool,
}

/// The sections of job files while their lines are read.
#[derive(Default)]
struct Sections {
    list: Vec<Section>,
    global: Vec<Line>,
    /// Whether lines are [global]'s; before any section they are nobody's.
    in_global: Option<bool>,
    /// Lines of all sections, those of [global] in each.
    options: usize,
    /// The next section is the first of a further file.
    behind: bool,
}

impl Sections {
    /// A further job file begins.
    fn begin_file(&mut self) {
        self.global.clear();
        (self.in_global, self.behind) = (None, true);
    }

    /// A line with a name in brackets, without the first.
    fn begin(&mut self, name: &str, source: &str, place: String, included: bool) -> Result<(), JobError> {
        let Some(name) = name.strip_suffix(']').map(str::trim).filter(|name| !name.is_empty()) else {
            let fault = if included { FileFault::Included } else { FileFault::NoSection { text: name.into() } };
            return Err(refused(&place, fault));
        };
        if self.list.len() == MOST_SECTIONS {
            return Err(refused(source, FileFault::ManySections));
        }
        self.in_global = Some(name.starts_with("global"));
        if self.in_global == Some(true) {
            return Ok(());
        }
        self.options += self.global.len();
        if self.options > MOST_OPTIONS {
            return Err(refused(source, FileFault::ManyOptions));
        }
        let (lines, behind) = (self.global.clone(), std::mem::take(&mut self.behind));
        self.list.push(Section { name: name.to_string(), place, lines, behind });
        Ok(())
    }

    fn option(&mut self, text: &str, place: String, included: bool) -> Result<(), JobError> {
        let (option, value) = text.split_once('=').unwrap_or((text, ""));
        let (option, value) = (option.trim().to_string(), value.trim().to_string());
        let Some(global) = self.in_global else {
            let is_shown = !included || find(&option).is_some();
            let fault = if is_shown { FileFault::BeforeSections { option } } else { FileFault::Included };
            return Err(refused(&place, fault));
        };
        let line = Line { place, option, value, global, included };
        match self.list.last_mut() {
            Some(section) if !global => section.lines.push(line),
            _ => self.global.push(line),
        }
        Ok(())
    }
}

fn sections(source: &str, text: &str) -> Result<Vec<Section>, JobError> {
    let mut sections = Sections::default();
    let (mut source, mut number, mut named) = (source, 0, source);
    for raw in text.lines() {
        number += 1;
        let marker = raw.strip_prefix("#line ").and_then(|rest| rest.split_once(' '));
        if let Some((line, name)) = marker.and_then(|(line, name)| Some((line.parse::<usize>().ok()?, name))) {
            (source, number) = (name, line.saturating_sub(1));
            if line == 0 {
                // A further file of the command line.
                named = name;
                sections.begin_file();
            }
            continue;
        }
        let place = format!("{source}:{number}");
        let line = raw.split([';', '#']).next().unwrap_or_default().trim();
        match line.strip_prefix('[') {
            _ if line.is_empty() => {}
            Some(name) => sections.begin(name, source, place, source != named)?,
            None => sections.option(line, place, source != named)?,
        }
    }
    Ok(sections.list)
}

/// A fault at its place.
fn refused(place: &str, fault: impl Into<JobFault>) -> JobError {
    JobError { place: place.to_string(), fault: Box::new(fault.into()) }
}

/// Options of fio's command line that say nothing of a job.
const COMMAND_LINE: &[&str] =
    &["output", "output-format", "readonly", "parse-only", "section", "bandwidth-log", "max-jobs", "debug"];

fn section(
    name: &str,
    place: &str,
    lines: &[Line],
    ground: Ground,
    capacity: u64,
    env: &dyn Fn(&str) -> Option<String>,
) -> Result<Job, JobError> {
    let mut draft = Draft::new(capacity);
    draft.job.name = name.to_string();
    // Another engine has options of its own, so it is looked at first.
    let engine = lines.iter().rev().find(|line| line.option == "ioengine");
    if let Some((line, engines::Engine::Other(why))) =
        engine.and_then(|line| engines::find(&line.value).map(|engine| (line, engine)))
    {
        return Err(refused(&line.place, FileFault::OtherEngine { engine: line.value.clone(), why }));
    }
    for line in lines {
        obey(&mut draft, line, ground, env)?;
    }
    let finished = draft.finish().map_err(|(option, wrong)| {
        let line = last_of(option, lines);
        let as_read = line.and_then(|line| Some((line.value.clone(), without_unit(&line.value)?.to_string())));
        let fault = JobFault::Whole { option, wrong, as_read };
        refused(line.map_or(place, |line| &line.place), fault)
    });
    let mut job = finished?;
    if let (Ground::Simulated, Some((low, high)), true) = (ground, job.asked.filesize, job.strided.is_some()) {
        // As of fio's null engine, whose file is as large as it says: zones go on to its end.
        job.capacity = job.capacity.min(low.midpoint(high));
    }
    if let (Ground::Simulated, Some(verify)) = (ground, &job.verify) {
        job.notes.push(format!("verify={}: {UNSEEN}", verify.sum.name()));
    }
    Ok(job)
}

/// Take one line of a section into its draft, or say why not.
fn obey(draft: &mut Draft, line: &Line, ground: Ground, env: &dyn Fn(&str) -> Option<String>) -> Result<(), JobError> {
    let row = find(&line.option).ok_or_else(|| unknown(line))?;
    let apply = match (&row.tier, ground) {
        (Tier::Obey(apply, _), _) | (Tier::Real(apply, _), Ground::Real) => Some(apply),
        _ => None,
    };
    let value = match expand(&line.value, env) {
        Ok(value) => value,
        // What nobody looks at need not be set.
        Err(_) if apply.is_none() => line.value.clone(),
        Err(fault) => return Err(refused(&line.place, fault)),
    };
    draft.job.options.push((line.option.clone(), value.clone()));
    draft.job.global_options += usize::from(line.global);
    let by_option = |wrong| refused(&line.place, JobFault::Option { option: line.option.clone(), wrong });
    if let (Tier::Real(apply, _), Ground::Simulated) = (&row.tier, ground) {
        // It says nothing here, and may not be wrong for that.
        apply(&mut draft.clone(), &value).map_err(by_option)?;
    }
    words::check(&line.option, &value).map_err(by_option)?;
    if let Some(apply) = apply {
        // A name in [global] is that of no job.
        if !(line.global && line.option == "name") {
            apply(draft, &value).map_err(by_option)?;
        }
        let read = without_unit(&value);
        draft.job.notes.extend(read.map(|read| format!("{}={value} is {read}, as fio reads it", line.option)));
        return Ok(());
    }
    let ignored = match row.tier {
        Tier::Refuse(why, unless) if !unless.contains(&value.as_str()) => {
            return Err(refused(&line.place, FileFault::NotRun { option: line.option.clone(), why }));
        }
        Tier::Ignore(why) | Tier::Real(_, why) => why,
        _ => return Ok(()),
    };
    let note = format!("{} is ignored: {ignored}", line.option);
    if !draft.job.notes.contains(&note) {
        draft.job.notes.push(note);
    }
    Ok(())
}

/// What is wrong with a line whose option is none of fio's that concern a job.
fn unknown(line: &Line) -> JobError {
    let option = line.option.clone();
    let fault = match engines::option(&option) {
        Some(whose) => FileFault::OptionOfEngine { option, whose },
        None if COMMAND_LINE.contains(&option.as_str()) => FileFault::CommandLine { option },
        None if line.included => FileFault::Included,
        None => {
            let names = OPTIONS.iter().flat_map(|row| row.names.iter().copied());
            let near = pslc_ssd::profile::nearest(&option, names);
            FileFault::UnknownOption { option, near }
        }
    };
    refused(&line.place, fault)
}

/// Replace `${NAME}` by the environment's value, and work out fio's keywords.
fn expand(value: &str, env: &dyn Fn(&str) -> Option<String>) -> Result<String, ValueFault> {
    let mut out = String::new();
    let mut rest = value;
    while let Some(at) = rest.find("${") {
        let Some(end) = rest[at..].find('}') else { break };
        let name = &rest[at + 2..at + end];
        out.push_str(&rest[..at]);
        out.push_str(&env(name).ok_or_else(|| ValueFault::NotSet { name: name.into() })?);
        rest = &rest[at + end + 1..];
    }
    out.push_str(rest);
    keywords::replace(&out, env)
}
