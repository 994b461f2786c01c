//! Arrays: what is asked of each member, against a record of md of Linux, and what follows.

mod common;

use std::collections::BTreeSet;

use common::small_drive;
use proptest::prelude::*;
use pslc_load::array::layout::{Layout, LayoutFault, Level, Part, State};
use pslc_load::array::ArrayTarget;
use pslc_load::job::{self, Ground};
use pslc_load::record::Recording;
use pslc_load::{missing, run, Target};
use pslc_ssd::{Op, Request};

const SECTOR: u64 = 512;
const PAGE: u64 = 4096;
const MEMBER: u64 = 1 << 20;

/// Sectors of members.
type Sectors = BTreeSet<(usize, u64)>;

fn sectors(parts: &[Part]) -> Sectors {
    let sectors = |part: &Part| part.offset / SECTOR..(part.offset + part.len) / SECTOR;
    parts.iter().flat_map(|part| sectors(part).map(|sector| (part.member, sector))).collect()
}

fn states(disks: usize, lost: &[(usize, State)]) -> Vec<State> {
    let mut states = vec![State::InSync; disks];
    lost.iter().for_each(|(disk, state)| states[disk % disks] = *state);
    states
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn what_holds_data_is_what_was_written_and_not_trimmed(
        changes in prop::collection::vec((0..200u64, 1..60u64, prop::bool::weighted(0.7)), 1..30),
    ) {
        let mut array = array(Level::Raid0, 2, &[]);
        let mut holds = [false; 300];
        for (from, len, written) in changes {
            let of = if written { Request::write } else { Request::trim };
            array.submit(0, &of(from * PAGE, (len * PAGE) as u32)).unwrap();
            while array.next(pslc_ssd::Nanos::MAX).unwrap().is_none() {}
            holds[from as usize..(from + len) as usize].fill(written);
        }
        let unwritten = array.unwritten(0, 300 * PAGE);
        let is_unwritten = |page: u64| unwritten.iter().any(|(at, len)| (*at..at + len).contains(&(page * PAGE)));
        prop_assert!((0..300).all(|page| is_unwritten(page) != holds[page as usize]));
    }
}

fn array(level: Level, disks: usize, lost: &[(usize, State)]) -> ArrayTarget {
    let drives: Vec<_> = (0..disks).map(|_| small_drive()).collect();
    let layout = Layout::new(level, 64 << 10, drives[0].capacity_bytes(), states(disks, lost)).unwrap();
    ArrayTarget::new(layout, drives)
}

fn run_on(target: &mut impl Target, text: &str) -> Recording {
    let text = format!("[job]\nioengine=io_uring\niodepth=8\ndirect=1\n{text}");
    let jobs = job::parse("test", &text, &[], Ground::Simulated, target.capacity_bytes(), &|_| None).unwrap();
    run(target, &jobs, 0, &mut |_: &_| true)
}

fn total(target: &impl Target, recording: &Recording, name: &str) -> u64 {
    recording.totals[target.columns().iter().position(|column| *column == name).unwrap()]
}

fn seconds(recording: &Recording) -> f64 {
    (recording.end - recording.start).as_secs_f64()
}

#[test]
fn an_array_that_has_lost_data_or_has_no_such_members_is_none() {
    let of = |level, chunk, states: Vec<State>| Layout::new(level, chunk, MEMBER, states).err();
    let (held, lost) = (State::InSync, State::Failed);
    assert_eq!(of(Level::Raid6, PAGE, vec![held, lost, State::Rebuilding(0), held]), None);
    assert!(matches!(of(Level::Raid6, PAGE, vec![lost, lost, lost, held, held]), Some(LayoutFault::Lost { .. })));
    assert_eq!(of(Level::Raid10, PAGE, vec![held, lost, lost, held]), None);
    assert!(matches!(of(Level::Raid10, PAGE, vec![lost, lost, held, held]), Some(LayoutFault::Lost { .. })));
    assert!(matches!(of(Level::Raid0, PAGE, vec![held, lost]), Some(LayoutFault::Lost { .. })));
    assert!(matches!(of(Level::Raid5, PAGE, vec![held; 2]), Some(LayoutFault::Members { min: 3, .. })));
    assert_eq!(of(Level::Raid5, 3 * PAGE, vec![held; 3]), Some(LayoutFault::Chunk(3 * PAGE)));
}

