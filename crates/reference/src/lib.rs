//! The simulated drive once more, slow and obvious, and random drives and requests on which the two are compared.
//!
//! A set of such cases, with the time at which each request completes, is for whoever writes a simulator: see
//! `conformance.rs`.

pub mod conformance;
pub mod drawn;
pub mod slow;

pub use slow::{Reference, ReferenceMachine};
