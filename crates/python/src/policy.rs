//! A policy of the cache and a victim rule in Python. The first error of one ends its run, whose result has it.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use pslc_ssd::cache::{HostWrite, Overflow, Space, View};
use pslc_ssd::custom::{Candidates, Custom, CustomPolicy, CustomVictimRule, Decision, Stuck};
use pslc_ssd::{CellMode, Config, Nanos, Words};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::errors::{Interrupted, PolicyError, TargetError};

/// What a run and the policies of its drive share.
#[derive(Debug, Default)]
pub struct Failure {
    failed: AtomicBool,
    error: Mutex<Option<PyErr>>,
    /// Python's name of the thread that a policy is running in now; 0: none.
    thread: AtomicU64,
    /// What interrupts a thread: one of the objects that are asked.
    asked: Option<Py<PyAny>>,
}

impl Failure {
    pub fn is_set(&self) -> bool {
        self.failed.load(Ordering::Relaxed)
    }

    fn set(&self, error: PyErr) {
        self.error.lock().expect("nobody panics with it").get_or_insert(error);
        self.failed.store(true, Ordering::Relaxed);
    }

    /// Raise the error of a policy, the first time as it was.
    pub fn raise(&self) -> PyResult<()> {
        if !self.is_set() {
            return Ok(());
        }
        Err(self.error.lock().expect("nobody panics with it").take().unwrap_or_else(|| {
            TargetError::new_err((
                "this drive's policy failed before; the drive has continued without it",
                "begin with a new drive",
            ))
        }))
    }

    /// The error of a policy. What an interrupt of the run raised in it is none.
    pub fn take_but_interrupt(&self, py: Python<'_>) -> Option<PyErr> {
        self.raise().err().filter(|error| !error.is_instance_of::<Interrupted>(py))
    }

    /// Interrupt a policy that is running, perhaps without end.
    pub fn interrupt(&self, py: Python<'_>) -> PyResult<()> {
        match (self.thread.load(Ordering::Relaxed), &self.asked) {
            (0, _) | (_, None) => Ok(()),
            (thread, Some(asked)) => asked.call_method1(py, "interrupt", (thread,)).map(drop),
        }
    }
}

/// Python's object, and the words in which its answers are wrong.
#[derive(Debug)]
struct Asked {
    object: Py<PyAny>,
    name: String,
    failure: Arc<Failure>,
}

thread_local! {
    static THREAD: Cell<u64> = const { Cell::new(0) };
}

/// Python's name of this thread.
fn this_thread(py: Python<'_>) -> PyResult<u64> {
    if THREAD.get() == 0 {
        THREAD.set(py.import("threading")?.call_method0("get_ident")?.extract()?);
    }
    Ok(THREAD.get())
}

impl Asked {
    /// An answer, or `otherwise` from the first error on.
    fn ask<T>(&self, otherwise: T, call: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<T>) -> T {
        if self.failure.is_set() {
            return otherwise;
        }
        Python::attach(|py| {
            let answer = this_thread(py).and_then(|thread| {
                self.failure.thread.store(thread, Ordering::Relaxed);
                call(self.object.bind(py))
            });
            self.failure.thread.store(0, Ordering::Relaxed);
            answer.unwrap_or_else(|error| {
                self.failure.set(error);
                otherwise
            })
        })
    }

    fn wrong<T>(&self, question: &str, answer: &Bound<'_, PyAny>, hint: String) -> PyResult<T> {
        let shown = self.object.bind(answer.py()).call_method1("shown", (answer,))?;
        Err(PolicyError::new_err((format!("{}.{question} answered {shown}", self.name), hint)))
    }

    /// An answer that is one of the words.
    fn word<T: Words>(&self, question: &str, answer: &Bound<'_, PyAny>) -> PyResult<T> {
        let text: Option<String> = answer.extract().ok();
        match T::ALL.iter().find(|value| text.as_deref() == Some(value.word())) {
            Some(value) => Ok(*value),
            None => {
                let words: Vec<String> = T::ALL.iter().map(|value| format!("{:?}", value.word())).collect();
                self.wrong(question, answer, format!("one of {}", words.join(", ")))
            }
        }
    }
}

#[derive(Debug)]
struct Policy {
    asked: Asked,
    sorts: bool,
    predicts: bool,
    may_wait: bool,
}

fn space(space: &Space) -> (u32, u32, u32, u32, u64) {
    (space.cache_used, space.cache_size, space.free, space.reserve, space.cache_pages)
}

impl Policy {
    fn decision(&self, object: &Bound<'_, PyAny>, view: &View) -> PyResult<Decision> {
        let shown = (
            view.exhausted,
            view.room,
            view.foldable,
            view.in_batches,
            view.draining,
            view.throttle.word(),
            space(&view.space),
        );
        let answers = object.call_method1("decide", shown)?;
        let overflow = answers.get_item(1)?;
        let decision = Decision {
            throttle: self.asked.word("throttle", &answers.get_item(0)?)?,
            overflow: self.asked.word("overflow", &overflow)?,
            order: self.asked.word("fold_order", &answers.get_item(2)?)?,
        };
        if decision.overflow != Overflow::Native && !self.may_wait {
            let hint =
                "cache.reuse=as-freed,cache.dead=free-at-once,cache.worn=goes-on: with another profile nothing ends the wait";
            return self.asked.wrong("overflow", &overflow, hint.into());
        }
        Ok(decision)
    }
}

impl CustomPolicy for Policy {
    fn decide(&self, view: &View) -> Decision {
        self.asked.ask(Decision::default(), |object| self.decision(object, view))
    }

    fn sorts(&self) -> bool {
        self.sorts
    }

