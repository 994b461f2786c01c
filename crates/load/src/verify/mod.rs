//! What a verifying job writes and looks for, byte by byte as fio 3.33 has it, so that each checks what the other wrote:
//!
//! ```text
//! request   | block                         | block                         |   one every verify_interval bytes
//! block     | header | checksum | data                    |   the first two exchange places with what stands at
//!                                                              verify_offset
//! header    magic 2 | sum 2 | length 4 | seed 8 | offset 8 | seconds 4 | ns 4 | thread 2 | number 2 | crc32c 4
//! ```
//!
//! All numbers have their lowest byte first. `verify=pattern` has neither header nor checksum.

mod pattern;
mod sums;

pub use pattern::Pattern;
pub use sums::{Checksum, Sum};

use pslc_ssd::Nanos;

const MAGIC: u16 = 0xacca;
pub const HEADER_BYTES: usize = 40;
/// What the header's own checksum is of.
const SUMMED_BYTES: usize = 36;

/// How a job verifies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verify {
    pub sum: Sum,
    /// Data that are not drawn at random.
    pub pattern: Option<Pattern>,
    /// Bytes of a block, of a request that has as many; others are one block.
    pub interval: u32,
    /// Where header and checksum are in a block, in bytes from its beginning.
    pub offset: u32,
    /// Percent of zeros at the end of a request's data.
    pub zeros: u32,
    /// What was written is read again (`do_verify`).
    pub reads_back: bool,
    /// Nothing is written, and what an earlier run wrote is read (`verify_only`).
    pub only: bool,
    /// Writes are not remembered but made out again (`experimental_verify`).
    pub repeats: bool,
    /// A block that is wrong is kept, with what it should be (`verify_dump`).
    pub dumps: bool,
    pub backlog: Option<VerifyBacklog>,
}

/// How much is read again once how many writes were not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VerifyBacklog {
    /// At least 1, as is the batch.
    pub every: u64,
    pub batch: u64,
}

/// What tells one write from every other.
#[derive(Clone, Copy, Debug)]
pub struct Stamp {
    pub offset: u64,
    /// Its random data follow from this.
    pub seed: u64,
    pub at: Nanos,
    /// From 1.
    pub worker: u16,
    /// Of the worker's writes, from 0; it goes round.
    pub number: u16,
}

/// A block that is not what was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// Of the block on the target.
    pub offset: u64,
    pub len: u32,
    pub fault: Fault,
    /// The block as it was read and, where that is known, as it was written.
    pub dump: Option<Dump>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dump {
    pub received: Vec<u8>,
    pub expected: Option<Vec<u8>>,
}

/// What is wrong with a block.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    #[error("no header of a verifying job is there: it begins with {0:04x}, not acca")]
    Magic(u16),
    #[error("its header is of a block of {read} bytes, and the job's are of {expected} (verify_interval)")]
    Length { read: u32, expected: u32 },
    #[error("its header is that of offset {0}")]
    Offset(u64),
    #[error("it was written by write {read} of its job, and the last one there was {expected}")]
    Number { read: u16, expected: u16 },
    #[error("the checksum of its header is {read:08x}, and should be {expected:08x}")]
    Header { read: u32, expected: u32 },
    #[error("the {} of its data is {expected}, and its header says {read}{}", sum.name(), place(*byte))]
    Data { sum: Sum, read: Box<Checksum>, expected: Box<Checksum>, byte: Option<u64> },
    #[error("byte {byte} is {read:02x}, and {expected:02x} in the pattern")]
    Pattern { byte: u64, read: u8, expected: u8 },
}

fn place(byte: Option<u64>) -> String {
    byte.map_or(String::new(), |byte| format!("; byte {byte} is not what was written"))
}

struct Header {
    magic: u16,
    len: u32,
    seed: u64,
    offset: u64,
    number: u16,
    sum: u32,
}

impl Header {
    fn read(block: &[u8]) -> Header {
        let word = |at: usize| u32::from_le_bytes(block[at..at + 4].try_into().expect("four bytes"));
        let double = |at: usize| word(at) as u64 | (word(at + 4) as u64) << 32;
        Header {
            magic: word(0) as u16,
            len: word(4),
            seed: double(8),
            offset: double(16),
            number: (word(32) >> 16) as u16,
            sum: word(36),
        }
    }
}

