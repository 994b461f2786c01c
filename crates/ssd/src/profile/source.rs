//! Profiles as flat lists of keys: parsed, merged along `base =`, overridden, each value with where it comes from.

use std::collections::BTreeMap;

use toml::de::{DeTable, DeValue};

use super::error::{Origin, PlacedFault, ReadFault};
use crate::config::WhenFull;
use crate::words::Words;

/// A value as it was written, and where.
#[derive(Clone, Debug)]
pub struct Value {
    pub text: String,
    /// Written as a TOML string rather than a number.
    pub quoted: bool,
    pub origin: Origin,
}

impl Value {
    /// Where it was written, as provenance.
    fn note(&self) -> Value {
        let text = match self.origin.line {
            Some(line) => format!("set in {}:{line}", self.origin.source),
            None => "given".into(),
        };
        Value { text, quoted: true, origin: self.origin.clone() }
    }

    /// A fault at its place.
    pub fn fault(&self, what: ReadFault) -> PlacedFault {
        self.origin.clone().fault(what)
    }
}

/// Dotted keys and their values; `[provenance]` apart.
#[derive(Clone, Debug, Default)]
pub struct Flat {
    pub values: BTreeMap<String, Value>,
    pub provenance: BTreeMap<String, Value>,
}

impl Flat {
    /// Lay another over this: its values win, and where they came from before is forgotten with them. A part takes the
    /// place of its whole table.
    fn lay(&mut self, over: Flat) {
        self.forget(&over.values);
        let (parts, keys): (Vec<_>, Vec<_>) =
            over.values.into_iter().filter(|(key, _)| key != "base").partition(|(key, _)| key.ends_with(".part"));
        for (key, value) in parts {
            self.drop_table(key.trim_end_matches(".part"));
            self.values.insert(key, value);
        }
        for (key, value) in keys {
            let note = value.note();
            self.set(&key, value);
            self.provenance.insert(key, note);
        }
        self.provenance.extend(over.provenance);
    }

    /// Take from another what this does not have.
    fn fill(&mut self, under: Flat) {
        for (key, value) in self.values.iter().filter(|(key, _)| !key.ends_with(".part")) {
            self.provenance.entry(key.clone()).or_insert_with(|| value.note());
        }
        for (key, value) in under.values {
            self.values.entry(key).or_insert(value);
        }
        for (key, value) in under.provenance {
            self.provenance.entry(key).or_insert(value);
        }
    }

    /// Drop what was only right for values that are about to change.
    fn forget(&mut self, over: &BTreeMap<String, Value>) {
        let text = |flat: &BTreeMap<String, Value>, key: &str| flat.get(key).map(|value| value.text.clone());
        if over
            .keys()
            .any(|key| key == "capacity" || key.starts_with("nand.") && !TIMES.iter().any(|t| key.starts_with(t)))
        {
            self.drop_key("capacity_pure_slc");
        }
        if let (Some(before), Some(after)) = (text(&self.values, "cache.when_full"), text(over, "cache.when_full")) {
            let overflow = |word: String| {
                WhenFull::ALL.iter().find(|policy| policy.word() == word).map(|policy| policy.overflow())
            };
            if overflow(before) != overflow(after) {
                self.drop_key("cache.reuse");
                self.drop_key("cache.dead");
                self.drop_key("cache.worn");
            }
        }
    }

    fn drop_key(&mut self, key: &str) {
        self.values.remove(key);
        self.provenance.remove(key);
    }

    fn drop_table(&mut self, table: &str) {
        let within = format!("{table}.");
        for map in [&mut self.values, &mut self.provenance] {
            let next = |map: &BTreeMap<String, Value>| {
                map.range(within.clone()..).next().map(|(key, _)| key).filter(|key| key.starts_with(&within)).cloned()
            };
            while let Some(key) = next(map) {
                map.remove(&key);
            }
        }
        self.provenance.remove(table);
    }

    /// Set a key; a value takes the place of a table of that name, and the reverse (`idle = "never"`).
    fn set(&mut self, key: &str, value: Value) {
        self.drop_table(key);
        let mut parent = key;
        while let Some((up, _)) = parent.rsplit_once('.') {
            if self.values.contains_key(up) {
                self.drop_key(up);
            }
            parent = up;
        }
        self.values.insert(key.to_string(), value);
    }
}

/// The name under which the caller's library holds what follows from `nand.part` and `controller.part`: it fills in
/// what nobody wrote.
const DERIVED: &str = "parts";

/// Keys of NAND that say nothing of how much it holds.
const TIMES: &[&str] = &["nand.bus", "nand.slc.", "nand.native.", "nand.suspend", "nand.plane_reads", "nand.channels"];

