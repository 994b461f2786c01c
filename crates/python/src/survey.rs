//! What is in a trace, as Python objects (`pslc.schema.surveys`).

use pslc_load::traces::Survey;
use pslc_ssd::Op;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// By the numbers that stand for them.
pub const KINDS: [(&str, Op); 4] = [("read", Op::Read), ("write", Op::Write), ("trim", Op::Trim), ("flush", Op::Flush)];

fn by_kind<'py>(py: Python<'py>, values: &[u64; 4]) -> PyResult<Bound<'py, PyDict>> {
    let out = PyDict::new(py);
    for ((name, _), value) in KINDS.iter().zip(values) {
        out.set_item(name, value)?;
    }
    Ok(out)
}

pub fn dict<'py>(py: Python<'py>, survey: &Survey) -> PyResult<Bound<'py, PyDict>> {
    let volumes = survey.volumes.iter().map(|volume| {
        dict! { py;
            "device" => &volume.device,
            "count" => by_kind(py, &volume.count)?,
            "bytes" => by_kind(py, &volume.bytes)?,
            "sequential" => by_kind(py, &volume.sequential)?,
            "end_bytes" => volume.end_bytes,
        }
    });
    let sizes = survey.sizes.iter().map(|(&(kind, size), &count)| (KINDS[kind].0, size, count));
    let bytes = |kind: usize| survey.over_time.bytes.iter().map(|bin| bin[kind]).collect::<Vec<_>>();
    let bursts = survey.bursts.iter().map(|burst| {
        dict! { py;
            "pause_ns" => burst.pause.0,
            "pauses" => burst.pauses,
            "paused_ns" => burst.paused.0,
            "most_bytes" => burst.most_bytes,
            "most_at_ns" => burst.most_at.0,
        }
    });
    dict! { py;
        "format" => survey.format,
        "devices" => volumes.collect::<PyResult<Vec<_>>>()?,
        "duration_ns" => survey.last.0 - survey.first.0,
        "sizes" => sizes.collect::<Vec<_>>(),
        "over_time" => dict! { py;
            "bin_ns" => survey.over_time.width.0,
            "read_bytes" => bytes(0),
            "write_bytes" => bytes(1),
        }?,
        "touched_bytes" => survey.touched_bytes,
        "written_bytes" => survey.written_bytes,
        "unwritten_bytes" => survey.unwritten_bytes,
        "rewritten_bytes" => survey.rewritten_bytes,
        "bursts" => bursts.collect::<PyResult<Vec<_>>>()?,
        "longest_pause_ns" => survey.longest_pause.0,
        "took_ns" => survey.took.0,
        "timed" => survey.timed,
        "skipped" => survey.skipped,
        "empty" => survey.empty,
        "backwards_ns" => survey.backwards.0,
        "notes" => survey.notes.clone(),
    }
}
