//! Quantities as people write them: `"691GB"`, `"185us"`, `"1200MT/s"`, `"54%"`. Decimals are read exactly.

/// Why a text is no quantity.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum QuantityError {
    #[error("does not begin with a number")]
    NoNumber,
    #[error("has no unit")]
    NoUnit,
    #[error("has an unknown unit, \"{unit}\"")]
    UnknownUnit { unit: String },
    #[error("is not a whole number of the smallest unit, or too large")]
    NotWhole,
}

pub type Units = [(&'static str, u64)];

/// A kind of quantity: how it is read, as a whole number of the smallest unit, and how it is written.
#[derive(Clone, Copy, Debug)]
pub struct Form {
    pub units: &'static Units,
    /// For an error.
    pub example: &'static str,
    write: fn(u64, &'static Units) -> String,
}

const fn form(units: &'static Units, example: &'static str, write: fn(u64, &'static Units) -> String) -> Form {
    Form { units, example, write }
}

/// Bytes: `"16KiB"`, `"691GB"`.
pub const BYTES: Form = form(
    &[
        ("B", 1),
        ("kB", 1_000),
        ("MB", 1_000_000),
        ("GB", 1_000_000_000),
        ("TB", 1_000_000_000_000),
        ("KiB", 1 << 10),
        ("MiB", 1 << 20),
        ("GiB", 1 << 30),
        ("TiB", 1 << 40),
    ],
    "\"691GB\" (10^9) or \"16KiB\" (2^10)",
    shortest,
);
/// Nanoseconds: `"185us"`, `"2.7ms"`, `"10min"`.
pub const TIME: Form = form(
    &[
        ("ns", 1),
        ("us", 1_000),
        ("ms", 1_000_000),
        ("s", 1_000_000_000),
        ("min", 60_000_000_000),
        ("h", 3_600_000_000_000),
    ],
    "\"185us\", \"2.7ms\" or \"10min\"",
    |value, units| shortest(value, &units[..4]),
);
/// Bytes a second: `"500MB/s"`.
pub const RATE: Form =
    form(&[("kB/s", 1_000), ("MB/s", 1_000_000), ("GB/s", 1_000_000_000), ("MiB/s", 1 << 20)], "\"500MB/s\"", shortest);
/// Megatransfers a second: `"1200MT/s"`.
pub const TRANSFERS: Form = form(&[("MT/s", 1)], "\"1200MT/s\"", decimal);
/// A share, in permille: `"54%"`, `"2.5%"`.
pub const SHARE: Form = form(&[("%", 10)], "\"54%\"", decimal);
/// Power, in milliwatts: `"45mW"`, `"2.4W"`.
pub const POWER: Form = form(&[("mW", 1), ("W", 1000)], "\"2.4W\" or \"45mW\"", shortest);
/// Energy a byte, in picojoules: `"470pJ/B"`.
pub const ENERGY_PER_BYTE: Form = form(&[("pJ/B", 1), ("nJ/B", 1000)], "\"470pJ/B\" or \"0.47nJ/B\"", decimal);
/// A temperature in thousandths of a degree Celsius, above freezing: `"25C"`.
pub const TEMPERATURE: Form = form(&[("C", 1000)], "\"25C\"", decimal);
/// A heat capacity in millijoules a kelvin: `"6J/K"`.
pub const HEAT_CAPACITY: Form = form(&[("J/K", 1000)], "\"6J/K\"", decimal);
/// A heat resistance in millikelvins a watt: `"12K/W"`.
pub const HEAT_RESISTANCE: Form = form(&[("K/W", 1000)], "\"12K/W\"", decimal);

impl Form {
    pub fn read(&self, text: &str) -> Result<u64, QuantityError> {
        quantity(text, self.units)
    }

    pub fn write(&self, value: u64) -> String {
        (self.write)(value, self.units)
    }
}

/// A plain number of thousandths: `1.5` is 1500.
pub fn ratio(text: &str) -> Option<u64> {
    quantity(&format!("{text}x"), &[("x", 1_000)]).ok()
}

/// A number with one of the units, as a whole number of the smallest.
fn quantity(text: &str, units: &[(&str, u64)]) -> Result<u64, QuantityError> {
    let split = text.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(text.len());
    let (number, unit) = (&text[..split], text[split..].trim_start());
    if number.is_empty() {
        return Err(QuantityError::NoNumber);
    }
    if unit.is_empty() {
        return Err(QuantityError::NoUnit);
    }
    let Some(&(_, scale)) = units.iter().find(|(name, _)| *name == unit) else {
        return Err(QuantityError::UnknownUnit { unit: unit.to_string() });
    };
    exact(number, scale).ok_or(QuantityError::NotWhole)
}

/// A decimal number times `scale`, where that is a whole number that fits.
pub fn exact(number: &str, scale: u64) -> Option<u64> {
    let (whole, decimals) = number.split_once('.').unwrap_or((number, ""));
    let digits = decimals.trim_end_matches('0');
    if whole.is_empty() || decimals.contains('.') || digits.len() > 18 {
        return None;
    }
    let parse = |digits: &str| digits.parse::<u128>().ok();
    let fraction = if digits.is_empty() { 0 } else { parse(digits)? };
    let denominator = 10u128.pow(digits.len() as u32);
    let scaled = parse(whole)?.checked_mul(scale as u128)?;
    let part = fraction * scale as u128;
    (part % denominator == 0).then_some(())?;
    u64::try_from(scaled.checked_add(part / denominator)?).ok()
}

/// The shortest exact way to write a quantity in one of the units.
fn shortest(value: u64, units: &[(&str, u64)]) -> String {
    let exact = units.iter().filter(|(_, scale)| value % scale == 0 && value >= *scale);
    match exact.min_by_key(|(_, scale)| (value / scale).to_string().len()) {
        Some((name, scale)) => format!("{}{name}", value / scale),
        None => decimal(value, units),
    }
}

/// As a decimal number of the first unit.
fn decimal(value: u64, units: &[(&str, u64)]) -> String {
    let (name, scale) = units[0];
    format!("{}{name}", write_decimal(value, scale))
}

/// `value` parts as a decimal number, `by` of them to one; `by` is a power of ten.
pub fn write_decimal(value: u64, by: u64) -> String {
    if by == 1 {
        return value.to_string();
    }
    let text = format!("{}.{:0width$}", value / by, value % by, width = by.ilog10() as usize);
    text.trim_end_matches('0').trim_end_matches('.').to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const FORMS: [Form; 10] =
        [BYTES, TIME, RATE, TRANSFERS, SHARE, POWER, ENERGY_PER_BYTE, TEMPERATURE, HEAT_CAPACITY, HEAT_RESISTANCE];

    #[test]
    fn decimals_are_exact() {
        assert_eq!(BYTES.read("0.001kB"), Ok(1));
        assert_eq!(TIME.read("2.915ms"), Ok(2_915_000));
        assert_eq!(BYTES.read("1.5KiB"), Ok(1536));
        assert_eq!(SHARE.read("2.5%"), Ok(25));
        assert_eq!(ratio("2.6"), Some(2600));
        assert_eq!(TRANSFERS.read("1200MT/s"), Ok(1200));
    }

    #[test]
    fn what_has_no_exact_meaning_is_refused() {
        for text in ["691", "691gb", "GB", "1.2.3GB", "0.0001kB", "-1GB", "99999999999TB", ""] {
            assert!(BYTES.read(text).is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(value in any::<u64>()) {
            for form in FORMS {
                prop_assert_eq!(form.read(&form.write(value)), Ok(value));
            }
        }

        #[test]
        fn no_text_panics(text in "\\PC*") {
            let _ = ratio(&text);
            for form in FORMS {
                let _ = form.read(&text);
            }
        }
    }
}
