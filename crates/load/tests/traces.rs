//! Traces: lines of every format, broken files, packed files, and the laws of a replay.

mod common;

use std::io::Write;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use pslc_load::job::{self, Ground};
use pslc_load::replay::{reads_first, replay, Fit, Footing, Pace, Remap, Replay};
use pslc_load::traces::{survey, Cut, Entry, IologWriter, Reading, Trace, TraceError};
use pslc_load::{SimTarget, Target};
use pslc_ssd::{Nanos, Op, Request};

/// An error and its hint.
fn shown(error: TraceError) -> String {
    format!("{error}\n\nhint: {}", error.hint())
}

/// A file that goes when it is no longer needed.
struct Temporary(PathBuf);

impl Temporary {
    fn new(bytes: &[u8]) -> Temporary {
        use std::sync::atomic::{AtomicU32, Ordering};
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let name = format!("pslc-trace-{}-{}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
        let path = std::env::temp_dir().join(name);
        std::fs::write(&path, bytes).unwrap();
        Temporary(path)
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

fn all(trace: &mut Trace) -> Result<Vec<Entry>, TraceError> {
    let mut found = Vec::new();
    while let Some(entry) = trace.next_entry()? {
        found.push(entry);
    }
    Ok(found)
}

/// A trace of these bytes, read in the usual way.
fn open(bytes: impl AsRef<[u8]>) -> Result<Trace, TraceError> {
    Trace::open(&Temporary::new(bytes.as_ref()).0, &Reading::default(), Cut::default())
}

fn read(bytes: impl AsRef<[u8]>, reading: &Reading) -> Result<(Trace, Vec<Entry>), TraceError> {
    read_file(&Temporary::new(bytes.as_ref()).0, reading)
}

fn read_file(path: &Path, reading: &Reading) -> Result<(Trace, Vec<Entry>), TraceError> {
    let mut trace = Trace::open(path, reading, Cut::default())?;
    let entries = all(&mut trace)?;
    Ok((trace, entries))
}

fn rows(entries: &[Entry]) -> Vec<Row> {
    let row = |entry: &Entry| (entry.at.0, entry.request.op, entry.request.offset, entry.request.len);
    entries.iter().map(row).collect()
}

fn columns(named: &[(&str, &str)]) -> Vec<(String, String)> {
    named.iter().map(|(what, name)| (what.to_string(), name.to_string())).collect()
}

/// Time in ns, kind, offset and length.
type Row = (u64, Op, u64, u32);

/// Lines of a format, and the requests that they are; see examples.txt.
struct Example {
    format: &'static str,
    text: String,
    requests: Vec<Row>,
}

fn examples() -> Vec<Example> {
    let number = |text: &str| text.split('*').map(|factor| factor.parse::<u64>().unwrap()).product::<u64>();
    let request = |text: &str| {
        let [at, op, offset, len] = text.split(' ').collect::<Vec<_>>()[..] else { panic!("{text}") };
        let op = [Op::Read, Op::Write, Op::Trim, Op::Flush].into_iter().find(|kind| format!("{kind:?}") == op);
        (number(at), op.unwrap(), number(offset), number(len) as u32)
    };
    let blocks = include_str!("examples.txt").split("\n== ").skip(1);
    let example = |block: &'static str| {
        let (head, body) = block.split_once('\n').unwrap();
        let (meant, text): (Vec<&str>, Vec<&str>) = body.lines().partition(|line| line.starts_with("-> "));
        let requests = meant.iter().map(|line| request(&line[3..])).collect();
        Example { format: head.split(':').next().unwrap(), text: text.join("\n") + "\n", requests }
    };
    blocks.map(example).collect()
}

#[test]
fn the_lines_of_each_format_are_found_out_and_mean_what_its_description_says() {
    let examples = examples();
    for Example { format, text, requests } in &examples {
        let (trace, entries) = read(text, &Reading::default()).unwrap();
        assert_eq!(trace.format(), *format, "{text}");
        assert_eq!(rows(&entries), *requests, "{format}: {text}");
    }
    for (name, _) in pslc_load::traces::formats() {
        let covered = name == "blktrace" || examples.iter().any(|example| example.format == name);
        assert!(covered, "{name} has no example");
    }
}

/// Put it into fuzz/corpus/trace: the first byte chooses the format, as in fuzz/fuzz_targets/trace.rs.
#[test]
fn the_corpus_of_the_fuzzer_is_read_or_refused() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/trace");
    let mut formats_met = std::collections::BTreeSet::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let bytes = std::fs::read(entry.unwrap().path()).unwrap();
        let formats = pslc_load::traces::formats();
        let format = formats.get(bytes[0] as usize % 32).map(|(name, _)| name.to_string());
        let reading = Reading { format, skip_broken: bytes[0] & 32 != 0, ..Reading::default() };
        let file = Temporary::new(&bytes[1..]);
        if let Ok(mut trace) = Trace::open(&file.0, &reading, Cut::default()) {
            let mut latest = Nanos::ZERO;
            while let Ok(Some(entry)) = trace.next_entry() {
                assert!(entry.at >= latest && entry.request.offset <= 1 << 60);
                latest = entry.at;
                formats_met.insert(trace.format());
            }
            let _ = survey(&mut Trace::open(&file.0, &reading, Cut::default()).unwrap());
        }
    }
    assert_eq!(formats_met.len(), pslc_load::traces::formats().len(), "{formats_met:?}");
}

