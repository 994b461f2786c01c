//! The first and the last bytes of a drive, where partition tables and labels lie: read before anything is written, so that
//! they can be put back.

use std::fs::File;
use std::io;

use crate::io::arena::Arena;
use crate::io::RealTarget;
use crate::sys;

/// Bytes at either end.
const END_BYTES: u64 = 16 << 20;
const PIECE_BYTES: u64 = 1 << 20;

impl RealTarget {
    pub(crate) fn buffered(&self) -> &File {
        &self.buffered
    }

    /// Where either end begins, and its bytes: together at most the whole drive.
    fn ends(&self) -> [(u64, u64); 2] {
        let head = END_BYTES.min(self.capacity);
        let tail = END_BYTES.min(self.capacity - head);
        [(0, head), (self.capacity - tail, tail)]
    }

    /// The first and the last 16 MiB.
    pub fn read_ends(&self) -> io::Result<[Vec<u8>; 2]> {
        let mut ends = [Vec::new(), Vec::new()];
        let mut memory = Arena::new(1, PIECE_BYTES as usize)?;
        for (end, (offset, bytes)) in ends.iter_mut().zip(self.ends()) {
            for at in (0..bytes).step_by(PIECE_BYTES as usize) {
                let piece = &mut memory.buffer(0)[..PIECE_BYTES.min(bytes - at) as usize];
                if sys::pread(self.past_the_cache(), piece, offset + at)? != piece.len() {
                    return Err(io::ErrorKind::UnexpectedEof.into());
                }
                end.extend_from_slice(piece);
            }
        }
        Ok(ends)
    }

    /// Put back what `read_ends` gave, to the medium.
    pub fn write_ends(&mut self, ends: &[Vec<u8>; 2]) -> io::Result<()> {
        let mut memory = Arena::new(1, PIECE_BYTES as usize)?;
        for (end, (offset, bytes)) in ends.iter().zip(self.ends()) {
            if end.len() as u64 != bytes {
                return Err(io::Error::other(format!("{} bytes are none of its ends, of {bytes}", end.len())));
            }
            for (at, given) in (offset..).step_by(PIECE_BYTES as usize).zip(end.chunks(PIECE_BYTES as usize)) {
                let piece = &mut memory.buffer(0)[..given.len()];
                piece.copy_from_slice(given);
                if sys::pwrite(self.past_the_cache(), piece, at)? != given.len() {
                    return Err(io::ErrorKind::WriteZero.into());
                }
            }
        }
        sys::flush(sys::borrow(&self.buffered), false)
    }

    fn past_the_cache(&self) -> sys::Borrowed<'_> {
        sys::borrow(self.direct.as_ref().unwrap_or(&self.buffered))
    }
}
