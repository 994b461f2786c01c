//! The host link: how long bytes take on it, and in which direction.
//!
//! Speeds follow from the line rate, the line code and the packets; nothing here is fitted to a drive.

use crate::config;
use crate::consistency::{ensure, ensure_counters, Consistency};
use crate::timeline::Timeline;
use crate::units::Nanos;

/// What one packet carries and what it costs on the wire, in bytes; and dead time a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
struct Packets {
    payload: u64,
    overhead: u64,
    turnaround: Nanos,
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
const PCIE_TO_DRIVE: Packets = Packets { payload: 128, overhead: 24, turnaround: Nanos(0) };
/// Drive to host on PCIe: posted writes of the usual 256 B maximum payload; the header is 16 B.
const PCIE_TO_HOST: Packets = Packets { payload: 256, overhead: 28, turnaround: Nanos(0) };
/// SATA: data FIS of at most 8 KiB, with header, CRC and frame primitives; then the line turns round
/// (X_RDY/R_RDY, WTRM/R_OK; Serial ATA revision 3.x, link layer).
const SATA_FIS: Packets = Packets { payload: 8192, overhead: 32, turnaround: Nanos(700) };

/// USB 3: data packets of 1024 B with a header packet of 20 B, framing of 8 B and CRC-32 (USB 3.2, link layer); each
/// direction has a line of its own.
const USB: Packets = Packets { payload: 1024, overhead: 32, turnaround: Nanos(0) };

/// Command, ready and sense information units (UAS) or command and status wrappers (BOT), each a packet of its own, with
/// the transaction packets that acknowledge them.
const USB_COMMAND_BYTES: u64 = 256;
/// Bytes of command and completion that cross beside the data (NVMe: 64 B entry; 16 B completion; doorbells, packets).
const PCIE_COMMAND_BYTES: u64 = 128;
/// NCQ: register, DMA setup and set-device-bits FIS with their turnarounds, as wire time in bytes at 600 MB/s.
const SATA_COMMAND_BYTES: u64 = 2400;

#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct Link {
    /// The line to the host, or the only line: data come in the order they are ready.
    line: Timeline,
    /// The line to the drive where it is another; the drive fetches write data in the order of the commands, so the
    /// line is free from here on.
    to_drive: Option<Nanos>,
    /// Time that each line has been in use.
    pub line_busy: Nanos,
    pub to_drive_busy: Nanos,
    down: Direction,
    up: Direction,
    command_bytes: u64,
    bytes_per_s: u64,
    /// The link between a bridge and the drive behind it: what came over one goes over the other.
    behind: Option<Box<Link>>,
}

impl Link {
    /// The links of a drive from the host on: its own, or a bridge's and the one behind it.
    pub fn of(config: &config::Config) -> Link {
        let behind = config.usb.and_then(|usb| usb.behind);
        Link { behind: behind.map(|link| Box::new(Link::new(&link))), ..Link::new(&config.link) }
    }

    pub fn new(link: &config::Link) -> Link {
        let (one_line, down, up, command_bytes) = match link {
            config::Link::Sata { .. } => (true, SATA_FIS, SATA_FIS, SATA_COMMAND_BYTES),
            config::Link::Pcie { .. } => (false, PCIE_TO_DRIVE, PCIE_TO_HOST, PCIE_COMMAND_BYTES),
            config::Link::Usb { .. } => (false, USB, USB, USB_COMMAND_BYTES),
        };
        let bytes_per_s = line_bytes_per_s(link);
        Link {
            line: Timeline::default(),
            to_drive: (!one_line).then_some(Nanos::ZERO),
            line_busy: Nanos::ZERO,
            to_drive_busy: Nanos::ZERO,
            down: Direction::new(down, bytes_per_s),
            up: Direction::new(up, bytes_per_s),
            command_bytes,
            bytes_per_s,
            behind: None,
        }
    }

    /// Whether these are the links of the drive, slowed down to `permille` of their speed.
    pub fn check(&self, config: &config::Config, permille: u32) -> Consistency {
        let behind = config.usb.and_then(|usb| usb.behind);
        ensure(self.behind.is_some() == behind.is_some(), "link")?;
        if let (Some(mine), Some(link)) = (&self.behind, behind) {
            mine.check_one(&link, permille)?;
        }
        self.check_one(&config.link, permille)
    }

    fn check_one(&self, link: &config::Link, permille: u32) -> Consistency {
        let mut as_described = Link::new(link);
        if permille < 1000 {
            as_described.set_share(permille);
        }
        let same = |of: fn(&Link) -> &Direction| {
            let (mine, described) = (of(self), of(&as_described));
            (mine.packets, mine.bytes_per_s) == (described.packets, described.bytes_per_s)
        };
        let constants = |link: &Link| (link.command_bytes, link.bytes_per_s, link.to_drive.is_some());
        ensure(
            same(|link| &link.up) && same(|link| &link.down) && constants(self) == constants(&as_described),
            "link",
        )?;
        ensure_counters(&[self.line_busy.0, self.to_drive_busy.0], "link")?;
        self.line.check()
    }

    /// What is reserved on it after `now`, and its speed.
    pub fn timing_relative_to(&self, now: Nanos, into: &mut Vec<u64>) {
        self.line.timing_relative_to(now, into);
        into.push(self.down.bytes_per_s);
        into.extend(self.to_drive.map(|free| free.saturating_sub(now).0));
    }

    /// All reservations that are not past at `now` are later by `span`.
    pub fn shift_timing(&mut self, now: Nanos, span: Nanos) {
        self.line.shift_timing(now, span);
        if let Some(free) = &mut self.to_drive {
            *free += span;
        }
    }

