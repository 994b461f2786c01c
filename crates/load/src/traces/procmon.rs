//! The CSV of Process Monitor: `"10:29:06.0610122 AM","a.exe","2900","WriteFile","C:\\x.dll","SUCCESS","Offset: 8,310,784,
//! Length: 12,800, ..."`. Each file is a device, as offsets are within files. Other operations are no requests.

use pslc_ssd::Op;

use super::lines::{self, LineResult, Lines};
use super::number::{scaled, whole};
use super::{Devices, Entry, Format, Reading, TraceFault};

pub const FORMAT: Format = lines::format::<ProcessMonitor>();

const SECOND: u64 = 1_000_000_000;

struct ProcessMonitor {
    /// The line of names was passed.
    begun: bool,
}

impl Lines for ProcessMonitor {
    const NAME: &'static str = "procmon";
    const ABOUT: &'static str = "CSV of Process Monitor";
    const EXPECTED: &'static str = "time of day,process,id,operation,path,result,detail, each in quotes";

    fn begin(head: &[u8], _: &Reading) -> Result<ProcessMonitor, TraceFault> {
        let first = String::from_utf8_lossy(head.split(|&byte| byte == b'\n').next().unwrap_or_default());
        if first.contains("\"Time of Day\"") && first.contains("\"Operation\"") {
            Ok(ProcessMonitor { begun: false })
        } else {
            Err(TraceFault::NoFormat { beginning: first.chars().take(60).collect() })
        }
    }

    fn line(&mut self, line: &[u8], devices: &mut Devices, into: &mut Vec<Entry>) -> LineResult {
        if !std::mem::replace(&mut self.begun, true) {
            return Ok(());
        }
        let text = std::str::from_utf8(line).map_err(|_| "text in UTF-8")?;
        let inner = text.strip_prefix('"').and_then(|text| text.strip_suffix('"')).ok_or("cells in quotes")?;
        let cells: Vec<&str> = inner.split("\",\"").collect();
        let [time, _, _, operation, path, result, detail, ..] = cells[..] else {
            return Err("seven cells in quotes");
        };
        let op = match operation {
            "ReadFile" => Op::Read,
            "WriteFile" => Op::Write,
            "FlushBuffersFile" => Op::Flush,
            _ => return Ok(()),
        };
        let at = of_day(time).ok_or("a time of day")?;
        let (offset, len) = match op {
            Op::Flush => (0, 0),
            // Nothing was moved at the end of a file, or where it is locked.
            _ if result != "SUCCESS" => return Ok(()),
            _ => (number(detail, "Offset: ").ok_or("an offset")?, number(detail, "Length: ").ok_or("a length")?),
        };
        let len = u32::try_from(len).map_err(|_| "a length, below 4 GiB")?;
        into.push(Entry::new(at, devices.number(path.as_bytes()), op, offset, len));
        Ok(())
    }
}

/// Nanoseconds of the day of `10:29:06.0610122 AM`, `22:29:06,0610122`.
fn of_day(text: &str) -> Option<u64> {
    let (clock, half) = text.split_once(' ').unwrap_or((text, ""));
    let mut parts = clock.splitn(3, ':');
    let mut hour = whole(parts.next()?.as_bytes())?;
    let minute = whole(parts.next()?.as_bytes())?;
    let seconds = scaled(parts.next()?.replace(',', ".").as_bytes(), SECOND)?;
    if !half.is_empty() {
        hour = hour % 12 + if half.eq_ignore_ascii_case("PM") { 12 } else { 0 };
    }
    (hour < 24 && minute < 60).then_some((hour * 3600 + minute * 60) * SECOND + seconds)
}

/// The number behind a word, with whatever parts its thousands.
fn number(detail: &str, word: &str) -> Option<u64> {
    let rest = &detail[detail.find(word)? + word.len()..];
    let digits = rest.split(", ").next()?.chars().filter(char::is_ascii_digit).collect::<String>();
    whole(digits.as_bytes()).filter(|&bytes| bytes < 1 << 60)
}
