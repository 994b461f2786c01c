//! An fio job file of any bytes is refused in words or is jobs that stay within the drive.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pslc_load::job::{parse, Ground};

const CAPACITY: u64 = 1 << 40;

fuzz_target!(|text: &str| {
    for ground in [Ground::Simulated, Ground::Real] {
        if let Ok(jobs) = parse("fuzz.fio", text, &[], ground, CAPACITY, &|_| Some("1".into())) {
            for job in &jobs {
                assert!(job.offset.checked_add(job.size).is_some_and(|end| end <= CAPACITY));
            }
            pslc_load::plan(&jobs);
        }
    }
});
