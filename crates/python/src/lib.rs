//! The Python binding: conversions only. Its contract is python/pslc/_native.pyi.

/// A Python dictionary, or why a value is none of Python's: `dict! { py; "name" => value, ... }`.
macro_rules! dict {
    ($py:expr; $($key:expr => $value:expr),+ $(,)?) => {
        crate::filled($py, |dict| {
            $(dict.set_item($key, $value)?;)+
            Ok(())
        })
    };
}

mod array;
mod errors;
mod fault;
mod files;
mod parts;
mod policy;
mod real;
mod recording;
mod run;
mod serve;
mod survey;
mod trace;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use pslc_drive::KeptDrive;
use pslc_load::job::{self, Ground, Job, Verdict};
use pslc_load::{SimTarget, Target};
use pslc_ssd::profile::{self, Profile};
use pslc_ssd::state::About;
use pslc_ssd::{CellMode, Machine, Nanos, Words};
use pyo3::prelude::*;
use pyo3::types::{IntoPyDict, PyDict};

use policy::Governors;
use run::Calls;

/// A dictionary with what `fill` puts into it.
fn filled<'py>(
    py: Python<'py>,
    fill: impl FnOnce(&Bound<'py, PyDict>) -> PyResult<()>,
) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    fill(&dict)?;
    Ok(dict)
}

#[pyfunction]
fn nearest(word: &str, candidates: Vec<String>) -> Option<String> {
    pslc_ssd::profile::nearest(word, candidates.iter().map(String::as_str)).map(str::to_owned)
}

#[pyfunction]
fn phase_shares(changes: HashMap<String, f64>, seconds: f64) -> Vec<(&'static str, f64)> {
    pslc_load::record::shares(|name| changes.get(name).copied().unwrap_or(0.0), seconds)
}

#[pyfunction]
fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}

#[pyfunction]
fn profile_values(
    source: &str,
    text: &str,
    library: HashMap<String, String>,
    overrides: Vec<(String, String)>,
) -> PyResult<Vec<(String, String)>> {
    profile::values(source, text, &|name| library.get(name).cloned(), &overrides).map_err(errors::profile)
}

#[pyfunction]
fn profile_words() -> HashMap<&'static str, Vec<&'static str>> {
    profile::words().into_iter().collect()
}

