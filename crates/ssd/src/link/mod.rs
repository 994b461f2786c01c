//! The host link: how long bytes take on it, and in which direction.
//!
//! Speeds follow from the line rate, the line code and the packets; nothing here is fitted to a drive.

use crate::config;
use crate::consistency::{ensure, ensure_counters, Consistency};
use crate::timeline::Timeline;
use crate::units::Nanos;

/// What one packet carries and what it costs on the wire, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
struct Packets {
    payload: u64,
    overhead: u64,
}

/// One direction of the line: its packets, and the times of the last size and of those before it, since sizes repeat.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
struct Direction {
    packets: Packets,
    bytes_per_s: u64,
    #[serde(skip)]
    last: (u64, Nanos),
    #[serde(skip, default = "empty_memo")]
    memo: [(u64, Nanos); MEMO_ENTRIES],
}

fn empty_memo() -> [(u64, Nanos); MEMO_ENTRIES] {
    [(0, Nanos::ZERO); MEMO_ENTRIES]
}

const MEMO_ENTRIES: usize = 64;

impl Direction {
    fn new(packets: Packets, bytes_per_s: u64) -> Direction {
        Direction { packets, bytes_per_s, last: (0, Nanos::ZERO), memo: empty_memo() }
    }

    #[inline]
    fn time(&mut self, bytes: u64) -> Nanos {
        if self.last.0 != bytes {
            // Numbers of pages that are near each other, with a command or without, have places of their own.
            let memo = &mut self.memo[(bytes / 4096 + bytes / 128) as usize % MEMO_ENTRIES];
            if memo.0 != bytes {
                *memo = (bytes, wire_time(bytes, &self.packets, self.bytes_per_s));
            }
            self.last = *memo;
        }
        self.last.1
    }
}

/// Host to drive on PCIe: the drive reads host memory. Root complexes answer in completions of the 128 B read
/// completion boundary, each with a 12 B header, 4 B framing, 4 B LCRC and its share of acknowledge and flow control.
const PCIE_TO_DRIVE: Packets = Packets { payload: 128, overhead: 24 };
/// Drive to host on PCIe: posted writes of the usual 256 B maximum payload; the header is 16 B.
const PCIE_TO_HOST: Packets = Packets { payload: 256, overhead: 28 };
/// SATA: data FIS of at most 8 KiB, with header, CRC and frame primitives, 32 B; then the line turns round (X_RDY/R_RDY,
/// WTRM/R_OK; Serial ATA revision 3.x, link layer). Both sides answer after so many words, 0.7 us at 600 MB/s, so a line
/// of half the rate takes twice as long.
const SATA_FIS: Packets = Packets { payload: 8192, overhead: 32 + 420 };

/// USB 3: data packets of 1024 B with a header packet of 20 B, framing of 8 B and CRC-32 (USB 3.2, link layer); each
/// direction has a line of its own.
const USB: Packets = Packets { payload: 1024, overhead: 32 };

/// UFS: segments of 272 B in UniPro frames of 288 B at most, with headers, CRC and frame symbols, and their share of
/// acknowledgements (UniPro 1.8, data link and transport layer).
const UFS: Packets = Packets { payload: 272, overhead: 16 };
/// eMMC and SD: blocks of 512 B, each with a start bit, CRC16, an end bit and 8 clocks to the next, at 2 B a clock on eight
/// lines with both edges, and at half a byte on four with one (JESD84-B51, bus protocol; SD physical layer, SDR104).
const EMMC: Packets = Packets { payload: 512, overhead: 52 };
const SD: Packets = Packets { payload: 512, overhead: 13 };

/// Command, ready and sense information units (UAS) or command and status wrappers (BOT), each a packet of its own, with
/// the transaction packets that acknowledge them.
const USB_COMMAND_BYTES: u64 = 256;
/// Bytes of command and completion that cross beside the data (NVMe: 64 B entry; 16 B completion; doorbells, packets).
const PCIE_COMMAND_BYTES: u64 = 128;
/// NCQ: register, DMA setup and set-device-bits FIS with their turnarounds, as wire time in bytes at 600 MB/s.
const SATA_COMMAND_BYTES: u64 = 2400;
/// UFS: command, ready-to-transfer and response units of 32 B, each a frame.
const UFS_COMMAND_BYTES: u64 = 144;
/// eMMC and SD: block count and command, each of 48 clocks, 8 to the response and 48 of it, while no data pass.
const EMMC_COMMAND_BYTES: u64 = 416;
const SD_COMMAND_BYTES: u64 = 104;

