//! What a drive was asked since its file was saved, beside it: whoever is killed in between loses none of it. The
//! simulation gives the same for the same, so the drive is what its file holds, and then all of this once more.
//!
//! ```text
//!   disk.pslc.journal   the clock of the drive in the file, then entries of 24 bytes; the last may be cut
//! ```
//!
//! Room for [`RESERVE_BYTES`] more is allocated ahead of what is written, where the file system can do that: on a disk that
//! is full a drive still takes trims and flushes, which is how it gets room again.
//!
//! That somebody was killed is a loss of power. Of what the write buffer held then, the drive has nothing unless capacitors
//! protect it (`controller.plp`); what a flush had waited for is in the cells.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};

use pslc_ssd::state::{Kept, StateError};
use pslc_ssd::{Drive, Machine, Nanos, Op, Request};

use crate::error::{failed, no_drive, DriveFileError, OpenError};
use crate::files::{self, NewFile, Replace};
use crate::sys;

/// Of the form of all of it.
const MAGIC: [u8; 12] = *b"pslc journal";
const SIZE: usize = 24;
/// Bytes that are held back at most.
const HELD: usize = 64 << 10;
/// What is allocated for trims and flushes on a full disk: 170,000 flushes.
pub const RESERVE_BYTES: u64 = 8 << 20;
/// Allocated at once beyond that.
const CHUNK_BYTES: u64 = 1 << 20;

/// A call that changes a drive, at a time of its clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    pub at: Nanos,
    pub call: Call,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    Submit(Request),
    /// Time passed.
    Advance,
    /// The file has been saved, or soon will be, as the drive was here.
    Saved,
    /// The drive was switched off in order, but its file could not be saved.
    Ended,
}

#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    identity: u64,
    file: File,
    held: Vec<u8>,
    written: u64,
    /// Where what is allocated ends; none where the file system allocates nothing ahead.
    allocated: Option<u64>,
}

/// The journal of the drive in a file.
pub fn path(drive: &Path) -> PathBuf {
    let mut name = drive.as_os_str().to_os_string();
    name.push(".journal");
    PathBuf::from(name)
}

impl Journal {
    /// Begin one for the drive of that identity in a file, as it is there; what was in an older one is lost.
    pub fn begin(drive: &Path, identity: u64, now: Nanos) -> io::Result<Journal> {
        Journal::begin_with(drive, identity, now, &[])
    }

    /// The same, with entries that it has from its first moment on: a kill finds the older one or all of this.
    fn begin_with(drive: &Path, identity: u64, now: Nanos, entries: &[u8]) -> io::Result<Journal> {
        let path = path(drive);
        let new = NewFile::begin(&path, Replace::Like(&MAGIC), files::PRIVATE)?;
        let file = new.file().try_clone()?;
        sys::write_all_at(&file, &header(identity, now), 0)?;
        sys::write_all_at(&file, entries, SIZE as u64)?;
        let written = (SIZE + entries.len()) as u64;
        let held = Vec::with_capacity(HELD);
        let mut journal = Journal { path, identity, file, held, written, allocated: Some(written) };
        journal.reserve()?;
        // What it holds is the kernel's, too.
        new.commit_unsynced()?;
        Ok(journal)
    }

    /// Allocate what is missing of the reserve; an error where the disk is too full for all of it.
    pub fn reserve(&mut self) -> io::Result<()> {
        let Some(allocated) = self.allocated else { return Ok(()) };
        let needed = self.written + self.held.len() as u64 + RESERVE_BYTES;
        if allocated >= needed {
            return Ok(());
        }
        let end = needed + CHUNK_BYTES;
        self.allocated = sys::reserve(&self.file, allocated, end - allocated)?.then_some(end);
        Ok(())
    }

    pub fn add(&mut self, entry: Entry) -> io::Result<()> {
        self.held.extend(encoded(&entry));
        if self.held.len() >= HELD - SIZE {
            self.write()
        } else {
            Ok(())
        }
    }

    /// What was added is the kernel's: it survives this process.
    pub fn write(&mut self) -> io::Result<()> {
        sys::write_all_at(&self.file, &self.held, self.written)?;
        self.written += self.held.len() as u64;
        self.held.clear();
        Ok(())
    }

    pub fn bytes(&self) -> u64 {
        self.written
    }

