//! The checksums that fio 3.33 keeps behind its headers, as fio computes them, which is not always as their names say.

use md5::{Digest as _, Md5};
use sha1::Sha1;
use sha3::{Sha3_224, Sha3_256, Sha3_384, Sha3_512};

/// What is kept of a block's data, in its header or as its data (`verify=`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sum {
    /// Of the data nothing: the header alone says what block it is.
    Meta,
    Md5,
    Crc64,
    Crc32,
    Crc32c,
    /// The same, under another number.
    Crc32cIntel,
    Crc16,
    Crc7,
    Sha256,
    Sha3With224,
    Sha3With256,
    Sha3With384,
    Sha3With512,
    Xxhash,
    Sha1,
    /// A pattern behind each header (`verify_pattern` without `verify`).
    PatternBehindHeader,
    /// A pattern alone, without headers.
    Pattern,
    /// Blocks are read again and not looked at.
    Null,
}

/// The word in a job file and the number in a header.
const ALL: [(Sum, &str, u16); 18] = [
    (Sum::Meta, "meta", 1),
    (Sum::Md5, "md5", 2),
    (Sum::Crc64, "crc64", 3),
    (Sum::Crc32, "crc32", 4),
    (Sum::Crc32c, "crc32c", 5),
    (Sum::Crc32cIntel, "crc32c-intel", 6),
    (Sum::Crc16, "crc16", 7),
    (Sum::Crc7, "crc7", 8),
    (Sum::Sha256, "sha256", 9),
    (Sum::Sha3With224, "sha3-224", 11),
    (Sum::Sha3With256, "sha3-256", 12),
    (Sum::Sha3With384, "sha3-384", 13),
    (Sum::Sha3With512, "sha3-512", 14),
    (Sum::Xxhash, "xxhash", 15),
    (Sum::Sha1, "sha1", 16),
    (Sum::PatternBehindHeader, "pattern_hdr", 17),
    (Sum::Pattern, "pattern", 18),
    (Sum::Null, "null", 19),
];

/// Behind the header, at most: those of sha256 and sha3-512.
pub const MAX_SUM_BYTES: usize = 64;

/// A checksum as it stands behind a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Checksum {
    bytes: [u8; MAX_SUM_BYTES],
    len: usize,
}

impl Checksum {
    /// One that was read, of at most 64 bytes.
    pub(super) fn kept(bytes: &[u8]) -> Checksum {
        let mut checksum = Checksum { bytes: [0; MAX_SUM_BYTES], len: bytes.len() };
        checksum.bytes[..bytes.len()].copy_from_slice(bytes);
        checksum
    }

    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
}

impl std::fmt::Display for Checksum {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.bytes().iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

const CRC7: crc::Crc<u8> = crc::Crc::<u8>::new(&crc::CRC_7_MMC);
const CRC16: crc::Crc<u16> = crc::Crc::<u16>::new(&crc::CRC_16_ARC);
/// fio's crc32 is the polynomial of `cksum`, begun with 0 and without a last inversion.
const CRC32: crc::Crc<u32> = crc::Crc::<u32>::new(&crc::Algorithm { init: 0, xorout: 0, ..crc::CRC_32_CKSUM });
const CRC64: crc::Crc<u64> = crc::Crc::<u64>::new(&crc::CRC_64_REDIS);

impl Sum {
    /// The one of this name in a job file.
    pub fn named(name: &str) -> Option<Sum> {
        ALL.iter().find(|row| row.1 == name).map(|row| row.0)
    }

    /// The names, for a hint.
    pub fn names() -> Vec<&'static str> {
        ALL.iter().map(|row| row.1).collect()
    }

