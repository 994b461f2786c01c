//! What follows what on a connection. A client that asks anew for each reply, as most do, asks late where the reply left
//! late: that is the host's doing, and the drive is asked as if the reply had left in time.
//!
//! ```text
//!   drive    a---------->b---------->        b: because of a, so at a's end
//!   wall     a-------------->b------>        a left late; b's reply leaves in time again
//! ```

use std::collections::VecDeque;
use std::sync::Mutex;

use crate::pace::{Due, Pace};

/// A request that comes later after a reply, in nanoseconds, does not come because of it: the client did something else.
const AT_ONCE: u64 = 1_000_000;
/// The most that the drive's clock is behind the wall's for this.
pub const BEHIND: u64 = 5_000_000;

/// Of one connection.
#[derive(Debug, Default)]
pub struct Turns(Mutex<Inner>);

#[derive(Debug, Default)]
struct Inner {
    under_way: u32,
    /// Replies that no request has followed.
    left: VecDeque<Left>,
}

/// A reply: when the drive had it done and when it left, on the wall's clock, and by how much that was late.
#[derive(Clone, Copy, Debug)]
struct Left {
    done: u64,
    at: u64,
    late: u64,
}

impl Turns {
    /// A request has come; returns when the drive is asked, on the wall's clock.
    pub fn comes(&self, pace: &Pace, came: u64) -> u64 {
        let mut turns = self.0.lock().expect("nobody panics with it");
        turns.under_way += 1;
        let first = loop {
            match turns.left.pop_front() {
                Some(left) if came.saturating_sub(left.at) > AT_ONCE => {}
                first => break first,
            }
        };
        let alone = turns.under_way == 1;
        drop(turns);
        let Some(left) = first else { return came };
        let took = came.saturating_sub(left.at);
        pace.lost(took.saturating_sub(pace.way()));
        if alone {
            pace.turned(took);
        }
        // Not before what it follows was done, which is a little ahead of the wall where the way is overestimated.
        (came - left.late).max(left.done)
    }

    /// It is refused.
    pub fn fails(&self) {
        self.0.lock().expect("nobody panics with it").under_way -= 1;
    }

    /// Its reply leaves `now`, and had to at `leave`.
    pub fn leaves(&self, due: Due, (leave, now): (u64, u64)) {
        let mut turns = self.0.lock().expect("nobody panics with it");
        turns.under_way -= 1;
        let late = now.saturating_sub(leave).min(BEHIND);
        turns.left.push_back(Left { done: due.at, at: now, late });
    }
}