    /// Leave a share of the speed, in permille: what firmware does when it is hot.
    pub fn set_share(&mut self, permille: u32) {
        let left = self.bytes_per_s * permille as u64 / 1000;
        for direction in [&mut self.down, &mut self.up] {
            *direction = Direction::new(direction.packets, left);
        }
        if let Some(behind) = &mut self.behind {
            behind.set_share(permille);
        }
    }

    /// Data of a write, or a part of them, from the host once there is room at `ready`; returns when they are here.
    #[inline]
    pub fn receive(&mut self, horizon: Nanos, ready: Nanos, bytes: u64) -> Nanos {
        let here = self.receive_itself(horizon, ready, bytes);
        match &mut self.behind {
            Some(behind) => behind.receive_itself(horizon, here, bytes),
            None => here,
        }
    }

    /// The same of this link alone; none is behind one that is behind another.
    #[inline]
    fn receive_itself(&mut self, horizon: Nanos, ready: Nanos, bytes: u64) -> Nanos {
        let time = self.down.time(bytes);
        match &mut self.to_drive {
            Some(free) => {
                self.to_drive_busy += time;
                *free = ready.max(*free) + time;
                *free
            }
            None => {
                self.line_busy += time;
                self.line.reserve(horizon, ready, time) + time
            }
        }
    }

    /// Data of a read to the host, ready in the controller at `ready`; returns when they have arrived.
    #[inline]
    pub fn send(&mut self, horizon: Nanos, ready: Nanos, bytes: u64) -> Nanos {
        let ready = match &mut self.behind {
            Some(behind) => behind.send_itself(horizon, ready, bytes),
            None => ready,
        };
        self.send_itself(horizon, ready, bytes)
    }

    #[inline]
    fn send_itself(&mut self, horizon: Nanos, ready: Nanos, bytes: u64) -> Nanos {
        let time = self.up.time(bytes);
        self.line_busy += time;
        self.line.reserve(horizon, ready, time) + time
    }

    /// What is left of the speed while it is hot, in permille.
    #[inline]
    pub fn share_permille(&self) -> u32 {
        match self.up.bytes_per_s == self.bytes_per_s {
            true => 1000,
            false => (self.up.bytes_per_s as u128 * 1000 / self.bytes_per_s as u128) as u32,
        }
    }

    /// What a command adds to the bytes of its data.
    pub fn command_bytes(&self) -> u64 {
        self.command_bytes
    }

    /// Time the busier direction has been in use, with so much more of each.
    pub fn busy(&self, to_drive: Nanos, line: Nanos) -> Nanos {
        (self.to_drive_busy + to_drive).max(self.line_busy + line)
    }

    /// The most that write data can reach, in bytes a second.
    pub fn write_ceiling(&self) -> u64 {
        let here = ceiling(&self.down.packets, self.down.bytes_per_s);
        self.behind.as_ref().map_or(here, |behind| here.min(behind.write_ceiling()))
    }

    /// The most that read data can reach, in bytes a second.
    pub fn read_ceiling(&self) -> u64 {
        let here = ceiling(&self.up.packets, self.up.bytes_per_s);
        self.behind.as_ref().map_or(here, |behind| here.min(behind.read_ceiling()))
    }
}

/// Bytes a second after the line code: 8b/10b on SATA, PCIe 1 and 2, and USB 3 at 5 Gb/s; 128b/130b from PCIe 3, 242/256
/// flits on PCIe 6; 128b/132b on USB 3 at 10 Gb/s a lane.
fn line_bytes_per_s(link: &config::Link) -> u64 {
    match *link {
        config::Link::Sata { mbps } => mbps as u64 * 1_000_000 / 10,
        config::Link::Usb { mbps: 5000 } => 500_000_000,
        config::Link::Usb { mbps } => mbps as u64 * 1_000_000 / 8 * 128 / 132,
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
    Nanos((wire * 1_000_000_000).div_ceil(bytes_per_s) + count * packets.turnaround.0)
}

fn ceiling(packets: &Packets, bytes_per_s: u64) -> u64 {
    let bytes = 1 << 20;
    bytes * 1_000_000_000 / wire_time(bytes, packets, bytes_per_s).0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ceilings(link: config::Link) -> (u64, u64) {
        let link = Link::new(&link);
        (link.write_ceiling() / 1_000_000, link.read_ceiling() / 1_000_000)
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
    fn usb_at_10_gb_a_second_carries_1_2_gb_each_way() {
        let (write, read) = ceilings(config::Link::Usb { mbps: 10_000 });
        assert_eq!((write, read), (1175, 1175));
        assert_eq!(ceilings(config::Link::Usb { mbps: 5000 }).0, 484);
    }

    #[test]
    fn sata_600_carries_about_570_mb_each_way() {
        let (write, read) = ceilings(config::Link::Sata { mbps: 6000 });
        assert_eq!(write, read);
        assert!((555..575).contains(&write), "{write}");
    }

    #[test]
    fn one_line_serves_both_directions_on_sata_only() {
        for (link, shared) in [
            (config::Link::Sata { mbps: 6000 }, true),
            (config::Link::Pcie { generation: 4, lanes: 4 }, false),
        ] {
            let mut link = Link::new(&link);
            let written = link.receive(Nanos::ZERO, Nanos::ZERO, 4096);
            let alone = link.clone().send(Nanos::ZERO, written, 4096) - written;
            let read = link.send(Nanos::ZERO, Nanos::ZERO, 4096);
            assert_eq!(read == written + alone, shared);
        }
    }
}
