//! The answers of Windows's storage stack, as `winioctl.h` and `ntddstor.h` lay them out (little endian, each structure
//! with its length in its second word).

use super::{text, u16_at, u32_at, u64_at};

/// The drive's own words, and how it is connected. `StorageDeviceProperty`, a `STORAGE_DEVICE_DESCRIPTOR`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Identity {
    pub model: Option<String>,
    pub serial: Option<String>,
    pub firmware: Option<String>,
    pub bus: Option<&'static str>,
}

/// Where the words of a drive may begin: behind the numbers.
const WORDS_BEGIN: usize = 36;

pub fn identity(bytes: &[u8]) -> Identity {
    let word = |at: usize| {
        let begin = u32_at(bytes, at)? as usize;
        let from = bytes.get(begin..).filter(|_| begin >= WORDS_BEGIN)?;
        // Without its end it was cut off.
        text(&from[..from.iter().position(|byte| *byte == 0)?])
    };
    Identity {
        model: word(16),
        firmware: word(20),
        serial: word(24).filter(|serial| !is_identifier(serial)),
        bus: u32_at(bytes, 28).and_then(bus),
    }
}

/// Of an NVMe drive Windows gives its namespace's identifier as its serial number: `0025_3852_0140_0D0B.`
fn is_identifier(serial: &str) -> bool {
    let groups = serial.strip_suffix('.').map(|of| of.split('_')).into_iter().flatten();
    let mut count = 0;
    let all = groups.inspect(|_| count += 1).all(|of| of.len() == 4 && of.bytes().all(|c| c.is_ascii_hexdigit()));
    all && count > 1
}

/// `STORAGE_BUS_TYPE` in words; `None` for what is unknown and what came later.
pub fn bus(number: u32) -> Option<&'static str> {
    Some(match number {
        0x1 => "SCSI",
        0x2 => "ATAPI",
        0x3 => "ATA",
        0x4 => "IEEE 1394",
        0x6 => "Fibre Channel",
        0x7 => "USB",
        0x8 => "RAID",
        0x9 => "iSCSI",
        0xA => "SAS",
        0xB => "SATA",
        0xC => "SD",
        0xD => "MMC",
        0xE => "virtual",
        0xF => "virtual disk in a file",
        0x10 => "Storage Spaces",
        0x11 => "NVMe",
        0x12 => "storage-class memory",
        0x13 => "UFS",
        0x14 => "NVMe over Fabrics",
        _ => return None,
    })
}

/// A structure of numbers alone, up to the length that it gives itself.
fn body(bytes: &[u8]) -> Option<&[u8]> {
    let length = u32_at(bytes, 4)? as usize;
    Some(&bytes[..length.min(bytes.len())])
}

/// A number of it that says something.
fn positive(bytes: &[u8], at: usize) -> Option<u32> {
    u32_at(body(bytes)?, at).filter(|number| *number != 0)
}

/// Bytes of the largest request. `StorageAdapterProperty`, a `STORAGE_ADAPTER_DESCRIPTOR`.
pub fn largest_request_bytes(bytes: &[u8]) -> Option<u32> {
    positive(bytes, 8).filter(|bytes| *bytes != u32::MAX)
}

/// Bytes of a logical and of a physical block. `StorageAccessAlignmentProperty`, a `STORAGE_ACCESS_ALIGNMENT_DESCRIPTOR`.
pub fn block_bytes(bytes: &[u8]) -> (Option<u32>, Option<u32>) {
    let block = |at| positive(bytes, at).filter(|block| block.is_power_of_two());
    (block(16), block(20))
}

/// The only flag of a `DEVICE_SEEK_PENALTY_DESCRIPTOR` (whether a head has to move) or of a `DEVICE_TRIM_DESCRIPTOR`.
pub fn flag(bytes: &[u8]) -> Option<bool> {
    match body(bytes)?.get(8)? {
        0 => Some(false),
        1 => Some(true),
        _ => None,
    }
}

