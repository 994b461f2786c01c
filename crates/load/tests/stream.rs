//! Request streams: the same on every target, whole blocks, every block once.

mod common;

use std::collections::VecDeque;

use common::{jobs, CAPACITY};
use proptest::prelude::*;
use pslc_load::Stream;
use pslc_ssd::{Op, Request};

fn all(options: &str, seed: u64) -> Vec<Request> {
    let job = jobs(&format!("[a]\n{options}")).remove(0);
    passes(Stream::new(&job, 0, 0, seed)).collect()
}

/// The requests of all passes.
fn passes(mut stream: Stream) -> impl Iterator<Item = Request> {
    std::iter::from_fn(move || stream.next().or_else(|| stream.resume().then(|| stream.next()).flatten()))
}

/// Requests up to each stop for what is verified.
fn stretches(options: &str) -> Vec<Vec<Request>> {
    let job = jobs(&format!("[a]\nverify=md5\n{options}")).remove(0);
    let mut stream = Stream::new(&job, 0, 0, 1).checked(&job);
    let mut found = vec![stream.by_ref().collect::<Vec<_>>()];
    while stream.resume() {
        found.push(stream.by_ref().collect());
    }
    found
}

/// What comes by way of `next_alike` where that is possible, so many at once at most, and whether any did.
fn several_at_once(options: &str, most: usize) -> (Vec<Request>, bool) {
    let job = jobs(&format!("[a]\n{options}")).remove(0);
    let mut stream = Stream::new(&job, 0, 0, 1);
    let (mut made, mut any) = (VecDeque::new(), false);
    while made.len() <= 20_000 {
        let end = made.len() + most;
        if stream.next_alike(&mut made, end) {
            any = true;
            continue;
        }
        match stream.next() {
            Some(request) => made.push_back(request),
            None if stream.resume() => {}
            None => break,
        }
    }
    (made.into(), any)
}

#[test]
fn requests_made_several_at_once_are_those_made_one_by_one() {
    let alike = [
        "rw=write\nbs=4k\nsize=1m",
        "rw=read\nbs=12k\nsize=1m\nio_size=2500k",
        "rw=write\nbs=64k\nloops=3\nsync=1",
        "rw=write\nbs=4k\nsize=1m\noffset=64k\ntime_based\nruntime=1s",
        "rw=randread\nbs=4k\nsize=1m\nnorandommap\nio_size=10m",
        "rw=randwrite\nbs=8k\nsize=1m\nnorandommap\nnumber_ios=100\nloops=2",
    ];
    let others = [
        "rw=randread\nbs=4k\nsize=1m",
        "rw=randrw\nbs=4k\nsize=1m\nnorandommap",
        "rw=write:8k\nbs=4k\nsize=1m",
        "rw=write\nbs=4k\nsize=1m\nfsync=8",
        "rw=randwrite\nbssplit=4k/50:8k/50\nsize=1m\nnorandommap",
        "rw=randread:2\nbs=4k\nsize=1m\nnorandommap",
        "rw=randread\nbs=4k\nsize=1m\nnorandommap\npercentage_random=50",
    ];
    for (options, possible) in alike.map(|of| (of, true)).into_iter().chain(others.map(|of| (of, false))) {
        let job = jobs(&format!("[a]\n{options}")).remove(0);
        let each: Vec<Request> = passes(Stream::new(&job, 0, 0, 1)).take(20_001).collect();
        for most in [1, 3, 32] {
            let (made, any) = several_at_once(options, most);
            let count = made.len().min(each.len()).min(20_001);
            assert_eq!(made[..count], each[..count], "{options}, {most} at once");
            assert!(count == each.len(), "{options}, {most} at once");
            assert_eq!(any, possible, "{options}");
        }
    }
}

#[test]
fn each_pass_is_read_again_behind_it() {
    let places = |of: &[Request], op: Op| -> Vec<(u64, u32)> {
        of.iter().filter(|request| request.op == op).map(|request| (request.offset, request.len)).collect()
    };
    for options in ["rw=write\nloops=3", "rw=randwrite\nloops=3\nfsync=8", "rw=randrw\nloops=3", "rw=randtrimwrite"] {
        let found = stretches(&format!("{options}\nbs=4k\nsize=1m"));
        assert_eq!(found.len(), if options.contains("loops") { 6 } else { 2 }, "{options}");
        for pair in found.chunks(2) {
            assert!(pair[1].iter().all(|request| request.op == Op::Read && !request.fua));
            assert_eq!(places(&pair[0], Op::Write), places(&pair[1], Op::Read), "{options}");
        }
    }
    // Without a map blocks may be written twice: the newest counts, and what it overlaps is gone.
    for options in ["norandommap", "norandommap\nbssplit=4k/50:16k/50", "random_distribution=zipf:1.2"] {
        let found = stretches(&format!("rw=randwrite\nsize=1m\n{options}"));
        let mut left: Vec<(u64, u32)> = Vec::new();
        for (at, len) in places(&found[0], Op::Write) {
            left.retain(|&(old, length)| old + length as u64 <= at || at + len as u64 <= old);
            left.push((at, len));
        }
        left.sort();
        assert_eq!(places(&found[1], Op::Read), left, "{options}");
        assert!(left.len() < found[0].len());
    }
    // Without a verify nothing is.
    assert_eq!(stretches("rw=write\nsize=1m\ndo_verify=0").len(), 1);
}

