//! What an NVMe drive answers, as the NVM Express Base Specification lays it out.

use super::descriptor::Identity;
use super::{text, u16_at, u32_at};

/// Bytes of Identify Controller, and of the health log.
pub const IDENTIFY_BYTES: usize = 4096;
pub const HEALTH_BYTES: usize = 512;

const KELVIN: i32 = 273;

/// The drive's own words, out of Identify Controller.
pub fn identity(bytes: &[u8]) -> Identity {
    let word = |from: usize, to: usize| bytes.get(from..to).and_then(text);
    Identity { serial: word(4, 24), model: word(24, 64), firmware: word(64, 72), bus: Some("NVMe") }
}

/// Degrees Celsius of the drive as a whole, out of the health log.
pub fn celsius(log: &[u8]) -> Option<i32> {
    u16_at(log, 1).filter(|kelvin| *kelvin != 0).map(|kelvin| kelvin as i32 - KELVIN)
}

/// Numbers of the health log and where they are, in smartctl's names: of 16 bytes, of 4, and of 1.
const LONG: [(&str, usize); 10] = [
    ("data_units_read", 32),
    ("data_units_written", 48),
    ("host_reads", 64),
    ("host_writes", 80),
    ("controller_busy_time", 96),
    ("power_cycles", 112),
    ("power_on_hours", 128),
    ("unsafe_shutdowns", 144),
    ("media_errors", 160),
    ("num_err_log_entries", 176),
];
const SHORT: [(&str, usize); 6] = [
    ("warning_temp_time", 192),
    ("critical_comp_time", 196),
    ("thm_temp1_trans_count", 216),
    ("thm_temp2_trans_count", 220),
    ("thm_temp1_total_time", 224),
    ("thm_temp2_total_time", 228),
];
const BYTES: [(&str, usize); 4] =
    [("critical_warning", 0), ("available_spare", 3), ("available_spare_threshold", 4), ("percentage_used", 5)];

/// The health log; empty where it is cut off, or all zeros, as where nothing was filled in.
pub fn health(log: &[u8]) -> Vec<(&'static str, u128)> {
    let Some(log) = log.get(..HEALTH_BYTES).filter(|log| log.iter().any(|byte| *byte != 0)) else {
        return Vec::new();
    };
    let long = |at: usize| log[at..].first_chunk().map(|of| u128::from_le_bytes(*of));
    let numbers = BYTES.iter().map(|(name, at)| (*name, Some(log[*at] as u128)));
    let numbers = numbers.chain(LONG.iter().map(|(name, at)| (*name, long(*at))));
    let numbers = numbers.chain(SHORT.iter().map(|(name, at)| (*name, u32_at(log, *at).map(u128::from))));
    numbers.filter_map(|(name, value)| Some((name, value?))).collect()
}
