//! Files as they are, or packed by gzip, zstd or xz, told by their first bytes.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::Arc;

use flate2::bufread::MultiGzDecoder;
use lzma_rust2::XzReader;
use ruzstd::decoding::StreamingDecoder;

use super::{Bytes, TraceError, TraceFault};

const BUFFER: usize = 256 << 10;
/// Unpacked bytes for each byte of the file, beyond the first ones; logs of requests pack to a third or a thirtieth.
const MAX_RATIO: u64 = 200;
/// Unpacked bytes that are never too many.
const FREE_BYTES: u64 = 16 << 20;

/// The bytes of a file, unpacked.
pub fn open(path: &Path) -> Result<Bytes, TraceError> {
    let refused = |error: std::io::Error| unreadable(path, &error);
    // To open a pipe takes as long as nobody writes to it.
    if !std::fs::metadata(path).map_err(refused)?.is_file() {
        return Err(TraceError::new(path.display(), TraceFault::NotRegular));
    }
    let packed = Arc::new(AtomicU64::new(0));
    let counted = Counted { file: File::open(path).map_err(refused)?, count: packed.clone() };
    let mut file = BufReader::with_capacity(BUFFER, counted);
    let begin = file.fill_buf().map_err(refused)?;
    let bytes: Bytes = match begin {
        [0x1f, 0x8b, ..] => Box::new(MultiGzDecoder::new(file)),
        [0x28, 0xb5, 0x2f, 0xfd, ..] => Box::new(Frames { file: Some(file), frame: None }),
        [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => Box::new(XzReader::new(file, true)),
        _ => return Ok(Box::new(file)),
    };
    Ok(Box::new(Limited { bytes, packed, unpacked: 0 }))
}

/// A file that counts what was read of it.
struct Counted {
    file: File,
    count: Arc<AtomicU64>,
}

impl Read for Counted {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        let got = self.file.read(into)?;
        self.count.fetch_add(got as u64, Relaxed);
        Ok(got)
    }
}

/// Unpacked bytes, which end in an error where a few packed ones become very many.
struct Limited {
    bytes: Bytes,
    packed: Arc<AtomicU64>,
    unpacked: u64,
}

impl Read for Limited {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        let got = self.bytes.read(into)?;
        self.unpacked += got as u64;
        let limit = FREE_BYTES + MAX_RATIO * self.packed.load(Relaxed);
        if self.unpacked <= limit {
            Ok(got)
        } else {
            Err(std::io::Error::other(format!(
                "it unpacks to more than {limit} bytes, the limit for its size ({MAX_RATIO} to 1); unpack it first"
            )))
        }
    }
}

/// The first bytes of a file, unpacked; fewer where it has fewer.
pub fn head(path: &Path, max_bytes: usize) -> Result<Vec<u8>, TraceError> {
    let mut head = Vec::new();
    open(path)?.take(max_bytes as u64).read_to_end(&mut head).map_err(|error| unreadable(path, &error))?;
    Ok(head)
}

pub fn unreadable(path: &Path, error: &std::io::Error) -> TraceError {
    TraceError::new(path.display(), TraceFault::Unreadable { message: error.to_string() })
}

/// The frames of a zstd file, one after the other.
struct Frames {
    file: Option<BufReader<Counted>>,
    frame: Option<Box<StreamingDecoder<BufReader<Counted>, ruzstd::decoding::FrameDecoder>>>,
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