#[pyclass]
struct SimDrive {
    profile: Profile,
    identity: u64,
    /// The profile before any change of mode.
    original: String,
    /// Its size as a share of the whole drive, which its file says.
    #[pyo3(get, set)]
    scale: Option<String>,
    target: SimTarget,
    /// Where it is kept.
    file: Option<KeptDrive>,
    /// Who decides in place of the profile.
    governors: Option<Governors>,
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
        let library = |name: &str| library.get(name).cloned();
        let profile = profile::load(source, text, &library, &overrides).map_err(errors::profile)?;
        let original = profile::flattened(source, text, &library, &overrides).map_err(errors::profile)?;
        let target = SimTarget::new(Nanos::ZERO, Machine::new(&profile.config));
        Ok(SimDrive { profile, identity: 0, original, scale: None, target, file: None, governors: None })
    }

    #[staticmethod]
    fn scaled_profile(
        source: &str,
        text: &str,
        library: HashMap<String, String>,
        overrides: Vec<(String, String)>,
        scale: (u32, u32),
    ) -> PyResult<(String, Option<String>)> {
        let library = |name: &str| library.get(name).cloned();
        let whole = profile::load_to_scale(source, text, &library, &overrides).map_err(errors::profile)?;
        let toml = |config| Profile { config, provenance: Vec::new() }.to_toml();
        Ok((toml(whole.config.clone()), whole.config.scaled(scale.0, scale.1).map(toml)))
    }

    #[staticmethod]
    fn open(py: Python<'_>, path: PathBuf) -> PyResult<SimDrive> {
        let (file, kept) = py.detach(|| KeptDrive::open(&path)).map_err(errors::target)?;
        let source = path.to_string_lossy();
        let profile = profile::load(&source, &kept.about.profile, &|_| None, &[]).map_err(errors::profile)?;
        let target = SimTarget::new(kept.now, kept.machine);
        Ok(SimDrive {
            profile,
            identity: kept.about.identity,
            original: kept.about.original,
            scale: kept.about.scale,
            target,
            file: Some(file),
            governors: None,
        })
    }

    #[pyo3(signature = (policy, victims))]
    fn govern(&mut self, py: Python<'_>, policy: Option<Py<PyAny>>, victims: Option<Py<PyAny>>) -> PyResult<()> {
        if self.file.is_some() {
            return Err(errors::ungoverned("a drive file has the policy of its profile"));
        }
        if self.governors.is_some() {
            return Err(errors::ungoverned("the drive has a policy already"));
        }
        let governors = Governors::new(py, policy, victims);
        self.obey(py, governors)
    }

    #[pyo3(signature = (path=None))]
    fn save(&mut self, py: Python<'_>, path: Option<PathBuf>) -> PyResult<()> {
        if self.governors.is_some() {
            return Err(errors::ungoverned("a policy in Python cannot be saved with its drive"));
        }
        if path.is_some() {
            self.identity = pslc_drive::files::random();
        }
        let about = self.about();
        let (now, machine, file) = (self.target.now(), self.target.machine(), &mut self.file);
        py.detach(|| match (path, &mut *file) {
            (Some(path), _) => KeptDrive::create(&path, &about, now, machine).map(|original| *file = Some(original)),
            (None, Some(file)) => file.save(&about, now, machine),
            (None, None) => Err(pslc_drive::DriveFileError::NoFile.into()),
        })
        .map_err(errors::target)
    }

    fn check_save(&self) -> PyResult<()> {
        self.file.as_ref().map_or(Ok(()), KeptDrive::check_save).map_err(errors::target)
    }

    fn close(&mut self) {
        self.file = None;
    }

    fn format(&mut self, py: Python<'_>, overrides: Vec<(String, String)>) -> PyResult<()> {
        if self.governors.is_some() {
            return Err(errors::ungoverned("the policy was checked against the profile as it is"));
        }
        self.profile = profile::load("the drive", &self.original, &|_| None, &overrides).map_err(errors::profile)?;
        let (target, config) = (&mut self.target, &self.profile.config);
        py.detach(|| target.format(config));
        Ok(())
    }

    fn counters<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (counters, drive) = (counters(py, &mut self.target)?, self.target.drive());
        counters.set_item("power_cycles", drive.power_cycles())?;
        counters.set_item("unsafe_shutdowns", drive.unsafe_shutdowns())?;
        counters.set_item("lost_bytes", drive.lost_bytes())?;
        Ok(counters)
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
        let (read, written) = self.target.drive().link_ceilings();
        let facts = dict! { py;
            "channels" => nand.channels,
            "dies" => nand.dies,
            "planes" => nand.planes,
            "blocks_per_plane" => nand.blocks_per_plane,
            "pages_per_block" => nand.pages_per_block,
            "page_bytes" => nand.page_bytes,
            "bits_per_cell" => nand.bits_per_cell,
            "superblocks" => nand.superblocks(),
        }?;
        let two_bits = config.cache.dynamic_mlc.then_some(("mlc", CellMode::Mlc));
        let modes = [("slc", CellMode::Slc), ("native", CellMode::Native)];
        for (word, mode) in modes.into_iter().chain(two_bits) {
            let superblock = nand.superblock_bytes(mode);
            facts.set_item(format!("{word}_superblock_bytes"), superblock)?;
            facts.set_item(format!("{word}_raw_bytes"), superblock * nand.superblocks() as u64)?;
            facts.set_item(format!("{word}_write_bytes_per_s"), nand.program_bytes_per_s(mode))?;
            let (limit, by) = config.program_limit(mode);
            facts.set_item(format!("{word}_limit_bytes_per_s"), limit)?;
            facts.set_item(format!("{word}_limit"), by.word())?;
        }
        facts.set_item("link_bytes_per_s", written)?;
        facts.set_item("link_read_bytes_per_s", read)?;
        facts.set_item("bus_bytes_per_s", nand.bus_bytes_per_s())?;
        facts.set_item("cache_bytes", config.cache.most_bytes())?;
        facts.set_item("static_superblocks", config.static_superblocks())?;
        facts.set_item("reserve_superblocks", config.ftl.reserve_superblocks)?;
        facts.set_item("fold_below_bytes", config.cache.fold_below_bytes)?;
        facts.set_item("plp", config.controller.power_loss_protection)?;
        facts.set_item("fold_overhead", config.cache.fold_overhead_permille as f64 / 1000.0)?;
        facts.set_item("write_buffer_bytes", config.controller.write_buffer_bytes)?;
        facts.set_item("map_cache_bytes", config.controller.map.map(|map| map.bytes))?;
        let iops = |time: Nanos| config.controller.cores as f64 / time.as_secs_f64();
        facts.set_item("read_iops", iops(config.controller.read))?;
        facts.set_item("write_iops", iops(config.controller.write))?;
        if let Some(wear) = config.wear {
            facts.set_item("slc_cycles", wear.slc_cycles)?;
            facts.set_item("native_cycles", wear.native_cycles)?;
        }
        facts.set_item("notes", config.notes())?;
        Ok(facts)
    }

    fn provenance(&self) -> Vec<(String, String)> {
        self.profile.provenance.clone()
    }

    fn profile(&self) -> String {
        self.profile.to_toml()
    }

    fn fork(&self, py: Python<'_>) -> PyResult<SimDrive> {
        let (profile, original, scale) = (self.profile.clone(), self.original.clone(), self.scale.clone());
        let governors = self.governors.as_ref().map(|governors| governors.fork(py)).transpose()?;
        let target = py.detach(|| self.target.clone());
        let mut fork =
            SimDrive { profile, identity: self.identity, original, scale, target, file: None, governors: None };
        governors.map_or(Ok(()), |governors| fork.obey(py, governors))?;
        Ok(fork)
    }

    fn idle(&mut self, py: Python<'_>, ns: u64) -> PyResult<()> {
        self.raise_of_policy()?;
        let target = &mut self.target;
        py.detach(|| {
            let until = target.now().saturating_add(Nanos(ns));
            while target.now() < until {
                target.next(until).expect("a simulated drive does not fail");
            }
        });
        self.raise_of_policy()
    }

    fn switch_off(&mut self, py: Python<'_>, aged_ns: u64) -> PyResult<()> {
        self.raise_of_policy()?;
        let (target, config) = (&mut self.target, &self.profile.config);
        py.detach(|| target.switch_off(config, Nanos(aged_ns)));
        self.raise_of_policy()
    }

    #[pyo3(signature = (jobs, source, overrides))]
    fn lay_out(&mut self, py: Python<'_>, jobs: &str, source: &str, overrides: Vec<(String, String)>) -> PyResult<u64> {
        self.raise_of_policy()?;
        let jobs = parse_simulated(&self.target, source, jobs, &overrides)?;
        let laid_out = lay_out(py, &mut self.target, &jobs);
        self.raise_of_policy().map(|()| laid_out)
    }

    fn unwritten_bytes(&self, jobs: &str, source: &str, overrides: Vec<(String, String)>) -> PyResult<u64> {
        Ok(unwritten_bytes(&self.target, &parse_simulated(&self.target, source, jobs, &overrides)?))
    }

    #[pyo3(signature = (jobs, source, overrides, seed, progress=None, keep=None, coarseness=None))]
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
        coarseness: Option<u64>,
    ) -> PyResult<Bound<'py, PyDict>> {
        self.raise_of_policy()?;
        let jobs = parse_simulated(&self.target, source, jobs, &overrides)?;
        let coarseness = coarseness.map(|times| times.clamp(1, 1024));
        let calls = Calls { progress, keep, coarseness, failure: self.failure(), in_flight: None };
        run::run(py, &mut self.target, &jobs, seed, &calls)
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
        self.raise_of_policy()?;
        let calls = Calls { progress, keep, failure: self.failure(), ..Calls::default() };
        trace::replay(py, &mut self.target, Ground::Simulated, trace, &how, &calls)
    }
}

