//! What is wrong with a key, or with a value by itself.

use super::super::units::{self, QuantityError};
use super::meant;
use crate::faults;
use crate::Hint;

/// What a link can be.
const LINKS: &str = "SATA: sata150, sata300, sata600; PCIe: pcie1 to pcie6 with x1, x2, x4, x8 or x16; \
    USB: usb5g, usb10g, usb20g; UFS: ufs-g3x2 to ufs-g5x2; eMMC: emmc-hs400, emmc-hs400-cqe; SD: sd-uhs1";

faults! {
    /// Why a profile, a key or a value of it cannot be read.
    #[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
    pub enum ReadFault {
        /// It is no TOML; the words are those of its parser.
        #[error("{message}")]
        Syntax { message: String } = "profile-syntax"
            => "profiles are TOML; text goes in quotes: capacity = \"2000GB\"",
        #[error("{key} is neither text nor a number")]
        NeitherTextNorNumber { key: String } = "profile-bad-type"
            => "see `pslc drives show NAME` for a whole profile",

        /// The names along `base =`; the last stands before it as well.
        #[error("base goes round in a circle: {}", names.join(" -> "))]
        BaseCircle { names: Vec<String> } = "profile-base-circle" => "base one of them on nothing",
        #[error("base is \"{path}\", which is no file that can be read")]
        BaseUnreadable { path: String } = "profile-base-unreadable"
            => "a path is seen from the file that names it",
        #[error("base is \"{name}\", which is no known profile")]
        BaseUnknown { name: String } = "profile-base-unknown"
            => "`pslc drives` lists the profiles; a file is named with a / or .toml",
        #[error("base is a key of profiles alone, not of a drive's name")]
        BaseOverride { name: String } = "profile-base-override"
            => format!("name that drive (sim:{name},...), or write a profile: base = \"{name}\""),

        /// `near` is the key that was probably meant.
        #[error("unknown key {key}")]
        UnknownKey { key: String, near: Option<&'static str> } = "profile-unknown-key" => nearest_key(*near),
        #[error("[provenance] names the unknown key {key}")]
        UnknownProvenance { key: String, near: Option<&'static str> } = "profile-unknown-provenance"
            => nearest_key(*near),
        #[error("{key} is missing")]
        Missing { key: &'static str } = "profile-key-missing"
            => "add it, or begin with base = \"a complete profile\"",

        #[error("{key} is {text}, a bare number")]
        BareNumber { key: &'static str, text: String } = "profile-bare-number"
            => "give its unit, as text: \"16KiB\", \"185us\", \"1200MT/s\", \"54%\"",
        #[error("{key}: \"{text}\" {wrong}")]
        Quantity { key: &'static str, text: String, wrong: QuantityError, example: &'static str }
            = "profile-bad-quantity" => format!("write it as {example}"),
        #[error("{key}: {text} is not a ratio such as 1.5 (at most three decimals)")]
        Ratio { key: &'static str, text: String } = "profile-bad-ratio"
            => "1.0 is the cost of a direct write",
        #[error("{key} is {text}")]
        Count { key: &'static str, text: String, min: u32, max: u32 } = "profile-bad-count"
            => format!("a whole number from {min} to {max}, without quotes"),
        #[error("{key} is \"{text}\", which is unknown")]
        UnknownWord { key: &'static str, text: String, near: Option<&'static str>, choices: Vec<&'static str> }
            = "profile-unknown-word" => meant(*near, &format!("known: {}", choices.join(", "))),
        #[error("{key} is \"{text}\", which is unknown")]
        UnknownLink { key: &'static str, text: String, near: Option<&'static str> } = "profile-unknown-link"
            => meant(*near, LINKS),
        /// `word` may stand in the place of the table.
        #[error("{key} is \"{text}\"")]
        NotTheWord { key: &'static str, text: String, word: &'static str, table: &'static str }
            = "profile-bad-table" => format!("\"{word}\", or a table with {table}"),
        #[error("ftl.map_unit is {}", units::BYTES.write(*bytes))]
        MapUnit { bytes: u64 } = "profile-bad-map-unit"
            => "4KiB, 8KiB, 16KiB, 32KiB or 64KiB; 4KiB in most drives",
        #[error("usb.behind is \"{text}\"")]
        BridgeBehindBridge { text: String } = "profile-bridge-behind-bridge"
            => "another link, such as sata600; one bridge is enough",
    }
}

/// What to do about a key that there is not.
fn nearest_key(near: Option<&str>) -> Hint {
    match near {
        Some(near) => format!("did you mean {near}?").into(),
        None => "pslc drives show aldrin-pro-2tb prints every key".into(),
    }
}
