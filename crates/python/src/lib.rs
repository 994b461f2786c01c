//! The Python binding: conversions only. Its contract is python/pslc/_native.pyi.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use pslc_load::job;
use pslc_load::record::{buckets, Latency, Recording, Series, Unit};
use pslc_load::{Progress, SimTarget, Target};
use pslc_ssd::profile::{self, Profile};
use pslc_ssd::{CellMode, Drive, Nanos};
use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyKeyboardInterrupt};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};

create_exception!(_native, PslcError, PyException);

/// Between two calls of `progress`.
const TICK: Duration = Duration::from_millis(100);

fn refused(error: impl std::fmt::Display) -> PyErr {
    PslcError::new_err(error.to_string())
}

#[pyfunction]
fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}

#[pyclass]
struct SimDrive {
    profile: Profile,
    target: SimTarget,
}

#[pymethods]
impl SimDrive {
    #[new]
    fn new(
        source: &str,
        text: &str,
        library: HashMap<String, String>,
        overrides: Vec<(String, String)>,
    ) -> PyResult<SimDrive> {
        let profile =
            profile::load(source, text, &|name| library.get(name).cloned(), &overrides).map_err(refused)?;
        let target = SimTarget::new(Drive::new(&profile.config));
        Ok(SimDrive { profile, target })
    }

    #[getter]
    fn name(&self) -> &str {
        &self.profile.config.name
    }

    #[getter]
    fn capacity_bytes(&self) -> u64 {
        self.target.capacity_bytes()
    }

    #[getter]
    fn now_ns(&mut self) -> u64 {
        self.target.now().0
    }

    #[getter]
    fn columns(&self) -> &'static [&'static str] {
        self.target.columns()
    }

    fn facts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let config = &self.profile.config;
        let nand = &config.nand;
        let (written, read) = self.target.drive().link_ceilings();
        let facts = PyDict::new(py);
        facts.set_item("channels", nand.channels)?;
        facts.set_item("dies", nand.dies)?;
        facts.set_item("planes", nand.planes)?;
        facts.set_item("blocks_per_plane", nand.blocks_per_plane)?;
        facts.set_item("pages_per_block", nand.pages_per_block)?;
        facts.set_item("page_bytes", nand.page_bytes)?;
        facts.set_item("bits_per_cell", nand.bits_per_cell)?;
        facts.set_item("superblocks", nand.superblocks())?;
        for (word, mode) in [("slc", CellMode::Slc), ("native", CellMode::Native)] {
            let superblock = nand.superblock_bytes(mode);
            facts.set_item(format!("{word}_superblock_bytes"), superblock)?;
            facts.set_item(format!("{word}_raw_bytes"), superblock * nand.superblocks() as u64)?;
            facts.set_item(format!("{word}_write_bytes_per_s"), nand.program_bytes_per_s(mode))?;
        }
        facts.set_item("link_bytes_per_s", written)?;
        facts.set_item("link_read_bytes_per_s", read)?;
        Ok(facts)
    }

    fn provenance(&self) -> Vec<(String, String)> {
        self.profile.provenance.clone()
    }

    fn profile(&self) -> String {
        self.profile.to_toml()
    }

    fn fork(&self, py: Python<'_>) -> SimDrive {
        let copy = || SimDrive { profile: self.profile.clone(), target: self.target.clone() };
        py.detach(copy)
    }

    fn idle(&mut self, py: Python<'_>, ns: u64) {
        let target = &mut self.target;
        py.detach(|| {
            let until = target.now().saturating_add(Nanos(ns));
            target.next(until).expect("a simulated drive does not fail");
        });
    }

    #[pyo3(signature = (jobs, source, overrides, seed, progress=None))]
    fn run<'py>(
        &mut self,
        py: Python<'py>,
        jobs: &str,
        source: &str,
        overrides: Vec<(String, String)>,
        seed: u64,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let capacity = self.target.capacity_bytes();
        let env = |name: &str| std::env::var(name).ok();
        let jobs = job::parse(source, jobs, &overrides, capacity, &env).map_err(refused)?;
        let mut watch = Watch::new(progress);
        let begin = Instant::now();
        let target = &mut self.target;
        let recording = py.detach(|| pslc_load::run(target, &jobs, seed, &mut |so_far| watch.look(so_far)));
        let wall = begin.elapsed();
        if let Some(error) = watch.error {
            return Err(error);
        }
        let units = recording.units.iter().map(|unit| unit_dict(py, unit, &jobs, recording.end));
        let out = PyDict::new(py);
        out.set_item("interrupted", recording.interrupted)?;
        out.set_item("error", recording.error.as_ref().map(ToString::to_string))?;
        out.set_item("drive_time_ns", (recording.end - recording.start).0)?;
        out.set_item("wall_s", wall.as_secs_f64())?;
        out.set_item("jobs", PyList::new(py, units.collect::<PyResult<Vec<_>>>()?)?)?;
        out.set_item("series", series_dict(py, &recording, self.target.columns())?)?;
        for (word, values) in [("before", &recording.before), ("totals", &recording.totals)] {
            let columns = PyDict::new(py);
            for (name, value) in self.target.columns().iter().zip(values) {
                columns.set_item(name, value)?;
            }
            out.set_item(word, columns)?;
        }
        Ok(out)
    }
}

