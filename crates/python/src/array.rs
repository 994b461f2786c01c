//! An array of simulated drives.

use pslc_load::array::layout::{Layout, LayoutFault, Level, State};
use pslc_load::array::ArrayTarget;
use pslc_load::job::Ground;
use pslc_load::Target;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::run::Calls;
use crate::{counters, errors, lay_out, parse_simulated, run, trace, unwritten_bytes, SimDrive};

#[pyclass]
pub struct ArrayDrive(ArrayTarget);

#[pymethods]
impl ArrayDrive {
    #[new]
    fn new(
        level: &str,
        chunk_bytes: u64,
        members: Vec<PyRef<'_, SimDrive>>,
        failed: Vec<usize>,
        rebuild: Option<usize>,
    ) -> PyResult<ArrayDrive> {
        let level = Level::ALL.into_iter().find(|of| of.word() == level).expect("a level of md");
        let mut states = vec![State::InSync; members.len()];
        let lost = failed.iter().map(|place| (*place, State::Failed));
        for (place, state) in lost.chain(rebuild.map(|place| (place, State::Rebuilding(0)))) {
            let count = states.len();
            *states.get_mut(place).ok_or(LayoutFault::Place { place, count }).map_err(errors::array)? = state;
        }
        let targets: Vec<_> = members.iter().map(|member| member.target.clone()).collect();
        let smallest = targets.iter().map(|target| target.capacity_bytes()).min().unwrap_or(0);
        let layout = Layout::new(level, chunk_bytes, smallest, states).map_err(errors::array)?;
        Ok(ArrayDrive(ArrayTarget::new(layout, targets)))
    }

    #[classattr]
    #[pyo3(name = "LEVELS")]
    fn levels() -> [&'static str; Level::ALL.len()] {
        Level::ALL.map(Level::word)
    }

    #[getter]
    fn capacity_bytes(&self) -> u64 {
        self.0.capacity_bytes()
    }

    #[getter]
    fn member_bytes(&self) -> u64 {
        self.0.member_bytes()
    }

    #[getter]
    fn now_ns(&mut self) -> u64 {
        self.0.now().0
    }

    fn counters<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        counters(py, &mut self.0)
    }

    fn lay_out(&mut self, py: Python<'_>, jobs: &str, source: &str, overrides: Vec<(String, String)>) -> PyResult<u64> {
        let jobs = parse_simulated(&self.0, source, jobs, &overrides)?;
        Ok(lay_out(py, &mut self.0, &jobs))
    }

    fn unwritten_bytes(&self, jobs: &str, source: &str, overrides: Vec<(String, String)>) -> PyResult<u64> {
        Ok(unwritten_bytes(&self.0, &parse_simulated(&self.0, source, jobs, &overrides)?))
    }

    #[pyo3(signature = (jobs, source, overrides, seed, progress=None, keep=None))]
    #[allow(clippy::too_many_arguments, reason = "keywords of Python")]
    fn run<'py>(
        &mut self,
        py: Python<'py>,
        jobs: &str,
        source: &str,
        overrides: Vec<(String, String)>,
        seed: u64,
        progress: Option<Py<PyAny>>,
        keep: Option<Py<PyAny>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let jobs = parse_simulated(&self.0, source, jobs, &overrides)?;
        run::run(py, &mut self.0, &jobs, seed, &Calls { progress, keep, ..Calls::default() })
    }

    #[pyo3(signature = (trace, how, progress=None, keep=None))]
    fn replay<'py>(
        &mut self,
        py: Python<'py>,
        trace: &trace::TraceFile,
        how: trace::How,
        progress: Option<Py<PyAny>>,
        keep: Option<Py<PyAny>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let calls = Calls { progress, keep, ..Calls::default() };
        trace::replay(py, &mut self.0, Ground::Simulated, trace, &how, &calls)
    }
}
