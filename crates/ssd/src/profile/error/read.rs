//! What is wrong with a key, or with a value by itself.

use super::super::units::{self, QuantityError};
use super::meant;
use crate::codes;
use crate::codes::Hint;

/// Why a profile, a key or a value of it cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReadFault {
    /// It is no TOML; the words are those of its parser.
    #[error("{message}")]
    Syntax { message: String },
    #[error("{key} is neither text nor a number")]
    NeitherTextNorNumber { key: String },

    /// The names along `base =`; the last stands before it as well.
    #[error("base goes round in a circle: {}", names.join(" -> "))]
    BaseCircle { names: Vec<String> },
    #[error("base is \"{path}\", which is no file that can be read")]
    BaseUnreadable { path: String },
    #[error("base is \"{name}\", which is no known profile")]
    BaseUnknown { name: String },
    #[error("base is a key of profiles alone, not of a drive's name")]
    BaseOverride { name: String },

    /// `near` is the key that was probably meant.
    #[error("unknown key {key}")]
    UnknownKey { key: String, near: Option<&'static str> },
    #[error("[provenance] names the unknown key {key}")]
    UnknownProvenance { key: String, near: Option<&'static str> },
    #[error("{key} is missing")]
    Missing { key: &'static str },

    #[error("{key} is {text}, a bare number")]
    BareNumber { key: &'static str, text: String },
    #[error("{key}: \"{text}\" {wrong}")]
    Quantity { key: &'static str, text: String, wrong: QuantityError, example: &'static str },
    #[error("{key}: {text} is not a ratio such as 1.5 (at most three decimals)")]
    Ratio { key: &'static str, text: String },
    #[error("{key} is {text}")]
    Count { key: &'static str, text: String, min: u32, max: u32 },
    #[error("{key} is \"{text}\", which is unknown")]
    UnknownWord { key: &'static str, text: String, near: Option<&'static str>, choices: Vec<&'static str> },
    #[error("{key} is \"{text}\", which is unknown")]
    UnknownLink { key: &'static str, text: String, near: Option<&'static str> },
    /// `word` may stand in the place of the table.
    #[error("{key} is \"{text}\"")]
    NotTheWord { key: &'static str, text: String, word: &'static str, table: &'static str },
    #[error("ftl.map_unit is {}", units::BYTES.write(*bytes))]
    MapUnit { bytes: u64 },
    #[error("usb.behind is \"{text}\"")]
    BridgeBehindBridge { text: String },
}

codes!(ReadFault {
    Syntax => "profile-syntax",
    NeitherTextNorNumber => "profile-bad-type",
    BaseCircle => "profile-base-circle",
    BaseUnreadable => "profile-base-unreadable",
    BaseUnknown => "profile-base-unknown",
    BaseOverride => "profile-base-override",
    UnknownKey => "profile-unknown-key",
    UnknownProvenance => "profile-unknown-provenance",
    Missing => "profile-key-missing",
    BareNumber => "profile-bare-number",
    Quantity => "profile-bad-quantity",
    Ratio => "profile-bad-ratio",
    Count => "profile-bad-count",
    UnknownWord => "profile-unknown-word",
    UnknownLink => "profile-unknown-link",
    NotTheWord => "profile-bad-table",
    MapUnit => "profile-bad-map-unit",
    BridgeBehindBridge => "profile-bridge-behind-bridge",
});

impl ReadFault {
    /// What to write instead.
    pub fn hint(&self) -> Hint {
        match self {
            Self::Syntax { .. } => "profiles are TOML; text goes in quotes: capacity = \"2000GB\"".into(),
            Self::NeitherTextNorNumber { .. } => "see `pslc drives show NAME` for a whole profile".into(),
            Self::BaseCircle { .. } => "base one of them on nothing".into(),
            Self::BaseUnreadable { .. } => "a path is seen from the file that names it".into(),
            Self::BaseUnknown { .. } => {
                "`pslc drives` lists the profiles; a file is named with a / or .toml".into()
            }
            Self::BaseOverride { name } => {
                format!("name that drive (sim:{name},...), or write a profile: base = \"{name}\"").into()
            }
            Self::UnknownKey { near: Some(near), .. } | Self::UnknownProvenance { near: Some(near), .. } => {
                format!("did you mean {near}?").into()
            }
            Self::UnknownKey { .. } | Self::UnknownProvenance { .. } => {
                "pslc drives show aldrin-pro-2tb prints every key".into()
            }
            Self::Missing { .. } => "add it, or begin with base = \"a complete profile\"".into(),
            Self::BareNumber { .. } => {
                "give its unit, as text: \"16KiB\", \"185us\", \"1200MT/s\", \"54%\"".into()
            }
            Self::Quantity { example, .. } => format!("write it as {example}").into(),
            Self::Ratio { .. } => "1.0 is the cost of a direct write".into(),
            Self::Count { min, max, .. } => {
                format!("a whole number from {min} to {max}, without quotes").into()
            }
            Self::UnknownWord { near, choices, .. } => {
                meant(*near, format_args!("known: {}", choices.join(", ")))
            }
            Self::UnknownLink { near, .. } => meant(
                *near,
                format_args!(
                    "SATA: sata150, sata300, sata600; PCIe: pcie1 to pcie6 with x1, x2, x4, x8 or x16; \
                     USB: usb5g, usb10g, usb20g"
                ),
            ),
            Self::NotTheWord { word, table, .. } => format!("\"{word}\", or a table with {table}").into(),
            Self::MapUnit { .. } => "4KiB, 8KiB, 16KiB, 32KiB or 64KiB; 4KiB in most drives".into(),
            Self::BridgeBehindBridge { .. } => {
                "a link of SATA or PCIe, such as sata600; one bridge is enough".into()
            }
        }
    }
}
