//! Sizes, times, shares and lists of any bytes, as values of the options that take them.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pslc_load::job::{parse, Ground};

const OPTIONS: [&str; 12] = [
    "size", "io_size", "offset", "bs", "bssplit", "bsrange", "runtime", "thinktime", "rate", "rate_iops",
    "random_distribution", "percentage_random",
];

fuzz_target!(|text: &str| {
    for option in OPTIONS {
        let given = [(option.to_string(), text.to_string())];
        let _ = parse("fuzz.fio", "[a]\nrw=write\n", &given, Ground::Real, 1 << 40, &|_| None);
    }
});
