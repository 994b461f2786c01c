//! A file through both engines: the same requests, the right bytes, and errors that keep what was recorded.

#![cfg(unix)]

use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use pslc_drive::error::TargetFileError;
use pslc_drive::{inspect_file, open_existing, open_scratch, Kind, OpenError, RealTarget};
use pslc_load::job::{parse, Ground, Job};
use pslc_load::record::Recording;
use pslc_load::{run, Target};

const MB: u64 = 1 << 20;

/// A folder of the test's own under target/, on a real file system.
fn folder(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&path);
    std::fs::create_dir_all(&path).unwrap();
    path
}

fn jobs(text: &str, target: &RealTarget) -> Vec<Job> {
    let jobs = parse("t.fio", text, &[], Ground::Real, target.capacity_bytes(), &|_| None);
    jobs.unwrap_or_else(|error| panic!("{error}"))
}

fn go(target: &mut RealTarget, text: &str) -> Recording {
    let list = jobs(text, target);
    target.check(&list).unwrap_or_else(|error| panic!("{error}"));
    run(target, &list, 1, &mut |_: &_| true)
}

fn scratch(name: &str, kind: Kind) -> RealTarget {
    open_scratch(&folder(name).join("scratch"), 64 * MB).unwrap().with_engine(kind)
}

#[test]
fn both_engines_do_every_kind_of_request() {
    for kind in [Kind::Uring, Kind::Threads] {
        let mut target = scratch("kinds", kind);
        for direct in [0, 1] {
            let text = format!(
                "[global]\ndirect={direct}\nsize=16m\n[w]\nrw=write\nbs=256k\nioengine=io_uring\niodepth=8\nend_fsync=1\n\
                 [r]\nstonewall\nrw=randread\nbs=4k\nioengine=io_uring\niodepth=16\nnumber_ios=500\n\
                 [mix]\nstonewall\nrw=randrw\nbs=8k\nioengine=io_uring\niodepth=4\nfdatasync=16\nnumber_ios=300\nnumjobs=2\n\
                 [sync]\nstonewall\nrw=randwrite\nbs=4k\nsync=dsync\nnumber_ios=20\n\
                 [trim]\nstonewall\nrw=trim\nbs=1m\nioengine=io_uring\niodepth=2\n"
            );
            let recording = go(&mut target, &text);
            assert!(recording.error.is_none(), "{:?} {:?}", kind, recording.error);
            assert_eq!(target.engine(), Some(kind));
            let count = |job: usize, op: usize| recording.stats[job].kinds[op].count;
            // As in fio, the flush at the end of a pass does not count.
            assert_eq!((count(0, 1), count(0, 3)), (64, 0));
            assert_eq!(count(1, 0), 500);
            assert_eq!(count(2, 0) + count(2, 1), 300);
            assert!(count(2, 3) > 0);
            assert_eq!((count(4, 1), count(5, 2)), (20, 16));
        }
    }
}

#[test]
fn what_a_verifying_job_wrote_reads_back_the_same() {
    for kind in [Kind::Uring, Kind::Threads] {
        let mut target = scratch("verify", kind);
        for rw in ["write", "randwrite"] {
            let text = format!(
                "[v]\nrw={rw}\nbs=16k\nsize=8m\nioengine=io_uring\niodepth=8\ndirect=1\nverify=crc32c\n"
            );
            let recording = go(&mut target, &text);
            assert!(recording.error.is_none(), "{:?}", recording.error);
            assert_eq!((recording.stats[0].kinds[1].count, recording.stats[0].kinds[0].count), (512, 512));
        }
    }
}

#[test]
fn a_byte_that_changed_is_found() {
    let path = folder("corrupt").join("file");
    std::fs::write(&path, vec![1; 4 * MB as usize]).unwrap();
    let mut target = open_existing(&path, None, Some(&inspect_file(&path).unwrap().identity)).unwrap();
    let list = jobs("[v]\nrw=write\nbs=16k\nioengine=io_uring\niodepth=2\ndirect=0\nverify=md5\n", &target);
    let file = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
    let mut spoilt = false;
    // Between the last write and the first read; the observer is asked every 16 requests of 256.
    let recording = run(&mut target, &list, 1, &mut |progress: &pslc_load::Progress| {
        if progress.done_bytes >= 3 * MB && !spoilt {
            spoilt = true;
            file.write_all_at(b"x", 12_345).unwrap();
        }
        true
    });
    let error = recording.error.expect("it differs").to_string();
    assert!(error.contains("byte 12345 is not what was written"), "{error}");
}

#[test]
fn a_write_that_was_lost_is_found_though_what_was_there_before_is_whole() {
    let path = folder("lost").join("file");
    std::fs::write(&path, vec![1; 4 * MB as usize]).unwrap();
    let mut target = open_existing(&path, None, Some(&inspect_file(&path).unwrap().identity)).unwrap();
    let text = "[v]\nrw=write\nbs=16k\nioengine=io_uring\niodepth=2\ndirect=0\nverify=md5\nloops=2\n";
    let list = jobs(text, &target);
    let file = std::fs::OpenOptions::new().read(true).write(true).open(&path).unwrap();
    let mut first = vec![0; 16384];
    let mut spoilt = false;
    // Of the first pass, put back before the second is read.
    let recording = run(&mut target, &list, 1, &mut |progress: &pslc_load::Progress| {
        match progress.done_bytes / MB {
            5 => file.read_exact_at(&mut first, 65536).unwrap(),
            11 if !spoilt => {
                spoilt = true;
                file.write_all_at(&first, 65536).unwrap();
            }
            _ => {}
        }
        true
    });
    let error = recording.error.expect("it differs").to_string();
    assert!(error.contains("written by write 4 of its job, and the last one there was 260"), "{error}");
}