/// Of sequential writes of whole stripes: as many drives as hold data are as many times as fast, and so much larger is
/// the cache.
#[test]
fn whole_stripes_are_written_as_fast_as_all_members_that_hold_data() {
    let alone = seconds(&run_on(&mut small_drive(), "rw=write\nbs=64k\niodepth=16\nsize=1g"));
    for (level, disks, data) in
        [(Level::Raid0, 3, 3), (Level::Raid1, 3, 1), (Level::Raid5, 4, 3), (Level::Raid6, 6, 4), (Level::Raid10, 4, 2)]
    {
        let mut target = array(level, disks, &[]);
        let size = format!("rw=write\nbs={}k\niodepth=16\nsize={data}g", 64 * data);
        let recording = run_on(&mut target, &size);
        let ratio = seconds(&recording) / alone;
        assert!((0.98..1.02).contains(&ratio), "{level:?} takes {ratio} times what a drive takes for its share");
        let programmed =
            (0..disks).map(|disk| total(&target, &recording, &format!("member{disk}_written_bytes_total")));
        assert_eq!(programmed.sum::<u64>(), (disks as u64) << 30, "{level:?}");
        assert_eq!(total(&target, &recording, "member0_read_bytes_total"), 0);
        assert_eq!(total(&target, &recording, "host_write_bytes_total"), data << 30);
    }
}

#[test]
fn small_random_writes_of_raid_5_cost_two_reads_and_two_writes() {
    let small = "rw=randwrite\nbs=4k\niodepth=1\nsize=512m\nio_size=16m\nnorandommap";
    let (mut alone, mut target) = (small_drive(), array(Level::Raid5, 5, &[]));
    run_on(&mut alone, "rw=write\nbs=256k\nsize=512m");
    let before = run_on(&mut target, "rw=write\nbs=256k\nsize=512m");
    let recording = run_on(&mut target, small);
    let sum = |what: &str| -> u64 {
        let of = |recording: &Recording, disk| total(&target, recording, &format!("member{disk}_{what}"));
        (0..5).map(|disk| of(&recording, disk) - of(&before, disk)).sum()
    };
    assert_eq!((sum("read_bytes_total"), sum("written_bytes_total")), (32 << 20, 32 << 20));
    assert_eq!(sum("requests_total"), 4 * 4096);
    // The writes wait for the reads: of a drive they take the time of a command and a copy.
    let mean_ns = |recording: &Recording| recording.stats[0].kinds[1].mean_ns();
    let (alone, waiting) = (mean_ns(&run_on(&mut alone, small)), mean_ns(&recording));
    assert!(waiting > alone + 25_000.0, "{waiting} ns, and {alone} ns of a drive, whose reads take 25 us at least");
}

#[test]
fn a_spare_is_rebuilt_while_the_host_is_silent_and_holds_all_then() {
    for (level, disks) in [(Level::Raid1, 2), (Level::Raid5, 3), (Level::Raid6, 4), (Level::Raid10, 3)] {
        let mut target = array(level, disks, &[(1, State::Rebuilding(0))]);
        let member = target.member_bytes();
        let recording = run_on(&mut target, "rw=write\nbs=4k\nsize=4k");
        assert!(total(&target, &recording, "rebuilt_bytes") < member / 2);
        // md rebuilds 200 MiB a second at most.
        let mut row = vec![0; target.columns().len()];
        pass(&mut target, 2, &mut row);
        let of = |name: &str| row[target.columns().iter().position(|column| *column == name).unwrap()];
        assert!((member / 8..=400 << 20).contains(&of("rebuilt_bytes")), "{level:?}: {}", of("rebuilt_bytes"));
        pass(&mut target, 100, &mut row);
        let of = |name: &str| row[target.columns().iter().position(|column| *column == name).unwrap()];
        assert_eq!(of("rebuilt_bytes"), 0, "{level:?} is whole");
        assert!((member..member + (1 << 20)).contains(&of("member1_written_bytes_total")), "{level:?}");
        // What was lost is read from the spare again.
        let before = of("member1_read_bytes_total");
        let recording = run_on(&mut target, "rw=randread\nbs=64k\nsize=512m\nio_size=64m");
        assert!(total(&target, &recording, "member1_read_bytes_total") > before);
    }
}

/// Let a target alone, and look at its columns then.
fn pass(target: &mut impl Target, seconds: u64, row: &mut [u64]) {
    let until = target.now() + pslc_ssd::Nanos::from_secs(seconds);
    target.next(until).unwrap();
    target.sample_begun(row);
}

