//! fio's iolog, version 3, written: `fio --read_iolog` replays it.

use std::io::{self, BufWriter, Write};

use pslc_ssd::{Nanos, Op, Request};

/// Writes requests, all of one file, as they come.
pub struct IologWriter<W: Write> {
    to: BufWriter<W>,
    name: String,
    last: u64,
}

impl<W: Write> IologWriter<W> {
    /// `name` is the file that fio is to replay it on.
    pub fn new(to: W, name: &str) -> io::Result<IologWriter<W>> {
        let mut to = BufWriter::with_capacity(256 << 10, to);
        write!(to, "fio version 3 iolog\n0 {name} add\n0 {name} open\n")?;
        Ok(IologWriter { to, name: name.to_string(), last: 0 })
    }

    /// A request at a time since the beginning.
    pub fn write(&mut self, at: Nanos, request: &Request) -> io::Result<()> {
        let (us, name) = (at.0 / 1000, &self.name);
        self.last = self.last.max(us);
        match request.op {
            Op::Flush => writeln!(self.to, "{us} {name} sync 0 0"),
            Op::Read => writeln!(self.to, "{us} {name} read {} {}", request.offset, request.len),
            Op::Write => writeln!(self.to, "{us} {name} write {} {}", request.offset, request.len),
            Op::Trim => writeln!(self.to, "{us} {name} trim {} {}", request.offset, request.len),
        }
    }

    /// The last line, and everything to where it goes.
    pub fn finish(mut self) -> io::Result<()> {
        writeln!(self.to, "{} {} close", self.last, self.name)?;
        self.to.flush()
    }
}
