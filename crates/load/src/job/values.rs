//! fio's ways of writing numbers: sizes with binary suffixes, percentages, times, lists by direction.

use pslc_ssd::Nanos;

use super::{ByKind, Distribution, Mix, Pattern, Sizes, Zones};
use crate::option_fault::OptionFault;

/// A whole number, perhaps hexadecimal, and its unit. As in fio, a unit stands right behind decimal digits, and one behind
/// a fraction or a blank says nothing, nor does the fraction.
fn number(text: &str) -> Option<(u64, &str)> {
    let text = text.trim();
    let text = text.strip_prefix('+').unwrap_or(text);
    let (digits, radix) = match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) => (digits, 16),
        None => (text, 10),
    };
    let end = digits.find(|c: char| !c.is_digit(radix)).unwrap_or(digits.len());
    let number = u64::from_str_radix(&digits[..end], radix).ok()?;
    let unit = digits[end..].trim_end();
    let is_unit = |c: char| c.is_alphabetic() || c == '%';
    match unit {
        "" => Some((number, "")),
        _ if unit.starts_with(is_unit) => Some((number, if radix == 10 { unit } else { "" })),
        // What fio leaves out is said in a note; anything else is not cut off.
        _ if without_unit(text).is_some() || is_zero_fraction(unit) => Some((number, "")),
        _ => None,
    }
}

/// `.` or `.00`, which changes nothing.
fn is_zero_fraction(text: &str) -> bool {
    text.strip_prefix('.').is_some_and(|digits| digits.bytes().all(|digit| digit == b'0'))
}

/// All that fio reads of `1.5g` or `15 g`, which have a unit that does not count.
pub fn without_unit(text: &str) -> Option<&str> {
    let (digits, rest) = text.split_at(text.find(|c: char| !c.is_ascii_digit())?);
    let lost = rest.starts_with(['.', ' ']) && rest.ends_with(|c: char| c.is_alphabetic() || c == '%');
    (lost && !digits.is_empty()).then_some(digits)
}

/// A size: `4k` is 4096 (or 4000 under `kb_base=1000`), `10%` a share of `whole`. As in fio, `4KiB` is the other one:
/// 4000, or 4096 under `kb_base=1000`.
pub fn size(text: &str, whole: u64, kb_base: u64) -> Result<u64, OptionFault> {
    let wrong = || OptionFault::NoSize { text: text.into() };
    let (number, suffix) = number(text).ok_or_else(wrong)?;
    // As in a template of Python's.
    if matches!(suffix, "%" | "%%") {
        return match number {
            0..=100 => Ok((whole as u128 * number as u128 / 100) as u64),
            _ => Err(OptionFault::MoreThanAll { text: text.into() }),
        };
    }
    let suffix = suffix.to_ascii_lowercase();
    let (letter, rest) = suffix.split_at(suffix.chars().next().map_or(0, char::len_utf8));
    let power = match letter {
        "" => return Ok(number),
        "b" if rest.is_empty() => return Ok(number),
        "k" => 1,
        "m" => 2,
        "g" => 3,
        "t" => 4,
        "p" => 5,
        _ => return Err(wrong()),
    };
    let base: u64 = match rest {
        "" | "b" | "i" => kb_base,
        "ib" => 2024 - kb_base,
        _ => return Err(wrong()),
    };
    let bytes = base.checked_pow(power).and_then(|scale| number.checked_mul(scale));
    bytes.ok_or_else(wrong)
}

/// The percentage that a size is given as.
pub fn percentage(text: &str) -> Option<u64> {
    number(text).and_then(|(number, suffix)| matches!(suffix, "%" | "%%").then_some(number))
}

/// Of no use beyond, and far from the end of the clock.
const LONGEST: Nanos = Nanos::from_secs(1000 * 86_400);

/// The size of a request.
pub fn block(text: &str, kb_base: u64) -> Result<u32, OptionFault> {
    match size(text, 0, kb_base)? {
        n if n % 512 == 0 && (512..1 << 32).contains(&n) => Ok(n as u32),
        n if text.to_ascii_lowercase().ends_with("ib") => {
            Err(OptionFault::DecimalBlock { bytes: n, text: text.into() })
        }
        n => Err(OptionFault::Block { bytes: n }),
    }
}

