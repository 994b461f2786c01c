//! When things are due on the wall's clock, and waiting for it.
//!
//! ```text
//!   request arrives       drive completes it      reply must have arrived
//!   |--------------------------------------------|
//!            sleep | woken late | spin | the way |      the reply leaves earlier by the way
//! ```

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU32, AtomicU64, Ordering::Relaxed};
use std::sync::Mutex;
use std::time::Duration;

use pslc_load::record::Latency;
use pslc_ssd::Nanos;
use rustix::thread::{clock_nanosleep_absolute, ClockId};
use rustix::time::{clock_gettime, Timespec};

/// Round trips from which the way is taken at first, and the most that it comes to then.
const TRIPS: usize = 400;
const LONGEST: u64 = 100_000;
/// How the way follows what clients with one request at a time take to the next: three quarters of them take less. It is
/// the way and what a client does in between; of that, so much at most is taken for the way.
const FASTER: u64 = 100;
const SLOWER: u64 = 300;
const BETWEEN: u64 = 60_000;
/// How the estimate of how late one is woken follows, and the most that it comes to.
const STEP: i64 = 200;
const MOST_LEAD: i64 = 100_000;
/// The end of a wait that is spun, where a processor is to spare: with so few waiting.
const SPIN: u64 = 60_000;
const FEW: u32 = 2;
/// Longer sleeps end early when nbdkit does.
const LONG: u64 = 200_000_000;

extern "C" {
    fn nbdkit_nanosleep(sec: libc::c_uint, nsec: libc::c_uint) -> libc::c_int;
}

#[derive(Debug)]
pub struct Pace {
    /// The wall's clock and the drive's at the beginning.
    wall: u64,
    drive: Nanos,
    /// Times as fast as the wall's clock, in millionths.
    speed: u64,
    /// What the way of a request here and of its reply back takes on this host, in nanoseconds.
    way: AtomicU64,
    longest_way: u64,
    /// How late a sleep ends, typically.
    lead: AtomicI64,
    waiting: AtomicU32,
    /// Somebody spins.
    spun: AtomicBool,
    processors: usize,
    late: Mutex<Late>,
}

/// How slow the host is, in nanoseconds.
#[derive(Clone, Debug, Default)]
pub struct Late {
    /// Of replies, beyond the time they should have left.
    pub by: Latency,
    /// What the drive took for these requests, on the wall's clock.
    pub of: u128,
    /// From replies to the requests that followed at once, beyond the way: in the client, or for want of a processor.
    pub turns: u128,
}

