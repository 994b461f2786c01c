//! A simulated drive that other programs use, served by threads of this process.

use std::time::Duration;

use pslc_drive::OpenError;
use pslc_load::job::Ground;
use pslc_load::record::Recording;
use pslc_nbd::{Cut, Data, Faults, Kept, Served, Server, Status, MAX_JOURNAL_BYTES};
use pslc_ssd::config::Config;
use pslc_ssd::{Machine, Nanos};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors;
use crate::{parse, recording, SimDrive};

/// `pslc.serving.faults.Faults`.
#[derive(FromPyObject)]
struct NativeFaults {
    seed: u64,
    torn: bool,
    reorder: bool,
    lie_flush: bool,
    eio: f64,
    hang_s: f64,
    cut_write: Option<u64>,
    cut_s: Option<f64>,
}

impl From<NativeFaults> for Faults {
    fn from(of: NativeFaults) -> Faults {
        let after = of.cut_s.map(|s| Cut::After(Nanos((s * 1e9) as u64)));
        Faults {
            seed: of.seed,
            torn: of.torn,
            reorder: of.reorder,
            lie_flush: of.lie_flush,
            eio: of.eio,
            hang: Duration::from_secs_f64(of.hang_s),
            cut: of.cut_write.map(Cut::Write).or(after),
        }
    }
}

#[pyclass(frozen)]
pub struct NbdServer(Server, Config);

#[pymethods]
impl NbdServer {
    #[new]
    #[pyo3(signature = (drive, socket, data, speed, description, max_journal_bytes=MAX_JOURNAL_BYTES, faults=None))]
    #[allow(clippy::too_many_arguments, reason = "those of Python")]
    fn new(
        py: Python<'_>,
        mut drive: PyRefMut<'_, SimDrive>,
        socket: i64,
        data: &str,
        speed: f64,
        description: String,
        max_journal_bytes: u64,
        faults: Option<NativeFaults>,
    ) -> PyResult<NbdServer> {
        if drive.governors.is_some() {
            return Err(errors::ungoverned("a drive with a policy in Python is not served"));
        }
        let data = match data {
            "keep" => Data::Keep,
            "memory" => Data::Memory,
            _ => Data::None,
        };
        let listener = pslc_nbd::borrow(socket)?;
        let ends = pslc_nbd::pair(&listener)?;
        let about = drive.about();
        let kept = drive.file.take().map(|file| Kept { file, about, max_journal_bytes });
        let (target, config) = (drive.target.clone(), drive.profile.config.clone());
        drop(drive);
        let begun = py.detach(|| {
            let served =
                Served::begin(target, kept, data, speed, faults.map(Faults::from), ends).map_err(errors::target)?;
            Server::begin(served, listener, description).map_err(PyErr::from)
        });
        begun.map(|server| NbdServer(server, config))
    }

    /// Wait, and tell how the drive is; `None` once requests are refused.
    fn watch<'py>(&self, py: Python<'py>, seconds: f64, always: bool) -> PyResult<Option<Bound<'py, PyDict>>> {
        if py.detach(|| self.0.served().watch(Duration::from_secs_f64(seconds), always)) {
            self.status(py)
        } else {
            Ok(None)
        }
    }

    fn status<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let status = py.detach(|| self.0.served().status());
        status.map(|status| status_dict(py, &status, self.0.clients())).transpose()
    }

    fn so_far<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let recording = py.detach(|| self.0.served().so_far());
        recording.map(|recording| recorded(py, &recording)).transpose()
    }

    fn switch_cache(&self, py: Python<'_>, on: bool, emptied: bool) -> PyResult<()> {
        Ok(py.detach(|| self.0.served().switch_cache(&self.1, on, emptied))?)
    }

    fn refuse(&self) {
        self.0.served().refuse();
    }

    fn hurry(&self) {
        self.0.hurry();
    }

    /// Writes that had come when the power was cut, those at risk, those lost, and bytes lost; `None` without a cut.
    fn loss(&self) -> Option<(u64, u64, u64, u64)> {
        self.0.served().loss().map(|loss| (loss.writes, loss.at_risk, loss.lost, loss.lost_bytes))
    }

    fn drain(&self, py: Python<'_>, seconds: f64) {
        py.detach(|| self.0.drain(Duration::from_secs_f64(seconds)));
    }

    #[allow(clippy::type_complexity, reason = "a tuple of Python")]
    fn end<'py>(&self, py: Python<'py>) -> PyResult<Option<(Bound<'py, PyDict>, Option<PyErr>, Vec<String>)>> {
        let Some(ended) = py.detach(|| self.0.end()) else { return Ok(None) };
        let error: Option<OpenError> = ended.error;
        let recorded = recorded(py, &ended.recording)?;
        Ok(Some((recorded, error.map(errors::target), self.0.served().warnings())))
    }
}

fn status_dict<'py>(
    py: Python<'py>,
    status: &Status,
    (clients, named): (usize, Vec<String>),
) -> PyResult<Bound<'py, PyDict>> {
    let seconds = |ns: u64| ns as f64 / 1e9;
    let late = &status.late;
    let mean = |sum: u128| if late.by.count > 0 { sum as f64 / late.by.count as f64 / 1e9 } else { 0.0 };
    let p99 = late.by.percentiles(&[]).into_iter().find(|(name, _)| name == "99.000000");
    let [p50, p99_of_all] = [500, 990].map(|permille| seconds(status.recent.percentile(permille)));
    let columns = PyDict::new(py);
    for (name, value) in Machine::COLUMNS.iter().zip(&status.columns) {
        columns.set_item(name, value)?;
    }
    dict! { py;
        "clock_s" => status.now.as_secs_f64(),
        "bytes" => status.sums.bytes,
        "count" => status.sums.count,
        "latency_s" => (p50 > 0.0).then_some((p50, p99_of_all)),
        "queue" => status.under_way,
        "way_s" => seconds(status.way_ns),
        "replies" => late.by.count,
        "late_s" => late.by.mean_ns() / 1e9,
        "late_p99_s" => seconds(p99.map_or(0, |(_, ns)| ns)),
        "drive_s" => mean(late.of),
        "turn_s" => mean(late.turns),
        "busy" => status.busy,
        "columns" => columns,
        "full" => status.full,
        "clients" => clients,
        "named" => named,
        "warnings" => &status.warnings,
    }
}

fn recorded<'py>(py: Python<'py>, recording: &Recording) -> PyResult<Bound<'py, PyDict>> {
    let depths = &recording.stats[0].depths;
    let deepest = 1u64 << depths.iter().rposition(|&count| count > 0).unwrap_or(0);
    let text = format!("[serve]\nrw=randrw\nbs=4k\niodepth={deepest}\nioengine=libaio\ndirect=1\n");
    let mut jobs = parse("serve", &text, &[], Ground::Simulated, 1 << 30)?;
    jobs[0].options.clear();
    jobs[0].notes.clear();
    recording::dict(py, recording, &jobs, Machine::COLUMNS)
}