/// `4k/60:64k/40`: sizes and shares in percent, also one list each for reads, writes and trims; an empty one keeps what
/// there was. Sizes without a share divide evenly what the others leave. As in fio, the largest share takes what is
/// missing to 100, and of `4k-8k` the 4k counts, which is said in a note.
pub fn block_split(
    text: &str,
    before: ByKind<Sizes>,
    kb_base: u64,
) -> Result<(ByKind<Sizes>, Option<String>), OptionFault> {
    let mut note = None;
    let list = |text: &str| {
        let mut shares: Vec<(u32, Option<u32>)> = Vec::new();
        // fio's list ends with its first empty part; one that begins with it does not come here.
        for part in text.split(':').take_while(|part| !part.is_empty()) {
            let (bs, share) = part.split_once('/').unwrap_or((part, ""));
            let share = if share.is_empty() { 0 } else { count(share, 0, 100)? };
            let first = bs.split_once('-').map(|(first, _)| first);
            if let Some(first) = first {
                note.get_or_insert_with(|| format!("bssplit has no ranges: {bs} is {first}, as fio reads it"));
            }
            shares.push((block(first.unwrap_or(bs).trim(), kb_base)?, (share > 0).then_some(share as u32)));
        }
        let mut split = filled(&shares).ok_or_else(|| not_all(text, &shares))?;
        split.sort_by_key(|&(_, share)| share);
        Ok(match split[..] {
            [(size, _)] => Sizes::One(size),
            _ => Sizes::Split(split),
        })
    };
    let sizes = lists(text, Some(before), list)?;
    Ok((sizes, note))
}

/// Shares that were said, in percent.
fn given_percent<T>(shares: &[(T, Option<u32>)]) -> u32 {
    shares.iter().filter_map(|(_, share)| *share).sum()
}

fn not_all<T>(text: &str, shares: &[(T, Option<u32>)]) -> OptionFault {
    OptionFault::Shares { text: text.into(), percent: given_percent(shares) }
}

/// Shares that were left out divide evenly what the others leave of 100; `None` where that is less than nothing.
fn filled<T: Copy>(shares: &[(T, Option<u32>)]) -> Option<Vec<(T, u32)>> {
    let mut open = shares.iter().filter(|(_, share)| share.is_none()).count() as u32;
    let mut rest = 100u32.checked_sub(given_percent(shares));
    let fill = |&(what, share): &(T, Option<u32>)| {
        let share = match share {
            Some(share) => share,
            None => {
                let part = rest? / open;
                (rest, open) = (rest.map(|rest| rest - part), open - 1);
                part
            }
        };
        Some((what, share))
    };
    shares.iter().map(fill).collect()
}

/// `4k-64k`: from the one to the other in steps of the smaller; also one range each for reads, writes and trims.
pub fn block_range(text: &str, kb_base: u64) -> Result<ByKind<Sizes>, OptionFault> {
    lists(text, None, |text| {
        let Some((low, high)) = text.split_once(['-', ':']) else {
            return Err(OptionFault::NoRange { text: text.into() });
        };
        // What follows each end, as in a split, says nothing to fio.
        let end = |text: &str| block(text.split([':', '-', '/']).next().unwrap_or(text).trim(), kb_base);
        let (low, high) = (end(low)?, end(high)?);
        Ok(if low == high { Sizes::One(low) } else { Sizes::Range(low.min(high), low.max(high)) })
    })
}

/// One list each for reads, writes and trims; the last stands for those that are left out. An empty one, and one whose
/// first part is empty, keeps what was `before`, where there may be one.
fn lists<T: Clone>(
    text: &str,
    before: Option<ByKind<T>>,
    mut list: impl FnMut(&str) -> Result<T, OptionFault>,
) -> Result<ByKind<T>, OptionFault> {
    let texts: Vec<&str> = text.split(',').map(str::trim).collect();
    if texts.len() > 3 {
        return Err(OptionFault::MoreThanThree { text: text.into(), what: "lists" });
    }
    let mut at = |kind: usize, before: Option<T>| match (texts[kind.min(texts.len() - 1)], before) {
        (text, Some(before)) if text.is_empty() || text.starts_with(':') => Ok(before),
        (text, _) => list(text),
    };
    let [read, write, trim] = match before {
        Some(before) => before.array().map(Some),
        None => [None, None, None],
    };
    Ok(ByKind { read: at(0, read)?, write: at(1, write)?, trim: at(2, trim)? })
}

