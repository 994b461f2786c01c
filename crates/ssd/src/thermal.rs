//! Temperature and thermal throttling: two heat capacities one after the other, in steps of a tenth of a second:
//!
//! ```text
//!   power --> [chips] --R--> [board] --R--> air
//!                |
//!             sensor: throttles from `at` up to below `until`
//! ```

use crate::config;
use crate::consistency::{ensure, Consistency};
use crate::units::Nanos;

/// The step.
const STEP: Nanos = Nanos::from_millis(100);
const STEPS_PER_S: i64 = 10;
/// Of what is read from a file: a million degrees, in millionths of one.
const MAX_TEMPERATURE: i64 = 1_000_000_000_000;

#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct Thermal {
    of: config::Thermal,
    /// Temperatures, in millionths of a degree Celsius.
    chips: i64,
    board: i64,
    /// Energy drawn up to the last step, in nanojoules.
    energy_nj: u64,
    /// When the next step is due.
    pub due: Nanos,
    /// Steps of throttling in force.
    level: usize,
}

impl Thermal {
    /// In balance with the air around it.
    pub fn new(of: &config::Thermal) -> Thermal {
        let air = of.ambient_mc * 1000;
        Thermal { chips: air, board: air, energy_nj: 0, due: STEP, level: 0, of: of.clone() }
    }

    /// Whether it is this drive, of which `energy_nj` have been drawn up to `now`.
    pub fn check(&self, of: &config::Thermal, now: Nanos, energy_nj: u64) -> Consistency {
        let bearable = -MAX_TEMPERATURE..=MAX_TEMPERATURE;
        // What was drawn since the last step warms the chips in the next.
        let rise = energy_nj.checked_sub(self.energy_nj).map(|drawn| drawn / of.chips_mj_per_k.max(1) as u64);
        ensure(
            self.of == *of
                && self.level <= of.throttle.len()
                && bearable.contains(&self.chips)
                && bearable.contains(&self.board)
                && now < self.due
                && self.due <= now + STEP
                && rise.is_some_and(|rise| rise <= MAX_TEMPERATURE as u64),
            "temperature",
        )
    }

    /// As warm as the air around it.
    pub fn cool_down(&mut self) {
        let air = self.of.ambient_mc * 1000;
        (self.chips, self.board, self.level) = (air, air, 0);
    }

    /// The share of the link's speed that is left, in permille.
    pub fn share_permille(&self) -> u32 {
        match self.level {
            0 => 1000,
            level => self.of.throttle[level - 1].share_permille,
        }
    }

    /// The drive has drawn `energy_nj` in all up to `now`; what it drew since the last step is spread over the steps due.
    /// Returns the share of the link's speed that is left, in permille, where that has changed.
    pub fn step(&mut self, now: Nanos, energy_nj: u64) -> Option<u32> {
        let before = self.level;
        let steps = (now - self.due).0 / STEP.0 + 1;
        let each = ((energy_nj - self.energy_nj) / steps) as i64;
        for _ in 0..steps {
            self.conduct(each);
        }
        self.energy_nj = energy_nj;
        self.due += Nanos(steps * STEP.0);
        (self.level != before).then(|| self.share_permille())
    }

    fn conduct(&mut self, drawn_nj: i64) {
        let air = self.of.ambient_mc * 1000;
        // A kelvin over a kelvin a watt is a watt: 10^6 uK over 10^3 mK/W are 10^9 nJ a second.
        let flow = |from: i64, to: i64, mk_per_w: i64| (from - to) * 1_000_000 / STEPS_PER_S / mk_per_w;
        let to_board = flow(self.chips, self.board, self.of.chips_to_board_mk_per_w);
        let to_air = flow(self.board, air, self.of.board_to_air_mk_per_w);
        self.chips += (drawn_nj - to_board) / self.of.chips_mj_per_k;
        self.board += (to_board - to_air) / self.of.board_mj_per_k;
        while self.of.throttle.get(self.level).is_some_and(|next| self.chips >= next.at_mc * 1000) {
            self.level += 1;
        }
        while self.level > 0 && self.chips < self.of.throttle[self.level - 1].until_mc * 1000 {
            self.level -= 1;
        }
    }

    /// Of the chips, in thousandths of a degree Celsius.
    pub fn temperature_mc(&self) -> i64 {
        self.chips / 1000
    }

    pub fn level(&self) -> usize {
        self.level
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drive() -> Thermal {
        Thermal::new(&config::Thermal {
            ambient_mc: 25_000,
            chips_mj_per_k: 4_000,
            board_mj_per_k: 30_000,
            chips_to_board_mk_per_w: 3_000,
            board_to_air_mk_per_w: 9_000,
            throttle: vec![],
        })
    }

    /// 5 W for so many seconds.
    fn heated(heat: &mut Thermal, from: u64, seconds: u64) {
        for tenth in from * 10 + 1..=(from + seconds) * 10 {
            heat.step(Nanos::from_millis(tenth * 100), tenth * 500_000_000);
        }
    }

    /// The step response of two RC nodes in closed form, from the eigenvalues of
    /// C1 T1' = P - (T1 - T2)/R1, C2 T2' = (T1 - T2)/R1 - T2/R2.
    #[test]
    fn it_warms_as_the_closed_form_says() {
        let (c1, c2, r1, r2, p) = (4.0f64, 30.0, 3.0, 9.0, 5.0);
        let (a, b, c, d) = (-1.0 / (r1 * c1), 1.0 / (r1 * c1), 1.0 / (r1 * c2), -(1.0 / r1 + 1.0 / r2) / c2);
        let (trace, det) = (a + d, a * d - b * c);
        let root = (trace * trace / 4.0 - det).sqrt();
        let (fast, slow) = (trace / 2.0 - root, trace / 2.0 + root);
        // T1 = P (R1 + R2) + A e^(fast t) + B e^(slow t), with T1(0) = 0 and T1'(0) = P / C1.
        let end = p * (r1 + r2);
        let big_b = (p / c1 + fast * end) / (slow - fast);
        let big_a = -end - big_b;
        let mut heat = drive();
        let mut before = 0;
        for seconds in [1u64, 5, 20, 60, 200, 600] {
            heated(&mut heat, before, seconds - before);
            before = seconds;
            let t = seconds as f64;
            let expected = end + big_a * (fast * t).exp() + big_b * (slow * t).exp();
            let rise = (heat.temperature_mc() - 25_000) as f64 / 1000.0;
            assert!((rise / expected - 1.0).abs() < 0.01, "after {seconds} s: {rise} for {expected}");
        }
    }
}
