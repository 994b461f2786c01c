//! The drive as a function: `submit(now, request)` gives the time the request completes.

use crate::cell_mode::CellMode;
use crate::columns::columns;
use crate::config::{self, Config};
use crate::consistency::{ensure, ensure_counters, Consistency};
use crate::controller::{Look, MapCache, ReadAhead, WriteBuffer, MAPPED_PAGES};
use crate::cores::Cores;
use crate::ftl::{Ftl, Superblock};
use crate::link::Link;
use crate::nand::{Nand, Way};
use crate::power::{energy_pj, Activity, Waking, LEVELS};
use crate::request::{Op, Request};
use crate::rounds::{Behind, Rounds, Totals};
use crate::thermal::Thermal;
use crate::units::{Lpn, Nanos, Ppn, PAGE_BYTES};
use crate::waits::{Cause, Waits};

/// A simulated drive, fresh from the factory: every block erased, nothing mapped, its clock at zero.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct Drive {
    link: Link,
    controller: config::Controller,
    cores: Cores,
    buffer: WriteBuffer,
    read_ahead: Option<ReadAhead>,
    map_cache: Option<MapCache>,
    power: Option<config::Power>,
    heat: Option<Thermal>,
    ftl: Ftl,
    nand: Nand,
    capacity_bytes: u64,
    planes: u64,
    now: Nanos,
    /// End of the last request so far: the host is silent from then on.
    silent_since: Nanos,
    host_read_bytes: u64,
    host_write_bytes: u64,
    host_trim_bytes: u64,
    map_read_pages: u64,
    map_programmed_pages: u64,
    /// Pages of the map that were changed and have gone, and wait to be written together.
    map_pages_to_write: u32,
    /// Time spent in the idle state, and in each deeper one.
    idle: [Nanos; LEVELS],
    /// What a bridge from USB makes of commands, and from when on it takes the next where it takes one at a time.
    usb: config::Usb,
    bus_free: Nanos,
    /// Leaving the idle state.
    waking: Waking,
    /// Time requests have waited for the map.
    map_waited: Nanos,
    /// Something was written or trimmed since the last flush.
    unflushed: bool,
    /// Time requests have waited for what they wrote to be in the NAND.
    flush_waited: Nanos,
    power_cycles: u64,
    /// Times the power went without a word, and pages that the write buffer lost then.
    unsafe_shutdowns: u64,
    lost_pages: u64,
    /// Between [`Drive::begin_run`] and [`Drive::end_run`].
    #[serde(skip)]
    rounds: Option<Box<Rounds>>,
}

/// How long after the drive was last asked or looked at the clock of who has it may stand, in what is read from a file.
const MAX_UNSEEN: Nanos = Nanos::from_secs(24 * 3600);

/// The pages that a byte range touches.
#[derive(Clone, Copy, Debug)]
struct PageRange {
    first: Lpn,
    count: u32,
    /// The first, the last page is covered in part only.
    ragged: (bool, bool),
}

impl PageRange {
    #[inline]
    fn of(request: &Request) -> PageRange {
        let end = request.offset + request.len as u64;
        let first = request.offset / PAGE_BYTES;
        let last = end.div_ceil(PAGE_BYTES);
        PageRange {
            first: Lpn(first as u32),
            count: (last - first) as u32,
            ragged: (request.offset % PAGE_BYTES != 0, end % PAGE_BYTES != 0),
        }
    }
}

/// A write on its way over the link.
#[derive(Clone, Copy, Debug)]
struct Payload {
    /// Bytes of its data and of its command that have not come yet.
    bytes: u64,
    command: u64,
    /// When the last of what has come was here; at first, when the drive was ready for it.
    arrived: Nanos,
    /// Time in which nothing of it was under way, for want of room in the buffer.
    waited: Nanos,
}

impl Payload {
    fn new(bytes: u32, command: u64, ready: Nanos) -> Payload {
        Payload { bytes: bytes as u64, command, arrived: ready, waited: Nanos::ZERO }
    }
}

/// Bytes of so many pages.
fn bytes(pages: u64) -> u64 {
    pages * PAGE_BYTES
}

