//! The closed loop, on a target of which everything is known, and on a simulated drive.

mod common;

use common::{jobs, small_drive, Even, CAPACITY};
use pslc_load::job::Ground;
use pslc_load::record::Recording;
use pslc_load::{run, Next, Observer, Progress, Target};
use pslc_ssd::{Nanos, Op};

const MS: Nanos = Nanos::from_millis(1);

fn run_on(target: &mut impl Target, text: &str) -> Recording {
    run(target, &jobs(text), 0, &mut |_: &_| true)
}

fn column(recording: &Recording, axis: &str, name: &str) -> Vec<u64> {
    let series = if axis == "time" { &recording.time } else { &recording.bytes };
    series.columns(&["taken_total"]).into_iter().find(|(n, _)| n == name).unwrap().1
}

#[test]
fn the_queue_is_kept_full_and_little_is_right() {
    let mut target = Even::new(MS);
    let recording = run_on(
        &mut target,
        "[a]\nrw=write\nbs=4k\nsize=4m\nioengine=io_uring\niodepth=8\nnumjobs=2\noffset_increment=4m",
    );
    assert_eq!(target.most, 16);
    let [a, b] = &recording.stats[..] else { panic!("two clones, two statistics") };
    assert_eq!((a.kinds[1].count, b.kinds[1].count), (1024, 1024));
    // 2048 requests, 16 at a time, 1 ms each.
    assert_eq!(recording.end, Nanos::from_millis(128));
    assert_eq!((a.kinds[1].min_ns, a.kinds[1].max_ns), (1_000_000, 1_000_000));
    assert_eq!(a.depths[3], 1024 - 7);
    assert_eq!(a.depths.iter().sum::<u64>(), 1024);
    assert_eq!(target.log.iter().filter(|(_, r)| r.offset >= 4 << 20).count(), 1024);
}

#[test]
fn group_reporting_adds_the_clones_of_a_group_and_a_stonewall_ends_it() {
    let text = "[global]\ngroup_reporting\nrw=write\nbs=4k\nsize=1m\n[a]\nnumjobs=3\n[b]\n[c]\nstonewall\n";
    let recording = run_on(&mut Even::new(MS), text);
    let counts: Vec<(&str, u64)> =
        recording.stats.iter().map(|stats| (stats.name.as_str(), stats.kinds[1].count)).collect();
    assert_eq!(counts, [("a", 4 * 256), ("c", 256)]);
    assert_eq!(recording.stats[1].start, recording.stats[0].end);
    assert_eq!(recording.stats[0].end, Nanos::from_millis(256));
}

#[test]
fn a_job_ends_by_time_by_bytes_and_by_count() {
    let by = |options: &str| {
        let recording = run_on(&mut Even::new(MS), &format!("[a]\nrw=write\nbs=4k\nsize=1m\n{options}"));
        (recording.stats[0].kinds[1].count, recording.end)
    };
    assert_eq!(by(""), (256, Nanos::from_millis(256)));
    assert_eq!(by("loops=3"), (768, Nanos::from_millis(768)));
    assert_eq!(by("io_size=64k"), (16, Nanos::from_millis(16)));
    assert_eq!(by("io_size=2m"), (512, Nanos::from_millis(512)));
    assert_eq!(by("number_ios=10"), (10, Nanos::from_millis(10)));
    assert_eq!(by("runtime=100ms"), (100, Nanos::from_millis(100)));
    assert_eq!(by("runtime=1s"), (256, Nanos::from_millis(256)));
    assert_eq!(by("runtime=1s\ntime_based"), (1000, Nanos::from_millis(1000)));
    // What comes back at the end of the ramp counts.
    assert_eq!(by("runtime=1s\ntime_based\nramp_time=500ms"), (1001, Nanos::from_millis(1500)));
    assert_eq!(by("startdelay=1s"), (256, Nanos::from_millis(1256)));
}

