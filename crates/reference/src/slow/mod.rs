//! The slow, obvious version of the drive, for tiny geometries: one page at a time, counts by
//! counting, every reservation of every wire kept for ever and searched from the beginning. It is written from the
//! description in docs/model.md and shares no code with the drive but the configuration.

mod host;
mod nand;
mod thermal;

use pslc_ssd::config::*;
use pslc_ssd::{Nanos, Op, Request};

use nand::{Die, Kind, Wire};
use thermal::Thermal;

pub use host::ReferenceMachine;

const PAGE: u64 = 4096;
/// Pages of the drive that a page of the map maps.
const MAPPED: u64 = 1024;

#[derive(Clone, Copy, PartialEq, Debug)]
enum State {
    Free,
    Open,
    Closed,
}

struct Block {
    state: State,
    mode: CellMode,
    last_mode: Option<CellMode>,
    by_host: bool,
    set_aside: bool,
    opened: u64,
    /// Pages the host had written when its data were.
    born: u64,
    /// When its cells were last programmed from the first on, and reads of the host's since, by die.
    written_at: u64,
    reads: Vec<u64>,
    /// Erases at one bit a cell, and at more.
    erases: [u64; 2],
    /// Pages that were in its cells before they were programmed a second time; 0: they were not.
    lower: usize,
    pages: Vec<Option<u32>>,
}

#[derive(Clone, Copy, PartialEq)]
enum Throttle {
    None,
    Share,
    OneForOne,
    TwoForOne,
    Beside,
}

#[derive(Clone)]
struct WritePointer {
    block: usize,
    mode: CellMode,
    unit_pages: usize,
    written: usize,
    arrived: usize,
    ready: u64,
    units: usize,
}

struct Buffered {
    pages: usize,
    die: usize,
    operation: usize,
    opened: u64,
    unit: usize,
}

struct Victim {
    block: usize,
    next: usize,
    /// The multi-plane page read last: its number and when it was sensed.
    sensed: Option<(usize, u64)>,
    price: u64,
    /// It is emptied because its data are old.
    refreshed: bool,
}

pub struct Reference {
    c: Config,
    main: CellMode,
    /// Of each link from the host on: the line to the host or the only one, and when that to the drive is free.
    lines: [Wire; 2],
    to_drive: [u64; 2],
    cores: Vec<u64>,
    channels: Vec<Wire>,
    dies: Vec<Die>,
    /// Block and page of each logical page.
    l2p: Vec<Option<(usize, usize)>>,
    blocks: Vec<Block>,
    free: Vec<usize>,
    free_set_aside: Vec<usize>,
    openings: u64,
    host: Option<WritePointer>,
    /// Where writes are sorted, the pointer that the last did not go to, and whether that one is the cache's.
    other: Option<WritePointer>,
    past_cache: bool,
    /// The last eight runs of writes: where they end and how long they are; the next to go.
    runs: Vec<(u64, u64)>,
    next_run: usize,
    silences: Vec<u64>,
    host_pages: u64,
    moved: Option<WritePointer>,
    victim: Option<Victim>,
    waiting: Vec<(u64, usize, u64)>,
    in_flight: Vec<(usize, usize)>,
    buffer: Vec<Buffered>,
    buffer_used: usize,
    /// Time that writes stood still for want of room in the buffer.
    pub buffer_waited: u64,
    exhausted: bool,
    draining: bool,
    unflushed: bool,
    /// The controller's data path into the cells.
    path: Wire,
    throttle: Throttle,
    space_credits: i64,
    slot_credits: i64,
    time_credits: i64,
    /// Pages of host data since a superblock was erased beside them.
    unerased_pages: usize,
    not_before: u64,
    silent_since: u64,
    worked_until: u64,
    awake_from: u64,
    /// Array time spent, by kind.
    sensing: u64,
    programming: u64,
    erasing: u64,
    /// Superblocks of one bit a cell that were erased.
    slc_erases: u64,
    host_bytes: u64,
    /// Time in the idle state.
    idle: [u64; 1 + POWER_STATES],
    last_done: u64,
    thermal: Option<Thermal>,
    /// Superblocks of the cache whose data have all died, left for idle time.
    kept: Vec<usize>,
    /// Pages of the map that are held, least recently used first, and whether they were changed.
    map: Vec<(u64, bool)>,
    /// Changed pages of the map that have gone and wait to be written together.
    map_unwritten: usize,
    /// When the map could be changed for each write so far.
    map_changes: Vec<u64>,
    /// What was read ahead, in order: pages, and when they are in the controller.
    ahead: Vec<(std::ops::Range<u64>, u64)>,
    /// The page after the last read, and how many reads began where the one before ended.
    next_read: u64,
    sequence: u32,
    now: u64,
}

impl Reference {
    pub fn new(c: &Config) -> Reference {
        let count = c.nand.blocks_per_plane as usize;
        let main = match c.cache.mode {
            CacheMode::PureSlc => CellMode::Slc,
            _ => CellMode::Native,
        };
        let set_aside = match c.cache.mode {
            CacheMode::StaticSlc | CacheMode::HybridSlc => {
                c.cache.static_bytes.div_ceil(c.nand.superblock_bytes(CellMode::Slc)) as usize
            }
            _ => 0,
        };
        let block = |index| Block {
            state: State::Free,
            mode: CellMode::Native,
            last_mode: None,
            by_host: true,
            set_aside: index < set_aside,
            opened: 0,
            born: 0,
            written_at: 0,
            reads: vec![0; c.nand.dies as usize],
            erases: [0; 2],
            lower: 0,
            pages: Vec::new(),
        };
        Reference {
            main,
            lines: Default::default(),
            to_drive: [0; 2],
            cores: vec![0; c.controller.cores as usize],
            channels: (0..c.nand.channels).map(|_| Wire::default()).collect(),
            dies: (0..c.nand.dies).map(|_| Die::new(c.nand.planes as usize)).collect(),
            l2p: vec![None; (c.capacity_bytes / PAGE) as usize],
            blocks: (0..count).map(block).collect(),
            free: (set_aside..count).collect(),
            free_set_aside: (0..set_aside).collect(),
            openings: 0,
            host: None,
            other: None,
            past_cache: false,
            runs: Vec::new(),
            next_run: 0,
            silences: Vec::new(),
            host_pages: 0,
            moved: None,
            victim: None,
            waiting: Vec::new(),
            in_flight: Vec::new(),
            buffer: Vec::new(),
            buffer_used: 0,
            buffer_waited: 0,
            exhausted: false,
            draining: false,
            unflushed: false,
            path: Wire::default(),
            throttle: Throttle::None,
            space_credits: 0,
            slot_credits: 0,
            time_credits: 0,
            unerased_pages: 0,
            not_before: 0,
            silent_since: 0,
            worked_until: 0,
            awake_from: 0,
            sensing: 0,
            programming: 0,
            erasing: 0,
            slc_erases: 0,
            host_bytes: 0,
            idle: [0; 1 + POWER_STATES],
            last_done: 0,
            thermal: c.heat.clone().map(Thermal::new),
            kept: Vec::new(),
            map: Vec::new(),
            map_unwritten: 0,
            map_changes: Vec::new(),
            ahead: Vec::new(),
            next_read: 0,
            sequence: 0,
            now: 0,
            c: c.clone(),
        }
    }

    pub fn submit(&mut self, now: Nanos, request: &Request) -> Nanos {
        if matches!(request.op, Op::Trim) && self.c.usb.is_some_and(|usb| usb.drops_discards) {
            return now;
        }
        let mut now = Nanos(self.wake(now));
        if self.c.usb.is_some_and(|usb| usb.bulk_only) {
            now.0 = now.0.max(self.last_done);
        }
        let core = (0..self.cores.len()).min_by_key(|&i| (self.cores[i], i)).unwrap();
        let time = match request.op {
            Op::Read => self.c.controller.read,
            Op::Write => self.c.controller.write,
            Op::Trim | Op::Flush => self.c.controller.command,
        };
        self.cores[core] = self.cores[core].max(now.0) + time.0;
        let taken = self.cores[core] + self.c.controller.latency.0;
        let done = match request.op {
            Op::Read => self.read(taken, request),
            Op::Write => self.write(taken, request),
            Op::Trim => {
                let first = request.offset.div_ceil(PAGE);
                let end = (request.offset + request.len as u64) / PAGE;
                for page in first..end {
                    self.unflushed = true;
                    self.l2p[page as usize] = None;
                }
                self.release_dead();
                if first < end {
                    self.forget_read_ahead(first..end);
                }
                taken
            }
            Op::Flush => self.flush(taken),
        };
        self.last_done = done;
        self.silent_since = self.silent_since.max(done);
        Nanos(done)
    }

