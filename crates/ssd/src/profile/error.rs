//! What is wrong with a profile, and where it was said.

/// A file and a line, or what was said on the command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    pub source: String,
    pub line: Option<usize>,
}

impl std::fmt::Display for Origin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.line {
            Some(line) => write!(f, "{}:{line}", self.source),
            None => write!(f, "{}", self.source),
        }
    }
}

/// What is wrong with a profile. Displayed as `file:line: what`, an empty line, and a hint.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {message}\n\nhint: {hint}")]
pub struct ProfileError {
    /// `file:line`, the file alone, or the override `key=value`.
    pub place: String,
    pub message: String,
    pub hint: String,
}

impl ProfileError {
    pub(super) fn new(origin: &Origin, message: String, hint: String) -> ProfileError {
        ProfileError { place: origin.to_string(), message, hint }
    }

    /// All faults of a profile as one error: a single one as it is, several with a line for each.
    pub(super) fn all(source: &str, mut faults: Vec<ProfileError>) -> Result<(), ProfileError> {
        if faults.len() < 2 {
            return faults.pop().map_or(Ok(()), Err);
        }
        let mut message = format!("{} faults", faults.len());
        for ProfileError { place, message: what, hint } in &faults {
            message.push_str(&format!("\n  {place}: {what} (hint: {hint})"));
        }
        let hint = "each line says what to write instead".into();
        Err(ProfileError { place: source.to_string(), message, hint })
    }
}
