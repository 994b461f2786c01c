//! Alibaba Cloud's block traces: `419,W,8792731648,16384,1577808144360767`: device, kind, offset and length in bytes, time in
//! microseconds. (github.com/alibaba/block-traces, README.)

use super::lines::{self, Lines};
use super::number::{commas, length, offset, read_or_write, scaled, whole};
use super::{Devices, Entry, Format, Reading, TraceFault};

pub const FORMAT: Format = lines::format::<Alibaba>();

struct Alibaba;

impl Lines for Alibaba {
    const NAME: &'static str = "alibaba";
    const ABOUT: &'static str = "Alibaba Cloud block traces, 2020";
    const EXPECTED: &'static str = "device,R or W,offset,bytes,time in us";

    fn begin(_: &[u8], _: &Reading) -> Result<Alibaba, TraceFault> {
        Ok(Alibaba)
    }

    #[inline]
    fn line(
        &mut self,
        line: &[u8],
        devices: &mut Devices,
        into: &mut Vec<Entry>,
    ) -> Result<(), &'static str> {
        let [device, kind, at, len, time] = commas(line).ok_or("five fields between commas")?;
        let op = read_or_write(kind).ok_or("R or W")?;
        whole(device).ok_or("the number of a device")?;
        let at = offset(at, 1).ok_or("an offset in bytes")?;
        let len = length(len, 1).ok_or("a length in bytes, below 4 GiB")?;
        let time = scaled(time, 1000).ok_or("a time in microseconds")?;
        into.push(Entry::new(time, devices.number(device), op, at, len));
        Ok(())
    }
}
