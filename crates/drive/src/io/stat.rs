//! What a block device moves for everyone, as Linux counts it in `/sys/block/NAME/stat`.

use std::fs::File;
use std::io;
use std::path::Path;

use crate::sys;

/// Linux counts in sectors of this size on every device.
const SECTOR: u64 = 512;

pub struct DeviceStat {
    file: File,
    last: [u64; 2],
}

impl DeviceStat {
    /// Fails where the file cannot be read, or is none of these.
    pub fn open(path: &Path) -> io::Result<DeviceStat> {
        let mut stat = DeviceStat { file: File::open(path)?, last: [0; 2] };
        stat.last = stat.read()?;
        Ok(stat)
    }

    /// Bytes read and written since the machine was started; as they were last where they cannot be read any more.
    pub fn bytes(&mut self) -> [u64; 2] {
        self.last = self.read().unwrap_or(self.last);
        self.last
    }

    fn read(&self) -> io::Result<[u64; 2]> {
        let mut text = [0; 512];
        let length = sys::read_at(&self.file, &mut text, 0)?;
        parse(&text[..length]).ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "no statistics of a device"))
    }
}

/// Requests, merges, sectors and milliseconds, of reads and then of writes.
fn parse(text: &[u8]) -> Option<[u64; 2]> {
    let mut words = std::str::from_utf8(text).ok()?.split_ascii_whitespace();
    let mut sectors = |skipped: usize| words.nth(skipped)?.parse::<u64>().ok();
    Some([sectors(2)? * SECTOR, sectors(3)? * SECTOR])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sectors_are_the_third_and_the_seventh_word() {
        let text =
            b"  107272       77 113536012    98880    38368    13508  3474548    15149        0    38564   116516\n";
        assert_eq!(parse(text), Some([113536012 * 512, 3474548 * 512]));
        assert_eq!(parse(b"8 0 12"), None);
        assert_eq!(parse(b"a b c d e f g"), None);
    }
}