/// A time; a bare number is in `unit`.
pub fn time(text: &str, unit: Nanos) -> Result<Nanos, OptionFault> {
    let wrong = || OptionFault::NoTime { text: text.into() };
    let (number, suffix) = number(text).ok_or_else(wrong)?;
    let scale = match suffix.to_ascii_lowercase().as_str() {
        "" => unit.0,
        "us" | "usec" => 1_000,
        "ms" | "msec" => 1_000_000,
        "s" => 1_000_000_000,
        "m" => 60_000_000_000,
        "h" => 3_600_000_000_000,
        "d" => 86_400_000_000_000,
        // fio does not know these words, and takes the number for microseconds.
        word @ ("sec" | "secs" | "second" | "seconds" | "min" | "mins" | "minute" | "minutes" | "hour" | "hours") => {
            return Err(OptionFault::Microseconds { text: text.into(), number, unit: word[..1].into() });
        }
        _ => return Err(wrong()),
    };
    match number.checked_mul(scale) {
        Some(ns) if ns <= LONGEST.0 => Ok(Nanos(ns)),
        _ => Err(OptionFault::LongTime { text: text.into() }),
    }
}

/// A whole number, also with a suffix: `1k` is 1024.
pub fn count(text: &str, min: u64, max: u64) -> Result<u64, OptionFault> {
    let number = size(text, 0, 1024).ok().filter(|n| !text.contains('%') && (min..=max).contains(n));
    number.ok_or_else(|| OptionFault::Count { text: text.into(), min, max })
}

/// A number of 0 or more, also with decimals.
pub fn decimal(text: &str) -> Result<f64, OptionFault> {
    let number = text.trim().parse().ok().filter(|number: &f64| number.is_finite() && *number >= 0.0);
    number.ok_or_else(|| OptionFault::Decimal { text: text.into() })
}

/// `50:99:99.9`: up to 20 percentiles.
pub fn percentiles(text: &str) -> Result<Vec<f64>, OptionFault> {
    let percentile = |part: &str| part.trim().parse().ok().filter(|percent| (0.0..=100.0).contains(percent));
    let percentiles: Option<Vec<f64>> = text.split(':').map(percentile).collect();
    percentiles
        .filter(|percentiles| percentiles.len() <= 20)
        .ok_or_else(|| OptionFault::Percentiles { text: text.into() })
}

/// 0 or 1, of an option that takes no other number.
pub fn boolean(text: &str) -> Result<bool, OptionFault> {
    match (text, number(text)) {
        ("" | "true", _) | (_, Some((1, ""))) => Ok(true),
        ("false", _) | (_, Some((0, ""))) => Ok(false),
        _ => Err(OptionFault::Neither { text: text.into(), words: "0 nor 1" }),
    }
}

/// A flag: present without a value, or a number, which is not 0.
pub fn flag(text: &str) -> Result<bool, OptionFault> {
    match (text, number(text)) {
        ("" | "true", _) => Ok(true),
        ("false", _) => Ok(false),
        (_, Some((number, ""))) => Ok(number != 0),
        _ => Err(OptionFault::Neither { text: text.into(), words: "0 nor 1" }),
    }
}

/// `read`, `randwrite`, `rw`, `trimwrite`; random ones with `:n`, one random request in n, the others with `:bytes`,
/// what is left out between two.
pub fn pattern(text: &str, kb_base: u64) -> Result<Pattern, OptionFault> {
    let (word, after) = match text.split_once(':') {
        Some((word, after)) => (word, Some(after)),
        None => (text, None),
    };
    let (random, mix) = match word {
        "read" => (false, Mix::Read),
        "write" => (false, Mix::Write),
        "trim" => (false, Mix::Trim),
        "randread" => (true, Mix::Read),
        "randwrite" => (true, Mix::Write),
        "randtrim" => (true, Mix::Trim),
        "rw" | "readwrite" => (false, Mix::ReadWrite),
        "randrw" => (true, Mix::ReadWrite),
        "trimwrite" => (false, Mix::TrimWrite),
        "randtrimwrite" => (true, Mix::TrimWrite),
        _ => {
            return Err(OptionFault::UnknownWord {
                text: text.into(),
                choices: "read, write, trim, rw, trimwrite, or rand before one".into(),
            })
        }
    };
    let mut pattern = Pattern { random, mix, run: 1, hole: 0, identical: false };
    match after {
        Some(run) if random => pattern.run = count(run, 1, u32::MAX as u64)? as u32,
        Some(hole) => {
            let bytes = size(hole.strip_prefix('-').unwrap_or(hole), 0, kb_base)?;
            let bytes = i64::try_from(bytes).ok().filter(|bytes| bytes % 512 == 0 && *bytes < 1 << 50);
            let bytes = bytes.ok_or_else(|| OptionFault::NoStride { text: hole.into() })?;
            pattern.hole = if hole.starts_with('-') { -bytes } else { bytes };
        }
        None => {}
    }
    Ok(pattern)
}

