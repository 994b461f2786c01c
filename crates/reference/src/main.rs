//! `cargo run --release -p pslc-reference -- 100 > set.jsonl` writes 100 cases of each level;
//! `... -- set.jsonl answers.jsonl` compares what a simulator answered: lines of {"case": 0, "done_ns": [...]}.

use std::error::Error;

use pslc_reference::conformance::{cases, compare};
use serde::de::DeserializeOwned;

fn lines<T: DeserializeOwned>(path: &str) -> Result<Vec<T>, Box<dyn Error>> {
    let text = std::fs::read_to_string(path).map_err(|error| format!("{path}: {error}"))?;
    let line = |(at, line)| serde_json::from_str(line).map_err(|error| format!("{path}:{}: {error}", at + 1).into());
    text.lines().enumerate().map(line).collect()
}

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match words.as_slice() {
        [each] => {
            for case in cases(each.parse().map_err(|_| format!("{each:?} is not a number of cases"))?) {
                println!("{}", serde_json::to_string(&case)?);
            }
        }
        [set, answers] => print!("{}", compare(&lines(set)?, &lines(answers)?)),
        _ => return Err("give a number of cases, or a set and the answers to it".into()),
    }
    Ok(())
}
