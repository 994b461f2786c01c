//! The files that Python makes, all through `pslc_drive::files`.

use std::io::{self, Write};
use std::path::PathBuf;

use pslc_drive::files::{self, Replace, WriteError};
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;

use crate::errors;

/// What a refusal says, or the system's error as Python has it.
fn failed(error: WriteError) -> PyErr {
    match error {
        WriteError::Refused(error) => errors::guard(error.into()),
        WriteError::System { path, error } => match error.raw_os_error() {
            Some(number) => {
                let text = error.to_string();
                let words = text.split(" (os error").next().unwrap_or(&text).to_string();
                PyOSError::new_err((number, words, path))
            }
            None => PyOSError::new_err(error.to_string()),
        },
    }
}

fn replace<'a>(word: &str, like: Option<&'a [u8]>) -> PyResult<Replace<'a>> {
    match word {
        "never" => Ok(Replace::Never),
        "ours" => Ok(Replace::Ours(like)),
        "any" => Ok(Replace::Any),
        _ => Err(PyValueError::new_err(format!("{word} is never, ours or any"))),
    }
}

#[pyfunction]
#[pyo3(signature = (path, data, may_replace, like=None, private=false))]
pub fn write_file(
    py: Python<'_>,
    path: PathBuf,
    data: &[u8],
    may_replace: &str,
    like: Option<&[u8]>,
    private: bool,
) -> PyResult<()> {
    let replace = replace(may_replace, like)?;
    let mode = if private { files::PRIVATE } else { files::SHARED };
    py.detach(|| files::write(&path, data, replace, mode, true)).map_err(failed)
}

#[pyfunction]
#[pyo3(signature = (path, may_replace, like=None))]
pub fn check_file(path: PathBuf, may_replace: &str, like: Option<&[u8]>) -> PyResult<()> {
    files::check(&path, replace(may_replace, like)?).map_err(failed)
}

#[pyfunction]
#[pyo3(signature = (path, may_replace, like=None))]
pub fn remove_file(path: PathBuf, may_replace: &str, like: Option<&[u8]>) -> PyResult<()> {
    files::remove(&path, replace(may_replace, like)?).map_err(failed)
}

#[pyfunction]
pub fn hand_over(path: PathBuf) -> PyResult<()> {
    Ok(files::hand_over(&path)?)
}

/// The limit of this process that stopped something with this number of an error, and what raises it.
#[pyfunction]
pub fn limit_hint(number: i32) -> Option<String> {
    pslc_drive::limit_hint(&io::Error::from_raw_os_error(number))
}

#[pyfunction]
pub fn created_unix_s(path: PathBuf) -> Option<f64> {
    let created = std::fs::symlink_metadata(path).and_then(|about| about.created()).ok()?;
    created.duration_since(std::time::UNIX_EPOCH).ok().map(|since| since.as_secs_f64())
}

/// A file that gets its name when it is whole.
#[pyclass]
pub struct NewFile {
    path: PathBuf,
    file: Option<files::NewFile<'static>>,
}

#[pymethods]
impl NewFile {
    #[new]
    fn new(path: PathBuf, may_replace: &str) -> PyResult<NewFile> {
        let file = files::NewFile::begin(&path, replace(may_replace, None)?, files::SHARED).map_err(failed)?;
        Ok(NewFile { path, file: Some(file) })
    }

    fn write(&mut self, data: &[u8]) -> PyResult<()> {
        let path = &self.path;
        let file = self.file.as_mut().ok_or_else(|| PyValueError::new_err("the file is closed"))?;
        file.write_all(data).map_err(|error| failed(WriteError::System { path: path.clone(), error }))
    }

    fn commit(&mut self, py: Python<'_>) -> PyResult<()> {
        let file = self.file.take().ok_or_else(|| PyValueError::new_err("the file is closed"))?;
        py.detach(|| file.commit()).map(drop).map_err(failed)
    }

    fn discard(&mut self) {
        self.file = None;
    }
}
