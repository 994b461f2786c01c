//! The NBD protocol once both sides agree: what a request asks for, and the bytes of replies.
//!
//! The format is <https://github.com/NetworkBlockDevice/nbd/blob/master/doc/proto.md>.

use std::io;

/// Offsets and lengths of requests are multiples of it.
pub const MIN_BLOCK_BYTES: u32 = 512;
/// What requests had better be multiples of: a page of the drive.
pub const PREFERRED_BLOCK_BYTES: u32 = 4096;
/// The most data in a read or a write; the protocol's own default.
pub const MAX_DATA_BYTES: u32 = 32 << 20;
/// Bytes of a request without its data.
pub const REQUEST_BYTES: usize = 28;
/// The number of the one context of block status, `base:allocation`.
pub const ALLOCATION: u32 = 1;

const REQUEST_MAGIC: u32 = 0x2560_9513;
const SIMPLE_MAGIC: u32 = 0x6744_6698;
const STRUCTURED_MAGIC: u32 = 0x668e_33ef;
const LAST_CHUNK: u16 = 1;
const DATA_CHUNK: u16 = 1;
const STATUS_CHUNK: u16 = 5;
const ERROR_CHUNK: u16 = 0x8001;
const HOLE_OF_ZEROS: u32 = 3;

const FUA: u16 = 1;
const NO_HOLE: u16 = 2;
const DONT_FRAGMENT: u16 = 4;
const REQ_ONE: u16 = 8;
const FAST_ZERO: u16 = 16;

/// What both sides agreed on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Agreed {
    /// Replies are structured.
    pub structured: bool,
    /// Block status tells of `base:allocation`.
    pub allocation: bool,
}

/// The errors of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Errno {
    NotPermitted = 1,
    Io = 5,
    NoMemory = 12,
    Invalid = 22,
    NoSpace = 28,
    NotSupported = 95,
    Shutdown = 108,
}

impl From<&io::Error> for Errno {
    fn from(error: &io::Error) -> Errno {
        match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Errno::NoSpace,
            io::ErrorKind::OutOfMemory => Errno::NoMemory,
            io::ErrorKind::PermissionDenied => Errno::NotPermitted,
            // The drive is back in its file.
            io::ErrorKind::NotConnected => Errno::Shutdown,
            _ => Errno::Io,
        }
    }
}

/// What a request asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Read,
    Write,
    Disconnect,
    Flush,
    Trim,
    /// Zeros, and no hole where `allocates`; an error where that is `fast` and they have to be written.
    Zero {
        allocates: bool,
        fast: bool,
    },
    /// Which parts hold data: all of them, or the first alone.
    Status {
        first_alone: bool,
    },
}

/// A request without its data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    pub cookie: u64,
    /// None of the kinds that there are, or with flags that it does not have.
    pub kind: Option<Kind>,
    pub fua: bool,
    pub offset: u64,
    pub bytes: u32,
    /// Data follow: those of a write, of whatever flags.
    pub carries_data: bool,
}

impl Request {
    /// `None` where this is no request: nothing that follows has a meaning.
    pub fn parse(from: &[u8; REQUEST_BYTES]) -> Option<Request> {
        let (magic, rest) = from.split_first_chunk()?;
        let (flags, rest) = rest.split_first_chunk()?;
        let (code, rest) = rest.split_first_chunk()?;
        let (cookie, rest) = rest.split_first_chunk()?;
        let (offset, rest) = rest.split_first_chunk()?;
        let (flags, code) = (u16::from_be_bytes(*flags), u16::from_be_bytes(*code));
        let (kind, allowed) = match code {
            0 => (Some(Kind::Read), DONT_FRAGMENT),
            1 => (Some(Kind::Write), 0),
            2 => (Some(Kind::Disconnect), 0),
            3 => (Some(Kind::Flush), 0),
            4 => (Some(Kind::Trim), 0),
            6 => {
                let (allocates, fast) = (flags & NO_HOLE != 0, flags & FAST_ZERO != 0);
                (Some(Kind::Zero { allocates, fast }), NO_HOLE | FAST_ZERO)
            }
            7 => (Some(Kind::Status { first_alone: flags & REQ_ONE != 0 }), REQ_ONE),
            _ => (None, 0),
        };
        (u32::from_be_bytes(*magic) == REQUEST_MAGIC).then_some(Request {
            cookie: u64::from_be_bytes(*cookie),
            // Any request may ask for FUA.
            kind: kind.filter(|_| flags & !(allowed | FUA) == 0),
            fua: flags & FUA != 0,
            offset: u64::from_be_bytes(*offset),
            bytes: u32::from_be_bytes(rest.try_into().ok()?),
            carries_data: code == 1,
        })
    }

