//! A drive written down whole, with its computer and its clock, and read back: it goes on as if it had never stopped.
//!
//! ```text
//!   header   magic, format version, length and checksum of each part, checksum of the header
//!   about    the profile as it was made, and as it is now: TOML
//!   state    clock and machine; page maps as runs and, where they are random, as arrays
//! ```
//!
//! Nothing is opened here: bytes come and go through `Write` and slices. The serialisation is serde's, in postcard's form.

use std::io::{self, Seek, SeekFrom, Write};

use serde::{Deserialize, Serialize};

use crate::cell_mode::CellMode;
use crate::codes;
use crate::config::Config;
use crate::host::Machine;
use crate::processors::share;
use crate::profile::{self, ProfileError};
use crate::units::Nanos;

/// Of the form of everything after the header. Whoever changes what any part of a drive consists of raises it: a test
/// in tests/state.rs notices.
pub const VERSION: u32 = 9;

/// As PNG's: not text, and damaged by what changes line ends.
const MAGIC: [u8; 8] = *b"\x89pslc\r\n\x1a";
/// Magic, version, (length, checksum) of two parts, checksum of these. Every version begins so.
const HEADER: usize = 8 + 4 + 2 * (8 + 4) + 4;
const PARTS: [&str; 2] = ["profile", "state"];
/// Of the two profiles in a file, as TOML: what a person may write of one.
const MAX_PROFILE_BYTES: u64 = 2 * 16_000_000;
/// Of the state, for each mapping page of the flash. Drives written at random, page by page, have less than 12.
const MAX_PAGE_STATE_BYTES: u64 = 32;
/// Of a state that is never too large, whatever the flash holds: counters, buffers, queues.
const FREE_STATE_BYTES: u64 = 64 << 20;

/// A drive as it is kept.
#[derive(Clone, Debug)]
pub struct Kept {
    pub about: About,
    pub now: Nanos,
    pub machine: Machine,
}

/// Which drive it is, and what it is made by, as TOML that stands alone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct About {
    /// Drawn when it was made; what lies beside its file carries it as well.
    pub identity: u64,
    /// As it was made: what a change of its mode begins with.
    pub original: String,
    /// As it is.
    pub profile: String,
}

