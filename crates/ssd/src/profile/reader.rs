//! Reading keys: where each came from, and what is said of one that cannot be used.

use std::cell::RefCell;

use super::error::{Origin, PlacedFault, ProfileFault, ReadFault};
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
    pub faults: RefCell<Vec<PlacedFault>>,
}

impl Reader<'_> {
    /// Note what is wrong with a key, and go on.
    pub fn fault(&self, fault: PlacedFault) {
        self.faults.borrow_mut().push(fault);
    }

    pub fn value(&self, key: &str) -> Option<&Value> {
        self.flat.values.get(key)
    }

    pub fn needed(&self, key: &'static str) -> Result<&Value, PlacedFault> {
        self.value(key).ok_or_else(|| self.at(key, ReadFault::Missing { key }))
    }

    /// A fault at the place of a key, or of the whole profile where the key was not written.
    pub fn at(&self, key: &str, what: impl Into<ProfileFault>) -> PlacedFault {
        let whole = || Origin { source: self.source.to_string(), line: None };
        let place = self.value(key).map_or_else(whole, |value| value.origin.clone());
        place.fault(what)
    }

    pub fn quantity(&self, key: &'static str, form: Form) -> Result<u64, PlacedFault> {
        let value = self.needed(key)?;
        let text = || value.text.clone();
        if !value.quoted {
            return Err(self.at(key, ReadFault::BareNumber { key, text: text() }));
        }
        let example = form.example;
        form.read(&value.text).map_err(|wrong| self.at(key, ReadFault::Quantity { key, text: text(), wrong, example }))
    }

    /// Where a word may stand in the place of a table, that it is that word.
    pub fn instead_of_table(
        &self,
        key: &'static str,
        word: &'static str,
        table: &'static str,
    ) -> Result<(), PlacedFault> {
        match self.value(key) {
            Some(value) if value.text != word => {
                Err(self.at(key, ReadFault::NotTheWord { key, text: value.text.clone(), word, table }))
            }
            _ => Ok(()),
        }
    }

    pub fn count(&self, key: &'static str, min: u32, max: u32) -> Result<u32, PlacedFault> {
        let value = self.needed(key)?;
        let count = value.text.parse::<u32>().ok().filter(|_| !value.quoted);
        count
            .filter(|n| (min..=max).contains(n))
            .ok_or_else(|| self.at(key, ReadFault::Count { key, text: value.text.clone(), min, max }))
    }

    /// One of the words of an enum.
    pub fn word<T: Words>(&self, key: &'static str, default: Option<T>) -> Result<T, PlacedFault> {
        let words: Vec<(&str, T)> = T::ALL.iter().map(|value| (value.word(), *value)).collect();
        self.one_of(key, default, &words)
    }

    /// One of two words; the first where the key was not written.
    pub fn switch(&self, key: &'static str, words: Switch) -> Result<bool, PlacedFault> {
        self.one_of(key, Some(words[0].1), &words)
    }

    fn one_of<T: Copy>(
        &self,
        key: &'static str,
        default: Option<T>,
        words: &[(&'static str, T)],
    ) -> Result<T, PlacedFault> {
        let text = match (self.value(key), default) {
            (None, Some(default)) => return Ok(default),
            _ => &self.needed(key)?.text,
        };
        let choice = words.iter().find(|(name, _)| *name == text);
        choice.map(|(_, value)| *value).ok_or_else(|| {
            let choices: Vec<&str> = words.iter().map(|(name, _)| *name).collect();
            let near = nearest(text, choices.iter().copied());
            self.at(key, ReadFault::UnknownWord { key, text: text.clone(), near, choices })
        })
    }

    /// Whether any key of a table was written.
    pub fn has_table(&self, table: &str) -> bool {
        self.flat.values.keys().any(|key| key.strip_prefix(table).is_some_and(|rest| rest.starts_with('.')))
    }
}
