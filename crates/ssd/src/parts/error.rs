//! Why parts make no profile.

use super::quantity::Units;
use crate::codes;
use crate::codes::Hint;

/// Why no profile can be made of parts.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PartsError {
    /// The parts themselves, as JSON; the words are those of its parser.
    #[error("the parts cannot be read: {message}")]
    Unreadable { message: String },
    #[error("a drive made of parts needs its capacity")]
    NoCapacity,
    #[error("{key} is \"{text}\"")]
    NoQuantity { key: String, text: String, units: &'static Units },
    #[error("{key} is \"{text}\"")]
    NotWholeUnits { key: String, text: String },
    #[error("{key} is {text}")]
    NoCount { key: String, text: String },
    /// A controller whose firmware's way is not told.
    #[error("{controller} has no habits.{key}")]
    NoHabit { controller: String, key: &'static str },
}

codes!(PartsError {
    Unreadable => "parts-unreadable",
    NoCapacity => "parts-no-capacity",
    NoQuantity => "parts-bad-quantity",
    NotWholeUnits => "parts-not-whole-units",
    NoCount => "parts-bad-count",
    NoHabit => "parts-no-habit",
});

impl PartsError {
    /// What to write instead.
    pub fn hint(&self) -> Hint {
        match self {
            Self::Unreadable { .. } => "a whole number is at most 2^63 - 1, and none is below 0".into(),
            Self::NoCapacity => "capacity = \"1TB\"".into(),
            Self::NoQuantity { units, .. } => {
                let names: Vec<&str> = units.iter().map(|(name, _)| *name).collect();
                format!("a number with a unit ({})", names.join(", ")).into()
            }
            Self::NotWholeUnits { .. } => "a whole number of the smallest unit".into(),
            Self::NoCount { .. } => "a whole number".into(),
            Self::NoHabit { key, .. } => {
                format!("add {key} to [habits] of its part file, or give cache.{key}").into()
            }
        }
    }
}
