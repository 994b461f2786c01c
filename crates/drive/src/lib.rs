//! Real drives: a scratch file or a block device, through io_uring, a completion port or threads, with the guard before any write. And the
//! files that hold simulated ones (`kept`, `journal`, `data`), and every other file that pslc makes (`files`).
//!
//! ```text
//!   guard   open_scratch / open_existing / open_device      what may be written, and nothing else
//!             |
//!   io      RealTarget   -- the same Target as the simulated drive
//!             |
//!           uring | port | threads
//! ```
//!
//! The guard stands on what Linux tells. On Windows new files and whole drives are measured on, on macOS new files.

mod data;
pub mod error;
pub mod files;
mod guard;
#[cfg(target_os = "linux")]
mod handle;
mod io;
pub mod journal;
mod kept;
pub mod storage;
mod sys;

pub use data::DataFile;
pub use error::{DriveFileError, OpenError, UnfitJob};
pub use guard::{
    check_device, check_scratch, inspect, inspect_file, mounts, open_device, open_existing, open_scratch, serial_of,
    wipe, Device, Existing, Mount,
};
pub use io::{keyword, op_name, DeviceStat, Kind, NullTarget, RealTarget};
pub use kept::{is_kept, KeptDrive};
pub use sys::limit_hint;