impl Drive {
    pub fn new(config: &Config) -> Drive {
        Drive {
            link: Link::new(&config.link),
            controller: config.controller.clone(),
            cores: Cores::new(config.controller.cores),
            buffer: WriteBuffer::new(
                (config.controller.write_buffer_bytes / PAGE_BYTES) as u32,
                config.nand.multi_plane_pages(),
            ),
            read_ahead: (config.controller.read_ahead_bytes > 0)
                .then(|| ReadAhead::new((config.controller.read_ahead_bytes / PAGE_BYTES) as u32)),
            map_cache: config.controller.map.map(|map| MapCache::new(&map, config.capacity_bytes)),
            power: config.power,
            heat: config.heat.as_ref().map(Thermal::new),
            ftl: Ftl::new(config),
            nand: Nand::new(&config.nand, config.controller.native_write_bytes_per_s),
            capacity_bytes: config.capacity_bytes,
            planes: config.nand.dies as u64 * config.nand.planes as u64,
            now: Nanos::ZERO,
            silent_since: Nanos::ZERO,
            host_read_bytes: 0,
            host_write_bytes: 0,
            host_trim_bytes: 0,
            map_read_pages: 0,
            map_programmed_pages: 0,
            map_pages_to_write: 0,
            idle: [Nanos::ZERO; LEVELS],
            usb: config.usb.unwrap_or_default(),
            bus_free: Nanos::ZERO,
            waking: Waking::default(),
            map_waited: Nanos::ZERO,
            unflushed: false,
            flush_waited: Nanos::ZERO,
            power_cycles: 1,
            unsafe_shutdowns: 0,
            lost_pages: 0,
            rounds: None,
        }
    }

    /// Whether it is this drive, at `now`, in a state that requests can have led to.
    pub(crate) fn check(&self, config: &Config, now: Nanos) -> Consistency {
        let controller = &config.controller;
        ensure(
            self.capacity_bytes == config.capacity_bytes
                && self.controller == *controller
                && self.power == config.power
                && self.usb == config.usb.unwrap_or_default()
                && self.planes == config.nand.dies as u64 * config.nand.planes as u64,
            "controller",
        )?;
        self.cores.check(controller.cores)?;
        self.check_counters()?;
        let idle: u64 = self.idle.iter().map(|time| time.0).sum();
        ensure(now <= self.now.max(self.silent_since) + MAX_UNSEEN && idle <= self.now.0, "clock")?;
        self.check_heat(config)?;
        self.nand.check(&config.nand, controller.native_write_bytes_per_s, self.now)?;
        self.check_caches(config)?;
        let buffer = (controller.write_buffer_bytes / PAGE_BYTES) as u32;
        self.ftl.check(config, &self.nand)?;
        self.buffer.check(buffer, config.nand.multi_plane_pages(), self.ftl.filling_pages(), &self.nand)
    }

    fn check_counters(&self) -> Consistency {
        let moved = [self.host_read_bytes, self.host_write_bytes, self.host_trim_bytes];
        let waited = [self.map_waited.0, self.flush_waited.0, self.waking.spent.0];
        let pages = [self.map_read_pages, self.map_programmed_pages, self.lost_pages];
        let events = [self.power_cycles, self.unsafe_shutdowns];
        ensure_counters(&moved, "counters")?;
        ensure_counters(&waited, "counters")?;
        ensure_counters(&pages.map(|pages| pages.saturating_mul(PAGE_BYTES)), "counters")?;
        ensure_counters(&events, "counters")
    }

    fn check_heat(&self, config: &Config) -> Consistency {
        ensure(self.heat.is_some() == config.heat.is_some(), "temperature")?;
        if let (Some(heat), Some(of)) = (&self.heat, &config.heat) {
            heat.check(of, self.now, self.energy_nj(self.now))?;
        }
        let share = self.heat.as_ref().map_or(1000, Thermal::share_permille);
        self.link.check(&config.link, share)
    }

    fn check_caches(&self, config: &Config) -> Consistency {
        let controller = &config.controller;
        ensure(self.read_ahead.is_some() == (controller.read_ahead_bytes > 0), "reading ahead")?;
        if let Some(ahead) = &self.read_ahead {
            let end_of_drive = Lpn((self.capacity_bytes / PAGE_BYTES) as u32);
            ahead.check((controller.read_ahead_bytes / PAGE_BYTES) as u32, end_of_drive)?;
        }
        ensure(self.map_cache.is_some() == controller.map.is_some(), "map cache")?;
        if let (Some(cache), Some(map)) = (&self.map_cache, &controller.map) {
            cache.check(map, self.capacity_bytes)?;
        }
        let unit = self.nand.program_unit(CellMode::Slc, 1000).pages;
        ensure(self.map_pages_to_write < unit, "map cache")
    }

