//! A file or a device as a target: requests through io_uring, a completion port or threads, timed by the wall's clock.
//!
//! ```text
//!   target    the same Target as the simulated drive      null   one that does nothing, for the cost of the rest
//!     engine    uring | port | threads
//!     arena     the memory of requests      data    what is written      judge   what of it may be verified
//!     clock     of the wall, and whether it stood still                  stat    what the system counts
//! ```

mod arena;
mod clock;
mod data;
mod engine;
mod judge;
mod machine;
#[cfg(target_os = "linux")]
pub(crate) mod mark;
mod null;
#[cfg(target_os = "linux")]
mod page_cache;
mod stat;
mod target;
mod written;

#[cfg(windows)]
pub(crate) use arena::Arena;
pub use engine::{name as op_name, Kind};
pub use machine::keyword;
#[cfg(target_os = "linux")]
pub(crate) use mark::Mark;
pub use null::NullTarget;
pub use stat::DeviceStat;
pub use target::RealTarget;
pub(crate) use target::Trim;
pub(crate) use written::Written;
