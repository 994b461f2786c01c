//! When replies are due on the wall's clock, and how exactly they leave.
//!
//! ```text
//!   request arrives       drive completes it      reply must have arrived
//!   |--------------------------------------------|
//!            sleep | woken late | spin | the way |      the reply leaves earlier by the way
//! ```

use std::io::{self, Read, Write};
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU32, AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, OnceLock};
use std::time::{Duration, Instant};

use pslc_load::record::Latency;
use pslc_ssd::Nanos;
use socket2::Socket;

/// Round trips from which the way is taken at first, and the most that it comes to then.
const TRIPS: usize = 400;
const MAX_WAY_NS: u64 = 100_000;
/// How the way follows what clients with one request at a time take to the next: three quarters of them take less. It is
/// the way and what a client does in between; of that, so much at most is taken for the way.
const FASTER_NS: u64 = 100;
const SLOWER_NS: u64 = 300;
const MAX_BETWEEN_NS: u64 = 60_000;
/// How the estimate of how late one is woken follows, and the most that it comes to.
const LEAD_STEP_NS: i64 = 200;
const MAX_LEAD_NS: i64 = 100_000;
/// The end of a wait that is spun, where a processor is to spare: with so few waiting. Windows wakes whoever sleeps each
/// millisecond.
const SPIN_NS: u64 = if cfg!(windows) { 1_500_000 } else { 60_000 };
const MAX_SPUN: u32 = 2;

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
    static BEGIN: OnceLock<Instant> = OnceLock::new();
    // Later than 0: replies are due before what came first, by the way.
    1_000_000_000 + BEGIN.get_or_init(Instant::now).elapsed().as_nanos() as u64
}

/// When a request came, was asked of the drive, and is due, on the wall's clock; and on the drive's.
#[derive(Clone, Copy, Debug)]
pub struct Due {
    pub came: u64,
    pub from: u64,
    pub at: u64,
    pub done: Nanos,
}

/// What to do until a reply leaves.
pub enum Until {
    /// It leaves now.
    Leaves,
    /// And then spin, or let it leave.
    Sleep { time: Duration, spins: bool },
    /// Look at the clock until this time.
    Spin(u64),
}

impl Pace {
    /// Time passes from here on. A reply's way is tried out on the two ends of a connection.
    pub fn new(drive: Nanos, speed: f64, ends: (Socket, Socket)) -> Pace {
        let way = measured_way(ends).unwrap_or(0).min(MAX_WAY_NS);
        Pace {
            wall: wall(),
            drive,
            speed: (speed * 1e6).round() as u64,
            way: AtomicU64::new(way),
            longest_way: way + MAX_BETWEEN_NS,
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
        let next = if took < way { way.saturating_sub(FASTER_NS) } else { way + SLOWER_NS };
        self.way.store(next.min(self.longest_way), Relaxed);
    }

    /// One more reply waits, or one less.
    pub fn waits(&self) {
        self.waiting.fetch_add(1, Relaxed);
    }

    pub fn is_gone(&self) {
        self.waiting.fetch_sub(1, Relaxed);
    }

    /// Replies that wait.
    pub fn waiting(&self) -> u32 {
        self.waiting.load(Relaxed)
    }

    /// When a reply has to leave: before its request came, where the drive is faster than the way. Then it is late whatever
    /// is done.
    pub fn leave(&self, due: &Due) -> u64 {
        due.at.saturating_sub(self.way())
    }

    /// What to do at `now` until a reply leaves. Whoever is to spin calls [`Pace::spin`].
    pub fn until(&self, due: &Due, now: u64) -> Until {
        let leave = self.leave(due);
        let left = leave.saturating_sub(now);
        let spins = self.waiting() <= MAX_SPUN && self.processors > 1 && left > 0;
        if spins && left <= SPIN_NS && !self.spun.swap(true, Relaxed) {
            return Until::Spin(leave);
        }
        let spins = spins && left > SPIN_NS && !self.spun.load(Relaxed);
        let early = if spins { SPIN_NS } else { self.lead.load(Relaxed) as u64 };
        if left > early {
            Until::Sleep { time: Duration::from_nanos(left - early), spins }
        } else {
            Until::Leaves
        }
    }

    /// Look at the clock until `leave`, or until something `interrupts`.
    pub fn spin(&self, leave: u64, interrupts: impl Fn() -> bool) {
        while wall() < leave && !interrupts() {
            std::hint::spin_loop();
        }
        self.spun.store(false, Relaxed);
    }

    /// A sleep has ended with which a reply leaves.
    pub fn woke(&self, due: &Due) {
        let lead = self.lead.load(Relaxed);
        let next = if wall() > self.leave(due) { lead + LEAD_STEP_NS } else { lead - LEAD_STEP_NS };
        self.lead.store(next.clamp(0, MAX_LEAD_NS), Relaxed);
    }

    /// A reply leaves `now`.
    pub fn leaves(&self, due: &Due, now: u64) {
        let took = due.at - due.from.min(due.at);
        let expected = (due.came.max(due.from) + took).saturating_sub(self.way());
        let mut late = self.late.lock().expect("nobody panics with it");
        late.by.record(now.saturating_sub(expected), 0);
        late.of += took as u128;
    }

    /// The client followed a reply by so much later than the way takes.
    pub fn lost(&self, ns: u64) {
        self.late.lock().expect("nobody panics with it").turns += ns as u128;
    }

    pub fn late(&self) -> Late {
        self.late.lock().expect("nobody panics with it").clone()
    }
}

/// This thread, and those that it starts, are woken when they asked for it: 50 us later is the kernel's habit.
pub fn wake_in_time() {
    #[cfg(target_os = "linux")]
    let _ = rustix::thread::set_current_timer_slack(std::num::NonZeroU64::new(1));
    #[cfg(windows)]
    // SAFETY: a number.
    unsafe {
        windows_sys::Win32::Media::timeBeginPeriod(1);
    }
}

/// What it takes two threads to say something to each other and back: the median of many times.
fn measured_way((here, there): (Socket, Socket)) -> io::Result<u64> {
    here.set_read_timeout(Some(Duration::from_secs(1)))?;
    let echo = std::thread::Builder::new().spawn(move || {
        let mut byte = [0];
        while (&there).read_exact(&mut byte).and_then(|()| (&there).write_all(&byte)).is_ok() {}
    })?;
    let mut byte = [0];
    let mut took = Vec::with_capacity(TRIPS);
    for _ in 0..TRIPS {
        let begin = wall();
        (&here).write_all(&byte)?;
        (&here).read_exact(&mut byte)?;
        took.push(wall() - begin);
    }
    drop(here);
    let _ = echo.join();
    took.sort_unstable();
    Ok(took[TRIPS / 2])
}
