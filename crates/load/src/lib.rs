//! Workloads in fio's words: job files, request streams, the runner that keeps a queue full, and the recorder; traces of
//! other programs, and their replay.

#![forbid(unsafe_code)]

pub mod array;
pub mod heartbeat;
pub mod in_flight;
pub mod job;
mod layout;
pub mod live;
mod option_fault;
mod plan;
mod progress;
mod queue;
pub mod record;
pub mod replay;
mod runner;
mod sim;
mod splitmix;
mod stream;
mod target;
pub mod traces;
pub mod verify;
mod work;

pub use layout::{end_bytes, lay_out, layout_bytes, missing};
pub use plan::{best_case, memory_bytes, plan, scattered, Best, BestCase, Plan};
pub use progress::Progress;
pub use runner::{run, Next, Observer};
pub use sim::SimTarget;
pub use splitmix::splitmix64;
pub use stream::Stream;
pub use target::{Completion, Purpose, Target, TargetError, Usage, Verdict};

/// The codes of all errors of this crate.
pub fn error_codes() -> impl Iterator<Item = &'static str> {
    job::codes().chain(traces::TraceFault::CODES.iter().chain(TargetError::CODES).copied())
}