/// The wall's clock, in nanoseconds.
pub fn wall() -> u64 {
    let now = clock_gettime(rustix::time::ClockId::Monotonic);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

/// When a request came, was asked of the drive, and is due, on the wall's clock; and on the drive's.
#[derive(Clone, Copy, Debug)]
pub struct Due {
    pub came: u64,
    pub from: u64,
    pub at: u64,
    pub done: Nanos,
}

impl Pace {
    pub fn new(drive: Nanos, speed: u64) -> Pace {
        // 50 us is the kernel's habit; threads inherit it.
        // SAFETY: a number for this thread.
        unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1) };
        let way = measured_way().unwrap_or(0).min(LONGEST);
        Pace {
            wall: wall(),
            drive,
            speed,
            way: AtomicU64::new(way),
            longest_way: way + BETWEEN,
            lead: AtomicI64::new(0),
            waiting: AtomicU32::new(0),
            spun: AtomicBool::new(false),
            processors: std::thread::available_parallelism().map_or(1, |count| count.get()),
            late: Mutex::default(),
        }
    }

    /// The drive's clock at a time of the wall's.
    pub fn drive_at(&self, wall: u64) -> Nanos {
        let passed = wall.saturating_sub(self.wall) as u128 * self.speed as u128 / 1_000_000;
        self.drive.saturating_add(Nanos(passed as u64))
    }

    /// The wall's clock at a time of the drive's.
    pub fn wall_at(&self, drive: Nanos) -> u64 {
        let passed = drive.saturating_sub(self.drive).0 as u128 * 1_000_000 / self.speed as u128;
        self.wall + passed as u64
    }

    /// What a request's way here and its reply's back take, in nanoseconds.
    pub fn way(&self) -> u64 {
        self.way.load(Relaxed)
    }

    /// A client with nothing else under way has followed a reply with a request after so long.
    pub fn turned(&self, took: u64) {
        let way = self.way();
        let next = if took < way { way.saturating_sub(FASTER) } else { way + SLOWER };
        self.way.store(next.min(self.longest_way), Relaxed);
    }

    /// Wait until a reply has to leave to be there in time. Returns when that was, and when it leaves.
    pub fn wait_until(&self, due: Due) -> (u64, u64) {
        // Before it came, where the drive is faster than the way: then it is late whatever is done.
        let leave = due.at.saturating_sub(self.way());
        let few = self.waiting.fetch_add(1, Relaxed) < FEW && self.processors > 1;
        let spins = few && !self.spun.swap(true, Relaxed);
        if spins {
            sleep_until(leave.saturating_sub(SPIN));
            while wall() < leave {
                std::hint::spin_loop();
            }
            self.spun.store(false, Relaxed);
        } else {
            let lead = self.lead.load(Relaxed);
            if sleep_until(leave.saturating_sub(lead as u64)) {
                let later = if wall() > leave { lead + STEP } else { lead - STEP };
                self.lead.store(later.clamp(0, MOST_LEAD), Relaxed);
            }
        }
        self.waiting.fetch_sub(1, Relaxed);
        let now = wall();
        let took = due.at - due.from.min(due.at);
        let expected = (due.came.max(due.from) + took).saturating_sub(self.way());
        let mut late = self.late.lock().expect("nobody panics with it");
        late.by.record(now.saturating_sub(expected), 0);
        late.of += took as u128;
        (leave, now)
    }

    /// The client followed a reply by so much later than the way takes.
    pub fn lost(&self, ns: u64) {
        self.late.lock().expect("nobody panics with it").turns += ns as u128;
    }

    pub fn late(&self) -> Late {
        self.late.lock().expect("nobody panics with it").clone()
    }
}

/// Sleep, a second at most; returns at once, and that it did, where nbdkit is about to end.
pub fn nap(time: Duration) -> bool {
    // SAFETY: numbers.
    unsafe { nbdkit_nanosleep(0, time.as_nanos().min(999_999_999) as u32) != 0 }
}

/// Returns whether there was something to sleep for.
fn sleep_until(end: u64) -> bool {
    let slept = end > wall();
    while let Some(rest) = end.checked_sub(wall()).filter(|rest| *rest > 0) {
        if rest > LONG {
            if nap(Duration::from_nanos(rest - LONG / 2)) {
                break;
            }
        } else {
            let at = Timespec { tv_sec: (end / 1_000_000_000) as i64, tv_nsec: (end % 1_000_000_000) as _ };
            // A signal wakes it too early; the loop sleeps again.
            let _ = clock_nanosleep_absolute(ClockId::Monotonic, &at);
        }
    }
    slept
}

/// What it takes two threads to say something to each other and back, through a socket: the median of many times.
fn measured_way() -> std::io::Result<u64> {
    let (mut here, mut there) = UnixStream::pair()?;
    here.set_read_timeout(Some(Duration::from_secs(1)))?;
    let echo = std::thread::spawn(move || {
        let mut byte = [0];
        while there.read_exact(&mut byte).and_then(|()| there.write_all(&byte)).is_ok() {}
    });
    let mut byte = [0];
    let mut took = Vec::with_capacity(TRIPS);
    for _ in 0..TRIPS {
        let begin = wall();
        here.write_all(&byte)?;
        here.read_exact(&mut byte)?;
        took.push(wall() - begin);
    }
    drop(here);
    let _ = echo.join();
    took.sort_unstable();
    Ok(took[TRIPS / 2])
}