    /// When a command that comes at `now` finds the drive awake.
    fn wake(&mut self, now: Nanos) -> u64 {
        self.advance(now);
        if let Some(idle) = self.c.cache.idle {
            let silence = now.0.saturating_sub(self.silent_since);
            if silence >= idle.threshold.0 / 10 {
                self.silences.push(silence);
            }
        }
        if let Some(power) = self.c.power {
            let rest = self.rests(power).into_iter().enumerate().rev().find(|(_, begin)| now.0 > *begin);
            if let Some((level, begin)) = rest.filter(|_| now.0 > self.awake_from) {
                let (entry, exit) = match level {
                    0 => (0, power.exit.0),
                    _ => power.states[level - 1].map(|state| (state.entry.0, state.exit.0)).unwrap(),
                };
                self.awake_from = now.0.max(begin + entry) + exit;
            }
        }
        now.0.max(self.awake_from)
    }

    /// When the idle state and each deeper one there is begin if nothing happens.
    fn rests(&self, power: Power) -> Vec<u64> {
        let mut begins = vec![self.quiet_since() + power.idle_after.0];
        let deeper = power.states.iter().flatten();
        begins.extend(deeper.map(|state| self.quiet_since().max(self.silent_since + state.after.0)));
        begins
    }

    fn quiet_since(&self) -> u64 {
        self.silent_since.max(self.worked_until)
    }

    /// Pages that the host can address.
    pub fn pages(&self) -> u64 {
        self.l2p.len() as u64
    }

    pub fn now(&self) -> Nanos {
        Nanos(self.now)
    }

    pub fn advance(&mut self, now: Nanos) {
        // The temperature is looked at once a second at least, where a step of it is due.
        while self.thermal.as_ref().is_some_and(|thermal| now.0 >= thermal.due) && self.now < now.0 {
            self.pass(now.0.min(self.now + 1_000_000_000));
            let (now, energy) = (self.now, self.energy_nj());
            self.thermal.as_mut().unwrap().follow(now, energy);
        }
        self.pass(now.0);
    }

    /// Let time pass at which nothing is asked for.
    fn pass(&mut self, now: u64) {
        let before = std::mem::replace(&mut self.now, now);
        self.background();
        if let Some(power) = self.c.power {
            let begins = self.rests(power);
            for (level, begin) in begins.iter().enumerate() {
                let end = begins[level + 1..].iter().copied().min().unwrap_or(u64::MAX).min(now);
                self.idle[level] += end.saturating_sub(before.max(*begin));
            }
        }
    }

    /// Energy drawn up to now, in nanojoules.
    pub fn energy_nj(&self) -> u64 {
        let Some(power) = self.c.power else { return 0 };
        let resting: u64 = self.idle.iter().sum();
        let mut milliwatts = vec![
            (power.active_mw, self.now - resting),
            (power.idle_mw, self.idle[0]),
            (power.die_read_mw, self.sensing),
            (power.die_program_mw, self.programming),
            (power.die_erase_mw, self.erasing),
        ];
        let states = power.states.iter().zip(&self.idle[1..]);
        milliwatts.extend(states.filter_map(|(state, time)| state.map(|state| (state.draws_mw, *time))));
        let picojoules: u64 = milliwatts.iter().map(|(mw, time)| mw * time).sum();
        (picojoules + power.data_pj_per_byte * self.host_bytes) / 1000
    }

    pub fn temperature_mc(&self) -> u64 {
        self.thermal.as_ref().map_or(0, |thermal| (thermal.chips / 1000) as u64)
    }

    fn background(&mut self) {
        let Some(idle) = self.c.cache.idle else { return };
        let threshold = match self.c.cache.when_full {
            WhenFull::PredictIdle if self.silences.len() >= 3 => {
                let mut last: Vec<u64> = self.silences.iter().rev().take(8).copied().collect();
                last.sort();
                // As many were longer as were shorter, or one more was longer.
                if last[(last.len() - 1) / 2] > idle.threshold.0 {
                    idle.threshold.0 / 10
                } else {
                    idle.threshold.0
                }
            }
            _ => idle.threshold.0,
        };
        let start = self.silent_since + threshold;
        // A state in which nothing is folded ends it.
        let states = self.c.power.iter().flat_map(|power| power.states.iter().flatten());
        let deep = states.filter(|state| !state.background).map(|state| self.silent_since + state.after.0).min();
        let until = self.now.min(deep.unwrap_or(u64::MAX));
        if until <= start {
            return;
        }
        let folds = self.c.cache.when_full != WhenFull::InPlaceSwitch;
        if folds && !self.fold_in_background(idle, start, until) {
            return;
        }
        let mut from = start;
        loop {
            let refreshed = self.refresh_in_background(idle, from, until);
            if !refreshed || !self.collect_in_background(idle, from, until) || !self.erase_ahead(from, until) {
                return;
            }
            // What becomes old later in this silence, or has room now.
            match self.oldest_data() {
                Some((due, _)) if due < until && (due > from || self.has_room_to_move()) => {
                    from = due.max(self.worked_until);
                }
                _ => return,
            }
        }
    }

    // ---- data that age

    /// Age of what a die's block holds, as time in new cells at 30 degrees Celsius: reads and cycles count as time.
    fn age(&self, index: usize, die: usize, at: u64) -> u64 {
        let block = &self.blocks[index];
        let time = at.saturating_sub(block.written_at) + block.reads[die] * self.c.nand.read_disturb.0;
        let Some(wear) = self.c.wear else { return time };
        let (had, stands) = match block.mode {
            CellMode::Slc => (block.erases[0], wear.slc_cycles),
            CellMode::Mlc | CellMode::Native => (block.erases[1], wear.native_cycles),
        };
        // Six times as fast at the end of their life.
        (time as u128 * (stands as u128 + 5 * had as u128) / stands as u128) as u64
    }

    fn tries(&self, index: usize, die: usize, at: u64) -> u64 {
        let Some(retention) = self.timing(self.blocks[index].mode).retention else { return 1 };
        let nand = &self.c.nand;
        let next = |age: &u128| Some(age * nand.retry_growth_permille as u128 / 1000);
        let ages = std::iter::successors(Some(retention.0 as u128), next).take(nand.retries as usize);
        1 + ages.filter(|age| self.age(index, die, at) as u128 >= *age).count() as u64
    }

    /// The full superblock whose data are the first to be as old as data may be, and when they are.
    fn oldest_data(&self) -> Option<(u64, usize)> {
        let limit = self.c.ftl.refresh?.0;
        let is_old = |index: usize, at: u64| (0..self.dies.len()).any(|die| self.age(index, die, at) >= limit);
        let closed = (0..self.blocks.len()).filter(|&i| self.blocks[i].state == State::Closed);
        let holds = closed.filter(|&i| self.valid(i) > 0);
        let due = |index: usize| {
            let (mut young, mut old) = (self.blocks[index].written_at, self.blocks[index].written_at + limit);
            while young < old {
                let at = (young + old) / 2;
                if is_old(index, at) {
                    old = at;
                } else {
                    young = at + 1;
                }
            }
            old
        };
        holds.map(|index| (due(index), index)).min()
    }