#[test]
fn a_backlog_is_read_once_it_has_gathered_and_come_back() {
    let job = jobs("[a]\nverify=md5\nrw=write\nbs=4k\nsize=64k\nverify_backlog=4\nverify_backlog_batch=2").remove(0);
    let word = |op: Op| if op == Op::Read { 'r' } else { 'w' };
    // Each request comes back before the next is made.
    let mut stream = Stream::new(&job, 0, 0, 1).checked(&job);
    let mut alone = Vec::new();
    while let Some(request) = stream.next() {
        stream.completed(&request);
        alone.push(request);
    }
    let order: String = alone.iter().map(|request| word(request.op)).collect();
    assert_eq!(order, "wwwwrrwwrrwwrrwwrrwwrrwwrrww");
    let places = |op: Op| alone.iter().filter(move |of| of.op == op).map(|of| of.offset);
    assert!(places(Op::Read).eq(places(Op::Write).take(12)));
    // What a pass leaves is read behind it.
    assert!(stream.resume());
    assert!(stream.by_ref().map(|request| request.offset).eq(places(Op::Write).skip(12)));
    // Nothing is read while it is under way, which the first write is to the end.
    let mut stream = Stream::new(&job, 0, 0, 1).checked(&job);
    let first = stream.next().expect("a write");
    while let Some(request) = stream.next() {
        assert_eq!(request.op, Op::Write);
        stream.completed(&request);
    }
    stream.completed(&first);
    assert!(stream.resume());
    assert_eq!(stream.count(), 16);
}

#[test]
fn a_job_of_files_takes_each_once_and_each_in_sequence() {
    let requests = all("rw=randwrite\nbs=64k\nsize=16m\nfiles=1m", 1);
    let offsets: Vec<u64> = requests.iter().map(|request| request.offset).collect();
    let mut files: Vec<u64> = offsets.chunks(16).map(|file| file[0]).collect();
    assert!(offsets.chunks(16).all(|file| file.windows(2).all(|pair| pair[1] == pair[0] + 65_536)));
    assert!(!files.is_sorted());
    files.sort_unstable();
    assert_eq!(files, (0..16).map(|file| file << 20).collect::<Vec<u64>>());
}

#[test]
fn random_writes_touch_every_block_once() {
    let requests = all("rw=randwrite\nbs=4k\noffset=1m\nsize=999k", 3);
    let mut offsets: Vec<u64> = requests.iter().map(|r| r.offset).collect();
    assert_ne!(
        offsets,
        all("rw=randwrite\nbs=4k\noffset=1m\nsize=999k", 4).iter().map(|r| r.offset).collect::<Vec<_>>()
    );
    assert!(requests[..249].iter().all(|r| r.len == 4096));
    offsets.truncate(249);
    offsets.sort_unstable();
    let expected: Vec<u64> = (0..249).map(|i| (1 << 20) + i * 4096).collect();
    assert_eq!(offsets, expected);
}

#[test]
fn with_norandommap_blocks_come_more_than_once() {
    let mut offsets: Vec<u64> = all("rw=randread\nbs=4k\nsize=4m\nnorandommap", 0).iter().map(|r| r.offset).collect();
    offsets.sort_unstable();
    offsets.dedup();
    // 1 - 1/e of them.
    assert!((600..700).contains(&offsets.len()), "{}", offsets.len());
}

#[test]
fn a_seed_of_the_job_wins_over_that_of_the_run() {
    let text = "rw=randread\nbs=4k\nsize=1m\nrandseed=5";
    assert_eq!(all(text, 1), all(text, 2));
}

