//! A visit to every key of a profile: to read it into a configuration, to write it out, or to list it or the words it may
//! be. So each key is said once, in `keys.rs`.

use super::error::PlacedFault;
use super::reader::{Reader, Switch};
use super::units::Form;
use crate::units::Nanos;
use crate::words::Words;

pub enum Visit<'a> {
    Read(&'a Reader<'a>),
    Write(&'a mut Toml),
    List(&'a mut Vec<&'static str>),
    Words(&'a mut Vec<(&'static str, Vec<&'static str>)>),
}

/// A profile being written: lines under the tables they belong to.
#[derive(Debug, Default)]
pub struct Toml {
    pub text: String,
    table: String,
}

impl Toml {
    fn line(&mut self, key: &str, value: &str) {
        let (table, name) = key.rsplit_once('.').unwrap_or(("", key));
        if table != self.table {
            self.table = table.to_string();
            self.text.push_str(&format!("\n[{table}]\n"));
        }
        self.text.push_str(&format!("{name} = {value}\n"));
    }
}

/// A number of the smallest unit of a quantity; the largest there is where the value is larger.
pub trait Number: Copy {
    fn from_u64(value: u64) -> Self;
    fn to_u64(self) -> u64;
}

macro_rules! number {
    ($($name:ident),+) => {
        $(impl Number for $name {
            fn from_u64(value: u64) -> $name {
                $name::try_from(value).unwrap_or($name::MAX)
            }
            fn to_u64(self) -> u64 {
                self as u64
            }
        })+
    };
}
number!(u32, u64, i64);

impl Number for Nanos {
    fn from_u64(value: u64) -> Nanos {
        Nanos(value)
    }
    fn to_u64(self) -> u64 {
        self.0
    }
}

impl Visit<'_> {
    /// A key, read and written in its own way; `write` gives TOML, or nothing where the key is left out.
    pub fn key<T>(
        &mut self,
        key: &'static str,
        value: &mut T,
        read: impl FnOnce(&Reader) -> Result<T, PlacedFault>,
        write: impl FnOnce(&T) -> Option<String>,
    ) {
        match self {
            Visit::Read(reader) => match read(reader) {
                Ok(parsed) => *value = parsed,
                // It keeps its default; all faults are told together.
                Err(fault) => reader.fault(fault),
            },
            Visit::Write(toml) => {
                if let Some(text) = write(value) {
                    toml.line(key, &text);
                }
            }
            Visit::List(keys) => keys.push(key),
            Visit::Words(_) => {}
        }
    }

    /// A quantity; needed where it has no default.
    pub fn quantity<T: Number>(&mut self, key: &'static str, value: &mut T, form: Form, default: Option<T>) {
        let read = |reader: &Reader| match (reader.value(key), default) {
            (None, Some(default)) => Ok(default),
            _ => reader.quantity(key, form).map(T::from_u64),
        };
        self.key(key, value, read, |value| Some(quoted(&form.write(value.to_u64()))));
    }

    /// A quantity that may be left out.
    pub fn optional<T: Number>(&mut self, key: &'static str, value: &mut Option<T>, form: Form) {
        let read = |reader: &Reader| match reader.value(key) {
            None => Ok(None),
            Some(_) => reader.quantity(key, form).map(|number| Some(T::from_u64(number))),
        };
        self.key(key, value, read, |value| value.map(|value| quoted(&form.write(value.to_u64()))));
    }

    /// A quantity, or the word for none, which it is where it is left out.
    pub fn optional_or<T: Number>(&mut self, none: &'static str, key: &'static str, value: &mut Option<T>, form: Form) {
        let read = |reader: &Reader| match reader.value(key) {
            Some(value) if value.text != none => reader.quantity(key, form).map(|n| Some(T::from_u64(n))),
            _ => Ok(None),
        };
        let write = |value: &Option<T>| match value {
            Some(value) => quoted(&form.write(value.to_u64())),
            None => quoted(none),
        };
        self.key(key, value, read, |value| Some(write(value)));
    }

    /// A whole number; needed where it has no default.
    pub fn count(&mut self, key: &'static str, value: &mut u32, min: u32, max: u32, default: Option<u32>) {
        let read = |reader: &Reader| match (reader.value(key), default) {
            (None, Some(default)) => Ok(default),
            _ => reader.count(key, min, max),
        };
        self.key(key, value, read, |value| Some(value.to_string()));
    }

    /// One of the words of an enum; needed where it has no default.
    pub fn word<T: Words>(&mut self, key: &'static str, value: &mut T, default: Option<T>) {
        if let Visit::Words(list) = self {
            list.push((key, T::ALL.iter().map(|value| value.word()).collect()));
        }
        self.key(key, value, |reader| reader.word(key, default), |value| Some(quoted(value.word())));
    }

    /// One of two words.
    pub fn switch(&mut self, key: &'static str, value: &mut bool, words: Switch) {
        if let Visit::Words(list) = self {
            list.push((key, words.iter().map(|(word, _)| *word).collect()));
        }
        let name = |value: bool| words.iter().find(|(_, other)| *other == value).expect("either has a name").0;
        self.key(key, value, |reader| reader.switch(key, words), |value| Some(quoted(name(*value))));
    }

    /// A table that may be left out; what is inside it where it is there.
    pub fn table<'b, T: Default>(
        &mut self,
        value: &'b mut Option<T>,
        present: impl FnOnce(&Reader) -> bool,
    ) -> Option<&'b mut T> {
        let there = match self {
            Visit::Read(reader) => present(reader),
            Visit::Write(_) => value.is_some(),
            Visit::List(_) | Visit::Words(_) => true,
        };
        there.then(|| value.get_or_insert_default())
    }
}

pub fn quoted(text: &str) -> String {
    toml::Value::from(text).to_string()
}
