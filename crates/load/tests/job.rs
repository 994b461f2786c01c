//! Job files: fio's words, fio's numbers, and errors that help.

use proptest::prelude::*;
use pslc_load::job::{parse, ByKind, Distribution, ExitWhat, Ground, Job, Mix, Sizes, SyncMode};
use pslc_ssd::Nanos;

const CAPACITY: u64 = 1_000_000_000_000 / 4096 * 4096;

fn read(text: &str) -> Result<Vec<Job>, String> {
    let env = |name: &str| (name == "SIZE").then(|| "2m".to_string());
    parse("my.fio", text, &[], Ground::Simulated, CAPACITY, &env)
        .map_err(|error| format!("{error}\n\nhint: {}", error.hint()))
}

fn one(options: &str) -> Job {
    read(&format!("[a]\n{options}")).unwrap().remove(0)
}

#[test]
fn without_options_there_are_fios_defaults() {
    let job = one("");
    assert_eq!((job.bs.read, job.iodepth, job.numjobs, job.size), (4096, 1, 1, CAPACITY));
    assert!(!job.rw.random && job.rw.mix == Mix::Read && job.io_size.is_none() && job.one_at_a_time);
}

#[test]
fn every_option_of_the_design_reaches_the_job() {
    let job = one(
        "rw=randrw:8\nbs=4k,128k\noffset=1g\nsize=10%\nio_size=20g\nioengine=io_uring\niodepth=32\nnumjobs=4\nruntime=1m\ntime_based\n\
         ramp_time=5\nstartdelay=500ms\nstonewall\nloops=2\nnumber_ios=7\nthinktime=250\nthinktime_blocks=16\n\
         rate=10m,20m\noffset_increment=1g\nnorandommap\nrandseed=99\nrandom_distribution=zipf:1.2\nrwmixread=80\n\
         fsync=32\nend_fsync=1\nsync=dsync\ngroup_reporting\nname=other",
    );
    assert_eq!((job.rw.random, job.rw.mix, job.rw.run), (true, Mix::ReadWrite, 8));
    assert_eq!((job.bs.read, job.bs.write, job.bs.trim), (4096, 131_072, 131_072));
    assert_eq!((job.offset, job.size, job.offset_increment), (1 << 30, CAPACITY / 10 / 4096 * 4096, 1 << 30));
    assert_eq!((job.io_size, job.iodepth, job.numjobs), (Some(20 << 30), 32, 4));
    assert_eq!((job.runtime, job.time_based), (Some(Nanos::from_secs(60)), true));
    let delay = Nanos::from_millis(500);
    assert_eq!((job.ramp_time, job.startdelay), (Nanos::from_secs(5), (delay, delay)));
    assert_eq!((job.stonewall, job.loops, job.number_ios), (true, 2, Some(7)));
    assert_eq!((job.think.time, job.think.blocks), (Nanos::from_micros(250), Some(16)));
    assert_eq!((job.rate.read, job.rate.write), (Some(10 << 20), Some(20 << 20)));
    assert_eq!((job.norandommap, job.randseed), (true, Some(99)));
    assert_eq!((job.distribution, job.rwmixread), (Distribution::Zipf(1.2), 80));
    assert_eq!((job.fsync, job.end_fsync, job.sync, job.group_reporting), (32, true, Some(SyncMode::Dsync), true));
    assert_eq!(job.name, "other");
    assert!(job.notes.is_empty(), "{:?}", job.notes);
}

#[test]
fn numbers_are_fios() {
    for (text, bytes) in [
        ("4k", 4096),
        ("4K", 4096),
        ("4kb", 4096),
        ("4ki", 4096),
        ("0x1000", 4096),
        ("1m", 1 << 20),
        ("8192", 8192),
        // As fio has it, a unit stands right behind decimal digits, or says nothing.
        ("8192.5m", 8192),
        ("8192 k", 8192),
        ("0x2000k", 8192),
    ] {
        assert_eq!(one(&format!("bs={text}")).bs.write, bytes, "{text}");
    }
    assert_eq!(one("kb_base=1000\nsize=1g").size, 1_000_000_000);
    assert_eq!(one("kb_base=1000\nsize=1gib").size, 1 << 30);
    assert_eq!(one("offset=50%\nsize=100%").size, CAPACITY / 2 / 4096 * 4096);
    assert_eq!(one("iodepth=1k\nioengine=libaio").iodepth, 1024);
    assert_eq!(one("size=8192.5m").notes, ["size=8192.5m is 8192, as fio reads it"]);
}

