//! What Windows and NVMe drives tell of themselves, from bytes laid out as their headers and the specification say.

use pslc_drive::storage::descriptor::{
    self, Attributes, Extent, Layout, NvmeData, Partition, PartitionKind, Place, Table, WriteCache,
};
use pslc_drive::storage::{self, nvme};

/// A structure of `length` bytes with values at their places.
fn laid_out(length: usize, values: &[(usize, &[u8])]) -> Vec<u8> {
    let mut bytes = vec![0; length];
    bytes[..4].copy_from_slice(&(length as u32).to_le_bytes());
    bytes[4..8].copy_from_slice(&(length as u32).to_le_bytes());
    for (at, value) in values {
        bytes[*at..*at + value.len()].copy_from_slice(value);
    }
    bytes
}

/// `STORAGE_DEVICE_DESCRIPTOR` of a SATA drive, whose words lie behind it.
fn device(bus: u32, serial: &str) -> Vec<u8> {
    let (model, firmware) = (b"Samsung SSD 860 EVO 1TB\0", b"RVT04B6Q\0");
    let serial = format!("  {serial}\0");
    laid_out(
        128,
        &[
            (16, &40u32.to_le_bytes()),
            (20, &64u32.to_le_bytes()),
            (24, &80u32.to_le_bytes()),
            (28, &bus.to_le_bytes()),
            (40, model),
            (64, firmware),
            (80, serial.as_bytes()),
        ],
    )
}

#[test]
fn a_drive_s_words_and_its_bus_are_read() {
    let identity = descriptor::identity(&device(0xB, "S3Z8NB0K123456A"));
    assert_eq!(identity.model.as_deref(), Some("Samsung SSD 860 EVO 1TB"));
    assert_eq!(identity.firmware.as_deref(), Some("RVT04B6Q"));
    assert_eq!(identity.serial.as_deref(), Some("S3Z8NB0K123456A"));
    assert_eq!(identity.bus, Some("SATA"));
}

#[test]
fn the_identifier_of_a_namespace_is_no_serial_number() {
    assert_eq!(descriptor::identity(&device(0x11, "0025_3852_0140_0D0B.")).serial, None);
    for serial in ["0025385201400D0B", "ABCD.", "S3Z8_NB0K", "0025_385Z."] {
        assert_eq!(descriptor::identity(&device(0x11, serial)).serial.as_deref(), Some(serial));
    }
}

#[test]
fn words_that_are_cut_off_lie_elsewhere_or_are_no_text_are_unknown() {
    let whole = device(0xB, "S3Z8NB0K123456A");
    assert_eq!(descriptor::identity(&whole[..90]).serial, None, "its end is missing");
    for offset in [0, 8, 35, 128, 4000, u32::MAX] {
        let mut elsewhere = whole.clone();
        elsewhere[16..20].copy_from_slice(&offset.to_le_bytes());
        assert_eq!(descriptor::identity(&elsewhere).model, None, "{offset}");
    }
    for bad in [&b"\x1b[31m\0"[..], b"\xff\xfe\0", b"    \0", b"\0"] {
        let mut other = whole.clone();
        other[40..40 + bad.len()].copy_from_slice(bad);
        assert_eq!(descriptor::identity(&other).model, None, "{bad:?}");
    }
    assert_eq!(descriptor::identity(&device(0x99, "1")).bus, None, "a bus of tomorrow");
}

