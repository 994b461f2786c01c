//! DiskSim's ASCII: `12.503000 0 303567 8 1`: time in milliseconds, device, block and count in sectors of 512 bytes, flags in hex
//! of which the lowest bit is set for a read (`iotrace_ascii_get_ioreq_event` in its source, READ 1).

use pslc_ssd::Op;

use super::lines::{self, Lines};
use super::number::{blanks, length, offset, scaled, whole};
use super::{Devices, Entry, Format, Reading, TraceFault};

pub const FORMAT: Format = lines::format::<DiskSim>();

struct DiskSim;

impl Lines for DiskSim {
    const NAME: &'static str = "disksim";
    const ABOUT: &'static str = "DiskSim's ASCII";
    const EXPECTED: &'static str = "time in ms,device,block,sectors,flags in hex (1: read), between blanks";

    fn begin(_: &[u8], _: &Reading) -> Result<DiskSim, TraceFault> {
        Ok(DiskSim)
    }

    #[inline]
    fn line(
        &mut self,
        line: &[u8],
        devices: &mut Devices,
        into: &mut Vec<Entry>,
    ) -> Result<(), &'static str> {
        let [time, device, at, len, flags] = blanks(line).ok_or("five fields between blanks")?;
        let time = scaled(time, 1_000_000).ok_or("a time in milliseconds")?;
        whole(device).ok_or("the number of a device")?;
        let at = offset(at, 512).ok_or("a block")?;
        let len = length(len, 512).ok_or("a count of sectors, below 4 GiB")?;
        let flags = std::str::from_utf8(flags).ok().and_then(|text| u32::from_str_radix(text, 16).ok());
        let op = if flags.ok_or("flags in hex")? & 1 == 1 { Op::Read } else { Op::Write };
        into.push(Entry::new(time, devices.number(device), op, at, len));
        Ok(())
    }

    fn notes(&self) -> Vec<String> {
        vec!["taken for DiskSim's format: times are in milliseconds, odd flags are reads; --format mqsim takes nanoseconds".into()]
    }
}
