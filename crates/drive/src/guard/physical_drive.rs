//! Whether a whole drive may be erased on Windows, as a function of what the system says of it. What it does not say is
//! refused: nobody there tells what a drive holds, or who uses it, as libblkid and sysfs do.

use std::io;
use std::path::Path;

use crate::error::{DeviceError, OpenError, PhysicalDriveError};
use crate::guard::content::SAMPLE_BYTES;
use crate::storage::descriptor::{Attributes, Layout, PartitionKind, Table};
use crate::storage::VolumeDrives;

/// No drive is smaller.
const MIN_BYTES: u64 = 4 << 20;

/// What the system says of a drive, and of all volumes; `None` where it says nothing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Facts {
    /// What the system counts the drive as.
    pub number: Option<u32>,
    /// The drive's own.
    pub serial: Option<String>,
    pub bytes: Option<u64>,
    /// Bytes of a logical block.
    pub block: Option<u32>,
    pub removable: Option<bool>,
    pub attributes: Option<Attributes>,
    pub layout: Option<Layout>,
    pub volumes: Option<Vec<VolumeDrives>>,
    /// Drives that Windows itself lies on.
    pub of_system: Option<Vec<u32>>,
}

/// A drive that may be erased.
#[derive(Clone, Debug, PartialEq)]
pub struct Approved {
    pub number: u32,
    pub serial: String,
    pub bytes: u64,
    pub block: u32,
}

/// What must be so before anything is written. `read` looks for data on the drive, and is asked last; it returns a
/// sentence on each place that has some.
pub fn judge(
    facts: &Facts,
    path: &Path,
    expected_serial: &str,
    wipe_signatures: bool,
    read: impl FnOnce(&Approved) -> io::Result<Vec<String>>,
) -> Result<Approved, OpenError> {
    let approved = confirm(facts, path, expected_serial)?;
    let path = path.to_path_buf();
    match read(&approved) {
        Err(source) => Err(DeviceError::ContentUnknown { path, source }.into()),
        Ok(data) => {
            let signatures = signatures(facts.layout.as_ref(), data);
            if signatures.is_empty() || wipe_signatures {
                Ok(approved)
            } else {
                Err(DeviceError::HasSignatures { path, signatures }.into())
            }
        }
    }
}

/// That it is the drive whose serial number was given, and that nobody uses it.
pub fn confirm(facts: &Facts, path: &Path, expected_serial: &str) -> Result<Approved, OpenError> {
    let path_buf = || path.to_path_buf();
    let bytes = require(facts.bytes, path, "its size")?;
    if bytes == 0 {
        return Err(DeviceError::NoMedium { path: path_buf() }.into());
    }
    if bytes < MIN_BYTES {
        return Err(DeviceError::TooSmall { path: path_buf(), bytes }.into());
    }
    let serial = match &facts.serial {
        Some(serial) if serial == expected_serial => serial.clone(),
        Some(_) => {
            let expected_serial = expected_serial.to_string();
            return Err(DeviceError::WrongSerial { path: path_buf(), expected_serial }.into());
        }
        None => return Err(DeviceError::NoSerial { path: path_buf() }.into()),
    };
    let number = unused(facts, path)?;
    let is_possible = |block: &u32| block.is_power_of_two() && *block as u64 <= SAMPLE_BYTES;
    let block = require(facts.block.filter(is_possible), path, "the size of its blocks")?;
    Ok(Approved { number, serial, bytes: bytes / block as u64 * block as u64, block })
}

/// That nobody uses it: its number.
pub fn unused(facts: &Facts, path: &Path) -> Result<u32, OpenError> {
    let number = require(facts.number, path, "its number")?;
    let path_buf = path.to_path_buf();
    if require(facts.of_system.as_ref(), path, "on which drive Windows lies")?.contains(&number) {
        return Err(PhysicalDriveError::OfSystem { path: path_buf }.into());
    }
    let attributes = require(facts.attributes, path, "whether it is offline or read-only")?;
    if attributes.offline {
        return Err(PhysicalDriveError::Offline { path: path_buf, number }.into());
    }
    if attributes.read_only {
        return Err(PhysicalDriveError::ReadOnly { path: path_buf, number }.into());
    }
    if require(facts.removable, path, "whether its medium can be taken out")? {
        return Err(PhysicalDriveError::Removable { path: path_buf }.into());
    }
    let layout = require(facts.layout.as_ref(), path, "which partitions it has")?;
    let has = |kind: &PartitionKind| layout.partitions.iter().any(|partition| partition.kind == *kind);
    if has(&PartitionKind::Pool) {
        return Err(PhysicalDriveError::InPool { path: path_buf }.into());
    }
    if has(&PartitionKind::Dynamic) {
        return Err(PhysicalDriveError::Dynamic { path: path_buf }.into());
    }
    check_volumes(facts, number, path)?;
    let partitions = partitions(layout);
    if !partitions.is_empty() {
        return Err(PhysicalDriveError::HasPartitions { path: path_buf, partitions }.into());
    }
    Ok(number)
}

/// That no volume lies on it, mounted or not.
fn check_volumes(facts: &Facts, number: u32, path: &Path) -> Result<(), OpenError> {
    let volumes = require(facts.volumes.as_ref(), path, "which volumes there are")?;
    let lies_here = |volume: &&VolumeDrives| volume.drives.iter().flatten().any(|drive| *drive == number);
    let here: Vec<String> = volumes.iter().filter(lies_here).map(|volume| volume.name.clone()).collect();
    if !here.is_empty() {
        return Err(PhysicalDriveError::HasVolumes { path: path.to_path_buf(), volumes: here }.into());
    }
    match volumes.iter().find(|volume| volume.drives.is_none()) {
        Some(volume) => require(None, path, &format!("on which drive the volume {} lies", volume.name)),
        None => Ok(()),
    }
}

/// Partitions that may hold something, a sentence each.
fn partitions(layout: &Layout) -> Vec<String> {
    let sentence =
        |number: u32, bytes: u64, kind: &str| format!("partition {number}, {:.1} GB ({kind})", bytes as f64 / 1e9);
    let partitions = layout.partitions.iter().filter_map(|of| match &of.kind {
        PartitionKind::Reserved => None,
        PartitionKind::Pool => Some(sentence(of.number, of.bytes, "storage pool")),
        PartitionKind::Dynamic => Some(sentence(of.number, of.bytes, "dynamic disk")),
        PartitionKind::Other(words) => Some(sentence(of.number, of.bytes, words)),
    });
    partitions.collect()
}

/// What is on a drive without partitions, a sentence each.
fn signatures(layout: Option<&Layout>, data: Vec<String>) -> Vec<String> {
    let table = layout.and_then(|layout| layout.table).map(|table| match table {
        Table::Mbr => "an empty partition table (MBR)".to_string(),
        Table::Gpt => "an empty partition table (GPT)".to_string(),
    });
    table.into_iter().chain(data).collect()
}

fn require<T>(fact: Option<T>, path: &Path, what: &str) -> Result<T, OpenError> {
    let unknown = || PhysicalDriveError::Unknown { path: path.to_path_buf(), what: what.to_string() };
    fact.ok_or_else(|| unknown().into())
}

#[cfg(test)]
mod tests;
