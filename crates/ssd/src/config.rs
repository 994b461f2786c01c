//! A drive's description, resolved: every size in bytes, every time in nanoseconds, every rule checked.
//!
//! A [`Config`] holds hardware and policy, never a result: no phase speed, no cliff position. It is made from a
//! profile (see `profile`), which is where units, inheritance and mistakes are dealt with.

use std::cmp::Ordering;

pub use crate::cell_mode::CellMode;
pub use crate::ftl::cache::{Overflow, WhenFull};
pub use crate::ftl::victim::VictimRule;

use crate::units::{MapUnit, Nanos};
use crate::words::words;

/// The host interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Link {
    /// Line rate in Mb/s: 1500, 3000 or 6000.
    Sata { mbps: u32 },
    /// Generation 1..=6 and number of lanes.
    Pcie { generation: u8, lanes: u8 },
    /// Through a bridge, with the line rate in Mb/s: 5000, 10000 or 20000.
    Usb { mbps: u32 },
    /// Two lanes of M-PHY in high-speed gear 3, 4 or 5, rate B.
    Ufs { gear: u8 },
    /// HS400: eight lines, with the command queue or without.
    Emmc { queue: bool },
    /// UHS-I at SDR104: four lines.
    Sd,
}

impl Link {
    /// Requests that it carries at a time; `None`: as many as the host asks.
    pub fn tags(&self) -> Option<usize> {
        match self {
            Link::Sata { .. } | Link::Ufs { .. } | Link::Emmc { queue: true } => Some(32),
            Link::Emmc { queue: false } | Link::Sd => Some(1),
            Link::Pcie { .. } | Link::Usb { .. } => None,
        }
    }
}

impl Default for Link {
    fn default() -> Link {
        Link::Sata { mbps: 6000 }
    }
}

/// What a bridge from USB makes of commands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Usb {
    /// Bulk-only transport (BOT): one command at a time. Else USB attached SCSI (UAS), which queues them.
    pub bulk_only: bool,
    /// Whether trims end at the bridge, and the drive never hears of them.
    pub drops_discards: bool,
    /// The link of the drive behind the bridge; `None`: faster than USB, as the link of the drive itself would be.
    pub behind: Option<Link>,
}

/// Times of one cell mode for a whole multi-plane operation on one die.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct CellTiming {
    /// tR: array to page register.
    pub read: Nanos,
    /// tPROG of one program unit: all planes, and in native mode all bits of the cells (one-shot, or the sum of passes).
    pub program: Nanos,
    /// tBERS of one block of every plane.
    pub erase: Nanos,
    /// Age of data at 30 degrees Celsius from which on a read is tried again; `None`: they do not age.
    pub retention: Option<Nanos>,
}