    /// Whether all that is old has been moved, or there is no space to begin with.
    fn refresh_in_background(&mut self, idle: Idle, start: u64, until: u64) -> bool {
        if !self.ages() {
            return true;
        }
        if self.victim.as_ref().is_some_and(|victim| self.valid(victim.block) == 0) {
            self.leave_old_data();
        }
        let mut at = start.max(self.worked_until);
        while let Some((due, index)) = self.oldest_data() {
            at = at.max(start).max(self.not_before);
            if self.in_flight.len() == 2 * self.dies.len() {
                at = at.max(self.end_of(self.in_flight[0]));
            }
            let is_begun = self.victim.as_ref().is_some_and(|victim| victim.refreshed);
            if !is_begun && (due > at || !self.has_room_to_move()) {
                break;
            }
            if at >= until {
                self.worked_until = until;
                return false;
            }
            if self.victim.is_none() {
                self.take_victim(index);
                self.victim.as_mut().unwrap().refreshed = true;
            }
            let moved = self.relocate_unit(at);
            self.worked_until = at;
            if let Some(rate) = idle.rate_bytes_per_s {
                self.not_before = at + moved as u64 * PAGE * 1_000_000_000 / rate;
            }
        }
        at = at.max(self.not_before);
        if self.in_flight.len() == 2 * self.dies.len() {
            at = at.max(self.end_of(self.in_flight[0]));
        }
        if at < until {
            self.program_all_relocated(at);
        }
        true
    }

    fn has_room_to_move(&self) -> bool {
        self.victim.is_some() || self.free.len() > self.reserve()
    }

    fn ages(&self) -> bool {
        let nand = &self.c.nand;
        let retention = [nand.slc.retention, nand.native.retention, nand.mlc.and_then(|mlc| mlc.retention)];
        self.c.ftl.refresh.is_some() || retention.iter().any(Option::is_some)
    }

    /// Space is more urgent than old data.
    fn leave_old_data(&mut self) {
        if self.victim.as_ref().is_some_and(|victim| victim.refreshed) {
            self.victim = None;
            self.release_dead();
        }
    }

    /// Whether all that is to be folded has been by then.
    fn fold_in_background(&mut self, idle: Idle, start: u64, until: u64) -> bool {
        self.exhausted = false;
        for index in std::mem::take(&mut self.kept) {
            if self.victim.as_ref().is_none_or(|victim| victim.block != index) {
                self.release(index);
            }
        }
        let mut at = start;
        let folded = loop {
            let depth = 2 * self.dies.len();
            at = at.max(self.not_before);
            if self.in_flight.len() == depth {
                at = at.max(self.end_of(self.in_flight[0]));
            }
            if at >= until {
                self.worked_until = until;
                break false;
            }
            let moved = if self.slc_valid() * PAGE > idle.residue_bytes { self.fold(at) } else { None };
            let Some(moved) = moved else {
                self.program_all_relocated(at);
                break true;
            };
            self.worked_until = at;
            if let Some(rate) = idle.rate_bytes_per_s {
                self.not_before = at + moved as u64 * PAGE * 1_000_000_000 / rate;
            }
        };
        self.decide();
        folded
    }

    /// Whether as much is free as is to be, or nothing gives more.
    fn collect_in_background(&mut self, idle: Idle, start: u64, until: u64) -> bool {
        let main = if self.c.cache.mode == CacheMode::PureSlc { CellMode::Slc } else { CellMode::Native };
        let wanted = (idle.collect_bytes / self.c.nand.superblock_bytes(main)) as usize;
        if wanted == 0 {
            return true;
        }
        let mut at = start;
        loop {
            at = at.max(self.not_before);
            if self.in_flight.len() == 2 * self.dies.len() {
                at = at.max(self.end_of(self.in_flight[0]));
            }
            if at >= until {
                self.worked_until = until;
                return false;
            }
            if self.free.len() >= self.reserve() + wanted {
                break;
            }
            let Some(moved) = self.reclaim(at) else { break };
            self.worked_until = at;
            if let Some(rate) = idle.rate_bytes_per_s {
                self.not_before = at + moved as u64 * PAGE * 1_000_000_000 / rate;
            }
        }
        self.program_all_relocated(at);
        true
    }

    /// The free superblock that will be opened first of those that were in use, and how.
    fn next_to_erase(&self) -> Option<(usize, CellMode)> {
        let free = self.free_set_aside.iter().chain(&self.free);
        free.filter_map(|&index| Some((index, self.blocks[index].last_mode?))).next()
    }

    /// Erase every free superblock that was in use, the next after all dies have done with the last; whether all are.
    fn erase_ahead(&mut self, start: u64, until: u64) -> bool {
        while let Some((index, mode)) = self.next_to_erase() {
            let at = self.dies.iter().map(Die::quiet).max().unwrap().max(start);
            if at >= until {
                self.worked_until = until;
                return false;
            }
            self.erase(at, mode);
            self.count_erase(index, mode);
            self.blocks[index].last_mode = None;
            self.worked_until = at;
        }
        true
    }

    fn cache_is_worn(&self) -> bool {
        let (cache, nand) = (&self.c.cache, &self.c.nand);
        let Some(wear) = self.c.wear.filter(|_| cache.off_when_worn) else { return false };
        let mut superblocks = 0;
        if cache.mode != CacheMode::DynamicSlc {
            superblocks += cache.static_bytes.div_ceil(nand.superblock_bytes(CellMode::Slc));
        }
        if cache.mode != CacheMode::StaticSlc {
            superblocks += cache.dynamic_bytes / nand.superblock_bytes(self.dynamic());
        }
        self.slc_erases >= superblocks * wear.slc_cycles as u64
    }

    fn count_erase(&mut self, index: usize, mode: CellMode) {
        self.slc_erases += (mode == CellMode::Slc) as u64;
        self.blocks[index].erases[(mode != CellMode::Slc) as usize] += 1;
    }

    fn erase(&mut self, at: u64, mode: CellMode) {
        let time = self.timing(mode).erase.0;
        for die in &mut self.dies {
            die.queue(at, time, Kind::Erase);
            self.erasing += time;
        }
    }

    // ---- link

    fn wire_time(&self, link: Link, bytes: u64, command: bool, to_drive: bool) -> u64 {
        let (payload, overhead, rate, per_command) = match link {
            Link::Sata { mbps } => (8192, 452, mbps as u64 * 100_000, 2400),
            Link::Usb { mbps: 5000 } => (1024, 32, 500_000_000, 256),
            Link::Usb { mbps: 10_000 } => (1024, 32, 1_083_000_000, 256),
            Link::Usb { .. } => (1024, 32, 1_959_000_000, 256),
            Link::Ufs { gear: 3 } => (272, 16, 1_166_080_000, 144),
            Link::Ufs { gear: 4 } => (272, 16, 2_332_160_000, 144),
            Link::Ufs { .. } => (272, 16, 4_664_320_000, 144),
            Link::Emmc { .. } => (512, 52, 400_000_000, 416),
            Link::Sd => (512, 13, 104_000_000, 104),
            Link::Pcie { generation, lanes } => {
                let lane = match generation {
                    1 => 250_000_000,
                    2 => 500_000_000,
                    3 => 984_615_384,
                    4 => 1_969_230_769,
                    5 => 3_938_461_538,
                    6 => 7_562_500_000,
                    _ => unreachable!("there are six generations"),
                };
                let (payload, overhead) = if to_drive { (128, 24) } else { (256, 28) };
                (payload, overhead, lane * lanes as u64, 128)
            }
        };
        let rate = match self.thermal.as_ref().and_then(Thermal::share) {
            Some(permille) => rate * permille as u64 / 1000,
            None => rate,
        };
        let bytes = bytes + if command { per_command } else { 0 };
        let packets = bytes.div_ceil(payload);
        ((bytes + packets * overhead) * 1_000_000_000).div_ceil(rate)
    }

    /// Over each link in turn, from the host on; the first part of a request brings its command.
    fn receive(&mut self, mut ready: u64, bytes: u64, command: bool) -> u64 {
        for (at, link) in self.c.links().enumerate() {
            let time = self.wire_time(link, bytes, command, true);
            ready = match link {
                Link::Sata { .. } | Link::Emmc { .. } | Link::Sd => self.lines[at].reserve(ready, time),
                Link::Pcie { .. } | Link::Usb { .. } | Link::Ufs { .. } => {
                    self.to_drive[at] = self.to_drive[at].max(ready) + time;
                    self.to_drive[at]
                }
            };
        }
        ready
    }

