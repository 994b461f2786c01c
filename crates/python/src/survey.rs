//! What is in a trace, as Python objects (`pslc.schema.surveys`).

use pslc_load::traces::Survey;
use pslc_ssd::Op;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

/// By the numbers that stand for them.
pub const KINDS: [(&str, Op); 4] =
    [("read", Op::Read), ("write", Op::Write), ("trim", Op::Trim), ("flush", Op::Flush)];

fn by_kind<'py>(py: Python<'py>, values: &[u64; 4]) -> PyResult<Bound<'py, PyDict>> {
    let out = PyDict::new(py);
    for ((name, _), value) in KINDS.iter().zip(values) {
        out.set_item(name, value)?;
    }
    Ok(out)
}

pub fn dict<'py>(py: Python<'py>, survey: &Survey) -> PyResult<Bound<'py, PyDict>> {
    let out = PyDict::new(py);
    out.set_item("format", survey.format)?;
    let volumes = survey.volumes.iter().map(|volume| {
        dict! { py;
            "device" => &volume.device,
            "count" => by_kind(py, &volume.count)?,
            "bytes" => by_kind(py, &volume.bytes)?,
            "sequential" => by_kind(py, &volume.sequential)?,
            "end_bytes" => volume.end_bytes,
        }
    });
    out.set_item("devices", PyList::new(py, volumes.collect::<PyResult<Vec<_>>>()?)?)?;
    out.set_item("duration_ns", survey.last.0 - survey.first.0)?;
    let sizes = survey.sizes.iter().map(|(&(kind, size), &count)| (KINDS[kind].0, size, count));
    out.set_item("sizes", sizes.collect::<Vec<_>>())?;
    let over_time = PyDict::new(py);
    over_time.set_item("bin_ns", survey.over_time.width.0)?;
    for (kind, name) in ["read", "write"].into_iter().enumerate() {
        let bytes: Vec<u64> = survey.over_time.bytes.iter().map(|bin| bin[kind]).collect();
        over_time.set_item(format!("{name}_bytes"), bytes)?;
    }
    out.set_item("over_time", over_time)?;
    out.set_item("touched_bytes", survey.touched_bytes)?;
    out.set_item("written_bytes", survey.written_bytes)?;
    out.set_item("unwritten_bytes", survey.unwritten_bytes)?;
    out.set_item("rewritten_bytes", survey.rewritten_bytes)?;
    let bursts = survey.bursts.iter().map(|burst| {
        dict! { py;
            "pause_ns" => burst.pause.0,
            "pauses" => burst.pauses,
            "paused_ns" => burst.paused.0,
            "most_bytes" => burst.most_bytes,
            "most_at_ns" => burst.most_at.0,
        }
    });
    out.set_item("bursts", PyList::new(py, bursts.collect::<PyResult<Vec<_>>>()?)?)?;
    out.set_item("longest_pause_ns", survey.longest_pause.0)?;
    out.set_item("took_ns", survey.took.0)?;
    out.set_item("timed", survey.timed)?;
    out.set_item("skipped", survey.skipped)?;
    out.set_item("empty", survey.empty)?;
    out.set_item("backwards_ns", survey.backwards.0)?;
    out.set_item("notes", survey.notes.clone())?;
    Ok(out)
}
