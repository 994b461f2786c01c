//! Quantities as people write them: `"691GB"`, `"185us"`, `"1200MT/s"`, `"54%"`. Decimals are read exactly.

use crate::units::Nanos;

const BYTES: &[(&str, u64)] = &[
    ("B", 1),
    ("kB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("TB", 1_000_000_000_000),
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
    ("TiB", 1 << 40),
];
const TIMES: &[(&str, u64)] = &[
    ("ns", 1),
    ("us", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("min", 60_000_000_000),
    ("h", 3_600_000_000_000),
];
const POWERS: &[(&str, u64)] = &[("mW", 1), ("W", 1000)];
const RATES: &[(&str, u64)] =
    &[("kB/s", 1_000), ("MB/s", 1_000_000), ("GB/s", 1_000_000_000), ("MiB/s", 1 << 20)];

/// Bytes: `"16KiB"`, `"691GB"`.
pub fn bytes(text: &str) -> Result<u64, String> {
    quantity(text, BYTES, "\"691GB\" (10^9) or \"16KiB\" (2^10)")
}

/// A time: `"185us"`, `"2.7ms"`, `"10min"`.
pub fn time(text: &str) -> Result<Nanos, String> {
    quantity(text, TIMES, "\"185us\", \"2.7ms\" or \"10min\"").map(Nanos)
}

/// Bytes a second: `"500MB/s"`.
pub fn rate(text: &str) -> Result<u64, String> {
    quantity(text, RATES, "\"500MB/s\"")
}

/// Megatransfers a second: `"1200MT/s"`.
pub fn transfers(text: &str) -> Result<u64, String> {
    quantity(text, &[("MT/s", 1)], "\"1200MT/s\"")
}

/// A share in permille: `"54%"`, `"2.5%"`.
pub fn share(text: &str) -> Result<u64, String> {
    quantity(text, &[("%", 10)], "\"54%\"")
}

/// A plain number of thousandths: `1.5` is 1500.
pub fn ratio(text: &str) -> Result<u64, String> {
    quantity(&format!("{text}x"), &[("x", 1_000)], "1.5")
        .map_err(|_| format!("{text} is not a ratio such as 1.5 (at most three decimals)"))
}

/// Power in milliwatts: `"45mW"`, `"2.4W"`.
pub fn power(text: &str) -> Result<u64, String> {
    quantity(text, POWERS, "\"2.4W\" or \"45mW\"")
}

/// Energy a byte, in picojoules: `"470pJ/B"`.
pub fn energy_per_byte(text: &str) -> Result<u64, String> {
    quantity(text, &[("pJ/B", 1), ("nJ/B", 1000)], "\"470pJ/B\" or \"0.47nJ/B\"")
}

/// A temperature in thousandths of a degree Celsius, above freezing: `"25C"`.
pub fn temperature(text: &str) -> Result<u64, String> {
    quantity(text, &[("C", 1000)], "\"25C\"")
}

/// A heat capacity in millijoules a kelvin: `"6J/K"`.
pub fn heat_capacity(text: &str) -> Result<u64, String> {
    quantity(text, &[("J/K", 1000)], "\"6J/K\"")
}

/// A heat resistance in millikelvins a watt: `"12K/W"`.
pub fn heat_resistance(text: &str) -> Result<u64, String> {
    quantity(text, &[("K/W", 1000)], "\"12K/W\"")
}

/// A number with one of the units, as a whole number of the smallest.
fn quantity(text: &str, units: &[(&str, u64)], example: &str) -> Result<u64, String> {
    let wrong = |what: &str| format!("\"{text}\" {what}; write it as {example}");
    let split = text.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(text.len());
    let (number, unit) = (&text[..split], text[split..].trim_start());
    if number.is_empty() {
        return Err(wrong("does not begin with a number"));
    }
    if unit.is_empty() {
        return Err(wrong("has no unit"));
    }
    let Some(&(_, scale)) = units.iter().find(|(name, _)| *name == unit) else {
        return Err(wrong(&format!("has an unknown unit, \"{unit}\"")));
    };
    let (whole, decimals) = number.split_once('.').unwrap_or((number, ""));
    let digits = decimals.trim_end_matches('0');
    let parse = |digits: &str| digits.parse::<u128>().ok();
    let value = (|| {
        if whole.is_empty() || decimals.contains('.') || digits.len() > 18 {
            return None;
        }
        let fraction = if digits.is_empty() { 0 } else { parse(digits)? };
        let denominator = 10u128.pow(digits.len() as u32);
        let scaled = parse(whole)?.checked_mul(scale as u128)?;
        let part = fraction * scale as u128;
        (part % denominator == 0).then_some(())?;
        u64::try_from(scaled.checked_add(part / denominator)?).ok()
    })();
    value.ok_or_else(|| wrong("is not a whole number of the smallest unit, or too large"))
}

/// The shortest exact way to write a quantity in one of the units.
fn shortest(value: u64, units: &[(&str, u64)]) -> String {
    let exact = units.iter().filter(|(_, scale)| value % scale == 0 && value >= *scale);
    match exact.min_by_key(|(_, scale)| (value / scale).to_string().len()) {
        Some((name, scale)) => format!("{}{name}", value / scale),
        None => format!("{value}{}", units[0].0),
    }
}

pub fn write_bytes(value: u64) -> String {
    shortest(value, BYTES)
}

pub fn write_time(value: Nanos) -> String {
    shortest(value.0, &TIMES[..4])
}

pub fn write_power(value: u64) -> String {
    shortest(value, POWERS)
}

/// Thousandths, as a number of the unit.
pub fn write_thousandths(value: i64, unit: &str) -> String {
    format!("{}{unit}", write_decimal(value as u32, 1000))
}

pub fn write_rate(value: u64) -> String {
    let exact = RATES.iter().filter(|(_, scale)| value % scale == 0 && value >= *scale);
    match exact.min_by_key(|(_, scale)| (value / scale).to_string().len()) {
        Some((name, scale)) => format!("{}{name}", value / scale),
        None => format!("{}.{:03}kB/s", value / 1000, value % 1000),
    }
}

/// Thousandths as a decimal number, `by` of them to one.
pub fn write_decimal(value: u32, by: u32) -> String {
    let text = format!("{}.{:0width$}", value / by, value % by, width = by.ilog10() as usize);
    text.trim_end_matches('0').trim_end_matches('.').to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn decimals_are_exact() {
        assert_eq!(bytes("0.001kB"), Ok(1));
        assert_eq!(time("2.915ms"), Ok(Nanos(2_915_000)));
        assert_eq!(bytes("1.5KiB"), Ok(1536));
        assert_eq!(share("2.5%"), Ok(25));
        assert_eq!(ratio("2.6"), Ok(2600));
        assert_eq!(transfers("1200MT/s"), Ok(1200));
    }

    #[test]
    fn what_has_no_exact_meaning_is_refused() {
        for text in ["691", "691gb", "GB", "1.2.3GB", "0.0001kB", "-1GB", "99999999999TB", ""] {
            assert!(bytes(text).is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(value in any::<u64>()) {
            prop_assert_eq!(bytes(&write_bytes(value)), Ok(value));
            prop_assert_eq!(time(&write_time(Nanos(value))), Ok(Nanos(value)));
            prop_assert_eq!(rate(&write_rate(value)), Ok(value));
        }

        #[test]
        fn no_text_panics(text in "\\PC*") {
            let _ = (bytes(&text), time(&text), rate(&text), share(&text), ratio(&text));
        }
    }
}
