//! A profile made of parts.

use pslc_ssd::parts::{to_toml, Parts};
use serde::Serialize;

use crate::Failure;

/// TOML, each value with where it comes from.
#[derive(Clone, Debug, Serialize)]
pub struct MadeProfile {
    pub profile: String,
}

pub fn profile(parts: &Parts) -> Result<MadeProfile, Failure> {
    let rows = parts.profile().map_err(|error| Failure::new(&error, error.hint()))?;
    Ok(MadeProfile { profile: to_toml(&rows) })
}