#[test]
fn the_page_cache_forgets_before_each_pass_over_the_region_and_before_what_is_verified() {
    let by = |options: &str| {
        let mut target = Even::new(MS);
        run_on(&mut target, &format!("[a]\nbs=4k\nsize=16k\n{options}"));
        target.forgotten
    };
    for rw in ["read", "randread", "randwrite"] {
        assert_eq!(by(&format!("rw={rw}\nloops=3")), [0, 4, 8], "{rw}");
        assert_eq!(by(&format!("rw={rw}\nio_size=32k")), [0, 4], "{rw}");
        assert_eq!(by(&format!("rw={rw}\ntime_based\nruntime=13ms")), [0, 4, 8, 12], "{rw}");
    }
    assert_eq!(by("rw=read\nioengine=libaio\niodepth=8\nloops=2"), [0, 4]);
    assert_eq!(by("rw=write\nverify=crc32c\nloops=2"), [0, 4, 8, 12]);
    // Each direction comes to the end of the region by itself, before the fifth of its eight requests.
    assert_eq!(by("rw=rw\nrate_iops=500\ntime_based\nruntime=16ms").len(), 1 + 2);
    assert!(by("rw=read\nloops=3\ninvalidate=0").is_empty());
    assert!(by("rw=read\nloops=3\ndirect=1").is_empty());
}

#[test]
fn thinking_begins_when_the_blocks_before_it_are_done() {
    let mut target = Even::new(MS);
    let text = "[a]\nrw=write\nbs=4k\nsize=1m\nioengine=io_uring\niodepth=4\nthinktime=10ms\nthinktime_blocks=8\n\
        thinktime_blocks_type=issue\nnumber_ios=24";
    let recording = run_on(&mut target, text);
    // 8 requests, 4 at a time: 2 ms; then 10 ms of thought.
    let times: Vec<u64> = target.log.iter().step_by(8).map(|(at, _)| at.0 / 1_000_000).collect();
    assert_eq!(times, [0, 12, 24]);
    assert_eq!(recording.stats[0].kinds[1].count, 24);
}

#[test]
fn a_rate_holds_over_time_and_for_each_kind() {
    let text = "[a]\nrw=write\nbs=4k\nsize=4m\nrate=4m\nioengine=io_uring\niodepth=4";
    let recording = run_on(&mut Even::new(Nanos::from_micros(50)), text);
    assert_eq!(recording.stats[0].kinds[1].count, 1024);
    let seconds = recording.end.as_secs_f64();
    assert!((seconds - 1.0).abs() < 0.002, "{seconds}");

    let text = "[a]\nrw=randrw\nbs=4k\nsize=8m\nrate=1m,8m\nioengine=io_uring\niodepth=4\nruntime=2s\ntime_based";
    let stats = &run_on(&mut Even::new(Nanos::from_micros(50)), text).stats[0];
    assert!(stats.kinds[0].bytes <= (2 << 20) + (4 * 4096), "{}", stats.kinds[0].bytes);
}

#[test]
fn a_rate_of_requests_holds_whatever_their_size_and_beside_one_of_bytes() {
    let text =
        "[a]\nrw=randwrite\nbsrange=4k-64k\nsize=64m\nrate_iops=500\nnumber_ios=1000\nioengine=io_uring\niodepth=4";
    let seconds = run_on(&mut Even::new(Nanos::from_micros(50)), text).end.as_secs_f64();
    assert!((seconds - 2.0).abs() < 0.01, "{seconds}");
}

#[test]
fn each_direction_of_a_mix_keeps_a_rate_of_its_own() {
    let text = "[a]\nrw=randrw\nbs=4k\nsize=64m\nrate_iops=300,100\nruntime=10s\ntime_based";
    let stats = &run_on(&mut Even::new(Nanos::from_micros(50)), text).stats[0];
    assert!(stats.kinds[0].count.abs_diff(3000) < 10, "{}", stats.kinds[0].count);
    assert!(stats.kinds[1].count.abs_diff(1000) < 10, "{}", stats.kinds[1].count);
    let text = "[a]\nrw=randread\nbs=4k\nsize=1g\nrate_iops=1000\nrate_process=poisson\nnumber_ios=20000";
    let mut target = Even::new(Nanos::from_micros(1));
    let seconds = run_on(&mut target, text).end.as_secs_f64();
    assert!((seconds - 20.0).abs() < 0.8, "{seconds}");
    let gaps: Vec<f64> = target.log.windows(2).map(|pair| (pair[1].0 - pair[0].0).as_secs_f64()).collect();
    let short = gaps.iter().filter(|gap| **gap < 0.001).count() as f64 / gaps.len() as f64;
    assert!((short - 0.632).abs() < 0.02, "{short}");
}

