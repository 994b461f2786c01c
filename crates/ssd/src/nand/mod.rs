//! The NAND: dies on channels, and how long each operation takes where.

mod die;

use die::{Die, Internal, Ticket};

use crate::cell_mode::CellMode;
use crate::config::{CellTiming, Config, Suspend};
use crate::consistency::{ensure, ensure_counters, Consistency};
use crate::timeline::Timeline;
use crate::units::Nanos;
use crate::waits::{Account, Cause};

/// A program in flight: enough to ask later when it ends.
#[derive(Clone, Copy, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct Programming {
    /// Mapping pages of the unit.
    pub pages: u32,
    die: u32,
    ticket: Ticket,
    /// When it ends, as it was asked for; still so while nothing has been delayed since.
    end: Nanos,
    delays: u64,
    /// When its data are there.
    pub asked: Nanos,
}

/// What one program writes: mapping pages, their time on a channel, and that of the array.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct ProgramUnit {
    pub pages: u32,
    transfer: Nanos,
    /// Time in the controller's data path.
    path: Nanos,
    pub time: Nanos,
}

/// A cell mode: its program unit, and its other times.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
struct Mode {
    unit: ProgramUnit,
    read: Nanos,
    erase: Nanos,
}

/// The way of a host read: when it was asked for, when it is in the controller, and how much of that time it waited.
#[derive(Clone, Copy, Debug)]
pub struct Way {
    asked: Nanos,
    pub arrived: Nanos,
    waited: Nanos,
    /// How long of it for what the die did for the drive itself; else for other reads.
    blocked: Nanos,
    by: Cause,
}

impl Way {
    /// What was asked for at `asked`, and is there from `arrived` on without a read of its own.
    #[inline]
    pub fn without_read(asked: Nanos, arrived: Nanos) -> Way {
        Way { asked, arrived, waited: Nanos::ZERO, blocked: Nanos::ZERO, by: Cause::Own }
    }

    #[inline(always)]
    pub fn account(&self, account: &mut Account) {
        account.spend(Cause::Own, self.arrived - self.asked - self.waited);
        if self.waited > Nanos::ZERO {
            account.spend(Cause::Reading, self.waited - self.blocked);
            account.spend(self.by, self.blocked);
        }
    }
}

#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct Nand {
    dies: Vec<Die>,
    channels: Vec<Timeline>,
    /// The controller's data path into the cells.
    path: Timeline,
    /// By [`CellMode`].
    modes: [Mode; 3],
    /// The bits above those of the dynamic cache, into cells that hold them.
    upper: ProgramUnit,
    suspend: Option<Suspend>,
    multi_plane_pages: u32,
    plane_pages: u32,
    /// When the last read of each plane of each die ends; empty where the planes of a die read together.
    plane_ends: Vec<Nanos>,
    /// Time on a channel by number of mapping pages, up to a multi-plane page.
    transfers: Vec<Nanos>,
    /// Nothing will be asked for before this time.
    horizon: Nanos,
    /// Array time of all dies added, by what they did.
    pub reading: Nanos,
    pub programming: Nanos,
    pub erasing: Nanos,
    pub suspends: u64,
    /// Host reads so far: each may have moved what was queued before it.
    pub delays: u64,
    /// What dies are asked to work for now.
    pub work: Cause,
    /// Of all requests.
    #[serde(skip)]
    pub account: Account,
}

