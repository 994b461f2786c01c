//! A simulated SSD: a TLC or QLC drive with an SLC cache, as a function from requests to completion times.
//!
//! ```text
//!   Machine     host/        processor, page cache, NCQ: the computer around the drive
//!   Drive       drive/       submit(now, request) -> completion time; advance(now) spends idle time
//!                 link/        SATA, PCIe: wire times
//!                 controller/  write buffer, map cache, read-ahead
//!                 ftl/         page maps, superblocks, write pointers, cache policies, folding, GC, throttle
//!                 nand/        dies and channels
//!                 power, thermal
//!               timeline/    a shared wire, used by link and nand
//!   Config      config       a drive described; profile/ reads it from TOML, parts/ derives it from NAND and controller
//! ```
//!
//! Begin with a profile, ask for something, look at the counters:
//!
//! ```
//! use pslc_ssd::{profile, Drive, Nanos, Request};
//!
//! let text = include_str!("../../../python/pslc/drives/aldrin-pro-2tb.toml");
//! let profile = profile::load("aldrin-pro-2tb.toml", text, &|_| None, &[]).unwrap();
//! let mut drive = Drive::new(&profile.config);
//! let done = drive.submit(Nanos::ZERO, &Request::write(0, 128 << 10));
//! assert!(done < Nanos::from_millis(1), "it is acknowledged from the write buffer");
//! let flushed = drive.submit(done, &Request::flush());
//! assert!(flushed > done, "and programmed later");
//! ```
//!
//! Where to look: a request's way through the drive is [`Drive::submit`]; what happens when the cache is full is one
//! file in `ftl/cache`; which superblock is emptied next is `ftl/victim.rs`. The laws that must come out of it, and the
//! slow version that it must equal, are in `tests/`; the model in words is `docs/model.md`.
//!
//! Pure and deterministic: no clock, no I/O, no threads and no floats in its state. The same configuration and requests
//! give the same bytes everywhere.

mod cell_mode;
mod columns;
pub mod config;
mod consistency;
mod controller;
mod cores;
mod cycle_cache;
mod dense;
mod drive;
mod faults;
mod ftl;
mod host;
mod link;
mod nand;
pub mod parts;
mod power;
mod processors;
pub mod profile;
mod request;
pub mod state;
mod thermal;
mod timeline;
mod units;
mod waits;
mod words;

pub use cell_mode::CellMode;
pub use config::Config;
pub use drive::{Drive, Pace};
pub use faults::Hint;
pub use ftl::{cache, custom, Superblock};
pub use host::Machine;
pub use request::{Op, Request};
pub use units::{Lpn, MapUnit, Nanos, Ppn, PAGE_BYTES};
pub use waits::{Cause, Waits};
pub use words::Words;

/// The codes of all errors of this crate.
pub fn error_codes() -> impl Iterator<Item = &'static str> {
    profile::codes().chain(parts::PartsError::CODES.iter().chain(state::StateError::CODES).copied())
}
