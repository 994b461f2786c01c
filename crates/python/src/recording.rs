//! A recording as Python objects.

use std::ops::Range;

use pslc_load::job::Job;
use pslc_load::record::{buckets, Entry, JobStats, Latency, Log, Recording, Series, Spread, Steadiness, Verified};
use pslc_load::verify::Verify;
use pslc_load::{TargetError, Usage};
use pslc_ssd::Nanos;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};

use crate::survey;

/// The recording of a run of `jobs` on a target with these columns.
pub fn dict<'py>(py: Python<'py>, recording: &Recording, jobs: &[Job], names: &[&str]) -> PyResult<Bound<'py, PyDict>> {
    // Jobs that never began, of a run that was cut off or ended by another job, say nothing: not even that they moved 0
    // bytes a second. They are kept apart, with their places among all, as fio shows them.
    let (mut each, mut unbegun) = (Vec::new(), Vec::new());
    for (at, stats) in recording.stats.iter().enumerate() {
        let job = stats_dict(py, stats, jobs, recording.end)?;
        if stats.start <= recording.end {
            each.push(job);
        } else {
            unbegun.push((at, job));
        }
    }
    let out = dict! { py;
        "interrupted" => recording.interrupted,
        "error" => recording.error.as_ref().map(ToString::to_string),
        "error_code" => recording.error.as_ref().map(TargetError::code),
        "start_ns" => recording.start.0,
        "drive_time_ns" => recording.end.saturating_sub(recording.start).0,
        "jobs" => PyList::new(py, each)?,
        "unbegun" => PyList::new(py, unbegun)?,
        "series" => series_dict(py, recording, names)?,
    }?;
    let logs = recording.logs.iter().map(|log| log_dict(py, log, &jobs[log.job]));
    out.set_item("logs", PyList::new(py, logs.collect::<PyResult<Vec<_>>>()?)?)?;
    if let Some(dump) = recording.error.as_ref().map(|error| dump_dict(py, error)).transpose()?.flatten() {
        out.set_item("dump", dump)?;
    }
    if let Some(seen_blocks) = &recording.survey {
        out.set_item("survey", survey::dict(py, seen_blocks)?)?;
    }
    for (word, values) in [("before", &recording.before), ("totals", &recording.totals)] {
        let columns = PyDict::new(py);
        for (name, value) in names.iter().zip(values) {
            columns.set_item(name, value)?;
        }
        out.set_item(word, columns)?;
    }
    Ok(out)
}

fn stats_dict<'py>(py: Python<'py>, stats: &JobStats, jobs: &[Job], end: Nanos) -> PyResult<Bound<'py, PyDict>> {
    let job = &jobs[stats.job];
    // Under `group_reporting` fio shows the options of the last, and what they ask of latencies.
    let group = jobs.iter().rfind(|other| other.group == job.group && other.group_reporting);
    let last = group.filter(|_| job.group_reporting).unwrap_or(job);
    let percentiles = &last.percentiles[..];
    // A job that was cut off ended with the run.
    let end = if stats.end == Nanos::ZERO { end } else { stats.end };
    let elapsed = end.saturating_sub(stats.start).0;
    let out = dict! { py;
        "name" => &stats.name,
        "groupid" => stats.group,
    }?;
    describe_job(&out, job, last)?;
    let clones: u32 = if job.group_reporting {
        jobs.iter().filter(|of| of.group_reporting && of.group == job.group).map(|of| of.numjobs).sum()
    } else {
        1
    };
    out.set_item("clones", clones)?;
    out.set_item("latency_target", latency_target_dict(py, last, stats)?)?;
    if let Some(steady) = &stats.steady {
        out.set_item("steadystate", steady_dict(py, steady)?)?;
    }
    out.set_item("start_ns", stats.start.min(end).0)?;
    out.set_item("elapsed_ns", elapsed)?;
    out.set_item("worked_ns", if stats.worked == Nanos::ZERO { elapsed } else { stats.worked.0 })?;
    for (number, word) in ["read", "write", "trim"].into_iter().enumerate() {
        out.set_item(word, kind_dict(py, stats, number..number + 1, elapsed, percentiles)?)?;
    }
    if job.unified {
        out.set_item("mixed", kind_dict(py, stats, 0..3, elapsed, percentiles)?)?;
    }
    out.set_item("sync", latency_dict(py, &stats.kinds[3], elapsed, percentiles)?)?;
    out.set_item("fsyncs", stats.fsyncs)?;
    if let Some(verify) = &job.verify {
        out.set_item("verified", verified_dict(py, verify, &stats.verified)?)?;
    }
    out.set_item("usage", usage_dict(py, &stats.usage)?)?;
    shares(&out, stats)?;
    Ok(out)
}

