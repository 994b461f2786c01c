//! A request's way through the drive.

use super::Drive;
use crate::request::{Op, Request};
use crate::units::Nanos;
use crate::waits::Cause;

impl Drive {
    /// Ask for something at `now`, which must not be before the last call's; returns when it completes.
    ///
    /// Panics if the request goes past the end of the drive: the caller checks what users give.
    #[inline]
    pub fn submit(&mut self, now: Nanos, request: &Request) -> Nanos {
        let done = self.work_out(now, request);
        if self.tells {
            self.waits.look(&self.nand.account, self.link.share_permille(), 15);
        }
        done
    }

    #[inline]
    fn work_out(&mut self, now: Nanos, request: &Request) -> Nanos {
        self.assert_fits(request);
        if self.ignores(request) {
            return now;
        }
        self.advance(now);
        self.ftl.called_after(now.saturating_sub(self.silent_since));
        let awake = self.waking.called(now);
        let free = awake.max(self.bus_free);
        if free > now {
            self.nand.account.spend(Cause::Waking, awake - now);
            self.nand.account.spend(Cause::Link, free - awake);
        }
        let work = match request.op {
            Op::Read => self.controller.read,
            Op::Write => self.controller.write,
            Op::Trim | Op::Flush => self.controller.command,
        };
        let taken = self.cores.take(free, work) + self.controller.latency;
        self.nand.account.spend(Cause::Commands, taken - free);
        let done = match request.op {
            Op::Read => self.read(taken, request),
            Op::Write => self.write(taken, request),
            Op::Trim => self.trim(taken, request),
            Op::Flush => self.flush(taken),
        };
        if self.usb.bulk_only {
            self.bus_free = done;
        }
        self.silent_since = self.silent_since.max(done);
        done
    }

    /// As `submit`, at the time of the last call where `now` is before it.
    pub fn submit_late(&mut self, now: Nanos, request: &Request) -> Nanos {
        self.submit(now.max(self.now), request)
    }

    #[inline]
    pub(super) fn assert_fits(&self, request: &Request) {
        assert!(
            request.offset + request.len as u64 <= self.capacity_bytes,
            "{request:?} ends past {} bytes",
            self.capacity_bytes
        );
    }

    /// Whether the request ends at the bridge: the drive is not even woken.
    #[inline]
    pub(super) fn ignores(&self, request: &Request) -> bool {
        request.op == Op::Trim && self.usb.drops_discards
    }
}