    /// Many requests follow, and nobody will ask for [`Drive::waits`]. Until [`Drive::end_run`] writes that repeat those
    /// of a round before are answered from it (see `rounds`), and counters are looked at after [`Drive::catch_up`] only.
    pub fn begin_run(&mut self) {
        self.nand.waits.stop();
        // With these a write does more than its pages tell.
        let more = self.map_cache.is_some()
            || !self.controller.write_cache
            || self.usb.bulk_only
            || self.ftl.predicts();
        self.rounds = (!more).then(Box::default);
    }

    pub fn end_run(&mut self) {
        self.catch_up();
        self.rounds = None;
        self.nand.waits = Waits::default();
    }

    /// Work out what was answered without.
    pub fn catch_up(&mut self) {
        if let Some(mut rounds) = self.rounds.take() {
            self.level(&mut rounds);
            self.rounds = Some(rounds);
        }
    }

    /// Writes of this run that were answered from a round before.
    pub fn repeated(&self) -> u64 {
        self.rounds.as_ref().map_or(0, |rounds| rounds.answered)
    }

    /// Nothing is behind: what one sees of the drive is how it is.
    pub(crate) fn assert_level(&self) {
        let level = self.rounds.as_ref().is_none_or(|rounds| rounds.is_level());
        assert!(level, "a drive in a run catches up before it is looked at");
    }

    fn level(&mut self, rounds: &mut Rounds) {
        if rounds.is_level() {
            return;
        }
        let (now, since) = (self.now, self.nand.horizon());
        let Behind { span, gain, rest } = rounds.catch_up();
        if span > Nanos::ZERO {
            self.ftl.shift(span, gain.units);
            self.buffer.shift(&self.nand, span, gain.units);
            self.buffer.waited += gain.waited;
            self.link.shift(since, span);
            self.link.line_busy += gain.line;
            self.link.to_drive_busy += gain.to_drive;
            self.nand.shift(since, span, gain.units);
            self.nand.programming += gain.programming;
            self.cores.shift(span);
        }
        for step in rest {
            let done = self.arrive(step.at, step.len, false);
            debug_assert_eq!(done, step.at + step.takes);
        }
        self.now = now;
        self.nand.forget_before(now);
    }

    /// A write that may repeat one before; `None`: it is another request, or the drive has more to do for it.
    #[inline]
    fn submit_in_rounds(&mut self, now: Nanos, request: &Request) -> Option<Nanos> {
        if request.op != Op::Write && self.rounds.as_ref()?.are_left() {
            return None;
        }
        let mut rounds = self.rounds.take()?;
        let pages = PageRange::of(request);
        let done = match self.is_plain(now, request, &pages) {
            true => Some(self.write_in_rounds(&mut rounds, now, request.len, &pages)),
            false => {
                self.level(&mut rounds);
                rounds.leave();
                None
            }
        };
        self.rounds = Some(rounds);
        done
    }

    /// Whether this is a write of whole pages that go to one superblock, while the drive has nothing else to do.
    #[inline]
    fn is_plain(&self, now: Nanos, request: &Request, pages: &PageRange) -> bool {
        request.op == Op::Write
            && !request.fua
            && pages.ragged == (false, false)
            && pages.count > 0
            && now >= self.now
            && now <= self.silent_since
            && self.heat.as_ref().is_none_or(|heat| now < heat.due)
            && self.ftl.plain_pointer(pages.count).is_some()
    }

    fn write_in_rounds(&mut self, rounds: &mut Rounds, now: Nanos, len: u32, pages: &PageRange) -> Nanos {
        self.host_write_bytes += len as u64;
        self.unflushed = true;
        if let Some(ahead) = &mut self.read_ahead {
            ahead.forget(pages.first, pages.count);
        }
        self.ftl.map_host(&mut self.nand, now, pages.first, pages.count);
        // What was overwritten may have freed what the policy waits for.
        let throttled = self.ftl.is_throttled();
        let mut answer = if throttled { None } else { rounds.answer(now, len) };
        if answer.is_none() {
            self.level(rounds);
            if throttled || rounds.repeats() {
                rounds.leave();
            }
            if !throttled && self.meets(rounds, now, len) {
                answer = rounds.answer(now, len);
            }
        }
        let done = match answer {
            Some(takes) => now + takes,
            None => {
                let done = self.arrive(now, len, throttled);
                rounds.follow(now, len, done - now);
                done
            }
        };
        self.now = now;
        self.silent_since = self.silent_since.max(done);
        done
    }

