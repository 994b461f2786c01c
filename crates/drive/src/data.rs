//! What was written to a simulated drive while it was served, by address, in a sparse file beside the drive's own. The block
//! behind the data says whose they are.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use crate::error::{DriveFileError, OpenError};
use crate::files::{self, NewFile, Replace};
use crate::sys;

/// Begins the block behind the data; the identity of the drive follows.
const MAGIC: &[u8; 16] = b"pslc drive data\n";
/// Bytes of that block.
const BLOCK_BYTES: u64 = 4096;
/// Zeros written at once where no hole can be made.
const PIECE_BYTES: u64 = 1 << 20;

/// The data of one drive.
#[derive(Debug)]
pub struct DataFile(File);

/// The path of the data of the drive in a file.
pub fn path(drive: &Path) -> PathBuf {
    let mut name = drive.as_os_str().to_os_string();
    name.push(".data");
    PathBuf::from(name)
}

impl DataFile {
    /// Open the data of the drive of that identity in the file `drive`, or make them, all zeros, where there are none.
    pub fn open(drive: &Path, identity: u64, capacity: u64) -> Result<DataFile, OpenError> {
        let path = &path(drive);
        let failed = |source| DriveFileError::DataNotKept { path: path.to_path_buf(), source };
        let last = [&MAGIC[..], &identity.to_le_bytes()].concat();
        let Some(file) = files::open(path, true)? else {
            let new = NewFile::begin(path, Replace::Never, files::PRIVATE)?;
            sys::make_sparse(new.file()).map_err(failed)?;
            new.file().set_len(capacity + BLOCK_BYTES).map_err(failed)?;
            sys::write_all_at(new.file(), &last, capacity).map_err(failed)?;
            return Ok(DataFile(new.commit()?));
        };
        let there = file.metadata().map_err(failed)?.len().checked_sub(BLOCK_BYTES);
        let mut content = vec![0; last.len()];
        let read = there.map(|at| sys::read_exact_at(&file, &mut content, at));
        if !matches!(read, Some(Ok(()))) || !content.starts_with(MAGIC) {
            return Err(DriveFileError::ForeignData { path: path.to_path_buf() }.into());
        }
        if content != last {
            return Err(DriveFileError::DataOfAnother { path: path.to_path_buf() }.into());
        }
        let data = DataFile(file);
        match there {
            Some(old) if old != capacity => data.resize(old, capacity, &last).map_err(failed)?,
            _ => {}
        }
        Ok(data)
    }

    /// Data that are gone with this process, all zeros: in memory where the system has files there.
    pub fn temporary(capacity: u64) -> Result<DataFile, OpenError> {
        let file = sys::temporary_file().and_then(|file| {
            sys::make_sparse(&file)?;
            file.set_len(capacity)?;
            Ok(file)
        });
        Ok(DataFile(file.map_err(|source| DriveFileError::NoMemoryForData { source })?))
    }

    /// A format changed the capacity. Whenever this ends early, the last block tells whose the data are.
    fn resize(&self, old: u64, capacity: u64, last: &[u8]) -> io::Result<()> {
        sys::write_all_at(&self.0, last, capacity)?;
        self.clear(old, BLOCK_BYTES.min(capacity.saturating_sub(old)))?;
        self.0.set_len(capacity + BLOCK_BYTES)
    }

    pub fn read(&self, into: &mut [u8], offset: u64) -> io::Result<()> {
        sys::read_exact_at(&self.0, into, offset)
    }

    pub fn write(&self, from: &[u8], offset: u64) -> io::Result<()> {
        sys::write_all_at(&self.0, from, offset)
    }

    /// Make zeros, and a hole of what is whole blocks of the file system.
    pub fn clear(&self, offset: u64, bytes: u64) -> io::Result<()> {
        if bytes == 0 || sys::punch_hole(&self.0, offset, bytes)? {
            return Ok(());
        }
        let zeros = vec![0; PIECE_BYTES.min(bytes) as usize];
        let mut at = offset;
        while at < offset + bytes {
            let part = PIECE_BYTES.min(offset + bytes - at);
            self.write(&zeros[..part as usize], at)?;
            at += part;
        }
        Ok(())
    }

    /// Make zeros of what the drive does not hold: it was formatted, lost power, or was written to by a run. `mapped` says
    /// of an offset and a length whether the drive holds what is there, and for how many bytes that is so.
    pub fn clear_unmapped(&self, capacity: u64, mapped: impl Fn(u64, u64) -> (bool, u64)) -> io::Result<()> {
        let mut at = 0;
        while let Some((from, to)) = sys::next_data(&self.0, at, capacity)? {
            at = from;
            while at < to {
                let (holds, bytes) = mapped(at, to - at);
                if !holds {
                    self.clear(at, bytes)?;
                }
                at += bytes;
            }
        }
        Ok(())
    }
}