impl Nand {
    /// The NAND of a drive, behind the data path of its controller.
    pub fn new(config: &Config) -> Nand {
        let Config { nand, controller, cache, .. } = config;
        let cached = cache.dynamic_cells();
        let unit = |pages: u32, path: Option<u64>, time: Nanos| {
            let bytes = nand.map_unit.bytes(pages as u64);
            let transfer = transfer_time(bytes, nand.bus_mts);
            let path = path.map_or(Nanos::ZERO, |rate| Nanos((bytes * 1_000_000_000).div_ceil(rate)));
            ProgramUnit { pages, transfer, path, time }
        };
        let mode = |mode: CellMode| {
            let CellTiming { read, program, erase, .. } = nand.timing(mode);
            let pages = nand.multi_plane_pages() * nand.bits(mode);
            Mode { unit: unit(pages, controller.data_path(mode), program), read, erase }
        };
        Nand {
            dies: (0..nand.dies).map(|die| Die::on(die % nand.channels)).collect(),
            channels: vec![Timeline::default(); nand.channels as usize],
            path: Timeline::default(),
            modes: [CellMode::Slc, CellMode::Mlc, CellMode::Native].map(mode),
            // The die reads what the cells hold, and then does the whole of a native program.
            upper: unit(
                nand.multi_plane_pages() * (nand.bits_per_cell - nand.bits(cached)),
                controller.data_path(CellMode::Native),
                nand.timing(cached).read + nand.native.program,
            ),
            suspend: nand.suspend,
            multi_plane_pages: nand.multi_plane_pages(),
            plane_pages: nand.multi_plane_pages() / nand.planes,
            plane_ends: vec![Nanos::ZERO; if nand.independent_reads { nand.dies * nand.planes } else { 0 } as usize],
            transfers: (0..=nand.multi_plane_pages())
                .map(|pages| transfer_time(nand.map_unit.bytes(pages as u64), nand.bus_mts))
                .collect(),
            horizon: Nanos::ZERO,
            reading: Nanos::ZERO,
            programming: Nanos::ZERO,
            erasing: Nanos::ZERO,
            suspends: 0,
            delays: 0,
            work: Cause::Own,
            account: Account::default(),
        }
    }

    /// Whether it is this NAND, asked for nothing after `now`.
    pub fn check(&self, config: &Config, now: Nanos) -> Consistency {
        let described = Nand::new(config);
        let lengths = |nand: &Nand| (nand.dies.len(), nand.channels.len(), nand.plane_ends.len());
        let sizes = |nand: &Nand| (nand.multi_plane_pages, nand.plane_pages, nand.suspend);
        ensure(
            lengths(self) == lengths(&described)
                && sizes(self) == sizes(&described)
                && (self.modes, self.upper) == (described.modes, described.upper)
                && self.transfers == described.transfers
                && self.dies.iter().zip(&described.dies).all(|(mine, other)| mine.channel == other.channel),
            "NAND",
        )?;
        ensure(self.horizon <= now, "clock")?;
        let busy = [self.reading.0, self.programming.0, self.erasing.0, self.suspends, self.delays];
        ensure_counters(&busy, "NAND")?;
        ensure(self.work.is_work(), "NAND")?;
        self.dies.iter().try_for_each(Die::check)?;
        self.channels.iter().chain([&self.path]).try_for_each(Timeline::check)
    }

    /// Whether that program was asked for.
    pub fn has_queued(&self, program: &Programming) -> bool {
        self.dies.get(program.die as usize).is_some_and(|die| die.has_queued(program.ticket))
    }

    /// From when data can be loaded for another program of a die.
    #[inline]
    pub fn register_free_at(&self, die: u32) -> Nanos {
        self.dies[die as usize].register_free_at()
    }

    /// All that has to do with programs and is not past, relative to `now`.
    pub fn timing_relative_to(&self, now: Nanos, into: &mut Vec<u64>) {
        self.dies.iter().for_each(|die| die.timing_relative_to(now, into));
        self.channels.iter().for_each(|channel| channel.timing_relative_to(now, into));
        self.path.timing_relative_to(now, into);
        into.extend(self.plane_ends.iter().map(|end| end.saturating_sub(now).0));
    }

    /// The part of `timing_relative_to` that is about one program.
    pub fn program_timing_relative_to(&self, program: &Programming, now: Nanos, into: &mut Vec<u64>) {
        let end = self.end_of(program).saturating_sub(now).0;
        let after = if end > 0 { self.dies[program.die as usize].queued_since(program.ticket) } else { 0 };
        into.extend([end, program.pages as u64, program.die as u64, after]);
    }

