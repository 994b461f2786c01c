//! The errors of python/pslc/base/errors.py, raised with their message, their hint and their code apart.

use std::io;

use pslc_drive::error::{Hint, SystemError};
use pslc_drive::{OpenError, UnfitJob};
use pslc_load::array::layout::LayoutFault;
use pslc_load::job;
use pslc_load::traces::TraceError;
use pslc_ssd::parts::PartsError;
use pslc_ssd::profile;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use pyo3::{import_exception, PyErr};

import_exception!(pslc.base.errors, GuardError);
import_exception!(pslc.base.errors, Interrupted);
import_exception!(pslc.base.errors, JobError);
import_exception!(pslc.base.errors, PolicyError);
import_exception!(pslc.base.errors, ProfileError);
import_exception!(pslc.base.errors, PslcError);
import_exception!(pslc.base.errors, RecordingError);
import_exception!(pslc.base.errors, TargetError);

/// A profile that cannot be used, with its faults where there are several.
pub fn profile(error: profile::ProfileError) -> PyErr {
    let raised = ProfileError::new_err((error.to_string(), error.hint(), error.code()));
    if error.faults().len() == 1 {
        return raised;
    }
    let faults = error.faults().iter().map(|fault| (fault.to_string(), fault.what.hint(), fault.what.code()));
    let faults = faults.map(ProfileError::new_err);
    Python::attach(|py| {
        let faults: Vec<_> = faults.map(|fault| fault.into_value(py)).collect();
        let set = PyTuple::new(py, faults).and_then(|faults| raised.value(py).setattr("faults", faults));
        set.map_or_else(|error| error, |()| raised)
    })
}

/// Parts that make no profile.
pub fn parts(error: PartsError) -> PyErr {
    ProfileError::new_err((error.to_string(), error.hint(), error.code()))
}

pub fn job(error: job::JobError) -> PyErr {
    JobError::new_err((error.to_string(), error.hint(), error.code()))
}

pub fn guard(error: OpenError) -> PyErr {
    GuardError::new_err((error.to_string(), hint(&error), error.code()))
}

/// A job that a real drive cannot run.
pub fn unfit(error: UnfitJob) -> PyErr {
    JobError::new_err((error.to_string(), error.hint(), error.code()))
}

/// What a drive whose policy is Python's does not do.
pub fn ungoverned(why: &str) -> PyErr {
    TargetError::new_err((why.to_owned(), "run on sim:NAME, in one go: policy= of pslc.run, --policy of pslc run"))
}

/// A simulated drive whose file cannot be used.
pub fn target(error: OpenError) -> PyErr {
    TargetError::new_err((error.to_string(), hint(&error), error.code()))
}

/// What to do next; of a place where this user has no right, whose it is and what gives it.
fn hint(error: &OpenError) -> Hint {
    match error {
        OpenError::System(SystemError::Failed { path, source, .. })
            if source.kind() == io::ErrorKind::PermissionDenied =>
        {
            let asked = Python::attach(|py| {
                let path = py.import("pathlib")?.getattr("Path")?.call1((path,))?;
                py.import("pslc.base.rights")?.getattr("hint")?.call1((path,))?.extract::<String>()
            });
            asked.map_or_else(|_| error.hint(), Into::into)
        }
        _ => error.hint(),
    }
}

/// A drive that failed while what jobs read was laid out.
pub fn layout(error: pslc_load::TargetError) -> PyErr {
    TargetError::new_err((
        format!("laying out what the jobs read: {error}"),
        "see the kernel's log (dmesg), and how much room the drive has: df",
        error.code(),
    ))
}

/// An array that cannot be.
pub fn array(fault: LayoutFault) -> PyErr {
    let hint = match &fault {
        LayoutFault::Members { .. } => "for example array:raid5,4xmx500-1tb",
        LayoutFault::Chunk(_) => "for example chunk=64k; mdadm takes 512k by default, and so does pslc",
        LayoutFault::Place { .. } => "failed=N and rebuild=N count the members as they are listed",
        LayoutFault::Lost { .. } => "name fewer members in failed= and rebuild=",
    };
    TargetError::new_err((fault.to_string(), hint))
}

/// A trace that cannot be read, or cannot be replayed as asked.
pub fn trace(error: TraceError) -> PyErr {
    RecordingError::new_err((error.to_string(), error.hint(), error.code()))
}

/// The system has no thread for a run.
pub fn thread(error: std::io::Error) -> PyErr {
    TargetError::new_err((
        format!("the system starts no thread for the run: {error}"),
        pslc_drive::limit_hint(&error).unwrap_or_else(|| "other programs hold all that it allows: see ps -eL".into()),
    ))
}

/// The message and the hint of an error that Python raised, or the error itself where it is none of these.
pub fn message_and_hint(error: PyErr) -> Result<(String, String), PyErr> {
    Python::attach(|py| {
        let value = error.value(py);
        if !value.is_instance_of::<PslcError>() {
            return Err(error.clone_ref(py));
        }
        Ok((value.getattr("message")?.extract()?, value.getattr("hint")?.extract()?))
    })
}
