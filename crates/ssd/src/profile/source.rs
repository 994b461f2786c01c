//! Profiles as flat lists of keys: parsed, merged along `base =`, overridden, each value with where it comes from.

use std::collections::BTreeMap;

use toml::de::{DeTable, DeValue};

use super::ProfileError;

/// A value as it was written, and where.
#[derive(Clone, Debug)]
pub struct Value {
    pub text: String,
    /// Written as a TOML string rather than a number.
    pub quoted: bool,
    pub origin: Origin,
}

/// A file and a line, or what was said on the command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    pub source: String,
    pub line: Option<usize>,
}

impl std::fmt::Display for Origin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.line {
            Some(line) => write!(f, "{}:{line}", self.source),
            None => write!(f, "{}", self.source),
        }
    }
}

/// Dotted keys and their values; `[provenance]` apart.
#[derive(Clone, Debug, Default)]
pub struct Flat {
    pub values: BTreeMap<String, Value>,
    pub provenance: BTreeMap<String, Value>,
}

impl Flat {
    /// Set a key; a value takes the place of a table of that name, and the reverse (`idle = "never"`).
    fn set(&mut self, key: &str, value: Value) {
        let within = format!("{key}.");
        self.values.retain(|known, _| !known.starts_with(&within));
        let mut parent = key;
        while let Some((up, _)) = parent.rsplit_once('.') {
            self.values.remove(up);
            parent = up;
        }
        self.values.insert(key.to_string(), value);
    }
}

/// Read a profile and those it is based on, and override keys.
pub fn gather(
    source: &str,
    text: &str,
    library: &dyn Fn(&str) -> Option<String>,
    overrides: &[(String, String)],
) -> Result<Flat, ProfileError> {
    let mut chain = vec![parse(source, text)?];
    let mut names = vec![source.to_string()];
    while let Some(base) = chain.last().and_then(|flat| flat.values.get("base")).cloned() {
        let name = format!("{}.toml", base.text);
        if names.contains(&name) || names.contains(&base.text) {
            let path = format!("{} -> {}", names.join(" -> "), name);
            return Err(ProfileError::new(
                &base.origin,
                format!("base goes round in a circle: {path}"),
                "base one of them on nothing".into(),
            ));
        }
        let Some(text) = library(&base.text) else {
            return Err(ProfileError::new(
                &base.origin,
                format!("base is \"{}\", which is no known profile", base.text),
                "`pslc drives` lists the profiles".into(),
            ));
        };
        chain.push(parse(&name, &text)?);
        names.push(name);
    }
    let mut merged = Flat::default();
    for flat in chain.into_iter().rev() {
        for (key, value) in flat.values {
            if key != "base" {
                merged.set(&key, value);
            }
        }
        merged.provenance.extend(flat.provenance);
    }
    for (key, text) in overrides {
        let origin = Origin { source: format!("{key}={text}"), line: None };
        let quoted = text.parse::<f64>().is_err();
        merged.set(key, Value { text: text.clone(), quoted, origin });
    }
    Ok(merged)
}

fn parse(source: &str, text: &str) -> Result<Flat, ProfileError> {
    let line_of = |at: usize| text[..at.min(text.len())].matches('\n').count() + 1;
    let table = DeTable::parse(text).map_err(|error| {
        let line = error.span().map_or(1, |span| line_of(span.start));
        let origin = Origin { source: source.to_string(), line: Some(line) };
        ProfileError::new(
            &origin,
            error.message().to_string(),
            "profiles are TOML; text goes in quotes: capacity = \"2000GB\"".into(),
        )
    })?;
    let mut flat = Flat::default();
    let mut open = vec![(String::new(), table.get_ref())];
    while let Some((prefix, table)) = open.pop() {
        for (key, value) in table.iter() {
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
                _ => {
                    return Err(ProfileError::new(
                        &origin,
                        format!("{name} is neither text nor a number"),
                        "see `pslc drives show NAME` for a whole profile".into(),
                    ))
                }
            };
            let value = Value { text, quoted, origin };
            match name.strip_prefix("provenance.") {
                Some(key) => flat.provenance.insert(key.to_string(), value),
                None => flat.values.insert(name, value),
            };
        }
    }
    Ok(flat)
}