    /// So many host units more have been programmed, on each die as many, and all that is not past at `now` is later by
    /// `span`.
    pub fn shift_timing(&mut self, now: Nanos, span: Nanos, units: u64) {
        let queued = units / self.dies.len() as u64;
        self.dies.iter_mut().for_each(|die| die.shift_timing(now, span, queued));
        self.channels.iter_mut().for_each(|channel| channel.shift_timing(now, span));
        self.path.shift_timing(now, span);
    }

    /// A program as it is `span` and so many host units later.
    pub fn shifted(&self, program: &Programming, span: Nanos, units: u64) -> Programming {
        Programming {
            ticket: program.ticket.later(units / self.dies.len() as u64),
            end: self.end_of(program) + span,
            delays: self.delays,
            asked: program.asked + span,
            ..*program
        }
    }

    /// When no die has anything left to do.
    pub fn free_at(&self) -> Nanos {
        self.dies.iter().map(Die::free_at).max().unwrap_or_default()
    }

    /// Array time of all dies added.
    pub fn busy(&self) -> Nanos {
        self.reading + self.programming + self.erasing
    }

    pub fn dies(&self) -> u32 {
        self.dies.len() as u32
    }

    /// Nothing will be asked for before `now`.
    #[inline]
    pub fn forget_before(&mut self, now: Nanos) {
        self.horizon = self.horizon.max(now);
    }

    /// Nothing will be asked for before this.
    pub fn horizon(&self) -> Nanos {
        self.horizon
    }

    #[inline]
    fn mode(&self, mode: CellMode) -> &Mode {
        &self.modes[mode as usize]
    }

    /// Transfer `pages` over a channel once they are `ready`; returns when the last has arrived.
    #[inline(always)]
    fn transfer(&mut self, channel: u32, ready: Nanos, pages: u32, tries: u64) -> Nanos {
        let time = Nanos(self.transfers[pages as usize].0 * tries);
        self.channels[channel as usize].reserve(self.horizon, ready, time) + time
    }

    /// Read `pages` of one multi-plane page, from the `column`th on, for the host. Each of the tries takes the die, and
    /// crosses the channel.
    #[inline(always)]
    pub fn host_read(
        &mut self,
        ready: Nanos,
        die: u32,
        mode: CellMode,
        (column, pages): (u32, u32),
        tries: u64,
    ) -> Way {
        self.delays += 1;
        let time = Nanos(self.mode(mode).read.0 * tries);
        let array = &mut self.dies[die as usize];
        let suspend = self.suspend.as_ref();
        let mut reads = array.reads_end();
        let sensed = if self.plane_ends.is_empty() {
            self.reading += time;
            array.host_read(ready, time, suspend)
        } else {
            let planes = column / self.plane_pages..(column + pages - 1) / self.plane_pages + 1;
            let first = die * (self.multi_plane_pages / self.plane_pages);
            let ends = &mut self.plane_ends[(first + planes.start) as usize..(first + planes.end) as usize];
            let free = ends.iter().copied().max().expect("one plane at least");
            reads = free;
            let before = array.reads_end();
            let sensed = array.plane_read(ready.max(free), time, suspend);
            // Planes that read at once are one array at work.
            self.reading += time.min(array.reads_end() - before);
            ends.fill(sensed);
            sensed
        };
        self.suspends += array.suspended() as u64;
        let channel = &mut self.channels[array.channel as usize];
        let transfer = Nanos(self.transfers[pages as usize].0 * tries);
        let arrived = channel.reserve(self.horizon, sensed, transfer) + transfer;
        let waited = arrived - ready - time - transfer;
        let mut way = Way { waited, ..Way::without_read(ready, arrived) };
        if waited > Nanos::ZERO {
            let begun = Nanos(sensed.0 - time.0);
            // It, or a read before it, waited for what the die did for the drive itself.
            if begun > ready && (begun > reads || self.dies[die as usize].blocked.0 > ready) {
                (way.blocked, way.by) = self.dies[die as usize].blocked_by(ready, reads, begun);
            }
        }
        way
    }