    fn send(&mut self, mut ready: u64, bytes: u64, command: bool) -> u64 {
        for (at, link) in self.c.links().enumerate().collect::<Vec<_>>().into_iter().rev() {
            let time = self.wire_time(link, bytes, command, false);
            ready = self.lines[at].reserve(ready, time);
        }
        ready
    }

    // ---- NAND

    fn timing(&self, mode: CellMode) -> CellTiming {
        match mode {
            CellMode::Slc => self.c.nand.slc,
            CellMode::Mlc => self.c.nand.mlc.unwrap(),
            CellMode::Native => self.c.nand.native,
        }
    }

    fn transfer(&mut self, die: usize, ready: u64, pages: usize, tries: u64) -> u64 {
        let time = tries * (pages as u64 * PAGE * 1000).div_ceil(self.c.nand.bus_mts as u64);
        let channel = die % self.channels.len();
        self.channels[channel].reserve(ready, time)
    }

    fn busy(&self) -> u64 {
        self.sensing + self.programming + self.erasing
    }

    /// Read pages of a multi-plane page, from the `column`th on, for the host.
    fn host_read(
        &mut self,
        ready: u64,
        die: usize,
        mode: CellMode,
        (column, pages): (usize, usize),
        tries: u64,
    ) -> u64 {
        let time = tries * self.timing(mode).read.0;
        let suspend = self.c.nand.suspend;
        let before = self.dies[die].reads_end();
        let plane = self.c.nand.page_bytes as usize / PAGE as usize;
        let planes = column / plane..(column + pages).div_ceil(plane);
        let sensed = if self.c.nand.independent_reads {
            self.dies[die].plane_read(planes, ready, time, suspend)
        } else {
            self.dies[die].host_read(ready, time, suspend)
        };
        // Time in which the array senses, for however many planes.
        self.sensing += time.min(self.dies[die].reads_end() - before);
        self.transfer(die, sensed, pages, tries)
    }

    fn program(&mut self, ready: u64, die: usize, mode: CellMode, permille: u64) -> (usize, usize) {
        let time = self.timing(mode).program.0 * permille / 1000;
        self.program_pages(ready, die, mode, self.unit_pages(mode), time, permille)
    }

    fn program_pages(
        &mut self,
        ready: u64,
        die: usize,
        mode: CellMode,
        pages: usize,
        time: u64,
        permille: u64,
    ) -> (usize, usize) {
        let mut ready = ready;
        let rate = match mode {
            CellMode::Slc | CellMode::Mlc => self.c.controller.slc_write_bytes_per_s,
            CellMode::Native => self.c.controller.native_write_bytes_per_s,
        };
        if let Some(rate) = rate {
            let path = (pages as u64 * PAGE * 1_000_000_000).div_ceil(rate);
            ready = self.path.reserve(ready, path * permille / 1000);
        }
        let register = self.dies[die].operations.last().map_or(0, |o| o.start);
        let loaded = self.transfer(die, ready.max(register), pages, 1);
        self.programming += time;
        (die, self.dies[die].queue(loaded, time, Kind::Program))
    }

    fn end_of(&self, (die, operation): (usize, usize)) -> u64 {
        self.dies[die].operations[operation].end
    }

    // ---- geometry

    fn multi_plane_pages(&self) -> usize {
        (self.c.nand.planes * self.c.nand.page_bytes) as usize / PAGE as usize
    }

    fn bits(&self, mode: CellMode) -> usize {
        match mode {
            CellMode::Slc => 1,
            CellMode::Mlc => 2,
            CellMode::Native => self.c.nand.bits_per_cell as usize,
        }
    }

    /// How cells of the dynamic cache are used.
    fn dynamic(&self) -> CellMode {
        if self.c.cache.dynamic_mlc {
            CellMode::Mlc
        } else {
            CellMode::Slc
        }
    }

    fn unit_pages(&self, mode: CellMode) -> usize {
        self.multi_plane_pages() * self.bits(mode)
    }

    fn block_pages(&self, mode: CellMode) -> usize {
        let native = self.multi_plane_pages() * self.dies.len() * self.c.nand.pages_per_block as usize;
        native * self.bits(mode) / self.bits(CellMode::Native)
    }

    fn die_of(&self, block: usize, page: usize) -> usize {
        self.unit_of(block, page) % self.dies.len()
    }

    /// The program unit that a page is of, counted in those of the same pass over the cells.
    fn unit_of(&self, block: usize, page: usize) -> usize {
        let lower = self.blocks[block].lower;
        if lower == 0 {
            return page / self.unit_pages(self.blocks[block].mode);
        }
        if page < lower {
            page / self.unit_pages(self.dynamic())
        } else {
            (page - lower) / self.upper_pages()
        }
    }

    /// Pages that a program adds to cells of the cache.
    fn upper_pages(&self) -> usize {
        self.multi_plane_pages() * (self.bits(CellMode::Native) - self.bits(self.dynamic()))
    }

    // ---- counting

    fn is_valid(&self, block: usize, page: usize) -> bool {
        let lpn = self.blocks[block].pages.get(page).copied().flatten();
        lpn.is_some_and(|lpn| self.l2p[lpn as usize] == Some((block, page)))
    }

    fn valid(&self, block: usize) -> usize {
        (0..self.blocks[block].pages.len()).filter(|&page| self.is_valid(block, page)).count()
    }

    fn is_cache(&self, block: usize) -> bool {
        self.main == CellMode::Native && self.blocks[block].mode != CellMode::Native
    }

    fn slc_valid(&self) -> u64 {
        self.l2p.iter().flatten().filter(|&&(block, _)| self.is_cache(block)).count() as u64
    }

    // ---- superblocks

    fn open(&mut self, at: u64, mode: CellMode, by_host: bool, set_aside: bool, born: u64) -> WritePointer {
        let list = if set_aside { &mut self.free_set_aside } else { &mut self.free };
        let index = list.remove(0);
        self.openings += 1;
        let last = self.blocks[index].last_mode;
        if let Some(last) = last {
            self.erase(at, last);
            self.count_erase(index, last);
        }
        let unit_pages = self.unit_pages(mode);
        let block = &mut self.blocks[index];
        block.state = State::Open;
        block.mode = mode;
        block.last_mode = Some(mode);
        block.by_host = by_host;
        block.opened = self.openings;
        block.born = born;
        block.written_at = at;
        block.reads.fill(0);
        block.lower = 0;
        block.pages.clear();
        WritePointer { block: index, mode, unit_pages, written: 0, arrived: 0, ready: 0, units: 0 }
    }

    /// Open a full superblock of the cache for the bits that its cells do not hold yet.
    fn switch(&mut self, index: usize, at: u64) -> WritePointer {
        let lower = self.block_pages(self.dynamic());
        self.kept.retain(|&kept| kept != index);
        self.openings += 1;
        let block = &mut self.blocks[index];
        block.state = State::Open;
        block.mode = CellMode::Native;
        block.last_mode = Some(CellMode::Native);
        block.by_host = true;
        block.opened = self.openings;
        block.born = self.host_pages;
        block.written_at = at;
        block.reads.fill(0);
        block.lower = lower;
        WritePointer {
            block: index,
            mode: CellMode::Native,
            unit_pages: self.upper_pages(),
            written: lower,
            arrived: 0,
            ready: 0,
            units: 0,
        }
    }

    fn close(&mut self, index: usize) {
        self.blocks[index].state = State::Closed;
        self.release_dead();
    }

    fn release_dead(&mut self) {
        let victim = self.victim.as_ref().map(|v| v.block);
        let dead: Vec<usize> = (0..self.blocks.len())
            .filter(|&i| self.blocks[i].state == State::Closed && Some(i) != victim)
            .filter(|&i| !self.kept.contains(&i) && self.valid(i) == 0)
            .collect();
        for index in dead {
            if self.c.cache.dead_until_idle && self.is_cache(index) {
                self.kept.push(index);
            } else {
                self.release(index);
            }
        }
    }