/// One link: the drive's own, a bridge's, or the one behind a bridge.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
struct Wire {
    /// The line to the host, or the only line: data come in the order they are ready.
    line: Timeline,
    /// The line to the drive where it is another; the drive fetches write data in the order of the commands, so the
    /// line is free from here on.
    to_drive: Option<Nanos>,
    /// Time that each line has been in use.
    busy: LinkBusy,
    down: Direction,
    up: Direction,
    command_bytes: u64,
    bytes_per_s: u64,
}

/// Time that the lines of a link have been in use: the one to the host, or the only one, and the one to the drive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct LinkBusy {
    pub to_host: Nanos,
    pub to_drive: Nanos,
}

impl LinkBusy {
    pub fn zip(self, other: LinkBusy, of: impl Fn(u64, u64) -> u64) -> LinkBusy {
        LinkBusy {
            to_host: Nanos(of(self.to_host.0, other.to_host.0)),
            to_drive: Nanos(of(self.to_drive.0, other.to_drive.0)),
        }
    }
}

impl Wire {
    fn new(link: &config::Link) -> Wire {
        let (one_line, down, up, command_bytes) = match link {
            config::Link::Sata { .. } => (true, SATA_FIS, SATA_FIS, SATA_COMMAND_BYTES),
            config::Link::Pcie { .. } => (false, PCIE_TO_DRIVE, PCIE_TO_HOST, PCIE_COMMAND_BYTES),
            config::Link::Usb { .. } => (false, USB, USB, USB_COMMAND_BYTES),
            config::Link::Ufs { .. } => (false, UFS, UFS, UFS_COMMAND_BYTES),
            config::Link::Emmc { .. } => (true, EMMC, EMMC, EMMC_COMMAND_BYTES),
            config::Link::Sd => (true, SD, SD, SD_COMMAND_BYTES),
        };
        let bytes_per_s = line_bytes_per_s(link);
        Wire {
            line: Timeline::default(),
            to_drive: (!one_line).then_some(Nanos::ZERO),
            busy: LinkBusy::default(),
            down: Direction::new(down, bytes_per_s),
            up: Direction::new(up, bytes_per_s),
            command_bytes,
            bytes_per_s,
        }
    }

    /// Whether it is this link, slowed down to `permille` of its speed.
    fn check(&self, link: &config::Link, permille: u32) -> Consistency {
        let mut as_described = Wire::new(link);
        if permille < 1000 {
            as_described.set_share(permille);
        }
        let same = |of: fn(&Wire) -> &Direction| {
            let (mine, described) = (of(self), of(&as_described));
            (mine.packets, mine.bytes_per_s) == (described.packets, described.bytes_per_s)
        };
        let constants = |wire: &Wire| (wire.command_bytes, wire.bytes_per_s, wire.to_drive.is_some());
        ensure(
            same(|wire| &wire.up) && same(|wire| &wire.down) && constants(self) == constants(&as_described),
            "link",
        )?;
        ensure_counters(&[self.busy.to_host.0, self.busy.to_drive.0], "link")?;
        self.line.check()
    }

    fn timing_relative_to(&self, now: Nanos, into: &mut Vec<u64>) {
        self.line.timing_relative_to(now, into);
        into.push(self.down.bytes_per_s);
        into.extend(self.to_drive.map(|free| free.saturating_sub(now).0));
    }

    fn shift_timing(&mut self, now: Nanos, span: Nanos) {
        self.line.shift_timing(now, span);
        if let Some(free) = &mut self.to_drive {
            *free += span;
        }
    }

    fn set_share(&mut self, permille: u32) {
        let left = self.bytes_per_s * permille as u64 / 1000;
        for direction in [&mut self.down, &mut self.up] {
            *direction = Direction::new(direction.packets, left);
        }
    }

    #[inline]
    fn receive(&mut self, horizon: Nanos, ready: Nanos, data: Transfer) -> Nanos {
        let time = self.down.time(data.bytes + data.commands * self.command_bytes);
        match &mut self.to_drive {
            Some(free) => {
                self.busy.to_drive += time;
                *free = ready.max(*free) + time;
                *free
            }
            None => {
                self.busy.to_host += time;
                self.line.reserve(horizon, ready, time) + time
            }
        }
    }

    #[inline]
    fn send(&mut self, horizon: Nanos, ready: Nanos, data: Transfer) -> Nanos {
        let time = self.up.time(data.bytes + data.commands * self.command_bytes);
        self.busy.to_host += time;
        self.line.reserve(horizon, ready, time) + time
    }

    /// The most that data to the host can reach, and data to the drive, in bytes a second, while nothing is hot.
    fn ceilings(&self) -> (u64, u64) {
        let of = |direction: &Direction| ceiling(&direction.packets, self.bytes_per_s);
        (of(&self.up), of(&self.down))
    }
}

