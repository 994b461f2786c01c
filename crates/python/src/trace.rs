//! Traces as Python sees them: what is in them, what they are written as, and their replay on a drive.

use std::path::PathBuf;

use pslc_drive::files::{self, NewFile, Replace, WriteError};
use pslc_load::job::Ground;
use pslc_load::replay::{reads_first, Fit, Footing, Pace, Replay, Replayed};
use pslc_load::traces::{self, Cut, Entry, IologWriter, Reading, Source, Trace, TraceError, TraceFault};
use pslc_load::Target;
use pslc_ssd::{Cause, Nanos, Op, Request, Words};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyDict, PyIterator};

use crate::run::Calls;
use crate::survey::{self, KINDS};
use crate::{errors, parse, run};

/// A trace that can be opened again and again.
#[pyclass(frozen)]
pub struct TraceFile {
    path: PathBuf,
    reading: Reading,
    cut: Cut,
    /// Gives an iterator of batches, for what only Python can read.
    batches: Option<Py<PyAny>>,
}

#[pymethods]
impl TraceFile {
    #[new]
    #[pyo3(signature = (path, format=None, columns=vec![], skip_broken=false, device=None, from_ns=0, to_ns=None, without=vec![], scale=1, align=1, batches=None))]
    #[allow(clippy::too_many_arguments, reason = "keywords of Python")]
    fn new(
        path: PathBuf,
        format: Option<String>,
        columns: Vec<(String, String)>,
        skip_broken: bool,
        device: Option<String>,
        from_ns: u64,
        to_ns: Option<u64>,
        without: Vec<String>,
        scale: u64,
        align: u64,
        batches: Option<Py<PyAny>>,
    ) -> TraceFile {
        let without = KINDS.iter().filter(|(name, _)| without.iter().any(|word| word == name));
        let without = without.map(|(_, op)| *op).collect();
        let cut = Cut { device, from: Nanos(from_ns), to: to_ns.map(Nanos), without, scale, align };
        TraceFile { path, reading: Reading { format, columns, skip_broken }, cut, batches }
    }

    /// What is in it.
    fn survey<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let mut trace = self.open(py)?;
        let survey = py.detach(|| traces::survey(&mut trace)).map_err(errors::trace)?;
        survey::dict(py, &survey)
    }

    /// Write it as fio's iolog; returns the number of requests.
    fn write_iolog(&self, py: Python<'_>, to: PathBuf, name: &str) -> PyResult<u64> {
        let mut trace = self.open(py)?;
        py.detach(|| {
            let failed = |error: std::io::Error| {
                let fault = TraceFault::Unwritable { message: error.to_string() };
                errors::trace(TraceError::new(to.display(), fault))
            };
            let refused = |error| match error {
                WriteError::Refused(error) => errors::guard(error.into()),
                WriteError::System { error, .. } => failed(error),
            };
            let mut file = NewFile::begin(&to, Replace::Never, files::SHARED).map_err(refused)?;
            let mut log = IologWriter::new(&mut file, name).map_err(failed)?;
            let mut count = 0;
            while let Some(entry) = trace.next_entry().map_err(errors::trace)? {
                log.write(entry.at, &entry.request).map_err(failed)?;
                count += 1;
            }
            log.finish().map_err(failed)?;
            file.commit().map_err(refused)?;
            Ok(count)
        })
    }

    /// Its requests, so many at a time.
    fn read(&self, py: Python<'_>, count: usize) -> PyResult<TraceBatches> {
        Ok(TraceBatches { trace: std::sync::Mutex::new(self.open(py)?), count })
    }
}

impl TraceFile {
    fn open(&self, py: Python<'_>) -> PyResult<Trace> {
        let Some(batches) = &self.batches else {
            return py.detach(|| Trace::open(&self.path, &self.reading, self.cut.clone())).map_err(errors::trace);
        };
        let batches = batches.bind(py).call0()?.try_iter()?.unbind();
        let source = Batches { batches, names: Vec::new(), rows: None, next: 0 };
        Ok(Trace::of(Box::new(source), "parquet", self.path.display().to_string(), self.cut.clone()))
    }
}

/// Batches of columns that come from Python.
struct Batches {
    batches: Py<PyIterator>,
    names: Vec<String>,
    /// The present batch, and its first row that was not given out yet: a few at a time stay in the processor's cache.
    rows: Option<Columns>,
    next: usize,
}

const ROWS: usize = 1024;

