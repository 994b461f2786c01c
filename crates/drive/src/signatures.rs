//! What the first and the last bytes of a device say about who it belongs to.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// Bytes looked at at either end: every signature below is within.
pub const REACH: u64 = 1 << 20;

/// Name, offset from the start, bytes. Offsets and magic numbers are those of the formats' own definitions.
const AT_START: &[(&str, usize, &[u8])] = &[
    ("ext2/3/4 file system", 0x438, &[0x53, 0xef]),
    ("XFS file system", 0, b"XFSB"),
    ("Btrfs file system", 0x10040, b"_BHRfS_M"),
    ("F2FS file system", 0x400, &[0x10, 0x20, 0xf5, 0xf2]),
    ("NTFS file system", 3, b"NTFS    "),
    ("exFAT file system", 3, b"EXFAT   "),
    ("FAT file system", 0x36, b"FAT1"),
    ("FAT32 file system", 0x52, b"FAT32"),
    ("HFS+ file system", 0x400, b"H+"),
    ("APFS container", 32, b"NXSB"),
    ("SquashFS file system", 0, b"hsqs"),
    ("ISO 9660 file system", 0x8001, b"CD001"),
    ("LUKS encryption", 0, b"LUKS\xba\xbe"),
    ("BitLocker encryption", 3, b"-FVE-FS-"),
    ("LVM physical volume", 0x218, b"LVM2 001"),
    ("swap space", 4086, b"SWAPSPACE2"),
    ("Linux RAID member", 4096, &[0xfc, 0x4e, 0x2b, 0xa9]),
    ("Linux RAID member", 0, &[0xfc, 0x4e, 0x2b, 0xa9]),
    ("bcache device", 0x1018, &[0xc6, 0x85, 0x73, 0xf6, 0x4e, 0x1a, 0x45, 0xca]),
    ("ZFS member", 0x20000, &[0x0c, 0xb1, 0xba, 0x00, 0, 0, 0, 0]),
    ("GPT partition table", 512, b"EFI PART"),
    ("GPT partition table", 4096, b"EFI PART"),
];

/// The signatures found, each once.
pub fn find(device: &File, size: u64) -> io::Result<Vec<&'static str>> {
    let reach = REACH.min(size) as usize;
    if reach == 0 {
        return Ok(Vec::new());
    }
    let mut start = vec![0; reach];
    device.read_exact_at(&mut start, 0)?;
    let mut end = vec![0; reach];
    device.read_exact_at(&mut end, size - reach as u64)?;
    let at =
        |bytes: &[u8], offset: usize, magic: &[u8]| bytes.get(offset..offset + magic.len()) == Some(magic);
    let mut found: Vec<&str> =
        AT_START.iter().filter(|(_, offset, magic)| at(&start, *offset, magic)).map(|row| row.0).collect();
    // A partition table of the old kind: its mark, and an entry that is in use.
    if at(&start, 510, &[0x55, 0xaa]) && (0..4).any(|entry| start[446 + 16 * entry + 4] != 0) {
        found.push("MBR partition table");
    }
    for back in [512, 4096] {
        if reach >= back && at(&end, reach - back, b"EFI PART") {
            found.push("GPT partition table (its copy at the end)");
        }
    }
    if reach >= 65536
        && (0..8).any(|i| at(&end, (reach - 65536 - 8192 * i) & !4095, &[0xfc, 0x4e, 0x2b, 0xa9]))
    {
        found.push("Linux RAID member");
    }
    found.dedup();
    Ok(found)
}

/// Overwrite both ends with zeros.
pub fn wipe(device: &File, size: u64) -> io::Result<()> {
    let zeros = vec![0; REACH.min(size) as usize];
    device.write_all_at(&zeros, 0)?;
    device.write_all_at(&zeros, size - zeros.len() as u64)?;
    device.sync_all()
}