/// What crosses the links: bytes of data, and the commands that come with them, which cost each link its own.
#[derive(Clone, Copy, Debug)]
pub struct Transfer {
    pub bytes: u64,
    pub commands: u64,
}

/// The links between the host and the drive, in a row: the drive's own, or a bridge's and the one behind it. What came over
/// one goes over the next.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct Link {
    first: Wire,
    behind: Option<Box<Wire>>,
}

impl Link {
    pub fn new(config: &config::Config) -> Link {
        let behind = config.links().nth(1).map(|link| Box::new(Wire::new(&link)));
        Link { first: Wire::new(&config.link), behind }
    }

    fn wires(&self) -> impl Iterator<Item = &Wire> {
        std::iter::once(&self.first).chain(self.behind.as_deref())
    }

    fn wires_mut(&mut self) -> impl Iterator<Item = &mut Wire> {
        std::iter::once(&mut self.first).chain(self.behind.as_deref_mut())
    }

    /// Whether these are the links of the drive, slowed down to `permille` of their speed.
    pub fn check(&self, config: &config::Config, permille: u32) -> Consistency {
        ensure(self.wires().count() == config.links().count(), "link")?;
        self.wires().zip(config.links()).try_for_each(|(wire, link)| wire.check(&link, permille))
    }

    /// What is reserved on them after `now`, and their speed.
    pub fn timing_relative_to(&self, now: Nanos, into: &mut Vec<u64>) {
        self.wires().for_each(|wire| wire.timing_relative_to(now, into));
    }

    /// All reservations that are not past at `now` are later by `span`.
    pub fn shift_timing(&mut self, now: Nanos, span: Nanos) {
        self.wires_mut().for_each(|wire| wire.shift_timing(now, span));
    }

    /// Leave a share of the speed, in permille: what firmware does when it is hot.
    pub fn set_share(&mut self, permille: u32) {
        self.wires_mut().for_each(|wire| wire.set_share(permille));
    }

    /// Data of a write, or a part of them, from the host once there is room at `ready`; returns when they are here.
    #[inline]
    pub fn receive(&mut self, horizon: Nanos, ready: Nanos, data: Transfer) -> Nanos {
        let here = self.first.receive(horizon, ready, data);
        match &mut self.behind {
            Some(behind) => behind.receive(horizon, here, data),
            None => here,
        }
    }

    /// Data of a read to the host, ready in the controller at `ready`; returns when they have arrived.
    #[inline]
    pub fn send(&mut self, horizon: Nanos, ready: Nanos, data: Transfer) -> Nanos {
        let ready = match &mut self.behind {
            Some(behind) => behind.send(horizon, ready, data),
            None => ready,
        };
        self.first.send(horizon, ready, data)
    }

    /// What is left of the speed while it is hot, in permille: the same of each link.
    #[inline]
    pub fn share_permille(&self) -> u32 {
        let Wire { up, bytes_per_s, .. } = &self.first;
        if up.bytes_per_s == *bytes_per_s {
            1000
        } else {
            (up.bytes_per_s as u128 * 1000 / *bytes_per_s as u128) as u32
        }
    }

    /// Time that the lines have been in use, of each link.
    pub fn busy(&self) -> [LinkBusy; 2] {
        let mut busy = [LinkBusy::default(); 2];
        busy.iter_mut().zip(self.wires()).for_each(|(busy, wire)| *busy = wire.busy);
        busy
    }

    /// The lines have been in use for so long more.
    pub fn work(&mut self, more: &[LinkBusy; 2]) {
        self.wires_mut().zip(more).for_each(|(wire, more)| wire.busy = wire.busy.zip(*more, |a, b| a + b));
    }

    /// Time that data to the host and data to the drive had the link that is busiest with them in use, with so much more of
    /// each; a line that both share is in use for both.
    pub fn busy_with(&self, more: &[LinkBusy; 2]) -> LinkBusy {
        let busy = self.wires().zip(more).map(|(wire, more)| {
            let LinkBusy { to_host, to_drive } = wire.busy.zip(*more, |a, b| a + b);
            LinkBusy { to_host, to_drive: if wire.to_drive.is_some() { to_drive } else { to_host } }
        });
        busy.reduce(|a, b| a.zip(b, u64::max)).expect("there is a link")
    }

    /// The most that data to the host can reach, and data to the drive, in bytes a second.
    pub fn ceilings(&self) -> (u64, u64) {
        let ceilings = self.wires().map(Wire::ceilings);
        ceilings.reduce(|a, b| (a.0.min(b.0), a.1.min(b.1))).expect("there is a link")
    }
}

