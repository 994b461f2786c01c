//! Real drives.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use pslc_drive::{storage, DeviceStat, Kind, NullTarget, RealTarget};
use pslc_load::job::Ground;
use pslc_load::{best_case, end_bytes, layout_bytes, memory_bytes, plan, scattered, Best, Target};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::run::Calls;
use crate::{errors, parse, run, trace};

#[pyclass]
pub struct RealDrive {
    target: RealTarget,
}

#[pymethods]
impl RealDrive {
    #[staticmethod]
    fn scratch(py: Python<'_>, path: PathBuf, size: u64) -> PyResult<RealDrive> {
        let target = py.detach(|| pslc_drive::open_scratch(&path, size)).map_err(errors::guard)?;
        Ok(RealDrive { target })
    }

    #[staticmethod]
    #[pyo3(signature = (path, size=None, agreed=None))]
    fn existing(py: Python<'_>, path: PathBuf, size: Option<u64>, agreed: Option<&str>) -> PyResult<RealDrive> {
        let target = py.detach(|| pslc_drive::open_existing(&path, size, agreed)).map_err(errors::guard)?;
        Ok(RealDrive { target })
    }

    #[staticmethod]
    fn device(py: Python<'_>, path: PathBuf, serial: &str, may_hold_data: bool) -> PyResult<RealDrive> {
        let target = py.detach(|| pslc_drive::open_device(&path, serial, may_hold_data)).map_err(errors::guard)?;
        Ok(RealDrive { target })
    }

    fn wipe_signatures(&mut self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        py.detach(|| pslc_drive::wipe(&self.target, &path)).map_err(errors::guard)
    }

    fn read_ends<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyBytes>, Bound<'py, PyBytes>)> {
        let [head, tail] = py.detach(|| self.target.read_ends())?;
        Ok((PyBytes::new(py, &head), PyBytes::new(py, &tail)))
    }

    fn write_ends(&mut self, py: Python<'_>, head: Vec<u8>, tail: Vec<u8>) -> PyResult<()> {
        Ok(py.detach(|| self.target.write_ends(&[head, tail]))?)
    }

    fn watch(&mut self, stats: Vec<PathBuf>) -> bool {
        let stats = stats.iter().map(|stat| DeviceStat::open(stat)).collect::<Result<_, _>>();
        stats.map(|stats| self.target.watch(stats)).is_ok()
    }

    #[getter]
    fn capacity_bytes(&self) -> u64 {
        self.target.capacity_bytes()
    }

    #[getter]
    fn block_bytes(&self) -> u32 {
        self.target.block_bytes()
    }

    #[getter]
    fn columns(&self) -> &'static [&'static str] {
        self.target.columns()
    }

    #[getter]
    fn laid_out_bytes(&self) -> u64 {
        self.target.laid_out_bytes()
    }

    #[getter]
    fn engine(&self) -> Option<&'static str> {
        self.target.engine().map(Kind::name)
    }

    #[getter]
    fn substitutes(&self) -> Option<String> {
        self.target.in_flight()?.substitutes.get().cloned()
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
        let jobs = parse(source, jobs, &overrides, Ground::Real, self.target.capacity_bytes())?;
        self.target.check(&jobs).map_err(errors::unfit)?;
        self.target.seed(seed);
        let calls = Calls { progress, keep, in_flight: self.target.in_flight(), ..Calls::default() };
        run::run(py, &mut self.target, &jobs, seed, &calls)
    }

    #[pyo3(signature = (jobs, source, overrides, progress=None))]
    fn lay_out(
        &mut self,
        py: Python<'_>,
        jobs: &str,
        source: &str,
        overrides: Vec<(String, String)>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Option<u64>> {
        let jobs = parse(source, jobs, &overrides, Ground::Real, self.target.capacity_bytes())?;
        self.target.check(&jobs).map_err(errors::unfit)?;
        let calls = Calls { progress, in_flight: self.target.in_flight(), ..Calls::default() };
        let (target, mut laid_out) = (&mut self.target, Ok(None));
        run::observed(py, &[], &[], &calls, |observer| {
            laid_out = pslc_load::lay_out(target, &jobs, Ground::Real, observer);
            None
        })?;
        laid_out.map_err(errors::layout)
    }

    #[pyo3(signature = (trace, how, seed, progress=None, keep=None))]
    fn replay<'py>(
        &mut self,
        py: Python<'py>,
        trace: &trace::TraceFile,
        how: trace::How,
        seed: u64,
        progress: Option<Py<PyAny>>,
        keep: Option<Py<PyAny>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let text = "[trace]\nrw=randrw\nbs=4k\ndirect=1\n";
        let jobs = parse("trace", text, &[], Ground::Real, self.target.capacity_bytes())?;
        self.target.check(&jobs).map_err(errors::unfit)?;
        self.target.seed(seed);
        let calls = Calls { progress, keep, in_flight: self.target.in_flight(), ..Calls::default() };
        trace::replay(py, &mut self.target, Ground::Real, trace, &how, &calls)
    }
}

