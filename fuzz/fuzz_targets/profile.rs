//! A profile of any bytes is refused in words, or loads and can be written down again. No drive is made of it.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Ok(profile) = pslc_ssd::profile::load("fuzz.toml", text, &|_| None, &[]) {
        profile.to_toml();
    }
});
