//! Numbers with units, as part files and profiles write them.

use super::PartsError;
use crate::profile::units::{exact, Units};

const DRIVE_SIZES: &Units = &[("MB", 1_000_000), ("GB", 1_000_000_000), ("TB", 1_000_000_000_000)];
/// Hundredths of a per cent.
pub const SHARE: &Units = &[("%", 100)];

/// A number with one of the units, in the unit that is 1.
pub fn quantity(text: &str, units: &'static Units, key: &str) -> Result<u64, PartsError> {
    let trimmed = text.trim();
    let end = trimmed.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(trimmed.len());
    let (number, unit) = (&trimmed[..end], trimmed[end..].trim_start());
    let (whole, decimals) = number.split_once('.').unwrap_or((number, ""));
    let scale = units.iter().find(|(name, _)| *name == unit).map(|(_, scale)| *scale);
    let is_number = !whole.is_empty() && (decimals.is_empty() != number.contains('.')) && !decimals.contains('.');
    let (Some(scale), true) = (scale, is_number) else {
        return Err(PartsError::NoQuantity { key: key.into(), text: text.into(), units });
    };
    exact(number, scale).ok_or_else(|| PartsError::NotWholeUnits { key: key.into(), text: text.into() })
}

/// The shortest way to write a quantity exactly, to three decimals at most.
pub fn written(value: u64, units: &Units) -> String {
    let texts = units.iter().filter_map(|&(name, scale)| {
        let thousandths = value as u128 * 1000;
        if value < scale || thousandths % scale as u128 != 0 {
            return None;
        }
        let thousandths = thousandths / scale as u128;
        let text = format!("{}.{:03}", thousandths / 1000, thousandths % 1000);
        Some(format!("{}{name}", text.trim_end_matches('0').trim_end_matches('.')))
    });
    texts.min_by_key(String::len).unwrap_or_else(|| format!("{value}{}", units[0].0))
}

/// A capacity as the name of a drive has it: `1.5TB`, and `537GB` for 500 GiB.
pub fn drive_size(bytes: u64) -> String {
    let unit = if bytes < 1_000_000_000 || bytes % 1_000_000 == 0 { 1_000_000 } else { 1_000_000_000 };
    written((bytes + unit / 2) / unit * unit, DRIVE_SIZES)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::units::BYTES;

    #[test]
    fn what_is_written_is_read_as_the_same_number() {
        for value in [0, 1, 999, 1000, 1024, 1500, 4096, 16384, 1 << 20, 1_000_200_000_000, 960_000_000_000] {
            assert_eq!(quantity(&written(value, BYTES.units), BYTES.units, "x").unwrap(), value);
        }
        let names = [1_500_000_000_000, 500 << 30, 480_103_981_056, 512_100_000_000, 512_000_000].map(drive_size);
        assert_eq!(names, ["1.5TB", "537GB", "480GB", "512.1GB", "512MB"]);
        assert_eq!(written(16384, BYTES.units), "16KiB");
    }

    #[test]
    fn a_number_without_a_unit_or_with_half_a_byte_is_refused_in_words() {
        let error = |text| quantity(text, BYTES.units, "capacity").unwrap_err();
        assert_eq!(error("5").to_string(), "capacity is \"5\"");
        assert!(error("1.GB").hint().starts_with("a number with a unit (B, kB"));
        assert!(error("-1GB").hint().starts_with("a number with a unit"));
        assert_eq!(error("0.5B").hint(), "a whole number of the smallest unit");
    }
}
