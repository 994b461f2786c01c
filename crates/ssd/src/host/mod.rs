//! The computer around the drive: its processor's time for each request, the page cache for those that are not direct, and
//! the queue before a SATA port.

mod ncq;
mod page_cache;

use crate::columns::columns;
use crate::config;
use crate::consistency::{ensure, ensure_counters, Consistency};
use crate::cores::Cores;
use crate::drive::{CyclingDrive, Drive};
use crate::ftl::custom::Custom;
use crate::request::{Op, Request};
use crate::units::Nanos;
use crate::waits::Waits;
use ncq::Ncq;
use page_cache::PageCache;

/// A drive in its computer.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct Machine {
    cpu: Option<Cpu>,
    page_cache: Option<PageCache>,
    /// On SATA.
    ncq: Option<Ncq>,
    drive: CyclingDrive,
    /// What the time of the last request goes to, and, where they queue, that of those before it: half of it is the
    /// last twenty's.
    #[serde(skip)]
    waits: Waits,
    #[serde(skip)]
    ahead: [u64; Waits::COUNT],
}

#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
struct Cpu {
    cores: Cores,
    of: config::Cpu,
    busy: Nanos,
}

const COUNT: usize = Drive::COLUMNS.len() + Machine::OWN_COLUMNS.len();

const fn columns() -> [&'static str; COUNT] {
    let mut all = [""; COUNT];
    let mut i = 0;
    while i < COUNT {
        let own = i.checked_sub(Drive::COLUMNS.len());
        all[i] = match own {
            Some(own) => Machine::OWN_COLUMNS[own],
            None => Drive::COLUMNS[i],
        };
        i += 1;
    }
    all
}