#[test]
fn blocks_requests_and_flags_are_read() {
    let adapter = laid_out(32, &[(8, &(2u32 << 20).to_le_bytes())]);
    assert_eq!(descriptor::largest_request_bytes(&adapter), Some(2 << 20));
    assert_eq!(descriptor::largest_request_bytes(&laid_out(32, &[(8, &[0xFF; 4])])), None);
    let alignment = laid_out(28, &[(16, &512u32.to_le_bytes()), (20, &4096u32.to_le_bytes())]);
    assert_eq!(descriptor::block_bytes(&alignment), (Some(512), Some(4096)));
    assert_eq!(descriptor::block_bytes(&alignment[..20]), (Some(512), None));
    let odd = laid_out(28, &[(16, &513u32.to_le_bytes())]);
    assert_eq!(descriptor::block_bytes(&odd), (None, None));
    assert_eq!(descriptor::flag(&laid_out(12, &[(8, &[1])])), Some(true));
    assert_eq!(descriptor::flag(&laid_out(12, &[])), Some(false));
    assert_eq!(descriptor::flag(&laid_out(12, &[(8, &[7])])), None);
    assert_eq!(descriptor::flag(&laid_out(8, &[])), None);
    let geometry = laid_out(33, &[(20, &4096u32.to_le_bytes()), (24, &1_000_204_886_016u64.to_le_bytes())]);
    assert_eq!(descriptor::geometry(&geometry), (Some(1_000_204_886_016), Some(4096)));
}

#[test]
fn both_switches_of_the_write_cache_are_read() {
    let cache = |kind: u32, enabled: u32, keeps: u8| {
        let cache = [(8, &kind.to_le_bytes()[..]), (12, &enabled.to_le_bytes()), (25, &[keeps])];
        descriptor::write_cache(&laid_out(28, &cache))
    };
    let mode = |mode, keeps_flushes| WriteCache { mode, keeps_flushes: Some(keeps_flushes) };
    assert_eq!(cache(2, 2, 0), mode(Some("write back"), false));
    assert_eq!(cache(2, 2, 1), mode(Some("write back"), true));
    assert_eq!(cache(2, 1, 0), mode(Some("write through"), false));
    assert_eq!(cache(3, 2, 0), mode(Some("write through"), false));
    assert_eq!(cache(1, 0, 0), mode(Some("write through"), false));
    assert_eq!(cache(0, 0, 0), mode(None, false));
    assert_eq!(cache(0, 2, 0), mode(None, false));
    assert_eq!(cache(2, 0, 9), WriteCache { mode: None, keeps_flushes: None });
    assert_eq!(descriptor::write_cache(&laid_out(12, &[])), WriteCache::default());
}

#[test]
fn the_first_sensor_that_answers_tells_the_temperature() {
    let sensors = |degrees: &[i16]| {
        let mut bytes = laid_out(24 + 16 * degrees.len(), &[(12, &(degrees.len() as u16).to_le_bytes())]);
        for (sensor, degrees) in degrees.iter().enumerate() {
            bytes[24 + 16 * sensor + 2..][..2].copy_from_slice(&degrees.to_le_bytes());
        }
        bytes
    };
    assert_eq!(descriptor::celsius(&sensors(&[41, 55])), Some(41));
    assert_eq!(descriptor::celsius(&sensors(&[i16::MIN, -3])), Some(-3));
    assert_eq!(descriptor::celsius(&sensors(&[i16::MIN])), None);
    assert_eq!(descriptor::celsius(&sensors(&[])), None);
    assert_eq!(descriptor::celsius(&sensors(&[41])[..26]), None);
}

#[test]
fn extents_are_all_there_or_none() {
    let mut bytes = vec![0; 8 + 48];
    bytes[0] = 2;
    for (at, drive, start) in [(8, 1u32, 1u64 << 20), (32, 2, 0)] {
        bytes[at..at + 4].copy_from_slice(&drive.to_le_bytes());
        bytes[at + 8..at + 16].copy_from_slice(&start.to_le_bytes());
        bytes[at + 16..at + 24].copy_from_slice(&(1u64 << 30).to_le_bytes());
    }
    let extent = |drive, start_bytes| Extent { drive, start_bytes, bytes: 1 << 30 };
    assert_eq!(descriptor::extents(&bytes), Some(vec![extent(1, 1 << 20), extent(2, 0)]));
    assert_eq!(descriptor::extents(&bytes[..54]), None);
    assert_eq!(descriptor::extents(&bytes[..3]), None);
    assert_eq!(descriptor::extents(&[0; 8]), Some(vec![]));
    bytes[16..24].copy_from_slice(&[0xFF; 8]);
    assert_eq!(descriptor::extents(&bytes), None, "a place below 0");
}

