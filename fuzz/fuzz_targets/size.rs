//! Sizes, times, shares and lists of any bytes, as the value of an option that takes them, which the first byte chooses.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pslc_load::job::{parse, Ground};

const OPTIONS: [&str; 12] = [
    "size", "io_size", "offset", "bs", "bssplit", "bsrange", "runtime", "thinktime", "rate", "rate_iops",
    "random_distribution", "percentage_random",
];

fuzz_target!(|text: &str| {
    let Some(first) = text.chars().next() else { return };
    let option = OPTIONS[first as usize % OPTIONS.len()];
    let given = [(option.to_string(), text[first.len_utf8()..].to_string())];
    let _ = parse("fuzz.fio", "[a]\nrw=write\n", &given, Ground::Real, 1 << 40, &|_| None);
});
