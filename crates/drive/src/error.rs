//! Why a file or a device cannot be used. Nothing was written.

use std::io;
use std::path::Path;

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

/// What could not be done with a path, in the system's words.
pub fn failed(what: &str, path: &Path, error: io::Error) -> OpenError {
    let hint = match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            "make room on that file system, or give another folder"
        }
        _ => "give a path in a folder on the drive that you can write to",
    };
    OpenError::new(format!("{}: cannot {what}: {}", path.display(), words(&error)), hint)
}

/// An error of the system without its number.
fn words(error: &io::Error) -> String {
    #[cfg(windows)]
    if let Some(words) = error.raw_os_error().and_then(|code| crate::sys::words(code as u32)) {
        return words.into();
    }
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or(&text).to_string()
}
