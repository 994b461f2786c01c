//! The computer around the drive: its processor's time for each request, the page cache for those that are not direct, and
//! the queue before a SATA port.

mod page_cache;
mod tags;

use crate::columns::columns;
use crate::config;
use crate::consistency::{ensure, ensure_counters, Consistency};
use crate::cores::Cores;
use crate::drive::{CyclingDrive, Drive};
use crate::ftl::custom::Custom;
use crate::ftl::Aging;
use crate::request::{Op, Request};
use crate::units::Nanos;
use crate::waits::{ByCause, Cause, Waits};
use page_cache::PageCache;
use tags::Tags;

/// A drive in its computer.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct Machine {
    cpu: Option<Cpu>,
    page_cache: Option<PageCache>,
    /// Where a link of it is SATA.
    tags: Option<Tags>,
    drive: CyclingDrive,
    /// What the time of the last request goes to where the host takes time for it, and what that of those before it went to:
    /// half of it is the last twenty's.
    #[serde(skip)]
    waits: Waits,
    #[serde(skip)]
    ahead: ByCause,
    host: HostTime,
    settled: Settled,
}

/// What the time of all requests went to until it was looked at last, and the account and the host's time then.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct Settled {
    by: ByCause,
    #[serde(skip)]
    drive: Waits,
    #[serde(skip)]
    host: HostTime,
}

/// Time of requests that go through a host which takes time for them: all of it; the processor's, with the wait for it; that
/// of copies to and from the page cache.
#[derive(Clone, Copy, Debug, Default, serde::Serialize, serde::Deserialize)]
struct HostTime {
    #[serde(skip)]
    all: Nanos,
    #[serde(skip)]
    processor: Nanos,
    #[serde(skip)]
    memory: Nanos,
    /// When the last of them ends, and the time in which there was none.
    until: Nanos,
    silent: Nanos,
}

#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
struct Cpu {
    cores: Cores,
    of: config::Cpu,
    busy: Nanos,
}

impl HostTime {
    /// Adds what came since `before`, as far as it is not told yet; what is the drive's goes to what its requests wait for.
    fn add_to(&self, waits: &mut Waits, before: &HostTime, drive: &ByCause) {
        let (processor, memory) = (self.processor - before.processor, self.memory - before.memory);
        waits.add(Cause::Processor, processor);
        waits.add(Cause::Memory, memory);
        waits.add_alike((self.all - before.all).saturating_sub(Nanos(waits.total())).0, drive);
    }
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

/// Requests that the links carry at a time, the host's own and one behind a bridge; `None`: as many as it asks.
fn tag_count(config: &config::Config) -> Option<usize> {
    config.links().filter_map(|link| link.tags()).min()
}

impl Machine {
    /// Names of what [`Machine::sample`] writes: the drive's, then the host's.
    pub const COLUMNS: &'static [&'static str] = &columns();

    pub fn new(config: &config::Config) -> Machine {
        Machine {
            cpu: config.host.cpu.map(|of| Cpu { cores: Cores::new(of.cores), of, busy: Nanos::ZERO }),
            page_cache: config.host.page_cache.map(|of| PageCache::new(&of, config.capacity_bytes)),
            tags: tag_count(config).map(Tags::new),
            drive: CyclingDrive::new(Drive::new(config)),
            waits: Waits::default(),
            ahead: ByCause::default(),
            host: HostTime::default(),
            settled: Settled::default(),
        }
    }

    /// What follows from the profile alone and is not in a drive file.
    pub(crate) fn describe(&mut self, config: &config::Config) {
        for (tags, count) in self.tags.iter_mut().zip(tag_count(config)) {
            tags.describe(count);
        }
        self.drive.drive_mut().describe(config);
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
        ensure(self.tags.is_some() == tag_count(config).is_some(), "tags of the link")?;
        self.tags.iter().try_for_each(|tags| tags.check())?;
        ensure_counters(&[self.host.until.0, self.host.silent.0], "host")?;
        ensure_counters(&self.settled.by, "account")?;
        ensure(!self.asks_at_once() || self.drive().now() <= now, "clock")?;
        self.drive().check(config, now)
    }