    /// Whether a round begins with such a write in the state that the drive is in.
    fn meets(&self, rounds: &mut Rounds, now: Nanos, len: u32) -> bool {
        let totals = Totals {
            units: self.buffer.units(),
            waited: self.buffer.waited,
            line: self.link.line_busy,
            to_drive: self.link.to_drive_busy,
            programming: self.nand.programming,
        };
        let die = self.ftl.host_die();
        let busy = self.nand.register_free_at(die).saturating_sub(now);
        let hint = [self.silent_since.saturating_sub(now).0, self.buffer.room() as u64, die as u64, busy.0];
        rounds.watch(now, len, totals, hint, |state| {
            state.push(self.waking.relative(now));
            self.cores.relative(now, state);
            self.link.relative(now, state);
            self.ftl.relative(now, state);
            self.buffer.relative(&self.nand, now, state);
            self.nand.relative(now, state);
        })
    }

    /// The data of a write of whole pages come in, and are programmed; returns when they are here.
    fn arrive(&mut self, now: Nanos, len: u32, throttled: bool) -> Nanos {
        self.now = now;
        self.nand.forget_before(now);
        let ready = self.cores.take(self.waking.called(now), self.controller.write);
        let mut payload = Payload::new(len, self.link.command_bytes(), ready);
        self.take_in(ready, (len as u64 / PAGE_BYTES) as u32, throttled, &mut payload);
        self.buffer.waited += payload.waited;
        payload.arrived
    }

    /// Set the cache up anew, as the vendor's tool does: all data are gone, wear, heat and counters stay. The drive is
    /// switched off and on again for it. `config` is of the same hardware.
    pub fn format(&mut self, config: &Config) {
        let fresh = Drive::new(config);
        self.capacity_bytes = fresh.capacity_bytes;
        let waited = std::mem::replace(&mut self.buffer, fresh.buffer).waited;
        self.buffer.waited = waited;
        self.read_ahead = fresh.read_ahead;
        self.map_cache = fresh.map_cache;
        self.map_pages_to_write = 0;
        self.unflushed = false;
        self.ftl.format(config);
        self.power_cycles += 1;
    }

    /// Whether what the write buffer holds is in the NAND when the power goes.
    pub fn survives_power_loss(&self) -> bool {
        self.controller.power_loss_protection
    }

    /// Pages that were acknowledged and are not in the NAND, and those that pad the last unit of a flush under way.
    pub fn buffered_pages(&self) -> u32 {
        self.assert_level();
        self.buffer.held(&self.nand, self.now)
    }

    /// The power has gone and come back. What the controller held of the map and had read ahead is gone; so are `lost` pages
    /// of the write buffer, which the caller has not let it write.
    pub fn lose_power(&mut self, lost: u32) {
        let controller = &self.controller;
        self.map_cache = controller.map.map(|map| MapCache::new(&map, self.capacity_bytes));
        self.read_ahead = (controller.read_ahead_bytes > 0)
            .then(|| ReadAhead::new((controller.read_ahead_bytes / PAGE_BYTES) as u32));
        self.map_pages_to_write = 0;
        self.power_cycles += 1;
        self.unsafe_shutdowns += 1;
        self.lost_pages += lost as u64;
    }

    /// Times the power went without a word.
    pub fn unsafe_shutdowns(&self) -> u64 {
        self.unsafe_shutdowns
    }

    /// What the write buffer held when the power went, and nothing protected.
    pub fn lost_bytes(&self) -> u64 {
        bytes(self.lost_pages)
    }

    /// Times it was switched on.
    pub fn power_cycles(&self) -> u64 {
        self.power_cycles
    }

    /// The time of the last call.
    pub fn now(&self) -> Nanos {
        self.now
    }

    /// Bytes the host can address.
    pub fn capacity_bytes(&self) -> u64 {
        self.capacity_bytes
    }

    /// The parts of a range that hold no data: offset and length of each, in bytes.
    pub fn unwritten(&self, offset: u64, len: u64) -> Vec<(u64, u64)> {
        let mut found: Vec<(u64, u64)> = Vec::new();
        let (mut page, end) = ((offset / PAGE_BYTES) as u32, (offset + len).div_ceil(PAGE_BYTES) as u32);
        while page < end {
            let (at, count) = self.ftl.find(Lpn(page), end - page);
            if at == Ppn::NONE {
                let (from, bytes) = (page as u64 * PAGE_BYTES, count as u64 * PAGE_BYTES);
                match found.last_mut() {
                    Some((start, length)) if *start + *length == from => *length += bytes,
                    _ => found.push((from, bytes)),
                }
            }
            page += count;
        }
        found
    }

    /// Valid data in the pSLC cache.
    #[inline]
    pub fn cache_bytes(&self) -> u64 {
        bytes(self.ftl.pages.slc_valid)
    }

