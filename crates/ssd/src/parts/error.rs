//! Why parts make no profile.

use crate::faults;
use crate::profile::units::Units;

faults! {
    /// Why no profile can be made of parts.
    #[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
    pub enum PartsError {
        /// The parts themselves, as JSON; the words are those of its parser.
        #[error("the parts cannot be read: {message}")]
        Unreadable { message: String } = "parts-unreadable"
            => "a whole number is at most 2^63 - 1, and none is below 0",
        #[error("a drive made of parts needs its capacity")]
        NoCapacity = "parts-no-capacity" => "capacity = \"1TB\"",
        /// Sizes with their units.
        #[error("capacity is {capacity}, less than half a die of {die}")]
        TooSmall { capacity: String, die: String, min: String } = "parts-too-small"
            => format!("at least {min}; sim:NAME,scale=1/64 makes a drive smaller and keeps its behaviour"),
        #[error("{key} is \"{text}\"")]
        NoQuantity { key: String, text: String, units: &'static Units } = "parts-bad-quantity"
            => format!("a number with a unit ({})", units.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ")),
        #[error("{key} is \"{text}\"")]
        NotWholeUnits { key: String, text: String } = "parts-not-whole-units"
            => "a whole number of the smallest unit",
        #[error("{key} is {text}")]
        NoCount { key: String, text: String } = "parts-bad-count" => "a whole number",
        /// A controller whose firmware's way is not told.
        #[error("{controller} has no habits.{key}")]
        NoHabit { controller: String, key: &'static str } = "parts-no-habit"
            => format!("add {key} to [habits] of its part file, or give cache.{key}"),
    }
}
