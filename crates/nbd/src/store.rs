//! What was written, by address: in a sparse file beside the drive, in memory, or nowhere.

use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::FileExt;
use std::path::Path;

use pslc_drive::files::{self, NewFile, Replace};
use pslc_drive::{data_path, DriveFileError, OpenError};
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
    /// The data of the drive of that identity in a file, those in memory in the open one `memory` if there is one. Those
    /// that a new one has are zeros.
    pub fn open(
        data: Data,
        memory: Option<i32>,
        drive: &Path,
        identity: u64,
        capacity: u64,
    ) -> Result<Store, OpenError> {
        let file = match data {
            Data::None => return Ok(Store(None)),
            Data::Memory => {
                let created = match memory {
                    Some(memory) => given::file(memory),
                    None => {
                        memfd_create("pslc", MemfdFlags::CLOEXEC).map_err(io::Error::from).map(File::from)
                    }
                };
                created
                    .and_then(|file| file.set_len(capacity).map(|()| file))
                    .map_err(|source| DriveFileError::NoMemoryForData { source })?
            }
            Data::Keep => kept(&data_path(drive), identity, capacity)?,
        };
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

/// Behind the data: whose they are.
const MAGIC: &[u8; 16] = b"pslc drive data\n";
/// Of the block behind the data.
const BLOCK: u64 = 4096;

/// The file with the data of a drive, which is made where there is none.
fn kept(path: &Path, identity: u64, capacity: u64) -> Result<File, OpenError> {
    let failed = |source| DriveFileError::DataNotKept { path: path.to_path_buf(), source };
    let last = [&MAGIC[..], &identity.to_le_bytes()].concat();
    let Some(file) = files::open(path, true)? else {
        let new = NewFile::begin(path, Replace::Never, files::PRIVATE)?;
        new.file().set_len(capacity + BLOCK).map_err(failed)?;
        new.file().write_all_at(&last, capacity).map_err(failed)?;
        return Ok(new.commit()?);
    };
    let there = file.metadata().map_err(failed)?.len().checked_sub(BLOCK);
    let mut content = vec![0; last.len()];
    let read = there.map(|at| file.read_exact_at(&mut content, at));
    if !matches!(read, Some(Ok(()))) || !content.starts_with(MAGIC) {
        return Err(DriveFileError::ForeignData { path: path.to_path_buf() }.into());
    }
    if content != last {
        return Err(DriveFileError::DataOfAnother { path: path.to_path_buf() }.into());
    }
    match there {
        // A format changed the capacity. Whenever this ends early, the last block tells whose the data are.
        Some(old) if old != capacity => {
            file.write_all_at(&last, capacity).map_err(failed)?;
            let store = Store(Some(file.try_clone().map_err(failed)?));
            store.clear(old, BLOCK.min(capacity.saturating_sub(old))).map_err(failed)?;
            file.set_len(capacity + BLOCK).map_err(failed)?;
        }
        _ => {}
    }
    Ok(file)
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
