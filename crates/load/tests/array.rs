//! Arrays: what md asks of each member, against its rules written down a second time, page by page; and what follows.

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

/// An array as md's sources have it, and what it reads and writes for a request.
struct Md {
    level: Level,
    disks: usize,
    chunk: u64,
    states: Vec<State>,
    reads: Sectors,
    writes: Sectors,
}

impl Md {
    fn in_sync(&self, disk: usize, end: u64) -> bool {
        match self.states[disk] {
            State::InSync => true,
            State::Failed => false,
            State::Rebuilding(to) => end <= to,
        }
    }

    fn add(into: &mut Sectors, disk: usize, from: u64, to: u64) {
        into.extend((from / SECTOR..to / SECTOR).map(|sector| (disk, sector)));
    }

    /// raid0.c, raid1.c and raid10.c, a sector at a time. A mirror is read where the request (of RAID 10, its part of the
    /// chunk) is whole: from the first of those.
    fn mirrored(&mut self, op: Op, offset: u64, len: u64) {
        for sector in (offset..offset + len).step_by(SECTOR as usize) {
            let (chunk, within) = (sector / self.chunk, sector % self.chunk);
            let end = (offset + len - (sector - within)).min(self.chunk);
            let disks = self.disks as u64;
            let places: Vec<(u64, u64, u64)> = match self.level {
                Level::Raid0 => vec![(chunk % disks, chunk / disks * self.chunk + within, 0)],
                Level::Raid1 => (0..disks).map(|disk| (disk, sector, offset + len)).collect(),
                _ => [2 * chunk, 2 * chunk + 1]
                    .map(|place| (place % disks, place / disks * self.chunk + within, place / disks * self.chunk + end))
                    .to_vec(),
            };
            let places = places.into_iter().map(|(disk, at, end)| (disk as usize, at, end));
            for (disk, at, end) in places {
                if op != Op::Read && self.states[disk] != State::Failed {
                    Md::add(&mut self.writes, disk, at, at + SECTOR);
                } else if op == Op::Read && self.in_sync(disk, end) {
                    Md::add(&mut self.reads, disk, at, at + SECTOR);
                    break;
                }
            }
        }
    }

    /// `raid5_compute_sector` for the left-symmetric layout: the disk of a chunk of a stripe, and those of P and Q.
    fn computed(&self, stripe: u64, chunk: usize) -> (usize, usize, Option<usize>) {
        let raid_disks = self.disks;
        let turn = (stripe % raid_disks as u64) as usize;
        if self.level == Level::Raid5 {
            let pd = (raid_disks - 1) - turn;
            return ((pd + 1 + chunk) % raid_disks, pd, None);
        }
        let pd = raid_disks - 1 - turn;
        ((pd + 2 + chunk) % raid_disks, pd, Some((pd + 1) % raid_disks))
    }

    fn data(&self) -> u64 {
        self.disks as u64 - if self.level == Level::Raid5 { 1 } else { 2 }
    }

    /// raid5.c, one stripe head (a page of each disk) at a time.
    fn striped(&mut self, op: Op, offset: u64, len: u64) {
        let width = self.data() * self.chunk;
        for stripe in offset / width..=(offset + len - 1) / width {
            for page in (0..self.chunk).step_by(PAGE as usize) {
                let at = stripe * self.chunk + page;
                // What the request covers of the page of each disk, from and to.
                let mut covered = vec![None; self.disks];
                for chunk in 0..self.data() {
                    let logical = stripe * width + chunk * self.chunk + page;
                    let (from, to) = (offset.max(logical), (offset + len).min(logical + PAGE));
                    if from < to {
                        covered[self.computed(stripe, chunk as usize).0] = Some((from - logical, to - logical));
                    }
                }
                if covered.iter().all(Option::is_none) {
                    continue;
                }
                if op == Op::Read {
                    self.read_page(at, &covered);
                } else {
                    self.write_page(at, &covered, stripe);
                }
            }
        }
    }

    /// A read goes to its disk as it is where no disk is lost (`chunk_aligned_read`).
    fn read_page(&mut self, at: u64, covered: &[Option<(u64, u64)>]) {
        for (disk, (from, to)) in covered.iter().enumerate().filter_map(|(disk, part)| Some((disk, (*part)?))) {
            if self.states.iter().all(|state| *state == State::InSync) {
                Md::add(&mut self.reads, disk, at + from, at + to);
                continue;
            }
            // Now by stripe heads: the page of a disk where that is in sync, else those of all others that are.
            for other in 0..self.disks {
                if self.in_sync(other, at + PAGE) && (other == disk || !self.in_sync(disk, at + PAGE)) {
                    Md::add(&mut self.reads, other, at, at + PAGE);
                }
            }
        }
    }

