//! Jobs that a real drive cannot do.

use pslc_ssd::codes;

/// What the system calls requests past its cache.
const DIRECT: &str = if cfg!(windows) { "FILE_FLAG_NO_BUFFERING" } else { "O_DIRECT" };

/// Why the first request of a job would fail.
#[derive(Debug, thiserror::Error)]
pub enum UnfitJob {
    #[error("job {job}: direct=1, but the file system refuses {DIRECT}")]
    NoDirect { job: String },
    #[error("job {job}: {option}={bytes}, but the blocks are of {block}")]
    Unaligned { job: String, option: &'static str, bytes: u64, block: u32 },
}

codes!(UnfitJob {
    NoDirect => "job-no-direct",
    Unaligned => "job-unaligned",
});

impl UnfitJob {
    /// What to do next.
    pub fn hint(&self) -> super::Hint {
        match self {
            Self::NoDirect { .. } => {
                "use a file on ext4, xfs or btrfs; direct=0 measures the page cache".into()
            }
            Self::Unaligned { block, .. } => format!("a multiple of {block}").into(),
        }
    }
}
