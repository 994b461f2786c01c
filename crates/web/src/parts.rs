//! A profile made of parts.

use std::collections::BTreeMap;

use pslc_ssd::parts::{self, Controller, Nand, Raw};
use serde::{Deserialize, Serialize};

use crate::Failure;

/// A die and a controller, and what is given of the drive: its capacity, and whatever else, by dotted key.
#[derive(Clone, Debug, Deserialize)]
pub struct PartsQuestion {
    nand: Nand,
    controller: Controller,
    given: BTreeMap<String, Raw>,
}

/// TOML, each value with where it comes from.
#[derive(Clone, Debug, Serialize)]
pub struct MadeProfile {
    pub profile: String,
}

pub fn profile(question: &PartsQuestion) -> Result<MadeProfile, Failure> {
    let PartsQuestion { nand, controller, given } = question;
    let rows = parts::profile(nand, controller, given)
        .map_err(|error| Failure { message: error.message, hint: error.hint })?;
    Ok(MadeProfile { profile: parts::to_toml(&rows) })
}
