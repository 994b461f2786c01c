//! One die as a timeline: what its array does when.
//!
//! Programs, erases and the drive's own reads queue in the order they were asked for. A host read goes before all of
//! them, and suspends the one in progress where the NAND can; what it delays moves later as a whole:
//!
//! ```text
//!   asked for      |--- program ---||--- program ---|
//!   host read                ^
//!   no suspend     |--- program ---|[R]|--- program ---|
//!   suspend        |--- pro s[R]s gram ---||--- program ---|
//! ```

use crate::config::Suspend;
use crate::consistency::{ensure, ensure_counters, Consistency};
use crate::timeline::forget;
use crate::units::Nanos;
use crate::waits::Cause;

/// What the array does behind the host's back, in the order asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Internal {
    Read,
    Program,
    Erase,
}

#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
struct Window {
    start: Nanos,
    end: Nanos,
    kind: Internal,
    suspended: u32,
    /// What for.
    cause: Cause,
}

/// The number of a internal operation on its die, in the order asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Ticket(u64);

impl Ticket {
    /// The one so many later.
    pub fn later(self, by: u64) -> Ticket {
        Ticket(self.0 + by)
    }
}

#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct Die {
    /// The channel that it is on.
    pub channel: u32,
    /// Internal operations, in order, disjoint.
    windows: Vec<Window>,
    /// Start of the last of them.
    last_start: Nanos,
    /// When the array has nothing left to do.
    free_at: Nanos,
    /// Ticket of the first of them.
    first: u64,
    /// Start and end of the last host reads that are together.
    read_start: Nanos,
    read_end: Nanos,
    /// The internal operation that the last host read suspended.
    suspending: Option<u64>,
    /// Until when host reads last waited for an internal operation, and what it was for.
    pub blocked: (Nanos, Cause),
}

/// Operations that are remembered even when they are past, for what they were for.
const REMEMBERED: usize = 32;

impl Die {
    /// A die on that channel.
    pub fn on(channel: u32) -> Die {
        Die { channel, ..Die::default() }
    }

    pub fn check(&self) -> Consistency {
        let ends = self.windows.iter().map(|window| window.end);
        let before = std::iter::once(Nanos::ZERO).chain(ends);
        let ordered = self.windows.iter().zip(before).all(|(w, before)| before <= w.start && w.start <= w.end);
        let last = self.windows.last().is_none_or(|last| last.start == self.last_start && last.end <= self.free_at);
        let reads = self.read_start <= self.read_end && self.read_end <= self.free_at;
        let suspending = self.suspending.is_none_or(|ticket| self.has_queued(Ticket(ticket)));
        let causes = self.windows.iter().map(|window| window.cause).chain([self.blocked.1]);
        ensure(ordered && last && reads && suspending && causes.into_iter().all(Cause::is_work), "dies")?;
        ensure_counters(&[self.first], "dies")
    }

    /// Whether that is the ticket of something that was asked for.
    pub fn has_queued(&self, ticket: Ticket) -> bool {
        ticket.0.checked_sub(self.first).is_none_or(|at| at < self.windows.len() as u64)
    }

    /// From when data can be loaded for another program: the register is free once the last operation has begun.
    #[inline]
    pub fn register_free_at(&self) -> Nanos {
        self.last_start
    }

    /// When the array has nothing left to do.
    pub fn free_at(&self) -> Nanos {
        self.free_at
    }

    /// Queue an internal operation that may start at `ready`, and what it is for; returns its ticket and its end as things
    /// stand.
    #[inline(always)]
    pub fn queue(
        &mut self,
        horizon: Nanos,
        ready: Nanos,
        time: Nanos,
        kind: Internal,
        cause: Cause,
    ) -> (Ticket, Nanos) {
        let start = self.free_at.max(ready);
        let end = start + time;
        self.last_start = start;
        self.free_at = end;
        if self.windows.len() == self.windows.capacity() {
            let recent = self.windows.len().checked_sub(REMEMBERED).map_or(Nanos::ZERO, |at| self.windows[at].start);
            self.first += forget(&mut self.windows, |window| window.end <= horizon.min(recent)) as u64;
        }
        let ticket = Ticket(self.first + self.windows.len() as u64);
        self.windows.push(Window { start, end, kind, suspended: 0, cause });
        (ticket, end)
    }

