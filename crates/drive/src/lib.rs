//! Real drives: a scratch file or a block device, through io_uring or threads, with the guard before any write.
//!
//! ```text
//!   open_scratch / open_device      what may be written, and nothing else
//!            |
//!        RealTarget   -- the same Target as the simulated drive
//!            |
//!      uring | threads
//! ```

mod arena;
mod data;
mod device;
mod engine;
mod error;
mod null;
mod scratch;
mod signatures;
mod stat;
mod target;
mod written;

pub use device::{inspect, open_device, Device};
pub use engine::Kind;
pub use error::OpenError;
pub use null::NullTarget;
pub use scratch::{open_existing, open_scratch};
pub use stat::DeviceStat;
pub use target::RealTarget;