/// Up to three comma-separated values for reads, writes and trims; one stands for all, and an empty one keeps what
/// there was.
pub fn by_kind<T: Copy>(
    text: &str,
    before: ByKind<T>,
    parse: impl Fn(&str) -> Result<T, OptionFault>,
) -> Result<ByKind<T>, OptionFault> {
    let parts: Vec<&str> = text.split(',').map(str::trim).collect();
    // What is left out is as the last that is there.
    let last = parts.iter().rev().find(|part| !part.is_empty());
    let value = |at: usize, before: T| match (parts.get(at), last) {
        (Some(&""), _) | (None, None) => Ok(before),
        (Some(part), _) | (None, Some(part)) => parse(part),
    };
    if parts.len() > 3 {
        return Err(OptionFault::MoreThanThree { text: text.into(), what: "values" });
    }
    Ok(ByKind { read: value(0, before.read)?, write: value(1, before.write)?, trim: value(2, before.trim)? })
}

pub fn distribution(text: &str, kb_base: u64) -> Result<Distribution, OptionFault> {
    let wrong = || OptionFault::NoDistribution { text: text.into() };
    let (word, after) = text.split_once(':').unwrap_or((text, ""));
    // A centre moves the hottest block, which has no place of its own here.
    let value = |default: f64| match after.split(':').next() {
        None | Some("") => Ok(default),
        Some(value) => value.parse::<f64>().map_err(|_| wrong()),
    };
    match word {
        "random" => Ok(Distribution::Uniform),
        "pareto" => match value(0.2)? {
            share if share > 0.0 && share < 1.0 => Ok(Distribution::Pareto(share)),
            share => Err(OptionFault::Pareto { share }),
        },
        "zipf" => match value(1.1)? {
            theta if theta > 0.0 && theta < 10.0 && (theta - 1.0).abs() > 1e-9 => Ok(Distribution::Zipf(theta)),
            theta => Err(OptionFault::Zipf { theta }),
        },
        "normal" | "gauss" => match value(0.0)? {
            percent if (0.0..100.0).contains(&percent) => Ok(Distribution::Normal(percent)),
            percent => Err(OptionFault::Normal { percent }),
        },
        "zoned" | "zoned_abs" => {
            let absolute = word == "zoned_abs";
            let zones = lists(after, None, |text| zones(text, absolute, kb_base))?;
            Ok(Distribution::Zoned(Box::new(zones)))
        }
        _ => Err(wrong()),
    }
}

/// `60/10:30/20:8/30:2/40`: shares of the requests, and of the region, in percent or in bytes.
fn zones(text: &str, absolute: bool, kb_base: u64) -> Result<Zones, OptionFault> {
    let mut sized: Vec<((), Option<u32>)> = Vec::new();
    let mut shared: Vec<(Option<u64>, Option<u32>)> = Vec::new();
    let percent = |text: &str| match text {
        "" => Ok(None),
        text => count(text, 0, 100).map(|percent| Some(percent as u32)),
    };
    for part in text.split(':') {
        let (share, part) = part.split_once('/').unwrap_or((part, ""));
        let share = percent(share)?;
        let (bytes, part) = if absolute { (Some(size(part, 0, kb_base)?), None) } else { (None, percent(part)?) };
        sized.push(((), part));
        shared.push((bytes, share));
    }
    let shared = filled(&shared)
        .filter(|filled| filled.iter().map(|(_, share)| share).sum::<u32>() == 100)
        .ok_or_else(|| not_all(text, &shared))?;
    let sizes: Vec<u64> = if absolute {
        shared.iter().map(|(bytes, _)| bytes.unwrap_or(0)).collect()
    } else {
        let percent = given_percent(&sized);
        let open = sized.iter().filter(|(_, share)| share.is_none()).count() as u32;
        if percent > 100 {
            return Err(OptionFault::Parts { text: text.into(), percent });
        }
        let rest = (100 - percent) / open.max(1);
        sized.iter().map(|(_, share)| share.unwrap_or(rest) as u64).collect()
    };
    let list = shared.into_iter().zip(sizes).map(|((_, share), size)| (share, size)).collect();
    Ok(Zones { list, absolute })
}
