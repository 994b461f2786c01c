//! Job files: fio's words, fio's numbers, and errors that help.

use proptest::prelude::*;
use pslc_load::job::{parse, Distribution, Ground, Job, Mix, SyncMode};
use pslc_ssd::Nanos;

const CAPACITY: u64 = 1_000_000_000_000 / 4096 * 4096;

fn read(text: &str) -> Result<Vec<Job>, String> {
    let env = |name: &str| (name == "SIZE").then(|| "2m".to_string());
    parse("my.fio", text, &[], Ground::Simulated, CAPACITY, &env).map_err(|error| error.to_string())
}

fn one(options: &str) -> Job {
    read(&format!("[a]\n{options}")).unwrap().remove(0)
}

#[test]
fn without_options_there_are_fios_defaults() {
    let job = one("");
    assert_eq!((job.bs.read, job.iodepth, job.numjobs, job.size), (4096, 1, 1, CAPACITY));
    assert!(!job.rw.random && job.rw.mix == Mix::Read && job.io_size == CAPACITY);
}

#[test]
fn every_option_of_the_design_reaches_the_job() {
    let job = one(
        "rw=randrw:8\nbs=4k,128k\noffset=1g\nsize=10%\nio_size=20g\niodepth=32\nnumjobs=4\nruntime=1m\ntime_based\n\
         ramp_time=5\nstartdelay=500ms\nstonewall\nloops=2\nnumber_ios=7\nthinktime=250\nthinktime_blocks=16\n\
         rate=10m,20m\noffset_increment=1g\nnorandommap\nrandseed=99\nrandom_distribution=zipf:1.2\nrwmixread=80\n\
         fsync=32\nend_fsync=1\nsync=dsync\ngroup_reporting\nname=other",
    );
    assert_eq!((job.rw.random, job.rw.mix, job.rw.run), (true, Mix::ReadWrite, 8));
    assert_eq!((job.bs.read, job.bs.write, job.bs.trim), (4096, 131_072, 131_072));
    assert_eq!((job.offset, job.size, job.offset_increment), (1 << 30, CAPACITY / 10 / 512 * 512, 1 << 30));
    assert_eq!((job.io_size, job.iodepth, job.numjobs), (40 << 30, 32, 4));
    assert_eq!((job.runtime, job.time_based), (Some(Nanos::from_secs(60)), true));
    assert_eq!((job.ramp_time, job.startdelay), (Nanos::from_secs(5), Nanos::from_millis(500)));
    assert_eq!((job.stonewall, job.loops, job.number_ios), (true, 2, Some(7)));
    assert_eq!((job.thinktime, job.thinktime_blocks), (Nanos::from_micros(250), 16));
    assert_eq!((job.rate.read, job.rate.write), (Some(10 << 20), Some(20 << 20)));
    assert_eq!((job.norandommap, job.randseed), (true, Some(99)));
    assert_eq!((job.distribution, job.rwmixread), (Distribution::Zipf(1.2), 80));
    assert_eq!(
        (job.fsync, job.end_fsync, job.sync, job.group_reporting),
        (32, true, Some(SyncMode::Dsync), true)
    );
    assert_eq!(job.name, "other");
    assert!(job.notes.is_empty(), "{:?}", job.notes);
}

#[test]
fn numbers_are_fios() {
    for (text, bytes) in
        [("4k", 4096), ("4K", 4096), ("4kb", 4096), ("4KiB", 4096), ("1m", 1 << 20), ("8192", 8192)]
    {
        assert_eq!(one(&format!("bs={text}")).bs.write, bytes, "{text}");
    }
    assert_eq!(one("kb_base=1000\nsize=1g").size, 1_000_000_000);
    assert_eq!(one("kb_base=1000\nsize=1gi").size, 1 << 30);
    assert_eq!(one("offset=50%\nsize=100%").size, CAPACITY / 2 / 512 * 512);
}

#[test]
fn global_comes_first_sections_win_and_the_command_line_wins_over_both() {
    let text = "; a remark\n[global]\nbs=8k\niodepth=4\n[a]\nbs=16k\n# another\n[b]\n";
    let jobs = read(text).unwrap();
    assert_eq!((jobs[0].bs.read, jobs[1].bs.read, jobs[1].iodepth), (16_384, 8192, 4));
    let overrides = [("bs".to_string(), "1m".to_string())];
    let jobs = parse("my.fio", text, &overrides, Ground::Simulated, CAPACITY, &|_| None).unwrap();
    assert_eq!((jobs[0].bs.read, jobs[1].bs.read), (1 << 20, 1 << 20));
    assert_eq!(one("size=${SIZE}").size, 2 << 20);
}

#[test]
fn what_is_ignored_is_said_once() {
    let job = one(
        "verify=crc32c\nioengine=libaio\nfilename=/dev/nvme9n9\nrandrepeat=1\npercentile_list=99\nverify=0",
    );
    assert_eq!(job.notes.len(), 5, "{:?}", job.notes);
    assert!(job.notes[0].starts_with("verify is ignored: "), "{:?}", job.notes);
}

#[test]
fn an_error_names_the_file_the_line_and_the_way_out() {
    for (text, place, what, hint) in [
        ("[a]\nrw=write\niodeth=4", "my.fio:3: ", "unknown option iodeth", "iodepth"),
        ("[a]\nbs=4q", "my.fio:2: ", "bs: \"4q\" is no size", "4k, 1m"),
        ("[a]\nbs=100", "my.fio:2: ", "bs: 100 bytes", "a multiple of 512"),
        ("[a]\nrw=wirte", "my.fio:2: ", "\"wirte\" is unknown", "trimwrite"),
        ("[a]\noffset=1g\nsize=1t", "my.fio:3: ", "end past the", "size=100%"),
        ("[a]\nsize=1k", "my.fio:2: ", "less than one block", ""),
        ("[a]\ntime_based", "my.fio:2: ", "there is no runtime", ""),
        ("[a]\niodepth=0", "my.fio:2: ", "from 1 to 65536", ""),
        ("[a]\nrwmixread=101", "my.fio:2: ", "from 0 to 100", ""),
        ("[a]\nrandom_distribution=normal:0.2", "my.fio:2: ", "not supported", "zipf"),
        ("[a]\nsize=${NOWHERE}", "my.fio:2: ", "${NOWHERE} is not set", "environment"),
        ("[a]\noffset=18446744073709551615\nnumjobs=9\noffset_increment=4t", "my.fio:1: ", "end past", ""),
        ("[a]\nruntime=9999999999", "my.fio:2: ", "too long", "1000d"),
        ("[a]\nrate=1,2,3,4", "my.fio:2: ", "more than three values", ""),
        ("[a]\nbssplit=4k/60:64k/30", "my.fio:2: ", "shares of 90 percent", "100 in sum"),
        ("[a]\nbsrange=4k", "my.fio:2: ", "is no range", "4k-64k"),
        ("[a]\nbsrange=64k-4k", "my.fio:2: ", "ends before it begins", ""),
        ("[a]\nbsrange=512-1g", "my.fio:2: ", "2097152 sizes", "at most 4096"),
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
