//! MSR Cambridge: `128166372003061629,usr,0,Read,7014609920,24576,41286`. Times are FILETIME, in 100 ns since 1601, as are
//! responses. (Narayanan, Donnelly, Rowstron: Write Off-Loading, FAST 2008; the traces' own README.)

use pslc_ssd::Nanos;

use super::lines::{self, Lines};
use super::number::{commas, length, offset, read_or_write, scaled};
use super::{Devices, Entry, Format, Reading, TraceFault};

pub const FORMAT: Format = lines::format::<Msr>();

#[derive(Default)]
struct Msr {
    /// Of the device: host and disk.
    name: Vec<u8>,
}

impl Lines for Msr {
    const NAME: &'static str = "msr";
    const ABOUT: &'static str = "MSR Cambridge";
    const EXPECTED: &'static str = "FILETIME,host,disk,Read or Write,offset,bytes,response in 100 ns";

    fn begin(_: &[u8], _: &Reading) -> Result<Msr, TraceFault> {
        Ok(Msr::default())
    }

    #[inline]
    fn line(
        &mut self,
        line: &[u8],
        devices: &mut Devices,
        into: &mut Vec<Entry>,
    ) -> Result<(), &'static str> {
        let [time, host, disk, kind, at, len, took] = commas(line).ok_or("seven fields between commas")?;
        let time = scaled(time, 100).ok_or("a time in 100 ns")?;
        let op = read_or_write(kind).ok_or("Read or Write")?;
        let at = offset(at, 1).ok_or("an offset in bytes")?;
        let len = length(len, 1).ok_or("a size in bytes, below 4 GiB")?;
        let took = scaled(took, 100).ok_or("a response time in 100 ns")?;
        self.name.clear();
        self.name.extend_from_slice(host);
        self.name.push(b'.');
        self.name.extend_from_slice(disk);
        let device = devices.number(&self.name);
        into.push(Entry { took: Nanos(took), ..Entry::new(time, device, op, at, len) });
        Ok(())
    }
}
