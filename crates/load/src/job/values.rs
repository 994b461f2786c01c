//! fio's ways of writing numbers: sizes with binary suffixes, percentages, times.

use pslc_ssd::Nanos;

use super::{ByKind, Distribution, Mix, Pattern};

/// What is wrong with a value, and what to write instead where it can be said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wrong {
    pub what: String,
    pub hint: Option<String>,
}

impl Wrong {
    pub fn hinted(what: impl Into<String>, hint: impl Into<String>) -> Wrong {
        Wrong { what: what.into(), hint: Some(hint.into()) }
    }
}

impl<T: Into<String>> From<T> for Wrong {
    fn from(what: T) -> Wrong {
        Wrong { what: what.into(), hint: None }
    }
}

/// A size: `4k` is 4096 (or 4000 under `kb_base=1000`), `4KiB` always 4096 there, `10%` a share of `whole`.
pub fn size(text: &str, whole: u64, kb_base: u64) -> Result<u64, Wrong> {
    let wrong = || Wrong::hinted(format!("\"{text}\" is no size"), "4k, 1m, 20GiB or 50%");
    if let Some(percent) = text.strip_suffix('%') {
        let percent: u64 = percent.parse().map_err(|_| wrong())?;
        if percent > 100 {
            return Err(Wrong::hinted(format!("{text} is more than all of it"), "at most 100%"));
        }
        return Ok((whole as u128 * percent as u128 / 100) as u64);
    }
    let split = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let number: u64 = text[..split].parse().map_err(|_| wrong())?;
    let suffix = text[split..].trim().to_ascii_lowercase();
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
    // fio: under kb_base=1024 (its default) "k", "kb" and "kib" are all binary; under 1000 "ki" and "kib" are.
    let base: u64 = match rest {
        "" | "b" => kb_base,
        "i" | "ib" => 1024,
        _ => return Err(wrong()),
    };
    let bytes = base.checked_pow(power).and_then(|scale| number.checked_mul(scale));
    bytes.ok_or_else(wrong)
}

/// Of no use beyond, and far from the end of the clock.
const LONGEST: Nanos = Nanos::from_secs(1000 * 86_400);

/// The size of a request.
pub fn block(text: &str, kb_base: u64) -> Result<u32, Wrong> {
    match size(text, 0, kb_base)? {
        n if n % 512 == 0 && (512..=1 << 30).contains(&n) => Ok(n as u32),
        n => Err(Wrong::hinted(format!("{n} bytes"), "a multiple of 512 from 512 to 1g")),
    }
}

/// `4k/60:64k/40`: sizes and shares in percent, also one list each for reads, writes and trims. Sizes without a share
/// divide evenly what the others leave.
pub fn block_split(text: &str, kb_base: u64) -> Result<ByKind<Vec<(u32, u32)>>, Wrong> {
    let list = |text: &str| {
        let mut found: Vec<(u32, Option<u32>)> = Vec::new();
        for part in text.split(':') {
            let (bs, share) = part.split_once('/').unwrap_or((part, ""));
            let share = if share.is_empty() { None } else { Some(count(share, 0, 100)? as u32) };
            found.push((block(bs.trim(), kb_base)?, share));
        }
        let said: u32 = found.iter().filter_map(|(_, share)| *share).sum();
        let open = found.iter().filter(|(_, share)| share.is_none()).count() as u32;
        if said > 100 || (open == 0 && said < 100) {
            return Err(Wrong::hinted(format!("\"{text}\" has shares of {said} percent"), "100 in sum"));
        }
        let mut rest = 100 - said;
        let mut left = open;
        Ok(found
            .into_iter()
            .map(|(bs, share)| {
                let share = share.unwrap_or_else(|| {
                    let part = rest / left;
                    (rest, left) = (rest - part, left - 1);
                    part
                });
                (bs, share)
            })
            .collect::<Vec<_>>())
    };
    lists(text, list)
}

/// `4k-64k`: every multiple of the smallest up to the largest, each as often as the others; also one range each for
/// reads, writes and trims.
pub fn block_range(text: &str, kb_base: u64) -> Result<ByKind<Vec<(u32, u32)>>, Wrong> {
    lists(text, |text| {
        let Some((least, most)) = text.split_once('-') else {
            return Err(Wrong::hinted(format!("\"{text}\" is no range"), "4k-64k"));
        };
        let (least, most) = (block(least.trim(), kb_base)?, block(most.trim(), kb_base)?);
        match most / least {
            0 => Err(format!("\"{text}\" ends before it begins").into()),
            steps if steps > MOST_SIZES => {
                Err(Wrong::hinted(format!("\"{text}\" has {steps} sizes"), format!("at most {MOST_SIZES}")))
            }
            steps => Ok((1..=steps).map(|step| (step * least, 1)).collect()),
        }
    })
}

