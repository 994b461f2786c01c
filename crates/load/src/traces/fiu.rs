//! FIU's: `0 4892 syslogd 904265560 8 W 6 0 531e779d...`: time in nanoseconds, process id and name, LBA and count in sectors of
//! 512 bytes, kind, major and minor number of the device, MD5 of the content. (Koller, Rangaswami: I/O Deduplication,
//! FAST 2010; SNIA IOTTA 391.) There may be no hash, or several: the traces of homes have one for each 512 bytes.

use super::lines::{self, Lines};
use super::number::{length, offset, read_or_write, scaled, whole, words};
use super::{Devices, Entry, Format, Reading, TraceFault};

pub const FORMAT: Format = lines::format::<Fiu>();

#[derive(Default)]
struct Fiu {
    /// Of the device: its numbers.
    name: Vec<u8>,
}

impl Lines for Fiu {
    const NAME: &'static str = "fiu";
    const ABOUT: &'static str = "FIU: mail, web-vm, home";
    const EXPECTED: &'static str =
        "time in ns,process id,process,LBA,sectors,R or W,major,minor,hash, between blanks";

    fn begin(_: &[u8], _: &Reading) -> Result<Fiu, TraceFault> {
        Ok(Fiu::default())
    }

    #[inline]
    fn line(
        &mut self,
        line: &[u8],
        devices: &mut Devices,
        into: &mut Vec<Entry>,
    ) -> Result<(), &'static str> {
        let mut words = words(line);
        let mut word = || words.next().ok_or("eight fields or more between blanks");
        let (time, process, _, at) = (word()?, word()?, word()?, word()?);
        let (len, kind, major, minor) = (word()?, word()?, word()?, word()?);
        let time = scaled(time, 1).ok_or("a time in nanoseconds")?;
        whole(process).ok_or("the number of a process")?;
        let at = offset(at, 512).ok_or("an LBA")?;
        let len = length(len, 512).ok_or("a count of sectors, below 4 GiB")?;
        let op = read_or_write(kind).ok_or("R or W")?;
        whole(major).and(whole(minor)).ok_or("major and minor number of a device")?;
        self.name.clear();
        self.name.extend_from_slice(major);
        self.name.push(b',');
        self.name.extend_from_slice(minor);
        into.push(Entry::new(time, devices.number(&self.name), op, at, len));
        Ok(())
    }
}
