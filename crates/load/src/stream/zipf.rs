//! Zipf-distributed ranks without tables: rejection-inversion (Hoermann and Derflinger, "Rejection-inversion to generate
//! variates from monotone discrete distributions", 1996).
//!
//! Powers come from the libm crate: those of the platform's C library differ in the last bit from one to the next.

#[derive(Clone, Debug)]
pub struct Zipf {
    ranks: f64,
    theta: f64,
    /// The integral of x^-theta at 1.5 less one, and at ranks + 0.5.
    first: f64,
    last: f64,
}

impl Zipf {
    /// Ranks below `ranks`; rank r has a weight of (r + 1)^-theta. Theta is above 0 and not 1.
    pub fn new(ranks: u64, theta: f64) -> Zipf {
        let mut zipf = Zipf { ranks: ranks as f64, theta, first: 0.0, last: 0.0 };
        zipf.first = zipf.integral(1.5) - 1.0;
        zipf.last = zipf.integral(zipf.ranks + 0.5);
        zipf
    }

    fn integral(&self, x: f64) -> f64 {
        libm::pow(x, 1.0 - self.theta) / (1.0 - self.theta)
    }

    fn inverse(&self, y: f64) -> f64 {
        libm::pow(y * (1.0 - self.theta), 1.0 / (1.0 - self.theta))
    }

    /// A rank, given a source of numbers uniform in [0, 1).
    pub fn draw(&self, mut uniform: impl FnMut() -> f64) -> u64 {
        loop {
            let u = self.last + uniform() * (self.first - self.last);
            let x = self.inverse(u);
            let rank = x.round().clamp(1.0, self.ranks);
            if u >= self.integral(rank + 0.5) - libm::pow(rank, -self.theta) {
                return rank as u64 - 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_share_of_each_rank_is_its_weight() {
        for theta in [0.6, 1.2] {
            let zipf = Zipf::new(1000, theta);
            let mut state = 1u64;
            let mut uniform = || {
                state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                (state >> 11) as f64 / (1u64 << 53) as f64
            };
            let draws = 400_000;
            let mut counts = vec![0u32; 1000];
            for _ in 0..draws {
                counts[zipf.draw(&mut uniform) as usize] += 1;
            }
            let total: f64 = (1..=1000).map(|r| (r as f64).powf(-theta)).sum();
            for rank in [1, 2, 5, 20] {
                let expected = (rank as f64).powf(-theta) / total;
                let share = counts[rank - 1] as f64 / draws as f64;
                assert!((share / expected - 1.0).abs() < 0.05, "rank {rank}: {share} {expected}");
            }
        }
    }
}
