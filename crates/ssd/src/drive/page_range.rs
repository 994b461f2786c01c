//! Which pages a request touches.

use crate::request::Request;
use crate::units::{Lpn, MapUnit};

/// The pages that a byte range touches.
#[derive(Clone, Copy, Debug)]
pub struct PageRange {
    pub first: Lpn,
    pub count: u32,
    /// The first, the last page is covered in part only.
    pub ragged: (bool, bool),
}

impl PageRange {
    /// Whole pages.
    pub fn whole(first: Lpn, count: u32) -> PageRange {
        PageRange { first, count, ragged: (false, false) }
    }

    pub fn is_whole(&self) -> bool {
        self.ragged == (false, false)
    }

    #[inline]
    pub fn of(request: &Request, unit: MapUnit) -> PageRange {
        let end = request.offset + request.len as u64;
        let first = unit.whole(request.offset);
        let last = unit.needed(end);
        PageRange {
            first: Lpn(first as u32),
            count: (last - first) as u32,
            ragged: (!unit.begins_at(request.offset), !unit.begins_at(end)),
        }
    }
}