#[test]
fn a_zipf_stream_has_a_few_hot_blocks_all_over_the_region() {
    let requests = all("rw=randread\nbs=4k\nsize=512m\nrandom_distribution=zipf:1.2\nnumber_ios=20000", 0);
    let mut count = std::collections::HashMap::new();
    requests.iter().for_each(|r| *count.entry(r.offset).or_insert(0u32) += 1);
    let mut hot: Vec<(u32, u64)> = count.into_iter().map(|(offset, n)| (n, offset)).collect();
    hot.sort_unstable_by(|a, b| b.cmp(a));
    let top: u32 = hot[..10].iter().map(|(n, _)| n).sum();
    assert!(top > 5000, "{top}");
    assert!(hot[..10].iter().any(|&(_, offset)| offset > 256 << 20));
}

#[test]
fn a_run_of_sequential_requests_follows_each_random_one() {
    let requests = all("rw=randread:4\nbs=4k\nsize=64m\nnumber_ios=400", 0);
    let follows = requests.windows(2).filter(|pair| pair[1].offset == pair[0].offset + 4096).count();
    assert!((299..=302).contains(&follows), "{follows}");
}

proptest! {
    #[test]
    fn every_request_lies_within_the_region(
        random in any::<bool>(), kind in 0usize..5, offset in 0u64..100, size in 40u64..5000,
        bs in prop::sample::select(vec!["512", "4k", "12k", "4k,8k", "20k"]), seed in any::<u64>(),
        run in 1u32..5, zipf in any::<bool>(), norandommap in any::<bool>()
    ) {
        let kind = ["read", "write", "trim", "rw", "trimwrite"][kind];
        let prefix = if random { "rand" } else { "" };
        let run = if random { run } else { (run - 1) * 512 };
        let text = format!(
            "[a]\nrw={prefix}{kind}:{run}\nbs={bs}\noffset={}\nsize={}\nio_size={}\n{}{}",
            offset * 512, size * 512, size * 700,
            if zipf { "random_distribution=zipf:0.9\n" } else { "" },
            if norandommap { "norandommap\n" } else { "" },
        );
        let job = jobs(&text).remove(0);
        let stream = Stream::new(&job, 0, 0, seed);
        let total = stream.total_bytes();
        let largest = 2 * job.bs.largest() as u64;
        let mut moved = 0;
        for request in passes(stream) {
            prop_assert!(request.len > 0);
            prop_assert!(request.offset >= job.offset);
            // As fio has it, what begins in the region may end past it.
            prop_assert!(request.offset < job.offset + job.size);
            prop_assert!(request.offset + (request.len as u64) <= CAPACITY);
            if request.op != Op::Flush { moved += request.len as u64; }
        }
        // Requests are not cut: the last may go past what was asked for.
        prop_assert!(moved < total + largest, "{moved} of {total}");
    }
}

#[test]
fn sizes_are_split_as_asked_and_random_ones_are_aligned_to_the_smallest() {
    let text =
        "rw=randrw\nbssplit=4k/60:64k/30:1m/,16k\nsize=64m\nnorandommap\nnumber_ios=20000\nio_size=1t\nrandrepeat=0";
    let requests = all(text, 1);
    let share = |op: Op, len: u32| {
        let of = requests.iter().filter(|r| r.op == op);
        of.clone().filter(|r| r.len == len).count() as f64 / of.count() as f64
    };
    for (len, expected) in [(4096, 0.6), (65536, 0.3), (1 << 20, 0.1)] {
        assert!((share(Op::Read, len) - expected).abs() < 0.02, "{len}");
    }
    assert_eq!(share(Op::Write, 16384), 1.0);
    assert!(requests.iter().all(|r| r.offset % 4096 == 0 && r.offset + r.len as u64 <= 64 << 20));
    assert!(requests.iter().any(|r| r.len == 1 << 20 && r.offset % (1 << 20) != 0));
    let sequential = all("rw=write\nbssplit=4k/50:8k/50\nsize=1m", 2);
    let mut at = 0;
    for request in &sequential {
        assert_eq!(request.offset, at);
        at += request.len as u64;
    }
    assert_eq!(at, 1 << 20);
}

#[test]
fn every_size_of_a_range_is_as_frequent_as_the_others() {
    let requests =
        all("rw=randread\nbsrange=4k-16k\nsize=64m\nnorandommap\nnumber_ios=20000\nio_size=1t\nrandrepeat=0", 3);
    for len in [4096, 8192, 12288, 16384] {
        let share = requests.iter().filter(|r| r.len == len).count() as f64 / 20000.0;
        assert!((share - 0.25).abs() < 0.02, "{len}: {share}");
    }
    assert!(requests.iter().all(|r| r.offset % 4096 == 0 && r.len <= 16384));
}