    /// Link, as its ceilings in bytes a second: for data written, for data read.
    pub fn link_ceilings(&self) -> (u64, u64) {
        (self.link.write_ceiling(), self.link.read_ceiling())
    }

    /// A copy in the same state.
    pub fn fork(&self) -> Drive {
        self.clone()
    }

    /// Let the time up to `now` pass: what the host's silence leaves is used for background work.
    #[inline]
    pub fn advance(&mut self, now: Nanos) {
        self.catch_up();
        self.let_pass(now);
    }

    /// As `advance`, with nothing to catch up on.
    #[inline]
    fn let_pass(&mut self, now: Nanos) {
        assert!(now >= self.now, "time runs forwards: {} after {}", now, self.now);
        if self.heat.as_ref().is_some_and(|heat| now >= heat.due) {
            self.warm(now);
        }
        self.pass(now);
    }

    #[inline]
    fn pass(&mut self, now: Nanos) {
        let before = self.now;
        self.now = now;
        if now > self.silent_since {
            let deep = self.power.as_ref().and_then(|power| power.background_until());
            let until = deep.map_or(now, |after| now.min(self.silent_since + after));
            let worked = self.ftl.background(&mut self.nand, self.silent_since, until);
            if let Some(power) = &self.power {
                let spans = self.waking.rest(power, self.silent_since, self.silent_since.max(worked), now);
                for (idle, (begin, end)) in self.idle.iter_mut().zip(spans.into_iter().flatten()) {
                    *idle += now.min(end).saturating_sub(before.max(begin));
                }
            }
        }
        self.nand.forget_before(now);
    }

    /// Follow the temperature up to `now`, a second at a time at most: what is drawn within each is spread evenly over it.
    #[inline(never)]
    fn warm(&mut self, now: Nanos) {
        let mut until = self.now;
        while until < now {
            until = now.min(until + Nanos::from_secs(1));
            self.pass(until);
            let energy_nj = self.energy_nj(until);
            let Some(heat) = &mut self.heat else { return };
            if until >= heat.due {
                if let Some(share) = heat.step(until, energy_nj) {
                    self.link.set_share(share);
                }
            }
        }
    }

    /// Energy drawn up to `now`, as far as requests or calls have come, in nanojoules; 0 where the profile does not say
    /// what the parts draw.
    fn energy_nj(&self, now: Nanos) -> u64 {
        let Some(power) = &self.power else { return 0 };
        let done = Activity {
            time: self.now.max(now.min(self.silent_since)),
            idle: self.idle,
            reading: self.nand.reading,
            programming: self.nand.programming,
            erasing: self.nand.erasing,
            host_bytes: self.host_read_bytes + self.host_write_bytes,
        };
        (energy_pj(power, &done) / 1000) as u64
    }

    /// Ask for something at `now`, which must not be before the last call's; returns when it completes.
    ///
    /// Panics if the request goes past the end of the drive: the caller checks what users give.
    #[inline]
    pub fn submit(&mut self, now: Nanos, request: &Request) -> Nanos {
        assert!(
            request.offset + request.len as u64 <= self.capacity_bytes,
            "{request:?} ends past {} bytes",
            self.capacity_bytes
        );
        if request.op == Op::Trim && self.usb.drops_discards {
            // It ends at the bridge: the drive is not even woken.
            self.nand.waits.begin(now);
            return now;
        }
        if let Some(done) = self.submit_in_rounds(now, request) {
            return done;
        }
        self.let_pass(now);
        self.ftl.called_after(now.saturating_sub(self.silent_since));
        let awake = self.waking.called(now);
        self.nand.waits.begin(now);
        self.nand.waits.spend(awake, Cause::Waking);
        let awake = awake.max(self.bus_free);
        self.nand.waits.spend(awake, Cause::Link);
        let done = match request.op {
            Op::Read => {
                let taken = self.cores.take(awake, self.controller.read);
                self.read(taken, request)
            }
            Op::Write => {
                let taken = self.cores.take(awake, self.controller.write);
                self.write(taken, request)
            }
            Op::Trim => {
                let taken = self.cores.take(awake, self.controller.command);
                self.trim(taken, request)
            }
            Op::Flush => {
                let taken = self.cores.take(awake, self.controller.command);
                self.flush(taken)
            }
        };
        if self.usb.bulk_only {
            self.bus_free = done;
        }
        self.silent_since = self.silent_since.max(done);
        if self.nand.waits.go_on() {
            self.nand.waits.end(done);
            let share = self.link.share_permille();
            if share < 1000 {
                self.nand.waits.leave(share, Cause::Link, Cause::Heat);
            }
        }
        done
    }