/// Random data that follow from a seed as fio's do: four sequences side by side, each a product of the number before.
fn draw(buffer: &mut [u8], seed: u64) {
    const GOLDEN: u64 = 0x61c8_8646_80b5_83eb;
    let mut lanes = [1, 2, 3, 5].map(|prime: u64| seed.wrapping_mul(prime));
    let mut rounds = buffer.chunks_exact_mut(32);
    for round in rounds.by_ref() {
        for (word, lane) in round.chunks_exact_mut(8).zip(&mut lanes) {
            word.copy_from_slice(&lane.to_le_bytes());
            *lane = lane.wrapping_mul(GOLDEN);
        }
    }
    for rest in rounds.into_remainder().chunks_mut(8) {
        rest.copy_from_slice(&lanes[0].to_le_bytes()[..rest.len()]);
        lanes[0] = lanes[0].wrapping_mul(GOLDEN);
    }
}

impl Verify {
    /// Header and checksum.
    pub fn head_bytes(&self) -> usize {
        if self.sum.has_header() {
            HEADER_BYTES + self.sum.bytes()
        } else {
            0
        }
    }

    /// The pattern that data are held against.
    pub fn compared(&self) -> Option<&Pattern> {
        let compared = matches!(self.sum, Sum::Meta | Sum::PatternBehindHeader | Sum::Pattern);
        self.pattern.as_ref().filter(|_| compared)
    }

    /// Bytes of each block of a request.
    pub fn block_bytes(&self, len: usize) -> usize {
        match self.interval as usize {
            interval if interval > 0 && interval <= len => interval,
            _ => len,
        }
    }

    /// The data of one write, with the headers of its blocks.
    pub fn fill(&self, buffer: &mut [u8], stamp: &Stamp) {
        self.fill_data(buffer, stamp.offset, stamp.seed);
        if !self.sum.has_header() {
            return;
        }
        let (step, head) = (self.block_bytes(buffer.len()), self.head_bytes());
        for (block, at) in buffer.chunks_mut(step).zip((stamp.offset..).step_by(step)) {
            block[0..2].copy_from_slice(&MAGIC.to_le_bytes());
            block[2..4].copy_from_slice(&self.sum.code().to_le_bytes());
            block[4..8].copy_from_slice(&(step as u32).to_le_bytes());
            block[8..16].copy_from_slice(&stamp.seed.to_le_bytes());
            block[16..24].copy_from_slice(&at.to_le_bytes());
            block[24..28].copy_from_slice(&((stamp.at.0 / 1_000_000_000) as u32).to_le_bytes());
            block[28..32].copy_from_slice(&((stamp.at.0 % 1_000_000_000) as u32).to_le_bytes());
            block[32..34].copy_from_slice(&stamp.worker.to_le_bytes());
            block[34..36].copy_from_slice(&stamp.number.to_le_bytes());
            let sum = sums::crc32c_of(&block[..SUMMED_BYTES]);
            block[SUMMED_BYTES..HEADER_BYTES].copy_from_slice(&sum.to_le_bytes());
            if let Some(sum) = self.sum.of(&block[head..]) {
                block[HEADER_BYTES..head].copy_from_slice(sum.bytes());
            }
            self.exchange(block);
        }
    }

    fn fill_data(&self, buffer: &mut [u8], offset: u64, seed: u64) {
        if let Some(pattern) = &self.pattern {
            return pattern.fill(buffer, offset);
        }
        let (drawn, zeros) = buffer.split_at_mut(buffer.len() * (100 - self.zeros as usize) / 100);
        draw(drawn, seed);
        zeros.fill(0);
    }

    /// Header and checksum to where they are kept, or back.
    fn exchange(&self, block: &mut [u8]) {
        let (offset, head) = (self.offset as usize, self.head_bytes());
        if offset > 0 {
            let (front, behind) = block.split_at_mut(offset);
            front[..head].swap_with_slice(&mut behind[..head]);
        }
    }

