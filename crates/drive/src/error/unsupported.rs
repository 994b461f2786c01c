//! What an operating system does not let pslc do.

use std::path::PathBuf;

use pslc_ssd::faults;

use super::target_file::ON_A_NEW_FILE;

faults! {
    /// Why nothing real is measured on this system in this way.
    #[derive(Debug, thiserror::Error)]
    pub enum Unsupported {
        #[error("{path}: only on Linux can pslc tell who uses it and what it holds")]
        NotLinux { path: PathBuf } = "needs-linux" => ON_A_NEW_FILE,
    }
}
