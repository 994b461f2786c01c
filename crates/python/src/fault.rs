//! Panics are bugs of ours: what and where is kept for the report that the command line writes, and nothing is printed.

use std::sync::Mutex;

use pyo3::prelude::*;

static LAST: Mutex<Option<String>> = Mutex::new(None);

/// Keep what panics say from now on.
pub fn listen() {
    std::panic::set_hook(Box::new(|panic| {
        let trace = std::backtrace::Backtrace::capture();
        if let Ok(mut last) = LAST.lock() {
            // The first is the cause of those that follow.
            last.get_or_insert_with(|| format!("{panic}\n{trace}"));
        }
    }));
}

/// What the first panic said and where it was; None: there was none.
#[pyfunction]
pub fn last_panic() -> Option<String> {
    LAST.lock().ok().and_then(|last| last.clone())
}