    fn release(&mut self, index: usize) {
        self.kept.retain(|&kept| kept != index);
        let block = &mut self.blocks[index];
        block.state = State::Free;
        block.pages.clear();
        if block.set_aside {
            self.free_set_aside.push(index);
        } else {
            self.free.push(index);
        }
        let residue = self.c.cache.idle.map_or(0, |idle| idle.residue_bytes / PAGE);
        if self.c.cache.reuse == Reuse::WhenEmpty && self.slc_valid() <= residue {
            self.exhausted = false;
        }
        if self.draining {
            let batch = self.c.cache.fold_batch_bytes.div_ceil(self.c.nand.superblock_bytes(self.dynamic()));
            let most = self.blocks.iter().filter(|b| b.set_aside).count() + self.dynamic_limit();
            let used =
                (0..self.blocks.len()).filter(|&i| self.blocks[i].state != State::Free && self.is_cache(i)).count();
            self.draining = used > most.saturating_sub(batch as usize);
        }
        self.decide();
    }

    // ---- the cache

    fn reserve(&self) -> usize {
        self.c.ftl.reserve_superblocks.max(3) as usize
    }

    fn dynamic_limit(&self) -> usize {
        let cache = &self.c.cache;
        if !matches!(cache.mode, CacheMode::DynamicSlc | CacheMode::HybridSlc) {
            return 0;
        }
        let native = self.l2p.iter().flatten().count() as u64 - self.slc_valid();
        let fill = native * 1000 / (self.c.capacity_bytes / PAGE);
        let (from, to) = (cache.shrink_from_permille as u64, cache.shrink_to_permille as u64);
        let least = cache.dynamic_least_bytes.min(cache.dynamic_bytes);
        let bytes = if fill <= from {
            cache.dynamic_bytes
        } else if fill >= to {
            least
        } else {
            cache.dynamic_bytes - (cache.dynamic_bytes - least) / (to - from) * (fill - from)
        };
        (bytes / self.c.nand.superblock_bytes(self.dynamic())) as usize
    }

    fn room(&self) -> bool {
        let borrowed = (0..self.blocks.len())
            .filter(|&i| self.blocks[i].state != State::Free && !self.blocks[i].set_aside)
            .filter(|&i| self.blocks[i].mode != CellMode::Native)
            .count();
        let dynamic = borrowed < self.dynamic_limit() && self.free.len() > self.reserve();
        !self.free_set_aside.is_empty() || dynamic
    }

    fn fold_victim(&self) -> Option<usize> {
        let closed: Vec<usize> =
            (0..self.blocks.len()).filter(|&i| self.blocks[i].state == State::Closed && self.is_cache(i)).collect();
        let dynamic: Vec<usize> = closed.iter().copied().filter(|&i| !self.blocks[i].set_aside).collect();
        let used = (0..self.blocks.len())
            .filter(|&i| self.blocks[i].state != State::Free && !self.blocks[i].set_aside && self.is_cache(i))
            .count();
        if used > self.dynamic_limit() && !dynamic.is_empty() {
            self.first_to_fold(dynamic)
        } else {
            self.first_to_fold(closed)
        }
    }

    fn first_to_fold(&self, closed: Vec<usize>) -> Option<usize> {
        match self.c.cache.when_full {
            WhenFull::FoldCostBenefit => closed.into_iter().max_by(|&a, &b| {
                let worth = |i: usize| (self.openings - self.blocks[i].opened + 1) as f64 / self.valid(i) as f64;
                let by_age = self.blocks[b].opened.cmp(&self.blocks[a].opened);
                worth(a).partial_cmp(&worth(b)).unwrap().then(by_age)
            }),
            WhenFull::StaticFirst => {
                let (set_aside, dynamic): (Vec<usize>, Vec<usize>) =
                    closed.into_iter().partition(|&i| self.blocks[i].set_aside);
                self.oldest(set_aside).or_else(|| self.oldest(dynamic))
            }
            _ => self.oldest(closed),
        }
    }

    fn oldest(&self, blocks: Vec<usize>) -> Option<usize> {
        blocks.into_iter().min_by_key(|&i| self.blocks[i].opened)
    }

    /// Superblocks of the cache that are not free, and how many it may have.
    fn cache_used(&self) -> (usize, usize) {
        let used = (0..self.blocks.len()).filter(|&i| self.blocks[i].state != State::Free && self.is_cache(i)).count();
        (used, self.blocks.iter().filter(|b| b.set_aside).count() + self.dynamic_limit())
    }

    fn decide(&mut self) {
        let victim = self.victim.as_ref().is_some_and(|v| self.is_cache(v.block));
        let foldable = victim || self.fold_victim().is_some();
        let full = self.exhausted || (self.c.cache.reuse == Reuse::AsFreed && !self.room());
        let in_batches = self.c.cache.fold_batch_bytes > 0;
        let (used, size) = self.cache_used();
        self.throttle = match self.c.cache.when_full {
            WhenFull::DirectThenFold | WhenFull::InPlaceSwitch | WhenFull::PredictIdle | WhenFull::StaticFirst => {
                Throttle::None
            }
            WhenFull::DirectWhileFolding | WhenFull::Bypass | WhenFull::RewriteDistance if full && foldable => {
                Throttle::Share
            }
            WhenFull::DirectWhileFolding | WhenFull::Bypass | WhenFull::RewriteDistance => Throttle::None,
            WhenFull::FoldBeside if foldable => Throttle::Beside,
            WhenFull::FoldBeside => Throttle::None,
            WhenFull::Fold | WhenFull::FoldCostBenefit if foldable && in_batches && self.draining => Throttle::Share,
            WhenFull::Fold | WhenFull::FoldCostBenefit if foldable && !in_batches && !self.room() => {
                Throttle::OneForOne
            }
            WhenFull::Fold | WhenFull::FoldCostBenefit => Throttle::None,
            WhenFull::Watermarks => {
                let high = used as f64 > size as f64 * 0.75;
                let low = used as f64 > size as f64 * 0.5;
                if foldable && (high || low && self.throttle == Throttle::TwoForOne) {
                    Throttle::TwoForOne
                } else {
                    Throttle::None
                }
            }
        };
    }

    // ---- sorting

    fn sorts(&self) -> bool {
        let without = matches!(self.c.cache.mode, CacheMode::PureXlc | CacheMode::PureSlc);
        let policy = matches!(self.c.cache.when_full, WhenFull::Bypass | WhenFull::RewriteDistance);
        policy && !without && self.c.cache.most_bytes() > 0
    }

    /// Choose the pointer for a write of these pages.
    fn sort(&mut self, range: &std::ops::Range<u64>) {
        if !self.sorts() {
            return;
        }
        let pages = range.end - range.start;
        let at = match self.runs.iter().position(|(end, _)| *end == range.start) {
            Some(at) => at,
            None if self.runs.len() < 8 => {
                self.runs.push((0, 0));
                self.runs.len() - 1
            }
            None => {
                self.next_run += 1;
                self.runs[(self.next_run - 1) % 8] = (0, 0);
                (self.next_run - 1) % 8
            }
        };
        let run = self.runs[at].1 + pages;
        self.runs[at] = (range.end, run);
        let age = self.l2p[range.start as usize].map(|(block, _)| self.host_pages - self.blocks[block].born);
        let (used, size) = self.cache_used();
        let set_aside = self.blocks.iter().filter(|b| b.set_aside).count();
        let lasts = (set_aside * self.block_pages(CellMode::Slc)
            + (size - set_aside) * self.block_pages(self.dynamic())) as u64;
        let past_cache = match self.c.cache.when_full {
            WhenFull::Bypass => {
                let large = pages * PAGE >= 512 << 10 || run * PAGE >= 4 << 20;
                let cold = age.is_some_and(|age| age >= lasts);
                let scarce = used as f64 >= size as f64 / 2.0 || self.free.len() <= 2 * self.reserve();
                scarce && (large || cold)
            }
            _ => age.is_none_or(|age| age >= lasts),
        };
        if past_cache != self.past_cache {
            self.turn();
        }
    }

