//! Whole drives of Windows that must not be erased: nothing here can write to one, for no right serial number is given.

#![cfg(windows)]

use std::path::Path;

use pslc_drive::{inspect, open_device, serial_of, storage, OpenError};

/// Numbers that are tried; a machine of tests has no more drives.
const NUMBERS: std::ops::Range<u32> = 0..16;

fn refused(path: &str) -> OpenError {
    let error = open_device(Path::new(path), "pslc has no such serial number", true);
    let error = error.err().unwrap_or_else(|| panic!("{path} must be refused"));
    assert!(!error.hint().is_empty(), "{error}");
    println!("{error} [{}]\nhint: {}", error.code(), error.hint());
    error
}

#[test]
fn what_is_no_whole_drive_is_refused_with_words_on_what_to_give() {
    for path in [r"\\.\C:", r"\\.\D:", r"\\.\PhysicalDrive0\Partition1", r"C:\", "NUL"] {
        let error = refused(path);
        assert_eq!(error.code(), "device-not-whole");
        assert!(error.hint().contains(r"Get-Disk in PowerShell lists the drives; \\.\PhysicalDrive1"));
        assert_eq!(inspect(Path::new(path)).unwrap_err().code(), "device-not-whole");
        assert_eq!(serial_of(Path::new(path)).unwrap_err().code(), "device-not-whole");
    }
}

#[test]
fn a_drive_that_is_not_there_is_refused() {
    for path in [r"\\.\PhysicalDrive4000000", r"\\?\physicaldrive4000000"] {
        let error = refused(path);
        assert_eq!(error.code(), "device-not-found");
        assert_eq!(error.to_string(), format!("{path}: No such file or directory"));
        assert_eq!(inspect(Path::new(path)).unwrap_err().code(), "device-not-found");
    }
}

#[test]
fn no_drive_is_erased_by_another_serial_number() {
    for number in NUMBERS {
        let path = format!(r"\\.\PhysicalDrive{number}");
        let Ok(drive) = storage::drive(number) else { continue };
        println!("{drive:?}\n{:?}", inspect(Path::new(&path)));
        let code = refused(&path).code();
        let expected = match (drive.bytes, drive.serial) {
            (None, _) => "device-unknown",
            (_, None) => "device-no-serial",
            _ => "device-wrong-serial",
        };
        assert!(code == expected || ["device-no-medium", "device-too-small"].contains(&code), "{code}");
    }
}

/// The drive below the folder of tests is in use, whatever it is.
#[test]
fn a_drive_that_has_a_volume_is_seen_to_be_in_use() {
    let Ok(volume) = storage::volume(&std::env::temp_dir()) else { return };
    for extent in volume.extents {
        let device = inspect(Path::new(&format!(r"\\.\PhysicalDrive{}", extent.drive))).unwrap();
        assert!(!device.users.is_empty(), "{device:?}");
    }
}