#[test]
fn a_broken_line_is_an_error_with_its_number_or_is_counted() {
    for Example { format: name, text, requests } in
        examples().into_iter().filter(|example| !["blkparse", "ftrace"].contains(&example.format))
    {
        let good: Vec<&str> = text.lines().collect();
        let repeated = format!("{}\n", good[1..].join("\n")).repeat(6);
        let text = format!("{}\n{repeated}what is this, then\n{}\n", good[0], good[good.len() - 1]);
        let number = text.lines().position(|line| line.starts_with("what")).unwrap() + 1;
        let error = shown(read(&text, &Reading::default()).err().expect(name));
        assert!(error.contains(&format!(":{number}: \"what is this, then\"")), "{name}: {error}");
        assert!(error.contains("expected") && error.contains("--skip-bad"), "{error}");
        let (trace, entries) = read(&text, &Reading { skip_broken: true, ..Reading::default() }).unwrap();
        assert_eq!(trace.skipped(), 1, "{name}");
        assert_eq!(entries[0].request.op, requests[0].1);
    }
}

#[test]
fn a_file_of_no_format_is_an_error_that_says_so() {
    for text in ["", "hello\nworld\n", "\u{0}\u{1}\u{2}", "[job]\nrw=write\n"] {
        let error = shown(read(text, &Reading::default()).err().expect("it is none"));
        assert!(error.contains("begins no known trace"), "{error}");
    }
}

#[test]
fn columns_without_names_are_called_by_numbers_and_may_all_be_of_one_kind() {
    let text = "8,4096,0.000000\n16,512,0.001000\n";
    let columns = columns(&[("time", "3:s"), ("op", "write"), ("offset", "1:sectors"), ("size", "2")]);
    let (_, entries) = read(text, &Reading { columns, ..Reading::default() }).unwrap();
    assert_eq!(rows(&entries), [(0, Op::Write, 4096, 4096), (1_000_000, Op::Write, 8192, 512)]);
}

#[test]
fn a_table_takes_names_and_units_of_its_columns() {
    let text = "when;what;where;how much\n1;R;8;2\n3;W;16;4\n";
    let named = [("time", "when:ms"), ("op", "what"), ("offset", "where:sectors"), ("size", "how much:kib")];
    let (_, entries) = read(text, &Reading { columns: columns(&named), ..Reading::default() }).unwrap();
    assert_eq!(entries[1].at, Nanos(2_000_000));
    assert_eq!(entries[1].request, Request::write(8192, 4096));
    let wrong = columns(&[("time", "never")]);
    let reading = Reading { columns: wrong, format: Some("table".into()), ..Reading::default() };
    let error = shown(read(text, &reading).err().unwrap());
    assert!(error.contains("there is no column never, but when, what, where, how much"), "{error}");
}

#[test]
fn a_table_may_have_commands_of_scsi_and_names_what_it_lacks() {
    let text = "host,ts,op,size,lbn\n7,1000,2a,4096,8\n7,1001,0x28,512,16\n7,1002,42,4096,8\n7,1002,35,0,0\n";
    let (_, entries) = read(text, &Reading::default()).unwrap();
    assert_eq!(
        entries.iter().map(|entry| entry.request.op).collect::<Vec<_>>(),
        [Op::Write, Op::Read, Op::Trim, Op::Flush]
    );
    assert_eq!((entries[1].at, entries[1].request), (Nanos(1_000_000_000), Request::read(16 * 512, 512)));
    let error = shown(read("ts,size,lbn\n1,4096,8\n", &Reading::default()).err().unwrap());
    assert!(error.contains("no column is the op: there are ts, size, lbn"), "{error}");
}

