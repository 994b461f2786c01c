//! A drive in a run: writes that repeat those of a cycle before are answered from it, and what they did to the timing is
//! worked out when somebody looks.

use super::idle::LONGEST_AT_ONCE;
use super::page_range::PageRange;
use super::{Ahead, Drive};
use crate::cycle_cache::{CycleCache, CycleCounters, Hint, PendingCycles};
use crate::request::{Op, Request};
use crate::units::Nanos;
use crate::waits::Waits;

/// A drive, and the cycle that its writes are in.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct CyclingDrive {
    /// Behind by the writes that were answered from the cycle and have not been worked out.
    drive: Drive,
    /// In a run, where writes can repeat.
    #[serde(skip)]
    cycles: Option<Box<CycleCache>>,
}

impl CyclingDrive {
    pub fn new(drive: Drive) -> CyclingDrive {
        CyclingDrive { drive, cycles: None }
    }

    /// The drive. While writes are pending only its clock, its size, its maps and what they count are as they will be.
    #[inline]
    pub fn drive(&self) -> &Drive {
        &self.drive
    }

    /// The drive, with nothing pending.
    #[inline]
    pub fn drive_mut(&mut self) -> &mut Drive {
        self.apply_pending();
        &mut self.drive
    }

    /// Many requests follow, and nobody will ask for [`Drive::waits`]. Until [`CyclingDrive::end_run`] writes that repeat
    /// those of a cycle before are answered from it.
    pub fn begin_run(&mut self) {
        self.drive.tells = false;
        self.cycles = self.drive.writes_can_repeat().then(Box::default);
    }

    pub fn end_run(&mut self) {
        self.apply_pending();
        self.cycles = None;
        self.drive.tells = true;
        let (account, share) = (&self.drive.nand.account, self.drive.link.share_permille());
        self.drive.waits.look(account, share, 15);
    }

    /// Work out the writes that were answered from a cycle.
    #[inline]
    pub fn apply_pending(&mut self) {
        if let Some(cycles) = &mut self.cycles {
            self.drive.apply_pending(cycles);
        }
    }

    /// As [`Drive::sample`], with what is pending.
    pub fn sample(&self, now: Nanos, into: &mut [u64]) {
        match self.cycles.as_ref().and_then(|cycles| cycles.ahead()) {
            Some((counters, held)) => self.drive.sample_ahead(Ahead { now, counters, held }, into),
            None => self.drive.sample(now, into),
        }
    }

    /// Look at what requests spent their time on since the last time, with what is pending.
    pub fn look(&self, waits: &mut Waits) {
        let (account, share) = (&self.drive.nand.account, self.drive.link.share_permille());
        match self.cycles.as_ref().and_then(|cycles| cycles.account_ahead()) {
            Some(ahead) => waits.look(&account.plus(&ahead, 1), share, 0),
            None => waits.look(account, share, 0),
        }
    }

    /// Panics where writes are pending: whoever looks at the drive works them out before.
    pub fn assert_no_pending(&self) {
        let pending = self.cycles.as_ref().is_some_and(|cycles| cycles.has_pending());
        assert!(!pending, "a drive in a run catches up before it is looked at");
    }

    /// Writes of this run that were answered from a cycle before.
    pub fn repeated(&self) -> u64 {
        self.cycles.as_ref().map_or(0, |cycles| cycles.answered())
    }

    /// As [`Drive::submit`].
    #[inline]
    pub fn submit(&mut self, now: Nanos, request: &Request) -> Nanos {
        let Some(cycles) = &mut self.cycles else { return self.drive.submit(now, request) };
        if request.op != Op::Write && (cycles.is_abandoned() || self.drive.ignores(request)) {
            return self.drive.submit(now, request);
        }
        self.drive.assert_fits(request);
        if self.drive.warms_at(now) {
            self.drive.warm_in_cycle(cycles, now);
        }
        let pages = PageRange::of(request, self.drive.unit());
        if self.drive.is_cacheable(now, request, &pages) {
            return self.drive.write_in_cycle(cycles, now, request.len, &pages);
        }
        self.drive.apply_pending(cycles);
        cycles.abandon();
        self.drive.submit(now, request)
    }

    /// As [`Drive::submit_late`].
    pub fn submit_late(&mut self, now: Nanos, request: &Request) -> Nanos {
        self.submit(now.max(self.drive.now), request)
    }

    /// As [`Drive::advance`].
    #[inline]
    pub fn advance(&mut self, now: Nanos) {
        self.drive_mut().advance(now);
    }
}

impl Drive {
    /// Whether its writes do no more than their number of pages tells.
    fn writes_can_repeat(&self) -> bool {
        self.map_cache.is_none() && self.controller.write_cache && !self.usb.bulk_only && !self.ftl.predicts()
    }

    /// Whether this is a write of whole pages that go to one superblock, while the drive has nothing else to do; where
    /// rewrites are merged, one of a single unit may go nowhere.
    #[inline]
    fn is_cacheable(&self, now: Nanos, request: &Request, pages: &PageRange) -> bool {
        request.op == Op::Write
            && !request.fua
            && pages.is_whole()
            && pages.count > self.controller.merges_rewrites as u32
            && now >= self.now
            && now <= self.silent_since
            && self.heat.as_ref().is_none_or(|heat| now < heat.due)
            && self.ftl.plain_pointer(pages.count).is_some()
    }

