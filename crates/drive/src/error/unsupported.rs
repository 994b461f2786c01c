//! What an operating system does not let pslc do.

use std::path::PathBuf;

use pslc_ssd::codes;

/// Why nothing real is measured on this system in this way.
#[derive(Debug, thiserror::Error)]
pub enum Unsupported {
    #[error("{path}: only on Linux can pslc tell who uses it and what it holds")]
    NotLinux { path: PathBuf },
}

codes!(Unsupported {
    NotLinux => "needs-linux",
});

impl Unsupported {
    /// What to do next.
    pub fn hint(&self) -> &'static str {
        "measure on a new file on the drive: --on FILE --size 20GB; nothing was written"
    }
}