/// Bytes a second after the line code: 8b/10b on SATA, PCIe 1 and 2, and USB 3 at 5 Gb/s; 128b/130b from PCIe 3, 242/256
/// flits on PCIe 6; 8b/10b on M-PHY, at 5830.4 Mb/s a lane in gear 3 and twice as much in
/// each above; none on eMMC (200 MHz, both edges) and SD (208 MHz).
///
/// USB 3 at 10 and 20 Gb/s: what bridges carry, 1000 to 1060 and 1800 to 1900 MB/s in reviews of drives behind an ASM2362,
/// ASM2364, JMS583, RTL9210 and native ones, whatever the wire could (1212 and 2424 MB/s).
fn line_bytes_per_s(link: &config::Link) -> u64 {
    match *link {
        config::Link::Sata { mbps } => mbps as u64 * 1_000_000 / 10,
        config::Link::Usb { mbps: 5000 } => 500_000_000,
        config::Link::Usb { mbps: 10_000 } => 1_083_000_000,
        config::Link::Usb { .. } => 1_959_000_000,
        config::Link::Ufs { gear } => 1_166_080_000 << (gear - 3),
        config::Link::Emmc { .. } => 400_000_000,
        config::Link::Sd => 104_000_000,
        config::Link::Pcie { generation, lanes } => {
            let per_lane = match generation {
                1 => 250_000_000,
                2 => 500_000_000,
                6 => 64_000_000_000 / 8 * 242 / 256,
                g => (8_000_000_000u64 << (g - 3)) / 8 * 128 / 130,
            };
            per_lane * lanes as u64
        }
    }
}

#[inline]
fn wire_time(bytes: u64, packets: &Packets, bytes_per_s: u64) -> Nanos {
    let count = bytes.div_ceil(packets.payload);
    let wire = bytes + count * packets.overhead;
    Nanos((wire * 1_000_000_000).div_ceil(bytes_per_s))
}

fn ceiling(packets: &Packets, bytes_per_s: u64) -> u64 {
    let bytes = 1 << 20;
    bytes * 1_000_000_000 / wire_time(bytes, packets, bytes_per_s).0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Written and read, in MB/s.
    fn ceilings(link: config::Link) -> (u64, u64) {
        let (read, written) = Wire::new(&link).ceilings();
        (written / 1_000_000, read / 1_000_000)
    }

    #[test]
    fn pcie_4_x4_carries_about_6_6_gb_written_and_7_1_gb_read_a_second() {
        assert_eq!(ceilings(config::Link::Pcie { generation: 4, lanes: 4 }), (6633, 7100));
    }

    #[test]
    fn pcie_3_x4_carries_half_of_that() {
        assert_eq!(ceilings(config::Link::Pcie { generation: 3, lanes: 4 }), (3316, 3550));
    }

    #[test]
    fn usb_carries_each_way_what_its_bridges_do() {
        let (write, read) = ceilings(config::Link::Usb { mbps: 10_000 });
        assert_eq!((write, read), (1050, 1050));
        assert_eq!(ceilings(config::Link::Usb { mbps: 20_000 }), (1899, 1899));
        assert_eq!(ceilings(config::Link::Usb { mbps: 5000 }).0, 484);
    }

    #[test]
    fn links_of_mobile_drives_carry_what_drives_are_rated() {
        let ufs = [3, 4, 5].map(|gear| ceilings(config::Link::Ufs { gear }).1);
        assert_eq!(ufs, [1101, 2202, 4405]);
        assert_eq!(ceilings(config::Link::Emmc { queue: true }), (363, 363));
        assert_eq!(ceilings(config::Link::Sd), (101, 101));
    }

    #[test]
    fn sata_600_carries_about_570_mb_each_way() {
        let (write, read) = ceilings(config::Link::Sata { mbps: 6000 });
        assert_eq!(write, read);
        assert!((555..575).contains(&write), "{write}");
    }

    #[test]
    fn sata_300_carries_half_of_that() {
        assert_eq!(ceilings(config::Link::Sata { mbps: 3000 }).0, ceilings(config::Link::Sata { mbps: 6000 }).0 / 2);
    }

    #[test]
    fn one_line_serves_both_directions_on_sata_only() {
        for (link, shared) in
            [(config::Link::Sata { mbps: 6000 }, true), (config::Link::Pcie { generation: 4, lanes: 4 }, false)]
        {
            let mut wire = Wire::new(&link);
            let data = Transfer { bytes: 4096, commands: 0 };
            let written = wire.receive(Nanos::ZERO, Nanos::ZERO, data);
            let alone = wire.clone().send(Nanos::ZERO, written, data) - written;
            let read = wire.send(Nanos::ZERO, Nanos::ZERO, data);
            assert_eq!(read == written + alone, shared);
        }
    }
}
