//! What an NVMe or a SATA drive answers on Linux, asked through its block device.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::path::Path;

use super::{ata, descriptor::Identity, nvme, Health};

/// `_IOWR('N', 0x41, struct nvme_admin_cmd)` of `linux/nvme_ioctl.h`.
const NVME_IOCTL_ADMIN_CMD: libc::c_ulong = 0xC048_4E41;
const GET_LOG_PAGE: u8 = 2;
/// SMART / Health Information; its length in words of 4 bytes, less one, stands above.
const HEALTH_LOG: u32 = 2 | (nvme::HEALTH_BYTES as u32 / 4 - 1) << 16;
const WHOLE_DRIVE: u32 = u32::MAX;
const TIMEOUT_MS: u32 = 10_000;

/// `struct nvme_admin_cmd`.
#[repr(C)]
#[derive(Default)]
struct Command {
    opcode: u8,
    flags: u8,
    reserved: u16,
    namespace: u32,
    words_2: [u32; 2],
    metadata: u64,
    data: u64,
    metadata_bytes: u32,
    data_bytes: u32,
    words_10: [u32; 6],
    timeout_ms: u32,
    result: u32,
}

/// Temperature and health log; both empty where the drive fills in nothing.
///
/// # Errors
/// It is no NVMe drive, or this user may not ask it: that takes the rights of root.
pub fn nvme_health(path: &Path) -> io::Result<Health> {
    let device = File::open(path)?;
    let mut log = [0u8; nvme::HEALTH_BYTES];
    let mut command = Command {
        opcode: GET_LOG_PAGE,
        namespace: WHOLE_DRIVE,
        data: log.as_mut_ptr() as u64,
        data_bytes: nvme::HEALTH_BYTES as u32,
        words_10: [HEALTH_LOG, 0, 0, 0, 0, 0],
        timeout_ms: TIMEOUT_MS,
        ..Command::default()
    };
    // SAFETY: the call reads and writes one `Command`, and writes `data_bytes` bytes to `log`; both outlive it.
    match unsafe { libc::ioctl(device.as_raw_fd(), NVME_IOCTL_ADMIN_CMD as _, &mut command) } {
        0 => Ok(Health { temperature: nvme::celsius(&log), log: nvme::health(&log) }),
        -1 => Err(io::Error::last_os_error()),
        status => Err(io::Error::other(format!("NVMe status {status:#x}"))),
    }
}

/// `SG_IO` of `scsi/sg.h`, and its directions.
const SG_IO: libc::c_ulong = 0x2285;
const NO_DATA: i32 = -1;
const FROM_DRIVE: i32 = -3;

/// `struct sg_io_hdr`.
#[repr(C)]
struct Request {
    interface: i32,
    direction: i32,
    command_bytes: u8,
    max_sense_bytes: u8,
    vectors: u16,
    data_bytes: u32,
    data: *mut u8,
    command: *const u8,
    sense: *mut u8,
    timeout_ms: u32,
    flags: u32,
    pack: i32,
    user: *mut libc::c_void,
    status: u8,
    masked_status: u8,
    message_status: u8,
    sense_bytes: u8,
    host_status: u16,
    driver_status: u16,
    residual: i32,
    duration_ms: u32,
    info: u32,
}

/// Model and firmware of a SATA drive in full: the kernel cuts them off after 16 and 4 letters.
///
/// # Errors
/// As `ata_health`.
pub fn ata_identity(path: &Path) -> io::Result<Identity> {
    Ok(ata::identity(&page(&File::open(path)?, &ata::IDENTIFY)?))
}

/// Health of a SATA drive: temperature, and in the log `passed` (its own test: 0 or 1) and what its statistics count, in
/// NVMe's names.
///
/// # Errors
/// It is no SATA drive, this user may not ask it (that takes the rights of root), or it sleeps and is not to wake.
pub fn ata_health(path: &Path, may_wake: bool) -> io::Result<Health> {
    let device = File::open(path)?;
    if !may_wake && ata::sleeps(registers(&device, &ata::POWER_MODE)?) {
        return Err(io::Error::other("it sleeps"));
    }
    let sector_bytes = ata::sector_bytes(&page(&device, &ata::IDENTIFY)?);
    let passed = registers(&device, &ata::SMART_STATUS).ok().and_then(ata::passed);
    let temperature = page(&device, &ata::SMART_DATA).ok().and_then(|page| ata::celsius(&page));
    let general = page(&device, &ata::statistics(1)).map(|page| ata::general(&page, sector_bytes));
    let used = page(&device, &ata::statistics(7)).ok().and_then(|page| ata::used(&page));
    let log = passed.map(|passed| ("passed", u128::from(passed))).into_iter();
    Ok(Health { temperature, log: log.chain(general.unwrap_or_default()).chain(used).collect() })
}

/// The block that a command reads.
fn page(device: &File, command: &ata::Command) -> io::Result<[u8; ata::PAGE_BYTES]> {
    let mut page = [0; ata::PAGE_BYTES];
    send(device, command, &mut page)?;
    Ok(page)
}

/// The registers after a command without data.
fn registers(device: &File, command: &ata::Command) -> io::Result<ata::Registers> {
    let sense = send(device, command, &mut [])?;
    ata::registers(&sense).ok_or_else(|| io::Error::other("no registers in the sense data"))
}

/// Send a command and read `data`; the sense data.
fn send(device: &File, command: &ata::Command, data: &mut [u8]) -> io::Result<[u8; ata::SENSE_BYTES]> {
    let mut sense = [0; ata::SENSE_BYTES];
    let mut request = Request {
        interface: i32::from(b'S'),
        direction: if data.is_empty() { NO_DATA } else { FROM_DRIVE },
        command_bytes: command.len() as u8,
        max_sense_bytes: ata::SENSE_BYTES as u8,
        vectors: 0,
        data_bytes: data.len() as u32,
        data: data.as_mut_ptr(),
        command: command.as_ptr(),
        sense: sense.as_mut_ptr(),
        timeout_ms: TIMEOUT_MS,
        flags: 0,
        pack: 0,
        user: std::ptr::null_mut(),
        status: 0,
        masked_status: 0,
        message_status: 0,
        sense_bytes: 0,
        host_status: 0,
        driver_status: 0,
        residual: 0,
        duration_ms: 0,
        info: 0,
    };
    // SAFETY: the call reads the command, and writes the `Request`, its data and its sense data; all outlive it.
    if unsafe { libc::ioctl(device.as_raw_fd(), SG_IO as _, &mut request) } != 0 {
        return Err(io::Error::last_os_error());
    }
    // A command without data ends with sense data in any case.
    let failed = !data.is_empty() && (request.status != 0 || request.residual != 0);
    if failed || request.host_status != 0 {
        return Err(io::Error::other(format!("SCSI status {:#x}", request.status)));
    }
    Ok(sense)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_is_laid_out_as_the_kernel_has_it() {
        assert_eq!(size_of::<Command>(), (NVME_IOCTL_ADMIN_CMD >> 16 & 0x3FFF) as usize);
        assert_eq!(std::mem::offset_of!(Command, data), 24);
        assert_eq!(std::mem::offset_of!(Command, words_10), 40);
        assert_eq!(HEALTH_LOG, 0x007F_0002);
    }

    #[test]
    fn what_is_no_drive_is_an_error() {
        assert_eq!((size_of::<Request>(), std::mem::offset_of!(Request, status)), (88, 64));
        assert!(nvme_health(Path::new("/dev/null")).is_err());
        assert!(ata_health(Path::new("/dev/null"), true).is_err());
        assert!(ata_identity(Path::new("/dev/null")).is_err());
    }
}
