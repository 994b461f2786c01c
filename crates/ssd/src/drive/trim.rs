//! Trims: the data of whole pages are gone.

use super::page_range::PageRange;
use super::Drive;
use crate::request::Request;
use crate::units::{Lpn, Nanos};

impl Drive {
    /// Only pages that the range covers whole are deallocated.
    pub(super) fn trim(&mut self, taken: Nanos, request: &Request) -> Nanos {
        self.host_trim_bytes += request.len as u64;
        let first = self.unit().needed(request.offset);
        let end = self.unit().whole(request.offset + request.len as u64);
        if first >= end {
            return taken;
        }
        self.unflushed = true;
        let pages = PageRange::whole(Lpn(first as u32), (end - first) as u32);
        self.ftl.trim(pages.first, pages.count);
        if let Some(ahead) = &mut self.read_ahead {
            ahead.forget(pages.first, pages.count);
        }
        taken
    }
}
