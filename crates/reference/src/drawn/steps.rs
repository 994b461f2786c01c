//! Random requests, and times without any.

use proptest::prelude::*;
use pslc_ssd::{Nanos, Request};

use super::DRAWN;

#[derive(Clone, Debug)]
pub enum Step {
    Ask { after: u64, op: u8, page: Option<u32>, pages: u32, ragged: bool, direct: bool },
    Wait { millis: u64, looked_at: bool },
}

pub fn steps() -> impl Strategy<Value = Vec<Step>> {
    // Most requests go to a few places, so that they meet; `None` goes on where the last one ended.
    let page = prop_oneof![4 => (0u32..960).prop_map(Some), 2 => (0u32..40_000).prop_map(Some), 3 => Just(None)];
    let pages = prop_oneof![1u32..4, 1u32..120];
    let ask = (prop_oneof![9 => 0u64..400_000, 1 => Just(0)], 0u8..20, page, pages, 0u8..10, any::<bool>()).prop_map(
        |(after, op, page, pages, ragged, direct)| Step::Ask { after, op, page, pages, ragged: ragged == 0, direct },
    );
    let wait = (prop_oneof![8 => 1u64..60, 1 => 100u64..2500, 1 => 5_000u64..60_000], any::<bool>())
        .prop_map(|(millis, looked_at)| Step::Wait { millis, looked_at });
    prop::collection::vec(prop_oneof![30 => ask, 1 => wait], 1..260)
}

pub fn numbers() -> impl Strategy<Value = Vec<u32>> {
    prop::collection::vec(0u32..1000, DRAWN.len())
}

/// The requests of the steps, with their times.
pub fn requests(steps: &[Step], capacity: u64) -> Vec<Event> {
    let total = (capacity / 4096) as u32;
    let (mut now, mut next) = (Nanos::ZERO, 0);
    let event = |step: &Step| match *step {
        Step::Wait { millis, looked_at } => {
            now += Nanos::from_millis(millis);
            Event { now, request: None, direct: false, looked_at }
        }
        Step::Ask { after, op, page, pages, ragged, direct } => {
            now += Nanos(after);
            let first = page.unwrap_or(next) % total;
            let pages = pages.min(total - first);
            next = first + pages;
            let (mut offset, mut len) = (first as u64 * 4096, pages * 4096);
            if ragged {
                offset += 512;
                len -= 1024;
            }
            let request = match op {
                0..=10 => Request { fua: op == 0, ..Request::write(offset, len) },
                11..=17 => Request::read(offset, len),
                18 => Request::trim(offset, len),
                _ => Request::flush(),
            };
            Event { now, request: Some(request), direct, looked_at: false }
        }
    };
    steps.iter().map(event).collect()
}

pub struct Event {
    pub now: Nanos,
    pub request: Option<Request>,
    pub direct: bool,
    pub looked_at: bool,
}
