//! How pslc knows a file it has written again: an attribute, or a block at the file's end where there are no attributes.
//! It holds the time of pslc's last write and a checksum of parts of the file, so that one which anyone has changed since
//! is not taken for pslc's own, though its times were set back.

use std::fs::{File, FileTimes, Metadata};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::fs::{fgetxattr, fsetxattr, XattrFlags};
use rustix::io::Errno;

const NAME: &str = "user.pslc";
const MAGIC: &[u8] = b"pslc measured on this file\n";
const BLOCK: u64 = 4096;
/// Blocks at its beginning that are summed, and as many over all of the file.
const SAMPLES: u64 = 16;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Attribute,
    /// The last whole block of the file, which is then not measured on.
    Block,
}

/// The mark of a file that is being measured on; it becomes valid when it is dropped.
pub struct Mark {
    file: File,
    kind: Kind,
}

/// Whether pslc was the last to write this file.
pub fn is_ours(file: &File) -> io::Result<bool> {
    let metadata = file.metadata()?;
    let mut bytes = vec![0; 256];
    let by_attribute = fgetxattr(file, NAME, &mut bytes[..]);
    if let Ok(len) = by_attribute {
        return Ok(bytes[..len] == text(file, &metadata)?[..]);
    }
    let Some(at) = last_block(&metadata) else { return Ok(false) };
    let expected = text(file, &metadata)?;
    let mut block = vec![0; expected.len()];
    file.read_exact_at(&mut block, at)?;
    Ok(block == expected)
}

impl Mark {
    /// From here on the file is nobody's but pslc's, and not yet measured.
    pub fn begin(file: &File) -> io::Result<Mark> {
        let kind = kind(file);
        if kind == Kind::Attribute {
            fsetxattr(file, NAME, MAGIC, XattrFlags::empty())?;
        }
        Ok(Mark { file: file.try_clone()?, kind })
    }

    fn end(&self) -> io::Result<()> {
        match self.kind {
            Kind::Attribute => {
                let text = text(&self.file, &self.file.metadata()?)?;
                fsetxattr(&self.file, NAME, &text, XattrFlags::empty())?;
            }
            Kind::Block => {
                let metadata = self.file.metadata()?;
                let Some(at) = last_block(&metadata) else { return Ok(()) };
                // FAT counts in steps of two seconds.
                let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs() & !1;
                let text = text_of(&self.file, &metadata, now as i64, 0)?;
                self.file.write_all_at(&text, at)?;
                self.file.sync_data()?;
                let then = UNIX_EPOCH + Duration::from_secs(now);
                self.file.set_times(FileTimes::new().set_modified(then))?;
            }
        }
        Ok(())
    }
}

impl Drop for Mark {
    fn drop(&mut self) {
        // Without it the file is not taken for pslc's own the next time, which is safe.
        let _ = self.end();
    }
}

fn kind(file: &File) -> Kind {
    match fgetxattr(file, NAME, &mut [0; 256][..]) {
        Ok(_) | Err(Errno::NODATA | Errno::RANGE) => Kind::Attribute,
        Err(_) => Kind::Block,
    }
}

/// Bytes of a file that can be measured on: whole blocks, without that of the mark.
pub fn usable(file: &File) -> io::Result<u64> {
    let mark = if kind(file) == Kind::Block { BLOCK } else { 0 };
    Ok((file.metadata()?.len() / BLOCK * BLOCK).saturating_sub(mark))
}

/// Where the last whole block begins.
fn last_block(metadata: &Metadata) -> Option<u64> {
    (metadata.len() / BLOCK).checked_sub(1).map(|block| block * BLOCK)
}

fn text(file: &File, metadata: &Metadata) -> io::Result<Vec<u8>> {
    text_of(file, metadata, metadata.mtime(), metadata.mtime_nsec())
}

fn text_of(file: &File, metadata: &Metadata, seconds: i64, nanos: i64) -> io::Result<Vec<u8>> {
    let (inode, len, sum) = (metadata.ino(), metadata.len(), summed(file, metadata)?);
    let line = format!("inode {inode}, {len} bytes, crc32 {sum:08x}, written {seconds}.{nanos:09}\n");
    Ok([MAGIC, line.as_bytes()].concat())
}

/// The checksum of the first blocks of a file, and of some over all of it; that of the mark is none of them.
fn summed(file: &File, metadata: &Metadata) -> io::Result<u32> {
    let blocks = (metadata.len() / BLOCK).saturating_sub(1);
    let spread = (1..=SAMPLES).map(|sample| blocks * sample / (SAMPLES + 1));
    let mut sum = crc32fast::Hasher::new();
    let mut block = vec![0; BLOCK as usize];
    for at in (0..blocks.min(SAMPLES)).chain(spread.filter(|&at| at < blocks)) {
        file.read_exact_at(&mut block, at * BLOCK)?;
        sum.update(&block);
    }
    Ok(sum.finalize())
}
