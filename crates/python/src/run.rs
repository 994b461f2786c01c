//! A run on a thread of its own, while Python's looks for signals, shows progress and keeps what was recorded.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use pslc_load::in_flight::{self, Silence};
use pslc_load::job::Job;
use pslc_load::record::Recording;
use pslc_load::{Next, Observer, Progress, Target};
use pslc_ssd::Nanos;
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::policy::Failure;
use crate::{errors, recording};

/// Time without an answer from which a run that is to end waits for its drive.
const WAIT_AFTER_STOP: Duration = Duration::from_secs(1);
/// Between two calls of `progress`.
const TICK: Duration = Duration::from_millis(100);
/// Before the first call of `keep`; each further one comes after twice the time, up to every five seconds.
const KEEP_FIRST: Duration = Duration::from_secs(1);
const KEEP_EVERY: Duration = Duration::from_secs(5);
/// Completions between two looks at whether a policy has failed: what comes after that was decided by none.
const PATIENCE: u32 = 64;

/// What the two threads share.
#[derive(Default)]
struct Shared {
    stop: AtomicBool,
    /// The run knows that it is to end.
    stopping: AtomicBool,
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
    /// Of a real drive, which may stop answering.
    pub in_flight: Option<Arc<in_flight::Shared>>,
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
            self.shared.stopping.store(true, Ordering::Relaxed);
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

    fn patience(&self) -> u32 {
        if self.failure.is_some() {
            PATIENCE
        } else {
            u32::MAX
        }
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
    let shared = Shared::default();
    let mut lookout = Lookout::new(jobs, names, &shared, calls);
    let (mut raised, failure) = (None, calls.failure.as_deref());
    let recording = std::thread::scope(|scope| -> std::io::Result<Option<Recording>> {
        let (sender, receiver) = channel();
        let receiver = Mutex::new(receiver);
        let first = calls.keep.as_ref().map(|_| (lookout.begin + KEEP_FIRST, KEEP_FIRST));
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
        loop {
            let wait = || receiver.lock().expect("only this thread has it").recv_timeout(TICK);
            match py.detach(wait) {
                Ok(recording) => {
                    lookout.end_silence(py);
                    return Ok(recording);
                }
                Err(std::sync::mpsc::RecvTimeoutError::Disconnected) => panic!("the run panicked"),
                Err(std::sync::mpsc::RecvTimeoutError::Timeout) => {}
            }
            if let Err(error) = lookout.look(py) {
                shared.stop.store(true, Ordering::Relaxed);
                // An interrupt ends the run and is no error; so does a second one.
                if !error.is_instance_of::<PyKeyboardInterrupt>(py) {
                    raised = Some(error);
                }
            }
            // Whoever ended the run, and again at each look: a policy may have been asked since.
            if shared.stop.load(Ordering::Relaxed) {
                if let Some(Err(error)) = failure.map(|failure| failure.interrupt(py)) {
                    raised = Some(error);
                }
            }
        }
    })
    .map_err(errors::thread)?;
    if let Some(error) = raised {
        return Err(error);
    }
    let out = recording.map(|recording| lookout.result(py, &recording)).transpose()?;
    match (failure.and_then(|failure| failure.take_but_interrupt(py)), &out) {
        (Some(error), Some(out)) => out.set_item("raised", error.into_value(py))?,
        (Some(error), None) => return Err(error),
        (None, _) => {}
    }
    Ok(out)
}

/// What Python's thread knows of the run while it waits for it.
struct Lookout<'a> {
    jobs: &'a [Job],
    names: &'a [&'a str],
    shared: &'a Shared,
    calls: &'a Calls,
    begin: Instant,
    /// Since when the run is to end.
    stopped: Option<Instant>,
    stalls: Vec<Silence>,
    /// What was handed over last, and whether the drive was silent then, in a run that was to end.
    kept: Option<Recording>,
    kept_silent: Option<bool>,
    /// Python was told last that the drive does not answer.
    is_silent: bool,
    /// As far as it had come at the last look, on the target's clock.
    bytes: u64,
    elapsed: Nanos,
}

impl<'a> Lookout<'a> {
    fn new(jobs: &'a [Job], names: &'a [&'a str], shared: &'a Shared, calls: &'a Calls) -> Lookout<'a> {
        Lookout {
            jobs,
            names,
            shared,
            calls,
            begin: Instant::now(),
            stopped: None,
            stalls: Vec::new(),
            kept: None,
            kept_silent: None,
            is_silent: false,
            bytes: 0,
            elapsed: Nanos::ZERO,
        }
    }

    /// A recording, how long it took by the wall's clock, when its drive did not answer, and when this process did not run.
    fn result<'py>(&self, py: Python<'py>, recording: &Recording) -> PyResult<Bound<'py, PyDict>> {
        let out = recording::dict(py, recording, self.jobs, self.names)?;
        out.set_item("wall_s", self.begin.elapsed().as_secs_f64())?;
        let stalls = self.stalls.iter().map(|stall| {
            let dict = silence_dict(py, stall)?;
            dict.set_item("at_s", stall.since.saturating_sub(recording.start).as_secs_f64())?;
            Ok(dict)
        });
        out.set_item("stalls", stalls.collect::<PyResult<Vec<_>>>()?)?;
        let gaps = self.calls.in_flight.as_ref().map(|requests| requests.gaps()).unwrap_or_default();
        let gaps = gaps.iter().filter(|gap| gap.at >= recording.start).map(|gap| {
            let at = gap.at.saturating_sub(recording.start);
            dict! { py; "at_s" => at.as_secs_f64(), "duration_s" => gap.lasts.as_secs_f64() }
        });
        out.set_item("gaps", gaps.collect::<PyResult<Vec<_>>>()?)?;
        Ok(out)
    }