    /// As [`Drive::format`]; what the host had of the drive is gone too.
    pub fn format(&mut self, config: &config::Config) {
        let busy = self.cpu.as_ref().map(|cpu| cpu.busy);
        let fresh = Machine::new(config);
        self.cpu = fresh.cpu.map(|cpu| Cpu { busy: busy.unwrap_or_default(), ..cpu });
        self.page_cache = fresh.page_cache;
        self.tags = fresh.tags;
        self.drive.drive_mut().format(config);
    }

    /// See [`Drive::switch_cache`].
    pub fn switch_cache(&mut self, config: &config::Config, on: bool, emptied: bool) {
        self.drive.drive_mut().switch_cache(config, on, emptied);
    }

    /// See [`Drive::set_custom`].
    pub fn set_custom(&mut self, custom: Custom) {
        self.drive.drive_mut().set_custom(custom);
    }

    /// See [`Drive::lose_power`]; the computer around it goes on.
    pub fn lose_power(&mut self, lost: u32) {
        self.drive.drive_mut().lose_power(lost);
    }

    /// See [`Drive::switch_off`]: what the page cache holds was written before, and is gone.
    pub fn switch_off(&mut self, config: &config::Config, aged: Nanos) {
        self.page_cache = config.host.page_cache.map(|of| PageCache::new(&of, config.capacity_bytes));
        self.drive.drive_mut().switch_off(aged);
    }

    /// The age of what the drive holds; `None` where data do not age.
    pub(crate) fn aging(&self) -> Option<&Aging> {
        self.drive().aging()
    }

    /// Set the age of what it holds, as it was read.
    pub(crate) fn set_aging(&mut self, aging: Option<Aging>) {
        self.drive.drive_mut().set_aging(aging);
    }

    /// See [`CyclingDrive::begin_run`].
    pub fn begin_run(&mut self) {
        self.settle();
        self.settled.drive.forget_work();
        self.drive.begin_run();
    }

    /// See [`CyclingDrive::end_run`].
    pub fn end_run(&mut self) {
        self.drive.end_run();
        self.settle();
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
        if self.asks_at_once() {
            return self.drive.submit(now, request);
        }
        self.submit_by_host(now, request, direct)
    }

    /// As `submit`, where the host takes time for it or holds data.
    #[inline(never)]
    fn submit_by_host(&mut self, now: Nanos, request: &Request, direct: bool) -> Nanos {
        let before = self.host;
        let called = self.call(now, request);
        self.host.processor += called - now;
        let (done, cached) = self.submit_called(called, request, direct);
        self.host.all += done - now;
        self.host.silent += now.saturating_sub(self.host.until);
        self.host.until = self.host.until.max(done);
        if self.drive().tells() {
            self.tell(&before, cached);
        }
        done
    }

    /// A request that has left the processor: when it ends, and whether it went through the page cache.
    fn submit_called(&mut self, now: Nanos, request: &Request, direct: bool) -> (Nanos, bool) {
        match &mut self.page_cache {
            Some(cache) if !direct || cache.before_direct() => {
                let copying = cache.copying;
                let done = cache.submit(&mut self.drive, now, request);
                self.host.memory += cache.copying - copying;
                return (done, true);
            }
            Some(cache) => cache.bypassed(request),
            None => {}
        }
        let tag = self.tags.as_mut().map_or(now, |tags| tags.tag(now));
        let done = self.drive.submit(tag.max(self.drive().now()), request);
        if let Some(tags) = &mut self.tags {
            tags.sent(done);
        }
        (done, false)
    }