/// What a program or erase in progress does when a host read arrives for its die.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Suspend {
    /// Time to suspend a program plus time to resume it.
    pub program: Nanos,
    /// Time to suspend an erase plus time to resume it.
    pub erase: Nanos,
    /// How often one operation may be suspended before reads wait for it to end.
    pub limit: u32,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Nand {
    pub channels: u32,
    /// Dies in all; die `d` is on channel `d % channels`.
    pub dies: u32,
    pub planes: u32,
    pub blocks_per_plane: u32,
    /// Pages of a block in native mode; a multiple of `bits_per_cell`.
    pub pages_per_block: u32,
    /// A multiple of 4 KiB.
    pub page_bytes: u32,
    /// What an entry of the map stands for.
    pub map_unit: MapUnit,
    pub bits_per_cell: u32,
    /// Channel speed in megatransfers a second; a transfer is one byte.
    pub bus_mts: u32,
    pub slc: CellTiming,
    /// Of cells that hold two bits of more; `None`: not known.
    pub mlc: Option<CellTiming>,
    pub native: CellTiming,
    pub suspend: Option<Suspend>,
    /// Whether the planes of a die read different pages at the same time.
    pub independent_reads: bool,
    /// How many times as old data are when a read has to be tried once more, in permille.
    pub retry_growth_permille: u32,
    /// How often it is tried again at most.
    pub retries: u32,
    /// Age that each read of a block adds to the data in it.
    pub read_disturb: Nanos,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Controller {
    /// DRAM or SRAM that holds acknowledged writes until they are in the NAND.
    pub write_buffer_bytes: u64,
    /// Whether a write is acknowledged from the buffer; where not, each waits for its NAND.
    pub write_cache: bool,
    /// Cores that take commands.
    pub cores: u32,
    /// Core time of one command: a read, a write, any other.
    pub read: Nanos,
    pub write: Nanos,
    pub command: Nanos,
    /// What a command spends in the controller beyond the time of a core; commands pass beside each other. A kept
    /// drive has it from its profile, so states written before the key was there can be read.
    #[serde(skip)]
    pub latency: Nanos,
    /// Whether capacitors carry the write buffer into the NAND when the power goes: then it is as safe as the NAND, and a
    /// flush has nothing to wait for.
    pub power_loss_protection: bool,
    /// Whether a page that is written again while its program has not begun takes the place of the older one in the buffer,
    /// which is never programmed.
    pub merges_rewrites: bool,
    /// What a flush takes beyond the programs that it waits for: the changes of the map are written.
    pub flush: Nanos,
    /// What the data path (scrambling, parity, buffers for the passes of a program) moves into the cache and into native cells,
    /// bytes a second, for the host and for relocation together; `None`: more than the dies take.
    pub slc_write_bytes_per_s: Option<u64>,
    pub native_write_bytes_per_s: Option<u64>,
    /// How fast the data of one write pass from the link into the write buffer before it is answered, bytes a second; writes
    /// pass beside each other. `None`: as they come.
    pub copy_in_bytes_per_s: Option<u64>,
    /// How far sequential reads are read ahead of the host.
    pub read_ahead_bytes: u64,
    /// `None`: the whole map is in DRAM.
    pub map: Option<MapCache>,
}

impl Controller {
    /// A write cache, the whole map in DRAM, no reading ahead, and the same core time for each command.
    pub fn plain(write_buffer_bytes: u64, cores: u32, command: Nanos) -> Controller {
        Controller {
            write_buffer_bytes,
            write_cache: true,
            cores,
            read: command,
            write: command,
            command,
            latency: Nanos::ZERO,
            power_loss_protection: false,
            merges_rewrites: false,
            flush: Nanos::ZERO,
            slc_write_bytes_per_s: None,
            native_write_bytes_per_s: None,
            copy_in_bytes_per_s: None,
            read_ahead_bytes: 0,
            map: None,
        }
    }

    /// What the data path moves into cells of a mode, bytes a second.
    pub fn data_path(&self, mode: CellMode) -> Option<u64> {
        match mode {
            CellMode::Slc | CellMode::Mlc => self.slc_write_bytes_per_s,
            CellMode::Native => self.native_write_bytes_per_s,
        }
    }

    /// Time from when a write of so many bytes is here until it is answered.
    #[inline]
    pub fn copy_in(&self, len: u32) -> Nanos {
        let copy = |rate| Nanos((len as u64 * 1_000_000_000).div_ceil(rate));
        self.copy_in_bytes_per_s.map_or(Nanos::ZERO, copy)
    }
}

/// The part of the map that a controller without DRAM holds: in its SRAM, or in host memory (HMB).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct MapCache {
    /// 4 bytes map a page of 4 KiB; what is not held is in the NAND, in pSLC.
    pub bytes: u64,
    /// Time of one look at it: none for SRAM, a trip over the link for host memory.
    pub access: Nanos,
}

/// What the drive draws.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Power {
    /// Controller and DRAM while they work, in milliwatts.
    pub active_mw: u64,
    /// All of the drive in its idle state, in milliwatts.
    pub idle_mw: u64,
    /// Silence before the idle state.
    pub idle_after: Nanos,
    /// Time to leave the idle state, which the first command after it waits for.
    pub exit: Nanos,
    /// One die while it senses, programs, erases, in milliwatts.
    pub die_read_mw: u64,
    pub die_program_mw: u64,
    pub die_erase_mw: u64,
    /// Moving one byte of the host's over the link and through the controller, in picojoules.
    pub data_pj_per_byte: u64,
    /// Deeper states, in the order in which they are entered.
    pub states: [Option<PowerState>; POWER_STATES],
}