#[pyfunction]
#[pyo3(signature = (jobs, source, overrides, capacity, simulated=false, bytes_per_s=f64::INFINITY, iops=f64::INFINITY))]
#[allow(clippy::too_many_arguments, reason = "keywords of Python")]
pub fn plan_jobs<'py>(
    py: Python<'py>,
    jobs: &str,
    source: &str,
    overrides: Vec<(String, String)>,
    capacity: u64,
    simulated: bool,
    bytes_per_s: f64,
    iops: f64,
) -> PyResult<Bound<'py, PyDict>> {
    let ground = if simulated { Ground::Simulated } else { Ground::Real };
    let jobs = parse(source, jobs, &overrides, ground, capacity)?;
    let plan = plan(&jobs);
    let best = Best { bytes_per_s, iops };
    let best_case = best_case(&jobs, best);
    dict! { py;
        "read_bytes" => plan.bytes.read,
        "write_bytes" => plan.bytes.write,
        "trim_bytes" => plan.bytes.trim,
        "timed_ns" => plan.timed.0,
        "idle_ns" => plan.idle.0,
        "writes_until_time" => plan.writes_until_time,
        "least_s" => best_case.seconds,
        "requests" => best_case.requests,
        "memory_bytes" => memory_bytes(&jobs, !simulated, best),
        "scattered" => scattered(&jobs),
        "end_bytes" => end_bytes(&jobs),
        "layout_bytes" => layout_bytes(&jobs),
    }
}