/// What a job is: its options, those of [global] and its own, which are of the last job of its group, and what is said
/// of them.
fn describe_job(out: &Bound<'_, PyDict>, job: &Job, last: &Job) -> PyResult<()> {
    let (global, own) = last.options.split_at(last.global_options);
    for (word, options) in [("options", &job.options[..]), ("global_options", global), ("own_options", own)] {
        let named = PyDict::new(out.py());
        options.iter().try_for_each(|(name, value)| named.set_item(name, value))?;
        out.set_item(word, named)?;
    }
    out.set_item("one_at_a_time", job.one_at_a_time)?;
    out.set_item("notes", job.notes.clone())?;
    out.set_item("iodepth", job.iodepth)?;
    out.set_item("size_bytes", job.size)
}

fn latency_target_dict<'py>(py: Python<'py>, job: &Job, stats: &JobStats) -> PyResult<Bound<'py, PyDict>> {
    let how = job.latency_target;
    dict! { py;
        "depth" => stats.depth,
        "target_ns" => how.target.0,
        "percentile" => how.percentile,
        "window_ns" => how.window.0,
    }
}

fn usage_dict<'py>(py: Python<'py>, usage: &Usage) -> PyResult<Bound<'py, PyDict>> {
    dict! { py;
        "user_ns" => usage.user.0,
        "system_ns" => usage.system.0,
        "switches" => usage.switches,
        "major_faults" => usage.major_faults,
        "minor_faults" => usage.minor_faults,
    }
}

/// fio's tables of shares in percent: of requests by depth, and by latency.
fn shares(out: &Bound<'_, PyDict>, stats: &JobStats) -> PyResult<()> {
    let py = out.py();
    let submitted: u64 = stats.depths.iter().sum();
    let levels = PyDict::new(py);
    for (name, count) in ["1", "2", "4", "8", "16", "32", ">=64"].iter().zip(stats.depths) {
        levels.set_item(name, percent(count, submitted))?;
    }
    out.set_item("iodepth_level", levels)?;
    let requests: u64 = stats.kinds[..3].iter().map(|latency| latency.count).sum();
    let tables = [("ns", PyDict::new(py)), ("us", PyDict::new(py)), ("ms", PyDict::new(py))];
    for (of, upper, count) in buckets(stats.kinds[..3].iter()) {
        let table = tables.iter().find(|(word, _)| *word == of).map(|(_, table)| table);
        table.expect("a table of each unit").set_item(upper, percent(count, requests))?;
    }
    for (word, table) in tables {
        out.set_item(format!("latency_{word}"), table)?;
    }
    Ok(())
}

/// What a job that verifies has found right, and what it could say nothing of.
fn verified_dict<'py>(py: Python<'py>, verify: &Verify, verified: &Verified) -> PyResult<Bound<'py, PyDict>> {
    dict! { py;
        "by" => verify.sum.name(),
        "blocks" => verified.blocks,
        "bytes" => verified.bytes,
        "unjudged_bytes" => verified.unjudged_bytes,
        "unseen_bytes" => verified.unseen_bytes,
        "wrong_reads" => verified.wrong_reads,
    }
}

/// A block that is not what was written, of a job that keeps it.
fn dump_dict<'py>(py: Python<'py>, error: &TargetError) -> PyResult<Option<Bound<'py, PyDict>>> {
    let TargetError::Corrupt { failure, .. } = error else { return Ok(None) };
    let Some(dump) = &failure.dump else { return Ok(None) };
    dict! { py;
        "offset" => failure.offset,
        "received" => PyBytes::new(py, &dump.received),
        "expected" => dump.expected.as_ref().map(|bytes| PyBytes::new(py, bytes)),
    }
    .map(Some)
}

/// Requests of these kinds, together.
fn kind_dict<'py>(
    py: Python<'py>,
    stats: &JobStats,
    kinds: Range<usize>,
    elapsed: u64,
    percentiles: &[f64],
) -> PyResult<Bound<'py, PyDict>> {
    let latency = |of: &[Latency]| {
        let mut sum = Latency::new();
        of[kinds.clone()].iter().for_each(|kind| sum.add(kind));
        sum
    };
    let spread = |of: &[Spread; 3]| of[kinds.clone()].iter().copied().reduce(Spread::beside).expect("a kind");
    let out = latency_dict(py, &latency(&stats.kinds), elapsed, percentiles)?;
    let samples = dict! { py;
        "bytes_per_s" => spread_dict(py, &spread(&stats.bytes_rate.rates))?,
        "iops" => spread_dict(py, &spread(&stats.requests_rate.rates))?,
    }?;
    out.set_item("samples", samples)?;
    let parts = [("slat_ns", latency(&stats.submission)), ("clat_ns", latency(&stats.completion))];
    for (word, part) in parts.iter().filter(|(_, part)| part.count > 0) {
        out.set_item(word, times_dict(py, part, percentiles)?)?;
    }
    Ok(out)
}

