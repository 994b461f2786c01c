//! What the bytes of a device or a file say about who it belongs to, in the words of libblkid.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use crate::guard::blkid::{Match, Probe};

/// Bytes at either end that wiping zeroes, whatever is there: copies that libblkid does not look for are mostly within.
const REACH: u64 = 1 << 20;

/// A sentence each, such as `LVM2_member (raid)`; empty: libblkid knows nothing of what is there.
///
/// The error is `NotFound` where libblkid is not installed.
pub fn find(device: &File, size: u64) -> io::Result<Vec<String>> {
    // A locked drive fails here; libblkid may take what cannot be read for what is not there.
    let mut sector = [0; 512];
    if size >= 512 {
        device.read_exact_at(&mut sector, 0)?;
        device.read_exact_at(&mut sector, size - 512)?;
    }
    let matches = Probe::new(device)?.all()?;
    let mut sentences: Vec<String> = matches.iter().map(sentence).collect();
    if matches.iter().all(|matched| matched.usage.is_some()) {
        sentences.extend(Probe::new(device)?.table().map(|kind| format!("{kind} partition table")));
    }
    sentences.dedup();
    Ok(sentences)
}

fn sentence(matched: &Match) -> String {
    let what = match matched.usage.as_deref() {
        Some("filesystem") => format!("{} file system", matched.kind),
        Some(usage) => format!("{} ({usage})", matched.kind),
        None => format!("{} partition table", matched.kind),
    };
    match &matched.label {
        Some(label) => format!("{what} \"{label}\""),
        None => what,
    }
}

/// Overwrite both ends with zeros, and then each magic number that libblkid still finds.
pub fn wipe(device: &File, size: u64) -> io::Result<()> {
    let zeros = vec![0; REACH.min(size) as usize];
    device.write_all_at(&zeros, 0)?;
    device.write_all_at(&zeros, size - zeros.len() as u64)?;
    Probe::new(device)?.wipe()?;
    device.sync_all()
}
