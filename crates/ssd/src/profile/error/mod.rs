//! What is wrong with a profile, and where it was said: a variant for each fault, with what its sentence is made of.

mod check;
mod read;

use std::fmt;

pub use check::CheckFault;
pub use read::ReadFault;

use crate::Hint;

/// A file and a line, or what was said on the command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    pub source: String,
    pub line: Option<usize>,
}

impl Origin {
    /// A fault at this place.
    pub fn fault(self, what: impl Into<ProfileFault>) -> PlacedFault {
        PlacedFault { place: self, what: Box::new(what.into()) }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "{}:{line}", self.source),
            None => f.write_str(&self.source),
        }
    }
}

/// One thing that is wrong with a profile.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProfileFault {
    /// A key or a value by itself.
    #[error(transparent)]
    Read(#[from] ReadFault),
    /// A value beside those of other keys, or a limit of the model.
    #[error(transparent)]
    Check(#[from] CheckFault),
}

impl ProfileFault {
    /// What programs know this fault by, however its sentence is put.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Read(fault) => fault.code(),
            Self::Check(fault) => fault.code(),
        }
    }

    /// What to write instead.
    pub fn hint(&self) -> Hint {
        match self {
            Self::Read(fault) => fault.hint(),
            Self::Check(fault) => fault.hint(),
        }
    }
}

/// A fault and its place: `file:line`, the file alone, or the override `key=value`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlacedFault {
    pub place: Origin,
    pub what: Box<ProfileFault>,
}

/// `place: what`; of a profile without a name the fault alone.
impl fmt::Display for PlacedFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.place.source.is_empty() {
            write!(f, "{}: ", self.place)?;
        }
        self.what.fmt(f)
    }
}

/// All that is wrong with a profile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProfileError {
    source: String,
    faults: Vec<PlacedFault>,
}

/// The code of an error of more than one fault, each of which has a code of its own.
pub const SEVERAL_FAULTS: &str = "several-faults";

impl ProfileError {
    /// An error where there are faults of the profile with this name.
    pub(super) fn of(source: &str, faults: Vec<PlacedFault>) -> Result<(), ProfileError> {
        faults.is_empty().then_some(()).ok_or_else(|| ProfileError { source: source.to_string(), faults })
    }

    /// Its faults, at least one, in the order in which they were found.
    pub fn faults(&self) -> &[PlacedFault] {
        &self.faults
    }

    /// What programs know this error by, however its sentence is put.
    pub fn code(&self) -> &'static str {
        match &self.faults[..] {
            [fault] => fault.what.code(),
            _ => SEVERAL_FAULTS,
        }
    }

    /// What to do next.
    pub fn hint(&self) -> Hint {
        match &self.faults[..] {
            [fault] => fault.what.hint(),
            _ => "each line says what to write instead".into(),
        }
    }
}

/// `file:line: what`; of several faults their number, and a line for each.
impl fmt::Display for ProfileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let faults = match &self.faults[..] {
            [fault] => return fault.fmt(f),
            faults => faults,
        };
        if !self.source.is_empty() {
            write!(f, "{}: ", self.source)?;
        }
        write!(f, "{} faults", faults.len())?;
        for fault in faults {
            write!(f, "\n  {fault} (hint: {})", fault.what.hint())?;
        }
        Ok(())
    }
}

impl std::error::Error for ProfileError {}

impl From<PlacedFault> for ProfileError {
    /// The error of a fault behind which nothing can be read.
    fn from(fault: PlacedFault) -> ProfileError {
        ProfileError { source: fault.place.source.clone(), faults: vec![fault] }
    }
}

/// The codes of all errors of profiles.
pub fn codes() -> impl Iterator<Item = &'static str> {
    ReadFault::CODES.iter().chain(CheckFault::CODES).copied().chain([SEVERAL_FAULTS])
}

/// A hint that begins with the word that was probably meant.
fn meant(near: Option<&str>, hint: &str) -> String {
    near.map_or_else(String::new, |near| format!("did you mean \"{near}\"? ")) + hint
}