    fn look(&mut self, py: Python<'_>) -> PyResult<()> {
        py.check_signals()?;
        let silence = self.calls.in_flight.as_ref().and_then(|requests| requests.look());
        in_flight::note(&mut self.stalls, silence);
        let is_ending = self.shared.stop.load(Ordering::Relaxed);
        let mut patience = in_flight::MIN_STALL;
        if is_ending && self.stopped.get_or_insert_with(Instant::now).elapsed() >= WAIT_AFTER_STOP {
            // What is under way keeps a run that is to end: it is said what for, and what there is is kept.
            patience = Nanos(WAIT_AFTER_STOP.as_nanos() as u64);
        }
        let silence = silence.filter(|silence| silence.lasts >= patience);
        if is_ending && silence.is_none() && !self.is_silent {
            return Ok(());
        }
        self.keep(py, silence.is_some().then_some(is_ending))?;
        self.tell(py, silence)
    }

    /// Hand over what there is, where there is more than at the last look. Who waits in the kernel for a silent drive makes
    /// no more of it, so that what there was is handed over again: with the silence, once before and once after the run
    /// is to end.
    fn keep(&mut self, py: Python<'_>, silent: Option<bool>) -> PyResult<()> {
        let kept = self.shared.kept.lock().expect("nobody panics with it").take();
        let is_due = kept.is_some() || (silent.is_some() && silent != self.kept_silent);
        self.kept_silent = silent;
        let kept = kept.or(self.kept.take());
        let result = match (is_due, &self.calls.keep, &kept) {
            (true, Some(keep), Some(so_far)) => keep.call1(py, (self.result(py, so_far)?,)).map(drop),
            _ => Ok(()),
        };
        // A simulated drive is never silent.
        self.kept = kept.filter(|_| self.calls.in_flight.is_some());
        result
    }

    /// The run has ended: if Python was told that the drive does not answer, that is over. What it says to that changes
    /// nothing any more.
    fn end_silence(&mut self, py: Python<'_>) {
        if self.is_silent {
            let _ = self.tell(py, None);
        }
    }

    /// Call `progress`, with what a silent drive is waited for.
    fn tell(&mut self, py: Python<'_>, silence: Option<Silence>) -> PyResult<()> {
        let so_far = *self.shared.progress.lock().expect("nobody panics with it");
        let nothing = Progress { done_bytes: 0, total_bytes: 0, elapsed: Nanos::ZERO, total_time: Nanos::ZERO };
        // A policy may never return from the first question.
        let is_due = silence.is_some() || self.calls.failure.is_some();
        let so_far = so_far.or(is_due.then_some(nothing));
        let (Some(progress), Some(so_far)) = (&self.calls.progress, so_far) else { return Ok(()) };
        let seconds = so_far.elapsed.saturating_sub(self.elapsed).as_secs_f64();
        let rate = if seconds > 0.0 { so_far.done_bytes.saturating_sub(self.bytes) as f64 / seconds } else { 0.0 };
        (self.bytes, self.elapsed) = (so_far.done_bytes, so_far.elapsed);
        let state = dict! { py;
            "done_bytes" => so_far.done_bytes,
            "total_bytes" => so_far.total_bytes,
            "drive_time_ns" => so_far.elapsed.0,
            "total_time_ns" => so_far.total_time.0,
            "bytes_per_s" => rate,
        }?;
        if let Some(why) = self.calls.in_flight.as_ref().and_then(|requests| requests.substitutes.get()) {
            state.set_item("engine_substitutes", why)?;
        }
        self.is_silent = silence.is_some();
        if let Some(silence) = silence {
            let dict = silence_dict(py, &silence)?;
            if self.stopped.is_some_and(|since| since.elapsed() >= WAIT_AFTER_STOP) {
                dict.set_item("is_held", !self.shared.stopping.load(Ordering::Relaxed))?;
                let kept = self.kept.as_ref().map_or(Nanos::ZERO, |kept| kept.end.saturating_sub(kept.start));
                dict.set_item("kept_s", kept.as_secs_f64())?;
            }
            state.set_item("silence", dict)?;
        }
        if !progress.call1(py, (state,))?.extract::<bool>(py)? {
            self.shared.stop.store(true, Ordering::Relaxed);
        }
        Ok(())
    }
}

/// A silence as Python has it (`pslc.schema.results.Silence`).
fn silence_dict<'py>(py: Python<'py>, silence: &Silence) -> PyResult<Bound<'py, PyDict>> {
    let Silence { since, lasts, under_way, oldest } = silence;
    dict! { py;
        "duration_s" => lasts.as_secs_f64(),
        "under_way" => under_way,
        "op" => pslc_drive::op_name(oldest.request.op),
        "bytes" => oldest.request.len,
        "offset" => oldest.request.offset,
        "waited_s" => (*since + *lasts).saturating_sub(oldest.since).as_secs_f64(),
    }
}
