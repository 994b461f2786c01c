//! A drive written down whole, with its computer and its clock, and read back: it goes on as if it had never stopped.
//!
//! ```text
//!   head     TOML in 1 KiB: name, capacity, scale; version, length and checksum of each section; its own checksum
//!   profile  the profile as it was made, and as it is now: TOML
//!   state    clock and machine; page maps as runs and, where they are random, as arrays; how old data are, from version 13 on
//! ```
//!
//! Files of before 0.1.0 have a head of 40 binary bytes (`old`); their sections are the same.
//!
//! Nothing is opened here: bytes come and go through `Write` and slices. The serialisation is serde's, in postcard's form.

use std::io::{self, Seek, SeekFrom, Write};

use serde::{Deserialize, Serialize};

use self::head::{Head, Section};

use crate::cell_mode::CellMode;
use crate::config::Config;
use crate::faults;
use crate::host::Machine;
use crate::processors::share;
use crate::profile::{self, ProfileError};
use crate::units::Nanos;

mod head;

/// Of the form of the state. Whoever changes what any part of a drive consists of raises it: a test in tests/state.rs
/// notices.
pub const VERSION: u32 = 13;
/// The oldest that is read: data did not age in it.
const OLDEST: u32 = 12;
/// Of the form of the profile, and of the state; the oldest that are read.
const VERSIONS: [u32; 2] = [1, VERSION];
const OLDEST_VERSIONS: [u32; 2] = [1, OLDEST];
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
    /// Its size as a share of the whole drive, such as `1/8`; none: it is whole. The head of a file says it.
    #[serde(skip)]
    pub scale: Option<String>,
}

/// What to do without a drive that is damaged.
const ANOTHER_DRIVE: &str = "take a copy of before, or make a new drive: pslc drives create FILE --like NAME";

