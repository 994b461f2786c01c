//! What was written, by address: in a sparse file beside the drive, in memory, or nowhere.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use rustix::fs::{fallocate, memfd_create, seek, FallocateFlags, MemfdFlags, SeekFrom};
use rustix::io::Errno;

use crate::given;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Data {
    Keep,
    Memory,
    None,
}

/// `None`: zeros.
#[derive(Debug)]
pub struct Store(Option<File>);

/// Zeros written at once where no hole can be made.
const PIECE: u64 = 1 << 20;

impl Store {
    /// The data of the drive in a file, those in memory in the open one `memory` if there is one. Those that a new one has
    /// are zeros.
    pub fn open(data: Data, memory: Option<i32>, drive: &Path, capacity: u64) -> io::Result<Store> {
        let file = match (data, memory) {
            (Data::None, _) => return Ok(Store(None)),
            (Data::Memory, Some(memory)) => given::file(memory)?,
            (Data::Memory, None) => File::from(memfd_create("pslc", MemfdFlags::CLOEXEC)?),
            (Data::Keep, _) => {
                let mut how = OpenOptions::new();
                how.read(true).write(true).create(true).truncate(false).open(path(drive))?
            }
        };
        file.set_len(capacity)?;
        Ok(Store(Some(file)))
    }

    pub fn read(&self, into: &mut [u8], offset: u64) -> io::Result<()> {
        match &self.0 {
            Some(file) => file.read_exact_at(into, offset),
            None => {
                into.fill(0);
                Ok(())
            }
        }
    }

    pub fn write(&self, from: &[u8], offset: u64) -> io::Result<()> {
        match &self.0 {
            Some(file) => file.write_all_at(from, offset),
            None => Ok(()),
        }
    }

    /// Make zeros, and a hole of what is whole blocks of the file system.
    pub fn clear(&self, offset: u64, bytes: u64) -> io::Result<()> {
        let Some(file) = &self.0 else { return Ok(()) };
        if bytes == 0 {
            return Ok(());
        }
        match fallocate(file, FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE, offset, bytes) {
            Err(Errno::OPNOTSUPP) => {}
            other => return other.map_err(io::Error::from),
        }
        let zeros = vec![0; PIECE.min(bytes) as usize];
        let mut at = offset;
        while at < offset + bytes {
            let part = PIECE.min(offset + bytes - at);
            file.write_all_at(&zeros[..part as usize], at)?;
            at += part;
        }
        Ok(())
    }

    /// Make zeros of what the drive does not hold: it was formatted, lost power, or was written to by a run.
    pub fn agree(&self, capacity: u64, mapped: impl Fn(u64, u64) -> (bool, u64)) -> io::Result<()> {
        let Some(file) = &self.0 else { return Ok(()) };
        let mut at = 0;
        while let Some((from, to)) = written(file, at, capacity)? {
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

/// The file with the data of a drive.
pub fn path(drive: &Path) -> PathBuf {
    let mut name = drive.as_os_str().to_os_string();
    name.push(".data");
    PathBuf::from(name)
}

/// The next part of a file, from `at` on, that is no hole.
fn written(file: &File, at: u64, end: u64) -> io::Result<Option<(u64, u64)>> {
    let from = match seek(file.as_fd(), SeekFrom::Data(at)) {
        Ok(from) if from < end => from,
        Ok(_) | Err(Errno::NXIO) => return Ok(None),
        Err(Errno::INVAL) => return Ok((at < end).then_some((at, end))),
        Err(error) => return Err(error.into()),
    };
    let to = seek(file.as_fd(), SeekFrom::Hole(from)).map_err(io::Error::from)?;
    Ok(Some((from, to.min(end))))
}
