//! Rates over short spans, as fio samples bandwidth and IOPS for its reports.

use pslc_ssd::Nanos;

/// How a rate was spread over the samples.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Spread {
    pub count: u64,
    pub min: f64,
    pub max: f64,
    sum: f64,
    squares: f64,
}

impl Spread {
    fn add(&mut self, rate: f64) {
        self.min = if self.count == 0 { rate } else { self.min.min(rate) };
        self.max = self.max.max(rate);
        self.count += 1;
        self.sum += rate;
        self.squares += rate * rate;
    }

    /// Of two rates at once, as fio adds them up.
    pub fn beside(self, other: Spread) -> Spread {
        let (count, mean) = (self.count + other.count, self.mean() + other.mean());
        Spread {
            count,
            min: self.min + other.min,
            max: self.max + other.max,
            sum: mean * count as f64,
            squares: self.about_mean() + other.about_mean() + mean * mean * count as f64,
        }
    }

    pub fn mean(&self) -> f64 {
        self.sum / self.count.max(1) as f64
    }

    /// Standard deviation of the sample; 0 of fewer than two.
    pub fn stddev(&self) -> f64 {
        if self.count < 2 {
            return 0.0;
        }
        (self.about_mean() / (self.count - 1) as f64).sqrt()
    }

    /// Sum of the squares of the distances from the mean.
    fn about_mean(&self) -> f64 {
        (self.squares - self.count as f64 * self.mean() * self.mean()).max(0.0)
    }
}

/// Samples a running total of each kind with the first completion after each span.
#[derive(Clone, Debug)]
pub struct Sampler {
    every: Nanos,
    last: Nanos,
    due: Nanos,
    counted: [u64; 3],
    /// A second: reads, writes, trims.
    pub rates: [Spread; 3],
}

impl Sampler {
    pub fn new(every: Nanos) -> Sampler {
        Sampler { every, last: Nanos::ZERO, due: Nanos::MAX, counted: [0; 3], rates: [Spread::default(); 3] }
    }

    /// One that has taken nothing, of the same span.
    pub fn anew(&self) -> Sampler {
        Sampler::new(self.every)
    }

    /// Time counts from here.
    pub fn begin(&mut self, at: Nanos) {
        if self.due == Nanos::MAX {
            (self.last, self.due) = (at, at + self.every);
        }
    }

    /// The samples of `other` as well.
    pub fn add(&mut self, other: &Sampler) {
        self.rates.iter_mut().zip(other.rates).for_each(|(mine, theirs)| *mine = mine.beside(theirs));
    }

    #[inline]
    pub fn is_due(&self, now: Nanos) -> bool {
        now >= self.due
    }

    /// As in fio, a kind that moved nothing has no sample.
    #[cold]
    pub fn take(&mut self, now: Nanos, totals: [u64; 3]) {
        let span = (now - self.last).0 as f64 / 1e9;
        for (kind, total) in totals.into_iter().enumerate() {
            let moved = total - std::mem::replace(&mut self.counted[kind], total);
            if moved > 0 {
                self.rates[kind].add(moved as f64 / span);
            }
        }
        (self.last, self.due) = (now, now + self.every);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_is_what_moved_since_the_last_over_the_time_since_then() {
        let at = Nanos::from_millis;
        let mut sampler = Sampler::new(at(500));
        assert!(!sampler.is_due(at(10_000)), "nothing has begun");
        sampler.begin(at(1000));
        assert!(!sampler.is_due(at(1499)) && sampler.is_due(at(1500)));
        sampler.take(at(1500), [100, 0, 0]);
        sampler.take(at(2500), [400, 8, 0]);
        let [reads, writes, trims] = sampler.rates;
        assert_eq!((reads.count, reads.min, reads.max, reads.mean()), (2, 200.0, 300.0, 250.0));
        assert!((reads.stddev() - 5000f64.sqrt()).abs() < 1e-9, "{}", reads.stddev());
        assert_eq!((writes.count, writes.mean(), writes.stddev(), trims.count), (1, 8.0, 0.0, 0));
        let all = reads.beside(writes).beside(trims);
        assert_eq!((all.count, all.min, all.max, all.mean()), (3, 208.0, 308.0, 258.0));
        assert!((all.stddev() - 2500f64.sqrt()).abs() < 1e-9, "{}", all.stddev());
    }
}