/// Of one range.
const MOST_SIZES: u32 = 4096;

/// One list each for reads, writes and trims; the last stands for those that are left out.
fn lists<T: Clone>(text: &str, list: impl Fn(&str) -> Result<T, Wrong>) -> Result<ByKind<T>, Wrong> {
    let lists = text.split(',').map(|text| list(text.trim())).collect::<Result<Vec<_>, _>>()?;
    let at = |kind: usize| lists[kind.min(lists.len() - 1)].clone();
    match lists.len() {
        1..=3 => Ok(ByKind { read: at(0), write: at(1), trim: at(2) }),
        _ => Err(format!("\"{text}\" has more than three lists: reads, writes, trims").into()),
    }
}

/// A time; a bare number is in `unit`.
pub fn time(text: &str, unit: Nanos) -> Result<Nanos, Wrong> {
    let wrong = || Wrong::hinted(format!("\"{text}\" is no time"), "30s, 5m, 500ms or 20us");
    let split = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let number: u64 = text[..split].parse().map_err(|_| wrong())?;
    let scale = match text[split..].trim() {
        "" => unit.0,
        "us" | "usec" => 1_000,
        "ms" | "msec" => 1_000_000,
        "s" | "sec" => 1_000_000_000,
        "m" | "min" => 60_000_000_000,
        "h" => 3_600_000_000_000,
        "d" => 86_400_000_000_000,
        _ => return Err(wrong()),
    };
    match number.checked_mul(scale) {
        Some(ns) if ns <= LONGEST.0 => Ok(Nanos(ns)),
        _ => Err(Wrong::hinted(format!("{text} is too long"), "at most 1000d")),
    }
}

pub fn count(text: &str, least: u64, most: u64) -> Result<u64, Wrong> {
    let number = text.parse::<u64>().ok().filter(|n| (least..=most).contains(n));
    number.ok_or_else(|| format!("\"{text}\" is not a whole number from {least} to {most}").into())
}

/// A flag: present without a value, or 0 or 1.
pub fn flag(text: &str) -> Result<bool, Wrong> {
    match text {
        "" | "1" | "true" => Ok(true),
        "0" | "false" => Ok(false),
        _ => Err(format!("\"{text}\" is neither 0 nor 1").into()),
    }
}

/// `read`, `randwrite`, `rw`, `trimwrite`, each with `:n`.
pub fn pattern(text: &str) -> Result<Pattern, Wrong> {
    let (word, run) = match text.split_once(':') {
        Some((word, run)) => (word, count(run, 1, u32::MAX as u64)? as u32),
        None => (text, 1),
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
            return Err(Wrong::hinted(
                format!("\"{text}\" is unknown"),
                "read, write, trim, rw, trimwrite, or rand before one",
            ))
        }
    };
    Ok(Pattern { random, mix, run })
}

/// Up to three comma-separated values for reads, writes and trims; one stands for all, and an empty one keeps what
/// there was.
pub fn by_kind<T: Copy>(
    text: &str,
    before: ByKind<T>,
    parse: impl Fn(&str) -> Result<T, Wrong>,
) -> Result<ByKind<T>, Wrong> {
    let parts: Vec<&str> = text.split(',').map(str::trim).collect();
    let one = |at: usize, before: T| match parts.get(at) {
        Some(&"") => Ok(before),
        Some(part) => parse(part),
        None => parse(parts[parts.len() - 1]),
    };
    if parts.len() > 3 {
        return Err(format!("\"{text}\" has more than three values: reads, writes, trims").into());
    }
    Ok(ByKind { read: one(0, before.read)?, write: one(1, before.write)?, trim: one(2, before.trim)? })
}

pub fn distribution(text: &str) -> Result<Distribution, Wrong> {
    let wrong = || Wrong::hinted(format!("\"{text}\" is not supported"), "random, zipf:1.2 or pareto:0.2");
    match text.split_once(':') {
        None if text == "random" => Ok(Distribution::Uniform),
        None if text == "zipf" => Ok(Distribution::Zipf(1.1)),
        None if text == "pareto" => Ok(Distribution::Pareto(0.2)),
        Some(("pareto", share)) => {
            let share: f64 = share.parse().map_err(|_| wrong())?;
            match share > 0.0 && share < 1.0 {
                true => Ok(Distribution::Pareto(share)),
                false => Err(Wrong::hinted(format!("pareto's share is {share}"), "above 0 and below 1")),
            }
        }
        Some(("zipf", theta)) => {
            let theta: f64 = theta.parse().map_err(|_| wrong())?;
            match theta > 0.0 && theta < 10.0 && (theta - 1.0).abs() > 1e-9 {
                true => Ok(Distribution::Zipf(theta)),
                false => Err(Wrong::hinted(format!("zipf theta is {theta}"), "above 0, below 10 and not 1")),
            }
        }
        _ => Err(wrong()),
    }
}