    /// Why a drive of `capacity` bytes does not do it.
    pub fn check(&self, capacity: u64, agreed: Agreed) -> Result<Kind, Errno> {
        let kind = self.kind.ok_or(Errno::Invalid)?;
        match kind {
            Kind::Flush | Kind::Disconnect => return Ok(kind),
            Kind::Status { .. } if !agreed.allocation => return Err(Errno::Invalid),
            Kind::Zero { allocates: true, fast: true } => return Err(Errno::NotSupported),
            Kind::Read if self.bytes > MAX_DATA_BYTES => return Err(Errno::Invalid),
            _ => {}
        }
        let is_whole = self.offset % u64::from(MIN_BLOCK_BYTES) == 0 && self.bytes % MIN_BLOCK_BYTES == 0;
        let end = self.offset.checked_add(self.bytes.into());
        let fits = end.is_some_and(|end| end <= capacity);
        if fits && is_whole && self.bytes > 0 {
            Ok(kind)
        } else if !fits && kind == Kind::Write {
            Err(Errno::NoSpace)
        } else {
            Err(Errno::Invalid)
        }
    }
}

/// Begin a reply to a read with `bytes` of data, which follow.
pub fn data_header(out: &mut Vec<u8>, agreed: Agreed, cookie: u64, offset: u64, bytes: u32) {
    if agreed.structured {
        chunk(out, DATA_CHUNK, cookie, 8 + bytes);
        out.extend(offset.to_be_bytes());
    } else {
        simple(out, 0, cookie);
    }
}

/// A request without data in its reply is done.
pub fn done(out: &mut Vec<u8>, cookie: u64) {
    simple(out, 0, cookie);
}

pub fn error(out: &mut Vec<u8>, agreed: Agreed, cookie: u64, error: Errno) {
    if agreed.structured {
        chunk(out, ERROR_CHUNK, cookie, 6);
        out.extend((error as u32).to_be_bytes());
        // No message.
        out.extend(0u16.to_be_bytes());
    } else {
        simple(out, error as u32, cookie);
    }
}

/// Parts one after the other: whether each holds data, and its length.
pub fn status(out: &mut Vec<u8>, cookie: u64, parts: &[(bool, u32)]) {
    chunk(out, STATUS_CHUNK, cookie, 4 + 8 * parts.len() as u32);
    out.extend(ALLOCATION.to_be_bytes());
    for (mapped, bytes) in parts {
        out.extend(bytes.to_be_bytes());
        out.extend(if *mapped { 0 } else { HOLE_OF_ZEROS }.to_be_bytes());
    }
}

fn simple(out: &mut Vec<u8>, error: u32, cookie: u64) {
    out.extend(SIMPLE_MAGIC.to_be_bytes());
    out.extend(error.to_be_bytes());
    out.extend(cookie.to_be_bytes());
}

fn chunk(out: &mut Vec<u8>, kind: u16, cookie: u64, bytes: u32) {
    out.extend(STRUCTURED_MAGIC.to_be_bytes());
    out.extend(LAST_CHUNK.to_be_bytes());
    out.extend(kind.to_be_bytes());
    out.extend(cookie.to_be_bytes());
    out.extend(bytes.to_be_bytes());
}
