//! What tests of files share.

use std::path::{Path, PathBuf};

use pslc_drive::RealTarget;
use pslc_load::job::{parse, Ground, Job};
use pslc_load::Target;

pub const MB: u64 = 1 << 20;

/// A folder of the test's own under target/, on a real file system.
pub fn folder(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&path);
    std::fs::create_dir_all(&path).unwrap();
    path
}

pub fn jobs(text: &str, target: &RealTarget) -> Vec<Job> {
    let jobs = parse("t.fio", text, &[], Ground::Real, target.capacity_bytes(), &|_| None);
    jobs.unwrap_or_else(|error| panic!("{error}\n{text}"))
}
