//! Which writes go on where another ended: several programs may write in order at the same time.

use crate::consistency::{ensure, Consistency};
use crate::units::Lpn;

/// The last eight runs of writes in order.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct Runs {
    runs: [Run; 8],
    /// The next to be forgotten: those that go on are not kept for longer than others.
    oldest: usize,
}

#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
struct Run {
    end: Lpn,
    pages: u32,
}

impl Default for Runs {
    fn default() -> Runs {
        Runs { runs: [Run { end: Lpn::NONE, pages: 0 }; 8], oldest: 0 }
    }
}

impl Runs {
    pub fn check(&self) -> Consistency {
        ensure(self.oldest < self.runs.len(), "runs of writes")
    }

    /// `pages` are written from `page` on; returns how many were written in order up to their end.
    pub fn follow(&mut self, page: Lpn, pages: u32) -> u32 {
        let run = match self.runs.iter_mut().find(|run| run.end == page) {
            Some(run) => run,
            None => {
                let run = &mut self.runs[self.oldest];
                self.oldest = (self.oldest + 1) % 8;
                run.pages = 0;
                run
            }
        };
        run.end = page + pages;
        run.pages = run.pages.saturating_add(pages);
        run.pages
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_that_take_turns_are_followed_each() {
        let mut runs = Runs::default();
        for round in 0..5 {
            for program in 0..8 {
                assert_eq!(runs.follow(Lpn(program * 1000 + round * 10), 10), (round + 1) * 10);
            }
        }
        assert_eq!(runs.follow(Lpn(9), 4), 4);
        assert_eq!(runs.follow(Lpn(50), 10), 10, "that run was the oldest");
    }
}
