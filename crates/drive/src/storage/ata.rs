//! What a SATA drive answers, as ATA Command Set (ACS-3) and SCSI / ATA Translation (SAT-3) lay it out.

use super::descriptor::Identity;
use super::{text, u16_at, u32_at, u64_at};

/// Bytes of each answer.
pub const PAGE_BYTES: usize = 512;
/// Bytes of sense data that are asked for.
pub const SENSE_BYTES: usize = 32;
/// Bytes of a unit of NVMe's health log.
const DATA_UNIT: u128 = 512_000;
/// Attributes with the temperature in their lowest byte; those beside it are of the vendor.
const THERMOMETERS: [u8; 2] = [194, 190];

/// A command, as the 16 bytes of ATA PASS-THROUGH (16).
pub type Command = [u8; 16];
pub const IDENTIFY: Command = reads(0xEC, 0, [0, 0, 0]);
pub const SMART_DATA: Command = reads(0xB0, 0xD0, [0, 0x4F, 0xC2]);
pub const SMART_STATUS: Command = returns(0xB0, 0xDA, [0, 0x4F, 0xC2]);
pub const POWER_MODE: Command = returns(0xE5, 0, [0, 0, 0]);

/// A page of the log of device statistics (GPL).
pub const fn statistics(page: u8) -> Command {
    let mut command = reads(0x2F, 0, [4, page, 0]);
    command[1] |= 1; // of 48 bits
    command
}

/// PIO data-in, of one block.
const fn reads(command: u8, feature: u8, lba: [u8; 3]) -> Command {
    [0x85, 4 << 1, 0x0E, 0, feature, 0, 1, 0, lba[0], 0, lba[1], 0, lba[2], 0, command, 0]
}

/// Without data; the registers come back as sense data.
const fn returns(command: u8, feature: u8, lba: [u8; 3]) -> Command {
    [0x85, 3 << 1, 0x20, 0, feature, 0, 0, 0, lba[0], 0, lba[1], 0, lba[2], 0, command, 0]
}

/// Registers after a command: count, and the middle and high bytes of the address.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Registers {
    pub count: u8,
    pub middle: u8,
    pub high: u8,
}

/// The registers in sense data of either format.
pub fn registers(sense: &[u8; SENSE_BYTES]) -> Option<Registers> {
    match sense[0] & 0x7F {
        0x72 if sense[8] == 9 && sense[9] == 12 => {
            Some(Registers { count: sense[13], middle: sense[17], high: sense[19] })
        }
        0x70 if sense[12] == 0 && sense[13] == 0x1D => {
            Some(Registers { count: sense[6], middle: sense[10], high: sense[11] })
        }
        _ => None,
    }
}

/// Whether the drive has passed its own test, by the registers after `SMART_STATUS`.
pub fn passed(registers: Registers) -> Option<bool> {
    match (registers.middle, registers.high) {
        (0x4F, 0xC2) => Some(true),
        (0xF4, 0x2C) => Some(false),
        _ => None,
    }
}

/// Whether the drive has spun down or sleeps, by the registers after `POWER_MODE`; unknown modes count.
pub fn sleeps(registers: Registers) -> bool {
    !(0x80..=0x83).contains(&registers.count) && registers.count != 0xFF
}

/// The drive's own words. Each pair of letters has its bytes swapped.
pub fn identity(page: &[u8]) -> Identity {
    let words = |from: usize, to: usize| {
        let bytes: Vec<u8> = page.get(2 * from..2 * to)?.chunks(2).flat_map(|pair| [pair[1], pair[0]]).collect();
        text(&bytes)
    };
    Identity { serial: words(10, 20), firmware: words(23, 27), model: words(27, 47), bus: Some("SATA") }
}

/// Bytes of a logical sector.
pub fn sector_bytes(identify: &[u8]) -> u128 {
    let is_long = u16_at(identify, 212).is_some_and(|word| word & 0xD000 == 0x5000);
    u32_at(identify, 234).filter(|_| is_long).map_or(512, |words| 2 * u128::from(words))
}

/// Degrees Celsius out of `SMART_DATA`; `None` where the checksum is wrong.
pub fn celsius(page: &[u8; PAGE_BYTES]) -> Option<i32> {
    if page.iter().fold(0u8, |sum, byte| sum.wrapping_add(*byte)) != 0 {
        return None;
    }
    let attribute = |id: &u8| page[2..362].chunks(12).find(|row| row[0] == *id).map(|row| i32::from(row[5]));
    THERMOMETERS.iter().find_map(attribute).filter(|celsius| (1..=120).contains(celsius))
}

