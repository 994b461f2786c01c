//! Reading keys: where each came from, and what is said of one that cannot be used.

use std::cell::RefCell;

use super::error::{Origin, ProfileError};
use super::nearest::nearest;
use super::source::{Flat, Value};
use super::units::Form;
use crate::words::Words;

/// Two words and what they mean.
pub type Switch = [(&'static str, bool); 2];

/// Reads keys, and knows where each came from.
pub struct Reader<'a> {
    pub flat: &'a Flat,
    pub source: &'a str,
    /// What is wrong with keys that were read.
    pub faults: RefCell<Vec<ProfileError>>,
}

impl Reader<'_> {
    /// Note what is wrong with a key, and go on.
    pub fn fault(&self, fault: ProfileError) {
        self.faults.borrow_mut().push(fault);
    }

    pub fn value(&self, key: &str) -> Option<&Value> {
        self.flat.values.get(key)
    }

    pub fn needed(&self, key: &str) -> Result<&Value, ProfileError> {
        self.value(key).ok_or_else(|| {
            let origin = Origin { source: self.source.to_string(), line: None };
            let hint = "add it, or begin with base = \"a complete profile\"";
            ProfileError::new(&origin, format!("{key} is missing"), hint.into())
        })
    }

    /// An error at the place of a key, or of the whole profile where the key was not written.
    pub fn error(&self, key: &str, message: String, hint: String) -> ProfileError {
        let whole = Origin { source: self.source.to_string(), line: None };
        ProfileError::new(self.value(key).map_or(&whole, |v| &v.origin), message, hint)
    }

    fn text<'b>(&self, key: &str, value: &'b Value) -> Result<&'b str, ProfileError> {
        match value.quoted {
            true => Ok(&value.text),
            false => Err(self.error(
                key,
                format!("{key} is {}, a bare number", value.text),
                "give its unit, as text: \"16KiB\", \"185us\", \"1200MT/s\", \"54%\"".into(),
            )),
        }
    }

    pub fn quantity(&self, key: &str, form: Form) -> Result<u64, ProfileError> {
        let value = self.needed(key)?;
        form.read(self.text(key, value)?)
            .map_err(|wrong| self.error(key, format!("{key}: {}", wrong.what), wrong.hint))
    }

    /// Where a word may stand in the place of a table, that it is that word.
    pub fn instead_of_table(&self, key: &str, word: &str, table: &str) -> Result<(), ProfileError> {
        match self.value(key) {
            Some(value) if value.text != word => Err(self.error(
                key,
                format!("{key} is \"{}\"", value.text),
                format!("\"{word}\", or a table with {table}"),
            )),
            _ => Ok(()),
        }
    }

    pub fn count(&self, key: &str, min: u32, max: u32) -> Result<u32, ProfileError> {
        let value = self.needed(key)?;
        let count = value.text.parse::<u32>().ok().filter(|_| !value.quoted);
        count.filter(|n| (min..=max).contains(n)).ok_or_else(|| {
            let hint = format!("a whole number from {min} to {max}, without quotes");
            self.error(key, format!("{key} is {}", value.text), hint)
        })
    }

    /// One of the words of an enum.
    pub fn word<T: Words>(&self, key: &str, default: Option<T>) -> Result<T, ProfileError> {
        let words: Vec<(&str, T)> = T::ALL.iter().map(|value| (value.word(), *value)).collect();
        self.one_of(key, default, &words)
    }

    /// One of two words; the first where the key was not written.
    pub fn switch(&self, key: &str, words: Switch) -> Result<bool, ProfileError> {
        self.one_of(key, Some(words[0].1), &words)
    }

    fn one_of<T: Copy>(&self, key: &str, default: Option<T>, words: &[(&str, T)]) -> Result<T, ProfileError> {
        let text = match (self.value(key), default) {
            (None, Some(default)) => return Ok(default),
            _ => &self.needed(key)?.text,
        };
        let choice = words.iter().find(|(name, _)| *name == text);
        choice.map(|(_, value)| *value).ok_or_else(|| {
            let names: Vec<&str> = words.iter().map(|(name, _)| *name).collect();
            let near = nearest(text, names.iter().copied());
            let meant = near.map_or(String::new(), |near| format!("did you mean \"{near}\"? "));
            let hint = format!("{meant}known: {}", names.join(", "));
            self.error(key, format!("{key} is \"{text}\", which is unknown"), hint)
        })
    }

    /// Whether any key of a table was written.
    pub fn has_table(&self, table: &str) -> bool {
        self.flat.values.keys().any(|key| key.strip_prefix(table).is_some_and(|rest| rest.starts_with('.')))
    }
}