/// Why bytes are no drive. A part is `profile` or `state`, or the header before them.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StateError {
    #[error("it is no drive file of pslc")]
    Foreign,
    #[error("it is of format {version}, and this pslc reads format {VERSION}")]
    TooNew { version: u32 },
    #[error("it is of format {version}, and this pslc reads format {VERSION}")]
    TooOld { version: u32 },
    #[error("it is cut: {bytes_found} bytes of {whole}")]
    Cut { bytes_found: u64, whole: u64 },
    #[error("{bytes} bytes follow its end")]
    Longer { bytes: u64 },
    #[error("its {part} has {bytes} bytes; the limit for this drive is {limit}")]
    TooLarge { part: &'static str, bytes: u64, limit: u64 },
    #[error("its {part} is damaged: the checksum is another")]
    Damaged { part: &'static str },
    /// The words are those of the deserializer.
    #[error("its {part} has the right checksum and cannot be understood: {message}")]
    Strange { part: &'static str, message: String },
    #[error("its profile has the right checksum and cannot be understood: {0}")]
    Profile(ProfileError),
    /// What does not fit is a part of the machine.
    #[error("its {part} cannot be that of this drive, though the checksum is right")]
    Inconsistent { part: &'static str },
}

codes!(StateError {
    Foreign => "drive-foreign",
    TooNew => "drive-too-new",
    TooOld => "drive-too-old",
    Cut => "drive-cut",
    Longer => "drive-longer",
    TooLarge => "drive-part-too-large",
    Damaged => "drive-damaged",
    Strange => "drive-not-understood",
    Profile => "drive-bad-profile",
    Inconsistent => "drive-inconsistent",
});

impl StateError {
    /// What to do next.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Foreign => "pslc drives create FILE --like NAME makes one",
            Self::TooNew { .. } => "use the pslc that wrote it, or a later one",
            Self::TooOld { .. } => "use the pslc that wrote it; drives are not carried over to later formats",
            Self::Cut { .. }
            | Self::Longer { .. }
            | Self::TooLarge { .. }
            | Self::Damaged { .. }
            | Self::Strange { .. }
            | Self::Profile(_)
            | Self::Inconsistent { .. } => {
                "take a copy of before, or make a new drive: pslc drives create FILE --like NAME"
            }
        }
    }
}

/// Write a drive. `out` is at its beginning, and is at its end afterwards.
pub fn write(out: &mut (impl Write + Seek), about: &About, now: Nanos, machine: &Machine) -> io::Result<()> {
    machine.assert_no_pending();
    out.write_all(&[0; HEADER])?;
    let parts = [part(out, about)?, part(out, &(now, machine))?];
    let mut header = Vec::with_capacity(HEADER);
    header.extend(MAGIC);
    header.extend(VERSION.to_le_bytes());
    for (length, checksum) in parts {
        header.extend(length.to_le_bytes());
        header.extend(checksum.to_le_bytes());
    }
    header.extend(crc32fast::hash(&header).to_le_bytes());
    out.seek(SeekFrom::Start(0))?;
    out.write_all(&header)?;
    out.seek(SeekFrom::End(0))?;
    Ok(())
}

/// Read a drive from all of the bytes that `write` wrote. Whatever they are, the drive can be asked for anything then.
pub fn read(bytes: &[u8]) -> Result<Kept, StateError> {
    read_as(bytes, described)
}

/// Whether these bytes have the length of a drive as their header and their profile describe it; the state is not
/// looked at, so a file that is sparse, or far too long, costs nothing.
pub fn check_length(bytes: &[u8]) -> Result<(), StateError> {
    let Header { lengths, checksums } = header(bytes)?;
    let too_large = |part: usize, limit| match lengths[part] > limit {
        true => Err(StateError::TooLarge { part: PARTS[part], bytes: lengths[part], limit }),
        false => Ok(()),
    };
    too_large(0, MAX_PROFILE_BYTES)?;
    let about = about(&bytes[HEADER..HEADER + lengths[0] as usize], checksums[0])?;
    let config = described(&about).map_err(StateError::Profile)?;
    let pages = config.nand.superblocks() as u64 * config.nand.superblock_pages(CellMode::Native);
    too_large(1, FREE_STATE_BYTES + MAX_PAGE_STATE_BYTES * pages)
}

fn described(about: &About) -> Result<Config, ProfileError> {
    profile::load("its profile", &about.profile, &|_| None, &[]).map(|profile| profile.config)
}

/// As [`read`], of a drive that `config` describes.
pub fn read_as(
    bytes: &[u8],
    config: impl FnOnce(&About) -> Result<Config, ProfileError>,
) -> Result<Kept, StateError> {
    let Header { lengths, checksums } = header(bytes)?;
    let (first, state) = bytes[HEADER..].split_at(lengths[0] as usize);
    let about = about(first, checksums[0])?;
    if checksum(state) != checksums[1] {
        return Err(StateError::Damaged { part: PARTS[1] });
    }
    let config = config(&about).map_err(StateError::Profile)?;
    let (now, machine): (Nanos, Machine) =
        postcard::from_bytes(state).map_err(|error| strange(PARTS[1], error))?;
    machine.check(&config, now).map_err(|part| StateError::Inconsistent { part: part.0 })?;
    Ok(Kept { about, now, machine })
}

/// Whether these bytes begin as a drive file does.
pub fn begins(bytes: &[u8]) -> bool {
    bytes.starts_with(&MAGIC)
}

/// Write one part; returns its length and checksum.
fn part(out: &mut impl Write, value: &impl Serialize) -> io::Result<(u64, u32)> {
    let mut summed = Summed { out, length: 0, checksum: crc32fast::Hasher::new() };
    // Of the errors that can be, only the writer's is: it is kept, postcard's says nothing of it.
    let mut failed = None;
    let kept = Keeping { out: &mut summed, failed: &mut failed };
    let written = postcard::to_io(value, kept).map(drop);
    if let Some(error) = failed {
        return Err(error);
    }
    written.map_err(io::Error::other)?;
    Ok((summed.length, summed.checksum.finalize()))
}

/// Lengths and checksums of the two parts.
struct Header {
    lengths: [u64; 2],
    checksums: [u32; 2],
}

/// The header of bytes that are as long as it says.
fn header(bytes: &[u8]) -> Result<Header, StateError> {
    if !begins(bytes) {
        return Err(StateError::Foreign);
    }
    let bytes_found = bytes.len() as u64;
    let Some(header) = bytes.get(..HEADER) else {
        return Err(StateError::Cut { bytes_found, whole: HEADER as u64 });
    };
    let word = |at: usize| u32::from_le_bytes(header[at..at + 4].try_into().expect("four bytes"));
    if crc32fast::hash(&header[..HEADER - 4]) != word(HEADER - 4) {
        return Err(StateError::Damaged { part: "header" });
    }
    if word(8) != VERSION {
        let version = word(8);
        return Err(match version > VERSION {
            true => StateError::TooNew { version },
            false => StateError::TooOld { version },
        });
    }
    let length = |part: usize| word(12 + 12 * part) as u64 | (word(16 + 12 * part) as u64) << 32;
    let lengths = [length(0), length(1)];
    let whole = lengths[0].saturating_add(lengths[1]).saturating_add(HEADER as u64);
    if bytes_found < whole {
        return Err(StateError::Cut { bytes_found, whole });
    }
    if bytes_found > whole {
        return Err(StateError::Longer { bytes: bytes_found - whole });
    }
    Ok(Header { lengths, checksums: [word(20), word(32)] })
}

/// What the first part says, undamaged.
fn about(bytes: &[u8], sum: u32) -> Result<About, StateError> {
    if checksum(bytes) != sum {
        return Err(StateError::Damaged { part: PARTS[0] });
    }
    postcard::from_bytes(bytes).map_err(|error| strange(PARTS[0], error))
}

/// Bytes of a part that are none, with the right checksum.
fn strange(part: &'static str, error: postcard::Error) -> StateError {
    StateError::Strange { part, message: error.to_string() }
}

/// Of long bytes each processor sums a share.
fn checksum(bytes: &[u8]) -> u32 {
    let share = share(bytes.len());
    if bytes.len() <= share {
        return crc32fast::hash(bytes);
    }
    let sum = |bytes: &[u8]| {
        let mut sum = crc32fast::Hasher::new();
        sum.update(bytes);
        sum
    };
    std::thread::scope(|scope| {
        let shares: Vec<_> = bytes.chunks(share).map(|bytes| scope.spawn(move || sum(bytes))).collect();
        let mut all = crc32fast::Hasher::new();
        for share in shares {
            all.combine(&share.join().expect("a sum does not fail"));
        }
        all.finalize()
    })
}

/// Counts and sums what goes through it.
struct Summed<'a, W> {
    out: &'a mut W,
    length: u64,
    checksum: crc32fast::Hasher,
}

impl<W: Write> Write for Summed<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.out.write(bytes)?;
        self.length += count as u64;
        self.checksum.update(&bytes[..count]);
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Keeps the first error.
struct Keeping<'a, W> {
    out: &'a mut W,
    failed: &'a mut Option<io::Error>,
}

impl<W> Keeping<'_, W> {
    fn keep(&mut self, error: io::Error) -> io::Error {
        let kind = error.kind();
        self.failed.get_or_insert(error);
        kind.into()
    }
}

impl<W: Write> Write for Keeping<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.out.write_all(bytes).map(|()| bytes.len()).map_err(|error| self.keep(error))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush().map_err(|error| self.keep(error))
    }
}