/// What was asked for, the rates of the last seconds, and what they came to.
fn steady_dict<'py>(py: Python<'py>, steady: &Steadiness) -> PyResult<Bound<'py, PyDict>> {
    let asked = steady.asked;
    let slope = if asked.slope { "_slope" } else { "" };
    let rates = |kind: usize| steady.rates.iter().map(|rate| rate[kind]).collect::<Vec<_>>();
    dict! { py;
        "criterion" => format!("{}{slope}", asked.of.word()),
        "limit" => asked.limit,
        "percent" => asked.percent,
        "duration_s" => asked.duration,
        "attained" => steady.attained,
        "value" => steady.criterion,
        "slope" => steady.slope,
        "max_deviation" => steady.deviation,
        "iops" => rates(0),
        "bytes_per_s" => rates(1),
    }
}

/// Of the samples of a rate.
fn spread_dict<'py>(py: Python<'py>, spread: &Spread) -> PyResult<Bound<'py, PyDict>> {
    dict! { py;
        "n" => spread.count,
        "min" => spread.min,
        "max" => spread.max,
        "mean" => spread.mean(),
        "stddev" => spread.stddev(),
    }
}

type Column = fn(&Entry) -> u64;

fn log_dict<'py>(py: Python<'py>, log: &Log, job: &Job) -> PyResult<Bound<'py, PyDict>> {
    let out = dict! { py;
        "name" => &job.name,
        "number" => log.number,
        "one_at_a_time" => job.one_at_a_time,
        "begin_ns" => log.begin.0,
        "counts_from_ns" => log.counts_from.0,
        "end_ns" => log.end.0,
        "options" => job.options.iter().cloned().collect::<std::collections::HashMap<_, _>>(),
    }?;
    let done = || log.entries.iter().filter(|entry| entry.latency != Nanos::MAX);
    let columns: [(&str, Column); 6] = [
        ("issued_ns", |entry| entry.issued.0),
        ("latency_ns", |entry| entry.latency.0),
        ("submission_ns", |entry| entry.submission.0),
        ("op", |entry| entry.op as u64),
        ("bytes", |entry| entry.len as u64),
        ("offset", |entry| entry.offset),
    ];
    for (name, of) in columns {
        let bytes: Vec<u8> = done().flat_map(|entry| of(entry).to_le_bytes()).collect();
        out.set_item(name, PyBytes::new(py, &bytes))?;
    }
    Ok(out)
}

fn percent(part: u64, whole: u64) -> f64 {
    if whole == 0 {
        0.0
    } else {
        100.0 * part as f64 / whole as f64
    }
}

fn latency_dict<'py>(py: Python<'py>, latency: &Latency, elapsed: u64, more: &[f64]) -> PyResult<Bound<'py, PyDict>> {
    dict! { py;
        "io_bytes" => latency.bytes,
        "total_ios" => latency.count,
        "runtime_ns" => if latency.count > 0 { elapsed } else { 0 },
        "lat_ns" => times_dict(py, latency, more)?,
    }
}

fn times_dict<'py>(py: Python<'py>, latency: &Latency, more: &[f64]) -> PyResult<Bound<'py, PyDict>> {
    let lat = dict! { py;
        "min" => if latency.count > 0 { latency.min_ns } else { 0 },
        "max" => latency.max_ns,
        "mean" => latency.mean_ns(),
        "stddev" => latency.stddev_ns(),
        "n" => latency.count,
    }?;
    let percentiles = PyDict::new(py);
    for (name, ns) in latency.percentiles(more) {
        percentiles.set_item(name, ns)?;
    }
    lat.set_item("percentile", percentiles)?;
    lat.set_item("histogram", latency.spread())?;
    lat.set_item("bins", latency.bins())?;
    Ok(lat)
}

fn series_dict<'py>(py: Python<'py>, recording: &Recording, names: &[&str]) -> PyResult<Bound<'py, PyDict>> {
    let axis = |series: &Series| {
        let columns = PyDict::new(py);
        for (name, values) in series.columns(names) {
            let bytes = PyBytes::new_with(py, size_of_val(&values[..]), |into: &mut [u8]| {
                for (to, value) in into.chunks_exact_mut(size_of::<u64>()).zip(&values) {
                    to.copy_from_slice(&value.to_le_bytes());
                }
                Ok(())
            })?;
            columns.set_item(name, bytes)?;
        }
        Ok::<_, PyErr>(columns)
    };
    dict! { py;
        "time" => axis(&recording.time)?,
        "bytes" => axis(&recording.bytes)?,
    }
}
