//! A set of cases for other simulators: a drive, requests, and when each of them completes.
//!
//! Each level draws more of a drive than the one before; what it does not draw is plainest. A case is a line of JSON.

use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;
use pslc_ssd::config::CacheMode;
use pslc_ssd::{Op, Words};
use serde::{Deserialize, Serialize};

use crate::drawn::steps::{numbers, requests, steps};
use crate::drawn::{self, DRAWN};
use crate::slow::ReferenceMachine;

/// The levels, and the keys of a profile that each draws, by how they begin.
pub const LEVELS: [(&str, &[&str]); 3] = [
    ("cells", &["nand.", "link"]),
    ("cache", &["nand.", "link", "cache.", "ftl.", "controller."]),
    ("drive", &["nand.", "link", "cache.", "ftl.", "controller.", "usb.", "power.", "heat."]),
];

/// A request: when the host asks, for what, where, and whether past the host's page cache.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Asked {
    pub at_ns: u64,
    pub op: String,
    pub offset: u64,
    pub bytes: u32,
    pub fua: bool,
    pub direct: bool,
}

/// A drive, in the words of docs/model.md, what is asked of it, and when each request completes, in nanoseconds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Case {
    pub case: usize,
    pub level: String,
    pub profile: String,
    pub requests: Vec<Asked>,
    pub done_ns: Vec<u64>,
}

/// So many cases of each level, always the same.
pub fn cases(each: usize) -> Vec<Case> {
    let mut runner = TestRunner::deterministic();
    let mut cases = Vec::new();
    for (level, keys) in LEVELS {
        let wanted = cases.len() + each;
        while cases.len() < wanted {
            let mut numbers = numbers().new_tree(&mut runner).expect("numbers").current();
            let steps = steps().new_tree(&mut runner).expect("steps").current();
            for (number, (key, _)) in numbers.iter_mut().zip(DRAWN) {
                if !keys.iter().any(|begin| key.starts_with(begin)) {
                    *number = 0;
                }
                if level == "cells" && *key == "cache.mode" {
                    *number = drawn::number_of("cache.mode", CacheMode::PureXlc.word());
                }
            }
            let Ok(config) = drawn::config(&numbers) else { continue };
            let mut machine = ReferenceMachine::new(&config);
            let (mut asked, mut done_ns) = (Vec::new(), Vec::new());
            for event in requests(&steps, config.capacity_bytes) {
                let Some(request) = event.request else { continue };
                done_ns.push(machine.submit(event.now, &request, event.direct).0);
                asked.push(Asked {
                    at_ns: event.now.0,
                    op: word(request.op).into(),
                    offset: request.offset,
                    bytes: request.len,
                    fua: request.fua,
                    direct: event.direct,
                });
            }
            let profile = drawn::text(&numbers);
            cases.push(Case { case: cases.len(), level: level.into(), profile, requests: asked, done_ns });
        }
    }
    cases
}

fn word(op: Op) -> &'static str {
    match op {
        Op::Read => "read",
        Op::Write => "write",
        Op::Trim => "trim",
        Op::Flush => "flush",
    }
}

/// What a simulator answered to a case: when each request completes.
#[derive(Clone, Debug, Deserialize)]
pub struct Answer {
    pub case: usize,
    pub done_ns: Vec<u64>,
}

/// A line on each level: how many requests complete on time, how far off the others are, and the first of them.
pub fn compare(cases: &[Case], answers: &[Answer]) -> String {
    let line = |(level, _): (&str, &[&str])| {
        let (mut right, mut all, mut off, mut first) = (0, 0, Vec::new(), None);
        for case in cases.iter().filter(|case| case.level == level) {
            let answer = answers.iter().find(|answer| answer.case == case.case);
            for (at, (asked, done)) in case.requests.iter().zip(&case.done_ns).enumerate() {
                all += 1;
                match answer.and_then(|answer| answer.done_ns.get(at)) {
                    Some(answered) if answered == done => right += 1,
                    answered => {
                        first = first.or(Some((case.case, at)));
                        let took = (done - asked.at_ns).max(1) as f64;
                        off.extend(answered.map(|answered| answered.abs_diff(*done) as f64 / took));
                    }
                }
            }
        }
        off.sort_by(f64::total_cmp);
        let median = off
            .get(off.len() / 2)
            .map_or(String::new(), |off| format!(", the others {:.1} % off in the median", 100.0 * off));
        let first = first.map_or(String::new(), |(case, at)| format!("; first: request {at} of case {case}"));
        format!("{level}: {right} of {all} requests on time{median}{first}\n")
    };
    LEVELS.into_iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use pslc_ssd::{profile, Machine, Nanos, Request};

    use super::*;

    fn op(word: &str) -> Op {
        [Op::Read, Op::Write, Op::Trim, Op::Flush].into_iter().find(|op| super::word(*op) == word).unwrap()
    }

    /// What a simulator that reads the lines of the set answers; this one is the fast drive.
    fn answer(case: &Case) -> Answer {
        let drive = profile::load("case", &case.profile, &|_| None, &[]).unwrap();
        let mut machine = Machine::new(&drive.config);
        let done_ns = case.requests.iter().map(|asked| {
            let request = Request { op: op(&asked.op), offset: asked.offset, len: asked.bytes, fua: asked.fua };
            machine.submit(Nanos(asked.at_ns), &request, asked.direct).0
        });
        Answer { case: case.case, done_ns: done_ns.collect() }
    }

    #[test]
    fn the_drive_that_pslc_ships_answers_each_request_of_the_set_on_time() {
        let lines: Vec<String> = cases(8).iter().map(|case| serde_json::to_string(case).unwrap()).collect();
        let read: Vec<Case> = lines.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
        let answers: Vec<Answer> = read.iter().map(answer).collect();
        let answered = compare(&read, &answers);
        for level in answered.lines() {
            let (right, all) = level.split_once(": ").unwrap().1.split_once(" of ").unwrap();
            assert_eq!(right, all.split_once(' ').unwrap().0, "{answered}");
            assert!(right.parse::<usize>().unwrap() > 100, "{answered}");
        }
    }

    #[test]
    fn a_request_that_is_late_is_counted_and_the_first_of_them_is_named() {
        let set = cases(1);
        let mut answers: Vec<Answer> = set.iter().map(answer).collect();
        let (asked, done) = (&set[1].requests[2], set[1].done_ns[2]);
        answers[1].done_ns[2] = done + 2 * (done - asked.at_ns).max(1);
        answers.remove(2);
        let answered = compare(&set, &answers);
        let lines: Vec<&str> = answered.lines().collect();
        let all = set[1].requests.len();
        assert!(!lines[0].contains("first"), "{answered}");
        let expected = format!(
            "cache: {} of {all} requests on time, the others 200.0 % off in the median; first: request 2 of case 1",
            all - 1
        );
        assert_eq!(lines[1], expected);
        assert_eq!(
            lines[2],
            format!("drive: 0 of {} requests on time; first: request 0 of case 2", set[2].requests.len())
        );
    }
}
