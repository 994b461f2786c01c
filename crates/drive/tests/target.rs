//! A file as a target: the right requests and bytes, and errors that keep what was recorded.

#![cfg(unix)]

mod common;

use std::os::unix::fs::FileExt;
use std::path::Path;

use common::{folder, jobs, MB};
use pslc_drive::{inspect_file, open_existing, open_scratch, Kind, RealTarget};
use pslc_load::record::Recording;
use pslc_load::{run, Target};

fn go(target: &mut RealTarget, text: &str) -> Recording {
    let list = jobs(text, target);
    target.check(&list).unwrap_or_else(|error| panic!("{error}"));
    run(target, &list, 1, &mut |_: &_| true)
}

fn scratch(name: &str) -> RealTarget {
    open_scratch(&folder(name).join("scratch"), 64 * MB).unwrap().with_engine(Kind::Uring)
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
    let mut target = scratch("offsets");
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
    let mut target = scratch("unwritten");
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
    let mut target = scratch("align");
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