#[test]
fn a_start_delay_counts_from_the_beginning_and_a_pause_from_the_end_of_the_job_before() {
    let begin = |options: &str| {
        let text = format!("[global]\nrw=write\nbs=4k\nsize=4m\n[a]\n[b]\nstonewall\n{options}");
        run_on(&mut Even::new(MS), &text).stats[1].start.0 / 1_000_000
    };
    // The first job takes 1024 ms.
    assert_eq!([begin(""), begin("startdelay=1"), begin("startdelay=2")], [1024, 1024, 2000]);
    assert_eq!([begin("pause=1"), begin("pause=1\nstartdelay=2")], [2024, 3000]);
    // As in fio, a job that is delayed holds nobody back.
    let text = "[global]\nrw=write\nbs=4k\nsize=4k\n[late]\nstartdelay=1\n[b]\nstonewall\n[c]\nstonewall";
    let starts: Vec<u64> =
        run_on(&mut Even::new(MS), text).stats.iter().map(|stats| stats.start.0 / 1_000_000).collect();
    assert_eq!(starts, [1000, 0, 1]);
    // A null engine is a pause.
    let text =
        "[global]\nrw=write\nbs=4k\nsize=4k\n[a]\n[p]\nstonewall\nioengine=null\ntime_based\nruntime=7\n[c]\nstonewall";
    let mut target = Even::new(MS);
    assert_eq!(run_on(&mut target, text).stats[2].start, Nanos::from_millis(7001));
    assert_eq!(target.log.len(), 2);
}

#[test]
fn a_job_waits_for_another_and_takes_others_with_it() {
    let text = "[global]\nrw=write\nbs=4k\nsize=1m\n[a]\n[b]\nnumber_ios=5\n[c]\nwait_for=b\n";
    let starts: Vec<u64> =
        run_on(&mut Even::new(MS), text).stats.iter().map(|stats| stats.start.0 / 1_000_000).collect();
    assert_eq!(starts, [0, 0, 5]);
    let counts = |what: &str| -> Vec<u64> {
        let text = format!(
            "[global]\nrw=write\nbs=4k\nsize=1m\n[long]\n[short]\nnumber_ios=5\nexitall\nexit_what={what}\n\
             [other]\nnew_group\n[behind]\nstonewall\n"
        );
        run_on(&mut Even::new(MS), &text).stats.iter().map(|stats| stats.kinds[1].count).collect()
    };
    assert_eq!(counts("group"), [6, 5, 256, 256]);
    assert_eq!(counts("stonewall"), [6, 5, 5, 256]);
    assert_eq!(counts("all"), [6, 5, 5, 0]);
}

#[test]
fn jobs_of_a_flow_keep_pace_by_their_weights() {
    let text = "[global]\nrw=write\nbs=4k\nsize=64m\ntime_based\nruntime=1s\nflow_id=7\n\
                [a]\nflow=1\nioengine=libaio\niodepth=16\n[b]\nflow=4\n";
    let recording = run_on(&mut Even::new(MS), text);
    let [a, b] = &recording.stats[..] else { panic!("two jobs") };
    assert!((245..=255).contains(&a.kinds[1].count), "{}", a.kinds[1].count);
    assert_eq!(b.kinds[1].count, 1000);
}

#[test]
fn a_flush_follows_every_nth_write_and_the_end() {
    use Op::{Flush as F, Write as W};
    let mut target = Even::new(MS);
    run_on(&mut target, "[a]\nrw=write\nbs=4k\nsize=32k\nfsync=3\nend_fsync=1");
    let ops: Vec<Op> = target.log.iter().map(|(_, request)| request.op).collect();
    assert_eq!(ops, [W, W, W, F, W, W, W, F, W, W, F]);
}

/// What fio calls under strace, and what it counts.
#[test]
fn a_flush_ends_each_pass_of_a_job_that_writes_and_is_not_counted() {
    use Op::{Flush as F, Read as R, Write as W};
    for (options, expected, counted) in [
        ("rw=write\nloops=2", &[W, W, F, W, W, F][..], 0),
        ("rw=write\nio_size=12k", &[W, W, F, W, F], 0),
        ("rw=write\nfsync=2\nloops=2", &[W, W, F, F, W, W, F], 2),
        ("rw=write\nverify=crc32c\nloops=2", &[W, W, F, R, R, W, W, F, R, R], 0),
        ("rw=write\nioengine=libaio\niodepth=2", &[W, W, F], 0),
        ("rw=write\nnumber_ios=1\nio_size=8k\nloops=2", &[W, W, F, F], 0),
        ("rw=read", &[R, R], 0),
        ("rw=trim", &[Op::Trim, Op::Trim], 0),
    ] {
        let mut target = Even::new(MS);
        let recording = run_on(&mut target, &format!("[a]\nbs=4k\nsize=8k\nend_fsync=1\n{options}"));
        let ops: Vec<Op> = target.log.iter().map(|(_, request)| request.op).collect();
        assert_eq!(ops, expected, "{options}");
        assert_eq!(recording.stats[0].kinds[F as usize].count, counted, "{options}");
    }
}