/// `StorageDeviceWriteCacheProperty`, a `STORAGE_WRITE_CACHE_PROPERTY`: the switches of the Device Manager.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct WriteCache {
    /// `write back` or `write through`.
    pub mode: Option<&'static str>,
    /// The system keeps flushes from the drive ("turn off Windows write-cache buffer flushing").
    pub keeps_flushes: Option<bool>,
}

pub fn write_cache(bytes: &[u8]) -> WriteCache {
    let body = body(bytes).unwrap_or_default();
    let mode = match (u32_at(body, 8), u32_at(body, 12)) {
        // None, or one that is through; or it is switched off.
        (Some(1 | 3), Some(_)) | (Some(_), Some(1)) => Some("write through"),
        (Some(2), Some(2)) => Some("write back"),
        _ => None,
    };
    let keeps_flushes = body.get(25).and_then(|flag| [false, true].get(*flag as usize).copied());
    WriteCache { mode, keeps_flushes }
}

/// Degrees Celsius of the first sensor that answers. `StorageDeviceTemperatureProperty`, a
/// `STORAGE_TEMPERATURE_DATA_DESCRIPTOR`.
pub fn celsius(bytes: &[u8]) -> Option<i32> {
    let body = body(bytes)?;
    let count = u16_at(body, 12)? as usize;
    (0..count)
        .map_while(|sensor| u16_at(body, 24 + 16 * sensor + 2))
        .find(|degrees| *degrees != NOT_REPORTED)
        .map(|degrees| degrees as i16 as i32)
}

/// `STORAGE_TEMPERATURE_VALUE_NOT_REPORTED`.
const NOT_REPORTED: u16 = 0x8000;

/// A part of a drive that belongs to a volume.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Extent {
    pub drive: u32,
    pub start_bytes: u64,
    pub bytes: u64,
}

/// `IOCTL_VOLUME_GET_VOLUME_DISK_EXTENTS`, a `VOLUME_DISK_EXTENTS`. `None` where not all of them are there.
pub fn extents(bytes: &[u8]) -> Option<Vec<Extent>> {
    let count = u32_at(bytes, 0)? as usize;
    let parts = bytes.get(8..).unwrap_or_default().chunks_exact(24).take(count);
    let extents: Option<Vec<Extent>> = parts
        .map(|part| Some(Extent { drive: u32_at(part, 0)?, start_bytes: size_at(part, 8)?, bytes: size_at(part, 16)? }))
        .collect();
    extents.filter(|extents| extents.len() == count)
}

/// A number of 64 bits with a sign, which is not below 0.
fn size_at(bytes: &[u8], at: usize) -> Option<u64> {
    u64_at(bytes, at).filter(|number| *number <= i64::MAX as u64)
}

/// What the system counts a device as. `IOCTL_STORAGE_GET_DEVICE_NUMBER`, a `STORAGE_DEVICE_NUMBER`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Place {
    /// The number of the drive, or of the drive that a volume lies on.
    Drive(u32),
    /// A disc for reading, which is on no drive.
    Disc,
}

pub fn place(bytes: &[u8]) -> Option<Place> {
    const FILE_DEVICE_CD_ROM: u32 = 0x2;
    const FILE_DEVICE_DISK: u32 = 0x7;
    const FILE_DEVICE_DVD: u32 = 0x33;
    let whole = bytes.get(..12)?;
    match (u32_at(whole, 0)?, u32_at(whole, 4)?) {
        (FILE_DEVICE_CD_ROM | FILE_DEVICE_DVD, _) => Some(Place::Disc),
        (FILE_DEVICE_DISK, number) if number != u32::MAX => Some(Place::Drive(number)),
        _ => None,
    }
}

/// Bytes of a drive, to the last one that can be written. `IOCTL_DISK_GET_LENGTH_INFO`, a `GET_LENGTH_INFORMATION`.
pub fn length(bytes: &[u8]) -> Option<u64> {
    size_at(bytes, 0)
}

/// `IOCTL_DISK_GET_DISK_ATTRIBUTES`, a `GET_DISK_ATTRIBUTES`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Attributes {
    pub offline: bool,
    pub read_only: bool,
}

