//! What a host asks of a drive.

/// The kind of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    Read,
    Write,
    /// Deallocate: the data are gone and the space is the drive's again.
    Trim,
    /// Complete when every acknowledged write is in the NAND. `offset` and `len` are ignored.
    Flush,
}

/// One request; `offset` and `len` are in bytes and need not be aligned to the 4 KiB page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    pub op: Op,
    pub offset: u64,
    pub len: u32,
    /// Force unit access: a write completes only when it is in the NAND.
    pub fua: bool,
}

impl Request {
    pub fn read(offset: u64, len: u32) -> Request {
        Request { op: Op::Read, offset, len, fua: false }
    }
    pub fn write(offset: u64, len: u32) -> Request {
        Request { op: Op::Write, offset, len, fua: false }
    }
    pub fn trim(offset: u64, len: u32) -> Request {
        Request { op: Op::Trim, offset, len, fua: false }
    }
    pub fn flush() -> Request {
        Request { op: Op::Flush, offset: 0, len: 0, fua: false }
    }
}