    /// The drive was saved as it was when the journal had so many bytes and its clock stood at `now`: begin anew there.
    pub fn begin_after(&mut self, bytes: u64, now: Nanos) -> io::Result<()> {
        self.write()?;
        let mut rest = vec![0; (self.written - bytes) as usize];
        sys::read_exact_at(&self.file, &mut rest, bytes)?;
        let drive = self.path.with_extension("");
        *self = Journal::begin_with(&drive, self.identity, now, &rest)?;
        Ok(())
    }
}

/// Whether an error is for want of room on the disk.
pub fn is_full(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
}

/// The drive is in its file as it is.
pub fn remove(drive: &Path) {
    let _ = files::remove(&path(drive), Replace::Like(&MAGIC));
}

/// What became of a drive after it was saved, if anything did: it lost its power, unless the last that the journal holds is
/// that it ended. `again` reads its file once more.
pub fn recovered(
    drive: &Path,
    kept: &mut Kept,
    again: impl FnOnce() -> Result<Kept, StateError>,
) -> Result<bool, OpenError> {
    let path = path(drive);
    let Some(file) = files::open(&path, false)? else { return Ok(false) };
    let since = since(BufReader::with_capacity(HELD, file), kept.about.identity, kept.now)
        .map_err(|error| failed("read the journal", &path, error))?;
    let Some(mut entries) = since else {
        return Err(DriveFileError::WrongJournal { path }.into());
    };
    if entries.is_empty() {
        return Ok(false);
    }
    let safe = replay(kept, &entries);
    if entries.last().is_some_and(|entry| entry.call == Call::Ended) {
        return Ok(true);
    }
    let lost = if kept.machine.drive().survives_power_loss() {
        0
    } else {
        drop_newest(&mut entries[safe..], kept.machine.drive())
    };
    if lost > 0 {
        *kept = again().map_err(|error| no_drive(drive, error))?;
        replay(kept, &entries);
    }
    kept.machine.lose_power(lost);
    Ok(true)
}

/// Returns how many of them a flush has made safe that was done by the last. What one has only asked for pads its last
/// unit, which takes room of the buffer as data do: what it holds can be more than was written since.
fn replay(kept: &mut Kept, entries: &[Entry]) -> usize {
    let mut flushes: Vec<(usize, Nanos)> = Vec::new();
    for (at, entry) in entries.iter().enumerate() {
        let done = run(&mut kept.machine, entry);
        kept.now = entry.at;
        if matches!(entry.call, Call::Submit(request) if request.fua || request.op == Op::Flush) {
            flushes.push((at + 1, done));
        }
    }
    flushes.iter().rev().find(|(_, done)| *done <= kept.now).map_or(0, |(safe, _)| *safe)
}

/// As it was done the first time; returns when it is done.
pub fn run(machine: &mut Machine, entry: &Entry) -> Nanos {
    machine.advance(entry.at);
    match &entry.call {
        Call::Submit(request) => machine.submit(entry.at, request, true),
        Call::Advance | Call::Saved | Call::Ended => entry.at,
    }
}

/// Take the newest pages, those that the write buffer holds, out of the writes; returns how many there were.
fn drop_newest(entries: &mut [Entry], drive: &Drive) -> u32 {
    let (unit, pages) = (drive.unit(), drive.buffered_pages());
    let mut left = pages;
    for entry in entries.iter_mut().rev() {
        let Call::Submit(request) = &mut entry.call else { continue };
        if request.op != Op::Write || left == 0 {
            continue;
        }
        let first = unit.whole(request.offset);
        let count = (unit.needed(request.offset + request.len as u64) - first) as u32;
        if count <= left {
            left -= count;
            entry.call = Call::Advance;
        } else {
            request.len = (unit.bytes(first + (count - left) as u64) - request.offset) as u32;
            left = 0;
        }
    }
    pages - left
}

/// Its checksum is also over the identity of the drive.
fn header(identity: u64, now: Nanos) -> [u8; SIZE] {
    let mut bytes = [0; SIZE];
    bytes[..12].copy_from_slice(&MAGIC);
    bytes[12..20].copy_from_slice(&now.0.to_le_bytes());
    let mut check = crc32fast::Hasher::new();
    check.update(&bytes[..20]);
    check.update(&identity.to_le_bytes());
    bytes[20..].copy_from_slice(&check.finalize().to_le_bytes());
    bytes
}

