//! Keys of the computer around the drive.

use super::reader::Reader;
use super::{units, ProfileError};
use crate::config::{Cpu, Host, PageCache};

pub const KEYS: &[&str] = &[
    "host.cores",
    "host.read",
    "host.write",
    "host.page_cache",
    "host.driver_cache",
    "host.background",
    "host.dirty",
    "host.request",
    "host.depth",
    "host.memory",
];

pub fn read(reader: &Reader) -> Result<Host, ProfileError> {
    Ok(Host { cpu: cpu(reader)?, page_cache: page_cache(reader)? })
}

fn cpu(reader: &Reader) -> Result<Option<Cpu>, ProfileError> {
    if !["host.cores", "host.read", "host.write"].iter().any(|key| reader.value(key).is_some()) {
        return Ok(None);
    }
    Ok(Some(Cpu {
        cores: reader.count("host.cores", 1, 256)?,
        read: reader.quantity("host.read", None, units::time)?,
        write: reader.quantity("host.write", None, units::time)?,
    }))
}

/// `host.page_cache` is for what is not direct, `host.driver_cache` is before everything; the other keys are of either.
fn page_cache(reader: &Reader) -> Result<Option<PageCache>, ProfileError> {
    let (key, driver) = match (reader.value("host.page_cache"), reader.value("host.driver_cache")) {
        (None, None) => return Ok(None),
        (Some(_), None) => ("host.page_cache", false),
        (None, Some(_)) => ("host.driver_cache", true),
        (Some(_), Some(_)) => {
            return Err(reader.error(
                "host.driver_cache",
                "there are both host.page_cache and host.driver_cache".into(),
                "one of them: the first to see a request would leave the other nothing".into(),
            ))
        }
    };
    let bytes = reader.quantity(key, None, units::bytes)?;
    let count = |key: &str, default: u32| match reader.value(key) {
        Some(_) => reader.count(key, 1, 4096),
        None => Ok(default),
    };
    let cache = PageCache {
        bytes,
        background_bytes: reader.quantity("host.background", Some(bytes / 10), units::bytes)?,
        dirty_bytes: reader.quantity("host.dirty", Some(bytes / 5), units::bytes)?,
        request_bytes: reader.quantity("host.request", Some(512 << 10), units::bytes)?.min(1 << 30) as u32,
        depth: count("host.depth", 32)?,
        memory_bytes_per_s: reader.quantity("host.memory", Some(10_000_000_000), units::rate)?,
        driver,
    };
    let ordered = cache.background_bytes <= cache.dirty_bytes && 2 * cache.dirty_bytes <= bytes;
    if !ordered || bytes < 64 << 20 {
        return Err(reader.error(
            key,
            format!("{key} is {}", units::write_bytes(bytes)),
            "at least 64MiB, and twice host.dirty, which is at least host.background".into(),
        ));
    }
    if cache.request_bytes % 4096 != 0 || cache.request_bytes == 0 {
        return Err(reader.error(
            "host.request",
            format!("host.request is {}", units::write_bytes(cache.request_bytes as u64)),
            "a multiple of 4KiB".into(),
        ));
    }
    if cache.memory_bytes_per_s == 0 {
        return Err(reader.error("host.memory", "host.memory is 0".into(), "\"10GB/s\", for one".into()));
    }
    Ok(Some(cache))
}

pub fn write(host: &Host, line: &mut impl FnMut(String)) {
    if *host == Host::default() {
        return;
    }
    line("\n[host]".into());
    if let Some(cpu) = &host.cpu {
        line(format!("cores = {}", cpu.cores));
        line(format!("read = \"{}\"", units::write_time(cpu.read)));
        line(format!("write = \"{}\"", units::write_time(cpu.write)));
    }
    if let Some(cache) = &host.page_cache {
        let name = if cache.driver { "driver_cache" } else { "page_cache" };
        line(format!("{name} = \"{}\"", units::write_bytes(cache.bytes)));
        line(format!("background = \"{}\"", units::write_bytes(cache.background_bytes)));
        line(format!("dirty = \"{}\"", units::write_bytes(cache.dirty_bytes)));
        line(format!("request = \"{}\"", units::write_bytes(cache.request_bytes as u64)));
        line(format!("depth = {}", cache.depth));
        line(format!("memory = \"{}\"", units::write_rate(cache.memory_bytes_per_s)));
    }
}