#[test]
fn global_comes_first_sections_win_and_the_command_line_wins_over_both() {
    let text = "; a remark\n[global]\nbs=8k\nioengine=io_uring\niodepth=4\n[a]\nbs=16k\n# another\n[b]\n";
    let jobs = read(text).unwrap();
    assert_eq!((jobs[0].bs.read, jobs[1].bs.read, jobs[1].iodepth), (16_384, 8192, 4));
    let overrides = [("bs".to_string(), "1m".to_string())];
    let jobs = parse("my.fio", text, &overrides, Ground::Simulated, CAPACITY, &|_| None).unwrap();
    assert_eq!((jobs[0].bs.read, jobs[1].bs.read), (1 << 20, 1 << 20));
    assert_eq!(one("size=${SIZE}").size, 2 << 20);
}

#[test]
fn what_is_ignored_is_said_once() {
    let job = one("zero_buffers=1\nioengine=libaio\nfilename=/dev/nvme9n9\nthread\npercentile_list=99\nzero_buffers=0");
    assert_eq!(job.notes.len(), 3, "{:?}", job.notes);
    assert!(job.notes[0].starts_with("zero_buffers is ignored: "), "{:?}", job.notes);
}

#[test]
fn an_error_names_the_file_the_line_and_the_way_out() {
    for (text, place, what, hint) in [
        ("[a]\nrw=write\niodeth=4", "my.fio:3: ", "unknown option iodeth", "iodepth"),
        ("[a]\nbs=4q", "my.fio:2: ", "bs: \"4q\" is no size", "4k, 1m"),
        ("[a]\nbs=100", "my.fio:2: ", "bs: 100 bytes", "a multiple of 512"),
        ("[a]\nrw=wirte", "my.fio:2: ", "\"wirte\" is unknown", "trimwrite"),
        ("[a]\noffset=1g\nsize=1t", "my.fio:3: ", "end past the", "size=100%"),
        ("[a]\nsize=1k", "my.fio:2: ", "less than one block", "the whole target is size=100%"),
        ("[a]\nsize=1024.0M", "my.fio:2: ", "1024 bytes is less than one block", "fio reads 1024.0M as 1024"),
        ("[a]\nioengine=rbd\nclientname=admin", "my.fio:2: ", "another engine's business", "io_uring"),
        ("[a]\nioengine=filestat", "my.fio:2: ", "metadata of a file system", ""),
        ("[a]\nzonemode=zbd", "my.fio:2: ", "zonemode: zbd is for zoned drives", "strided"),
        (
            "[a]\nhttp_host=x",
            "my.fio:2: ",
            "an fio option that pslc does not run: http_host: it is of the engine http",
            "leave it out",
        ),
        ("[a]\nruntime=30sec", "my.fio:2: ", "30 microseconds to fio", "30s"),
        ("[a]\nbs=4KiB", "my.fio:2: ", "4000 bytes, which fio takes", "4K"),
        ("[a]\nrate=1m\nrate_iops=7", "my.fio:3: ", "there is a rate, too", ""),
        ("[a]\nrate_min=1m\nrate_iops_min=7", "my.fio:3: ", "there is a rate_min, too", "one of them"),
        ("[a]\nrate=1m\nratemin=2m", "my.fio:3: ", "2097152 a second at least, and 1048576 at most", ""),
        ("[a]\nzonesize=1m", "my.fio:2: ", "there are no zones", "zonemode=strided"),
        ("[a]\nzonemode=strided", "my.fio:2: ", "no zonesize", "zonesize=64m"),
        ("[a]\nwait_for=b\n[b]", "my.fio:1: ", "there is no job b before a", "first"),
        ("[a]\nwait_for=a", "my.fio:2: ", "a waits for itself", "name a job that stands before it"),
        ("[a]\nsteadystate=iops:x", "my.fio:2: ", "is no number of 0 or more", "as in fio's manual"),
        ("[a]\nioengine=io_uring\niodepth=0", "my.fio:3: ", "from 1 to 65536", ""),
        ("[a]\nrwmixread=101", "my.fio:2: ", "from 0 to 100", ""),
        ("[a]\nrandom_distribution=binomial:0.2", "my.fio:2: ", "is no distribution", "zipf"),
        ("[a]\nsize=${NOWHERE}", "my.fio:2: ", "${NOWHERE} is not set", "environment"),
        ("[a]\noffset=18446744073709551615\nnumjobs=9\noffset_increment=4t", "my.fio:2: ", "end past", ""),
        ("[a]\nruntime=9999999999", "my.fio:2: ", "too long", "1000d"),
        ("[a]\nrate=1,2,3,4", "my.fio:2: ", "more than three values", "as in fio's manual"),
        ("[a]\nbssplit=4k/60:64k/50:1m", "my.fio:2: ", "shares of 110 percent", "100 in sum"),
        ("[a]\nbsrange=4k", "my.fio:2: ", "is no range", "4k-64k"),
        ("[a]\nrandom_distribution=pareto:1", "my.fio:2: ", "pareto's share is 1", "above 0 and below 1"),
        ("[a]\npercentage_random=101", "my.fio:2: ", "is not a whole number from 0 to 100", ""),
        ("[a]\nbssplit=4k:5/5", "my.fio:2: ", "5 bytes", "a multiple of 512"),
        ("[a]\nrw=read\nsize=1m\ncopy_to=100%", "my.fio:4: ", "past the", ""),
        ("[a]\nrw=write\nsize=1m\ncopy_to=1m", "my.fio:4: ", "only what is read is copied", "rw=read"),
        ("rw=write", "my.fio:1: ", "before any section", "[global]"),
        ("[a", "my.fio:1: ", "is no section", "brackets"),
        ("[global]\nrw=read", "my.fio: ", "no job in it", ""),
    ] {
        let error = read(text).expect_err(text);
        let (message, rest) = error.split_once("\n\nhint: ").expect("a blank line and a hint");
        assert!(message.starts_with(place) && message.contains(what), "{error}");
        assert!(rest.contains(hint), "{error}");
    }
    let overrides = [("bs".to_string(), "big".to_string())];
    let error = parse("my.fio", "[a]", &overrides, Ground::Simulated, CAPACITY, &|_| None).unwrap_err();
    assert_eq!(error.place, "--bs=big");
}