    fn turn(&mut self) {
        std::mem::swap(&mut self.host, &mut self.other);
        self.past_cache = !self.past_cache;
    }

    fn open_host(&mut self, at: u64) {
        if let Some(full) = self.host.take() {
            self.close(full.block);
        }
        let mode = loop {
            if matches!(self.c.cache.mode, CacheMode::PureXlc | CacheMode::PureSlc) {
                break self.main;
            }
            if self.past_cache || self.cache_is_worn() {
                break CellMode::Native;
            }
            let room = self.room();
            if room && !self.exhausted {
                break self.dynamic();
            }
            if !room && self.c.cache.reuse != Reuse::AsFreed {
                self.exhausted = true;
            }
            if !room && self.c.cache.fold_batch_bytes > 0 {
                self.draining = true;
            }
            if self.c.cache.when_full == WhenFull::InPlaceSwitch {
                let victim = self.victim.as_ref().map(|v| v.block);
                let dynamic = self.closed_dynamic().into_iter().filter(|&i| Some(i) != victim).collect();
                if let Some(full) = self.oldest(dynamic) {
                    self.host = Some(self.switch(full, at));
                    self.decide();
                    return;
                }
            }
            let waits = matches!(self.c.cache.when_full, WhenFull::Fold | WhenFull::FoldCostBenefit);
            if !waits || self.fold(at).is_none() {
                break CellMode::Native;
            }
        };
        let caches = self.main == CellMode::Native && mode != CellMode::Native;
        let set_aside = caches && !self.free_set_aside.is_empty();
        let mode = if set_aside { CellMode::Slc } else { mode };
        while !set_aside && self.free.len() <= 2 {
            self.reclaim(at).expect("space can be reclaimed");
        }
        self.host = Some(self.open(at, mode, true, set_aside, self.host_pages));
        self.decide();
    }

    // ---- requests

    fn pages_of(request: &Request) -> std::ops::Range<u64> {
        let end = request.offset + request.len as u64;
        request.offset / PAGE..end.div_ceil(PAGE)
    }

    fn read(&mut self, taken: u64, request: &Request) -> u64 {
        self.host_bytes += request.len as u64;
        let range = Self::pages_of(request);
        let known = self.look_up(taken, &range, false);
        let mut parts = Vec::new();
        let more = self.follow(&range);
        let mut page = range.start;
        while page < range.end {
            self.ahead.retain(|(part, _)| part.end > page);
            match self.ahead.first().cloned().filter(|(part, _)| part.start <= page) {
                Some((part, ready)) => {
                    let end = part.end.min(range.end);
                    parts.push((known.max(ready), (end - page) as usize));
                    page = end;
                }
                None => {
                    parts.extend(self.fetch_range(known, page..range.end));
                    page = range.end;
                }
            }
        }
        if !more.is_empty() {
            let known = self.look_up(known, &more, false);
            let mut first = more.start;
            for (ready, pages) in self.fetch_range(known, more) {
                self.ahead.push((first..first + pages as u64, ready));
                first += pages as u64;
            }
        }
        let mut done = taken;
        for (index, (at, pages)) in parts.into_iter().enumerate() {
            done = done.max(self.send(at, pages as u64 * PAGE, index == 0));
        }
        done
    }

    // ---- reading ahead

    /// What to read ahead now that the host reads `range`: from its third read in sequence on, all that is within the window
    /// after it and has not been read ahead yet.
    fn follow(&mut self, range: &std::ops::Range<u64>) -> std::ops::Range<u64> {
        let window = self.c.controller.read_ahead_bytes / PAGE;
        if window == 0 {
            return 0..0;
        }
        if range.start == self.next_read {
            self.sequence += 1;
        } else {
            self.sequence = 0;
            self.ahead.clear();
        }
        self.next_read = range.end;
        if self.sequence < 2 {
            return 0..0;
        }
        let from = self.ahead.last().map_or(range.end, |(last, _)| last.end.max(range.end));
        let to = (range.end + window).min(self.c.capacity_bytes / PAGE);
        from..to.max(from)
    }

    /// These pages have been written or trimmed: where any was read ahead, all that was is dropped.
    fn forget_read_ahead(&mut self, range: std::ops::Range<u64>) {
        if self.ahead.iter().any(|(part, _)| part.start < range.end && range.start < part.end) {
            self.ahead.clear();
        }
    }

    // ---- the map

    /// When the controller knows where these pages are.
    fn look_up(&mut self, at: u64, range: &std::ops::Range<u64>, change: bool) -> u64 {
        let Some(map) = self.c.controller.map else { return at };
        let all = (self.c.capacity_bytes / PAGE).div_ceil(MAPPED);
        let size = (map.bytes / PAGE).clamp(1, all) as usize;
        let mut known = at + map.access.0;
        let last = range.end.max(range.start + 1) - 1;
        for segment in range.start / MAPPED..=last / MAPPED {
            if let Some(held) = self.map.iter().position(|(held, _)| *held == segment) {
                let (_, changed) = self.map.remove(held);
                self.map.push((segment, changed || change));
                continue;
            }
            if self.map.len() == size {
                let (_, changed) = self.map.remove(0);
                self.map_unwritten += changed as usize;
            }
            self.map.push((segment, change));
            let die = segment as usize % self.dies.len();
            known = known.max(self.host_read(at, die, CellMode::Slc, (0, 1), 1));
            if self.map_unwritten == self.unit_pages(CellMode::Slc) {
                self.map_unwritten = 0;
                self.program(at, die, CellMode::Slc, 1000);
            }
        }
        known
    }

    /// Every part of a range with the time it is in the controller: what is unmapped at once, the rest by multi-plane
    /// page of what lies together physically.
    fn fetch_range(&mut self, taken: u64, range: std::ops::Range<u64>) -> Vec<(u64, usize)> {
        let mut parts = Vec::new();
        let mut page = range.start;
        while page < range.end {
            let here = self.l2p[page as usize];
            let mut run = 1;
            let belongs = |by: u64, next: Option<(usize, usize)>| match (here, next) {
                (None, None) => true,
                (Some((b, p)), Some((nb, np))) => {
                    let flat = |b: usize, p: usize| b * self.block_pages(self.main) + p;
                    flat(nb, np) == flat(b, p) + by as usize
                }
                _ => false,
            };
            while page + run < range.end && belongs(run, self.l2p[(page + run) as usize]) {
                run += 1;
            }
            if here.is_none() {
                parts.push((taken, run as usize));
            } else {
                let mut by = 0;
                while by < run {
                    let (block, at) = self.l2p[(page + by) as usize].unwrap();
                    let rest = self.multi_plane_pages() - at % self.multi_plane_pages();
                    let pages = rest.min((run - by) as usize);
                    let mode = self.blocks[block].mode;
                    let ready = if self.held(block, at, taken) {
                        taken
                    } else {
                        let die = self.die_of(block, at);
                        let tries = self.tries(block, die, taken);
                        self.blocks[block].reads[die] += 1;
                        self.host_read(taken, die, mode, (at % self.multi_plane_pages(), pages), tries)
                    };
                    parts.push((ready, pages));
                    by += pages as u64;
                }
            }
            page += run;
        }
        parts
    }

    /// Whether a page is still in the controller.
    fn held(&mut self, block: usize, page: usize, now: u64) -> bool {
        let unit = self.unit_of(block, page);
        if page < self.blocks[block].lower {
            return false;
        }
        if !self.blocks[block].by_host {
            return self.moved.as_ref().is_some_and(|s| s.block == block && unit >= s.units - self.waiting.len());
        }
        let filling = [&self.host, &self.other].into_iter().flatten();
        if filling.into_iter().any(|s| s.block == block && unit >= s.units) {
            return true;
        }
        while !self.buffer.is_empty() {
            let first = &self.buffer[0];
            if self.end_of((first.die, first.operation)) > now {
                let opened = self.blocks[block].opened;
                return self.buffer.iter().any(|held| (held.opened, held.unit) == (opened, unit));
            }
            self.buffer_used -= self.buffer.remove(0).pages;
        }
        false
    }

