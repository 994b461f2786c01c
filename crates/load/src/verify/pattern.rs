//! `verify_pattern` and `buffer_pattern`: bytes that are repeated over a request, some of which may be its offset.

use crate::option_fault::OptionFault;

/// What a request is filled with, from its beginning, over and over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    bytes: Vec<u8>,
    /// Where the offset of the request stands in them, eight bytes with the lowest first.
    offsets: Vec<usize>,
}

/// fio 3.33 takes 512 bytes, later ones 128 MiB.
const MAX_PATTERN_BYTES: usize = 64 << 10;
const OFFSET_BYTES: usize = 8;

impl Pattern {
    /// One string in double quotes, hexadecimal bytes (`0xdeadbeef`), whole decimal number or `%o`, the offset of the
    /// request, behind the other.
    pub fn parse(text: &str) -> Result<Pattern, OptionFault> {
        let mut pattern = Pattern { bytes: Vec::new(), offsets: Vec::new() };
        let mut rest = text;
        while !rest.is_empty() {
            rest = pattern.part(rest).ok_or_else(|| OptionFault::NoPatternPart { text: rest.into() })?;
        }
        match pattern.bytes.len() {
            0 => Err(OptionFault::EmptyPattern),
            1..=MAX_PATTERN_BYTES => Ok(pattern),
            bytes => Err(OptionFault::LongPattern { bytes, max: MAX_PATTERN_BYTES }),
        }
    }

    /// Take the first part; what is left.
    fn part<'a>(&mut self, text: &'a str) -> Option<&'a str> {
        if let Some(string) = text.strip_prefix('"') {
            let (string, rest) = string.split_once('"')?;
            self.bytes.extend(string.bytes());
            return Some(rest);
        }
        if let Some(rest) = text.strip_prefix("%o") {
            self.offsets.push(self.bytes.len());
            self.bytes.extend([0; OFFSET_BYTES]);
            return Some(rest);
        }
        if let Some(digits) = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
            let mut end = digits.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(digits.len());
            // The 0 of a further 0x.
            if end > 0 && digits[end..].starts_with(['x', 'X']) && digits[..end].ends_with('0') {
                end -= 1;
            }
            let (digits, rest) = digits.split_at(end);
            let padded = if end % 2 == 1 { format!("0{digits}") } else { digits.to_string() };
            for at in (0..padded.len()).step_by(2) {
                self.bytes.push(u8::from_str_radix(&padded[at..at + 2], 16).ok()?);
            }
            return (end > 0).then_some(rest);
        }
        let hexadecimal = text.to_ascii_lowercase().find("0x").unwrap_or(text.len());
        let digits = text[..hexadecimal].strip_prefix(['-', '+']).unwrap_or(&text[..hexadecimal]);
        let sign = text[..hexadecimal].len() - digits.len();
        let end = sign + digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
        let number: i32 = text[..end].parse().ok()?;
        let bytes = (number as u32).to_le_bytes();
        let used = bytes.iter().rposition(|byte| *byte != 0).unwrap_or(0) + 1;
        self.bytes.extend(&bytes[..used]);
        Some(&text[end..])
    }

    /// Whether the offset of its request is part of it.
    pub fn has_offset(&self) -> bool {
        !self.offsets.is_empty()
    }

    /// Whether bytes are the same wherever a request began, so long as that is a multiple of so many bytes.
    pub fn is_anywhere(&self, multiple: u32) -> bool {
        self.offsets.is_empty() && multiple as usize % self.bytes.len() == 0
    }

    /// As it is in a request at `offset`.
    fn at(&self, offset: u64) -> Vec<u8> {
        let mut bytes = self.bytes.clone();
        for &at in &self.offsets {
            bytes[at..at + OFFSET_BYTES].copy_from_slice(&offset.to_le_bytes());
        }
        bytes
    }

    /// Fill a request at `offset`.
    pub fn fill(&self, buffer: &mut [u8], offset: u64) {
        let pattern = self.at(offset);
        for part in buffer.chunks_mut(pattern.len()) {
            part.copy_from_slice(&pattern[..part.len()]);
        }
    }

    /// The first byte that is not of the pattern, and what it should be, of data that begin `skip` bytes into a request at
    /// `offset`.
    pub fn difference(&self, data: &[u8], offset: u64, skip: usize) -> Option<(usize, u8)> {
        let pattern = self.at(offset);
        let expected = pattern.iter().cycle().skip(skip % pattern.len());
        data.iter().zip(expected).enumerate().find(|(_, (a, b))| a != b).map(|(at, (_, expected))| (at, *expected))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_read_as_fio_reads_them() {
        let bytes = |text: &str| Pattern::parse(text).unwrap().bytes;
        assert_eq!(bytes("\"abcd\""), b"abcd");
        assert_eq!(bytes("-1024"), [0x00, 0xfc, 0xff, 0xff]);
        assert_eq!(bytes("66"), [0x42]);
        assert_eq!(bytes("0"), [0]);
        assert_eq!(bytes("0xFF0X1"), [0xff, 0x01]);
        assert_eq!(bytes("\"123\"0xFFeeCC"), [0x31, 0x32, 0x33, 0xff, 0xee, 0xcc]);
        let mixed = Pattern::parse("-100xab\"1\"%o\"2\"").unwrap();
        assert_eq!(mixed.at(0), [0xf6, 0xff, 0xff, 0xff, 0xab, 0x31, 0, 0, 0, 0, 0, 0, 0, 0, 0x32]);
        assert_eq!(mixed.at(0x1000)[6..14], 4096u64.to_le_bytes());
        for wrong in ["", "abcd", "\"abc", "0x", "%p", "'file'", "99999999999"] {
            assert!(Pattern::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_changed_byte_of_a_pattern_is_found_where_it_is() {
        let pattern = Pattern::parse("0xab%o").unwrap();
        let mut buffer = [0; 1000];
        pattern.fill(&mut buffer, 8192);
        assert_eq!(pattern.difference(&buffer[40..], 8192, 40), None);
        buffer[45] ^= 1;
        assert_eq!(pattern.difference(&buffer[40..], 8192, 40), Some((5, 0xab)));
    }
}