    /// Read a multi-plane page for the drive itself, behind what the die has to do; returns when it is in the register.
    #[inline]
    pub fn sense(&mut self, ready: Nanos, die: u32, mode: CellMode, tries: u64) -> Nanos {
        let time = Nanos(self.mode(mode).read.0 * tries);
        self.reading += time;
        self.account.work(self.work, time);
        let array = &mut self.dies[die as usize];
        array.queue(self.horizon, ready, time, Internal::Read, self.work).1
    }

    /// Transfer `pages` of a multi-plane page that was sensed, at each try; returns when they are in the controller.
    #[inline]
    pub fn transfer_out(&mut self, sensed: Nanos, die: u32, pages: u32, tries: u64) -> Nanos {
        self.transfer(self.dies[die as usize].channel, sensed, pages, tries)
    }

    /// What one program writes in that mode, taking `permille` of its time in the array and in the data path.
    #[inline]
    pub fn program_unit(&self, mode: CellMode, permille: u32) -> ProgramUnit {
        let unit = self.mode(mode).unit;
        let share = |time: Nanos| Nanos(time.0 * permille as u64 / 1000);
        match permille {
            1000 => unit,
            _ => ProgramUnit { path: share(unit.path), time: share(unit.time), ..unit },
        }
    }

    /// tBERS of a block of every plane.
    pub fn erase_time(&self, mode: CellMode) -> Nanos {
        self.mode(mode).erase
    }

    /// Pages that all dies program, or all channels bring to them if that takes longer, and the time that it takes.
    pub fn program_pace(&self, mode: CellMode, permille: u32) -> (u64, Nanos) {
        let ProgramUnit { pages, transfer, time, .. } = self.program_unit(mode, permille);
        let (dies, channels) = (self.dies.len() as u64, self.channels.len() as u64);
        if transfer.0 * dies > time.0 * channels {
            (pages as u64 * channels, transfer)
        } else {
            (pages as u64 * dies, time)
        }
    }

    /// What one program adds to cells that hold a bit each.
    #[inline]
    pub fn reprogram_unit(&self) -> ProgramUnit {
        self.upper
    }

    /// Program a unit whose data are in the controller at `ready`.
    #[inline(always)]
    pub fn program(&mut self, ready: Nanos, die: u32, unit: &ProgramUnit) -> Programming {
        let ProgramUnit { pages, transfer, path, time } = *unit;
        self.programming += time;
        self.account.work(self.work, time);
        let asked = ready;
        let ready = match path {
            Nanos::ZERO => ready,
            path => self.path.reserve(self.horizon, ready, path) + path,
        };
        let array = &mut self.dies[die as usize];
        let channel = &mut self.channels[array.channel as usize];
        let ready = ready.max(array.register_free_at());
        let loaded = channel.reserve(self.horizon, ready, transfer) + transfer;
        let (ticket, end) = array.queue(self.horizon, loaded, time, Internal::Program, self.work);
        Programming { pages, die, ticket, end, delays: self.delays, asked }
    }

    /// Erase the same block of every plane of every die.
    pub fn erase_superblock(&mut self, ready: Nanos, mode: CellMode) {
        let time = self.mode(mode).erase;
        for die in &mut self.dies {
            die.queue(self.horizon, ready, time, Internal::Erase, Cause::Erasing);
            self.erasing += time;
            self.account.work(Cause::Erasing, time);
        }
    }

    /// Whether a program has begun at `now`: from then on its data cannot change.
    pub fn has_begun(&self, programming: &Programming, now: Nanos) -> bool {
        self.dies[programming.die as usize].has_begun(programming.ticket, now)
    }

    /// When a program ends, as things stand; perhaps zero once it is past.
    #[inline]
    pub fn end_of(&self, programming: &Programming) -> Nanos {
        if programming.delays == self.delays {
            programming.end
        } else {
            self.dies[programming.die as usize].end_of(programming.ticket)
        }
    }
}

/// Time of so many bytes on a bus of that many megatransfers (bytes) a second.
fn transfer_time(bytes: u64, bus_mts: u32) -> Nanos {
    Nanos((bytes * 1000).div_ceil(bus_mts as u64))
}
