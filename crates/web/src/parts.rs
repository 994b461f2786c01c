//! Profiles made of parts: one of a form, and what a profile that names its parts does not say.

use std::collections::HashMap;

use pslc_ssd::parts::{to_toml, Parts, Raw};
use pslc_ssd::profile;
use serde::de::DeserializeOwned;
use serde::Serialize;

use crate::{Failure, Question};

/// TOML, each value with where it comes from.
#[derive(Clone, Debug, Serialize)]
pub struct MadeProfile {
    pub profile: String,
}

pub fn profile(parts: &Parts) -> Result<MadeProfile, Failure> {
    let rows = parts.profile().map_err(|error| Failure::new(&error, error.hint()))?;
    Ok(MadeProfile { profile: to_toml(&rows) })
}

/// All that a question's profile stands on, by name, with what follows from its die and controller as `parts`: as
/// `pslc run` has it (`pslc.device.profiles.foundation`).
pub fn foundation(question: &Question) -> Result<HashMap<String, String>, Failure> {
    let mut texts = question.library.clone();
    let library = |name: &str| texts.get(name).cloned();
    let mut given = profile::values(&question.name, &question.profile, &library, &question.overrides)
        .map_err(|error| Failure::new(&error, error.hint()))?;
    let mut take = |part: &str| {
        let at = given.iter().position(|(key, _)| key == part)?;
        Some(given.remove(at).1)
    };
    let (nand, controller) = (take("nand.part"), take("controller.part"));
    if nand.is_none() && controller.is_none() {
        return Ok(texts);
    }
    let parts = Parts {
        nand: part(question, "nand", nand)?,
        controller: part(question, "controller", controller)?,
        given: given.into_iter().map(|(key, value)| (key, Raw::Text(value))).collect(),
    };
    let rows = parts.derive().map_err(|error| Failure::new(&error, error.hint()))?;
    texts.insert("parts".into(), to_toml(&rows));
    Ok(texts)
}

fn part<T: DeserializeOwned>(question: &Question, kind: &str, name: Option<String>) -> Result<T, Failure> {
    let text = named(question, kind, name)?;
    // As bytes, which the module can read anyway.
    serde_json::from_slice(text.as_bytes())
        .map_err(|error| Failure { message: error.to_string(), hint: "this is a bug in the page".into() })
}

/// A part by name, or by the beginning of it where only one begins so.
fn named<'a>(question: &'a Question, kind: &str, name: Option<String>) -> Result<&'a str, Failure> {
    let hint = "the page lists all parts under \"A drive of parts\"".to_string();
    let Some(name) = name else {
        return Err(Failure { message: format!("the profile names no {kind}"), hint });
    };
    let key = format!("{kind}/{name}");
    let mut begin = question.parts.iter().filter(|(each, _)| each.starts_with(&key));
    let only = begin.next().filter(|_| begin.next().is_none()).map(|(_, part)| part);
    let text = question.parts.get(&key).or(only);
    text.map(String::as_str).ok_or_else(|| Failure { message: format!("unknown {kind} {name}"), hint })
}