/// A statistic of a page, where the drive supports it and holds it valid.
fn statistic(page: &[u8], number: u8, at: usize) -> Option<u128> {
    let value = u64_at(page, at).filter(|value| page.get(2) == Some(&number) && value >> 62 == 3)?;
    Some(u128::from(value & ((1 << 48) - 1)))
}

/// General statistics (page 1), in the names of NVMe's health log.
pub fn general(page: &[u8], sector_bytes: u128) -> Vec<(&'static str, u128)> {
    let units = |at| statistic(page, 1, at).map(|sectors| (sectors * sector_bytes).div_ceil(DATA_UNIT));
    let fields = [
        ("power_cycles", statistic(page, 1, 8)),
        ("power_on_hours", statistic(page, 1, 16)),
        ("data_units_written", units(24)),
        ("data_units_read", units(40)),
    ];
    fields.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
}

/// Percentage of its life that is used (page 7).
pub fn used(page: &[u8]) -> Option<(&'static str, u128)> {
    Some(("percentage_used", statistic(page, 7, 8)? & 0xFF))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registers_are_read_from_sense_of_either_format() {
        let mut sense = [0; SENSE_BYTES];
        assert_eq!(registers(&sense), None);
        sense[0] = 0x72;
        sense[8..10].copy_from_slice(&[9, 12]);
        (sense[13], sense[17], sense[19]) = (0, 0xF4, 0x2C);
        let failed = registers(&sense).unwrap();
        assert_eq!((passed(failed), sleeps(failed)), (Some(false), true));
        let mut sense = [0; SENSE_BYTES];
        (sense[0], sense[13]) = (0x70, 0x1D);
        (sense[6], sense[10], sense[11]) = (0xFF, 0x4F, 0xC2);
        let fine = registers(&sense).unwrap();
        assert_eq!((passed(fine), sleeps(fine)), (Some(true), false));
        assert_eq!(passed(Registers { count: 0, middle: 0, high: 0 }), None);
    }

    #[test]
    fn words_and_sectors_are_those_of_identify() {
        let mut page = [b' '; PAGE_BYTES];
        page[54..58].copy_from_slice(b"SQDS");
        page[46..50].copy_from_slice(b".212");
        page[212..214].copy_from_slice(&0u16.to_le_bytes());
        let identity = identity(&page);
        assert_eq!(identity.model.as_deref(), Some("QSSD"));
        assert_eq!(identity.firmware.as_deref(), Some("2.21"));
        assert_eq!(sector_bytes(&page), 512);
        page[212..214].copy_from_slice(&0x5000u16.to_le_bytes());
        page[234..238].copy_from_slice(&2048u32.to_le_bytes());
        assert_eq!(sector_bytes(&page), 4096);
    }

    #[test]
    fn a_temperature_is_read_where_the_checksum_is_right() {
        let mut page = [0; PAGE_BYTES];
        (page[2], page[7]) = (190, 31);
        (page[14], page[19]) = (194, 35);
        assert_eq!(celsius(&page), None);
        page[511] = 0u8.wrapping_sub(page.iter().fold(0u8, |sum, byte| sum.wrapping_add(*byte)));
        assert_eq!(celsius(&page), Some(35));
    }

    #[test]
    fn a_statistic_counts_where_it_is_supported_and_valid() {
        let mut page = [0; PAGE_BYTES];
        page[2] = 1;
        page[24..32].copy_from_slice(&(0xC000_0000_0000_0000u64 | 2_000_000).to_le_bytes());
        page[16..24].copy_from_slice(&(0x8000_0000_0000_0000u64 | 77).to_le_bytes());
        assert_eq!(general(&page, 512), [("data_units_written", 2000)]);
        assert_eq!(used(&page), None);
        page[2] = 7;
        page[8..16].copy_from_slice(&(0xC000_0000_0000_0000u64 | 3).to_le_bytes());
        assert_eq!(used(&page), Some(("percentage_used", 3)));
        assert!(general(&page, 512).is_empty());
    }

    #[test]
    fn commands_are_laid_out_as_the_standard_has_them() {
        assert_eq!(SMART_DATA, [0x85, 8, 0x0E, 0, 0xD0, 0, 1, 0, 0, 0, 0x4F, 0, 0xC2, 0, 0xB0, 0]);
        assert_eq!(SMART_STATUS[..6], [0x85, 6, 0x20, 0, 0xDA, 0]);
        assert_eq!(statistics(7), [0x85, 9, 0x0E, 0, 0, 0, 1, 0, 4, 0, 7, 0, 0, 0, 0x2F, 0]);
    }
}
