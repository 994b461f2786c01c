//! Facts of Windows about a volume and the drive below it, read-only. A fact that is missing or cut off is `None`.
//!
//! ```text
//!   query        what is asked: volumes and drives, opened without any right to their data (Windows alone)
//!   descriptor   the answers of the storage stack, as pure functions of their bytes
//!   nvme, ata    what a drive itself answers: who it is, and its health
//!   linux        the same, asked on Linux
//! ```
//!
//! The functions on bytes are the same on each system, so that they are tested everywhere.

#[cfg(any(test, target_os = "linux"))]
pub mod ata;
pub mod descriptor;
#[cfg(not(windows))]
mod elsewhere;
#[cfg(not(target_os = "linux"))]
mod elsewhere_than_linux;
#[cfg(target_os = "linux")]
mod linux;
pub mod nvme;
#[cfg(windows)]
mod query;

#[cfg(not(windows))]
pub use elsewhere::{drive, health, volume};
#[cfg(not(target_os = "linux"))]
pub use elsewhere_than_linux::{ata_health, ata_identity, nvme_health};
#[cfg(target_os = "linux")]
pub use linux::{ata_health, ata_identity, nvme_health};
#[cfg(windows)]
pub(crate) use query::{ask, describe, drives_of_system, look_at, path_of, place};
#[cfg(windows)]
pub use query::{drive, health, volume, volumes};

/// A drive as a whole. Every number is what the system says, not what was measured.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Drive {
    /// As the system counts its drives: `PhysicalDrive1`.
    pub number: u32,
    pub model: Option<String>,
    pub serial: Option<String>,
    pub firmware: Option<String>,
    /// How it is connected: `NVMe`, `SATA`, `USB`.
    pub bus: Option<&'static str>,
    pub bytes: Option<u64>,
    pub logical_block_bytes: Option<u32>,
    pub physical_block_bytes: Option<u32>,
    pub largest_request_bytes: Option<u32>,
    pub rotational: Option<bool>,
    /// Whether it takes trims.
    pub trims: Option<bool>,
    pub cache: descriptor::WriteCache,
    /// Whether its medium can be taken out.
    pub removable: Option<bool>,
}

/// What changes while a drive works.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Health {
    /// Degrees Celsius.
    pub temperature: Option<i32>,
    /// The NVMe health log, in smartctl's names.
    pub log: Vec<(&'static str, u128)>,
}

/// Where a file lies.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Volume {
    /// `NTFS`.
    pub file_system: Option<String>,
    /// Where its names begin: `C:\`.
    pub mount: String,
    /// Its own name: `\\?\Volume{...}`. `None` where another machine has it.
    pub source: Option<String>,
    /// `compressed`, `encrypted`, `read-only`, `remote`.
    pub options: Vec<&'static str>,
    pub bytes: Option<u64>,
    pub free_bytes: Option<u64>,
    /// The parts of drives that it is made of.
    pub extents: Vec<descriptor::Extent>,
}

/// The drives that a volume lies on.
#[derive(Clone, Debug, PartialEq)]
pub struct VolumeDrives {
    /// Where it is mounted, else its own name.
    pub name: String,
    /// The system's numbers of them; `None` where it does not tell.
    pub drives: Option<Vec<u32>>,
}

/// The number of a drive by its name: `\\.\PhysicalDrive1`, in upper or lower case.
pub fn drive_number(name: &str) -> Option<u32> {
    const PREFIX: &str = "physicaldrive";
    let name = name.replace('/', "\\").to_ascii_lowercase();
    let rest = [r"\\.\", r"\\?\"].iter().find_map(|space| name.strip_prefix(space))?;
    // Python's paths end in one.
    let digits = rest.strip_prefix(PREFIX)?.trim_end_matches('\\');
    let number: u32 = digits.parse().ok()?;
    (number.to_string() == digits).then_some(number)
}

/// The number at a place; `None` behind the end.
fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    bytes.get(at..)?.first_chunk().map(|of| u16::from_le_bytes(*of))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk().map(|of| u32::from_le_bytes(*of))
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    bytes.get(at..)?.first_chunk().map(|of| u64::from_le_bytes(*of))
}

/// Words of a drive: printable, without the blanks around them.
fn text(bytes: &[u8]) -> Option<String> {
    let is_text = bytes.iter().all(|byte| (b' '..=b'~').contains(byte));
    let text = std::str::from_utf8(bytes).ok()?.trim();
    (is_text && !text.is_empty()).then(|| text.to_string())
}
