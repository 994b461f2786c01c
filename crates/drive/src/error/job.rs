//! Jobs that a real drive cannot do.

use pslc_ssd::faults;

/// What the system calls requests past its cache.
const DIRECT: &str = if cfg!(windows) { "FILE_FLAG_NO_BUFFERING" } else { "O_DIRECT" };

faults! {
    /// Why the first request of a job would fail.
    #[derive(Debug, thiserror::Error)]
    pub enum UnfitJob {
        #[error("job {job}: direct=1, but the file system refuses {DIRECT}")]
        NoDirect { job: String } = "job-no-direct"
            => "use a file on ext4, xfs or btrfs; direct=0 measures the page cache",
        #[error("job {job}: {option}={bytes}, but the blocks are of {block}")]
        Unaligned { job: String, option: &'static str, bytes: u64, block: u32 } = "job-unaligned"
            => format!("a multiple of {block}"),
    }
}
