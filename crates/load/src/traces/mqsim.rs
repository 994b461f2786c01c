//! MQSim's ASCII: `4851300 1 524288 16 0`: time in nanoseconds, device, LBA and count in sectors of 512 bytes, 0 for a write and 1
//! for a read (`ASCIITraceWriteCode`, `ASCIITraceReadCode` in its source). DiskSim's has the same five fields, but a
//! time in milliseconds: with a point it is taken for that one.

use pslc_ssd::Op;

use super::lines::{self, Lines};
use super::number::{blanks, length, offset, whole};
use super::{Devices, Entry, Format, Reading, TraceFault};

pub const FORMAT: Format = lines::format::<MqSim>();

struct MqSim;

impl Lines for MqSim {
    const NAME: &'static str = "mqsim";
    const ABOUT: &'static str = "MQSim's ASCII";
    const EXPECTED: &'static str = "time in ns,device,LBA,sectors,0 (write) or 1 (read), between blanks";

    fn begin(_: &[u8], _: &Reading) -> Result<MqSim, TraceFault> {
        Ok(MqSim)
    }

    #[inline]
    fn line(
        &mut self,
        line: &[u8],
        devices: &mut Devices,
        into: &mut Vec<Entry>,
    ) -> Result<(), &'static str> {
        let [time, device, at, len, kind] = blanks(line).ok_or("five fields between blanks")?;
        let time = whole(time).ok_or("a time in whole nanoseconds")?;
        whole(device).ok_or("the number of a device")?;
        let at = offset(at, 512).ok_or("an LBA")?;
        let len = length(len, 512).ok_or("a count of sectors, below 4 GiB")?;
        let op = match kind {
            b"0" => Op::Write,
            b"1" => Op::Read,
            _ => return Err("0 or 1"),
        };
        into.push(Entry::new(time, devices.number(device), op, at, len));
        Ok(())
    }

    fn notes(&self) -> Vec<String> {
        vec!["taken for MQSim's format: 0 is a write and 1 a read, times are in nanoseconds; --format disksim takes milliseconds".into()]
    }
}
