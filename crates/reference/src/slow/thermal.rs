//! Two heat capacities, a tenth of a second at a time.

use pslc_ssd::config;

const STEP: u64 = 100_000_000;

pub struct Thermal {
    of: config::Thermal,
    /// In millionths of a degree Celsius.
    pub chips: i64,
    board: i64,
    energy_nj: u64,
    pub due: u64,
    /// Steps of throttling in force.
    level: usize,
}

impl Thermal {
    pub fn new(of: config::Thermal) -> Thermal {
        let air = of.ambient_mc * 1000;
        Thermal { chips: air, board: air, energy_nj: 0, due: STEP, level: 0, of }
    }

    /// The drive has drawn `energy_nj` up to `now`: what is new is spread evenly over the steps due.
    pub fn follow(&mut self, now: u64, energy_nj: u64) {
        if now < self.due {
            return;
        }
        let steps = (now - self.due) / STEP + 1;
        let each = ((energy_nj - self.energy_nj) / steps) as i64;
        self.energy_nj = energy_nj;
        for _ in 0..steps {
            self.due += STEP;
            // Microkelvins over millikelvins a watt are milliwatts: 10^5 nJ in a tenth of a second.
            let flow = |difference: i64, resistance: i64| difference * 100_000 / resistance;
            let to_board = flow(self.chips - self.board, self.of.chips_to_board_mk_per_w);
            let to_air = flow(self.board - self.of.ambient_mc * 1000, self.of.board_to_air_mk_per_w);
            self.chips += (each - to_board) / self.of.chips_mj_per_k;
            self.board += (to_board - to_air) / self.of.board_mj_per_k;
            while self.level < self.of.throttle.len() && self.chips >= self.of.throttle[self.level].at_mc * 1000 {
                self.level += 1;
            }
            while self.level > 0 && self.chips < self.of.throttle[self.level - 1].until_mc * 1000 {
                self.level -= 1;
            }
        }
    }

    /// The share of the link's speed that is left, in permille.
    pub fn share(&self) -> Option<u32> {
        self.level.checked_sub(1).map(|level| self.of.throttle[level].share_permille)
    }
}
