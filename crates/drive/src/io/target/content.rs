//! What requests write, and whether what they read is what was written.

use pslc_load::verify::Stamp;
use pslc_load::{Purpose, TargetError, Verdict};
use pslc_ssd::Request;

use super::RealTarget;

impl RealTarget {
    /// What a slot writes.
    pub(super) fn fill(&mut self, at: u32) {
        let slot = &mut self.slots[at as usize];
        let buffer = self.arena.as_mut().expect("a run has begun").buffer(at);
        let (offset, len) = (slot.request.offset, slot.request.len as usize);
        if let (Purpose::Write(number), Some(verify)) = (slot.purpose, &self.verifying[slot.worker as usize]) {
            let worker = (slot.worker + 1) as u16;
            let seed = self.maker.seed_of(worker, number);
            let at = self.clock.now();
            let stamp = Stamp { offset, seed, at, worker, number: number as u16 };
            return verify.fill(&mut buffer[..len], &stamp);
        }
        let data = &self.data[slot.worker as usize];
        if !std::mem::replace(&mut slot.primed, true) {
            self.maker.prime(buffer, data);
        }
        self.maker.make(&mut buffer[..len], data);
    }

    /// Whether what a slot has read is what was written.
    pub(super) fn compare(&mut self, at: u32, number: Option<u64>) -> Verdict {
        let slot = self.slots[at as usize];
        let Some(verify) = &self.verifying[slot.worker as usize] else { return Verdict::Unseen };
        let Request { offset, len, .. } = slot.request;
        let buffer = self.arena.as_mut().expect("a run has begun").buffer(at);
        match verify.check(&mut buffer[..len as usize], offset, number.map(|number| number as u16)) {
            Ok(0) => Verdict::Unseen,
            Ok(blocks) => Verdict::Right { blocks },
            Err(failure) => {
                self.failures.push((at, TargetError::Corrupt { offset, len, failure }));
                Verdict::Wrong
            }
        }
    }
}