    /// What it will be at after `now`, and how long its last reads go on.
    pub fn timing_relative_to(&self, now: Nanos, into: &mut Vec<u64>) {
        let ahead = self.windows.iter().rev().take_while(|window| window.end > now);
        for Window { start, end, kind, suspended, .. } in ahead {
            let what = (*kind as u64) << 32 | *suspended as u64;
            into.extend([start.saturating_sub(now).0, (*end - now).0, what]);
        }
        let ends = [self.last_start, self.free_at, self.read_end];
        into.push(u64::MAX);
        into.extend(ends.map(|end| end.saturating_sub(now).0));
    }

    /// So many more operations have been queued, and all that are not past at `now` are later by `span`. Reads are past.
    pub fn shift_timing(&mut self, now: Nanos, span: Nanos, queued: u64) {
        let past = self.windows.partition_point(|window| window.end <= now);
        self.windows.drain(..past);
        self.first += past as u64 + queued;
        for window in &mut self.windows {
            window.start += span;
            window.end += span;
        }
        self.last_start += span;
        self.free_at += span;
    }

    /// How many operations have been queued after this one, itself counted.
    pub fn queued_since(&self, ticket: Ticket) -> u64 {
        self.first + self.windows.len() as u64 - ticket.0
    }

    /// From when on the array is not at host reads.
    #[inline]
    pub fn reads_end(&self) -> Nanos {
        self.read_end
    }

    /// How long a host read that was ready, whose die was done with reads before it at `reads`, and that has begun, waited for
    /// what the die did for the drive itself: by itself, or behind reads that did; and what it was for mostly.
    #[inline(never)]
    pub fn blocked_by(&mut self, ready: Nanos, reads: Nanos, begun: Nanos) -> (Nanos, Cause) {
        let (asked, (until, by)) = (ready.max(reads), self.blocked);
        let behind = until.min(asked).saturating_sub(ready);
        if begun <= asked {
            return (behind, by);
        }
        let (itself, cause) = (begun - asked, self.cause_at(asked));
        self.blocked = (begun, cause);
        (behind + itself, if itself >= behind { cause } else { by })
    }

    /// What the array is at, or does next.
    pub fn cause_at(&self, time: Nanos) -> Cause {
        self.windows.get(self.first_after(time)).map_or(Cause::Reading, |window| window.cause)
    }

    /// When a internal operation ends, as things stand; zero once it is past.
    #[inline]
    pub fn end_of(&self, ticket: Ticket) -> Nanos {
        match ticket.0.checked_sub(self.first) {
            Some(at) => self.windows[at as usize].end,
            None => Nanos::ZERO,
        }
    }

    /// Whether an internal operation has begun at `now`.
    pub fn has_begun(&self, ticket: Ticket, now: Nanos) -> bool {
        match ticket.0.checked_sub(self.first) {
            Some(at) => self.windows[at as usize].start <= now,
            None => true,
        }
    }

    /// Read for the host at or after `ready` on planes that read by themselves: beside reads of other planes, which the
    /// array is at already, no internal operation is suspended anew; it goes on when the last of them has ended.
    #[inline]
    pub fn plane_read(&mut self, ready: Nanos, time: Nanos, suspend: Option<&Suspend>) -> Nanos {
        if ready >= self.read_end {
            return self.host_read(ready, time, suspend);
        }
        let end = ready.max(self.read_start) + time;
        if end > self.read_end {
            let suspended = self.suspending.and_then(|ticket| ticket.checked_sub(self.first));
            let next = match suspended {
                Some(at) => {
                    let window = &mut self.windows[at as usize];
                    window.end += end - self.read_end;
                    let resumed = window.end;
                    self.delay_from(at as usize + 1, resumed);
                    None
                }
                None => Some(self.first_after(self.read_end)),
            };
            if let Some(at) = next {
                self.delay_from(at, end);
            }
            self.read_end = end;
            self.follow();
        }
        end
    }

    /// Read for the host at or after `ready`; returns when the data are in the register.
    #[inline(always)]
    pub fn host_read(&mut self, ready: Nanos, time: Nanos, suspend: Option<&Suspend>) -> Nanos {
        let earliest = ready.max(self.read_end);
        if self.windows.last().is_none_or(|last| last.end <= earliest) {
            self.read_start = earliest;
            self.read_end = earliest + time;
            self.free_at = self.read_end;
            self.suspending = None;
            return self.read_end;
        }
        self.read_among(earliest, time, suspend)
    }

