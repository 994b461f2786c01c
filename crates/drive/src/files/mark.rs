//! How pslc knows a file again that it made: an attribute with the length and the checksum of what it put there. Where
//! the file system has no attributes there is none.

use std::fs::File;
use std::io::{self, Read};

use crate::sys;

const NAME: &str = "pslc.made";
/// Bytes of the text at most.
const MAX_BYTES: usize = 64;

/// Of a file that has been written whole.
pub fn set(file: &File, sum: crc32fast::Hasher) {
    let Ok(about) = file.metadata() else { return };
    // Without it the file is not taken for pslc's own the next time, which is safe.
    let _ = sys::set_attribute(file, NAME, text(about.len(), sum).as_bytes());
}

/// Whether a file is as pslc made it; None where it has no mark.
pub fn fits(file: &File) -> Option<bool> {
    let mut mark = [0; MAX_BYTES];
    let length = sys::attribute(file, NAME, &mut mark).ok()?;
    let expected = summed(file).map(|(bytes, sum)| text(bytes, sum));
    Some(expected.is_ok_and(|expected| expected.as_bytes() == &mark[..length]))
}

fn text(bytes: u64, sum: crc32fast::Hasher) -> String {
    format!("{bytes} bytes, crc32 {:08x}", sum.finalize())
}

fn summed(mut file: &File) -> io::Result<(u64, crc32fast::Hasher)> {
    let (mut sum, mut length, mut piece) = (crc32fast::Hasher::new(), 0, vec![0; 1 << 20]);
    loop {
        match file.read(&mut piece)? {
            0 => return Ok((length, sum)),
            count => {
                sum.update(&piece[..count]);
                length += count as u64;
            }
        }
    }
}
