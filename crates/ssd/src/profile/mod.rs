//! Profiles: drives described in strict TOML, with units, inheritance and provenance, made into a [`Config`].
//!
//! Strict: an unknown key, a bare number, a size the cells cannot hold is an error that names file, line, value, limit
//! and what to do. The crate reads no files; the caller hands over texts.

mod check;
mod error;
mod keys;
mod nearest;
mod reader;
mod source;
pub(crate) mod units;
mod visit;

pub use error::{codes, CheckFault, PlacedFault, ProfileError, ProfileFault, ReadFault};
pub use keys::{all as keys, words};
pub use nearest::nearest;

use crate::config::Config;

/// A profile, resolved and checked.
#[derive(Clone, Debug)]
pub struct Profile {
    pub config: Config,
    /// Where values come from, by key; calibrated ones say on what.
    pub provenance: Vec<(String, String)>,
}

/// Make a profile of `text`. `source` is its name in errors; `library` knows the texts of profiles by name, for
/// `base =`; `overrides` are dotted keys and values that win over everything, values without quotes.
pub fn load(
    source: &str,
    text: &str,
    library: &dyn Fn(&str) -> Option<String>,
    overrides: &[(String, String)],
) -> Result<Profile, ProfileError> {
    read(source, text, library, overrides, true)
}

/// As `load`, to be made smaller before it is run: it may be larger than a map can number.
pub fn load_to_scale(
    source: &str,
    text: &str,
    library: &dyn Fn(&str) -> Option<String>,
    overrides: &[(String, String)],
) -> Result<Profile, ProfileError> {
    read(source, text, library, overrides, false)
}

fn read(
    source: &str,
    text: &str,
    library: &dyn Fn(&str) -> Option<String>,
    overrides: &[(String, String)],
    is_run: bool,
) -> Result<Profile, ProfileError> {
    let flat = source::gather(source, text, library, overrides, true)?;
    let names = keys::all();
    let mut faults = Vec::new();
    for (key, value) in &flat.values {
        if !names.contains(&key.as_str()) {
            let near = nearest(key, names.iter().copied());
            faults.push(value.fault(ReadFault::UnknownKey { key: key.clone(), near }));
        }
    }
    for (key, value) in &flat.provenance {
        let table = format!("{key}.");
        let is_known = names.iter().any(|name| name == key || name.starts_with(&table));
        if !is_known && !flat.values.contains_key(key) {
            let near = nearest(key, names.iter().copied());
            faults.push(value.fault(ReadFault::UnknownProvenance { key: key.clone(), near }));
        }
    }
    let reader = reader::Reader { flat: &flat, source, faults: faults.into() };
    let config = keys::read(&reader)?;
    check::check(&config, &reader, is_run)?;
    ProfileError::of(source, reader.faults.take())?;
    let provenance = flat.provenance.into_iter().map(|(key, value)| (key, value.text)).collect();
    Ok(Profile { config, provenance })
}

/// Keys and values as they are written in a profile and those it is based on, with what overrides them, before anything
/// follows from parts.
pub fn values(
    source: &str,
    text: &str,
    library: &dyn Fn(&str) -> Option<String>,
    overrides: &[(String, String)],
) -> Result<Vec<(String, String)>, ProfileError> {
    let flat = source::gather(source, text, library, overrides, false)?;
    Ok(flat.values.into_iter().map(|(key, value)| (key, value.text)).collect())
}

/// All of that as a profile that stands alone: what `load` makes of it is the same, whatever overrides it then.
pub fn flattened(
    source: &str,
    text: &str,
    library: &dyn Fn(&str) -> Option<String>,
    overrides: &[(String, String)],
) -> Result<String, ProfileError> {
    let flat = source::gather(source, text, library, overrides, true)?;
    let string = |text: &str| toml::Value::from(text).to_string();
    let mut text = String::new();
    for (key, value) in flat.values.iter().filter(|(key, _)| !key.ends_with(".part")) {
        let value = if value.quoted { string(&value.text) } else { value.text.clone() };
        text.push_str(&format!("{key} = {value}\n"));
    }
    text.push_str("\n[provenance]\n");
    for (key, note) in &flat.provenance {
        text.push_str(&format!("{} = {}\n", string(key), string(&note.text)));
    }
    Ok(text)
}

impl Profile {
    /// The resolved profile as TOML that stands alone; loading it gives an equal configuration.
    pub fn to_toml(&self) -> String {
        let mut text = keys::write(&self.config);
        if !self.provenance.is_empty() {
            text.push_str("\n[provenance]\n");
            for (key, note) in &self.provenance {
                let (key, note) = (toml::Value::from(key.as_str()), toml::Value::from(note.as_str()));
                text.push_str(&format!("{key} = {note}\n"));
            }
        }
        text
    }
}
