//! SYSTOR '17: `1456127962.023491,0.000259,R,3,3374317568,4096` after a line of names: time and response in seconds, kind, LUN,
//! offset and size in bytes. (Lee et al.: Understanding Storage Traffic Characteristics on Enterprise Virtual Desktop
//! Infrastructure, SYSTOR 2017; SNIA IOTTA 4928.) Trims and flushes are not in it; an empty kind is left out.

use pslc_ssd::Nanos;

use super::lines::{self, Lines};
use super::number::{commas, length, offset, read_or_write, scaled, whole};
use super::{Devices, Entry, Format, Reading, TraceFault};

pub const FORMAT: Format = lines::format::<Systor>();

struct Systor;

impl Lines for Systor {
    const NAME: &'static str = "systor17";
    const ABOUT: &'static str = "SYSTOR '17, a VDI of an enterprise";
    const EXPECTED: &'static str = "time in s,response in s,R or W,LUN,offset,bytes";

    fn begin(_: &[u8], _: &Reading) -> Result<Systor, TraceFault> {
        Ok(Systor)
    }

    #[inline]
    fn line(
        &mut self,
        line: &[u8],
        devices: &mut Devices,
        into: &mut Vec<Entry>,
    ) -> Result<(), &'static str> {
        let [time, took, kind, lun, at, len] = commas(line).ok_or("six fields between commas")?;
        if time == b"Timestamp" {
            return Ok(());
        }
        // There was no answer, so nobody knows what it was.
        if kind.is_empty() {
            return Ok(());
        }
        let time = scaled(time, 1_000_000_000).ok_or("a time in seconds")?;
        let op = read_or_write(kind).ok_or("R or W")?;
        let took = match took {
            [] => 0,
            took => scaled(took, 1_000_000_000).ok_or("a response time in seconds")?,
        };
        whole(lun).ok_or("the number of a LUN")?;
        let at = offset(at, 1).ok_or("an offset in bytes")?;
        let len = length(len, 1).ok_or("a size in bytes, below 4 GiB")?;
        into.push(Entry { took: Nanos(took), ..Entry::new(time, devices.number(lun), op, at, len) });
        Ok(())
    }
}