/// A trace of `count` requests in MSR's format.
fn msr(count: u64) -> String {
    let mut text = String::new();
    for i in 0..count {
        let kind = if i % 3 == 0 { "Read" } else { "Write" };
        let disk = i % 5 / 4;
        text += &format!(
            "{},usr,{disk},{kind},{},{},100\n",
            128166372003061629 + 1000 * i,
            (i * 7919 % 4096) * 4096,
            4096 + 512 * (i % 8)
        );
    }
    text
}

#[test]
fn a_packed_trace_is_the_trace() {
    let text = msr(5000);
    let (_, expected) = read(&text, &Reading::default()).unwrap();
    assert_eq!(expected.len(), 5000);
    for (program, arguments) in [("gzip", vec!["-k"]), ("xz", vec!["-k"]), ("zstd", vec!["-q", "-k"])] {
        let mut packed = Vec::new();
        // Two members or frames, one after the other, as the programs themselves allow.
        let (one, two) = text.split_at(text.len() / 2);
        for part in [one, two] {
            let file = Temporary::new(part.as_bytes());
            let done = std::process::Command::new(program).args(&arguments).arg("-c").arg(&file.0).output();
            let Ok(done) = done else { continue };
            packed.extend(done.stdout);
        }
        if packed.is_empty() {
            continue;
        }
        let (_, entries) = read(&packed, &Reading::default()).unwrap();
        assert_eq!(entries, expected, "{program}");
        let cut = read(&packed[..packed.len() - 9], &Reading::default());
        assert!(cut.is_err(), "{program}: what is cut off is no whole trace");
    }
}

#[test]
fn a_part_of_a_trace_is_one_device_and_a_stretch_of_time() {
    let file = Temporary::new(msr(1000).as_bytes());
    let (_, whole) = read_file(&file.0, &Reading::default()).unwrap();
    let cut =
        Cut { device: Some("usr.1".into()), from: Nanos(20_000_000), to: Some(Nanos(60_000_000)), ..Cut::default() };
    let mut trace = Trace::open(&file.0, &Reading::default(), cut).unwrap();
    let part = all(&mut trace).unwrap();
    let expected: Vec<Request> = whole
        .iter()
        .filter(|entry| entry.device == 1 && (20_000_000..60_000_000).contains(&entry.at.0))
        .map(|entry| entry.request)
        .collect();
    assert_eq!(part.iter().map(|entry| entry.request).collect::<Vec<_>>(), expected);
    assert!(part[0].at < Nanos(1_000_000), "times begin at the cut");
    let cut = Cut { device: Some("usr.7".into()), ..Cut::default() };
    let error = shown(all(&mut Trace::open(&file.0, &Reading::default(), cut).unwrap()).err().unwrap());
    assert!(error.contains("there is no device usr.7") && error.contains("usr.0, usr.1"), "{error}");
}

#[test]
fn over_time_a_survey_has_every_byte_in_a_few_bins() {
    // From a few milliseconds to an hour: bins grow with the trace.
    for step in [1_u64, 700, 36_000] {
        let rows = (0..100_000_u64).map(|i| (i * step, i % 3 == 0, (i % 7 + 1) * 512));
        let lines = rows
            .clone()
            .map(|(us, read, size)| format!("0,{},{},{size},{us}\n", if read { "R" } else { "W" }, us % 1000 * 4096));
        let found = survey(&mut open(lines.collect::<String>()).unwrap()).unwrap().over_time;
        let mut expected = vec![[0, 0]; found.bytes.len()];
        for (us, read, size) in rows {
            expected[(1000 * us / found.width.0) as usize][!read as usize] += size;
        }
        assert_eq!(found.bytes, expected, "{step}");
        assert!((100..=256).contains(&found.bytes.len()), "{step}: {}", found.bytes.len());
    }
}

#[test]
fn an_iolog_that_is_written_is_read_back_as_it_was() {
    let (_, entries) = read(msr(500), &Reading::default()).unwrap();
    let mut bytes = Vec::new();
    let mut writer = IologWriter::new(&mut bytes, "/a file").unwrap();
    entries.iter().for_each(|entry| writer.write(entry.at, &entry.request).unwrap());
    writer.finish().unwrap();
    let (trace, again) = read(&bytes, &Reading::default()).unwrap();
    assert_eq!(trace.devices(), ["/a file"]);
    let rows = |entries: &[Entry]| entries.iter().map(|e| (e.at.0 / 1000, e.request)).collect::<Vec<_>>();
    assert_eq!(rows(&again), rows(&entries));
}

