//! A run on a thread of its own, while Python's looks for signals, shows progress and keeps what was recorded.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use pslc_load::job::Job;
use pslc_load::record::Recording;
use pslc_load::{Next, Observer, Progress, Target};
use pslc_ssd::Nanos;
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::policy::Failure;
use crate::{errors, recording};

/// Between two calls of `progress`.
const TICK: Duration = Duration::from_millis(100);
/// Before the first call of `keep`; each further one comes after twice the time, up to every five seconds.
const KEEP_FIRST: Duration = Duration::from_secs(1);
const KEEP_EVERY: Duration = Duration::from_secs(5);

/// What the two threads share.
struct Shared {
    stop: AtomicBool,
    progress: Mutex<Option<Progress>>,
    kept: Mutex<Option<Recording>>,
}

/// What a run calls while it goes on.
#[derive(Default)]
pub struct Calls {
    pub progress: Option<Py<PyAny>>,
    pub keep: Option<Py<PyAny>>,
    pub coarseness: Option<u64>,
    /// Of the policies of the drive: their first error ends the run.
    pub failure: Option<Arc<Failure>>,
}

struct Watch<'a> {
    shared: &'a Shared,
    failure: Option<&'a Failure>,
    /// When to keep what is recorded, if at all, and the time between two such moments.
    keep: Option<(Instant, Duration)>,
    coarseness: Option<u64>,
}

impl Observer for Watch<'_> {
    fn look(&mut self, progress: &Progress) -> Next {
        *self.shared.progress.lock().expect("nobody panics with it") = Some(*progress);
        if self.shared.stop.load(Ordering::Relaxed) || self.failure.is_some_and(Failure::is_set) {
            return Next::Stop;
        }
        match &mut self.keep {
            Some((at, pause)) if Instant::now() >= *at => {
                *pause = (*pause * 2).min(KEEP_EVERY);
                *at = Instant::now() + *pause;
                Next::Keep
            }
            _ => Next::Go,
        }
    }

    fn coarseness(&self) -> Option<u64> {
        self.coarseness
    }

    fn keep(&mut self, so_far: Recording) {
        *self.shared.kept.lock().expect("nobody panics with it") = Some(so_far);
    }
}

/// Run `jobs`; `progress` is called ten times a second, `keep` every few seconds with the recording so far.
pub fn run<'py, T: Target + Send>(
    py: Python<'py>,
    target: &mut T,
    jobs: &[Job],
    seed: u64,
    calls: &Calls,
) -> PyResult<Bound<'py, PyDict>> {
    let names = target.columns();
    let run = |watch: &mut dyn Observer| Some(pslc_load::run(target, jobs, seed, watch));
    Ok(observed(py, jobs, names, calls, run)?.expect("a run has a recording"))
}

/// Do something that takes long and records; what it recorded, if anything.
pub fn observed<'py>(
    py: Python<'py>,
    jobs: &[Job],
    names: &[&str],
    calls: &Calls,
    work: impl FnOnce(&mut dyn Observer) -> Option<Recording> + Send,
) -> PyResult<Option<Bound<'py, PyDict>>> {
    let shared = Shared { stop: AtomicBool::new(false), progress: Mutex::new(None), kept: Mutex::new(None) };
    let of = Of { jobs, names, begin: Instant::now() };
    let (mut raised, failure) = (None, calls.failure.as_deref());
    let recording = std::thread::scope(|scope| -> std::io::Result<Option<Recording>> {
        let (sender, receiver) = channel();
        let receiver = Mutex::new(receiver);
        let first = calls.keep.as_ref().map(|_| (of.begin + KEEP_FIRST, KEEP_FIRST));
        let mut watch = Watch { shared: &shared, failure, keep: first, coarseness: calls.coarseness };
        std::thread::Builder::new().spawn_scoped(scope, move || {
            // A policy is asked millions of times where it sorts writes: Python knows its thread once for all.
            let recording = match failure {
                Some(_) => Python::attach(|py| py.detach(|| work(&mut watch))),
                None => work(&mut watch),
            };
            // Python's thread waits until this one has ended.
            let _ = sender.send(recording);
        })?;
        let mut speed = Speed::default();
        loop {
            let wait = || receiver.lock().expect("only this thread has it").recv_timeout(TICK);
            match py.detach(wait) {
                Ok(recording) => return Ok(recording),
                Err(std::sync::mpsc::RecvTimeoutError::Disconnected) => panic!("the run panicked"),
                Err(std::sync::mpsc::RecvTimeoutError::Timeout) => {}
            }
            if let Err(error) = look(py, &shared, &of, &mut speed, calls) {
                shared.stop.store(true, Ordering::Relaxed);
                if let Some(Err(error)) = failure.map(|failure| failure.interrupt(py)) {
                    raised = Some(error);
                }
                // An interrupt ends the run and is no error; so does a second one.
                if !error.is_instance_of::<PyKeyboardInterrupt>(py) {
                    raised = Some(error);
                }
            }
        }
    })
    .map_err(errors::thread)?;
    if let Some(error) = raised {
        return Err(error);
    }
    failure.map_or(Ok(()), |failure| failure.raise_but_interrupt(py))?;
    recording.map(|recording| of.result(py, &recording)).transpose()
}

/// What is recorded.
struct Of<'a> {
    jobs: &'a [Job],
    names: &'a [&'a str],
    begin: Instant,
}

impl Of<'_> {
    /// A recording, and how long it took by the wall's clock.
    fn result<'py>(&self, py: Python<'py>, recording: &Recording) -> PyResult<Bound<'py, PyDict>> {
        let out = recording::dict(py, recording, self.jobs, self.names)?;
        out.set_item("wall_s", self.begin.elapsed().as_secs_f64())?;
        Ok(out)
    }
}

/// Speed between two looks, on the target's clock.
#[derive(Default)]
struct Speed {
    bytes: u64,
    elapsed: Nanos,
}

fn look(py: Python<'_>, shared: &Shared, of: &Of, speed: &mut Speed, calls: &Calls) -> PyResult<()> {
    py.check_signals()?;
    if shared.stop.load(Ordering::Relaxed) {
        return Ok(());
    }
    let kept = shared.kept.lock().expect("nobody panics with it").take();
    if let (Some(keep), Some(so_far)) = (&calls.keep, kept) {
        keep.call1(py, (of.result(py, &so_far)?,))?;
    }
    let so_far = *shared.progress.lock().expect("nobody panics with it");
    let (Some(progress), Some(so_far)) = (&calls.progress, so_far) else { return Ok(()) };
    let seconds = so_far.elapsed.saturating_sub(speed.elapsed).as_secs_f64();
    let rate =
        if seconds > 0.0 { so_far.done_bytes.saturating_sub(speed.bytes) as f64 / seconds } else { 0.0 };
    *speed = Speed { bytes: so_far.done_bytes, elapsed: so_far.elapsed };
    let state = dict! { py;
        "done_bytes" => so_far.done_bytes,
        "total_bytes" => so_far.total_bytes,
        "drive_time_ns" => so_far.elapsed.0,
        "total_time_ns" => so_far.total_time.0,
        "bytes_per_s" => rate,
    };
    if !progress.call1(py, (state,))?.extract::<bool>(py)? {
        shared.stop.store(true, Ordering::Relaxed);
    }
    Ok(())
}