impl SimDrive {
    /// Ask these from now on.
    fn obey(&mut self, py: Python<'_>, governors: Governors) -> PyResult<()> {
        let custom = governors.custom(py, &self.profile.config)?;
        self.target.set_custom(custom);
        self.governors = Some(governors);
        self.raise_of_policy()
    }

    fn about(&self) -> About {
        let (original, profile) = (self.original.clone(), self.profile.to_toml());
        About { identity: self.identity, original, profile, scale: self.scale.clone() }
    }

    fn failure(&self) -> Option<Arc<policy::Failure>> {
        self.governors.as_ref().map(|governors| governors.failure.clone())
    }

    fn raise_of_policy(&self) -> PyResult<()> {
        self.governors.as_ref().map_or(Ok(()), |governors| governors.failure.raise())
    }
}

fn parse(
    source: &str,
    text: &str,
    overrides: &[(String, String)],
    ground: Ground,
    capacity: u64,
) -> PyResult<Vec<Job>> {
    job::parse(source, text, overrides, ground, capacity, &|name| {
        pslc_drive::keyword(name).or_else(|| std::env::var(name).ok())
    })
    .map_err(errors::job)
}

fn parse_simulated(
    target: &impl Target,
    source: &str,
    text: &str,
    overrides: &[(String, String)],
) -> PyResult<Vec<Job>> {
    parse(source, text, overrides, Ground::Simulated, target.capacity_bytes())
}

