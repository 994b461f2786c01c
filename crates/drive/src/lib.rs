//! Real drives: a scratch file or a block device, through io_uring or threads, with the guard before any write. And the
//! files that hold simulated ones (`kept`), and every other file that pslc makes (`files`).
//!
//! ```text
//!   open_scratch / open_existing / open_device      what may be written, and nothing else
//!            |
//!        RealTarget   -- the same Target as the simulated drive
//!            |
//!      uring | threads
//! ```
//!
//! The guard stands on what Linux tells. On macOS new files are measured on, by threads, and nothing else is written.

mod arena;
mod clock;
mod data;
mod engine;
mod error;
pub mod files;
mod folder;
mod found;
pub mod journal;
mod judge;
mod kept;
mod machine;
mod null;
mod scratch;
mod stat;
mod target;
mod written;

#[cfg(target_os = "linux")]
mod blkid;
#[cfg(target_os = "linux")]
mod device;
#[cfg(target_os = "linux")]
mod existing;
#[cfg(target_os = "linux")]
mod handle;
#[cfg(target_os = "linux")]
mod holders;
#[cfg(target_os = "linux")]
mod loops;
#[cfg(target_os = "linux")]
mod mark;
#[cfg(target_os = "linux")]
mod mounts;
#[cfg(target_os = "linux")]
mod page_cache;
#[cfg(target_os = "linux")]
mod signatures;
#[cfg(target_os = "linux")]
mod sysfs;
#[cfg(target_os = "linux")]
mod users;

#[cfg(not(target_os = "linux"))]
mod elsewhere;

#[cfg(target_os = "linux")]
pub use device::{inspect, open_device, serial_of};
#[cfg(not(target_os = "linux"))]
pub use elsewhere::{inspect, inspect_file, open_device, open_existing, serial_of};
pub use engine::Kind;
pub use error::OpenError;
#[cfg(target_os = "linux")]
pub use existing::{inspect_file, open_existing};
pub use found::{Device, Existing};
pub use kept::{data_path, is_kept, KeptDrive};
pub use machine::keyword;
pub use null::NullTarget;
pub use scratch::{check_scratch, open_scratch};
pub use stat::DeviceStat;
pub use target::RealTarget;