faults! {
    /// Why bytes are no drive. A part is `profile` or `state`, or the header before them.
    #[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
    pub enum StateError {
        #[error("it is no drive file of pslc")]
        Foreign = "drive-foreign" => "pslc drives create FILE --like NAME makes one",
        #[error("it was written by pslc {by}: its {part} is of version {version}, and this pslc reads {ours}")]
        TooNew { by: String, part: &'static str, version: u32, ours: u32 } = "drive-too-new"
            => "use the pslc that wrote it, or a later one",
        #[error("its {part} is of version {version}, and this pslc reads {ours}")]
        TooOld { part: &'static str, version: u32, ours: u32 } = "drive-too-old"
            => "use the pslc that wrote it, or make a new drive: pslc drives create FILE --like NAME",
        #[error("it is cut: {bytes_found} bytes of {whole}")]
        Cut { bytes_found: u64, whole: u64 } = "drive-cut" => ANOTHER_DRIVE,
        #[error("{bytes} bytes follow its end")]
        Longer { bytes: u64 } = "drive-longer" => ANOTHER_DRIVE,
        #[error("its {part} has {bytes} bytes; the limit for this drive is {limit}")]
        TooLarge { part: &'static str, bytes: u64, limit: u64 } = "drive-part-too-large" => ANOTHER_DRIVE,
        #[error("its {part} is damaged: the checksum is another")]
        Damaged { part: &'static str } = "drive-damaged" => ANOTHER_DRIVE,
        /// The words are those of the deserializer.
        #[error("its {part} has the right checksum and cannot be understood: {message}")]
        Strange { part: &'static str, message: String } = "drive-not-understood" => ANOTHER_DRIVE,
        #[error("its profile has the right checksum and cannot be understood: {source}")]
        Profile { source: ProfileError } = "drive-bad-profile" => ANOTHER_DRIVE,
        /// What does not fit is a part of the machine.
        #[error("its {part} cannot be that of this drive, though the checksum is right")]
        Inconsistent { part: &'static str } = "drive-inconsistent" => ANOTHER_DRIVE,
    }
}

/// Write a drive. `out` is at its beginning, and is at its end afterwards.
pub fn write(out: &mut (impl Write + Seek), about: &About, now: Nanos, machine: &Machine) -> io::Result<()> {
    machine.assert_no_pending();
    out.write_all(&[0; head::BYTES])?;
    let sections = [part(out, about, VERSIONS[0])?, part(out, &(now, machine, machine.aging()), VERSIONS[1])?];
    out.seek(SeekFrom::Start(0))?;
    out.write_all(&Head::of(about, sections).to_bytes())?;
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
    let (head, profile, state) = split(bytes)?;
    let too_large = |part: usize, section: &[u8], limit| {
        let bytes = section.len() as u64;
        if bytes > limit {
            Err(StateError::TooLarge { part: PARTS[part], bytes, limit })
        } else {
            Ok(())
        }
    };
    too_large(0, profile, MAX_PROFILE_BYTES)?;
    let about = about(profile, head)?;
    let config = described(&about).map_err(|source| StateError::Profile { source })?;
    let pages = config.nand.superblocks() as u64 * config.nand.superblock_pages(CellMode::Native);
    too_large(1, state, FREE_STATE_BYTES + MAX_PAGE_STATE_BYTES * pages)
}

fn described(about: &About) -> Result<Config, ProfileError> {
    profile::load("its profile", &about.profile, &|_| None, &[]).map(|profile| profile.config)
}

/// As [`read`], of a drive that `config` describes.
pub fn read_as(bytes: &[u8], config: impl FnOnce(&About) -> Result<Config, ProfileError>) -> Result<Kept, StateError> {
    let (head, profile, state) = split(bytes)?;
    let (sum, version) = (head.state.crc32, head.state.version);
    let about = about(profile, head)?;
    if checksum(state) != sum {
        return Err(StateError::Damaged { part: PARTS[1] });
    }
    let config = config(&about).map_err(|source| StateError::Profile { source })?;
    let strange = |error| strange(PARTS[1], error);
    let ((now, mut machine), rest): ((Nanos, Machine), &[u8]) = postcard::take_from_bytes(state).map_err(strange)?;
    machine.set_aging(match version {
        OLDEST => None,
        _ => postcard::from_bytes(rest).map_err(strange)?,
    });
    machine.describe(&config);
    machine.check(&config, now).map_err(|part| StateError::Inconsistent { part: part.0 })?;
    Ok(Kept { about, now, machine })
}

/// Whether these bytes begin as a drive file does.
pub fn begins(bytes: &[u8]) -> bool {
    bytes.starts_with(head::MAGIC) || bytes.starts_with(&head::OLD_MAGIC)
}

/// Write one section; returns what the head says of it.
fn part(out: &mut impl Write, value: &impl Serialize, version: u32) -> io::Result<Section> {
    let mut summed = Summed { out, length: 0, checksum: crc32fast::Hasher::new() };
    // Of the errors that can be, only the writer's is: it is kept, postcard's says nothing of it.
    let mut failed = None;
    let kept = Keeping { out: &mut summed, failed: &mut failed };
    let written = postcard::to_io(value, kept).map(drop);
    if let Some(error) = failed {
        return Err(error);
    }
    written.map_err(io::Error::other)?;
    Ok(Section { version, bytes: summed.length, crc32: summed.checksum.finalize() })
}

/// The head of bytes that are as long as it says, and the two sections.
fn split(bytes: &[u8]) -> Result<(Head, &[u8], &[u8]), StateError> {
    let (head, begin) = Head::read(bytes)?;
    let ours = VERSIONS.into_iter().zip(OLDEST_VERSIONS);
    for ((part, section), (ours, oldest)) in PARTS.into_iter().zip([&head.profile, &head.state]).zip(ours) {
        let version = section.version;
        if version > ours {
            return Err(StateError::TooNew { by: head.written_by, part, version, ours });
        }
        if version < oldest {
            return Err(StateError::TooOld { part, version, ours });
        }
    }
    let bytes_found = bytes.len() as u64;
    let whole = (begin as u64).saturating_add(head.profile.bytes).saturating_add(head.state.bytes);
    if bytes_found < whole {
        return Err(StateError::Cut { bytes_found, whole });
    }
    if bytes_found > whole {
        return Err(StateError::Longer { bytes: bytes_found - whole });
    }
    let (profile, state) = bytes[begin..].split_at(head.profile.bytes as usize);
    Ok((head, profile, state))
}

/// What head and first section say, undamaged.
fn about(bytes: &[u8], head: Head) -> Result<About, StateError> {
    if checksum(bytes) != head.profile.crc32 {
        return Err(StateError::Damaged { part: PARTS[0] });
    }
    let about: About = postcard::from_bytes(bytes).map_err(|error| strange(PARTS[0], error))?;
    Ok(About { scale: head.scale, ..about })
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