impl Machine {
    /// Names of what [`Machine::sample`] writes: the drive's, then the host's.
    pub const COLUMNS: &'static [&'static str] = &columns();

    pub fn new(config: &config::Config) -> Machine {
        Machine {
            cpu: config.host.cpu.map(|of| Cpu { cores: Cores::new(of.cores), of, busy: Nanos::ZERO }),
            page_cache: config.host.page_cache.map(|of| PageCache::new(&of, config.capacity_bytes)),
            ncq: matches!(config.link, config::Link::Sata { .. }).then(Ncq::default),
            drive: CyclingDrive::new(Drive::new(config)),
            waits: Waits::default(),
            ahead: [0; Waits::COUNT],
        }
    }

    /// Whether it is this machine, at `now`, in a state that requests can have led to.
    pub(crate) fn check(&self, config: &config::Config, now: Nanos) -> Consistency {
        let host = &config.host;
        ensure(self.cpu.as_ref().map(|cpu| cpu.of) == host.cpu, "processor")?;
        if let Some(cpu) = &self.cpu {
            cpu.cores.check(cpu.of.cores)?;
            ensure_counters(&[cpu.busy.0], "processor")?;
        }
        ensure(self.page_cache.is_some() == host.page_cache.is_some(), "page cache")?;
        if let (Some(cache), Some(of)) = (&self.page_cache, &host.page_cache) {
            cache.check(of, config.capacity_bytes)?;
        }
        ensure(
            self.ncq.is_some() == matches!(config.link, config::Link::Sata { .. }),
            "queue of the SATA port",
        )?;
        self.ncq.iter().try_for_each(Ncq::check)?;
        let asks_at_once = self.cpu.is_none() && self.page_cache.is_none() && self.ncq.is_none();
        ensure(!asks_at_once || self.drive().now() <= now, "clock")?;
        self.drive().check(config, now)
    }

    /// As [`Drive::format`]; what the host had of the drive is gone too.
    pub fn format(&mut self, config: &config::Config) {
        let busy = self.cpu.as_ref().map(|cpu| cpu.busy);
        let fresh = Machine::new(config);
        self.cpu = fresh.cpu.map(|cpu| Cpu { busy: busy.unwrap_or_default(), ..cpu });
        self.page_cache = fresh.page_cache;
        self.ncq = fresh.ncq;
        self.drive.drive_mut().format(config);
    }

    /// See [`Drive::set_custom`].
    pub fn set_custom(&mut self, custom: Custom) {
        self.drive.drive_mut().set_custom(custom);
    }

    /// See [`Drive::lose_power`]; the computer around it goes on.
    pub fn lose_power(&mut self, lost: u32) {
        self.drive.drive_mut().lose_power(lost);
    }

    /// See [`CyclingDrive::begin_run`].
    pub fn begin_run(&mut self) {
        self.drive.begin_run();
    }

    /// See [`CyclingDrive::end_run`].
    pub fn end_run(&mut self) {
        self.drive.end_run();
    }

    /// See [`CyclingDrive::apply_pending`].
    pub fn apply_pending(&mut self) {
        self.drive.apply_pending();
    }

    /// See [`CyclingDrive::repeated`].
    pub fn repeated(&self) -> u64 {
        self.drive.repeated()
    }

    /// See [`CyclingDrive::assert_no_pending`].
    pub(crate) fn assert_no_pending(&self) {
        self.drive.assert_no_pending();
    }

    /// See [`CyclingDrive::drive`].
    pub fn drive(&self) -> &Drive {
        self.drive.drive()
    }

    /// Ask for something at `now`, `direct` or through the page cache; returns when the caller has its answer.
    #[inline]
    pub fn submit(&mut self, now: Nanos, request: &Request, direct: bool) -> Nanos {
        if self.cpu.is_none() && self.page_cache.is_none() && self.ncq.is_none() {
            return self.drive.submit(now, request);
        }
        self.submit_by_host(now, request, direct)
    }

    /// As `submit`, where the host takes time for it or holds data.
    #[inline(never)]
    fn submit_by_host(&mut self, now: Nanos, request: &Request, direct: bool) -> Nanos {
        let issued = now;
        let now = self.call(now, request);
        match &mut self.page_cache {
            Some(cache) if !direct || cache.before_direct() => {
                let done = cache.submit(&mut self.drive, now, request);
                self.waits.begin(issued);
                self.waits.end(done);
                return done;
            }
            Some(cache) => cache.bypassed(request),
            None => {}
        }
        let tag = self.ncq.as_mut().map_or(now, |ncq| ncq.tag(now));
        let asked = tag.max(self.drive().now());
        let done = self.drive.submit(asked, request);
        if let Some(ncq) = &mut self.ncq {
            ncq.sent(done);
        }
        if !self.drive().waits().go_on() {
            return done;
        }
        self.waits.clone_from(self.drive.drive().waits());
        if self.ncq.is_some() {
            for (sum, ns) in self.ahead.iter_mut().zip(self.waits.by()) {
                *sum = *sum - *sum / 32 + ns;
            }
        }
        if asked > issued {
            self.waits.share((asked - issued).0, &self.ahead);
        }
        done
    }

    /// What the time of the request that was submitted last goes to. Waiting for a tag is waiting for what those under way
    /// wait for.
    #[inline]
    pub fn waits(&self) -> &Waits {
        match self.cpu.is_none() && self.page_cache.is_none() && self.ncq.is_none() {
            true => self.drive().waits(),
            false => &self.waits,
        }
    }

    /// The page cache forgets a part of the drive, as far as it is not dirty.
    pub fn invalidate(&mut self, offset: u64, len: u64) {
        if let Some(cache) = &mut self.page_cache {
            cache.invalidate(offset, len);
        }
    }

    /// Let the time up to `now` pass.
    #[inline]
    pub fn advance(&mut self, now: Nanos) {
        if let Some(cache) = &mut self.page_cache {
            cache.write_back(&mut self.drive, now);
        }
        self.drive.advance(now.max(self.drive().now()));
    }

    /// Prefetch what a request will look up. Changes no state.
    #[inline]
    pub fn prepare(&self, request: &Request) {
        self.drive().prepare(request);
    }

    /// Counters and gauges, in the order of [`Machine::COLUMNS`]; see [`Drive::sample`].
    pub fn sample(&self, now: Nanos, into: &mut [u64]) {
        let (drive, own) = into.split_at_mut(Drive::COLUMNS.len());
        self.drive.sample(now, drive);
        self.sample_own(own);
    }

    columns! {
        const OWN_COLUMNS;
        fn sample_own(&self);
        "host_cpu_busy_ns_total": self.cpu.as_ref().map_or(0, |cpu| cpu.busy.0),
        "page_cache_bytes": self.page_cache.as_ref().map_or(0, PageCache::held_bytes),
        "page_cache_dirty_bytes": self.page_cache.as_ref().map_or(0, PageCache::dirty_bytes),
    }

    /// The processor's part of a request; returns when the request has left it.
    fn call(&mut self, now: Nanos, request: &Request) -> Nanos {
        let Some(cpu) = &mut self.cpu else { return now };
        let time = match request.op {
            Op::Read => cpu.of.read,
            _ => cpu.of.write,
        };
        cpu.busy += time;
        cpu.cores.take(now, time)
    }
}