    /// What the time of the request that was submitted last goes to.
    #[inline]
    pub fn waits(&self) -> &Waits {
        &self.nand.waits
    }

    /// As `submit`, at the time of the last call where `now` is before it.
    pub fn submit_late(&mut self, now: Nanos, request: &Request) -> Nanos {
        self.submit(now.max(self.now), request)
    }

    /// Prefetch what a request will look up. Changes no state.
    #[inline]
    pub fn prepare(&self, request: &Request) {
        self.ftl.prefetch(Lpn((request.offset / PAGE_BYTES) as u32));
    }

    /// Whether the page at a byte offset holds data, and how many bytes from there on, at most so many, do as it does; there
    /// may be more.
    pub fn mapped(&self, offset: u64, most: u64) -> (bool, u64) {
        let page = offset / PAGE_BYTES;
        let end = (offset + most).min(self.capacity_bytes).div_ceil(PAGE_BYTES);
        let (at, run) = self.ftl.find(Lpn(page as u32), (end - page) as u32);
        (at != Ppn::NONE, ((page + run as u64) * PAGE_BYTES - offset).min(most))
    }

    /// The superblocks, for tools that look inside.
    pub fn superblocks(&self) -> impl Iterator<Item = &Superblock> {
        self.ftl.superblocks()
    }

    /// Check that the mapping is consistent and every count is what it counts; panics if not. Slow; for tests.
    pub fn audit(&self) {
        self.ftl.audit();
    }

    columns! {
        /// Names of what [`Drive::sample`] writes. Counters end in `_total`; the others are gauges.
        pub const COLUMNS;
        /// Counters and gauges as of the last call, in the order of [`Drive::COLUMNS`]; energy up to `now`, until when
        /// what was asked for has been under way.
        pub fn sample(&self, now: Nanos);
        "host_read_bytes_total": self.host_read_bytes,
        "host_write_bytes_total": self.host_write_bytes,
        "host_trim_bytes_total": self.host_trim_bytes,
        "host_to_slc_bytes_total": bytes(self.ftl.pages.host_to_slc),
        "host_to_native_bytes_total": bytes(self.ftl.pages.host_to_native),
        "folded_bytes_total": bytes(self.ftl.pages.folded),
        "idle_folded_bytes_total": bytes(self.ftl.pages.idle_folded),
        "gc_bytes_total": bytes(self.ftl.pages.collected),
        "died_in_slc_bytes_total": bytes(self.ftl.pages.died_in_slc),
        "slc_programmed_bytes_total": bytes(self.ftl.pages.slc_programmed),
        "native_programmed_bytes_total": bytes(self.ftl.pages.native_programmed),
        "slc_erases_total": self.ftl.erases().0 * self.planes,
        "native_erases_total": self.ftl.erases().1 * self.planes,
        "link_busy_ns_total": self.link.busy().0,
        "die_busy_ns_total": self.nand.busy().0,
        "buffer_wait_ns_total": self.buffer.waited.0,
        "suspends_total": self.nand.suspends,
        "slc_valid_bytes": self.cache_bytes(),
        "slc_superblocks": self.ftl.slc_superblocks() as u64,
        "free_superblocks": self.ftl.free_superblocks() as u64,
        "mapped_bytes": bytes(self.ftl.pages.mapped),
        "cache_limit_bytes": self.ftl.cache_superblocks() as u64 * self.ftl.superblock_bytes(CellMode::Slc),
        "static_erases_total": self.ftl.static_erases() * self.planes,
        "map_read_bytes_total": bytes(self.map_read_pages),
        "map_programmed_bytes_total": bytes(self.map_programmed_pages),
        "energy_nj_total": self.energy_nj(now),
        "temperature_millicelsius": self.heat.as_ref().map_or(0, |heat| heat.temperature_mc().max(0) as u64),
        "throttle_level": self.heat.as_ref().map_or(0, |heat| heat.level() as u64),
        "map_wait_ns_total": self.map_waited.0,
        "buffer_bytes": bytes(self.buffer.held(&self.nand, self.now) as u64),
        "wake_ns_total": self.waking.spent.0,
        "flush_wait_ns_total": self.flush_waited.0,
    }

