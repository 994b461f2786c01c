//! What was recorded while a drive was served by another process.

use std::io::Read;
use std::path::PathBuf;

use pslc_load::job::Ground;
use pslc_load::record::Recording;
use pslc_ssd::Machine;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::RecordingError;
use crate::{parse, recording};

/// Read what the plugin of nbdkit wrote.
#[pyfunction]
pub fn served_recording(py: Python<'_>, path: PathBuf) -> PyResult<Bound<'_, PyDict>> {
    let hint = "pslc serve makes one";
    let refused = |why: String| RecordingError::new_err((format!("{}: {why}", path.display()), hint));
    let file = pslc_drive::files::open(&path, false).map_err(|error| refused(error.to_string()))?;
    let mut bytes = Vec::new();
    let read = file.ok_or_else(|| refused("there is no such file".into()))?.read_to_end(&mut bytes);
    read.map_err(|error| refused(error.to_string()))?;
    let recording: Recording = postcard::from_bytes(&bytes).map_err(|error| refused(error.to_string()))?;
    let depths = &recording.stats[0].depths;
    let deepest = 1u64 << depths.iter().rposition(|&count| count > 0).unwrap_or(0);
    let text = format!("[serve]\nrw=randrw\nbs=4k\niodepth={deepest}\nioengine=libaio\ndirect=1\n");
    let mut jobs = parse("serve", &text, &[], Ground::Simulated, 1 << 30)?;
    jobs[0].options.clear();
    jobs[0].notes.clear();
    recording::dict(py, &recording, &jobs, Machine::COLUMNS)
}