#[test]
fn a_survey_counts_what_a_plain_count_would() {
    let text = "0,W,0,8192,0\n0,W,8192,8192,100000\n0,R,0,4096,200000\n0,R,1048576,4096,300000\n\
                0,W,0,4096,5300000\n0,W,4096,4096,5400000\n";
    let found = survey(&mut open(text).unwrap()).unwrap();
    let volume = &found.volumes[0];
    assert_eq!((volume.count, volume.bytes), ([2, 4, 0, 0], [8192, 24576, 0, 0]));
    assert_eq!(volume.sequential, [0, 2, 0, 0]);
    assert_eq!((found.touched_bytes, found.written_bytes), (20480, 16384));
    assert_eq!((found.unwritten_bytes, found.rewritten_bytes), (4096, 8192));
    let second = found.bursts.iter().find(|burst| burst.pause == Nanos::from_secs(1)).unwrap();
    assert_eq!((second.pauses, second.most_bytes, second.most_at), (1, 16384, Nanos::ZERO));
    assert_eq!(found.longest_pause, Nanos::from_secs(5));
}

fn target() -> SimTarget {
    common::small_drive()
}

fn job(iodepth: u32, capacity: u64) -> job::Job {
    let text = format!("[trace]\nrw=randrw\nbs=4k\nioengine=io_uring\niodepth={iodepth}\ndirect=1\n");
    job::parse("trace", &text, &[], Ground::Simulated, capacity, &|_| None).unwrap().remove(0)
}

fn replayed(
    text: &str,
    pace: Pace,
    fit: Fit,
    iodepth: u32,
) -> Result<(pslc_load::record::Recording, pslc_load::replay::Replayed), TraceError> {
    let mut trace = open(text)?;
    let mut target = target();
    let job = job(iodepth, target.capacity_bytes());
    replay(
        &mut target,
        &job,
        &mut trace,
        &Replay { pace, fit, footing: Footing::SIMULATED, survey: false },
        None,
        &mut |_: &_| true,
    )
}

#[test]
fn at_its_own_pace_a_trace_takes_its_own_time_and_faster_a_part_of_it() {
    let text = msr(2000);
    let original = Pace::Original { speed: 1.0 };
    let (recording, found) = replayed(&text, original, Fit::Exact, 64).unwrap();
    assert_eq!(found.requests, 2000);
    let took = (recording.end - recording.start).0;
    assert!((199_900_000..210_000_000).contains(&took), "{took}");
    assert_eq!(recording.stats[0].kinds[0].count, 667);
    let (fast, _) = replayed(&text, Pace::Original { speed: 10.0 }, Fit::Exact, 64).unwrap();
    assert!((fast.end - fast.start).0 < took / 8);
    let (asap, found) = replayed(&text, Pace::Asap, Fit::Exact, 64).unwrap();
    assert!(asap.end - asap.start < fast.end - fast.start);
    assert_eq!(found.late, 0, "nothing is late that has no time");
}

#[test]
fn what_finds_no_room_is_late_and_said_to_be() {
    let mut text = String::new();
    for i in 0..400u64 {
        text += &format!("0,W,{},131072,{}\n", i * 131072, i / 40);
    }
    let (_, found) = replayed(&text, Pace::Original { speed: 1.0 }, Fit::Exact, 4).unwrap();
    assert!(found.late > 300, "{}", found.late);
    assert!(found.late_most > Nanos::from_millis(1) && found.late_sum > found.late_most);
    let (_, found) = replayed(&text, Pace::Original { speed: 1.0 }, Fit::Exact, 1024).unwrap();
    assert_eq!(found.late, 0);
}

#[test]
fn the_pauses_of_a_trace_are_idle_time_in_which_the_drive_folds() {
    let burst = |at: u64| (0..800u64).map(move |i| format!("0,W,{},131072,{}\n", i * 131072, at + 100 * i));
    let back_to_back: String = burst(0).chain(burst(80_000)).collect();
    let with_pause: String = burst(0).chain(burst(60_000_000)).collect();
    let column = pslc_ssd::Drive::COLUMNS.iter().position(|name| *name == "idle_folded_bytes_total").unwrap();
    let pace = Pace::Original { speed: 1.0 };
    let (without, _) = replayed(&back_to_back, pace, Fit::Exact, 1024).unwrap();
    let (with, _) = replayed(&with_pause, pace, Fit::Exact, 1024).unwrap();
    assert_eq!(without.totals[column], 0);
    assert!(with.totals[column] > 50_000_000, "{}", with.totals[column]);
}

