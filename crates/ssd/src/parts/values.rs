//! The derivation under way: what is given, and what has come out so far.

use std::collections::BTreeMap;

use super::quantity::{quantity, written};
use super::{Controller, Derived, Nand, Parts, PartsError, Raw};
use crate::profile::units::Form;

/// Tables in the order of profiles; others are behind them.
const ORDER: [&str; 9] =
    ["", "nand", "nand.slc", "nand.native", "nand.suspend", "controller", "ftl", "cache", "cache.idle"];

pub struct Values<'a> {
    pub die: &'a Nand,
    pub controller: &'a Controller,
    given: &'a [(String, Raw)],
    pub rows: Vec<Derived>,
}

impl<'a> Values<'a> {
    pub fn new(parts: &'a Parts) -> Values<'a> {
        Values { die: &parts.nand, controller: &parts.controller, given: &parts.given, rows: Vec::new() }
    }

    pub fn given(&self, key: &str) -> Option<&'a Raw> {
        self.given.iter().find(|(other, _)| other == key).map(|(_, value)| value)
    }

    pub fn is_given(&self, key: &str) -> bool {
        self.given(key).is_some()
    }

    /// Whether a table is given, or a key of it.
    pub fn gives_table(&self, table: &str) -> bool {
        let below = |key: &str| key.strip_prefix(table).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
        self.given.iter().any(|(key, _)| below(key))
    }

    /// The value of a key that holds now: given, or derived so far.
    pub fn current(&self, key: &str) -> Option<&Raw> {
        self.given(key).or_else(|| self.rows.iter().find(|row| row.key == key).map(|row| &row.value))
    }

    /// A value, unless another is given; returned is the one that holds.
    pub fn set(&mut self, key: &str, value: Raw, how: String) -> Raw {
        if let Some(stated) = self.given(key) {
            return stated.clone();
        }
        self.rows.push(Derived { key: key.into(), value: value.clone(), how });
        value
    }

    /// The same for a whole number.
    pub fn count(&mut self, key: &str, value: u64, how: String) -> Result<u64, PartsError> {
        let value = self.set(key, Raw::Whole(value as i64), how);
        value.whole().ok_or_else(|| PartsError::NoCount { key: key.to_string(), text: value.text() })
    }

    /// The same for a number with a unit.
    pub fn amount(&mut self, key: &str, value: u64, of: Form, how: String) -> Result<u64, PartsError> {
        quantity(&self.set(key, Raw::Text(written(value, of.units)), how).text(), of.units, key)
    }
}

/// As profiles are read: by table.
pub fn in_order(mut rows: Vec<Derived>) -> Vec<Derived> {
    let place = |row: &Derived| {
        let table = row.key.rsplit_once('.').map_or("", |(table, _)| table);
        ORDER.iter().position(|other| *other == table).unwrap_or(ORDER.len())
    };
    rows.sort_by_key(place);
    rows
}

/// The source of a key, or of the closest table around it.
pub fn source<'a>(sources: &'a BTreeMap<String, String>, key: &str) -> &'a str {
    let mut name = key;
    loop {
        if let Some(source) = sources.get(name) {
            return source;
        }
        match name.rsplit_once('.') {
            Some((table, _)) => name = table,
            None => return "assumed",
        }
    }
}