    fn row(self) -> &'static (Sum, &'static str, u16) {
        ALL.iter().find(|row| row.0 == self).expect("all are listed")
    }

    pub fn name(self) -> &'static str {
        self.row().1
    }

    /// The number that a header says it by.
    pub fn code(self) -> u16 {
        self.row().2
    }

    pub fn has_header(self) -> bool {
        !matches!(self, Sum::Pattern | Sum::Null)
    }

    /// Bytes behind the header.
    pub fn bytes(self) -> usize {
        match self {
            Sum::Meta | Sum::PatternBehindHeader | Sum::Pattern | Sum::Null => 0,
            Sum::Crc7 => 1,
            Sum::Crc16 => 2,
            Sum::Crc32 | Sum::Crc32c | Sum::Crc32cIntel | Sum::Xxhash => 4,
            Sum::Crc64 => 8,
            Sum::Md5 => 16,
            Sum::Sha1 => 20,
            Sum::Sha3With224 => 28,
            Sum::Sha3With256 => 32,
            Sum::Sha3With384 => 48,
            Sum::Sha3With512 | Sum::Sha256 => 64,
        }
    }

    /// Of a block's data; `None` where nothing is kept of them.
    pub fn of(self, data: &[u8]) -> Option<Checksum> {
        Some(match self {
            Sum::Meta | Sum::PatternBehindHeader | Sum::Pattern | Sum::Null => return None,
            Sum::Crc7 => Checksum::kept(&[CRC7.checksum(data)]),
            Sum::Crc16 => Checksum::kept(&CRC16.checksum(data).to_le_bytes()),
            Sum::Crc32 => Checksum::kept(&CRC32.checksum(data).to_le_bytes()),
            Sum::Crc32c | Sum::Crc32cIntel => Checksum::kept(&crc32c_of(data).to_le_bytes()),
            Sum::Crc64 => Checksum::kept(&CRC64.checksum(data).to_le_bytes()),
            Sum::Xxhash => Checksum::kept(&twox_hash::XxHash32::oneshot(1, data).to_le_bytes()),
            Sum::Md5 => Checksum::kept(&Md5::digest(data)),
            Sum::Sha1 => sha1_of(data),
            Sum::Sha256 => sha256_of(data),
            Sum::Sha3With224 => Checksum::kept(&Sha3_224::digest(data)),
            Sum::Sha3With256 => Checksum::kept(&Sha3_256::digest(data)),
            Sum::Sha3With384 => Checksum::kept(&Sha3_384::digest(data)),
            Sum::Sha3With512 => Checksum::kept(&Sha3_512::digest(data)),
        })
    }
}

/// Without the last inversion that others have.
pub fn crc32c_of(data: &[u8]) -> u32 {
    !crc32c::crc32c(data)
}

/// Its five words are kept with the lowest byte first.
fn sha1_of(data: &[u8]) -> Checksum {
    let mut digest: [u8; 20] = Sha1::digest(data).into();
    digest.chunks_mut(4).for_each(<[u8]>::reverse);
    Checksum::kept(&digest)
}

/// fio's sha256 ends with the length in the other order of bytes, and is kept as the lowest byte of each of the eight
/// words, followed by the other 56 bytes of the last block that was hashed.
fn sha256_of(data: &[u8]) -> Checksum {
    const BLOCK: usize = 64;
    let mut state: [u32; 8] =
        [0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab, 0x5be0_cd19];
    let mut last = [0; 2 * BLOCK];
    let (whole, rest) = data.split_at(data.len() - data.len() % BLOCK);
    last[..rest.len()].copy_from_slice(rest);
    last[rest.len()] = 0x80;
    let end = if rest.len() < BLOCK - 8 { BLOCK } else { 2 * BLOCK };
    last[end - 8..end].copy_from_slice(&(data.len() as u64 * 8).to_le_bytes());
    for block in whole.chunks_exact(BLOCK).chain(last[..end].chunks_exact(BLOCK)) {
        let block: [u8; BLOCK] = block.try_into().expect("chunks of this size");
        sha2::compress256(&mut state, &[block.into()]);
    }
    let mut kept = Checksum::kept(&last[end - BLOCK..end]);
    for (byte, word) in kept.bytes.iter_mut().zip(state) {
        *byte = word as u8;
    }
    kept
}