    fn read(&mut self, taken: Nanos, request: &Request) -> Nanos {
        self.host_read_bytes += request.len as u64;
        let pages = PageRange::of(request);
        let mut command = self.link.command_bytes();
        let mut done = taken;
        // Of the part that comes last.
        let mut way = Way::default();
        let accounts = self.nand.waits.go_on();
        let mut send = |drive: &mut Drive, at: Nanos, count: u32| {
            let bytes = count as u64 * PAGE_BYTES + std::mem::take(&mut command);
            let sent = drive.link.send(drive.now, at, bytes);
            if sent > done {
                done = sent;
                if accounts {
                    way = if drive.nand.way.arrived == at { drive.nand.way } else { Way::known(at) };
                }
            }
        };
        let known = self.look_up(taken, pages, false);
        self.map_waited += known - taken;
        self.nand.waits.spend(taken, Cause::Commands);
        self.nand.waits.spend(known, Cause::Mapping);
        if self.read_ahead.is_none() {
            self.each_multi_plane_page(known, pages, send);
        } else {
            self.read_in_sequence(known, pages, &mut send);
        }
        if accounts {
            way.account(&mut self.nand.waits);
            self.nand.waits.spend(done, Cause::Link);
        }
        done
    }

    /// Take what was read ahead, read what was not, and read on if the host reads in sequence.
    #[inline(never)]
    fn read_in_sequence(
        &mut self,
        at: Nanos,
        pages: PageRange,
        send: &mut dyn FnMut(&mut Drive, Nanos, u32),
    ) {
        let mut ahead = self.read_ahead.take().expect("asked for");
        let end_of_drive = Lpn((self.capacity_bytes / PAGE_BYTES) as u32);
        let next = ahead.follow(pages.first, pages.count, end_of_drive);
        let (mut page, end) = (pages.first, pages.first + pages.count);
        while page < end {
            match ahead.find(page) {
                Some((ready, count)) => {
                    let part = count.min(end - page);
                    send(self, at.max(ready), part);
                    page += part;
                }
                None => {
                    let rest = PageRange { first: page, count: end - page, ragged: (false, false) };
                    self.each_multi_plane_page(at, rest, &mut *send);
                    page = end;
                }
            }
        }
        if !next.is_empty() {
            let more = PageRange { first: next.start, count: next.end - next.start, ragged: (false, false) };
            let known = self.look_up(at, more, false);
            let mut first = next.start;
            self.each_multi_plane_page(known, more, |_, ready, count| {
                ahead.arrives(first, count, ready);
                first += count;
            });
        }
        self.read_ahead = Some(ahead);
    }

    /// When the controller knows where these pages are: at once where the whole map is in DRAM.
    #[inline]
    fn look_up(&mut self, at: Nanos, pages: PageRange, change: bool) -> Nanos {
        match self.map_cache.is_some() {
            true => self.look_up_in_cache(at, pages, change),
            false => at,
        }
    }

    fn look_up_in_cache(&mut self, at: Nanos, pages: PageRange, change: bool) -> Nanos {
        let Some(cache) = &mut self.map_cache else { return at };
        let mut known = at + cache.access;
        let last = pages.first.0 + pages.count.max(1) - 1;
        for segment in pages.first.0 / MAPPED_PAGES..=last / MAPPED_PAGES {
            let Look::Miss { writes } = cache.look(segment, change) else { continue };
            let die = segment % self.nand.dies();
            known = known.max(self.nand.host_read(at, die, CellMode::Slc, 0, 1));
            self.map_read_pages += 1;
            self.map_pages_to_write += writes as u32;
            let unit = self.nand.program_unit(CellMode::Slc, 1000);
            if self.map_pages_to_write == unit.pages {
                self.nand.work = Cause::Mapping;
                self.nand.program(at, die, &unit);
                self.map_pages_to_write = 0;
                self.map_programmed_pages += unit.pages as u64;
            }
        }
        known
    }

    /// Look the pages up and read what is in the NAND; tells of each part when it is in the controller.
    #[inline]
    fn each_multi_plane_page(
        &mut self,
        taken: Nanos,
        pages: PageRange,
        mut arrived: impl FnMut(&mut Drive, Nanos, u32),
    ) {
        let (mut page, mut rest) = (pages.first, pages.count);
        while rest > 0 {
            let (mut from, run) = self.ftl.find(page, rest);
            let mut left = run;
            while left > 0 {
                if from == Ppn::NONE {
                    arrived(self, taken, left);
                    break;
                }
                let (address, mode, held) = self.ftl.locate(from, &self.nand, &mut self.buffer, taken);
                let part = left.min(address.rest);
                let at = match held {
                    true => taken,
                    false => self.nand.host_read(taken, address.die, mode, address.column, part),
                };
                arrived(self, at, part);
                from += part;
                left -= part;
            }
            page += run;
            rest -= run;
        }
    }

