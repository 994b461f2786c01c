//! One kind of work on a small simulated drive, for a program that counts instructions: `instructions KIND REQUESTS`.
//! `make bench NAME=instructions` runs each kind with two numbers of requests and subtracts, so that start-up is not counted.

use std::process::ExitCode;

use pslc_load::job::Ground;
use pslc_load::{job, run, SimTarget, Target};
use pslc_ssd::{profile, Machine, Nanos};

/// A kind of work: what its drive has instead of the profile's values, what is done before, and the job that is counted.
struct Work {
    name: &'static str,
    overrides: &'static [(&'static str, &'static str)],
    before: &'static [&'static str],
    job: &'static str,
}

/// 12.5 GB in superblocks of 50 MB: as many dies as the whole drive, shorter blocks.
const DRIVE: &[(&str, &str)] = &[
    ("capacity", "12500MB"),
    ("nand.pages_per_block", "24"),
    ("nand.blocks_per_plane", "280"),
    ("cache.static", "0GB"),
    ("cache.dynamic", "3GB"),
];
/// So little spare space that a random write costs four moves, and so few pages that this is soon so.
const TIGHT: &[(&str, &str)] = &[
    ("capacity", "1180MB"),
    ("nand.channels", "4"),
    ("nand.dies", "8"),
    ("nand.pages_per_block", "24"),
    ("nand.blocks_per_plane", "112"),
    ("cache.static", "0GB"),
    ("cache.dynamic", "200MB"),
    ("cache.mode", "pure-xlc"),
];
const FILL: &str = "rw=write\nbs=1m\niodepth=32\nsize=100%\n";
const SHUFFLE: &str = "rw=randwrite\nbs=4k\niodepth=32\nnorandommap\nio_size=1p\nnumber_ios=700000\n";

const WORKS: &[Work] = &[
    Work {
        name: "fill-direct",
        overrides: &[("cache.mode", "pure-xlc")],
        before: &[],
        job: "rw=write\nbs=128k\niodepth=32\n",
    },
    Work {
        name: "fill-folding",
        overrides: &[],
        before: &["rw=write\nbs=1m\niodepth=32\nsize=9000m\n"],
        job: "rw=write\nbs=128k\niodepth=32\noffset=9000m\n",
    },
    Work { name: "read-qd1", overrides: &[], before: &[FILL], job: "rw=randread\nbs=4k\niodepth=1\n" },
    Work { name: "read-qd32", overrides: &[], before: &[FILL], job: "rw=randread\nbs=4k\niodepth=32\n" },
    Work { name: "write-fresh", overrides: &[], before: &[], job: "rw=randwrite\nbs=4k\niodepth=32\n" },
    Work { name: "write-waf5", overrides: TIGHT, before: &[FILL, SHUFFLE], job: "rw=randwrite\nbs=4k\niodepth=32\n" },
    Work { name: "mixed-70-30", overrides: &[], before: &[FILL], job: "rw=randrw\nrwmixread=70\nbs=4k\niodepth=32\n" },
    Work { name: "trim", overrides: &[], before: &[FILL], job: "rw=randtrim\nbs=64k\niodepth=32\n" },
];

fn drive(overrides: &[(&str, &str)]) -> SimTarget {
    let text = include_str!("../../../python/pslc/drives/aldrin-pro-2tb.toml");
    let all = DRIVE.iter().chain(overrides);
    let owned: Vec<_> = all.map(|(key, value)| (key.to_string(), value.to_string())).collect();
    let profile = profile::load("aldrin-pro-2tb.toml", text, &|_| None, &owned);
    SimTarget::new(Nanos::ZERO, Machine::new(&profile.unwrap_or_else(|error| panic!("{error}")).config))
}

/// Run a job; returns how many requests it made.
fn go(target: &mut SimTarget, text: &str) -> u64 {
    let text = format!("[a]\nioengine=io_uring\n{text}");
    let jobs = job::parse("a", &text, &[], Ground::Simulated, target.capacity_bytes(), &|_| None);
    let jobs = jobs.unwrap_or_else(|error| panic!("{error}"));
    let recording = run(target, &jobs, 0, &mut |_: &_| true);
    recording.stats.iter().flat_map(|stats| &stats.kinds).map(|latency| latency.count).sum()
}

/// Bytes that the drive programmed for each byte of the host, since the columns were as `before`.
fn amplification(target: &mut SimTarget, before: &[u64]) -> f64 {
    let mut row = vec![0; target.columns().len()];
    target.sample(&mut row);
    let grown = |name: &str| {
        let at = target.columns().iter().position(|column| *column == name).expect("a column of the drive");
        (row[at] - before[at]) as f64
    };
    let programmed = grown("slc_programmed_bytes_total") + grown("native_programmed_bytes_total");
    programmed / grown("host_write_bytes_total").max(1.0)
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let work = arguments.first().and_then(|name| WORKS.iter().find(|work| work.name == name));
    let count = arguments.get(1).and_then(|count| count.parse::<u64>().ok());
    let (Some(work), Some(count)) = (work, count) else {
        let names: Vec<&str> = WORKS.iter().map(|work| work.name).collect();
        eprintln!("usage: instructions KIND REQUESTS, of a kind among {}", names.join(" "));
        return ExitCode::FAILURE;
    };
    let mut target = drive(work.overrides);
    for job in work.before {
        go(&mut target, job);
    }
    let mut before = vec![0; target.columns().len()];
    target.sample(&mut before);
    let job = format!("{}norandommap\nio_size=1p\nnumber_ios={count}\n", work.job);
    let requests = go(&mut target, &job);
    assert_eq!(requests, count, "all of them are made");
    println!("{requests} requests, write amplification {:.2}", amplification(&mut target, &before));
    ExitCode::SUCCESS
}