#[test]
fn what_lies_past_the_end_is_an_error_or_is_fitted() {
    let end = target().capacity_bytes();
    let text = format!("0,W,{},65536,0\n0,W,{},65536,10\n0,R,0,4096,20\n", 3 * end, 3 * end + 65536);
    let pace = Pace::Original { speed: 1.0 };
    let error = shown(replayed(&text, pace, Fit::Exact, 8).err().unwrap());
    assert!(error.contains("--addresses wrap") && error.contains(&end.to_string()), "{error}");
    for fit in [Fit::Wrap, Fit::Compact, Fit::Scale(3 * end + 131072)] {
        let (_, found) = replayed(&text, pace, fit, 8).unwrap();
        assert_eq!(found.requests, 3, "{fit:?}");
        assert!(found.moved >= 2, "{fit:?}");
    }
}

#[test]
fn what_a_trace_reads_first_is_what_a_prefill_writes() {
    let text = "0,R,8192,8192,0\n0,W,0,4096,10\n0,R,0,4096,20\n0,R,4096,4096,30\n0,R,8192,4096,40\n";
    let open = || open(text).unwrap();
    let mut target = target();
    let capacity = target.capacity_bytes();
    let pages = reads_first(&mut open(), Fit::Exact, capacity).unwrap();
    assert_eq!(pages.runs().into_iter().flatten().collect::<Vec<_>>(), [1, 2, 3]);
    let how = Replay { pace: Pace::Asap, fit: Fit::Exact, footing: Footing::SIMULATED, survey: false };
    let job = job(1, capacity);
    let (_, bare) = replay(&mut target.clone(), &job, &mut open(), &how, None, &mut |_: &_| true).unwrap();
    assert_eq!(bare.unwritten_bytes, 16384);
    let (recording, filled) = replay(&mut target, &job, &mut open(), &how, Some(&pages), &mut |_: &_| true).unwrap();
    assert_eq!((filled.unwritten_bytes, filled.prefilled_bytes), (0, 12288));
    assert_eq!(recording.stats[0].kinds[1].count, 1, "a prefill is no part of the recording");
    assert!(recording.start > Nanos::from_secs(600));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn anything_is_a_trace_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..400), format in 0usize..14) {
        let formats = pslc_load::traces::formats();
        let format = formats.get(format).map(|(name, _)| name.to_string());
        for skip_broken in [false, true] {
            let reading = Reading { format: format.clone(), skip_broken, ..Reading::default() };
            let _ = read(&bytes, &reading);
        }
    }

    #[test]
    fn a_good_file_with_bytes_changed_is_a_trace_or_an_error_and_no_request_is_beyond_reason(
        which in 0..examples().len(), changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6)
    ) {
        let mut bytes = examples()[which].text.as_bytes().to_vec();
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        let reading = Reading { skip_broken: true, ..Reading::default() };
        if let Ok((_, entries)) = read(&bytes, &reading) {
            prop_assert!(entries.iter().all(|entry| entry.request.offset <= 1 << 60));
            prop_assert!(entries.windows(2).all(|pair| pair[0].at <= pair[1].at));
        }
    }

    #[test]
    fn fitted_requests_are_on_the_drive_and_as_long_as_they_were(
        requests in prop::collection::vec((0u64..1 << 40, 1u32..1 << 23), 1..60), scale: bool
    ) {
        let capacity = 1 << 30;
        for fit in [Fit::Wrap, Fit::Compact, if scale { Fit::Scale(1 << 41) } else { Fit::Scale(1 << 20) }] {
            let mut remap = Remap::new(fit, capacity);
            for &(at, len) in &requests {
                let mut parts = std::collections::VecDeque::new();
                let request = Request::write(at, len);
                if remap.put(&request, &mut parts).is_err() {
                    prop_assert_eq!(fit, Fit::Compact);
                    break;
                }
                prop_assert_eq!(parts.iter().map(|part| part.len as u64).sum::<u64>(), len as u64);
                prop_assert!(parts.iter().all(|part| part.offset + part.len as u64 <= capacity));
                let mut again = std::collections::VecDeque::new();
                remap.put(&request, &mut again).unwrap();
                prop_assert_eq!(&parts, &again, "the same address is in the same place");
            }
        }
    }

    #[test]
    fn blktrace_files_of_any_bytes_are_a_trace_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let mut file = vec![7, 0x74, 0x61, 0x65];
        file.extend(bytes);
        let _ = read(&file, &Reading::default());
    }
}

