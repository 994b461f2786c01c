//! What differs between systems, behind one face: folders and names in them, locks, positioned I/O, and what a process used.
//!
//! ```text
//!   About    what has a name: its kind, how many names it has, who may write to it, and whether it is the same as another
//!   Folder   held open, so that a name in it stays a name in it
//! ```

#[cfg(unix)]
mod limits;
#[cfg(windows)]
mod overlapped;
#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub use limits::*;
#[cfg(windows)]
pub use overlapped::*;
#[cfg(unix)]
pub use unix::*;
#[cfg(windows)]
pub use windows::*;

use std::path::Path;

/// The folder in which a path gives a name.
pub fn parent(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    }
}
