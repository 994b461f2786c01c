//! Files as they are, or packed by gzip, zstd or xz, told by their first bytes.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use flate2::bufread::MultiGzDecoder;
use lzma_rust2::XzReader;
use ruzstd::decoding::StreamingDecoder;

use super::{Bytes, TraceError};

const BUFFER: usize = 256 << 10;

/// The bytes of a file, unpacked.
pub fn open(path: &Path) -> Result<Bytes, TraceError> {
    let refused = |error: std::io::Error| unreadable(path, &error);
    let mut file = BufReader::with_capacity(BUFFER, File::open(path).map_err(refused)?);
    let begin = file.fill_buf().map_err(refused)?;
    Ok(match begin {
        [0x1f, 0x8b, ..] => Box::new(MultiGzDecoder::new(file)),
        [0x28, 0xb5, 0x2f, 0xfd, ..] => Box::new(Frames { file: Some(file), frame: None }),
        [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => Box::new(XzReader::new(file, true)),
        _ => Box::new(file),
    })
}

/// The first bytes of a file, unpacked; fewer where it has fewer.
pub fn head(path: &Path, most: usize) -> Result<Vec<u8>, TraceError> {
    let mut head = Vec::new();
    open(path)?.take(most as u64).read_to_end(&mut head).map_err(|error| unreadable(path, &error))?;
    Ok(head)
}

pub fn unreadable(path: &Path, error: &std::io::Error) -> TraceError {
    TraceError::new(path.display(), error.to_string(), "give a trace that can be read")
}

/// The frames of a zstd file, one after the other.
struct Frames {
    file: Option<BufReader<File>>,
    frame: Option<Box<StreamingDecoder<BufReader<File>, ruzstd::decoding::FrameDecoder>>>,
}

// A decoder owns all that it points to.
impl Read for Frames {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        loop {
            if let Some(frame) = &mut self.frame {
                let got = frame.read(into)?;
                if got > 0 || into.is_empty() {
                    return Ok(got);
                }
                self.file = self.frame.take().map(|frame| frame.into_inner());
            }
            let Some(mut file) = self.file.take() else { return Ok(0) };
            if file.fill_buf()?.is_empty() {
                return Ok(0);
            }
            let frame = StreamingDecoder::new(file).map_err(std::io::Error::other)?;
            self.frame = Some(Box::new(frame));
        }
    }
}