    /// The same where operations end after `earliest`.
    #[inline(never)]
    fn read_among(&mut self, earliest: Nanos, time: Nanos, suspend: Option<&Suspend>) -> Nanos {
        let at = self.first_after(earliest);
        let ticket = self.first + at as u64;
        let window = &mut self.windows[at];
        let end = if window.start > earliest {
            self.suspending = None;
            let end = earliest + time;
            self.delay_from(at, end);
            end
        } else if self.suspending == Some(ticket) && earliest == self.read_end {
            let end = earliest + time;
            window.end += time;
            let resumed = window.end;
            self.delay_from(at + 1, resumed);
            end
        } else if let Some(cost) = suspend_cost(window, suspend) {
            let end = earliest + cost + time;
            window.end += cost + time + cost;
            window.suspended += 1;
            let resumed = window.end;
            self.suspending = Some(ticket);
            self.delay_from(at + 1, resumed);
            end
        } else {
            self.suspending = None;
            let end = window.end + time;
            self.delay_from(at + 1, end);
            end
        };
        self.read_start = end - time;
        self.read_end = end;
        self.follow();
        end
    }

    /// What comes next follows the last host read, and what that has delayed.
    fn follow(&mut self) {
        self.free_at = self.read_end;
        if let Some(last) = self.windows.last() {
            self.last_start = last.start;
            self.free_at = self.free_at.max(last.end);
        }
    }

    /// Position of the first operation that ends after `time`; most of them are past.
    #[inline]
    fn first_after(&self, time: Nanos) -> usize {
        self.windows.iter().rposition(|window| window.end <= time).map_or(0, |before| before + 1)
    }

    /// Whether the last host read suspended something.
    pub fn suspended(&self) -> bool {
        self.suspending.is_some()
    }

    /// Move the operations from position `at` on so that none starts before `earliest`.
    fn delay_from(&mut self, at: usize, mut earliest: Nanos) {
        for window in &mut self.windows[at..] {
            if window.start >= earliest {
                break;
            }
            let time = window.end - window.start;
            window.start = earliest;
            window.end = earliest + time;
            earliest = window.end;
        }
    }
}

/// Time to suspend the operation in progress, or `None` where it must be waited for.
fn suspend_cost(window: &Window, suspend: Option<&Suspend>) -> Option<Nanos> {
    let suspend = suspend?;
    if window.suspended >= suspend.limit {
        return None;
    }
    match window.kind {
        Internal::Program => Some(suspend.program),
        Internal::Erase => Some(suspend.erase),
        Internal::Read => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Nanos = Nanos::ZERO;
    const SUSPEND: Suspend = Suspend { program: Nanos(5), erase: Nanos(7), limit: 2 };

    fn n(ns: u64) -> Nanos {
        Nanos(ns)
    }

    fn programming(until: u64) -> Die {
        let mut die = Die::default();
        die.queue(NOW, NOW, n(until), Internal::Program, Cause::Own);
        die
    }

    #[test]
    fn a_program_is_ready_at_its_end_and_not_before() {
        let mut die = programming(100);
        assert_eq!(die.clone().host_read(n(99), n(10), None), n(110));
        assert_eq!(die.host_read(n(100), n(10), None), n(110));
    }

    #[test]
    fn a_suspended_program_ends_later_by_the_read_and_both_costs() {
        let mut die = programming(100);
        let ticket = Ticket(0);
        assert_eq!(die.host_read(n(30), n(10), Some(&SUSPEND)), n(45));
        assert_eq!(die.end_of(ticket), n(120));
    }

    #[test]
    fn an_operation_at_its_suspend_limit_is_waited_for() {
        let mut die = programming(1000);
        die.host_read(n(100), n(10), Some(&SUSPEND));
        die.host_read(n(200), n(10), Some(&SUSPEND));
        assert_eq!(die.end_of(Ticket(0)), n(1040));
        assert_eq!(die.host_read(n(300), n(10), Some(&SUSPEND)), n(1050));
    }
}