#[pyfunction]
pub fn inspect_device(py: Python<'_>, path: PathBuf) -> PyResult<Bound<'_, PyDict>> {
    let device = pslc_drive::inspect(&path).map_err(errors::guard)?;
    dict! { py;
        "name" => device.name,
        "bytes" => device.bytes,
        "logical_block" => device.logical_block,
        "serial" => device.serial,
        "is_partition" => device.is_partition,
        "refusal" => device.refusal.map(|refusal| (refusal.to_string(), refusal.hint())),
        "users" => device.users.sentences(),
        "signatures" => device.signatures.ok(),
    }
}

#[pyfunction]
pub fn check_device(py: Python<'_>, path: PathBuf, serial: &str, may_hold_data: bool) -> PyResult<()> {
    py.detach(|| pslc_drive::check_device(&path, serial, may_hold_data)).map_err(errors::guard)
}

#[pyfunction]
pub fn device_serial(path: PathBuf) -> PyResult<Option<String>> {
    pslc_drive::serial_of(&path).map_err(errors::guard)
}

#[pyfunction]
pub fn inspect_file(py: Python<'_>, path: PathBuf) -> PyResult<Bound<'_, PyDict>> {
    let file = pslc_drive::inspect_file(&path).map_err(errors::guard)?;
    dict! { py;
        "path" => file.path,
        "bytes" => file.bytes,
        "usable_bytes" => file.usable_bytes,
        "changed_unix_ns" => file.changed_unix_ns,
        "owner" => file.owner,
        "ours" => file.ours,
        "holds" => file.holds,
        "identity" => file.identity,
    }
}

#[pyfunction]
pub fn check_scratch(path: PathBuf, size: u64) -> PyResult<()> {
    pslc_drive::check_scratch(&path, size).map_err(errors::guard)
}

/// Mounts of Linux (`pslc.schema.facts.Mount`): the one on which a path is, or all of them.
#[pyfunction]
#[pyo3(signature = (path=None))]
pub fn mounts(py: Python<'_>, path: Option<PathBuf>) -> PyResult<Vec<Bound<'_, PyDict>>> {
    let of = |mount: pslc_drive::Mount| {
        dict! { py;
            "number" => mount.number,
            "point" => mount.point,
            "flags" => mount.flags,
            "type" => mount.kind,
            "source" => mount.source,
            "options" => mount.options,
        }
    };
    pslc_drive::mounts(path.as_deref()).into_iter().map(of).collect()
}

/// Requests a second that the load engine makes on this machine when the drive takes no time.
#[pyfunction]
pub fn engine_ceiling(py: Python<'_>) -> PyResult<f64> {
    let text = "[null]\nrw=randread\nbs=4k\nioengine=io_uring\niodepth=32\nnorandommap\ntime_based\nruntime=10s\n";
    let jobs = parse("calibration", text, &[], Ground::Real, 1 << 40)?;
    Ok(py.detach(|| {
        let begin = Instant::now();
        let mut going = |_: &_| begin.elapsed() < Duration::from_millis(50);
        let recording = pslc_load::run(&mut NullTarget::new(), &jobs, 0, &mut going);
        let count: u64 = recording.stats.iter().map(|stats| stats.kinds[0].count).sum();
        count as f64 / recording.end.as_secs_f64()
    }))
}

/// The volume that holds a file, as Windows reports it (`pslc.schema.facts.WindowsVolume`).
#[pyfunction]
pub fn windows_volume(py: Python<'_>, path: PathBuf) -> PyResult<Option<Bound<'_, PyDict>>> {
    let Ok(volume) = storage::volume(&path) else { return Ok(None) };
    let extents = volume.extents.iter().map(|of| (of.drive, of.start_bytes, of.bytes)).collect::<Vec<_>>();
    dict! { py;
        "file_system" => volume.file_system,
        "mount" => volume.mount,
        "source" => volume.source,
        "options" => volume.options,
        "bytes" => volume.bytes,
        "free_bytes" => volume.free_bytes,
        "extents" => extents,
    }
    .map(Some)
}

/// A drive, as Windows reports it (`pslc.schema.facts.WindowsDrive`).
#[pyfunction]
pub fn windows_drive(py: Python<'_>, number: u32) -> PyResult<Option<Bound<'_, PyDict>>> {
    let Ok(drive) = storage::drive(number) else { return Ok(None) };
    dict! { py;
        "model" => drive.model,
        "serial" => drive.serial,
        "firmware" => drive.firmware,
        "bus" => drive.bus,
        "bytes" => drive.bytes,
        "logical_block_bytes" => drive.logical_block_bytes,
        "physical_block_bytes" => drive.physical_block_bytes,
        "largest_request_bytes" => drive.largest_request_bytes,
        "rotational" => drive.rotational,
        "trims" => drive.trims,
        "write_cache" => drive.cache.mode,
        "keeps_flushes" => drive.cache.keeps_flushes,
    }
    .map(Some)
}

/// Number of a drive by a name such as `\\.\PhysicalDrive1`.
#[pyfunction]
pub fn windows_drive_number(name: &str) -> Option<u32> {
    storage::drive_number(name)
}

/// Temperature of a drive in degrees Celsius and its NVMe health log, as Windows reports them.
#[pyfunction]
pub fn windows_health(number: u32) -> (Option<i32>, Vec<(&'static str, u128)>) {
    let health = storage::health(number).unwrap_or_default();
    (health.temperature, health.log)
}

/// The same of an NVMe or a SATA drive on Linux, by the path of its block device; a SATA drive has `passed` in its log.
#[pyfunction]
pub fn linux_health(path: PathBuf, is_ata: bool, may_wake: bool) -> (Option<i32>, Vec<(&'static str, u128)>) {
    let health = if is_ata { storage::ata_health(&path, may_wake) } else { storage::nvme_health(&path) };
    let health = health.unwrap_or_default();
    (health.temperature, health.log)
}

/// Model and firmware of a SATA drive on Linux.
#[pyfunction]
pub fn ata_identity(path: PathBuf) -> (Option<String>, Option<String>) {
    let identity = storage::ata_identity(&path).unwrap_or_default();
    (identity.model, identity.firmware)
}