#[test]
fn a_drive_s_number_length_and_attributes_are_read() {
    let number = |kind: u32, number: u32| [kind, number, 0].map(u32::to_le_bytes).concat();
    assert_eq!(descriptor::place(&number(7, 3)), Some(Place::Drive(3)));
    assert_eq!(descriptor::place(&number(2, 0)), Some(Place::Disc));
    assert_eq!(descriptor::place(&number(0x33, 0)), Some(Place::Disc));
    assert_eq!(descriptor::place(&number(0x24, 3)), None, "a disk of nobody knows what");
    assert_eq!(descriptor::place(&number(7, u32::MAX)), None);
    assert_eq!(descriptor::place(&number(7, 3)[..11]), None);
    assert_eq!(descriptor::length(&(1u64 << 40).to_le_bytes()), Some(1 << 40));
    assert_eq!(descriptor::length(&[0xFF; 8]), None);
    assert_eq!(descriptor::length(&[0; 7]), None);
    let attributes = |flags: u8| descriptor::attributes(&[16, 0, 0, 0, 0, 0, 0, 0, flags, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(attributes(0), Some(Attributes { offline: false, read_only: false }));
    assert_eq!(attributes(1), Some(Attributes { offline: true, read_only: false }));
    assert_eq!(attributes(2), Some(Attributes { offline: false, read_only: true }));
    assert_eq!(descriptor::attributes(&[0; 15]), None);
    let mut words = device(0xB, "S3Z8NB0K123456A");
    assert_eq!(descriptor::removable(&words), Some(false));
    words[10] = 1;
    assert_eq!(descriptor::removable(&words), Some(true));
    assert_eq!(descriptor::removable(&words[..35]), None);
}

/// A `DRIVE_LAYOUT_INFORMATION_EX`: style, and type, number and bytes of each partition.
fn drive_layout(style: u32, partitions: &[(&[u8], u32, u64)]) -> Vec<u8> {
    let mut bytes = [style, partitions.len() as u32].map(u32::to_le_bytes).concat();
    bytes.resize(48 + 144 * partitions.len(), 0);
    for (at, (kind, number, length)) in partitions.iter().enumerate() {
        let entry = &mut bytes[48 + 144 * at..][..144];
        entry[..4].copy_from_slice(&style.to_le_bytes());
        entry[8..16].copy_from_slice(&(1u64 << 20).to_le_bytes());
        entry[16..24].copy_from_slice(&length.to_le_bytes());
        entry[24..28].copy_from_slice(&number.to_le_bytes());
        entry[32..32 + kind.len()].copy_from_slice(kind);
    }
    bytes
}

/// The bytes of a GUID, as a GPT has them.
fn guid(text: &str) -> Vec<u8> {
    let hex: Vec<u8> = text.bytes().filter(|of| *of != b'-').collect();
    let byte = |at: usize| u8::from_str_radix(std::str::from_utf8(&hex[2 * at..2 * at + 2]).unwrap(), 16).unwrap();
    [3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15].map(byte).to_vec()
}

#[test]
fn partitions_are_named_by_their_types() {
    let other = |words: &str| PartitionKind::Other(words.into());
    for (text, kind) in [
        ("e3c9e316-0b5c-4db8-817d-f92df00215ae", PartitionKind::Reserved),
        ("e75caf8f-f680-4cee-afa3-b001e56efc2d", PartitionKind::Pool),
        ("5808c8aa-7e8f-42e0-85d2-e1e90434cfb3", PartitionKind::Dynamic),
        ("af9b60a0-1431-4f62-bc68-3311714a69ad", PartitionKind::Dynamic),
        ("c12a7328-f81f-11d2-ba4b-00a0c93ec93b", other("EFI system partition")),
        ("0fc63daf-8483-4772-8e79-3d69d8477de4", other("type 0fc63daf-8483-4772-8e79-3d69d8477de4")),
    ] {
        let layout = descriptor::layout(&drive_layout(1, &[(&guid(text), 1, 16 << 20)])).unwrap();
        assert_eq!(layout.table, Some(Table::Gpt));
        let partition = Partition { number: 1, start_bytes: 1 << 20, bytes: 16 << 20, kind };
        assert_eq!(layout.partitions, [partition]);
    }
    let mbr = drive_layout(0, &[(&[0x42], 1, 512), (&[0xE7], 2, 512), (&[0x07], 3, 512), (&[0], 0, 0)]);
    let layout = descriptor::layout(&mbr).unwrap();
    let kinds: Vec<_> = layout.partitions.into_iter().map(|partition| partition.kind).collect();
    assert_eq!(kinds, [PartitionKind::Dynamic, PartitionKind::Pool, other("type 0x07")]);
    let odd = descriptor::layout(&drive_layout(0, &[(&[0], 1, 512)])).unwrap();
    assert_eq!(odd.partitions.len(), 1, "it has no type, and yet a size");
}

#[test]
fn a_layout_is_all_there_or_unknown() {
    assert_eq!(descriptor::layout(&drive_layout(2, &[])), Some(Layout { table: None, partitions: vec![] }));
    let unused: (&[u8], u32, u64) = (&[0], 0, 0);
    let mbr = drive_layout(0, &[unused; 4]);
    assert_eq!(descriptor::layout(&mbr), Some(Layout { table: Some(Table::Mbr), partitions: vec![] }));
    assert_eq!(descriptor::layout(&mbr[..mbr.len() - 1]), None, "a byte is missing");
    assert_eq!(descriptor::layout(&drive_layout(3, &[])), None, "a style of tomorrow");
    for (at, wrong) in [(4, 5), (48, 1), (48 + 144, 2), (48 + 15, 0x80), (48 + 23, 0xFF)] {
        let mut other = mbr.clone();
        other[at] = wrong;
        assert_eq!(descriptor::layout(&other), None, "{at}: {wrong}");
    }
}

#[test]
fn a_trim_of_a_drive_names_one_range() {
    let request = descriptor::trim_request(1 << 20, 3 << 30);
    let words: Vec<u32> = request[..32].chunks_exact(4).map(|of| u32::from_le_bytes(of.try_into().unwrap())).collect();
    assert_eq!(words, [28, 1, 0x8000_0000, 0, 0, 32, 16, 0]);
    assert_eq!(request[32..], [1u64 << 20, 3 << 30].map(u64::to_le_bytes).concat());
}

#[test]
fn only_the_name_of_a_whole_drive_has_its_number() {
    for (name, number) in [
        (r"\\.\PhysicalDrive0", 0),
        (r"\\.\physicaldrive12", 12),
        (r"\\?\PHYSICALDRIVE1", 1),
        (r"\\.\PhysicalDrive3\", 3),
        ("//./PhysicalDrive4", 4),
    ] {
        assert_eq!(storage::drive_number(name), Some(number), "{name}");
    }
    for name in [
        r"\\.\D:",
        r"\\.\PhysicalDrive",
        r"\\.\PhysicalDrive01",
        r"\\.\PhysicalDrive+1",
        r"\\.\PhysicalDrive1x",
        r"\\.\PhysicalDrive4294967296",
        r"\\.\PhysicalDrive1\Partition1",
        r"\\?\Volume{6f0f0000-0000-0000-0000-100000000000}",
        r"\\.\Harddisk1Partition1",
        "PhysicalDrive1",
        r"C:\PhysicalDrive1",
        "",
    ] {
        assert_eq!(storage::drive_number(name), None, "{name}");
    }
}

/// The health log of a drive, by the places that the NVM Express Base Specification gives (figure "SMART / Health").
fn health_log() -> Vec<u8> {
    let mut log = vec![0; nvme::HEALTH_BYTES];
    log[1..3].copy_from_slice(&(273u16 + 38).to_le_bytes());
    log[3..6].copy_from_slice(&[100, 10, 3]);
    log[48..64].copy_from_slice(&28_312_345u128.to_le_bytes());
    log[160..176].copy_from_slice(&(1u128 << 70).to_le_bytes());
    log[192..196].copy_from_slice(&5u32.to_le_bytes());
    log[228..232].copy_from_slice(&9u32.to_le_bytes());
    log
}

#[test]
fn the_health_log_of_an_nvme_drive_is_read_in_smartctl_s_names() {
    let log = nvme::health(&health_log());
    let value = |name| log.iter().find(|(of, _)| *of == name).map(|(_, value)| *value);
    assert_eq!(value("available_spare"), Some(100));
    assert_eq!(value("available_spare_threshold"), Some(10));
    assert_eq!(value("percentage_used"), Some(3));
    assert_eq!(value("data_units_written"), Some(28_312_345));
    assert_eq!(value("media_errors"), Some(1 << 70));
    assert_eq!((value("warning_temp_time"), value("thm_temp2_total_time")), (Some(5), Some(9)));
    assert_eq!(value("critical_warning"), Some(0));
    assert_eq!(nvme::celsius(&health_log()), Some(38));
    assert_eq!(nvme::celsius(&[0; 512]), None, "no sensor");
    assert!(nvme::health(&health_log()[..511]).is_empty() && nvme::health(&[0; 512]).is_empty());
}

#[test]
fn an_nvme_drive_s_answer_is_taken_when_all_of_it_came() {
    let question = descriptor::nvme_question(50, NvmeData::HealthLog, 512);
    let words: Vec<u32> =
        question.chunks_exact(4).take(8).map(|of| u32::from_le_bytes(of.try_into().unwrap())).collect();
    assert_eq!(words, [50, 0, 3, 2, 2, 0, 40, 512]);
    assert_eq!(question.len(), 48 + 512);
    let mut answer = laid_out(48 + 512, &[(8, &3u32.to_le_bytes()), (24, &40u32.to_le_bytes())]);
    answer[28..32].copy_from_slice(&512u32.to_le_bytes());
    answer[48..].copy_from_slice(&health_log());
    assert_eq!(descriptor::nvme_answer(&answer, 512), Some(&health_log()[..]));
    assert_eq!(descriptor::nvme_answer(&answer[..559], 512), None, "a byte is missing");
    for (at, wrong) in [(8, 2u32), (24, 8), (24, u32::MAX), (24, 41), (28, 511)] {
        let mut other = answer.clone();
        other[at..at + 4].copy_from_slice(&wrong.to_le_bytes());
        assert_eq!(descriptor::nvme_answer(&other, 512), None, "{at}: {wrong}");
    }
    let mut identify = vec![0; nvme::IDENTIFY_BYTES];
    identify[4..24].copy_from_slice(b"S4EWNX0N123456      ");
    identify[24..64].copy_from_slice(b"Samsung SSD 970 EVO Plus 1TB            ");
    identify[64..72].copy_from_slice(b"2B2QEXM7");
    let identity = nvme::identity(&identify);
    assert_eq!(identity.serial.as_deref(), Some("S4EWNX0N123456"));
    assert_eq!(identity.model.as_deref(), Some("Samsung SSD 970 EVO Plus 1TB"));
    assert_eq!(identity.firmware.as_deref(), Some("2B2QEXM7"));
    assert_eq!(nvme::identity(&identify[..60]).model, None);
}

/// Whatever the bytes: an answer or none, and no panic.
#[test]
fn no_answer_however_damaged_or_short_is_a_panic() {
    let system = guid("c12a7328-f81f-11d2-ba4b-00a0c93ec93b");
    let partitions = drive_layout(1, &[(&system[..], 1, 1 << 30); 3]);
    let whole = [device(0x11, "S4EWNX0N123456"), laid_out(64, &[]), health_log(), vec![0xFF; 600], partitions];
    let mut state = 26u64;
    let mut next = |end: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % end
    };
    for _ in 0..100_000 {
        let mut bytes = whole[next(whole.len())].clone();
        for _ in 0..next(6) {
            let at = next(bytes.len());
            bytes[at] = [0, 1, 0x7F, 0x80, 0xFF, next(256) as u8][next(6)];
        }
        bytes.truncate(next(bytes.len() + 1));
        let identity = descriptor::identity(&bytes);
        let words = [identity.model, identity.serial, identity.firmware];
        assert!(words.iter().flatten().all(|word| !word.is_empty() && !word.contains(char::is_control)));
        let extents = descriptor::extents(&bytes).unwrap_or_default();
        assert!(extents.len() * 24 <= bytes.len());
        let layout = descriptor::layout(&bytes).map_or(0, |layout| layout.partitions.len());
        assert!(layout * 144 <= bytes.len());
        descriptor::place(&bytes);
        descriptor::length(&bytes);
        descriptor::attributes(&bytes);
        descriptor::removable(&bytes);
        descriptor::write_cache(&bytes);
        descriptor::celsius(&bytes);
        descriptor::geometry(&bytes);
        descriptor::block_bytes(&bytes);
        descriptor::largest_request_bytes(&bytes);
        descriptor::flag(&bytes);
        descriptor::nvme_answer(&bytes, next(600));
        nvme::identity(&bytes);
        assert_eq!(nvme::health(&bytes).is_empty(), bytes.len() < 512 || bytes[..512].iter().all(|b| *b == 0));
    }
}

/// The places above are those of Windows's own headers, as windows-sys makes them of its metadata.
#[cfg(windows)]
#[test]
fn the_places_are_those_of_windows_s_headers() {
    use std::mem::offset_of;
    use windows_sys::Win32::System::Ioctl::*;

    assert_eq!(offset_of!(STORAGE_DEVICE_DESCRIPTOR, ProductIdOffset), 16);
    assert_eq!(offset_of!(STORAGE_DEVICE_DESCRIPTOR, ProductRevisionOffset), 20);
    assert_eq!(offset_of!(STORAGE_DEVICE_DESCRIPTOR, SerialNumberOffset), 24);
    assert_eq!(offset_of!(STORAGE_DEVICE_DESCRIPTOR, BusType), 28);
    assert_eq!(offset_of!(STORAGE_DEVICE_DESCRIPTOR, RawDeviceProperties), 36);
    assert_eq!(offset_of!(STORAGE_ADAPTER_DESCRIPTOR, MaximumTransferLength), 8);
    assert_eq!(offset_of!(STORAGE_ACCESS_ALIGNMENT_DESCRIPTOR, BytesPerLogicalSector), 16);
    assert_eq!(offset_of!(STORAGE_ACCESS_ALIGNMENT_DESCRIPTOR, BytesPerPhysicalSector), 20);
    assert_eq!(offset_of!(DEVICE_SEEK_PENALTY_DESCRIPTOR, IncursSeekPenalty), 8);
    assert_eq!(offset_of!(DEVICE_TRIM_DESCRIPTOR, TrimEnabled), 8);
    assert_eq!(offset_of!(STORAGE_WRITE_CACHE_PROPERTY, WriteCacheType), 8);
    assert_eq!(offset_of!(STORAGE_WRITE_CACHE_PROPERTY, WriteCacheEnabled), 12);
    assert_eq!(offset_of!(STORAGE_WRITE_CACHE_PROPERTY, UserDefinedPowerProtection), 25);
    assert_eq!(offset_of!(STORAGE_TEMPERATURE_DATA_DESCRIPTOR, InfoCount), 12);
    assert_eq!(offset_of!(STORAGE_TEMPERATURE_DATA_DESCRIPTOR, TemperatureInfo), 24);
    assert_eq!(size_of::<STORAGE_TEMPERATURE_INFO>(), 16);
    assert_eq!(offset_of!(STORAGE_TEMPERATURE_INFO, Temperature), 2);
    assert_eq!(offset_of!(VOLUME_DISK_EXTENTS, Extents), 8);
    assert_eq!(size_of::<DISK_EXTENT>(), 24);
    assert_eq!(offset_of!(DISK_EXTENT, StartingOffset), 8);
    assert_eq!(offset_of!(DISK_EXTENT, ExtentLength), 16);
    assert_eq!(offset_of!(DISK_GEOMETRY_EX, DiskSize), 24);
    assert_eq!(offset_of!(DISK_GEOMETRY, BytesPerSector), 20);
    assert_eq!(offset_of!(STORAGE_DEVICE_DESCRIPTOR, RemovableMedia), 10);
    assert_eq!(offset_of!(STORAGE_DEVICE_NUMBER, DeviceNumber), 4);
    assert_eq!(size_of::<STORAGE_DEVICE_NUMBER>(), 12);
    assert_eq!(offset_of!(GET_DISK_ATTRIBUTES, Attributes), 8);
    assert_eq!((DISK_ATTRIBUTE_OFFLINE, DISK_ATTRIBUTE_READ_ONLY), (1, 2));
    assert_eq!(offset_of!(DRIVE_LAYOUT_INFORMATION_EX, PartitionCount), 4);
    assert_eq!(offset_of!(DRIVE_LAYOUT_INFORMATION_EX, PartitionEntry), 48);
    assert_eq!(size_of::<PARTITION_INFORMATION_EX>(), 144);
    assert_eq!(offset_of!(PARTITION_INFORMATION_EX, StartingOffset), 8);
    assert_eq!(offset_of!(PARTITION_INFORMATION_EX, PartitionLength), 16);
    assert_eq!(offset_of!(PARTITION_INFORMATION_EX, PartitionNumber), 24);
    assert_eq!(offset_of!(PARTITION_INFORMATION_EX, Anonymous), 32);
    assert_eq!((PARTITION_STYLE_MBR, PARTITION_STYLE_GPT, PARTITION_STYLE_RAW), (0, 1, 2));
    assert_eq!((PARTITION_LDM, PARTITION_SPACES, PARTITION_SPACES_DATA), (0x42, 0xE7, 0xD7));
    assert_eq!(size_of::<DEVICE_MANAGE_DATA_SET_ATTRIBUTES>(), 28);
    assert_eq!(offset_of!(DEVICE_MANAGE_DATA_SET_ATTRIBUTES, DataSetRangesOffset), 20);
    assert_eq!(size_of::<DEVICE_DATA_SET_RANGE>(), 16);
    assert_eq!(DEVICE_DSM_FLAG_TRIM_NOT_FS_ALLOCATED, 0x8000_0000);
    assert_eq!(size_of::<STORAGE_PROTOCOL_SPECIFIC_DATA>(), 40);
    assert_eq!(offset_of!(STORAGE_PROPERTY_QUERY, AdditionalParameters), 8);
    assert_eq!(offset_of!(STORAGE_PROTOCOL_SPECIFIC_DATA, ProtocolDataOffset), 16);
    assert_eq!(offset_of!(STORAGE_PROTOCOL_SPECIFIC_DATA, ProtocolDataLength), 20);
    assert_eq!(ProtocolTypeNvme, 3);
    assert_eq!((NVMeDataTypeIdentify, NVMeDataTypeLogPage), (1, 2));
    assert_eq!((WriteCacheTypeNone, WriteCacheTypeWriteBack, WriteCacheTypeWriteThrough), (1, 2, 3));
    assert_eq!((WriteCacheDisabled, WriteCacheEnabled), (1, 2));
}

/// Of the folder of this test: words and numbers, or unknown; nothing is opened to be written.
#[cfg(windows)]
#[test]
fn the_volume_of_a_folder_and_its_drives_are_described() {
    let folder = std::env::temp_dir();
    let volume = storage::volume(&folder).unwrap();
    assert!(volume.mount.ends_with('\\'), "{volume:?}");
    assert!(volume.bytes >= volume.free_bytes && volume.free_bytes.is_some(), "{volume:?}");
    println!("{volume:?}");
    for extent in &volume.extents {
        println!("{:?}\n{:?}", storage::drive(extent.drive).unwrap(), storage::health(extent.drive).unwrap());
    }
    assert!(storage::drive(4_000_000).is_err());
    println!("{:?}", storage::volumes());
}
