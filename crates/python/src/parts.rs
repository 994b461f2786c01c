//! Profiles made of parts.

use pslc_ssd::parts::{self, Derived, Parts, PartsError, Raw};
use pyo3::prelude::*;
use pyo3::IntoPyObjectExt;

use crate::errors;

type Row = (String, Py<PyAny>, String);

#[pyfunction]
#[pyo3(signature = (parts, whole=false))]
pub fn derive_profile(py: Python<'_>, parts: &str, whole: bool) -> PyResult<Vec<Row>> {
    let parts: Parts = serde_json::from_str(parts)
        .map_err(|error| errors::parts(PartsError::Unreadable { message: error.to_string() }))?;
    let rows = if whole { parts.profile() } else { parts.derive() }.map_err(errors::parts)?;
    let python = |value: Raw| match value {
        Raw::Whole(number) => number.into_py_any(py),
        Raw::Decimal(number) => number.into_py_any(py),
        Raw::Text(text) => text.into_py_any(py),
    };
    rows.into_iter().map(|Derived { key, value, how }| Ok((key, python(value)?, how))).collect()
}

#[pyfunction]
pub fn profile_toml(rows: Vec<(String, Bound<'_, PyAny>, String)>) -> PyResult<String> {
    let raw = |value: &Bound<'_, PyAny>| -> PyResult<Raw> {
        if let Ok(text) = value.extract() {
            return Ok(Raw::Text(text));
        }
        value.extract().map(Raw::Whole).or_else(|_| value.extract().map(Raw::Decimal))
    };
    let rows = rows.into_iter().map(|(key, value, how)| Ok(Derived { key, value: raw(&value)?, how }));
    Ok(parts::to_toml(&rows.collect::<PyResult<Vec<_>>>()?))
}

#[pyfunction]
pub fn way_of_folding(when_full: &str) -> &'static str {
    parts::way_of_folding(when_full)
}