pub const POWER_STATES: usize = 3;

/// A non-operational power state that a drive enters by itself (NVMe: autonomous power state transitions).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct PowerState {
    /// Silence of the host before it (NVMe: the sum of ITPT up to here).
    pub after: Nanos,
    /// All of the drive in it, in milliwatts.
    pub draws_mw: u64,
    /// Time to enter it, which a command that comes meanwhile waits for (ENLAT).
    pub entry: Nanos,
    /// Time to leave it (EXLAT).
    pub exit: Nanos,
    /// Whether the drive may fold in it; where not, it stops folding to enter it.
    pub background: bool,
}

impl Power {
    /// Silence of the host after which nothing is folded any more.
    pub fn background_until(&self) -> Option<Nanos> {
        self.states.iter().flatten().find(|state| !state.background).map(|state| state.after)
    }
}

/// Two heat capacities one after the other: the chips, whose temperature the drive reports, and the board with what is on it.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Thermal {
    /// Air, in thousandths of a degree Celsius.
    pub ambient_mc: i64,
    /// Thermal capacities, in millijoules a kelvin.
    pub chips_mj_per_k: i64,
    pub board_mj_per_k: i64,
    /// Resistances from the chips to the board and from the board to the air, in millikelvins a watt. Air flow and heat
    /// sinks lower the second.
    pub chips_to_board_mk_per_w: i64,
    pub board_to_air_mk_per_w: i64,
    /// Steps of throttling, the coolest first.
    pub throttle: Vec<ThermalStep>,
}

/// One step of thermal throttling.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct ThermalStep {
    /// It begins at this temperature of the chips and ends below the other, in thousandths of a degree Celsius.
    pub at_mc: i64,
    pub until_mc: i64,
    /// The share of the link's speed that is left, in permille.
    pub share_permille: u32,
}

/// Program and erase cycles that a block stands, at one bit a cell and at the native number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Wear {
    pub slc_cycles: u32,
    pub native_cycles: u32,
}

/// The computer around the drive. Each part may be left out: then it takes no time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Host {
    pub cpu: Option<Cpu>,
    pub page_cache: Option<PageCache>,
}

/// What a request costs the host's processor, from the call to its return.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Cpu {
    pub cores: u32,
    pub read: Nanos,
    pub write: Nanos,
}

/// Memory between programs and the drive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct PageCache {
    pub bytes: u64,
    /// Dirty bytes from which they are written back, and from which writers wait.
    pub background_bytes: u64,
    pub dirty_bytes: u64,
    /// The largest request that writes back or reads ahead, and how many are under way.
    pub request_bytes: u32,
    pub depth: u32,
    /// Copying into and out of it, in bytes a second.
    pub memory_bytes_per_s: u64,
    /// Also for direct I/O: a cache that a vendor's driver puts before the drive.
    pub driver: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Ftl {
    /// Which closed superblock garbage collection takes.
    pub gc: VictimRule,
    /// Array time of a program of garbage collection over that of a direct one, in permille (1000: equal).
    pub gc_overhead_permille: u32,
    /// Host data after which the next free superblock is erased while the host writes. 0: a superblock is erased when it is
    /// opened, or in silence.
    pub erase_every_bytes: u64,
    /// Free superblocks below which host writes are throttled to reclaim space.
    pub reserve_superblocks: u32,
    /// Age of data at 30 degrees Celsius from which on they are rewritten while the host is silent; `None`: never.
    pub refresh: Option<Nanos>,
}

words! {
    /// The vendor tools' words for what the cache is made of.
    pub enum CacheMode {
        /// No cache: every write goes to native cells.
        PureXlc = "pure-xlc",
        /// Superblocks set aside for good as pSLC.
        StaticSlc = "static-slc",
        /// Superblocks borrowed from the free native space.
        DynamicSlc = "dynamic-slc",
        /// Both.
        HybridSlc = "hybrid-slc",
        /// The whole drive runs at one bit per cell.
        PureSlc = "pure-slc",
    }
}