/// Calls `progress` now and then, and ends the run when it says so or a signal came.
struct Watch {
    progress: Option<Py<PyAny>>,
    due: Instant,
    before: (u64, Nanos),
    /// Raised by `progress`; an interrupt is none, it ends the run and keeps what was recorded.
    error: Option<PyErr>,
}

impl Watch {
    fn new(progress: Option<Py<PyAny>>) -> Watch {
        Watch { progress, due: Instant::now() + TICK, before: (0, Nanos::ZERO), error: None }
    }

    fn look(&mut self, so_far: &Progress) -> bool {
        if Instant::now() < self.due {
            return true;
        }
        self.due = Instant::now() + TICK;
        let (bytes, elapsed) = self.before;
        self.before = (so_far.done_bytes, so_far.elapsed);
        let seconds = so_far.elapsed.saturating_sub(elapsed).as_secs_f64();
        let speed = if seconds > 0.0 { (so_far.done_bytes - bytes) as f64 / seconds } else { 0.0 };
        let told = Python::attach(|py| {
            py.check_signals()?;
            let Some(progress) = &self.progress else { return Ok(true) };
            let state = PyDict::new(py);
            state.set_item("done_bytes", so_far.done_bytes)?;
            state.set_item("total_bytes", so_far.total_bytes)?;
            state.set_item("drive_time_ns", so_far.elapsed.0)?;
            state.set_item("total_time_ns", so_far.total_time.0)?;
            state.set_item("bytes_per_s", speed)?;
            progress.call1(py, (state,))?.extract::<bool>(py)
        });
        told.unwrap_or_else(|error| {
            let interrupt = Python::attach(|py| error.is_instance_of::<PyKeyboardInterrupt>(py));
            if !interrupt {
                self.error = Some(error);
            }
            false
        })
    }
}

fn unit_dict<'py>(
    py: Python<'py>,
    unit: &Unit,
    jobs: &[job::Job],
    end: Nanos,
) -> PyResult<Bound<'py, PyDict>> {
    let job = &jobs[unit.job];
    // A unit that was cut off ended with the run.
    let end = if unit.end == Nanos::ZERO { end } else { unit.end };
    let elapsed = end.saturating_sub(unit.start).0;
    let out = PyDict::new(py);
    out.set_item("name", &unit.name)?;
    out.set_item("groupid", unit.group)?;
    let options = PyDict::new(py);
    for (name, value) in &job.options {
        options.set_item(name, value)?;
    }
    out.set_item("options", options)?;
    out.set_item("notes", job.notes.clone())?;
    out.set_item("iodepth", job.iodepth)?;
    out.set_item("elapsed_ns", elapsed)?;
    for (word, latency) in ["read", "write", "trim", "sync"].iter().zip(&unit.kinds) {
        out.set_item(word, latency_dict(py, latency, elapsed)?)?;
    }
    let submitted: u64 = unit.depths.iter().sum();
    let levels = PyDict::new(py);
    for (name, count) in ["1", "2", "4", "8", "16", "32", ">=64"].iter().zip(unit.depths) {
        levels.set_item(name, percent(count, submitted))?;
    }
    out.set_item("iodepth_level", levels)?;
    let requests: u64 = unit.kinds[..3].iter().map(|latency| latency.count).sum();
    let tables = [("ns", PyDict::new(py)), ("us", PyDict::new(py)), ("ms", PyDict::new(py))];
    for (of, upper, count) in buckets(unit.kinds[..3].iter()) {
        let table = tables.iter().find(|(word, _)| *word == of).map(|(_, table)| table);
        table.expect("a table of each unit").set_item(upper, percent(count, requests))?;
    }
    for (word, table) in tables {
        out.set_item(format!("latency_{word}"), table)?;
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

fn latency_dict<'py>(py: Python<'py>, latency: &Latency, elapsed: u64) -> PyResult<Bound<'py, PyDict>> {
    let out = PyDict::new(py);
    out.set_item("io_bytes", latency.bytes)?;
    out.set_item("total_ios", latency.count)?;
    out.set_item("runtime_ns", if latency.count > 0 { elapsed } else { 0 })?;
    let lat = PyDict::new(py);
    lat.set_item("min", if latency.count > 0 { latency.min_ns } else { 0 })?;
    lat.set_item("max", latency.max_ns)?;
    lat.set_item("mean", latency.mean_ns())?;
    lat.set_item("stddev", latency.stddev_ns())?;
    lat.set_item("n", latency.count)?;
    let percentiles = PyDict::new(py);
    for (name, ns) in latency.percentiles() {
        percentiles.set_item(name, ns)?;
    }
    lat.set_item("percentile", percentiles)?;
    out.set_item("lat_ns", lat)?;
    Ok(out)
}

fn series_dict<'py>(py: Python<'py>, recording: &Recording, names: &[&str]) -> PyResult<Bound<'py, PyDict>> {
    let axis = |series: &Series| {
        let columns = PyDict::new(py);
        for (name, values) in series.columns(names) {
            let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
            columns.set_item(name, PyBytes::new(py, &bytes))?;
        }
        Ok::<_, PyErr>(columns)
    };
    let out = PyDict::new(py);
    out.set_item("time", axis(&recording.time)?)?;
    out.set_item("bytes", axis(&recording.bytes)?)?;
    Ok(out)
}

#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("PslcError", module.py().get_type::<PslcError>())?;
    module.add_function(wrap_pyfunction!(version, module)?)?;
    module.add_class::<SimDrive>()
}
