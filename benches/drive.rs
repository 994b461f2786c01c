//! Speed of the simulated drive under the runner, as `pslc run` uses it. `make bench` also prints a table.

use criterion::{criterion_group, criterion_main, Criterion, Throughput};
use pslc_load::job::Ground;
use pslc_load::{job, run, SimTarget, Target};
use pslc_ssd::{profile, Machine, Nanos};
use std::hint::black_box;

fn drive(overrides: &[(&str, &str)]) -> SimTarget {
    let text = include_str!("../python/pslc/drives/aldrin-pro-2tb.toml");
    let owned: Vec<_> = overrides.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect();
    let profile = profile::load("aldrin-pro-2tb.toml", text, &|_| None, &owned);
    SimTarget::new(Nanos::ZERO, Machine::new(&profile.unwrap_or_else(|error| panic!("{error}")).config))
}

/// Run a job file and return the requests it made.
fn go(target: &mut SimTarget, text: &str) -> u64 {
    let jobs = job::parse("bench", text, &[], Ground::Simulated, target.capacity_bytes(), &|_| None);
    let recording = run(target, &jobs.unwrap_or_else(|error| panic!("{error}")), 0, &mut |_: &_| true);
    recording.stats.iter().flat_map(|stats| &stats.kinds).map(|latency| latency.count).sum()
}

const FILL: &str = "[fill]\nrw=write\nbs=1m\nioengine=io_uring\niodepth=32\nsize=100%\n";

fn fills(c: &mut Criterion) {
    let mut group = c.benchmark_group("fill");
    group.sample_size(10);
    for (name, mode) in [("2 TB with folding", "dynamic-slc"), ("2 TB without a cache", "pure-xlc")] {
        let fresh = drive(&[("cache.mode", mode)]);
        group.throughput(Throughput::Elements(fresh.capacity_bytes() >> 20));
        group.bench_function(name, |b| b.iter(|| go(&mut black_box(fresh.clone()), FILL)));
    }
}

fn random(c: &mut Criterion) {
    let mut group = c.benchmark_group("random 4 KiB, QD32, full drive");
    group.sample_size(10);
    let half = [("capacity", "1000GB"), ("nand.blocks_per_plane", "353"), ("cache.dynamic", "300GB")];
    let mut full = drive(&half);
    go(&mut full, FILL);
    let requests = 2_000_000;
    group.throughput(Throughput::Elements(requests));
    for kind in ["randread", "randwrite"] {
        let text = format!(
            "[a]\nrw={kind}\nbs=4k\nioengine=io_uring\niodepth=32\nnorandommap\nnumber_ios={requests}\n"
        );
        let mut target = full.clone();
        group.bench_function(kind, |b| b.iter(|| go(&mut target, &text)));
    }
}

criterion_group!(benches, fills, random);
criterion_main!(benches);
