//! The controller: cores that take commands, and the buffer that holds writes until they are in the NAND.

mod write_buffer;

pub use write_buffer::WriteBuffer;

use crate::config;
use crate::units::Nanos;

#[derive(Clone, Debug)]
pub struct Controller {
    /// When each core is free.
    cores: Vec<Nanos>,
    command: Nanos,
}

impl Controller {
    pub fn new(controller: &config::Controller) -> Controller {
        Controller { cores: vec![Nanos::ZERO; controller.cores as usize], command: controller.command }
    }

    /// Take a command at `now` on the core that is free first; returns when it has been worked out.
    #[inline]
    pub fn take(&mut self, now: Nanos) -> Nanos {
        let mut first = 0;
        for core in 1..self.cores.len() {
            if self.cores[core] < self.cores[first] {
                first = core;
            }
        }
        let done = self.cores[first].max(now) + self.command;
        self.cores[first] = done;
        done
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_queue_for_the_core_that_is_free_first() {
        let config = config::Controller { write_buffer_bytes: 0, cores: 2, command: Nanos(10) };
        let mut controller = Controller::new(&config);
        let done: Vec<u64> = (0..4).map(|_| controller.take(Nanos(5)).0).collect();
        assert_eq!(done, [15, 15, 25, 25]);
    }
}