    /// `need_this_block`, then `handle_stripe_dirtying`, with their flags.
    fn write_page(&mut self, at: u64, covered: &[Option<(u64, u64)>], stripe: u64) {
        let disks = self.disks;
        let (_, pd, qd) = self.computed(stripe, 0);
        let parity = |disk: usize| disk == pd || Some(disk) == qd;
        let towrite = |disk: usize| covered[disk].is_some();
        let overwrite = |disk: usize| covered[disk] == Some((0, PAGE));
        // States change nowhere within a page here.
        let insync: Vec<bool> = (0..disks).map(|disk| self.in_sync(disk, at + PAGE)).collect();
        let failed: Vec<usize> = (0..disks).filter(|disk| !insync[*disk]).collect();
        let mut uptodate = vec![false; disks];
        let mut read = vec![false; disks];
        let mut needs_all = failed.iter().any(|&disk| towrite(disk) && !overwrite(disk));
        let force_rcw = failed.len() >= 2 && failed.iter().any(|&disk| towrite(disk) || parity(disk));
        needs_all |= force_rcw && failed.iter().any(|&disk| !parity(disk) && !overwrite(disk));
        for disk in 0..disks {
            if insync[disk] && (needs_all || (towrite(disk) && !overwrite(disk))) {
                read[disk] = true;
                uptodate[disk] = true;
            }
        }
        if needs_all {
            uptodate.fill(true);
        }
        let (mut rmw, mut rcw) = (0, 0);
        for disk in 0..disks {
            let price = if insync[disk] { 1 } else { 2 * disks };
            if (towrite(disk) || parity(disk)) && !uptodate[disk] {
                rmw += price;
            }
            if !overwrite(disk) && !parity(disk) && !uptodate[disk] {
                rcw += price;
            }
        }
        for disk in 0..disks {
            let wanted = if rmw < rcw { towrite(disk) || parity(disk) } else { !overwrite(disk) && !parity(disk) };
            if wanted && !uptodate[disk] {
                assert!(insync[disk], "md reads no disk that it has not");
                read[disk] = true;
            }
        }
        for (disk, is_read) in read.into_iter().enumerate() {
            if is_read {
                Md::add(&mut self.reads, disk, at, at + PAGE);
            }
            if (towrite(disk) || parity(disk)) && self.states[disk] != State::Failed {
                Md::add(&mut self.writes, disk, at, at + PAGE);
            }
        }
    }
}

fn sectors(parts: &[Part]) -> Sectors {
    let sectors = |part: &Part| part.offset / SECTOR..(part.offset + part.len) / SECTOR;
    parts.iter().flat_map(|part| sectors(part).map(|sector| (part.member, sector))).collect()
}

fn states(disks: usize, lost: &[(usize, State)]) -> Vec<State> {
    let mut states = vec![State::InSync; disks];
    lost.iter().for_each(|(disk, state)| states[disk % disks] = *state);
    states
}

/// Members that failed, and a spare that is rebuilt.
fn lost() -> impl Strategy<Value = Vec<(usize, State)>> {
    let failed = prop::collection::vec((0..9usize, Just(State::Failed)), 0..3);
    let spare = prop::option::of((0..9usize, (0..MEMBER / PAGE).prop_map(|page| State::Rebuilding(page * PAGE))));
    (failed, spare).prop_map(|(failed, spare)| failed.into_iter().chain(spare).collect())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn members_are_asked_for_what_md_asks_them(
        level in prop::sample::select(&Level::ALL[..]),
        disks in 2..9usize,
        chunk in (0..5u32).prop_map(|power| PAGE << power),
        lost in lost(),
        writes in any::<bool>(),
        at in 0.0..1.0f64,
        (unit, len) in prop_oneof![(Just(SECTOR), 1..64u64), (Just(PAGE), 1..64u64)],
    ) {
        let states = states(disks, &lost);
        let layout = Layout::new(level, chunk, MEMBER, states.clone());
        prop_assume!(layout.is_ok());
        let layout = layout.unwrap();
        let len = (len * unit).min(layout.capacity_bytes());
        let offset = (at * ((layout.capacity_bytes() - len) / unit + 1) as f64) as u64 * unit;
        let op = if writes { Op::Write } else { Op::Read };
        let request = Request { op, offset, len: len as u32, fua: false };
        let steps = layout.steps(&request, |_| 0);
        let mut md = Md { level, disks, chunk, states, reads: Sectors::new(), writes: Sectors::new() };
        match level {
            Level::Raid5 | Level::Raid6 => md.striped(op, offset, len),
            Level::Raid0 | Level::Raid1 | Level::Raid10 => md.mirrored(op, offset, len),
        }
        prop_assert_eq!(sectors(&steps.reads), md.reads);
        prop_assert!(sectors(&steps.writes).is_disjoint(&sectors(&steps.after)));
        prop_assert_eq!(&sectors(&steps.writes) | &sectors(&steps.after), md.writes);
        for parts in [&steps.reads, &steps.writes, &steps.after] {
            let apart = |pair: &[Part]| pair[0].member < pair[1].member || pair[0].offset + pair[0].len < pair[1].offset;
            prop_assert!(parts.windows(2).all(apart), "parts that touch are one: {parts:?}");
        }
    }

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

/// What md of Linux 6.1 asked of its members, by `tests/vm/test_arrays.py`: for each array, requests, and the sectors that
/// were read (`R`) and written (`W`), as member, first and count.
const OF_MD: &str = include_str!("data/md.txt");

#[test]
fn members_are_asked_for_what_md_of_linux_asked_them() {
    let (mut layout, mut apart) = (None, Vec::new());
    for line in OF_MD.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        if let ["array", level, disks, chunk_kib, failed, member] = words[..] {
            let level = Level::ALL.into_iter().find(|each| each.word() == level).expect("a level");
            let lost: Vec<_> = failed.parse().map(|disk| (disk, State::Failed)).into_iter().collect();
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
        // md chooses the mirror that it reads.
        let reader = |copies: &[Part]| {
            let was_read = |copy: &Part| read.contains(&(copy.member, copy.offset / SECTOR));
            copies.iter().position(was_read).unwrap_or(0)
        };
        let steps = layout.as_ref().expect("an array").steps(&request, reader);
        let writes: Sectors = sectors(&steps.writes).union(&sectors(&steps.after)).copied().collect();
        if (sectors(&steps.reads), writes) != (read, written) {
            apart.push(line);
        }
    }
    assert!(apart.is_empty(), "{} lines differ:\n{}", apart.len(), apart.join("\n"));
}
