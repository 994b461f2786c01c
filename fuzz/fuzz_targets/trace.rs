//! A trace of any bytes is refused in words, or is requests that end below 2^61 and whose times never go back. The first
//! byte chooses the format: a number of one, or whichever it looks like.
#![no_main]

use std::io::Write;

use libfuzzer_sys::fuzz_target;
use pslc_load::traces::{formats, survey, Cut, IologWriter, Reading, Trace};

fuzz_target!(|data: &[u8]| {
    let Some((&first, bytes)) = data.split_first() else { return };
    let known = formats();
    let format = known.get(first as usize % 32).map(|(name, _)| name.to_string());
    let reading = Reading { format, skip_broken: first & 32 != 0, ..Reading::default() };
    let path = std::env::temp_dir().join(format!("pslc-fuzz-{}", std::process::id()));
    std::fs::File::create(&path).unwrap().write_all(bytes).unwrap();
    let mut log = IologWriter::new(Vec::new(), "/dev/fuzz").unwrap();
    if let Ok(mut trace) = Trace::open(&path, &reading, Cut::default()) {
        let mut latest = Default::default();
        while let Ok(Some(entry)) = trace.next_entry() {
            assert!(entry.at >= latest);
            latest = entry.at;
            assert!(entry.request.offset <= 1 << 60);
            log.write(entry.at, &entry.request).unwrap();
        }
    }
    if let Ok(mut trace) = Trace::open(&path, &reading, Cut::default()) {
        let _ = survey(&mut trace);
    }
});
