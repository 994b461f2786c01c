//! Tencent Cloud's block storage: `1538323200,12910952,128,0,1063`: time in seconds, offset and size in sectors of 512 bytes,
//! 0 for a read and 1 for a write, volume. (Zhang et al.: OSCA, ATC 2020; SNIA IOTTA 27917.)
//! Times are whole seconds: the requests of one second are all made at its beginning.

use pslc_ssd::Op;

use super::lines::{self, Lines};
use super::number::{commas, length, offset, scaled, whole};
use super::{Devices, Entry, Format, Reading, TraceFault};

pub const FORMAT: Format = lines::format::<Tencent>();

struct Tencent;

impl Lines for Tencent {
    const NAME: &'static str = "tencent";
    const ABOUT: &'static str = "Tencent Cloud block storage, 2018";
    const EXPECTED: &'static str = "time in s,offset in sectors,sectors,0 (read) or 1 (write),volume";

    fn begin(_: &[u8], _: &Reading) -> Result<Tencent, TraceFault> {
        Ok(Tencent)
    }

    #[inline]
    fn line(
        &mut self,
        line: &[u8],
        devices: &mut Devices,
        into: &mut Vec<Entry>,
    ) -> Result<(), &'static str> {
        let [time, at, len, kind, volume] = commas(line).ok_or("five fields between commas")?;
        let op = match kind {
            b"0" => Op::Read,
            b"1" => Op::Write,
            _ => return Err("0 or 1"),
        };
        let time = scaled(time, 1_000_000_000).ok_or("a time in seconds")?;
        let at = offset(at, 512).ok_or("an offset in sectors")?;
        let len = length(len, 512).ok_or("a size in sectors, below 4 GiB")?;
        whole(volume).ok_or("the number of a volume")?;
        into.push(Entry::new(time, devices.number(volume), op, at, len));
        Ok(())
    }
}
