//! When a job thinks (`thinktime`): fio asks behind a request, once there is room for another, and thinks when all that
//! is under way has come back.

use pslc_ssd::Nanos;

use crate::job::ThinkTime;

#[derive(Clone, Debug)]
pub struct Thinker {
    how: ThinkTime,
    /// Requests that count, and how many there were when it began to think last, and when that was.
    count: u64,
    last: u64,
    last_at: Nanos,
    /// What was made last moves data: nothing is asked behind a flush, nor while it verifies.
    pub moves: bool,
}

impl Thinker {
    pub fn new(how: ThinkTime) -> Thinker {
        Thinker { how, count: 0, last: 0, last_at: Nanos::ZERO, moves: false }
    }

    pub fn begin(&mut self, at: Nanos) {
        self.last_at = at;
    }

    /// A request was made.
    pub fn issued(&mut self) {
        self.count += u64::from(self.how.when_made);
    }

    /// A request has come back.
    pub fn back(&mut self) {
        self.count += u64::from(!self.how.when_made);
    }

    /// Whether it thinks now.
    pub fn is_due(&mut self, now: Nanos) -> bool {
        let ThinkTime { time, blocks, period, .. } = self.how;
        let by_time = period > Nanos::ZERO && now.saturating_sub(self.last_at) >= period.saturating_add(time);
        let blocks = blocks.or((period == Nanos::ZERO).then_some(1));
        let due = by_time || blocks.is_some_and(|blocks| self.count >= self.last + blocks as u64);
        let due = due && self.moves;
        if due {
            (self.last, self.last_at) = (self.count, now);
        }
        due
    }
}