#[test]
fn nothing_is_handed_over_during_a_trim_nor_by_libaio_during_a_flush() {
    for (engine, rw, most) in
        [("io_uring", "trim", 1), ("libaio", "trim", 1), ("io_uring", "write", 4), ("libaio", "write\nfsync=1", 4)]
    {
        let mut target = Even::new(MS);
        let text = format!("[a]\nrw={rw}\nbs=4k\nsize=64k\nioengine={engine}\niodepth=4\n");
        let recording = run_on(&mut target, &text);
        assert_eq!(target.most, most, "{text}");
        let moved = recording.stats[0].kinds[if rw == "trim" { 2 } else { 1 }].count;
        assert_eq!(moved, 16, "{text}");
    }
    // Each write but those that fill the queue is flushed before the next is handed over.
    let mut target = Even::new(MS);
    run_on(&mut target, "[a]\nrw=write\nbs=4k\nsize=40k\nioengine=libaio\niodepth=4\nfsync=1\n");
    let flushed: Vec<u64> = target.log.iter().filter(|(_, r)| r.op == Op::Flush).map(|(at, _)| at.0 / MS.0).collect();
    let written: Vec<u64> = target.log.iter().filter(|(_, r)| r.op == Op::Write).map(|(at, _)| at.0 / MS.0).collect();
    assert_eq!(flushed, [0, 1, 2, 3, 4, 5, 6]);
    assert_eq!(written, [0, 1, 1, 1, 2, 3, 4, 5, 6, 7]);
}

/// A flow with a weight below 0 is none, in fio 3.33.
#[test]
fn nobody_waits_in_a_flow_with_a_weight_below_0() {
    let text = "[global]\nrw=write\nbs=4k\nsize=64m\ntime_based\nruntime=1s\nflow_id=7\n[a]\nflow=8\n[b]\nflow=-2\n";
    let recording = run_on(&mut Even::new(MS), text);
    assert_eq!(recording.stats.iter().map(|of| of.kinds[1].count).collect::<Vec<_>>(), [1000, 1000]);
}

#[test]
fn each_block_is_trimmed_and_then_written() {
    let mut target = Even::new(MS);
    run_on(&mut target, "[a]\nrw=randtrimwrite\nbs=64k\nsize=1m");
    assert_eq!(target.log.len(), 32);
    for pair in target.log.chunks(2) {
        assert_eq!((pair[0].1.op, pair[1].1.op), (Op::Trim, Op::Write));
        assert_eq!(pair[0].1.offset, pair[1].1.offset);
    }
}

#[test]
fn a_stop_keeps_what_was_recorded_and_awaits_what_is_under_way() {
    let mut target = Even::new(MS);
    let list = jobs("[a]\nrw=write\nbs=4k\nsize=512m\nioengine=io_uring\niodepth=4\n[b]\nstonewall\nrw=write");
    let mut looks = 0;
    let recording = run(&mut target, &list, 0, &mut |progress: &pslc_load::Progress| {
        assert_eq!(progress.total_bytes, (512 << 20) + CAPACITY);
        looks += 1;
        looks < 3
    });
    assert!(recording.interrupted);
    assert_eq!(target.under_way, 0);
    assert_eq!(recording.stats[0].kinds[1].count, target.log.len() as u64);
    assert_eq!(recording.stats[1].kinds[1].count, 0);
    let written: u64 = column(&recording, "time", "write_bytes").iter().sum();
    assert_eq!(written, recording.stats[0].kinds[1].bytes);
}

#[test]
fn a_stop_during_a_long_thought_is_not_waited_for() {
    let mut target = Even::new(MS);
    let list = jobs("[a]\nrw=write\nbs=4k\nsize=1m\nthinktime=1h");
    let recording = run(&mut target, &list, 0, &mut |_: &_| false);
    assert!(recording.interrupted);
    assert!(recording.stats[0].kinds[1].count <= 2);
}

