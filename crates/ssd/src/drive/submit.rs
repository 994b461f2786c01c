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
        self.assert_fits(request);
        if self.ignores(request) {
            self.nand.waits.begin(now);
            return now;
        }
        self.advance(now);
        self.ftl.called_after(now.saturating_sub(self.silent_since));
        let awake = self.waking.called(now);
        self.nand.waits.begin(now);
        self.nand.waits.spend(awake, Cause::Waking);
        let awake = awake.max(self.bus_free);
        self.nand.waits.spend(awake, Cause::Link);
        let done = match request.op {
            Op::Read => {
                let taken = self.cores.take(awake, self.controller.read);
                self.read(taken, request)
            }
            Op::Write => {
                let taken = self.cores.take(awake, self.controller.write);
                self.write(taken, request)
            }
            Op::Trim => {
                let taken = self.cores.take(awake, self.controller.command);
                self.trim(taken, request)
            }
            Op::Flush => {
                let taken = self.cores.take(awake, self.controller.command);
                self.flush(taken)
            }
        };
        if self.usb.bulk_only {
            self.bus_free = done;
        }
        self.silent_since = self.silent_since.max(done);
        if self.nand.waits.go_on() {
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
