//! Flushes: what was acknowledged is in the NAND afterwards.

use super::Drive;
use crate::units::Nanos;
use crate::waits::Cause;

impl Drive {
    /// Returns when all that was acknowledged survives a loss of power: at once where the buffer does.
    pub(super) fn flush(&mut self, taken: Nanos) -> Nanos {
        if self.controller.power_loss_protection || !std::mem::take(&mut self.unflushed) {
            return taken;
        }
        self.ftl.flush_host(&mut self.nand, &mut self.buffer, taken);
        let mut drained = taken;
        if let Some(last) = self.buffer.last(&self.nand) {
            drained = taken.max(self.nand.end_of(&last));
            self.nand.account.wait(drained - taken);
        }
        let safe = drained + self.controller.flush;
        self.nand.account.spend(Cause::Commands, self.controller.flush);
        self.flush_waited += safe - taken;
        safe
    }
}