/// An event of blktrace, in the machine's order of bytes.
fn event(time: u64, sector: u64, bytes: u32, action: u32, cpu: u32) -> Vec<u8> {
    let mut out = Vec::new();
    out.write_all(&0x6561_7407u32.to_ne_bytes()).unwrap();
    out.write_all(&1u32.to_ne_bytes()).unwrap();
    out.write_all(&time.to_ne_bytes()).unwrap();
    out.write_all(&sector.to_ne_bytes()).unwrap();
    for word in [bytes, action, 77, 8 << 20 | 16, cpu] {
        out.write_all(&word.to_ne_bytes()).unwrap();
    }
    out.write_all(&[0, 0, 2, 0, b'x', b'y']).unwrap();
    out
}

#[test]
fn blktrace_files_of_several_processors_are_merged_by_time() {
    let folder = std::env::temp_dir().join(format!("pslc-blktrace-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let issue = 7 | 1 << 23;
    for cpu in 0..2u64 {
        let events =
            (0..50).flat_map(|i| event(1000 * (2 * i + cpu), 8 * i, 4096, issue | 1 << (16 + i % 2), cpu as u32));
        std::fs::write(folder.join(format!("sda.blktrace.{cpu}")), events.collect::<Vec<u8>>()).unwrap();
    }
    // One that saw no request has a file, too, and may be the one that is named.
    std::fs::write(folder.join("sda.blktrace.2"), []).unwrap();
    let (trace, entries) = read_file(&folder.join("sda.blktrace.2"), &Reading::default()).unwrap();
    assert_eq!((trace.format(), entries.len()), ("blktrace", 100));
    let (trace, entries) = read_file(&folder.join("sda.blktrace.0"), &Reading::default()).unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
    assert_eq!((trace.format(), trace.devices()), ("blktrace", &["8,16".to_string()][..]));
    assert_eq!(entries.len(), 100);
    assert!(entries.iter().enumerate().all(|(i, entry)| entry.at == Nanos(1000 * i as u64)));
    assert_eq!(entries.iter().filter(|entry| entry.request.op == Op::Write).count(), 50);
}

#[test]
fn ftrace_tells_flushes_and_what_the_kernel_lost() {
    let text = "a-1 [000] ..... 5.000001: block_rq_issue: 7,0 FF 0 () 18446744073709551615 + 0 [a]\n\
                a-1 [000] ..... 5.000002: block_rq_issue: 7,0 FWFS 4096 () 8 + 8 be,0,4 [a]\n\
                CPU:0 [LOST 12 EVENTS]\n\
                a-1 [000] ..... 5.000003: block_rq_issue: 7,0 N 0 (12 00 00 00 60 00) 0 + 0 [a]\n";
    let (trace, entries) = read(text, &Reading::default()).unwrap();
    let found: Vec<(u64, Request)> = entries.iter().map(|entry| (entry.at.0, entry.request)).collect();
    let written = Request { fua: true, ..Request::write(4096, 4096) };
    assert_eq!(found, [(0, Request::flush()), (1000, Request::flush()), (1000, written)]);
    assert_eq!(trace.notes(), ["the kernel lost 12 events: those requests are missing"]);
}

#[test]
fn requests_on_a_real_drive_are_whole_blocks_and_late_only_after_a_while() {
    let rows = [(0, Op::Write, 512, 512), (1_000_000, Op::Write, 4096, 5000), (1_000_100, Op::Read, 8192, 4096)];
    let mut log = String::from("time_ns,op,offset,size\n");
    for (at, op, offset, size) in rows {
        let op = if op == Op::Read { "read" } else { "write" };
        log += &format!("{at},{op},{offset},{size}\n");
    }
    let mut trace = open(log).unwrap();
    let mut target = target();
    let job = job(1, target.capacity_bytes());
    let footing = Footing::real(5000, 4096);
    let how = Replay { pace: Pace::Original { speed: 1.0 }, fit: Fit::Exact, footing, survey: false };
    let (recording, found) = replay(&mut target, &job, &mut trace, &how, None, &mut |_: &_| true).unwrap();
    assert_eq!((found.requests, found.widened, found.late), (3, 2, 0));
    assert_eq!(recording.stats[0].kinds[Op::Write as usize].bytes, 4096 + 8192);
}