    fn write(&mut self, taken: Nanos, request: &Request) -> Nanos {
        self.host_write_bytes += request.len as u64;
        self.unflushed = true;
        let pages = PageRange::of(request);
        let known = self.look_up(taken, pages, true);
        // The buffer answers before the map has been changed, but not more than so many changes ahead.
        let behind = match &mut self.map_cache {
            Some(cache) => cache.change_later(known),
            None => Nanos::ZERO,
        };
        let merged = match pages.ragged {
            (false, false) => taken,
            _ => self.read_modify_write(taken, pages),
        };
        let ready = merged.max(behind);
        self.map_waited += ready - merged;
        if self.nand.waits.go_on() {
            self.nand.waits.spend(taken, Cause::Commands);
            self.nand.waits.spend(merged, Cause::Own);
            self.nand.waits.spend(ready, Cause::Mapping);
        }
        if let Some(ahead) = &mut self.read_ahead {
            ahead.forget(pages.first, pages.count);
        }
        self.ftl.sort(pages.first, pages.count);
        let mut payload = Payload::new(request.len, self.link.command_bytes(), ready);
        let (mut page, mut rest) = (pages.first, pages.count);
        while rest > 0 {
            let mapped = self.ftl.map_host(&mut self.nand, ready, page, rest);
            let throttled = self.ftl.is_throttled();
            self.take_in(ready, mapped, throttled, &mut payload);
            page += mapped;
            rest -= mapped;
        }
        self.buffer.waited += payload.waited;
        match request.fua || !self.controller.write_cache {
            true => self.flush(payload.arrived),
            false => payload.arrived,
        }
    }

    /// Take in `pages` of a write that are mapped, from `ready` on.
    #[inline(always)]
    fn take_in(&mut self, ready: Nanos, pages: u32, throttled: bool, payload: &mut Payload) {
        let (link, now) = (&mut self.link, self.now);
        let transfer = |room: Nanos, pages: u32| {
            let carried = payload.bytes.min(pages as u64 * PAGE_BYTES);
            payload.bytes -= carried;
            let at = link.receive(now, room, carried + std::mem::take(&mut payload.command));
            payload.waited += room.saturating_sub(payload.arrived);
            payload.arrived = payload.arrived.max(at);
            at
        };
        self.ftl.take_in(&mut self.nand, &mut self.buffer, ready, pages, throttled, transfer);
    }

    /// Read-modify-write: pages that a write covers in part are read first; returns when that is done.
    #[inline(never)]
    fn read_modify_write(&mut self, taken: Nanos, pages: PageRange) -> Nanos {
        let mut ready = taken;
        let mut way = Way::default();
        let last = Lpn(pages.first.0 + pages.count - 1);
        let mut read = |drive: &mut Drive, first: Lpn| {
            let one = PageRange { first, count: 1, ragged: (false, false) };
            drive.each_multi_plane_page(taken, one, |drive, at, _| {
                if at > ready {
                    (ready, way) = (at, drive.nand.way);
                }
            });
        };
        if pages.ragged.0 {
            read(self, pages.first);
        }
        if pages.ragged.1 && (last != pages.first || !pages.ragged.0) {
            read(self, last);
        }
        self.nand.waits.spend(taken, Cause::Commands);
        way.account(&mut self.nand.waits);
        ready
    }

    /// Only pages that the range covers whole are deallocated.
    fn trim(&mut self, taken: Nanos, request: &Request) -> Nanos {
        self.host_trim_bytes += request.len as u64;
        let first = request.offset.div_ceil(PAGE_BYTES);
        let end = (request.offset + request.len as u64) / PAGE_BYTES;
        if first >= end {
            return taken;
        }
        self.unflushed = true;
        let pages =
            PageRange { first: Lpn(first as u32), count: (end - first) as u32, ragged: (false, false) };
        self.ftl.trim(pages.first, pages.count);
        if let Some(ahead) = &mut self.read_ahead {
            ahead.forget(pages.first, pages.count);
        }
        taken
    }

    /// Returns when all that was acknowledged survives a loss of power: at once where the buffer does.
    fn flush(&mut self, taken: Nanos) -> Nanos {
        if self.controller.power_loss_protection || !std::mem::take(&mut self.unflushed) {
            return taken;
        }
        self.ftl.flush_host(&mut self.nand, &mut self.buffer, taken);
        let mut drained = taken;
        if let Some(last) = self.buffer.last(&self.nand) {
            drained = taken.max(self.nand.end_of(&last));
            let work = self.nand.work_of(&last, drained);
            self.nand.waits.spend_as(drained, &work);
        }
        let safe = drained + self.controller.flush;
        self.flush_waited += safe - taken;
        safe
    }
}