fn encoded(entry: &Entry) -> [u8; SIZE] {
    let (kind, offset, len) = match &entry.call {
        Call::Submit(request) => {
            let kind = match (request.op, request.fua) {
                (Op::Read, _) => 0,
                (Op::Write, false) => 1,
                (Op::Write, true) => 2,
                (Op::Trim, _) => 3,
                (Op::Flush, _) => 4,
            };
            (kind, request.offset, request.len)
        }
        Call::Advance => (5, 0, 0),
        Call::Saved => (6, 0, 0),
        Call::Ended => (7, 0, 0),
    };
    let mut bytes = [0; SIZE];
    bytes[..8].copy_from_slice(&entry.at.0.to_le_bytes());
    bytes[8..16].copy_from_slice(&offset.to_le_bytes());
    bytes[16..20].copy_from_slice(&len.to_le_bytes());
    bytes[20] = kind;
    let check = crc32fast::hash(&bytes[..21]).to_le_bytes();
    bytes[21..].copy_from_slice(&check[..3]);
    bytes
}

fn decoded(bytes: &[u8; SIZE]) -> Option<Entry> {
    if crc32fast::hash(&bytes[..21]).to_le_bytes()[..3] != bytes[21..] {
        return None;
    }
    let long = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"));
    let (offset, len) = (long(8), u32::from_le_bytes(bytes[16..20].try_into().expect("four bytes")));
    let call = match bytes[20] {
        0 => Call::Submit(Request::read(offset, len)),
        1 => Call::Submit(Request::write(offset, len)),
        2 => Call::Submit(Request { fua: true, ..Request::write(offset, len) }),
        3 => Call::Submit(Request::trim(offset, len)),
        4 => Call::Submit(Request::flush()),
        5 => Call::Advance,
        6 => Call::Saved,
        7 => Call::Ended,
        _ => return None,
    };
    Some(Entry { at: Nanos(long(0)), call })
}

/// The entries after the moment at which the drive was saved with its clock at `now`; the first that is damaged ends
/// them, however long the file is. None where the journal is not of that drive; of one that was cut in its header nobody
/// knows, and it has none.
fn since(mut journal: impl Read, identity: u64, now: Nanos) -> io::Result<Option<Vec<Entry>>> {
    let mut piece = [0; SIZE];
    let count = fill(&mut journal, &mut piece)?;
    if count < SIZE {
        let begun = &piece[..count.min(MAGIC.len())];
        return Ok(MAGIC.starts_with(begun).then(Vec::new));
    }
    let began = Nanos(u64::from_le_bytes(piece[12..20].try_into().expect("eight bytes")));
    if piece != header(identity, began) {
        return Ok(None);
    }
    let mut entries = (began == now).then(Vec::new);
    while fill(&mut journal, &mut piece)? == SIZE {
        let Some(entry) = decoded(&piece) else { break };
        if entry == (Entry { at: now, call: Call::Saved }) {
            entries = Some(Vec::new());
        } else if let Some(entries) = &mut entries {
            entries.push(entry);
        }
    }
    Ok(Some(entries.unwrap_or_default()))
}