    fn write(&mut self, taken: u64, request: &Request) -> u64 {
        self.unflushed = true;
        self.host_bytes += request.len as u64;
        let range = Self::pages_of(request);
        let known = self.look_up(taken, &range, true);
        let end = request.offset + request.len as u64;
        let mut ready = taken;
        let mut ragged = Vec::new();
        if request.offset % PAGE != 0 {
            ragged.push(range.start);
        }
        if end % PAGE != 0 && !ragged.contains(&(range.end - 1)) {
            ragged.push(range.end - 1);
        }
        for page in ragged {
            for (at, _) in self.fetch_range(taken, page..page + 1) {
                ready = ready.max(at);
            }
        }
        if self.c.controller.map.is_some() {
            // Acknowledged before the map is changed for it, at most 32 changes ahead.
            let behind = self.map_changes.len().checked_sub(32).map_or(0, |at| self.map_changes[at]);
            self.map_changes.push(known);
            ready = ready.max(behind);
        }
        self.forget_read_ahead(range.clone());
        let copy = |rate| (request.len as u64 * 1_000_000_000).div_ceil(rate);
        let copied = self.c.controller.copy_in_bytes_per_s.map_or(0, copy);
        if self.c.controller.merges_rewrites && range.end == range.start + 1 && self.merges(range.start, ready) {
            let done = self.receive(ready, request.len as u64, true) + copied;
            return self.acknowledge(request, done);
        }
        self.sort(&range);
        let mut command = true;
        let mut bytes = request.len as u64;
        let mut done = ready;
        let mut page = range.start;
        while page < range.end {
            let full = |s: &WritePointer, this: &Reference| s.written == this.block_pages(s.mode);
            if self.host.as_ref().is_none_or(|s| full(s, self)) {
                self.open_host(ready);
            }
            let pointer = self.host.clone().unwrap();
            let room = self.block_pages(pointer.mode) - pointer.written;
            let count = room.min((range.end - page) as usize);
            for by in 0..count {
                let lpn = (page + by as u64) as u32;
                let pointer = self.host.as_mut().unwrap();
                let at = (pointer.block, pointer.written);
                pointer.written += 1;
                self.blocks[at.0].pages.push(Some(lpn));
                self.l2p[lpn as usize] = Some(at);
            }
            self.host_pages += count as u64;
            self.release_dead();
            let mut left = count;
            while left > 0 {
                let pointer = self.host.as_ref().unwrap();
                let unit = pointer.unit_pages;
                let part = left.min(unit - pointer.arrived % unit);
                let room = self.take_room(ready, part);
                self.buffer_waited += room.saturating_sub(done);
                let carried = bytes.min(part as u64 * PAGE);
                bytes -= carried;
                let at = self.receive(room, carried, std::mem::take(&mut command));
                self.arrive(at, part);
                done = done.max(at);
                left -= part;
            }
            page += count as u64;
        }
        // It is here, and passes into the buffer as a whole.
        self.acknowledge(request, done + copied)
    }

    fn acknowledge(&mut self, request: &Request, done: u64) -> u64 {
        if request.fua || !self.c.controller.write_cache {
            self.flush(done)
        } else {
            done
        }
    }

    /// Whether the page was written by the host, and its program has not begun.
    fn merges(&mut self, page: u64, now: u64) -> bool {
        let Some((block, at)) = self.l2p[page as usize] else { return false };
        if self.sorts() || self.blocks[block].lower > 0 || !self.blocks[block].by_host {
            return false;
        }
        if !self.held(block, at, now) {
            return false;
        }
        let (opened, unit) = (self.blocks[block].opened, self.unit_of(block, at));
        match self.buffer.iter().find(|held| (held.opened, held.unit) == (opened, unit)) {
            Some(held) => self.dies[held.die].operations[held.operation].start > now,
            None => true,
        }
    }

    fn take_room(&mut self, at: u64, pages: usize) -> u64 {
        let size = (self.c.controller.write_buffer_bytes / PAGE) as usize;
        self.buffer_used += pages;
        let mut room = at;
        while self.buffer_used > size {
            let first = self.buffer.remove(0);
            self.buffer_used -= first.pages;
            room = room.max(self.end_of((first.die, first.operation)));
        }
        room
    }

    fn arrive(&mut self, at: u64, pages: usize) {
        let mut pointer = self.host.take().unwrap();
        pointer.arrived += pages;
        pointer.ready = pointer.ready.max(at);
        let unit_pages = pointer.unit_pages;
        let full = pointer.arrived % unit_pages == 0;
        if full {
            let die = pointer.units % self.dies.len();
            let mut time = self.timing(pointer.mode).program.0;
            if self.blocks[pointer.block].lower > 0 {
                // What is there is read first.
                time += self.timing(self.dynamic()).read.0;
            }
            let (_, operation) = self.program_pages(pointer.ready, die, pointer.mode, unit_pages, time, 1000);
            let opened = self.blocks[pointer.block].opened;
            let unit = pointer.units;
            self.buffer.push(Buffered { pages: unit_pages, die, operation, opened, unit });
            pointer.units += 1;
            pointer.ready = 0;
        }
        self.host = Some(pointer);
        if full {
            self.throttle_host(at);
        }
    }

    fn flush(&mut self, taken: u64) -> u64 {
        if self.c.controller.power_loss_protection || !self.unflushed {
            return taken;
        }
        self.unflushed = false;
        self.pad(taken);
        if self.sorts() {
            self.turn();
            self.pad(taken);
            self.turn();
        }
        let ends = self.buffer.iter().map(|unit| self.end_of((unit.die, unit.operation)));
        // Those that are past cannot matter.
        ends.max().unwrap_or(0).max(taken) + self.c.controller.flush.0
    }

    fn pad(&mut self, at: u64) {
        let Some(pointer) = &mut self.host else { return };
        let (block, unit) = (pointer.block, pointer.unit_pages);
        if pointer.arrived % unit != 0 {
            let padding = unit - pointer.arrived % unit;
            pointer.written += padding;
            self.blocks[block].pages.extend(vec![None; padding]);
            self.take_room(at, padding);
            self.arrive(at, padding);
        }
    }

    // ---- relocation

    fn throttle_host(&mut self, at: u64) {
        let host = self.host.clone().unwrap();
        let unit = host.unit_pages as u64;
        self.erase_beside(at, host.unit_pages);
        if self.throttle == Throttle::None && self.free.len() > self.reserve().max(self.fold_below()) {
            return;
        }
        let folding = self.victim.as_ref().is_some_and(|v| self.is_cache(v.block) && !self.blocks[v.block].set_aside);
        let closed = folding || !self.closed_dynamic().is_empty();
        let folds = self.free.len() <= self.fold_below() && closed;
        // Cells that can be filled up are space.
        let switches = self.c.cache.when_full == WhenFull::InPlaceSwitch && closed;
        if self.free.len() <= self.reserve() && !switches || folds {
            self.leave_old_data();
            if self.victim.is_none() {
                if let Some(victim) = self.space_victim() {
                    self.take_victim(victim);
                }
            }
            let takes_space = self.blocks[host.block].lower == 0;
            let price = self.victim.as_ref().filter(|_| takes_space).map_or(0, |v| v.price);
            self.space_credits += (unit * 65536 * price / self.block_pages(host.mode) as u64) as i64;
        } else {
            self.space_credits = 0;
        }
        let share = self.c.cache.host_share_permille as u64;
        let time = self.timing(host.mode).program.0;
        match self.throttle {
            Throttle::Share => self.time_credits += (time * (1000 - share) * 1000 / share) as i64,
            Throttle::Beside => {
                // What was moved out of need is no advance, but for four units.
                let limit = 4000 * self.timing(CellMode::Native).program.0 as i64;
                self.time_credits = self.time_credits.max(-limit) + (time * (1000 - share) * 1000 / share) as i64;
            }
            _ => self.time_credits = 0,
        }
        match self.throttle {
            Throttle::OneForOne => self.slot_credits += unit as i64 * 65536,
            Throttle::TwoForOne => self.slot_credits += 2 * unit as i64 * 65536,
            _ => self.slot_credits = 0,
        }
        while self.space_credits > 0 || self.slot_credits > 0 || self.time_credits > 0 {
            let before = self.busy();
            let moved = if self.space_credits > 0 { self.reclaim(at) } else { self.fold(at) };
            match moved {
                Some(moved) => {
                    self.space_credits -= moved as i64 * 65536;
                    self.slot_credits -= moved.max(1) as i64 * 65536;
                    self.time_credits -= (self.busy() - before) as i64 * 1000;
                }
                None => (self.space_credits, self.slot_credits, self.time_credits) = (0, 0, 0),
            }
        }
    }