words! {
    /// When the cache may be written again after it has been full.
    pub enum Reuse {
        /// As soon as one of its superblocks is free.
        AsFreed = "as-freed",
        /// Once no data are left in it (beyond the residue).
        WhenEmpty = "when-empty",
        /// Once the drive has been idle for longer than the idle threshold.
        AfterIdle = "after-idle",
    }
}

/// Migration out of the cache, and collection of garbage, while the host is silent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Idle {
    /// Silence before migration starts.
    pub threshold: Nanos,
    /// A limit the firmware puts on it, bytes a second; `None`: as fast as the NAND folds.
    pub rate_bytes_per_s: Option<u64>,
    /// Bytes that stay in the cache.
    pub residue_bytes: u64,
    /// Bytes beyond the reserve that are to be free: garbage is collected for them; 0: none is.
    pub collect_bytes: u64,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Cache {
    pub mode: CacheMode,
    /// Size of the static part when the mode has one, in bytes of pSLC.
    pub static_bytes: u64,
    /// Size of the dynamic part on an empty drive when the mode has one, in bytes of what it stores.
    pub dynamic_bytes: u64,
    /// Whether cells of the dynamic part hold two bits each, not one.
    pub dynamic_mlc: bool,
    /// Fill (valid native data / capacity, in permille) up to which the dynamic part keeps its full size.
    pub shrink_from_permille: u32,
    /// Fill in permille from which the dynamic part has its least size; linear in between.
    pub shrink_to_permille: u32,
    /// Least size of the dynamic part, in bytes of what it stores.
    pub dynamic_least_bytes: u64,
    /// What happens to host writes when the cache is full.
    pub when_full: WhenFull,
    /// Share of die time that host writes keep while the drive folds under load, in permille.
    pub host_share_permille: u32,
    /// Array time of a fold program over that of a direct one, in permille (1000: equal).
    pub fold_overhead_permille: u32,
    /// Free native space below which the cache is folded to make room, though more is left than the FTL needs.
    pub fold_below_bytes: u64,
    /// How much of the cache a policy that folds under load frees before host writes are fast again; 0: they stay in step.
    pub fold_batch_bytes: u64,
    pub reuse: Reuse,
    /// Whether a superblock of the cache whose data have all been written anew elsewhere, or trimmed, is free only once
    /// the drive has been idle.
    pub dead_until_idle: bool,
    /// Whether the cache is off for good once its cells have been erased `wear.slc_cycles` times.
    #[serde(skip)]
    pub off_when_worn: bool,
    /// `None`: never migrates when idle.
    pub idle: Option<Idle>,
}

impl Cache {
    /// How cells of the dynamic part are used.
    pub fn dynamic_cells(&self) -> CellMode {
        if self.dynamic_mlc {
            CellMode::Mlc
        } else {
            CellMode::Slc
        }
    }

    /// Size of the cache of an empty drive, in bytes of what it stores.
    pub fn most_bytes(&self) -> u64 {
        match self.mode {
            CacheMode::PureXlc | CacheMode::PureSlc => 0,
            CacheMode::StaticSlc => self.static_bytes,
            CacheMode::DynamicSlc => self.dynamic_bytes,
            CacheMode::HybridSlc => self.static_bytes + self.dynamic_bytes,
        }
    }
}

/// A drive, complete and checked.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Config {
    /// What people call the drive.
    pub name: String,
    /// Bytes the host can address, in the configured cache mode.
    pub capacity_bytes: u64,
    pub link: Link,
    /// Of a drive behind USB.
    pub usb: Option<Usb>,
    pub nand: Nand,
    pub controller: Controller,
    pub ftl: Ftl,
    pub cache: Cache,
    /// `None`: not known, and no energy is counted.
    pub power: Option<Power>,
    /// `None`: it stays cool.
    pub heat: Option<Thermal>,
    pub wear: Option<Wear>,
    pub host: Host,
}

words! {
    /// What sets the speed at which all dies together are programmed.
    pub enum ProgramLimit {
        /// Their program time.
        Dies = "dies",
        /// What the channels carry.
        Bus = "bus",
        /// The controller's data path into those cells.
        DataPath = "data-path",
        /// A write buffer that holds less than a program for each die.
        Buffer = "buffer",
    }
}