#[test]
fn paretos_fifth_of_the_blocks_gets_four_fifths_of_the_requests() {
    for (share, expected) in [(0.2, 0.8), (0.4, 0.6)] {
        let text = format!(
            "rw=randread\nbs=4k\nsize=40m\nnumber_ios=1000000\nio_size=1t\nrandrepeat=0\nrandom_distribution=pareto:{share}"
        );
        let mut counts = std::collections::HashMap::new();
        all(&text, 4).iter().for_each(|r| *counts.entry(r.offset).or_insert(0u32) += 1);
        let mut counts: Vec<u32> = counts.into_values().collect();
        counts.sort_unstable_by(|a, b| b.cmp(a));
        let top: u32 = counts[..(10240.0 * share) as usize].iter().sum();
        assert!((top as f64 / 1e6 - expected).abs() < 0.03, "{share}: {top}");
    }
}

#[test]
fn a_percentage_of_random_requests_leaves_the_others_in_sequence() {
    let text = "rw=randread\nbs=4k\nsize=1g\nnorandommap\nnumber_ios=20000\npercentage_random=30";
    let requests = all(text, 5);
    let follows = requests.windows(2).filter(|pair| pair[1].offset == pair[0].offset + 4096).count();
    assert!((follows as f64 / 20000.0 - 0.7).abs() < 0.02, "{follows}");
    let plain = "rw=randread\nbs=4k\nsize=1g\nnorandommap\nnumber_ios=100";
    assert_eq!(all(plain, 5), all(&format!("{plain}\npercentage_random=100"), 5));
}

#[test]
fn each_direction_of_a_mix_has_a_place_of_its_own() {
    let requests = all("rw=rw\nbs=4k\nsize=4m", 0);
    for op in [Op::Read, Op::Write] {
        let mut of = requests.iter().filter(|r| r.op == op).enumerate();
        assert!(of.all(|(number, request)| request.offset == 4096 * number as u64));
    }
    assert_eq!(requests.len(), 1024);
}

#[test]
fn strides_leave_out_what_they_say_and_go_backwards_too() {
    let offsets = |options: &str| all(options, 0).iter().map(|r| r.offset / 4096).collect::<Vec<_>>();
    assert_eq!(offsets("rw=read:4k\nbs=4k\nsize=32k"), [0, 2, 4, 6]);
    assert_eq!(offsets("rw=read:-8k\nbs=4k\nsize=32k"), [0, 6, 5, 4, 3, 2, 1, 0]);
}

#[test]
fn sizes_of_several_fill_the_region_once_under_the_random_map() {
    for options in ["bssplit=4k/50:16k/50", "bsrange=4k-32k"] {
        let requests = all(&format!("rw=randwrite\n{options}\nsize=4m"), 3);
        let mut seen = vec![0; 1024];
        for request in requests {
            let first = (request.offset / 4096) as usize;
            seen[first..first + request.len as usize / 4096].iter_mut().for_each(|n| *n += 1);
        }
        assert!(seen.iter().all(|n| *n == 1), "{options}");
    }
}

#[test]
fn a_zone_gets_its_share() {
    let text = "rw=randread\nbs=4k\nsize=40m\nnumber_ios=20000\nio_size=1t\nrandrepeat=0\nrandom_distribution=";
    for zones in ["zoned:60/10:30/20:10/70", "zoned_abs:60/4m:30/8m:10/28m"] {
        let offsets: Vec<u64> = all(&format!("{text}{zones}"), 1).iter().map(|r| r.offset >> 20).collect();
        let share = |from, to| offsets.iter().filter(|at| (from..to).contains(*at)).count() as f64 / 20000.0;
        for (got, wanted) in [(share(0, 4), 0.6), (share(4, 12), 0.3), (share(12, 40), 0.1)] {
            assert!((got - wanted).abs() < 0.02, "{zones}: {got} for {wanted}");
        }
    }
}

#[test]
fn a_copy_writes_each_block_after_it_was_read() {
    let requests = all("rw=read\nbs=64k\noffset=1m\nsize=1m\ncopy_to=8m", 0);
    assert_eq!(requests.len(), 32);
    for (number, pair) in requests.chunks(2).enumerate() {
        let at = number as u64 * 65536;
        assert_eq!((pair[0].op, pair[0].offset, pair[0].len), (Op::Read, (1 << 20) + at, 65536));
        assert_eq!((pair[1].op, pair[1].offset, pair[1].len), (Op::Write, (8 << 20) + at, 65536));
    }
    let job = jobs("[a]\nrw=read\nbs=64k\nsize=1m\ncopy_to=8m").remove(0);
    assert_eq!(Stream::new(&job, 0, 0, 0).total_bytes(), 2 << 20);
}
