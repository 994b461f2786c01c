//! fio's first iolog: `1, 4096, 8192`: 0 for a read and 1 for a write, offset and length in bytes. It has no times: everything
//! is made at once, as `--pace asap` takes it. (fio's HOWTO, "Trace file format v1".)

use pslc_ssd::Op;

use super::lines::{self, Lines};
use super::number::{commas, length, offset};
use super::{Devices, Entry, Format, Reading, TraceFault};

pub const FORMAT: Format = lines::format::<IologV1>();

struct IologV1;

impl Lines for IologV1 {
    const NAME: &'static str = "fio-iolog-v1";
    const ABOUT: &'static str = "fio's iolog, version 1";
    const EXPECTED: &'static str = "0 (read) or 1 (write), offset, bytes";

    fn begin(_: &[u8], _: &Reading) -> Result<IologV1, TraceFault> {
        Ok(IologV1)
    }

    #[inline]
    fn line(
        &mut self,
        line: &[u8],
        devices: &mut Devices,
        into: &mut Vec<Entry>,
    ) -> Result<(), &'static str> {
        let [kind, at, len] = commas(line).ok_or("three fields between commas")?;
        let op = match kind {
            b"0" => Op::Read,
            b"1" => Op::Write,
            _ => return Err("0 or 1"),
        };
        let at = offset(at, 1).ok_or("an offset in bytes")?;
        let len = length(len, 1).ok_or("a length in bytes, below 4 GiB")?;
        into.push(Entry::new(0, devices.number(b"0"), op, at, len));
        Ok(())
    }

    fn notes(&self) -> Vec<String> {
        vec!["the trace has no times: every request is made at its beginning, as soon as there is room".into()]
    }
}