#[test]
fn a_target_that_fails_leaves_the_recording_until_then() {
    let mut target = Even::new(MS);
    target.fails_at = Some(100);
    let recording = run_on(&mut target, "[a]\nrw=write\nbs=4k\nsize=1m\nioengine=io_uring\niodepth=4");
    let text = recording.error.expect("an error").to_string();
    assert!(text.contains("write of 4096 bytes at offset 409600"), "{text}");
    assert_eq!(recording.stats[0].kinds[1].count, 97);
}

#[test]
fn both_series_add_up_and_bins_of_bytes_are_equal() {
    let recording = run_on(&mut Even::new(MS), "[a]\nrw=write\nbs=1m\nsize=1g\nioengine=io_uring\niodepth=4");
    for axis in ["time", "bytes"] {
        assert_eq!(column(&recording, axis, "write_bytes").iter().sum::<u64>(), 1 << 30);
        assert_eq!(column(&recording, axis, "writes").iter().sum::<u64>(), 1024);
        assert!(column(&recording, axis, "end_ns").windows(2).all(|pair| pair[0] <= pair[1]));
    }
    assert!(column(&recording, "bytes", "write_bytes").iter().all(|&bytes| bytes == 1 << 20));
}

#[test]
fn mixes_keep_their_share() {
    let recording = run_on(&mut Even::new(MS), "[a]\nrw=randrw\nrwmixread=70\nbs=4k\nsize=256m");
    let [reads, writes, ..] = &recording.stats[0].kinds;
    let share = reads.count as f64 / (reads.count + writes.count) as f64;
    assert!((share - 0.7).abs() < 0.01, "{share}");
}

#[test]
fn a_simulated_drive_shows_its_cache_and_the_same_seed_gives_the_same_run() {
    let text =
        "[fill]\nrw=write\nbs=1m\nioengine=io_uring\niodepth=8\nsize=100%\n[after]\nstonewall\nrw=randrw\nnumber_ios=2000";
    let go = || {
        let mut target = small_drive();
        let list =
            pslc_load::job::parse("t", text, &[], Ground::Simulated, target.capacity_bytes(), &|_| None).unwrap();
        let recording = run(&mut target, &list, 7, &mut |_: &_| true);
        (format!("{:?}", recording.totals), recording.end, recording)
    };
    let (first, end, recording) = go();
    assert_eq!((first, end), (go().0, go().1));
    let names = pslc_ssd::Machine::COLUMNS;
    let columns = recording.bytes.columns(names);
    let of = |name: &str| &columns.iter().find(|(n, _)| n == name).unwrap().1;
    let speed = |from: usize, to: usize| {
        let bytes: u64 = of("write_bytes")[from..to].iter().sum();
        bytes as f64 / (of("end_ns")[to - 1] - of("end_ns")[from]) as f64
    };
    assert!(speed(10, 300) > 2.0 * speed(600, 1000), "{} {}", speed(10, 300), speed(600, 1000));
    assert_eq!(of("host_write_bytes_total").last(), recording.totals.get(1));
}

#[test]
fn a_look_at_a_run_changes_nothing_and_its_end_sums_up_what_it_began() {
    /// Keeps what there is, or not.
    struct Keeper(bool);
    impl Observer for Keeper {
        fn look(&mut self, _: &Progress) -> Next {
            if self.0 {
                Next::Keep
            } else {
                Next::Go
            }
        }
    }
    let go = |keeps: bool| {
        let mut target = small_drive();
        let text = "[a]\nrw=randwrite\nbs=4k\nioengine=io_uring\niodepth=32\nsize=100%\nnumber_ios=200001";
        let list = pslc_load::job::parse("t", text, &[], Ground::Simulated, target.capacity_bytes(), &|_| None);
        let recording = run(&mut target, &list.unwrap(), 7, &mut Keeper(keeps));
        let mut begun = vec![0; pslc_ssd::Machine::COLUMNS.len()];
        target.machine().sample(recording.end, &mut begun);
        assert_eq!(recording.totals, begun);
        let columns = recording.time.columns(pslc_ssd::Machine::COLUMNS);
        let last: Vec<u64> = columns[columns.len() - begun.len()..].iter().map(|(_, of)| *of.last().unwrap()).collect();
        assert!(last != begun, "nothing was under way");
        columns
    };
    assert_eq!(go(false), go(true));
}
