//! Why a file or a device cannot be used. Nothing was written.

/// Displayed as what is wrong, an empty line, and a hint.
#[derive(Debug, thiserror::Error)]
#[error("{message}\n\nhint: {hint}")]
pub struct OpenError {
    pub message: String,
    pub hint: String,
}

impl OpenError {
    pub fn new(message: impl Into<String>, hint: impl Into<String>) -> OpenError {
        OpenError { message: message.into(), hint: hint.into() }
    }
}