/// Times and response times in ns, kinds (a byte each), offsets, lengths, devices as numbers, and the names of these.
type Columns = (PyBackedBytes, PyBackedBytes, PyBackedBytes, PyBackedBytes, PyBackedBytes, PyBackedBytes, Vec<String>);

impl Batches {
    /// The next batch of Python's; false when there are no more.
    fn fetch(&mut self) -> Result<bool, TraceError> {
        let got: PyResult<Option<Columns>> = Python::attach(|py| {
            let next = self.batches.bind(py).clone().next();
            next.map(|batch| batch.and_then(|batch| batch.extract::<Columns>())).transpose()
        });
        let wrong = |error: PyErr| {
            let (message, hint) = errors::message_and_hint(error)
                .unwrap_or_else(|error| (error.to_string(), "the file may be damaged; write it again".to_string()));
            TraceError::new("", TraceFault::Batches { message, hint })
        };
        self.rows = got.map_err(wrong)?;
        if let Some((.., names)) = &self.rows {
            self.names.clone_from(names);
        }
        self.next = 0;
        Ok(self.rows.is_some())
    }
}

impl Source for Batches {
    fn fill(&mut self, into: &mut Vec<Entry>) -> Result<bool, TraceError> {
        if self.rows.is_none() && !self.fetch()? {
            return Ok(false);
        }
        let Some((at, took, kinds, offsets, lengths, devices, _)) = &self.rows else { return Ok(false) };
        let end = kinds.len().min(self.next + ROWS);
        into.extend((self.next..end).map(|row| {
            let (_, op) = KINDS[kinds[row] as usize & 3];
            let request = match op {
                Op::Flush => Request::flush(),
                _ => Request { op, offset: u64_of(offsets, row), len: u32_of(lengths, row), fua: false },
            };
            let (at, took) = (Nanos(u64_of(at, row)), Nanos(u64_of(took, row)));
            Entry { at, took, device: u32_of(devices, row), request }
        }));
        self.next = end;
        if end == kinds.len() {
            self.rows = None;
        }
        Ok(true)
    }

    fn devices(&self) -> &[String] {
        &self.names
    }
}

#[inline]
fn u64_of(column: &[u8], row: usize) -> u64 {
    u64::from_le_bytes(column[8 * row..8 * row + 8].try_into().expect("eight bytes"))
}

#[inline]
fn u32_of(column: &[u8], row: usize) -> u32 {
    u32::from_le_bytes(column[4 * row..4 * row + 4].try_into().expect("four bytes"))
}

/// An iterator over a trace.
#[pyclass(frozen)]
pub struct TraceBatches {
    trace: std::sync::Mutex<Trace>,
    count: usize,
}

#[pymethods]
impl TraceBatches {
    fn __iter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let count = self.count;
        let read = py.detach(|| {
            let mut trace = self.trace.lock().expect("nobody panics with it");
            let mut batch = Vec::with_capacity(count);
            while batch.len() < count {
                let Some(entry) = trace.next_entry()? else { break };
                batch.push(entry);
            }
            Ok((batch, trace.devices().to_vec()))
        });
        let (batch, names) = read.map_err(errors::trace)?;
        if batch.is_empty() {
            return Ok(None);
        }
        let u64s = |of: &dyn Fn(&Entry) -> u64| -> Vec<u8> { batch.iter().flat_map(|e| of(e).to_le_bytes()).collect() };
        let u32s = |of: &dyn Fn(&Entry) -> u32| -> Vec<u8> { batch.iter().flat_map(|e| of(e).to_le_bytes()).collect() };
        let kind = |entry: &Entry| KINDS.iter().position(|(_, op)| *op == entry.request.op).expect("one of them") as u8;
        dict! { py;
            "time_ns" => PyBytes::new(py, &u64s(&|e| e.at.0)),
            "took_ns" => PyBytes::new(py, &u64s(&|e| e.took.0)),
            "op" => PyBytes::new(py, &batch.iter().map(kind).collect::<Vec<u8>>()),
            "offset" => PyBytes::new(py, &u64s(&|e| e.request.offset)),
            "size" => PyBytes::new(py, &u32s(&|e| e.request.len)),
            "device" => PyBytes::new(py, &u32s(&|e| e.device)),
            "devices" => names,
        }
        .map(Some)
    }
}

#[pyfunction]
pub fn trace_formats() -> Vec<(&'static str, &'static str)> {
    traces::formats()
}

#[pyfunction]
pub fn trace_columns(names: Vec<String>, assigned: Vec<(String, String)>) -> PyResult<Vec<(String, String, u64)>> {
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let columns = traces::columns(&names, &assigned).map_err(|fault| errors::trace(TraceError::new("table", fault)))?;
    Ok(columns.into_iter().map(|(what, name, unit)| (what.to_string(), name.to_string(), unit)).collect())
}

