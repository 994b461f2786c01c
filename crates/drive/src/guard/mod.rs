//! Who may be written to. Everything here looks; nothing here writes, but `scratch`, which makes the new file that it opens.
//!
//! ```text
//!   open_scratch    a new file in a folder          folder
//!   open_existing   a file that pslc made           mark  signatures
//!   open_device     a device that nobody uses       users  signatures; on Windows physical_drive
//!                     users       mounts  holders  loops: who stands on it, up and down the stack
//!                     signatures  blkid: what it holds      content: the same rule on every system
//!                     rights      the node: who may open it, and what helps
//!                   facts         what is shown of it before anybody agrees
//! ```

#[cfg(target_os = "linux")]
mod blkid;
#[cfg(any(target_os = "linux", windows))]
mod content;
#[cfg(target_os = "linux")]
mod device;
#[cfg(windows)]
#[path = "device_windows.rs"]
mod device;
#[cfg(not(target_os = "linux"))]
mod elsewhere;
#[cfg(target_os = "linux")]
mod existing;
mod facts;
#[cfg(unix)]
mod folder;
#[cfg(target_os = "linux")]
pub(crate) mod holders;
#[cfg(target_os = "linux")]
mod loops;
#[cfg(target_os = "linux")]
mod mounts;
#[cfg(any(windows, all(test, target_os = "linux")))]
mod physical_drive;
#[cfg(target_os = "linux")]
mod rights;
mod room;
#[cfg(unix)]
mod scratch;
#[cfg(windows)]
#[path = "scratch_windows.rs"]
mod scratch;
#[cfg(target_os = "linux")]
mod signatures;
#[cfg(target_os = "linux")]
mod sysfs;
#[cfg(target_os = "linux")]
mod users;

#[cfg(any(target_os = "linux", windows))]
pub use device::{check_device, inspect, open_device, serial_of, wipe};
#[cfg(not(any(target_os = "linux", windows)))]
pub use elsewhere::{check_device, inspect, open_device, serial_of, wipe};
#[cfg(not(target_os = "linux"))]
pub use elsewhere::{inspect_file, mounts, open_existing};
#[cfg(target_os = "linux")]
pub use existing::{inspect_file, open_existing};
pub use facts::{Device, Existing, Mount};
#[cfg(target_os = "linux")]
pub use mounts::mounts;
pub use scratch::{check_scratch, open_scratch};