pub fn attributes(bytes: &[u8]) -> Option<Attributes> {
    let flags = u64_at(bytes, 8)?;
    Some(Attributes { offline: flags & 1 != 0, read_only: flags & 2 != 0 })
}

/// Whether the medium can be taken out. `StorageDeviceProperty`, a `STORAGE_DEVICE_DESCRIPTOR`.
pub fn removable(bytes: &[u8]) -> Option<bool> {
    bytes.get(..WORDS_BEGIN).map(|begin| begin[10] != 0)
}

/// How a drive is divided. `IOCTL_DISK_GET_DRIVE_LAYOUT_EX`, a `DRIVE_LAYOUT_INFORMATION_EX`.
#[derive(Clone, Debug, PartialEq)]
pub struct Layout {
    /// `None`: there is no table.
    pub table: Option<Table>,
    /// Without the unused places of an MBR.
    pub partitions: Vec<Partition>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Table {
    Mbr,
    Gpt,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Partition {
    pub number: u32,
    pub start_bytes: u64,
    pub bytes: u64,
    pub kind: PartitionKind,
}

/// What a partition is for, by its type.
#[derive(Clone, Debug, PartialEq)]
pub enum PartitionKind {
    /// Room that Windows sets aside on each drive with a GPT (MSR); it holds nothing.
    Reserved,
    /// Of a storage pool.
    Pool,
    /// Of a dynamic disk.
    Dynamic,
    /// In words.
    Other(String),
}

const LAYOUT_BYTES: usize = 48;
const PARTITION_BYTES: usize = 144;
/// Where a partition's type is, of one byte or of 16.
const TYPE_AT: usize = 32;

/// `None` unless all of it is there, and each partition is of the table's own style.
pub fn layout(bytes: &[u8]) -> Option<Layout> {
    let table = match u32_at(bytes, 0)? {
        0 => Some(Table::Mbr),
        1 => Some(Table::Gpt),
        2 => None,
        _ => return None,
    };
    let count = u32_at(bytes, 4)? as usize;
    let entries = bytes.get(LAYOUT_BYTES..).unwrap_or_default().chunks_exact(PARTITION_BYTES).take(count);
    let all: Vec<(u8, Partition)> =
        entries.map(|of| Some((of[TYPE_AT], partition(of, table)?))).collect::<Option<_>>()?;
    let is_whole = all.len() == count;
    let is_unused = |kind: u8, of: &Partition| table != Some(Table::Gpt) && kind == 0 && of.bytes == 0;
    let partitions = all.into_iter().filter(|(kind, of)| !is_unused(*kind, of)).map(|(_, of)| of).collect();
    is_whole.then_some(Layout { table, partitions })
}

/// A `PARTITION_INFORMATION_EX`.
fn partition(bytes: &[u8], table: Option<Table>) -> Option<Partition> {
    let kind = match (u32_at(bytes, 0)?, table) {
        (0, Some(Table::Mbr) | None) => mbr_kind(bytes[TYPE_AT]),
        (1, Some(Table::Gpt)) => gpt_kind(&guid(&bytes[TYPE_AT..])?),
        (2, None) => PartitionKind::Other("of no type".into()),
        _ => return None,
    };
    let (start_bytes, bytes_of) = (size_at(bytes, 8)?, size_at(bytes, 16)?);
    Some(Partition { number: u32_at(bytes, 24)?, start_bytes, bytes: bytes_of, kind })
}

fn mbr_kind(number: u8) -> PartitionKind {
    match number {
        0x42 => PartitionKind::Dynamic,
        0xE7 | 0xD7 => PartitionKind::Pool,
        _ => PartitionKind::Other(format!("type 0x{number:02X}")),
    }
}

fn gpt_kind(guid: &str) -> PartitionKind {
    match guid {
        "e3c9e316-0b5c-4db8-817d-f92df00215ae" => PartitionKind::Reserved,
        "e75caf8f-f680-4cee-afa3-b001e56efc2d" | "e7addcb4-dc34-4539-9a76-ebbd07be6f7e" => PartitionKind::Pool,
        "5808c8aa-7e8f-42e0-85d2-e1e90434cfb3" | "af9b60a0-1431-4f62-bc68-3311714a69ad" => PartitionKind::Dynamic,
        "c12a7328-f81f-11d2-ba4b-00a0c93ec93b" => PartitionKind::Other("EFI system partition".into()),
        "de94bba4-06d1-4d40-a16a-bfd50179d6ac" => PartitionKind::Other("Windows recovery".into()),
        "ebd0a0a2-b9e5-4433-87c0-68b6b72699c7" => PartitionKind::Other("data of Windows".into()),
        _ => PartitionKind::Other(format!("type {guid}")),
    }
}

/// A `GUID` as it is written: its first three numbers are little endian.
fn guid(bytes: &[u8]) -> Option<String> {
    let (first, second, third) = (u32_at(bytes, 0)?, u16_at(bytes, 4)?, u16_at(bytes, 6)?);
    let hex = |of: &[u8]| of.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let (fourth, node) = (hex(bytes.get(8..10)?), hex(bytes.get(10..16)?));
    Some(format!("{first:08x}-{second:04x}-{third:04x}-{fourth}-{node}"))
}

/// What tells a drive that nothing is needed of a part of it: a `DEVICE_MANAGE_DATA_SET_ATTRIBUTES` with one
/// `DEVICE_DATA_SET_RANGE`, for `DeviceDsmAction_Trim`.
pub fn trim_request(offset: u64, bytes: u64) -> Vec<u8> {
    const SIZE: u32 = 28;
    const TRIM: u32 = 1;
    /// No file system has set aside what is trimmed.
    const NOT_FS_ALLOCATED: u32 = 0x8000_0000;
    const RANGE_OFFSET: u32 = 32;
    const RANGE_BYTES: u32 = 16;
    let words = [SIZE, TRIM, NOT_FS_ALLOCATED, 0, 0, RANGE_OFFSET, RANGE_BYTES, 0];
    let range = [offset, bytes].map(u64::to_le_bytes);
    words.iter().flat_map(|word| word.to_le_bytes()).chain(range.into_iter().flatten()).collect()
}

/// Bytes of a drive and of its logical block. `IOCTL_DISK_GET_DRIVE_GEOMETRY_EX`, a `DISK_GEOMETRY_EX`.
pub fn geometry(bytes: &[u8]) -> (Option<u64>, Option<u32>) {
    let size = size_at(bytes, 24).filter(|size| *size > 0);
    (size, u32_at(bytes, 20).filter(|block| block.is_power_of_two()))
}

/// Bytes in front of what the drive itself answers, and of the question for it.
const PROTOCOL_BYTES: usize = 40;
const PROTOCOL_NVME: u32 = 3;

/// What to ask an NVMe drive through Windows: a `STORAGE_PROPERTY_QUERY` for `length` bytes, with room for the answer.
pub fn nvme_question(property: u32, what: NvmeData, length: u32) -> Vec<u8> {
    let (kind, value) = match what {
        NvmeData::IdentifyController => (1, 1),
        NvmeData::HealthLog => (2, 2),
    };
    let words = [property, 0, PROTOCOL_NVME, kind, value, 0, PROTOCOL_BYTES as u32, length];
    let mut question: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    question.resize(8 + PROTOCOL_BYTES + length as usize, 0);
    question
}

#[derive(Clone, Copy, Debug)]
pub enum NvmeData {
    IdentifyController,
    HealthLog,
}

/// What an NVMe drive answered, out of a `STORAGE_PROTOCOL_DATA_DESCRIPTOR`; `None` unless all of it came.
pub fn nvme_answer(bytes: &[u8], length: usize) -> Option<&[u8]> {
    let offset = u32_at(bytes, 24)? as usize;
    let came = u32_at(bytes, 28)? as usize;
    let is_nvme = u32_at(bytes, 8)? == PROTOCOL_NVME && offset >= PROTOCOL_BYTES && came >= length;
    let begin = offset.checked_add(8).filter(|_| is_nvme)?;
    bytes.get(begin..begin.checked_add(length)?)
}