#[pyfunction]
pub fn trace_format(py: Python<'_>, path: PathBuf) -> PyResult<Option<&'static str>> {
    py.detach(|| traces::detect(&path)).map_err(errors::trace)
}

/// How a trace is to be replayed, in Python's words.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct How {
    pace: String,
    speed: f64,
    iodepth: u32,
    fit: String,
    /// For `scale`.
    span_bytes: u64,
    prefill: bool,
    /// Of its requests, for a real drive's buffers.
    largest_bytes: u32,
    /// Tell what is in it too.
    survey: bool,
}

/// Replay a trace on a drive.
pub fn replay<'py, T: Target + Send>(
    py: Python<'py>,
    target: &mut T,
    ground: Ground,
    file: &TraceFile,
    how: &How,
    calls: &Calls,
) -> PyResult<Bound<'py, PyDict>> {
    let text = format!("[trace]\nrw=randrw\nbs=4k\nioengine=io_uring\niodepth={}\ndirect=1\n", how.iodepth);
    let mut jobs = parse("trace", &text, &[], ground, target.capacity_bytes())?;
    let real = ground == Ground::Real;
    jobs[0].options.retain(|(name, _)| name == "iodepth" || (real && name == "direct"));
    let footing = if real { Footing::real(how.largest_bytes, target.block_bytes()) } else { Footing::SIMULATED };
    jobs[0].options.push(("read_iolog".into(), file.path.display().to_string()));
    let fit = match how.fit.as_str() {
        "wrap" => Fit::Wrap,
        "compact" => Fit::Compact,
        "scale" => Fit::Scale(how.span_bytes),
        _ => Fit::Exact,
    };
    let pace = match how.pace.as_str() {
        "asap" => Pace::Asap,
        _ => Pace::Original { speed: how.speed },
    };
    let mut trace = file.open(py)?;
    let prefill = if how.prefill {
        let mut trace = file.open(py)?;
        let capacity = target.capacity_bytes();
        Some(py.detach(|| reads_first(&mut trace, fit, capacity)).map_err(errors::trace)?)
    } else {
        None
    };
    let mut outcome: Result<Replayed, TraceError> = Ok(Replayed::default());
    let (job, names, survey) = (&jobs[0], target.columns(), how.survey);
    let out = run::observed(py, &jobs, names, calls, |observer| {
        let how = Replay { pace, fit, footing, survey };
        match pslc_load::replay::replay(target, job, &mut trace, &how, prefill.as_ref(), observer) {
            Ok((recording, replayed)) => {
                outcome = Ok(replayed);
                Some(recording)
            }
            Err(error) => {
                outcome = Err(error);
                None
            }
        }
    })?;
    let replayed = outcome.map_err(errors::trace)?;
    let out = out.expect("a replay without an error has a recording");
    out.set_item("replay", replayed_dict(py, &trace, &replayed)?)?;
    Ok(out)
}

/// What a recording does not say of a replay, and what was read of the trace.
fn replayed_dict<'py>(py: Python<'py>, trace: &Trace, replayed: &Replayed) -> PyResult<Bound<'py, PyDict>> {
    let of = dict! { py;
        "format" => trace.format(),
        "devices" => trace.devices(),
        "notes" => trace.notes(),
        "skipped" => trace.skipped(),
        "empty" => trace.empty,
        "backwards_ns" => trace.backwards.0,
        "requests" => replayed.requests,
        "late" => replayed.late,
        "late_most_ns" => replayed.late_most.0,
        "late_sum_ns" => replayed.late_sum.0,
        "moved" => replayed.moved,
        "widened" => replayed.widened,
        "unwritten_bytes" => replayed.unwritten_bytes,
        "cache_most_bytes" => replayed.cache_most_bytes,
        "cache_most_at_ns" => replayed.cache_most_at.0,
        "prefilled_bytes" => replayed.prefilled_bytes,
    }?;
    let slow = replayed.slow.iter().map(|slow| {
        let by = PyDict::new(py);
        for (cause, ns) in Cause::ALL.iter().zip(slow.by) {
            by.set_item(cause.word(), ns)?;
        }
        let name = KINDS.iter().find(|(_, op)| *op == slow.op).map(|(name, _)| *name);
        Ok((name, by))
    });
    of.set_item("slow_ns", slow.collect::<PyResult<Vec<_>>>()?)?;
    Ok(of)
}
