//! A new file on every system: the same requests, of the same bytes, and nothing left behind.

mod common;

use std::path::Path;

use common::{folder, jobs, MB};
use pslc_drive::{open_scratch, Kind, RealTarget};
use pslc_load::job::Ground;
use pslc_load::record::Recording;
use pslc_load::{lay_out, run};

/// The engines of this system.
const ENGINES: [Kind; 2] = [if cfg!(windows) { Kind::Port } else { Kind::Uring }, Kind::Threads];

/// Why no scratch file is made, and what to do next.
fn refusal(path: &Path, size: u64) -> String {
    let error = open_scratch(path, size).err().unwrap();
    format!("{error}\n\nhint: {}", error.hint())
}

fn go(target: &mut RealTarget, text: &str, seed: u64) -> Recording {
    let list = jobs(text, target);
    target.check(&list).unwrap_or_else(|error| panic!("{error}\n{text}"));
    lay_out(target, &list, Ground::Real, &mut |_: &_| true).unwrap_or_else(|error| panic!("{error}\n{text}"));
    run(target, &list, seed, &mut |_: &_| true)
}

/// Numbers of a congruence: the same on every system.
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }

    fn one_of<'a>(&mut self, words: &[&'a str]) -> &'a str {
        words[self.below(words.len() as u64) as usize]
    }

    /// A job of up to 60 requests a worker, on blocks that every drive takes.
    fn job(&mut self) -> String {
        let rw = self.one_of(&["write", "randwrite", "read", "randread", "randrw", "rw", "randwrite:4"]);
        let bs = self.one_of(&["4k", "8k", "64k", "256k", "4k,16k", "range"]);
        let engine = self.one_of(&["io_uring", "libaio", "psync", "sync"]);
        let size = 1 + self.below(6);
        let bs = if bs == "range" { "bsrange=8k-64k".into() } else { format!("bs={bs}") };
        let mut text = format!("[j]\nrw={rw}\n{bs}\nioengine={engine}\nsize={size}m\n");
        if matches!(engine, "io_uring" | "libaio") {
            text += &format!("iodepth={}\n", 1 + self.below(24));
        }
        text += &format!("offset={}m\nnumjobs={}\n", self.below(4), 1 + self.below(3));
        text += &format!("number_ios={}\ndirect={}\n", 1 + self.below(60), self.below(2));
        match self.below(5) {
            0 => text += "sync=1\n",
            1 => text += "sync=dsync\n",
            2 => text += "fsync=7\n",
            3 => text += "fdatasync=5\nend_fsync=1\n",
            _ => {}
        }
        if self.below(4) == 0 {
            text += "norandommap\n";
        }
        text
    }
}

/// Reads, writes and trims, and their bytes, by job. When a flush comes depends on what has come back by then.
fn counts(recording: &Recording) -> String {
    let kinds = recording.stats.iter().flat_map(|stats| &stats.kinds[..3]);
    let cells: Vec<String> = kinds.map(|kind| format!("{}/{}", kind.count, kind.bytes)).collect();
    cells.join(" ")
}

/// Of what 200 random jobs did, as `counts` writes it, a line a job; made on Linux by io_uring.
const COUNTS_CRC: u32 = 0xc776_127e;

#[test]
fn two_hundred_random_jobs_make_the_requests_that_they_make_on_linux() {
    for kind in ENGINES {
        let folder = folder(&format!("random-{}", kind.name().replace(' ', "-")));
        let mut dice = Dice(26);
        let mut target = open_scratch(&folder.join("scratch"), 16 * MB).unwrap().with_engine(kind);
        let mut all = String::new();
        for seed in 0..200 {
            let text = dice.job();
            let recording = go(&mut target, &text, seed);
            assert!(recording.error.is_none(), "{:?}\n{text}", recording.error);
            all += &format!("{}\n", counts(&recording));
        }
        let crc = crc32fast::hash(all.as_bytes());
        println!("{} {crc:#010x}\n{all}", kind.name());
        assert_eq!(crc, COUNTS_CRC, "{}", kind.name());
    }
}

