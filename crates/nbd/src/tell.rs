//! What happens, as lines of JSON on a pipe. A reader that is slow misses some.

use std::fs::File;
use std::io::Write;
use std::os::fd::AsFd;

use pslc_load::live::Live;
use pslc_load::record::Sums;
use pslc_load::{SimTarget, Target};
use pslc_ssd::Nanos;
use rustix::fs::{fcntl_setfl, OFlags};

use crate::clients::Clients;
use crate::given;
use crate::pace::Pace;

pub struct Teller {
    to: File,
    now: Nanos,
    sums: Sums,
    under_way: usize,
    p50: u64,
    p99: u64,
    columns: Vec<u64>,
    busy: Busy,
}

/// How busy the host's processors were while there were requests: the share of their time, each look weighted with the
/// requests since the one before.
#[derive(Default)]
struct Busy {
    idle: u64,
    all: u64,
    replies: u64,
    weighted: f64,
}

impl Busy {
    /// Look; `replies` is how many there were so far.
    fn share(&mut self, replies: u64) -> f64 {
        let times: Vec<u64> = std::fs::read_to_string("/proc/stat")
            .ok()
            .and_then(|reply| {
                Some(
                    reply
                        .lines()
                        .next()?
                        .split_whitespace()
                        .skip(1)
                        .take(8)
                        .filter_map(|time| time.parse().ok())
                        .collect(),
                )
            })
            .unwrap_or_default();
        // user, nice, system, idle, iowait, irq, softirq, steal
        let (idle, all) = (times.iter().skip(3).take(2).sum::<u64>(), times.iter().sum::<u64>());
        let (was, of) = (idle.saturating_sub(self.idle), all.saturating_sub(self.all));
        if self.all > 0 && of > 0 {
            self.weighted += (replies - self.replies) as f64 * (1.0 - was as f64 / of as f64);
        }
        (self.idle, self.all, self.replies) = (idle, all, replies);
        if replies > 0 {
            self.weighted / replies as f64
        } else {
            0.0
        }
    }
}

impl Teller {
    /// On an open descriptor, which stays open.
    pub fn new(to: i32) -> Option<Teller> {
        let to = given::file(to).ok()?;
        fcntl_setfl(to.as_fd(), OFlags::NONBLOCK | OFlags::WRONLY).ok()?;
        let (now, sums) = (Nanos::ZERO, Sums::default());
        Some(Teller {
            to,
            now,
            sums,
            under_way: 0,
            p50: 0,
            p99: 0,
            columns: Vec::new(),
            busy: Busy::default(),
        })
    }

    /// See how the drive is now.
    pub fn look(&mut self, live: &mut Live) {
        self.sums = live.sums();
        self.under_way = live.under_way();
        let recent = live.recent();
        (self.p50, self.p99) = (recent.percentile(500), recent.percentile(990));
        let target: &mut SimTarget = live.target();
        self.now = target.now();
        self.columns.resize(target.columns().len(), 0);
        target.sample(&mut self.columns);
    }

    /// Say it. `full`: the disk has refused something.
    pub fn tell(&mut self, pace: &Pace, clients: &Clients, full: bool, last: bool) {
        let late = pace.late();
        let percentile = |of: f64| {
            let percentile = late.by.percentiles(&[]).into_iter().find(|(name, _)| name.parse() == Ok(of));
            percentile.map_or(0, |(_, ns)| ns)
        };
        let mean = |sum: f64| if late.by.count > 0 { sum / late.by.count as f64 } else { 0.0 };
        let mut line = format!(
            "{{\"last\":{last},\"full\":{full},\"clients\":{},\"clock_ns\":{},\"bytes\":{:?},\"count\":{:?},\"latency_sum_ns\":{},\"p50_ns\":{},\
             \"p99_ns\":{},\"under_way\":{},\"way_ns\":{},\"late\":{{\"count\":{},\"mean_ns\":{:.0},\"p50_ns\":{},\
             \"p99_ns\":{},\"of_ns\":{:.0},\"turn_ns\":{:.0},\"busy\":{:.3}}},\"columns\":{{",
            clients.json(),
            self.now.0,
            self.sums.bytes,
            self.sums.count,
            self.sums.latency_ns,
            self.p50,
            self.p99,
            self.under_way,
            pace.way(),
            late.by.count,
            late.by.mean_ns(),
            percentile(50.0),
            percentile(99.0),
            mean(late.of as f64),
            mean(late.turns as f64),
            self.busy.share(late.by.count),
        );
        for (at, (name, value)) in pslc_ssd::Machine::COLUMNS.iter().zip(&self.columns).enumerate() {
            let comma = if at > 0 { "," } else { "" };
            line += &format!("{comma}\"{name}\":{value}");
        }
        line += "}}\n";
        // Shorter than what a pipe takes whole, or not at all.
        let _ = self.to.write(line.as_bytes());
    }
}
