//! The Storage Performance Council's: `0,303567,3584,w,0.026214`: application storage unit, LBA in sectors of 512 bytes, size in
//! bytes, opcode, seconds; more fields may follow. (SPC Trace File Format Specification 1.0.1; Financial and WebSearch of
//! the UMass Trace Repository.) Each unit has addresses of its own.

use super::lines::{self, Lines};
use super::number::{length, offset, read_or_write, scaled, whole};
use super::{Devices, Entry, Format, Reading, TraceFault};

pub const FORMAT: Format = lines::format::<Spc>();

struct Spc;

impl Lines for Spc {
    const NAME: &'static str = "spc";
    const ABOUT: &'static str = "Storage Performance Council: Financial, WebSearch";
    const EXPECTED: &'static str = "ASU,LBA in sectors,bytes,r or w,time in s";

    fn begin(_: &[u8], _: &Reading) -> Result<Spc, TraceFault> {
        Ok(Spc)
    }

    #[inline]
    fn line(
        &mut self,
        line: &[u8],
        devices: &mut Devices,
        into: &mut Vec<Entry>,
    ) -> Result<(), &'static str> {
        let mut fields = line.split(|&byte| byte == b',');
        let mut field = || fields.next().map(<[u8]>::trim_ascii).ok_or("five fields between commas");
        let (unit, at, len, kind, time) = (field()?, field()?, field()?, field()?, field()?);
        let op = read_or_write(kind).ok_or("r or w")?;
        whole(unit).ok_or("the number of an application storage unit")?;
        let at = offset(at, 512).ok_or("an LBA")?;
        let len = length(len, 1).ok_or("a size in bytes, below 4 GiB")?;
        let time = scaled(time, 1_000_000_000).ok_or("a time in seconds")?;
        into.push(Entry::new(time, devices.number(unit), op, at, len));
        Ok(())
    }
}