#[test]
fn the_offsets_of_a_seeded_job_are_those_on_a_simulated_drive() {
    let mut target = scratch("offsets", Kind::Uring);
    let text = "[w]\nrw=randwrite\nbs=64k\nioengine=io_uring\niodepth=1\ndirect=1\nnumber_ios=50\nsize=32m\n";
    let list = jobs(text, &target);
    let offsets: Vec<u64> = pslc_load::Stream::new(&list[0], 0, 0, 1).map(|request| request.offset).collect();
    // A block holds data exactly where a request of the stream went.
    go(&mut target, text);
    for block in 0..512u64 {
        let read = format!("[r]\nrw=read\nbs=64k\noffset={}\nsize=64k\ndirect=1\n", block * 65536);
        let failed = go(&mut target, &read).error.is_some();
        assert_eq!(failed, !offsets.contains(&(block * 65536)), "block {block}");
    }
}

#[test]
fn reading_what_was_never_written_is_refused() {
    let mut target = scratch("unwritten", Kind::Uring);
    let recording = go(&mut target, "[r]\nrw=read\nbs=4k\nsize=1m\ndirect=1\n");
    assert!(recording.error.unwrap().to_string().contains("nothing was ever written there"));
    let path = folder("sparse").join("sparse");
    let file = std::fs::File::create(&path).unwrap();
    file.set_len(8 * MB).unwrap();
    file.write_all_at(&[7; 4096], MB).unwrap();
    drop(file);
    let mut target = open_existing(&path, None, Some(&inspect_file(&path).unwrap().identity)).unwrap();
    assert!(go(&mut target, "[r]\nrw=read\nbs=4k\nsize=4k\noffset=1m\n").error.is_none());
    assert!(go(&mut target, "[r]\nrw=read\nbs=4k\nsize=4k\noffset=2m\n").error.is_some());
}

#[test]
fn a_scratch_file_has_no_name_and_an_existing_one_is_never_taken() {
    let folder = folder("names");
    let path = folder.join("scratch");
    let target = open_scratch(&path, 16 * MB).unwrap();
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0, "gone as soon as it is open");
    drop(target);
    std::fs::write(&path, "precious").unwrap();
    let error = open_scratch(&path, 16 * MB).err().unwrap();
    assert_eq!(error.code(), "scratch-exists");
    assert_eq!(error.to_string(), format!("{} exists, and is not overwritten", path.display()));
    assert_eq!(error.hint(), "give a new name, or --reuse to measure on this file and lose what is in it");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "precious");
}

#[test]
fn a_scratch_file_leaves_room_on_the_file_system() {
    let error = open_scratch(&folder("room").join("scratch"), 1 << 50).err().unwrap();
    let OpenError::TargetFile(TargetFileError::ScratchNoSpace { wanted_bytes, free_bytes, .. }) = &error
    else {
        panic!("{error}")
    };
    assert_eq!(*wanted_bytes, 1 << 50);
    assert!(error.to_string().contains("are free beyond what is kept (5 % of the file system"), "{error}");
    assert_eq!(error.hint(), format!("--size={}MB at most", free_bytes / 1_000_000));
}

#[test]
fn a_file_system_that_refuses_direct_io_is_an_error_and_no_silent_fall_back() {
    let path = Path::new("/dev/shm").join(format!("pslc-test-{}", std::process::id()));
    let Ok(target) = open_scratch(&path, 4 * MB) else { return };
    let list = jobs("[w]\nrw=write\nbs=1m\ndirect=1\n", &target);
    // Newer kernels let tmpfs take O_DIRECT; then there is nothing to refuse.
    if let Err(error) = target.check(&list) {
        assert!(error.to_string().contains("refuses O_DIRECT"), "{error}");
    }
}

#[test]
fn requests_that_are_not_whole_blocks_are_refused_before_anything_is_written() {
    let mut target = scratch("align", Kind::Uring);
    let text = "[w]\nrw=write\nbs=4k\noffset=100\nsize=8k\ndirect=1\n";
    let error = target.check(&jobs(text, &target)).err().unwrap();
    assert_eq!(error.code(), "job-unaligned");
    assert_eq!(error.hint(), format!("a multiple of {}", target.block_bytes()));
    // What the system tells is what it takes.
    let text = format!("[w]\nrw=write\nbs={}\nsize=16k\ndirect=1\n", target.block_bytes());
    let list = jobs(&text, &target);
    if target.check(&list).is_ok() {
        assert!(run(&mut target, &list, 1, &mut |_: &_| true).error.is_none());
    }
    assert!(target.check(&jobs("[w]\nrw=write\nbs=512\ndirect=0\n", &target)).is_ok());
}

#[test]
fn a_stop_is_heard_soon_even_on_a_slow_job() {
    let mut target = scratch("stop", Kind::Uring);
    let list = jobs("[w]\nrw=write\nbs=4k\ndirect=1\nthinktime=1h\n", &target);
    let begin = std::time::Instant::now();
    let recording = run(&mut target, &list, 1, &mut |_: &_| false);
    assert!(recording.interrupted && begin.elapsed().as_secs() < 5);
}