impl Config {
    /// The links of the drive from the host on: its own, or a bridge's and the one behind it.
    pub fn links(&self) -> impl Iterator<Item = Link> {
        [Some(self.link), self.usb.and_then(|usb| usb.behind)].into_iter().flatten()
    }

    /// What host data can be programmed with in a mode, in bytes a second, and what sets that.
    pub fn program_limit(&self, mode: CellMode) -> (u64, ProgramLimit) {
        let nand = &self.nand;
        let unit = nand.unit_bytes(mode);
        let transfer = unit as f64 / (nand.bus_mts as f64 * 1e6);
        // One more is being filled; each stays until it is programmed.
        let held = (self.controller.write_buffer_bytes / unit).saturating_sub(1);
        let buffer = (held * unit) as f64 / (transfer + nand.timing(mode).program.as_secs_f64());
        let path = self.controller.data_path(mode);
        [
            (nand.array_bytes_per_s(mode), ProgramLimit::Dies),
            (nand.bus_bytes_per_s(), ProgramLimit::Bus),
            (path.unwrap_or(u64::MAX), ProgramLimit::DataPath),
            (buffer as u64, ProgramLimit::Buffer),
        ]
        .into_iter()
        .min_by_key(|(speed, _)| *speed)
        .expect("there are four")
    }

    /// A drive `numerator / denominator` as large that behaves like this one: fewer pages a block, and every size smaller in
    /// proportion. So the number of superblocks, the shares of spare space and of the cache, speeds, idle rates and the
    /// time that an erase takes per byte stay. `None` where a block would not have whole word lines.
    pub fn scaled(&self, numerator: u32, denominator: u32) -> Option<Config> {
        let pages = self.nand.pages_per_block as u64 * numerator as u64;
        let word_line_pages = self.nand.bits_per_cell as u64 * denominator as u64;
        if word_line_pages == 0 || pages == 0 || pages % word_line_pages != 0 {
            return None;
        }
        let share = |size: u64| (size as u128 * numerator as u128 / denominator as u128) as u64;
        let mut scaled = self.clone();
        scaled.nand.pages_per_block = (pages / denominator as u64) as u32;
        scaled.capacity_bytes = share(self.capacity_bytes);
        if let Some(map) = &mut scaled.controller.map {
            map.bytes = share(map.bytes);
        }
        let cache = &mut scaled.cache;
        for size in [
            &mut cache.static_bytes,
            &mut cache.dynamic_bytes,
            &mut cache.dynamic_least_bytes,
            &mut cache.fold_below_bytes,
            &mut cache.fold_batch_bytes,
            &mut scaled.ftl.erase_every_bytes,
        ] {
            *size = share(*size);
        }
        if let Some(idle) = &mut cache.idle {
            idle.residue_bytes = share(idle.residue_bytes);
            idle.collect_bytes = share(idle.collect_bytes);
        }
        let timings = [&mut scaled.nand.slc, &mut scaled.nand.native].into_iter().chain(&mut scaled.nand.mlc);
        for timing in timings {
            // To the nearest nanosecond; of two as near, the even one.
            let (whole, rest) =
                (share(timing.erase.0), timing.erase.0 as u128 * numerator as u128 % denominator as u128);
            let up = match (2 * rest).cmp(&(denominator as u128)) {
                Ordering::Less => false,
                Ordering::Equal => whole % 2 == 1,
                Ordering::Greater => true,
            };
            timing.erase = Nanos((whole + up as u64).max(1));
        }
        Some(scaled)
    }