    fn place(&self, now: &Space, write: &HostWrite) -> CellMode {
        self.asked.ask(CellMode::Slc, |object| {
            let shown = (space(now), write.pages, write.run, write.rewritten_after);
            let answer = object.call_method1("place", shown)?;
            match answer.extract::<String>().as_deref() {
                Ok("cache") => Ok(CellMode::Slc),
                Ok("native") => Ok(CellMode::Native),
                _ => self.asked.wrong("place", &answer, "cache or native".into()),
            }
        })
    }

    fn predicts(&self) -> bool {
        self.predicts
    }

    fn idle_start(&self, threshold: Nanos, silences: &[Nanos]) -> Option<Nanos> {
        let last: Vec<u64> = silences.iter().map(|silence| silence.0).collect();
        self.asked.ask(Some(threshold), |object| {
            let answer = object.call_method1("idle_start", (threshold.0, last))?;
            match answer.extract::<Option<u64>>() {
                Ok(start) if start.is_none_or(|start| start <= u64::MAX / 4) => Ok(start.map(Nanos)),
                _ => self.asked.wrong("idle_start", &answer, "nanoseconds as an int from 0 on, or None: never".into()),
            }
        })
    }
}

#[derive(Debug)]
struct VictimRule(Asked);

impl CustomVictimRule for VictimRule {
    fn choose(&self, candidates: &Candidates) -> Option<usize> {
        let count = candidates.superblocks.len();
        self.0.ask(None, |object| {
            let py = object.py();
            let column = |value: fn(u32, &pslc_ssd::Superblock) -> u64| {
                let values = candidates.superblocks.iter().map(|(index, block)| value(*index, block));
                PyBytes::new(py, &values.flat_map(u64::to_ne_bytes).collect::<Vec<u8>>())
            };
            let columns = (
                column(|index, _| index as u64),
                column(|_, block| block.valid as u64),
                column(|_, block| block.opened),
                column(|_, block| (block.slc_erases + block.native_erases) as u64),
                column(|_, block| (block.mode != CellMode::Native) as u64),
                candidates.full,
                candidates.openings,
            );
            let answer = object.call_method1("choose", columns)?;
            match answer.extract::<usize>() {
                Ok(place) if place < count => Ok(Some(place)),
                _ => self.0.wrong("choose", &answer, format!("a place among the {count} candidates, from 0 on")),
            }
        })
    }

    fn stuck(&self, state: &Stuck) {
        let Stuck { chosen, superblocks, free, reserve, valid, full } = *state;
        let message = format!(
            "{} makes no room: it emptied {chosen} superblocks before the host got another, and the drive has \
             {superblocks} ({free} free, {reserve} in reserve; candidates hold {valid} valid pages of {full} on average)",
            self.0.name
        );
        let hint = "choose those with few valid pages: np.argmin(candidates.valid)";
        self.0.ask((), |_| Err(PolicyError::new_err((message, hint))));
    }
}

/// The policy and the rule that a drive asks, as they came from Python.
pub struct Governors {
    pub failure: Arc<Failure>,
    policy: Option<Py<PyAny>>,
    victims: Option<Py<PyAny>>,
}

impl Governors {
    /// Objects with `name` and `interrupt`, and of a policy `sorts` and `predicts`.
    pub fn new(py: Python<'_>, policy: Option<Py<PyAny>>, victims: Option<Py<PyAny>>) -> Governors {
        let copy = |object: &Option<Py<PyAny>>| object.as_ref().map(|object| object.clone_ref(py));
        let asked = copy(&policy).or_else(|| copy(&victims));
        let failure = Arc::new(Failure { asked, ..Failure::default() });
        Governors { failure, policy: copy(&policy), victims: copy(&victims) }
    }

    /// What a drive of this configuration asks.
    pub fn custom(&self, py: Python<'_>, config: &Config) -> PyResult<Custom> {
        let asked = |object: &Py<PyAny>| -> PyResult<Asked> {
            let name = object.getattr(py, "name")?.extract(py)?;
            Ok(Asked { object: object.clone_ref(py), name, failure: self.failure.clone() })
        };
        let flag = |object: &Py<PyAny>, name| -> PyResult<bool> { object.getattr(py, name)?.extract(py) };
        let mut custom = Custom::default();
        if let Some(object) = &self.policy {
            let asked = asked(object)?;
            let (sorts, predicts) = (flag(object, "sorts")?, flag(object, "predicts")?);
            if config.cache.most_bytes() == 0 {
                return Err(TargetError::new_err((
                    format!("{} has no cache, so {} would never be asked", config.name, asked.name),
                    "a drive that has a cache: cache.mode=dynamic-slc",
                )));
            }
            if sorts && !config.has_room_to_sort() {
                return Err(TargetError::new_err((
                    format!("{} sorts writes, and {} has no superblock to spare for it", asked.name, config.name),
                    "a smaller capacity or ftl.reserve, or a policy without place",
                )));
            }
            custom.policy = Some(Arc::new(Policy { asked, sorts, predicts, may_wait: config.may_wait() }));
        }
        if let Some(object) = &self.victims {
            custom.victims = Some(Arc::new(VictimRule(asked(object)?)));
        }
        Ok(custom)
    }

    /// Copies in the same state.
    pub fn fork(&self, py: Python<'_>) -> PyResult<Governors> {
        let memo = PyDict::new(py);
        let deepcopy = py.import("copy")?.getattr("deepcopy")?;
        let copy = |object: &Option<Py<PyAny>>| -> PyResult<Option<Py<PyAny>>> {
            object.as_ref().map(|object| Ok(deepcopy.call1((object, &memo))?.unbind())).transpose()
        };
        Ok(Governors::new(py, copy(&self.policy)?, copy(&self.victims)?))
    }
}
