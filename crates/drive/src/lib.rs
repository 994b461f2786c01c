//! Real drives: a scratch file or a block device, through io_uring or threads, with the guard before any write. And the
//! files that hold simulated ones (`kept`).
//!
//! ```text
//!   open_scratch / open_existing / open_device      what may be written, and nothing else
//!            |
//!        RealTarget   -- the same Target as the simulated drive
//!            |
//!      uring | threads
//! ```

mod arena;
mod blkid;
mod clock;
mod data;
mod device;
mod engine;
mod error;
mod existing;
mod folder;
mod handle;
mod holders;
mod kept;
mod loops;
mod mark;
mod mounts;
mod null;
mod scratch;
mod signatures;
mod stat;
mod sysfs;
mod target;
mod users;
mod written;

pub use device::{inspect, open_device, serial_of, Device};
pub use engine::Kind;
pub use error::OpenError;
pub use existing::{inspect_file, open_existing, Existing};
pub use kept::{is_kept, KeptDrive};
pub use null::NullTarget;
pub use scratch::{check_scratch, open_scratch};
pub use stat::DeviceStat;
pub use target::RealTarget;