#[test]
fn what_a_job_wrote_reads_back_the_same() {
    for kind in ENGINES {
        let folder = folder(&format!("verify-{}", kind.name().replace(' ', "-")));
        let mut target = open_scratch(&folder.join("scratch"), 16 * MB).unwrap().with_engine(kind);
        for (rw, direct) in [("write", 1), ("randwrite", 1), ("randwrite", 0)] {
            let text = format!(
                "[v]\nrw={rw}\nbs=16k\nsize=8m\nioengine=io_uring\niodepth=8\ndirect={direct}\nverify=crc32c\n"
            );
            let recording = go(&mut target, &text, 1);
            assert!(recording.error.is_none(), "{:?}", recording.error);
            assert_eq!((recording.stats[0].kinds[1].count, recording.stats[0].kinds[0].count), (512, 512));
        }
        assert_eq!(target.engine(), Some(kind));
    }
}

#[test]
fn a_scratch_file_leaves_nothing_behind_and_an_existing_one_is_never_taken() {
    let folder = folder("gone");
    let path = folder.join("scratch");
    let mut target = open_scratch(&path, 4 * MB).unwrap();
    assert!(go(&mut target, "[w]\nrw=randwrite\nbs=64k\niodepth=4\nioengine=libaio\ndirect=1\n", 1).error.is_none());
    // It has a name on Windows alone, and then a second one of that name is refused.
    assert_eq!(path.exists(), cfg!(windows));
    if path.exists() {
        let error = refusal(&path, 4 * MB);
        assert!(error.contains("exists, and is not overwritten"), "{error}");
    }
    drop(target);
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0);
    std::fs::write(&path, "precious").unwrap();
    // Held open by somebody or not.
    let held = std::fs::File::open(&path).unwrap();
    let error = open_scratch(&path, 4 * MB).err().unwrap();
    assert_eq!(error.code(), "scratch-exists");
    assert_eq!(error.to_string(), format!("{} exists, and is not overwritten", path.display()));
    let reuse =
        if cfg!(target_os = "linux") { ", or --reuse to measure on this file and lose what is in it" } else { "" };
    assert_eq!(error.hint(), format!("give a new name{reuse}"));
    drop(held);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "precious");
}

#[test]
fn a_file_that_is_too_large_or_in_no_folder_is_refused_in_the_same_words() {
    let folder = folder("refused");
    let error = refusal(&folder.join("scratch"), 1 << 50);
    assert!(
        error.contains("are free beyond what is kept (5 % of the file system") && error.contains("hint: --size="),
        "{error}"
    );
    let error = refusal(&folder.join("none").join("scratch"), 4 * MB);
    assert!(error.contains("cannot open the folder of it: No such file or directory"), "{error}");
    let error = refusal(&folder, 4 * MB);
    assert!(error.contains("exists, and is a "), "{error}");
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0);
}

#[test]
fn a_trim_is_made_or_refused_in_words() {
    for kind in ENGINES {
        let folder = folder(&format!("trim-{}", kind.name().replace(' ', "-")));
        let mut target = open_scratch(&folder.join("scratch"), 8 * MB).unwrap().with_engine(kind);
        let recording = go(&mut target, "[t]\nrw=trim\nbs=1m\nioengine=libaio\niodepth=2\n", 1);
        match recording.error {
            None => assert_eq!(recording.stats[0].kinds[2].count, 8),
            Some(error) => {
                let error = error.to_string();
                assert!(error.contains("FSCTL_FILE_LEVEL_TRIM") || cfg!(target_os = "macos"), "{error}");
            }
        }
    }
}

#[test]
fn a_stop_keeps_what_was_measured() {
    let mut target = open_scratch(&folder("stop").join("scratch"), 8 * MB).unwrap();
    let list = jobs("[w]\nrw=write\nbs=4k\ndirect=1\nthinktime=1h\n", &target);
    let begin = std::time::Instant::now();
    let recording = run(&mut target, &list, 1, &mut |_: &_| false);
    assert!(recording.interrupted && begin.elapsed().as_secs() < 5);
    assert_eq!(recording.stats[0].kinds[1].count, 1);
}

#[cfg(windows)]
#[test]
fn a_drive_as_a_whole_a_device_and_a_stream_are_refused_in_words() {
    for (path, words) in [
        (r"\\.\PhysicalDrive1", "is no regular file, but a block device"),
        (r"\\.\C:", "is no regular file, but a block device"),
        (r"\\?\GLOBALROOT\Device\Harddisk0\Partition0", "is no regular file, but a block device"),
        ("NUL", "it names a device"),
        ("scratch:stream", "a colon names a stream"),
    ] {
        let error = refusal(Path::new(path), 4 * MB);
        assert!(error.contains(words) && error.contains("\n\nhint: "), "{path}: {error}");
    }
}