    /// Host data of so many pages let the drive erase: plane after plane, what will be opened first.
    fn erase_beside(&mut self, at: u64, pages: usize) {
        let every = self.c.ftl.erase_every_bytes.div_ceil(PAGE) as usize;
        if every == 0 || self.next_to_erase().is_none() {
            return;
        }
        self.unerased_pages += pages;
        while self.unerased_pages >= every {
            self.unerased_pages -= every;
            if let Some((index, mode)) = self.next_to_erase() {
                self.blocks[index].last_mode = None;
                self.count_erase(index, mode);
                for _ in 0..self.c.nand.planes {
                    self.erase(at, mode);
                }
            }
        }
    }

    fn fold(&mut self, at: u64) -> Option<usize> {
        if self.fold_victim().is_some() {
            self.leave_old_data();
        }
        if self.victim.is_none() {
            let oldest = self.fold_victim()?;
            if self.blocks[oldest].set_aside && self.free.len() < 2 {
                let cheapest = self.gc_victim();
                self.take_victim(cheapest.unwrap_or(oldest));
            } else {
                self.take_victim(oldest);
            }
        }
        Some(self.relocate_unit(at))
    }

    fn reclaim(&mut self, at: u64) -> Option<usize> {
        self.leave_old_data();
        if self.victim.is_none() {
            let victim = self.space_victim()?;
            self.take_victim(victim);
        }
        Some(self.relocate_unit(at))
    }

    fn fold_below(&self) -> usize {
        (self.c.cache.fold_below_bytes / self.c.nand.superblock_bytes(CellMode::Native)) as usize
    }

    fn closed_dynamic(&self) -> Vec<usize> {
        (0..self.blocks.len())
            .filter(|&i| self.blocks[i].state == State::Closed && self.is_cache(i) && !self.blocks[i].set_aside)
            .collect()
    }

    /// Above the reserve the cache is folded to keep `fold_below` free; below it the cheapest space is taken.
    fn space_victim(&self) -> Option<usize> {
        let above = self.free.len() > self.reserve() && self.free.len() <= self.fold_below();
        let oldest = if above { self.first_to_fold(self.closed_dynamic()) } else { None };
        oldest.or_else(|| self.gc_victim())
    }

    fn gc_victim(&self) -> Option<usize> {
        let full = self.block_pages(self.main);
        let candidates: Vec<usize> = (0..self.blocks.len())
            .filter(|&i| self.blocks[i].state == State::Closed && !self.blocks[i].set_aside)
            .filter(|&i| self.valid(i) < full)
            .collect();
        match self.c.ftl.gc {
            VictimRule::Greedy => candidates.into_iter().min_by_key(|&i| (self.valid(i), self.blocks[i].opened)),
            VictimRule::Fifo => candidates.into_iter().min_by_key(|&i| self.blocks[i].opened),
            VictimRule::CostBenefit => candidates.into_iter().max_by(|&a, &b| {
                let worth = |i: usize| {
                    let age = (self.openings - self.blocks[i].opened + 1) as f64;
                    let gain = (full - self.valid(i)) as f64 * age;
                    gain / self.valid(i) as f64
                };
                let by_age = self.blocks[b].opened.cmp(&self.blocks[a].opened);
                worth(a).partial_cmp(&worth(b)).unwrap().then(by_age)
            }),
        }
    }

    fn take_victim(&mut self, block: usize) {
        let (full, valid) = (self.block_pages(self.main) as u64, self.valid(block) as u64);
        let price = valid * full / (full - valid).max(1);
        self.victim = Some(Victim { block, next: 0, sensed: None, price, refreshed: false });
    }

    fn relocate_unit(&mut self, at: u64) -> usize {
        let mut victim = self.victim.take().unwrap();
        // Keep it from being released while it is looked at.
        let full = |s: &WritePointer, this: &Reference| s.arrived == this.block_pages(this.main);
        if self.moved.as_ref().is_none_or(|s| full(s, self)) {
            if let Some(pointer) = self.moved.clone() {
                self.program_all_relocated(at);
                self.victim = Some(Victim { sensed: victim.sensed, ..victim });
                self.close(pointer.block);
                victim = self.victim.take().unwrap();
            }
            let born = self.blocks[victim.block].born;
            self.moved = Some(self.open(at, self.main, false, false, born));
        }
        let mut pointer = self.moved.take().unwrap();
        let unit_pages = self.unit_pages(self.main);
        let mode = self.blocks[victim.block].mode;
        let mut moved = 0;
        let mut in_page = 0;
        let mut unit_full = false;
        while !unit_full && self.valid(victim.block) > 0 {
            let page = victim.next;
            victim.next += 1;
            if !self.is_valid(victim.block, page) {
                continue;
            }
            let multi_plane = page / self.multi_plane_pages();
            if victim.sensed.is_none_or(|(last, _)| last != multi_plane) {
                pointer.ready = pointer.ready.max(self.fetch(at, &victim, in_page));
                in_page = 0;
                let die = self.die_of(victim.block, page);
                let time = self.tries(victim.block, die, at) * self.timing(mode).read.0;
                self.sensing += time;
                let operation = self.dies[die].queue(at, time, Kind::Read);
                victim.sensed = Some((multi_plane, self.end_of((die, operation))));
            }
            in_page += 1;
            let lpn = self.blocks[victim.block].pages[page].unwrap();
            self.l2p[lpn as usize] = Some((pointer.block, pointer.arrived));
            self.blocks[pointer.block].pages.push(Some(lpn));
            pointer.arrived += 1;
            moved += 1;
            unit_full = pointer.arrived % unit_pages == 0;
        }
        pointer.ready = pointer.ready.max(self.fetch(at, &victim, in_page));
        let folds = self.is_cache(victim.block);
        if unit_full {
            let permille =
                if folds { self.c.cache.fold_overhead_permille as u64 } else { self.c.ftl.gc_overhead_permille as u64 };
            self.waiting.push((pointer.ready, pointer.units % self.dies.len(), permille));
            pointer.units += 1;
            pointer.ready = 0;
        }
        self.moved = Some(pointer);
        if self.waiting.len() > self.dies.len() {
            self.program_relocated(at);
        }
        if self.valid(victim.block) == 0 {
            self.release(victim.block);
        } else {
            self.victim = Some(victim);
        }
        moved
    }

    fn fetch(&mut self, at: u64, victim: &Victim, pages: usize) -> u64 {
        if pages == 0 {
            return 0;
        }
        let (multi_plane, sensed) = victim.sensed.unwrap();
        let die = self.die_of(victim.block, multi_plane * self.multi_plane_pages());
        let tries = self.tries(victim.block, die, at);
        self.transfer(die, sensed.max(at), pages, tries)
    }

    fn program_all_relocated(&mut self, at: u64) {
        while !self.waiting.is_empty() {
            self.program_relocated(at);
        }
    }

    fn program_relocated(&mut self, at: u64) {
        let (ready, die, permille) = self.waiting.remove(0);
        let program = self.program(ready.max(at), die, self.main, permille);
        self.in_flight.push(program);
        if self.in_flight.len() > 2 * self.dies.len() {
            self.in_flight.remove(0);
        }
    }
}
