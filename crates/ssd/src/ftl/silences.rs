//! How long the host was silent, the last few times: what a policy may foretell the next silence from.

use crate::consistency::{ensure, Consistency};
use crate::units::Nanos;

/// The last eight.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct Silences {
    last: [Nanos; 8],
    count: usize,
}

impl Silences {
    pub fn check(&self) -> Consistency {
        ensure(self.count < usize::MAX / 2, "silences of the host")
    }

    pub fn remember(&mut self, silence: Nanos) {
        self.last[self.count % self.last.len()] = silence;
        self.count += 1;
    }

    /// From the oldest to the last.
    pub fn in_order(&self) -> Vec<Nanos> {
        let count = self.count.min(self.last.len());
        (self.count - count..self.count).map(|at| self.last[at % self.last.len()]).collect()
    }

    /// The lower median of them: most were at least as long. `None` before there were three.
    pub fn median(&self) -> Option<Nanos> {
        let count = self.count.min(self.last.len());
        let mut sorted = self.last;
        sorted[..count].sort_unstable();
        (count >= 3).then(|| sorted[(count - 1) / 2])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_median_is_of_the_last_eight_and_needs_three() {
        let mut silences = Silences::default();
        for (silence, median) in [(5, None), (9, None), (1, Some(5)), (7, Some(5)), (8, Some(7))] {
            silences.remember(Nanos(silence));
            assert_eq!(silences.median(), median.map(Nanos));
        }
        (0..8).for_each(|_| silences.remember(Nanos(2)));
        assert_eq!(silences.median(), Some(Nanos(2)));
    }
}
