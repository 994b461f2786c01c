//! Profiles made of parts.

use std::collections::BTreeMap;

use pslc_ssd::parts::{self, Controller, Derived, Nand, PartsError, Raw};
use pyo3::prelude::*;
use pyo3::IntoPyObjectExt;
use serde::Deserialize;

use crate::errors;

/// What Python hands over, as JSON.
#[derive(Deserialize)]
struct Asked {
    nand: Nand,
    controller: Controller,
    given: BTreeMap<String, Raw>,
}

#[pyfunction]
fn derive_profile(py: Python<'_>, question: &str) -> PyResult<Vec<(String, Py<PyAny>, String)>> {
    let asked: Asked = serde_json::from_str(question).map_err(|error| {
        errors::parts(PartsError {
            message: format!("the parts cannot be read: {error}"),
            hint: "a whole number is at most 2^63 - 1, and none is below 0".into(),
        })
    })?;
    let rows = parts::derive(&asked.nand, &asked.controller, &asked.given).map_err(errors::parts)?;
    let python = |value: Raw| match value {
        Raw::Whole(number) => number.into_py_any(py),
        Raw::Decimal(number) => number.into_py_any(py),
        Raw::Text(text) => text.into_py_any(py),
    };
    rows.into_iter().map(|Derived { key, value, how }| Ok((key, python(value)?, how))).collect()
}

#[pyfunction]
fn way_of_folding(when_full: &str) -> &'static str {
    parts::way_of_folding(when_full)
}

#[pyfunction]
fn fold_overheads() -> Vec<(&'static str, &'static str, f64)> {
    parts::FOLD_OVERHEADS.to_vec()
}

pub fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(derive_profile, module)?)?;
    module.add_function(wrap_pyfunction!(way_of_folding, module)?)?;
    module.add_function(wrap_pyfunction!(fold_overheads, module)?)
}