    /// What the last request spent its time on, which began with the host's time as it was `before`. Waiting for a tag, or for
    /// the page cache, is waiting for what the drive's requests wait for.
    fn tell(&mut self, before: &HostTime, cached: bool) {
        for (sum, ns) in self.ahead.iter_mut().zip(self.drive.drive().waits().by()) {
            *sum = *sum - *sum / 32 + ns;
        }
        self.waits = if cached { Waits::default() } else { self.drive.drive().waits().clone() };
        self.host.add_to(&mut self.waits, before, &self.ahead);
    }

    /// What the time of the request that was submitted last goes to. Waiting for a tag is waiting for what those under way
    /// wait for.
    #[inline]
    pub fn waits(&self) -> &Waits {
        if self.asks_at_once() {
            self.drive().waits()
        } else {
            &self.waits
        }
    }

    /// Whether requests may go through a page cache.
    pub fn has_page_cache(&self) -> bool {
        self.page_cache.is_some()
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

    /// Look at what requests spent their time on since the last time: until the next, [`Machine::sample`] tells what it was.
    pub fn settle(&mut self) {
        let asks_at_once = self.asks_at_once();
        let Settled { by, drive, host } = &mut self.settled;
        self.drive.look(drive);
        let mut waits = Waits::default();
        if !asks_at_once {
            self.host.add_to(&mut waits, host, drive.by());
            *host = self.host;
        }
        let passed = if asks_at_once { drive.by() } else { waits.by() };
        by.iter_mut().zip(passed).for_each(|(sum, ns)| *sum += ns);
    }

    /// What it was when it was looked at last.
    pub fn settled(&self) -> Settled {
        self.settled.clone()
    }

    /// As if nobody had looked since.
    pub fn unsettle(&mut self, settled: Settled) {
        self.settled = settled;
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
        self.sample_own(now, own);
    }

    columns! {
        const OWN_COLUMNS;
        fn sample_own(&self, now: Nanos);
        "host_silent_ns_total": self.silent(now).0,
        "host_cpu_busy_ns_total": self.cpu.as_ref().map_or(0, |cpu| cpu.busy.0),
        "page_cache_bytes": self.page_cache.as_ref().map_or(0, PageCache::held_bytes),
        "page_cache_dirty_bytes": self.page_cache.as_ref().map_or(0, PageCache::dirty_bytes),
        "waited_own_ns_total": self.settled.by[Cause::Own as usize],
        "waited_folding_ns_total": self.settled.by[Cause::Folding as usize],
        "waited_collection_ns_total": self.settled.by[Cause::Collection as usize],
        "waited_erasing_ns_total": self.settled.by[Cause::Erasing as usize],
        "waited_direct_ns_total": self.settled.by[Cause::Direct as usize],
        "waited_cache_ns_total": self.settled.by[Cause::Cache as usize],
        "waited_reading_ns_total": self.settled.by[Cause::Reading as usize],
        "waited_mapping_ns_total": self.settled.by[Cause::Mapping as usize],
        "waited_link_ns_total": self.settled.by[Cause::Link as usize],
        "waited_heat_ns_total": self.settled.by[Cause::Heat as usize],
        "waited_waking_ns_total": self.settled.by[Cause::Waking as usize],
        "waited_commands_ns_total": self.settled.by[Cause::Commands as usize],
        "waited_processor_ns_total": self.settled.by[Cause::Processor as usize],
        "waited_memory_ns_total": self.settled.by[Cause::Memory as usize],
    }

    /// Time up to `now` in which the host asked for nothing.
    fn silent(&self, now: Nanos) -> Nanos {
        if self.asks_at_once() {
            self.drive().silent(now)
        } else {
            self.host.silent + now.saturating_sub(self.host.until)
        }
    }

    /// Whether requests go to the drive at once, and take no time in the host.
    #[inline]
    fn asks_at_once(&self) -> bool {
        self.cpu.is_none() && self.page_cache.is_none() && self.tags.is_none()
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