    /// Whether a step of the temperature is due, and the drive has done nothing but requests since it was last called.
    #[inline]
    fn warms_at(&self, now: Nanos) -> bool {
        let is_due = self.heat.as_ref().is_some_and(|heat| now >= heat.due);
        is_due && now <= self.silent_since && now <= self.now + LONGEST_AT_ONCE
    }

    /// The step of the temperature: a cycle, which is often longer than a step, goes on unless the link becomes slower or
    /// faster by it.
    #[inline(never)]
    fn warm_in_cycle(&mut self, cycles: &mut CycleCache, now: Nanos) {
        let ahead = cycles.ahead().map_or(Nanos::ZERO, |(counters, _)| counters.programming);
        let energy_nj = self.energy_nj(now, ahead);
        let Some(share) = self.heat.as_mut().and_then(|heat| heat.step(now, energy_nj)) else { return };
        self.apply_pending(cycles);
        cycles.abandon();
        self.link.set_share(share);
    }

    /// Such a write: mapped at once, and answered from the cycle where it repeats one.
    #[inline]
    fn write_in_cycle(&mut self, cycles: &mut CycleCache, now: Nanos, len: u32, pages: &PageRange) -> Nanos {
        self.map_write(now, len, pages);
        // What was overwritten may have freed what the policy waits for.
        let throttled = self.ftl.is_throttled();
        let latency = if throttled { None } else { cycles.answer(now, len) };
        let done = match latency {
            Some(latency) => now + latency,
            None => self.write_out_of_cycle(cycles, now, len, throttled),
        };
        self.now = now;
        self.silent_since = self.silent_since.max(done);
        done
    }

    /// A write that does not go on a known cycle: it may begin one.
    fn write_out_of_cycle(&mut self, cycles: &mut CycleCache, now: Nanos, len: u32, throttled: bool) -> Nanos {
        self.apply_pending(cycles);
        if throttled || cycles.is_repeating() {
            cycles.abandon();
        }
        if !throttled && self.matches_cycle(cycles, now, len) {
            if let Some(latency) = cycles.answer(now, len) {
                return now + latency;
            }
        }
        let done = self.program_write(now, len, throttled);
        if cycles.is_recording() {
            self.buffer.let_go(&self.nand, now);
            let held = self.buffer.held(&self.nand, now);
            cycles.record(now, len, done - now, (self.cycle_counters(), &self.nand.account), held);
        }
        done
    }

    /// Whether a cycle begins with such a write in the state that the drive is in.
    fn matches_cycle(&self, cycles: &mut CycleCache, now: Nanos, len: u32) -> bool {
        let counted = (self.cycle_counters(), &self.nand.account);
        cycles.detect(now, len, counted, self.cycle_hint(now), |state| {
            self.timing_relative_to(now, state);
        })
    }

    fn cycle_counters(&self) -> CycleCounters {
        CycleCounters {
            units: self.buffer.units(),
            waited: self.buffer.waited,
            link: self.link.busy(),
            programming: self.nand.programming,
        }
    }

    fn cycle_hint(&self, now: Nanos) -> Hint {
        let die = self.ftl.host_die();
        let busy = self.nand.register_free_at(die).saturating_sub(now);
        [self.silent_since.saturating_sub(now).0, self.buffer.room() as u64, die as u64, busy.0]
    }

    /// All that times a write, relative to `now`.
    fn timing_relative_to(&self, now: Nanos, state: &mut Vec<u64>) {
        state.push(self.waking.timing_relative_to(now));
        self.cores.timing_relative_to(now, state);
        self.link.timing_relative_to(now, state);
        self.ftl.timing_relative_to(now, state);
        self.buffer.timing_relative_to(&self.nand, now, state);
        self.nand.timing_relative_to(now, state);
    }

    /// Work out the writes that were answered from the cycle: whole cycles at once, then the rest.
    #[inline(always)]
    fn apply_pending(&mut self, cycles: &mut CycleCache) {
        if cycles.has_pending() {
            self.apply_answered(cycles);
        }
    }

    #[inline(never)]
    fn apply_answered(&mut self, cycles: &mut CycleCache) {
        let now = self.now;
        let pending = cycles.take_pending();
        if pending.span > Nanos::ZERO {
            self.apply_cycles(&pending);
        }
        for step in pending.steps {
            let done = self.program_write(step.at, step.len, false);
            debug_assert_eq!(done, step.at + step.latency);
        }
        self.now = now;
        self.nand.forget_before(now);
    }

    fn apply_cycles(&mut self, pending: &PendingCycles) {
        let PendingCycles { span, counters, .. } = *pending;
        let account = self.nand.account.plus(&pending.account, 1);
        let since = self.nand.horizon();
        self.ftl.shift_timing(span, counters.units);
        self.buffer.shift_timing(&self.nand, span, counters.units);
        self.buffer.waited += counters.waited;
        self.link.shift_timing(since, span);
        self.link.work(&counters.link);
        self.nand.shift_timing(since, span, counters.units);
        self.nand.programming += counters.programming;
        self.nand.account = account;
        self.cores.shift_timing(span);
    }
}