/// Read until the piece is full or there is no more; returns how much of it is read.
fn fill(from: &mut impl Read, piece: &mut [u8; SIZE]) -> io::Result<usize> {
    let mut count = 0;
    while count < SIZE {
        match from.read(&mut piece[count..]) {
            Ok(0) => break,
            Ok(more) => count += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(count)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use pslc_ssd::state::{self, About};
    use pslc_ssd::{profile, PAGE_BYTES};

    /// A drive with little space, so that it folds and collects soon.
    fn small(plp: &str) -> Kept {
        let text = include_str!("../../../python/pslc/drives/pm871b-128gb.toml");
        let keys = [("controller.plp", plp)].map(|(key, value)| (key.to_string(), value.to_string()));
        let profile = profile::load("small.toml", text, &|_| None, &keys).unwrap();
        let about = About { identity: 7, original: text.into(), profile: text.into(), scale: None };
        Kept { about, now: Nanos::ZERO, machine: Machine::new(&profile.config) }
    }

    fn bytes(kept: &Kept) -> Vec<u8> {
        let mut out = io::Cursor::new(Vec::new());
        state::write(&mut out, &kept.about, kept.now, &kept.machine).unwrap();
        out.into_inner()
    }

    fn random(seed: &mut u64) -> u64 {
        *seed = pslc_load::splitmix64(*seed);
        *seed
    }

    /// So many drawn calls, each a little later.
    fn drawn(seed: u64, count: usize, from: Nanos) -> Vec<Entry> {
        let (mut seed, mut at) = (seed, from);
        let mut next = move |below: u64| random(&mut seed) % below;
        (0..count)
            .map(|_| {
                at += Nanos(next(200_000) + if next(50) == 0 { 2_000_000_000 } else { 0 });
                let (offset, len) = (next(1 << 18) * 512, (1 + next(256)) as u32 * 512);
                let call = match next(20) {
                    0..=9 => Call::Submit(Request::write(offset, len)),
                    10 => Call::Submit(Request { fua: true, ..Request::write(offset, len) }),
                    11..=14 => Call::Submit(Request::read(offset, len)),
                    15..=16 => Call::Submit(Request::trim(offset, len)),
                    17 => Call::Submit(Request::flush()),
                    _ => Call::Advance,
                };
                Entry { at, call }
            })
            .collect()
    }

    /// Both hold the same and go on alike. What they remember of the past, which no request sees, may differ.
    fn alike(mut recovered_drive: Kept, mut expected_drive: Kept) {
        assert_eq!(recovered_drive.now, expected_drive.now);
        for entry in drawn(99, 300, recovered_drive.now) {
            let mut ends = [Nanos::ZERO; 2];
            let mut counters = [[0; Machine::COLUMNS.len()]; 2];
            for (at, kept) in [&mut recovered_drive, &mut expected_drive].into_iter().enumerate() {
                if let Call::Submit(request) = entry.call {
                    ends[at] = kept.machine.submit(entry.at, &request, true);
                }
                kept.machine.sample(entry.at, &mut counters[at]);
            }
            assert_eq!(ends[0], ends[1]);
            assert_eq!(counters[0], counters[1]);
        }
        for page in 0..(1 << 18) / 8 {
            let mapped = |kept: &Kept| kept.machine.drive().mapped(page * PAGE_BYTES, PAGE_BYTES).0;
            assert_eq!(mapped(&recovered_drive), mapped(&expected_drive));
        }
    }

    fn folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("pslc-journal-{}-{name}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        folder
    }

    #[test]
    fn a_drive_is_recovered_to_the_byte_wherever_the_journal_is_cut() {
        let folder = folder("cut");
        let drive = folder.join("disk.pslc");
        for seed in 0..8 {
            let mut live = small("on");
            let mut journal = Journal::begin(&drive, 7, live.now).unwrap();
            let entries = drawn(seed, 1000, live.now);
            for entry in &entries {
                run(&mut live.machine, entry);
                live.now = entry.at;
                journal.add(*entry).unwrap();
            }
            journal.write().unwrap();
            let whole = fs::read(path(&drive)).unwrap();
            assert_eq!(whole.len(), SIZE * 1001);
            for cut in [whole.len(), whole.len() - 1, SIZE * 500 + 7, SIZE * 2, SIZE + 3, SIZE, 5, 0] {
                fs::write(path(&drive), &whole[..cut]).unwrap();
                let mut drive_again = small("on");
                let some = recovered(&drive, &mut drive_again, || unreachable!()).unwrap();
                let held = (cut / SIZE).saturating_sub(1);
                assert_eq!(some, held > 0);
                let mut expected = small("on");
                replay(&mut expected, &entries[..held]);
                if some {
                    expected.machine.lose_power(0);
                }
                assert!(bytes(&drive_again) == bytes(&expected), "cut at {cut}");
            }
        }
        let _ = fs::remove_dir_all(folder);
    }

    #[test]
    fn a_journal_goes_on_where_the_drive_was_saved_and_one_of_another_drive_is_refused() {
        let folder = folder("saved");
        let drive = folder.join("disk.pslc");
        let mut live = small("on");
        let mut journal = Journal::begin(&drive, 7, live.now).unwrap();
        let entries = drawn(5, 600, live.now);
        let mut saved = None;
        for (number, entry) in entries.iter().enumerate() {
            run(&mut live.machine, entry);
            live.now = entry.at;
            journal.add(*entry).unwrap();
            if number == 300 {
                journal.add(Entry { at: live.now, call: Call::Saved }).unwrap();
                journal.write().unwrap();
                saved = Some((live.clone(), journal.bytes()));
            }
        }
        journal.write().unwrap();
        let (saved, at) = saved.unwrap();
        live.machine.lose_power(0);
        for anew in [false, true] {
            if anew {
                journal.begin_after(at, saved.now).unwrap();
            }
            let mut drive_again = saved.clone();
            assert!(recovered(&drive, &mut drive_again, || unreachable!()).unwrap());
            alike(drive_again, live.clone());
        }
        let mut other = small("on");
        other.now = Nanos(12345);
        assert!(!recovered(&drive, &mut other, || unreachable!()).unwrap());
        other.about.identity = 8;
        let error = recovered(&drive, &mut other, || unreachable!()).unwrap_err();
        assert_eq!(error.code(), "drive-wrong-journal");
        remove(&drive);
        assert!(!recovered(&drive, &mut saved.clone(), || unreachable!()).unwrap());
        let _ = fs::remove_dir_all(folder);
    }

    /// A journal that a kill could find: the path holds one of the two, whole, whenever it is looked at.
    #[test]
    fn zeros_behind_it_are_not_read_however_many_there_are() {
        let entry = Entry { at: Nanos(5), call: Call::Advance };
        let begun = [header(7, Nanos::ZERO), encoded(&entry)].concat();
        let entries = since(begun.chain(io::repeat(0)), 7, Nanos::ZERO).unwrap();
        assert_eq!(entries, Some(vec![entry]));
    }

    #[cfg_attr(windows, ignore = "of files that are open NTFS alone does that, and Wine does not")]
    #[test]
    fn while_it_begins_anew_there_is_always_a_whole_one() {
        let folder = folder("anew");
        let drive = folder.join("disk.pslc");
        let mut journal = Journal::begin(&drive, 7, Nanos::ZERO).unwrap();
        let (first, rest) = (drawn(3, 20_000, Nanos::ZERO), drawn(4, 20_000, Nanos::from_secs(9000)));
        first.iter().for_each(|entry| journal.add(*entry).unwrap());
        journal.write().unwrap();
        let at = journal.bytes();
        rest.iter().for_each(|entry| journal.add(*entry).unwrap());
        journal.write().unwrap();
        let (stop, path) = (std::sync::atomic::AtomicBool::new(false), path(&drive));
        let shortest = std::thread::scope(|scope| {
            let looks = scope.spawn(|| {
                let mut shortest = u64::MAX;
                while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                    shortest = shortest.min(fs::metadata(&path).unwrap().len());
                }
                shortest
            });
            for _ in 0..200 {
                journal.begin_after(journal.bytes() - 20_000 * SIZE as u64, Nanos::from_secs(9000)).unwrap();
            }
            stop.store(true, std::sync::atomic::Ordering::Relaxed);
            looks.join().unwrap()
        });
        assert!(at > 20_000 * SIZE as u64);
        assert_eq!(shortest, 20_001 * SIZE as u64);
        assert_eq!(since(&*fs::read(&path).unwrap(), 7, Nanos::from_secs(9000)).unwrap(), Some(rest));
        let _ = fs::remove_dir_all(folder);
    }

    #[test]
    fn without_capacitors_what_the_buffer_held_is_lost_and_nothing_that_was_flushed() {
        let folder = folder("lost");
        let drive = folder.join("disk.pslc");
        let mapped = |kept: &Kept, page: u64| kept.machine.drive().mapped(page * PAGE_BYTES, PAGE_BYTES).0;
        let mut lost = 0;
        for flushed in 0..60u64 {
            let mut journal = Journal::begin(&drive, 7, Nanos::ZERO).unwrap();
            let mut live = small("off");
            for step in 0..60 {
                // Each of them is given time enough if it is flushed, and hardly any else.
                let request = match step {
                    step if step == flushed => Request::flush(),
                    _ => Request::write(step * 16 * PAGE_BYTES, 16 * PAGE_BYTES as u32),
                };
                let at = live.now + Nanos::from_micros(5);
                let entry = Entry { at, call: Call::Submit(request) };
                let done = live.machine.submit(at, &request, true);
                live.now = if step == flushed { done } else { at };
                journal.add(entry).unwrap();
                journal.add(Entry { at: live.now, call: Call::Advance }).unwrap();
            }
            journal.write().unwrap();
            let mut drive_again = small("off");
            assert!(recovered(&drive, &mut drive_again, || Ok(small("off"))).unwrap());
            let (held, gone): (Vec<u64>, Vec<u64>) =
                (0..60 * 16).filter(|page| page / 16 != flushed).partition(|&page| mapped(&drive_again, page));
            assert!((0..flushed * 16).all(|page| mapped(&drive_again, page)), "flushed after {flushed}");
            // The newest are lost, in order.
            assert!(held.iter().max() < gone.iter().min() || gone.is_empty());
            assert_eq!(drive_again.machine.drive().lost_bytes(), gone.len() as u64 * PAGE_BYTES);
            assert_eq!(drive_again.machine.drive().unsafe_shutdowns(), 1);
            lost += gone.len();
        }
        assert!(lost > 1000, "{lost}");
        let _ = fs::remove_dir_all(folder);
    }

    #[test]
    fn a_drive_that_ended_in_its_journal_has_lost_nothing_and_no_power() {
        let folder = folder("ended");
        let drive = folder.join("disk.pslc");
        for seed in 0..8 {
            let mut live = small("off");
            let mut journal = Journal::begin(&drive, 7, live.now).unwrap();
            let mut entries = drawn(seed, 500, live.now);
            entries.push(Entry { at: entries[499].at + Nanos(1_000_000), call: Call::Ended });
            for entry in &entries {
                run(&mut live.machine, entry);
                live.now = entry.at;
                journal.add(*entry).unwrap();
            }
            journal.write().unwrap();
            let mut drive_again = small("off");
            assert!(recovered(&drive, &mut drive_again, || unreachable!()).unwrap());
            assert_eq!(drive_again.machine.drive().unsafe_shutdowns(), 0);
            assert_eq!(drive_again.machine.drive().lost_bytes(), 0);
            alike(drive_again, live);
        }
        let _ = fs::remove_dir_all(folder);
    }

    #[cfg(unix)]
    #[test]
    fn the_reserve_is_allocated_ahead_and_is_no_part_of_the_journal() {
        use std::os::unix::fs::MetadataExt;

        let folder = folder("reserve");
        let drive = folder.join("disk.pslc");
        let mut journal = Journal::begin(&drive, 7, Nanos::ZERO).unwrap();
        let entries = drawn(6, 100_000, Nanos::ZERO);
        for entry in &entries {
            journal.reserve().unwrap();
            journal.add(*entry).unwrap();
        }
        journal.write().unwrap();
        let about = fs::metadata(path(&drive)).unwrap();
        assert_eq!(about.len(), (SIZE * 100_001) as u64);
        if journal.allocated.is_some() {
            assert!(about.blocks() * 512 >= about.len() + RESERVE_BYTES - HELD as u64);
            assert!(about.blocks() * 512 < about.len() + RESERVE_BYTES + 2 * CHUNK_BYTES);
        }
        assert_eq!(since(&*fs::read(path(&drive)).unwrap(), 7, Nanos::ZERO).unwrap(), Some(entries));
        let _ = fs::remove_dir_all(folder);
    }

    #[test]
    fn what_a_flush_under_way_pads_loses_nothing_of_the_flush_before_it() {
        let folder = folder("padded");
        let drive = folder.join("disk.pslc");
        for pages in 1..40 {
            let mut journal = Journal::begin(&drive, 7, Nanos::ZERO).unwrap();
            let mut live = small("off");
            for page in 0..2 * pages {
                let request = Request::write(page * PAGE_BYTES, PAGE_BYTES as u32);
                journal.add(Entry { at: live.now, call: Call::Submit(request) }).unwrap();
                live.now = live.machine.submit(live.now, &request, true);
                if page % pages == pages - 1 {
                    journal.add(Entry { at: live.now, call: Call::Submit(Request::flush()) }).unwrap();
                    live.now = live.machine.submit(live.now, &Request::flush(), true);
                }
            }
            journal.write().unwrap();
            let mut drive_again = small("off");
            assert!(recovered(&drive, &mut drive_again, || Ok(small("off"))).unwrap());
            let after = drive_again.machine.drive();
            let kept = (0..2 * pages).take_while(|page| after.mapped(page * PAGE_BYTES, PAGE_BYTES).0).count() as u64;
            assert!(kept >= pages, "{kept} of {pages} pages");
            assert_eq!(kept * PAGE_BYTES + after.lost_bytes(), 2 * pages * PAGE_BYTES);
        }
        let _ = fs::remove_dir_all(folder);
    }
}