    /// What the profile says that its reader may not have meant, a sentence each.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        let main = match self.cache.mode {
            CacheMode::PureSlc => CellMode::Slc,
            _ => CellMode::Native,
        };
        let (speed, limit) = self.program_limit(main);
        let dies = self.nand.program_bytes_per_s(main);
        if limit == ProgramLimit::Buffer && speed < dies / 20 * 19 {
            let unit = self.nand.unit_bytes(main);
            notes.push(format!(
                "controller.write_buffer keeps {} of {} dies programming: {} MB/s instead of {}; with {} MiB all do",
                (self.controller.write_buffer_bytes / unit).saturating_sub(1),
                self.nand.dies,
                speed / 1_000_000,
                dies / 1_000_000,
                (2 * self.nand.dies as u64 * unit).div_ceil(1 << 20),
            ));
        }
        if self.usb.is_some_and(|usb| usb.drops_discards) {
            notes.push(
                "usb.discard is \"dropped\": trims end at the bridge, and the drive keeps what was deleted".into(),
            );
        }
        notes
    }

    /// Erases of superblocks of one bit a cell after which the cache is off for good; `None`: never.
    pub fn cache_erases(&self) -> Option<u64> {
        let dynamic = match self.cache.mode {
            CacheMode::DynamicSlc | CacheMode::HybridSlc => {
                self.cache.dynamic_bytes / self.nand.superblock_bytes(self.cache.dynamic_cells())
            }
            _ => 0,
        };
        let cycles = self.wear.filter(|_| self.cache.off_when_worn)?.slc_cycles;
        Some((self.static_superblocks() + dynamic) * cycles as u64)
    }

    /// Superblocks that the static part of the cache takes.
    pub fn static_superblocks(&self) -> u64 {
        match self.cache.mode {
            CacheMode::StaticSlc | CacheMode::HybridSlc => {
                self.cache.static_bytes.div_ceil(self.nand.superblock_bytes(CellMode::Slc))
            }
            CacheMode::PureXlc | CacheMode::DynamicSlc | CacheMode::PureSlc => 0,
        }
    }
}

impl Nand {
    pub fn timing(&self, mode: CellMode) -> CellTiming {
        match mode {
            CellMode::Slc => self.slc,
            CellMode::Mlc => self.mlc.unwrap_or_default(),
            CellMode::Native => self.native,
        }
    }

    /// Bits that a cell holds in a mode.
    pub fn bits(&self, mode: CellMode) -> u32 {
        match mode {
            CellMode::Slc => 1,
            CellMode::Mlc => 2,
            CellMode::Native => self.bits_per_cell,
        }
    }

    /// Mapping units (of 4 KiB in most drives) that one multi-plane page, a page of every plane of one die, holds.
    pub fn multi_plane_pages(&self) -> u32 {
        self.map_unit.whole(self.planes as u64 * self.page_bytes as u64) as u32
    }

    /// Mapping pages of one superblock: one block of every plane of every die.
    pub fn superblock_pages(&self, mode: CellMode) -> u64 {
        let native = self.multi_plane_pages() as u64 * self.dies as u64 * self.pages_per_block as u64;
        native / self.bits_per_cell as u64 * self.bits(mode) as u64
    }

    /// Bytes of one superblock.
    pub fn superblock_bytes(&self, mode: CellMode) -> u64 {
        self.map_unit.bytes(self.superblock_pages(mode))
    }

    /// Bytes of a program unit: a multi-plane page, times the bits that a cell holds.
    pub fn unit_bytes(&self, mode: CellMode) -> u64 {
        self.map_unit.bytes((self.multi_plane_pages() * self.bits(mode)) as u64)
    }

    /// What the arrays of all dies together program, in bytes a second.
    fn array_bytes_per_s(&self, mode: CellMode) -> u64 {
        let bytes = self.dies as u128 * self.unit_bytes(mode) as u128;
        (bytes * 1_000_000_000 / self.timing(mode).program.0 as u128) as u64
    }

    /// What all dies together can program, in bytes a second, when the buses bring the data: the raw speed of a mode.
    pub fn program_bytes_per_s(&self, mode: CellMode) -> u64 {
        self.array_bytes_per_s(mode).min(self.bus_bytes_per_s())
    }

    /// What all channels together carry, in bytes a second: a byte a transfer.
    pub fn bus_bytes_per_s(&self) -> u64 {
        self.channels as u64 * self.bus_mts as u64 * 1_000_000
    }

    /// Superblocks of the drive: one for each block of a plane.
    pub fn superblocks(&self) -> u32 {
        self.blocks_per_plane
    }
}
