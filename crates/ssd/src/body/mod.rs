//! The body of the drive: what it draws, and how hot that makes it.

mod heat;
mod power;

pub use heat::Heat;
pub use power::{energy_pj, Activity, Waking};
