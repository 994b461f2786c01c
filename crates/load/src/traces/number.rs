//! Numbers in text, fast and exact: no floats.

use pslc_ssd::Op;

/// A whole number.
#[inline]
pub fn whole(text: &[u8]) -> Option<u64> {
    let text = text.trim_ascii();
    if text.is_empty() || text.len() > 20 {
        return None;
    }
    let mut value = 0u64;
    for &byte in text {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        value = match text.len() {
            20 => value.checked_mul(10)?.checked_add(digit as u64)?,
            _ => value * 10 + digit as u64,
        };
    }
    Some(value)
}

/// A number with or without a fraction, in units of `unit` parts, rounded down: seconds in nanoseconds.
#[inline]
pub fn scaled(text: &[u8], unit: u64) -> Option<u64> {
    let text = text.trim_ascii();
    let Some(point) = text.iter().position(|&byte| byte == b'.') else {
        return whole(text)?.checked_mul(unit);
    };
    let (before, after) = (&text[..point], &text[point + 1..]);
    let mut value = match before {
        [] if !after.is_empty() => 0,
        _ => whole(before)?.checked_mul(unit)?,
    };
    let mut part = unit as u128 * 1_000_000_000;
    let mut fraction = 0u128;
    for &byte in after {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        part /= 10;
        fraction += part * digit as u128;
    }
    value = value.checked_add((fraction / 1_000_000_000) as u64)?;
    Some(value)
}

/// A length in bytes, of so many units.
#[inline]
pub fn length(text: &[u8], unit: u64) -> Option<u32> {
    u32::try_from(whole(text)?.checked_mul(unit)?).ok()
}

/// An offset in bytes, of so many units.
#[inline]
pub fn offset(text: &[u8], unit: u64) -> Option<u64> {
    whole(text)?.checked_mul(unit).filter(|&bytes| bytes <= MAX_BYTES)
}

/// No drive has more: it leaves room for a length.
const MAX_BYTES: u64 = 1 << 60;

/// `R`, `W`, `Read`, `write`, in any case.
#[inline]
pub fn read_or_write(text: &[u8]) -> Option<Op> {
    match text.trim_ascii() {
        [b'R' | b'r'] => Some(Op::Read),
        [b'W' | b'w'] => Some(Op::Write),
        text if text.eq_ignore_ascii_case(b"read") => Some(Op::Read),
        text if text.eq_ignore_ascii_case(b"write") => Some(Op::Write),
        _ => None,
    }
}

/// What stands between blanks.
#[inline]
pub fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(|byte| byte.is_ascii_whitespace()).filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn numbers_come_back_as_they_were_written(value: u64, ns in 0u64..1_000_000_000, s in 0u64..10_000_000_000) {
            prop_assert_eq!(whole(value.to_string().as_bytes()), Some(value));
            let text = format!("{s}.{ns:09}");
            prop_assert_eq!(scaled(text.as_bytes(), 1_000_000_000), Some(s * 1_000_000_000 + ns));
        }

        #[test]
        fn anything_is_a_number_or_none(text: Vec<u8>) {
            let _ = (whole(&text), scaled(&text, 1000), length(&text, 512), offset(&text, 512));
        }
    }

    #[test]
    fn what_is_too_large_is_no_number() {
        assert_eq!(whole(b"18446744073709551616"), None);
        assert_eq!(scaled(b"18446744073709551615", 1000), None);
        assert_eq!(length(b"8388608", 512), None);
        assert_eq!(scaled(b".5", 1000), Some(500));
        assert_eq!(scaled(b".", 1000), None);
        assert_eq!(whole(b"-1"), None);
    }
}