    /// Where a byte of a block is kept, of one whose header is in front.
    fn kept_at(&self, byte: usize) -> usize {
        let offset = self.offset as usize;
        let exchanged = offset > 0 && (offset..offset + self.head_bytes()).contains(&byte);
        if exchanged {
            byte - offset
        } else {
            byte
        }
    }

    /// Look at what a request at `offset` read; the number of the write where that is known. Returns how many blocks
    /// are right, which is all of them, and 0 where nothing is looked at.
    pub fn check(&self, buffer: &mut [u8], offset: u64, number: Option<u16>) -> Result<u64, Box<Failure>> {
        if self.sum == Sum::Null {
            return Ok(0);
        }
        let step = self.block_bytes(buffer.len());
        for at in (0..buffer.len()).step_by(step) {
            self.exchange(&mut buffer[at..at + step]);
            let fault = self.fault(&buffer[at..at + step], offset, at, number).err();
            self.exchange(&mut buffer[at..at + step]);
            if let Some(fault) = fault {
                return Err(Box::new(self.failure(buffer, offset, at, fault)));
            }
        }
        Ok((buffer.len() / step) as u64)
    }

    /// What is wrong with the block that begins `at` bytes into a request at `offset`.
    fn fault(&self, block: &[u8], offset: u64, at: usize, number: Option<u16>) -> Result<(), Fault> {
        if self.sum.has_header() {
            let header = Header::read(block);
            let (len, expected) = (block.len() as u32, sums::crc32c_of(&block[..SUMMED_BYTES]));
            if header.magic != MAGIC {
                return Err(Fault::Magic(header.magic));
            }
            if header.len != len {
                return Err(Fault::Length { read: header.len, expected: len });
            }
            if header.offset != offset + at as u64 {
                return Err(Fault::Offset(header.offset));
            }
            if header.sum != expected {
                return Err(Fault::Header { read: header.sum, expected });
            }
            if let Some(expected) = number.filter(|number| *number != header.number) {
                return Err(Fault::Number { read: header.number, expected });
            }
        }
        let head = self.head_bytes();
        if let Some(pattern) = self.compared() {
            return match pattern.difference(&block[head..], offset, at + head) {
                None => Ok(()),
                Some((byte, expected)) => Err(Fault::Pattern {
                    byte: offset + (at + self.kept_at(head + byte)) as u64,
                    read: block[head + byte],
                    expected,
                }),
            };
        }
        match self.sum.of(&block[head..]) {
            Some(expected) if *expected.bytes() != block[HEADER_BYTES..head] => {
                let read = Box::new(Checksum::kept(&block[HEADER_BYTES..head]));
                Err(Fault::Data { sum: self.sum, read, expected: Box::new(expected), byte: None })
            }
            _ => Ok(()),
        }
    }

    /// The fault with what else can be said of it: which byte is wrong, where the data follow from the header.
    fn failure(&self, buffer: &[u8], offset: u64, at: usize, mut fault: Fault) -> Failure {
        let step = self.block_bytes(buffer.len());
        let block = &buffer[at..at + step];
        let expected = self.expected(block, offset, at, buffer.len());
        if let (Fault::Data { byte, .. }, Some(expected)) = (&mut fault, &expected) {
            *byte = block.iter().zip(expected).position(|(a, b)| a != b).map(|first| offset + (at + first) as u64);
        }
        let dump = self.dumps.then(|| Dump { received: block.to_vec(), expected });
        Failure { offset: offset + at as u64, len: step as u32, fault, dump }
    }