#[test]
fn reads_of_mirrors_go_to_all_of_them_and_those_of_a_sequence_to_one() {
    for (job, shares) in
        [("rw=randread\nbs=4k\nsize=256m\nio_size=16m", 40..=60), ("rw=read\nbs=4k\nsize=16m", 0..=100)]
    {
        let mut target = array(Level::Raid1, 2, &[]);
        run_on(&mut target, "rw=write\nbs=1m\nsize=256m");
        let recording = run_on(&mut target, job);
        let read = [0, 1].map(|disk| total(&target, &recording, &format!("member{disk}_read_bytes_total")));
        let share = 100 * read[0] / (read[0] + read[1]);
        assert!(shares.contains(&share), "{job}: {share} %");
        assert!(job.contains("randread") || share == 0 || share == 100, "{read:?}");
    }
}

#[test]
fn what_was_written_to_an_array_is_not_laid_out_again() {
    let mut target = array(Level::Raid5, 3, &[]);
    let text = "[job]\nrw=randread\nbs=4k\nsize=8m\n";
    let jobs = job::parse("test", text, &[], Ground::Simulated, target.capacity_bytes(), &|_| None).unwrap();
    assert_eq!(missing(&target, &jobs), [(0, 8 << 20)]);
    run_on(&mut target, "rw=write\nbs=64k\nsize=5m");
    assert_eq!(missing(&target, &jobs), [(5 << 20, 3 << 20)]);
    // Trims of whole stripes are passed on, and of less no member hears.
    let trimmed = run_on(&mut target, "rw=trim\nbs=4k\nsize=1m");
    assert_eq!(total(&target, &trimmed, "host_trim_bytes_total"), 1 << 20);
    assert_eq!(missing(&target, &jobs), [(0, 1 << 20), (5 << 20, 3 << 20)]);
}

/// What md of Linux 6.1 asked of its members, by `tests/vm/test_arrays.py`: for each array (level, members, chunk in KiB, those
/// that failed, a spare and up to where it is rebuilt, bytes of a member) requests, and the sectors that were read (`R`) and
/// written (`W`), as member, first and count.
const OF_MD: &str = include_str!("data/md.txt");

#[test]
fn members_are_asked_for_what_md_of_linux_asked_them() {
    let (mut layout, mut apart) = (None, Vec::new());
    for line in OF_MD.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        if let ["array", level, disks, chunk_kib, failed, spare, member] = words[..] {
            let level = Level::ALL.into_iter().find(|each| each.word() == level).expect("a level");
            let failed = failed.chars().filter_map(|disk| Some((disk.to_digit(10)? as usize, State::Failed)));
            let rebuilding = |to: &str| State::Rebuilding(to.parse().unwrap());
            let spare = spare.split_once(':').map(|(disk, to)| (disk.parse().unwrap(), rebuilding(to)));
            let lost: Vec<_> = failed.chain(spare).collect();
            let chunk = chunk_kib.parse::<u64>().unwrap() << 10;
            let states = states(disks.parse().unwrap(), &lost);
            layout = Some(Layout::new(level, chunk, member.parse().unwrap(), states).unwrap());
            continue;
        }
        let asked = |kind: char| -> Sectors {
            let ranges = words[3..].iter().filter_map(|word| {
                let (disk, sectors) = word.split_once(kind)?;
                let (first, count) = sectors.split_once('+')?;
                Some((disk.parse::<usize>().ok()?, first.parse::<u64>().ok()?, count.parse::<u64>().ok()?))
            });
            ranges.flat_map(|(disk, first, count)| (first..first + count).map(move |sector| (disk, sector))).collect()
        };
        let (read, written) = (asked('R'), asked('W'));
        let op = if words[0] == "W" { Op::Write } else { Op::Read };
        let (offset, len) = (words[1].parse().unwrap(), words[2].trim_end_matches(':').parse().unwrap());
        let request = Request { op, offset, len, fua: false };
        let layout = layout.as_ref().expect("an array");
        // md chooses the mirror that it reads, of those that hold the data.
        let reader = |copies: &[Part]| {
            let holds = |copy: &Part| match layout.states()[copy.member] {
                State::Rebuilding(to) => copy.offset + copy.len <= to,
                state => state == State::InSync,
            };
            assert!(copies.iter().all(holds), "{line}");
            let was_read = |copy: &Part| read.contains(&(copy.member, copy.offset / SECTOR));
            copies.iter().position(was_read).unwrap_or(0)
        };
        let steps = layout.steps(&request, reader);
        let writes: Sectors = sectors(&steps.writes).union(&sectors(&steps.after)).copied().collect();
        if (sectors(&steps.reads), writes) != (read, written) {
            apart.push(line);
        }
    }
    assert!(apart.is_empty(), "{} lines differ:\n{}", apart.len(), apart.join("\n"));
}