/// Tables that may also name a part: `nand = "bics5-tlc-512g"` is `nand.part`.
const PARTS: &[&str] = &["nand", "controller"];

/// Read a profile and those it is based on, and override keys. What follows from parts comes in where `derived` says so.
pub fn gather(
    source: &str,
    text: &str,
    library: &dyn Fn(&str) -> Option<String>,
    overrides: &[(String, String)],
    derived: bool,
) -> Result<Flat, PlacedFault> {
    let mut chain = vec![parse(source, text)?];
    let mut names = vec![source.to_string()];
    while let Some(base) = chain.last().and_then(|flat| flat.values.get("base")).cloned() {
        let file = base.text.contains('/') || base.text.ends_with(".toml");
        let (key, name) = if file {
            let path = beside(names.last().expect("the first is the source"), &base.text);
            (path.clone(), path)
        } else {
            (base.text.clone(), format!("{}.toml", base.text))
        };
        if names.contains(&name) || names.contains(&base.text) {
            names.push(name);
            return Err(base.fault(ReadFault::BaseCircle { names }));
        }
        let Some(text) = library(&key) else {
            let text = base.text.clone();
            return Err(base.fault(if file {
                ReadFault::BaseUnreadable { path: text }
            } else {
                ReadFault::BaseUnknown { name: text }
            }));
        };
        chain.push(parse(&name, &text)?);
        names.push(name);
    }
    let mut stated = Flat::default();
    for (key, text) in overrides {
        if key == "base" {
            let origin = Origin { source: format!("{key}={text}"), line: None };
            return Err(origin.fault(ReadFault::BaseOverride { name: text.clone() }));
        }
        let key = if PARTS.contains(&key.as_str()) { format!("{key}.part") } else { key.clone() };
        let origin = Origin { source: format!("{key}={text}"), line: None };
        let quoted = text.parse::<f64>().is_err();
        stated.values.insert(key, Value { text: text.clone(), quoted, origin });
    }
    let mut merged = chain.pop().expect("there is the source at least");
    for flat in chain.into_iter().rev() {
        merged.lay(flat);
    }
    merged.lay(stated);
    merged.values.remove("base");
    if derived && PARTS.iter().any(|part| merged.values.contains_key(&format!("{part}.part"))) {
        if let Some(text) = library(DERIVED) {
            let mut follows = parse(DERIVED, &text)?;
            for value in follows.values.values_mut() {
                value.origin = Origin { source: format!("{source}, as its parts make it"), line: None };
            }
            merged.fill(follows);
        }
    }
    Ok(merged)
}

/// A path as seen from the file that names it.
fn beside(source: &str, path: &str) -> String {
    let folder = std::path::Path::new(source).parent().unwrap_or(std::path::Path::new(""));
    folder.join(path).to_string_lossy().into_owned()
}

fn parse(source: &str, text: &str) -> Result<Flat, PlacedFault> {
    let ends: Vec<usize> = text.match_indices('\n').map(|(at, _)| at).collect();
    let line_of = |at: usize| ends.partition_point(|end| *end < at) + 1;
    let table = DeTable::parse(text).map_err(|error| {
        let line = error.span().map_or(1, |span| line_of(span.start));
        let origin = Origin { source: source.to_string(), line: Some(line) };
        origin.fault(ReadFault::Syntax { message: error.message().to_string() })
    })?;
    let mut flat = Flat::default();
    let mut open = vec![(String::new(), table.get_ref())];
    while let Some((prefix, table)) = open.pop() {
        for (key, value) in table {
            let name = match prefix.as_str() {
                "" => key.get_ref().to_string(),
                _ => format!("{prefix}.{}", key.get_ref()),
            };
            let origin = Origin { source: source.to_string(), line: Some(line_of(key.span().start)) };
            let (text, quoted) = match value.get_ref() {
                DeValue::Table(inner) => {
                    open.push((name, inner));
                    continue;
                }
                DeValue::String(text) => (text.to_string(), true),
                DeValue::Integer(number) => (number.to_string(), false),
                DeValue::Float(number) => (number.to_string(), false),
                _ => return Err(origin.fault(ReadFault::NeitherTextNorNumber { key: name })),
            };
            let value = Value { text, quoted, origin };
            let name = if PARTS.contains(&name.as_str()) { format!("{name}.part") } else { name };
            match name.strip_prefix("provenance.") {
                Some(key) => flat.provenance.insert(key.to_string(), value),
                None => flat.values.insert(name, value),
            };
        }
    }
    Ok(flat)
}