    /// The block as it was written, from the seed in its header, if its checksum agrees: its write may have been shorter
    /// than the read, and have begun with it.
    fn expected(&self, block: &[u8], offset: u64, at: usize, len: usize) -> Option<Vec<u8>> {
        let mut front = block.to_vec();
        self.exchange(&mut front);
        if self.sum == Sum::Pattern {
            let mut request = vec![0; len];
            self.fill_data(&mut request, offset, 0);
            return Some(request[at..at + block.len()].to_vec());
        }
        let (head, seed) = (self.head_bytes(), Header::read(&front).seed);
        for (len, at, offset) in [(len, at, offset), (block.len(), 0, offset + at as u64)] {
            let mut request = vec![0; len];
            self.fill_data(&mut request, offset, seed);
            let mut block_bytes = request[at..at + block.len()].to_vec();
            block_bytes[..head].copy_from_slice(&front[..head]);
            let agrees =
                self.sum.of(&block_bytes[head..]).is_none_or(|sum| *sum.bytes() == block_bytes[HEADER_BYTES..head]);
            if agrees {
                self.exchange(&mut block_bytes);
                return Some(block_bytes);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verify(sum: Sum, interval: u32, offset: u32) -> Verify {
        Verify {
            sum,
            pattern: matches!(sum, Sum::Pattern | Sum::PatternBehindHeader)
                .then(|| Pattern::parse("0xabcdef%o").unwrap()),
            interval,
            offset,
            zeros: 0,
            reads_back: true,
            only: false,
            repeats: false,
            dumps: true,
            backlog: None,
        }
    }

    fn stamp(number: u16) -> Stamp {
        Stamp { offset: 1 << 33, seed: 12_345 + number as u64, at: Nanos(5_000_000_007), worker: 1, number }
    }

    /// Every one, also in blocks and with the header elsewhere.
    fn all() -> Vec<Verify> {
        let sums = Sum::names().into_iter().filter_map(Sum::named).filter(|sum| *sum != Sum::Null);
        sums.flat_map(|sum| [(0, 0), (512, 0), (1024, 300)].map(|(interval, offset)| verify(sum, interval, offset)))
            .collect()
    }

    #[test]
    fn what_was_written_is_right_and_a_change_of_any_byte_is_found_and_named() {
        for verify in all() {
            let mut written = vec![0; 4096];
            verify.fill(&mut written, &stamp(7));
            let blocks = 4096 / verify.block_bytes(4096) as u64;
            assert_eq!(verify.check(&mut written.clone(), 1 << 33, Some(7)), Ok(blocks), "{verify:?}");
            for at in (0..4096).step_by(37) {
                let mut spoilt = written.clone();
                spoilt[at] ^= 0x10;
                let Err(failure) = verify.check(&mut spoilt, 1 << 33, Some(7)) else {
                    // Of the data nothing is kept, and time and worker are no one's to know but by the header's sum.
                    assert_eq!(verify.sum, Sum::Meta, "{at} {verify:?}");
                    continue;
                };
                assert!((failure.offset..failure.offset + failure.len as u64).contains(&((1 << 33) + at as u64)));
                let (Fault::Data { byte: Some(byte), .. } | Fault::Pattern { byte, .. }) = failure.fault else {
                    continue;
                };
                assert_eq!(byte, (1 << 33) + at as u64, "{verify:?}");
                let expected = failure.dump.unwrap().expected.unwrap();
                let first = (failure.offset - (1 << 33)) as usize;
                assert_eq!(expected, written[first..first + failure.len as usize], "{verify:?}");
            }
        }
    }

    #[test]
    fn another_block_or_an_older_write_is_not_this_one() {
        let verify = verify(Sum::Crc32c, 0, 0);
        let mut written = vec![0; 4096];
        verify.fill(&mut written, &stamp(7));
        let fault = |offset: u64, number: Option<u16>| {
            verify.check(&mut written.clone(), offset, number).map_err(|failure| failure.fault)
        };
        assert_eq!(fault(1 << 33, None), Ok(1));
        assert_eq!(fault(1 << 33, Some(8)), Err(Fault::Number { read: 7, expected: 8 }));
        assert_eq!(fault(1 << 34, None), Err(Fault::Offset(1 << 33)));
        assert_eq!(verify.check(&mut vec![0; 4096], 0, None).unwrap_err().fault, Fault::Magic(0));
    }

    #[test]
    fn a_header_is_laid_out_as_fios() {
        let verify = verify(Sum::Crc32c, 0, 0);
        let mut written = vec![0; 4096];
        verify.fill(&mut written, &stamp(7));
        assert_eq!(written[..8], [0xca, 0xac, 5, 0, 0, 0x10, 0, 0]);
        assert_eq!(written[16..24], (1u64 << 33).to_le_bytes());
        assert_eq!(written[24..36], [5, 0, 0, 0, 7, 0, 0, 0, 1, 0, 7, 0]);
    }
}