/// Write what jobs read unwritten on a simulated target; returns the bytes.
fn lay_out(py: Python<'_>, target: &mut (impl Target + Send), jobs: &[Job]) -> u64 {
    let laid_out = py.detach(|| pslc_load::lay_out(target, jobs, Ground::Simulated, &mut |_: &_| true));
    laid_out.expect("a simulated drive does not fail").expect("nobody stops it")
}

fn unwritten_bytes(target: &impl Target, jobs: &[Job]) -> u64 {
    pslc_load::missing(target, jobs).iter().map(|(_, len)| len).sum()
}

/// The columns of a target as they are now, by name.
fn counters<'py>(py: Python<'py>, target: &mut impl Target) -> PyResult<Bound<'py, PyDict>> {
    let mut values = vec![0; target.columns().len()];
    target.sample_begun(&mut values);
    target.columns().iter().zip(values).into_py_dict(py)
}

#[pyfunction]
fn is_drive_file(path: PathBuf) -> bool {
    pslc_drive::is_kept(&path)
}

/// What becomes of fio's options, and of its engines: names, verdict, and why.
#[pyfunction]
fn fio_words() -> (Vec<Word>, Vec<Word>) {
    let words = |table: Vec<(Vec<&'static str>, Verdict, &'static str)>| {
        let word = |(names, verdict, why)| {
            let verdict = match verdict {
                Verdict::Obeyed => "obeyed",
                Verdict::OnRealDrives => "on real drives",
                Verdict::Ignored => "ignored",
                Verdict::Refused => "refused",
            };
            (names, verdict, why)
        };
        table.into_iter().map(word).collect()
    };
    (words(job::table()), words(job::engine_table()))
}

/// The codes that errors carry.
#[pyfunction]
fn error_codes() -> Vec<&'static str> {
    let of_models = pslc_ssd::error_codes().chain(pslc_load::error_codes());
    of_models.chain(pslc_drive::error::codes()).collect()
}

/// What the options of a job say, as `pslc_load::job::traits` has it.
#[pyfunction]
fn traits(py: Python<'_>, options: Vec<(String, String)>) -> PyResult<Bound<'_, PyDict>> {
    let traits = job::traits(options.iter().map(|(name, value)| (name.as_str(), value.as_str())));
    dict! { py;
        "random" => traits.rw.map(|rw| rw.random),
        "writes" => traits.rw.map(|rw| rw.writes()),
        "direct" => traits.direct,
        "iodepth" => traits.iodepth,
        "numjobs" => traits.numjobs,
        "synced" => traits.synced,
        "delayed" => traits.delayed,
        "paced" => traits.paced,
        "write_bytes" => traits.write_bytes,
        "compressible" => traits.compressible,
    }
}

type Word = (Vec<&'static str>, &'static str, &'static str);

#[pymodule]
mod _native {
    use pyo3::prelude::*;

    #[pymodule_export]
    use crate::array::ArrayDrive;
    #[pymodule_export]
    use crate::fault::last_panic;
    #[pymodule_export]
    use crate::files::{check_file, created_unix_s, hand_over, limit_hint, remove_file, write_file, NewFile};
    #[pymodule_export]
    use crate::parts::{derive_profile, profile_toml, way_of_folding};
    #[pymodule_export]
    use crate::real::{
        ata_identity, check_device, check_scratch, device_serial, engine_ceiling, inspect_device, inspect_file,
        linux_health, mounts, plan_jobs, windows_drive, windows_drive_number, windows_health, windows_volume,
        RealDrive,
    };
    #[pymodule_export]
    use crate::serve::NbdServer;
    #[pymodule_export]
    use crate::trace::{trace_columns, trace_format, trace_formats, TraceFile};
    #[pymodule_export]
    use crate::{
        error_codes, fio_words, is_drive_file, nearest, phase_shares, profile_values, profile_words, traits, version,
        SimDrive,
    };

    #[pymodule_init]
    fn init(_module: &Bound<'_, PyModule>) -> PyResult<()> {
        crate::fault::listen();
        Ok(())
    }
}
