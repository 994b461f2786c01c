//! Requests under way on a real drive, as another thread sees them: the one that makes them may itself wait in the system
//! for a drive that stopped answering.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use pslc_ssd::{Nanos, Op, Request};

use crate::heartbeat::{Gap, Heartbeat};

/// Time without an answer from which it is a stall of the drive. A disk's own recovery of an error takes up to 7 s, and
/// Linux gives up a request after 30 s.
pub const MIN_STALL: Nanos = Nanos::from_secs(10);

/// A request that was handed over and has not come back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outstanding {
    pub request: Request,
    /// When it was handed over, on the target's clock.
    pub since: Nanos,
}

/// A time in which requests were under way and none came back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Silence {
    /// The last answer, or when the first of these requests was handed over.
    pub since: Nanos,
    /// Until it was looked at last.
    pub lasts: Nanos,
    pub under_way: u32,
    pub oldest: Outstanding,
}

/// What the thread that makes requests notes.
#[derive(Debug)]
pub struct InFlight {
    shared: Arc<Shared>,
    slots: Arc<[Slot]>,
}

/// What any other thread may look at.
#[derive(Debug)]
pub struct Shared {
    heart: Arc<Heartbeat>,
    slots: Mutex<Arc<[Slot]>>,
    answered: AtomicU64,
    /// Why threads took the place of the system's own engine, if they did in any run so far.
    pub substitutes: OnceLock<String>,
}

/// A request's place: nothing is under way there while `since` is 0. What is read while it changes may be half of another
/// request, which a look at a silence never meets.
#[derive(Debug, Default)]
struct Slot {
    since: AtomicU64,
    op_and_len: AtomicU64,
    offset: AtomicU64,
}

const OPS: [Op; 4] = [Op::Read, Op::Write, Op::Trim, Op::Flush];

impl InFlight {
    /// `heart` knows the target's clock.
    pub fn new(heart: Arc<Heartbeat>) -> InFlight {
        let slots: Arc<[Slot]> = Arc::new([]);
        let shared = Shared {
            heart,
            slots: Mutex::new(slots.clone()),
            answered: AtomicU64::new(0),
            substitutes: OnceLock::new(),
        };
        InFlight { shared: Arc::new(shared), slots }
    }

    pub fn shared(&self) -> Arc<Shared> {
        self.shared.clone()
    }

    /// Room for so many requests, none of which is under way.
    pub fn begin(&mut self, slots: usize) {
        self.slots = (0..slots).map(|_| Slot::default()).collect();
        *self.shared.slots.lock().expect("nobody panics with it") = self.slots.clone();
    }

    #[inline]
    pub fn submitted(&self, slot: u32, request: &Request, now: Nanos) {
        let Request { op, len, offset, .. } = *request;
        let slot = &self.slots[slot as usize];
        slot.op_and_len.store((op as u64) << 32 | len as u64, Ordering::Relaxed);
        slot.offset.store(offset, Ordering::Relaxed);
        slot.since.store(now.0.max(1), Ordering::Relaxed);
    }

    #[inline]
    pub fn answered(&self, slot: u32, now: Nanos) {
        self.slots[slot as usize].since.store(0, Ordering::Relaxed);
        self.shared.answered.store(now.0, Ordering::Relaxed);
    }
}

impl Shared {
    /// The silence now; None where nothing is under way.
    pub fn look(&self) -> Option<Silence> {
        self.look_at(|since| self.heart.since(since))
    }

    /// Times in which this process did not run, of all runs so far.
    pub fn gaps(&self) -> Vec<Gap> {
        self.heart.gaps()
    }

    fn look_at(&self, time_since: impl Fn(Nanos) -> Nanos) -> Option<Silence> {
        let slots = self.slots.lock().expect("nobody panics with it").clone();
        let outstanding = || slots.iter().filter_map(Slot::outstanding);
        let oldest = outstanding().min_by_key(|of| of.since)?;
        let since = oldest.since.max(Nanos(self.answered.load(Ordering::Relaxed)));
        let under_way = outstanding().count() as u32;
        Some(Silence { since, lasts: time_since(since), under_way, oldest })
    }
}

impl Slot {
    fn outstanding(&self) -> Option<Outstanding> {
        let since = Nanos(self.since.load(Ordering::Relaxed));
        let op_and_len = self.op_and_len.load(Ordering::Relaxed);
        let (op, len) = (OPS[(op_and_len >> 32) as usize], op_and_len as u32);
        let request = Request { op, len, offset: self.offset.load(Ordering::Relaxed), fua: false };
        (since > Nanos::ZERO).then_some(Outstanding { request, since })
    }
}

/// Note a look: the last of `stalls` goes on, or a new one has begun.
pub fn note(stalls: &mut Vec<Silence>, silence: Option<Silence>) {
    let Some(silence) = silence.filter(|silence| silence.lasts >= MIN_STALL) else { return };
    match stalls.last_mut().filter(|last| last.since == silence.since) {
        Some(last) => *last = silence,
        None => stalls.push(silence),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_silence_begins_with_the_last_answer_or_with_the_first_request_after_it() {
        let mut requests = InFlight::new(Arc::new(Heartbeat::new(std::time::Instant::now())));
        let shared = requests.shared();
        requests.begin(2);
        let s = Nanos::from_secs;
        let look = |at| shared.look_at(|since| s(at).saturating_sub(since));
        let looked = |at| look(at).map(|of| (of.since, of.lasts, of.under_way, of.oldest.request.offset));
        assert_eq!(looked(5), None, "a drive that is left alone is not silent");
        requests.submitted(0, &Request::write(4096, 512), s(6));
        requests.submitted(1, &Request::write(8192, 512), s(7));
        assert_eq!(looked(8), Some((s(6), s(2), 2, 4096)));
        requests.answered(0, s(9));
        assert_eq!(looked(20), Some((s(9), s(11), 1, 8192)));
        let mut stalls = Vec::new();
        for at in [12, 19, 20, 30] {
            note(&mut stalls, look(at));
        }
        requests.answered(1, s(31));
        note(&mut stalls, look(99));
        requests.submitted(1, &Request::flush(), s(100));
        note(&mut stalls, look(110));
        assert_eq!(stalls.iter().map(|of| (of.since, of.lasts)).collect::<Vec<_>>(), [(s(9), s(21)), (s(100), s(10))]);
        assert_eq!(stalls[1].oldest.request.op, Op::Flush);
    }
}