/// fio 3.33, asked with `fio --parse-only` and by its own log of the run, has each of these so.
#[test]
fn words_mean_what_they_mean_to_fio() {
    // A name in [global] is nobody's, and what begins with "global" is [global].
    let jobs = read("[global]\nname=all\nbs=8k\n[a]\n[global of others]\nbs=16k\n[b]\nname=c").unwrap();
    let found: Vec<_> = jobs.iter().map(|job| (job.name.as_str(), job.bs.read)).collect();
    assert_eq!(found, [("a", 8192), ("c", 16_384)]);
    // Comments after values.
    assert_eq!(one("bs=8k ; small\nsize=1m # all of it\n").size, 1 << 20);
    // A file size is a size; of both, the smaller.
    assert_eq!(one("filesize=4m").extent(0).pass, 4 << 20);
    assert_eq!(one("filesize=4m\nsize=1g").extent(0).pass, 4 << 20);
    let both = one("filesize=4m\nsize=1m").extent(0);
    assert_eq!((both.region, both.pass), (4 << 20, 1 << 20));
    // What follows a sequential rw is a stride, also backwards; after a random one a number of requests.
    assert_eq!((one("rw=read:4096").rw.hole, one("rw=read:-8k").rw.hole), (4096, -8192));
    assert_eq!((one("rw=randread:8").rw.run, one("rw=randread:8").rw.hole), (8, 0));
    // Engines that wait are not deeper than 1, psync is one of them, and none is psync.
    for engine in ["", "ioengine=psync\n", "ioengine=mmap\n"] {
        let job = one(&format!("{engine}iodepth=32"));
        assert!(job.iodepth == 1 && job.notes[0].starts_with("iodepth=32 is 1: "), "{:?}", job.notes);
    }
    assert_eq!(one("ioengine=libaio\niodepth=32").iodepth, 32);
    // By direction.
    let job = one("rate_iops=300,100\npercentage_random=20,80\nbs=,8k");
    assert_eq!((job.rate_iops.read, job.rate_iops.write, job.rate_iops.trim), (Some(300), Some(100), Some(100)));
    assert_eq!(job.percentage_random, ByKind { read: 20, write: 80, trim: 80 });
    assert_eq!((job.bs.read, job.bs.write), (4096, 8192));
    // Ranges go up, whichever way they are written, and a split wins over them.
    assert_eq!(one("bsrange=64k-4k").sizes.read, Sizes::Range(4096, 65_536));
    assert_eq!(one("bsrange=512/25:1k:25:4k/25").sizes.read, Sizes::Range(512, 1024));
    assert_eq!(one("bssplit=4k/10:64k/90\nbs=1m\nbsrange=1m-2m").bs.write, 65_536);
    // A split of one direction leaves the others as they were, its shares need not come to 100, and it has no ranges.
    let job = one("rw=randrw\nbssplit=,4k/10:64k/60:1m/29,");
    assert_eq!((&job.sizes.read, &job.sizes.trim), (&Sizes::One(4096), &Sizes::One(4096)));
    assert_eq!(job.sizes.write, Sizes::Split(vec![(4096, 10), (1 << 20, 29), (65_536, 60)]));
    let job = one("bssplit=16k/75:20k-28k/25");
    assert_eq!(job.sizes.read, Sizes::Split(vec![(20_480, 25), (16_384, 75)]));
    assert_eq!(job.notes, ["bssplit has no ranges: 20k-28k is 20k, as fio reads it"]);
    // libaio has other names, and a library is an engine of its own.
    assert_eq!(one("ioengine=aio\niodepth=8").iodepth, 8);
    assert!(read("[a]\nioengine=./my_engine.so").unwrap_err().contains("a program of its own"));
    // A trim moves no data, so it may be larger than any read.
    assert_eq!(one("rw=trim\nbs=2g").bs.trim, 2 << 30);
    assert!(read("[a]\nrw=trimwrite\nbs=2g").unwrap_err().contains("2147483648 bytes"));
    assert_eq!(one("exitall\nexit_what=all").exit_what, ExitWhat::All);
    // What asks for nothing is not refused.
    one("zonemode=none\nverify_only=0\nlatency_target=0\nfile_append=0");
    // A marker tells where lines come from.
    let error = read("[a]\n#line 7 other.fio\nbs=x").unwrap_err();
    assert!(error.starts_with("other.fio:7: "), "{error}");
}

proptest! {
    #[test]
    fn no_text_makes_the_parser_panic(text in "(\\[a\\]\n)?((rw|bs|size|offset|rate|io_size|loops|offset_increment|numjobs|thinktime|runtime)=[0-9a-z%:,.$]{0,24}\n){0,6}") {
        let _ = read(&text);
    }

    #[test]
    fn nor_does_any_noise(text in "\\PC{0,80}") {
        let _ = read(&text);
    }
}

/// As fuzz/fuzz_targets/job.rs does; here overflows panic.
#[test]
fn the_corpus_of_the_fuzzer_is_read_or_refused() {
    const CAPACITY: u64 = 1 << 40;
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/job");
    let mut read = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let text = std::fs::read(entry.unwrap().path()).unwrap();
        for ground in [Ground::Simulated, Ground::Real] {
            let text = String::from_utf8_lossy(&text);
            let found = parse("fuzz.fio", &text, &[], ground, CAPACITY, &|_| Some("1".into()));
            for job in found.iter().flatten() {
                assert!(job.offset.checked_add(job.size).is_some_and(|end| end <= CAPACITY));
            }
            read += found.is_ok() as usize;
            pslc_load::plan(&found.unwrap_or_default());
        }
    }
    assert!(read > 0);
}
