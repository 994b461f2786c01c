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
        match self.nand.waits.go_on() {
            true => self.work_out::<true>(now, request),
            false => self.work_out::<false>(now, request),
        }
    }

    /// As `submit`; what the time goes to is accounted for where it `ACCOUNTS`.
    #[inline]
    fn work_out<const ACCOUNTS: bool>(&mut self, now: Nanos, request: &Request) -> Nanos {
        self.assert_fits(request);
        if ACCOUNTS {
            self.nand.waits.begin(now);
        }
        if self.ignores(request) {
            return now;
        }
        self.advance(now);
        self.ftl.called_after(now.saturating_sub(self.silent_since));
        let awake = self.waking.called(now);
        let free = awake.max(self.bus_free);
        if ACCOUNTS {
            self.nand.waits.spend(awake, Cause::Waking);
            self.nand.waits.spend(free, Cause::Link);
        }
        let done = match request.op {
            Op::Read => {
                let taken = self.cores.take(free, self.controller.read);
                self.read::<ACCOUNTS>(taken, request)
            }
            Op::Write => {
                let taken = self.cores.take(free, self.controller.write);
                self.write(taken, request)
            }
            Op::Trim => {
                let taken = self.cores.take(free, self.controller.command);
                self.trim(taken, request)
            }
            Op::Flush => {
                let taken = self.cores.take(free, self.controller.command);
                self.flush(taken)
            }
        };
        if self.usb.bulk_only {
            self.bus_free = done;
        }
        self.silent_since = self.silent_since.max(done);
        if ACCOUNTS {
            self.nand.waits.end(done);
            let share = self.link.share_permille();
            if share < 1000 {
                self.nand.waits.leave(share, Cause::Link, Cause::Heat);
            }
        }
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
