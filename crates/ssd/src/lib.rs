//! The simulated drive: a TLC or QLC SSD with an SLC cache.
//!
//! Pure and deterministic: no clock, no I/O, no threads and no floats in its state. A drive is a function from
//! `(now, request)` to a completion time; the same configuration and requests give the same answers everywhere.

mod body;
pub mod config;
mod controller;
mod cores;
mod dense;
mod drive;
mod ftl;
mod host;
mod link;
mod nand;
pub mod profile;
mod request;
mod units;

pub use config::{CellMode, Config};
pub use drive::Drive;
pub use ftl::cache::POLICIES;
pub use host::Machine;
pub use request::{Op, Request};
pub use units::{Nanos, PAGE_BYTES};
