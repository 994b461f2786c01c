//! Workloads in fio's words: job files, request streams, the runner that keeps a queue full, and the recorder.

mod target;

pub use target::{Completion, Target, TargetError};
