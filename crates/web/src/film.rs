//! Pictures of the superblocks from time to time: few enough for a page, however long the run.

use pslc_load::job::Job;
use pslc_load::{Completion, SimTarget, Target, TargetError};
use pslc_ssd::{CellMode, Drive, Nanos, Pace, Request, Waits};

/// Pictures at most; with more, every other one is dropped.
const MAX_FRAMES: usize = 240;

/// A byte a superblock: what it is, and how much of it is valid, in 31sts.
const SLC: u8 = 0x40;
const NATIVE: u8 = 0x80;
const OPEN: u8 = 0x20;
const VALID_STEPS: u64 = 31;

/// The superblocks at a time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    pub at: Nanos,
    /// Bytes that the host had read and written.
    pub moved_bytes: u64,
    /// A byte each: 0 where it is free, else `SLC` or `NATIVE`, `OPEN` while it is filled, and the share that is valid.
    pub superblocks: Vec<u8>,
}

#[derive(Clone, Debug, Default)]
pub struct Film {
    pub frames: Vec<Frame>,
    /// Looks at the drive between two pictures, and since the last.
    stride: u32,
    looks: u32,
}

impl Film {
    fn look(&mut self, drive: &Drive, at: Nanos, moved_bytes: u64) {
        self.looks += 1;
        let is_new = self.frames.last().is_none_or(|frame| frame.moved_bytes < moved_bytes || frame.at < at);
        if self.looks <= self.stride || !is_new {
            return;
        }
        self.looks = 0;
        self.frames.push(Frame { at, moved_bytes, superblocks: picture(drive) });
        if self.frames.len() > MAX_FRAMES {
            let mut index = 0;
            self.frames.retain(|_| {
                index += 1;
                index % 2 == 1
            });
            self.stride = 2 * self.stride + 1;
        }
    }

    /// All pictures, one behind the other.
    pub fn bytes(&self) -> Vec<u8> {
        self.frames.iter().flat_map(|frame| frame.superblocks.iter().copied()).collect()
    }
}

fn picture(drive: &Drive) -> Vec<u8> {
    drive
        .superblocks()
        .map(|superblock| {
            if superblock.is_free() {
                return 0;
            }
            let kind = if superblock.mode == CellMode::Native { NATIVE } else { SLC };
            let pages = drive.superblock_pages(superblock.mode).max(1);
            let open = if superblock.is_open() { OPEN } else { 0 };
            kind | open | (superblock.valid as u64 * VALID_STEPS / pages).min(VALID_STEPS) as u8
        })
        .collect()
}

/// A drive under a camera: whenever it is sampled, so may be a picture.
pub struct Filmed<'a> {
    pub target: &'a mut SimTarget,
    pub film: Film,
}

impl Filmed<'_> {
    fn look(&mut self, sampled: &[u64]) {
        let moved = |name: &str| {
            self.target.columns().iter().position(|column| *column == name).map_or(0, |column| sampled[column])
        };
        let moved_bytes = moved("host_write_bytes_total") + moved("host_read_bytes_total");
        let at = self.target.now();
        self.film.look(self.target.drive(), at, moved_bytes);
    }
}

impl Target for Filmed<'_> {
    const CAN_CUT_PAUSES: bool = SimTarget::CAN_CUT_PAUSES;

    fn begin(&mut self, slots: &[&Job], largest: u32) -> Result<(), TargetError> {
        self.target.begin(slots, largest)
    }

    fn skip_waits(&mut self) {
        self.target.skip_waits();
    }

    fn end(&mut self) {
        self.target.end();
    }

    fn capacity_bytes(&self) -> u64 {
        self.target.capacity_bytes()
    }

    fn block_bytes(&self) -> u32 {
        self.target.block_bytes()
    }

    fn now(&mut self) -> Nanos {
        self.target.now()
    }

    fn unwritten(&self, offset: u64, len: u64) -> Vec<(u64, u64)> {
        self.target.unwritten(offset, len)
    }

    #[inline]
    fn submit(&mut self, slot: u32, request: &Request) -> Result<(), TargetError> {
        self.target.submit(slot, request)
    }

    #[inline]
    fn next(&mut self, until: Nanos) -> Result<Option<Completion>, TargetError> {
        self.target.next(until)
    }

    fn waits(&self) -> Option<&Waits> {
        self.target.waits()
    }

    fn cache_bytes(&self) -> Option<u64> {
        self.target.cache_bytes()
    }

    fn invalidate(&mut self, offset: u64, len: u64) {
        self.target.invalidate(offset, len);
    }

    #[inline]
    fn prepare(&self, request: &Request) {
        self.target.prepare(request);
    }

    fn columns(&self) -> &'static [&'static str] {
        self.target.columns()
    }

    fn moved_paces(&self) -> [Option<Pace>; 2] {
        self.target.moved_paces()
    }

    fn sample(&mut self, into: &mut [u64]) {
        self.target.sample(into);
        self.look(into);
    }

    fn sample_at(&mut self, at: Nanos, into: &mut [u64]) {
        self.target.sample_at(at, into);
        self.look(into);
    }

    fn peek(&mut self, into: &mut [u64]) {
        self.target.peek(into);
    }

    fn sample_begun(&mut self, into: &mut [u64]) {
        self.target.sample_begun(into);
        self.look(into);
    }
}
