//! The drive that is served: what it is asked, whoever asks, goes into its recording and its journal.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Condvar, Mutex, MutexGuard};
use std::time::Duration;

use pslc_drive::journal::{self, Call, Entry, Journal};
use pslc_drive::{DataFile, KeptDrive, OpenError};
use pslc_load::live::Live;
use pslc_load::record::Recording;
use pslc_load::{SimTarget, Target};
use pslc_ssd::config::Config;
use pslc_ssd::state::About;
use pslc_ssd::{Nanos, Op, Request};
use socket2::Socket;

use crate::faults::{Faults, Faulty, Loss};
use crate::pace::{wall, Due, Pace};
use crate::status::{Busy, Status};
use crate::turns::BEHIND;

/// A drive that keeps its file is saved, and its journal begins anew, from so many bytes of it on.
pub const MAX_JOURNAL_BYTES: u64 = 64 << 20;
/// On a full disk time passes in steps of this at least: the room that is left is for requests.
const STEP_ON_FULL: Nanos = Nanos::from_secs(5);
/// While nobody asks, time passes in steps that take so long to work out, or are so long.
const MAX_WORK: Duration = Duration::from_millis(1);
const MAX_PAUSE: Duration = Duration::from_secs(60);
/// Warnings that nobody has asked for yet.
const MAX_WARNINGS: usize = 20;

/// Where written data go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Data {
    /// Into a file beside that of the drive.
    Keep,
    Memory,
    /// Nowhere: zeros are read.
    None,
}

/// A drive that is in a file.
#[derive(Debug)]
pub struct Kept {
    pub file: KeptDrive,
    pub about: About,
    pub max_journal_bytes: u64,
}

/// What is left of a drive that was served.
#[derive(Debug)]
pub struct Ended {
    pub recording: Recording,
    /// Why the drive is neither in its file nor in its journal.
    pub error: Option<OpenError>,
}

#[derive(Debug)]
pub struct Served {
    pub capacity: u64,
    /// What was written; zeros are read without.
    data: Option<DataFile>,
    pub pace: Pace,
    faulty: Option<Faulty>,
    /// `None` once it is over.
    drive: Mutex<Option<Drive>>,
    /// `None` for a drive without a file, and once it is over.
    kept: Mutex<Option<Kept>>,
    requests: Mutex<Requests>,
    /// Requests are refused from now on, or one has come that is waited for.
    changed: Condvar,
    /// The disk has refused something.
    full: AtomicBool,
    busy: Mutex<Busy>,
    warnings: Mutex<Vec<String>>,
}

/// Requests that come.
#[derive(Debug, Default)]
struct Requests {
    count: u64,
    /// Of these, those before the last look.
    before: u64,
    awaited: bool,
    refused: bool,
}

#[derive(Debug)]
struct Drive {
    live: Live,
    /// Of a drive that is in a file.
    journal: Option<Journal>,
}

impl Drive {
    /// Put down what has just been done.
    fn note(&mut self, call: Call) -> io::Result<()> {
        let Some(journal) = &mut self.journal else { return Ok(()) };
        let is_read = matches!(call, Call::Submit(Request { op: Op::Read, .. }));
        // The last room on a full disk is for what makes room again.
        if is_read && journal.reserve().is_err() {
            return Ok(());
        }
        journal.add(Entry { at: self.live.target().now(), call })
    }

    /// Put down what has just been done where a death of this process leaves it: what is written is in the journal before
    /// it is in the data. Whoever asked learns where that cannot be, for what he writes would not be kept.
    fn note_safely(&mut self, call: Call) -> io::Result<()> {
        self.note(call)?;
        self.journal.as_mut().map_or(Ok(()), Journal::write)
    }

    fn is_on_full_disk(&mut self) -> bool {
        self.journal.as_mut().is_some_and(|journal| journal.reserve().is_err())
    }

    /// Let time up to a bin's length before `now` pass, so that what the drive did while nobody asked is told of each bin.
    fn catch_up(&mut self, now: Nanos) -> io::Result<()> {
        while self.live.step(now) < now && !self.is_on_full_disk() {
            let step = self.live.step(now);
            self.live.pass(step);
            self.note(Call::Advance)?;
        }
        Ok(())
    }

    fn pass(&mut self, now: Nanos) -> io::Result<()> {
        self.catch_up(now)?;
        self.live.pass(now);
        self.note_safely(Call::Advance)
    }
}

impl Served {
    /// Take a drive, and the file that it is in, if any. A reply's way is tried out on the two ends of a connection.
    pub fn begin(
        mut target: SimTarget,
        mut kept: Option<Kept>,
        data: Data,
        speed: f64,
        faults: Option<Faults>,
        ends: (Socket, Socket),
    ) -> Result<Served, OpenError> {
        let (now, capacity) = (target.now(), target.capacity_bytes());
        let mut journal = None;
        let mut data_file = match data {
            Data::Memory => Some(DataFile::temporary(capacity)?),
            _ => None,
        };
        if let Some(Kept { file, about, .. }) = &mut kept {
            if file.recovered() {
                file.save(about, now, target.machine())?;
            }
            if data == Data::Keep {
                let data = DataFile::open(file.path(), about.identity, capacity)?;
                let drive = target.drive();
                let cleared = data.clear_unmapped(capacity, |at, max_bytes| drive.mapped(at, max_bytes));
                cleared.map_err(|error| pslc_drive::error::failed("read the data of", file.path(), error))?;
                data_file = Some(data);
            }
            let begun = Journal::begin(file.path(), about.identity, now);
            let failed = |error| pslc_drive::error::failed("write", &journal::path(file.path()), error);
            journal = Some(begun.map_err(failed)?);
        }
        let buffer_bytes = target.drive().write_buffer_bytes();
        Ok(Served {
            capacity,
            data: data_file,
            pace: Pace::new(now, speed, ends),
            faulty: faults.map(|faults| Faulty::new(faults, now, buffer_bytes)),
            drive: Mutex::new(Some(Drive { live: Live::new(target, "serve"), journal })),
            kept: Mutex::new(kept),
            requests: Mutex::default(),
            changed: Condvar::new(),
            full: AtomicBool::new(false),
            busy: Mutex::default(),
            warnings: Mutex::default(),
        })
    }

    /// Read data.
    pub fn read(&self, into: &mut [u8], offset: u64) -> io::Result<()> {
        let Some(data) = &self.data else {
            into.fill(0);
            return Ok(());
        };
        data.read(into, offset)
    }

    /// Write data, once the drive was asked, which answers at `done`.
    pub fn write(&self, from: &[u8], offset: u64, done: Nanos) -> io::Result<()> {
        let written = match (&self.data, &self.faulty) {
            (None, _) => Ok(()),
            (Some(data), None) => data.write(from, offset),
            (Some(data), Some(faulty)) => faulty.write(data, from, offset, done),
        };
        written.inspect_err(|error| self.refused(error))
    }

    /// A request has come, to a drive with faults: an error, or how much longer it takes. The power may be cut by it.
    pub fn tempts(&self, op: Op) -> io::Result<Duration> {
        let Some(faulty) = &self.faulty else { return Ok(Duration::ZERO) };
        if (op == Op::Write && faulty.cuts_write()) || faulty.cuts_at(self.pace.drive_at(wall())) {
            self.cut()?;
        }
        if faulty.is_cut() {
            return Err(io::ErrorKind::NotConnected.into());
        }
        if matches!(op, Op::Read | Op::Write) {
            faulty.comes()
        } else {
            Ok(Duration::ZERO)
        }
    }

    /// Whether a flush is answered without being done.
    pub fn lies(&self) -> bool {
        self.faulty.as_ref().is_some_and(Faulty::lies)
    }

    /// A flush was asked for that is done then.
    pub fn flushed(&self, done: Nanos) {
        if let Some(faulty) = &self.faulty {
            faulty.flushed(done);
        }
    }

    pub fn is_cut(&self) -> bool {
        self.faulty.as_ref().is_some_and(Faulty::is_cut)
    }

    /// What the power cut did, if there was one.
    pub fn loss(&self) -> Option<Loss> {
        self.faulty.as_ref()?.loss()
    }

    /// The power goes: nobody is answered any more, and of what was written only what is in the cells stays.
    fn cut(&self) -> io::Result<()> {
        let Some(faulty) = self.faulty.as_ref().filter(|faulty| faulty.begin_cut()) else { return Ok(()) };
        // A reply is on its way before it is due.
        let now = self.pace.drive_at(wall() + self.pace.way());
        let held = self.with(|drive| {
            drive.pass(now)?;
            let drive = drive.live.target().drive();
            let held = if drive.survives_power_loss() { 0 } else { drive.buffered_pages() };
            Ok(drive.unit().bytes(held.into()))
        });
        let lost = held.and_then(|held| faulty.cut(self.data.as_ref(), now, held));
        // Also where it could not be done: the drive is off.
        self.refuse();
        lost.map(drop)
    }

    /// Make zeros, which take no room, once the drive was asked.
    pub fn clear(&self, offset: u64, bytes: u64) -> io::Result<()> {
        let cleared = self.data.as_ref().map_or(Ok(()), |data| data.clear(offset, bytes));
        cleared.inspect_err(|error| self.refused(error))
    }

    fn lock(&self) -> MutexGuard<'_, Option<Drive>> {
        self.drive.lock().expect("nobody panics with it")
    }

    /// Do something with the drive, unless it is over.
    fn with<T>(&self, does: impl FnOnce(&mut Drive) -> io::Result<T>) -> io::Result<T> {
        let mut drive = self.lock();
        let done = drive.as_mut().ok_or_else(|| io::ErrorKind::NotConnected.into()).and_then(does);
        done.inspect_err(|error| self.refused(error))
    }

    /// Something was refused; that the disk is full is told.
    fn refused(&self, error: &io::Error) {
        if journal::is_full(error) {
            self.full.store(true, Relaxed);
        }
    }

    fn warn(&self, warning: String) {
        let mut warnings = self.warnings.lock().expect("nobody panics with it");
        if warnings.len() < MAX_WARNINGS && warnings.last() != Some(&warning) {
            warnings.push(warning);
        }
    }

    /// Ask the drive at `from` on the wall's clock; returns when it is done. It came at `came`.
    pub fn submit(&self, request: &Request, came: u64, from: u64) -> io::Result<Due> {
        self.with(|drive| {
            let now = self.pace.drive_at(from);
            drive.catch_up(now)?;
            if request.op == Op::Write {
                drive.journal.as_mut().map_or(Ok(()), Journal::reserve)?;
            }
            let done = drive.live.submit(now, request);
            match request.op {
                // What reads change can be lost.
                Op::Read => drive.note(Call::Submit(*request))?,
                _ => drive.note_safely(Call::Submit(*request))?,
            }
            Ok(Due { came, from, at: self.pace.wall_at(done), done })
        })
    }

    /// It is `now` at least: what is answered for by now is in the cells, also for who does it again from the journal.
    pub fn reached(&self, now: Nanos) -> io::Result<()> {
        self.with(|drive| drive.pass(now))
    }

    /// Switch the cache of a drive without a file, whose journal does not know of it; `config` is the drive's own.
    pub fn switch_cache(&self, config: &Config, on: bool, emptied: bool) -> io::Result<()> {
        self.with(|drive| {
            if drive.journal.is_some() {
                return Err(io::ErrorKind::Unsupported.into());
            }
            drive.pass(self.pace.drive_at(wall()))?;
            drive.live.target().switch_cache(config, on, emptied);
            Ok(())
        })
    }

    fn requests(&self) -> MutexGuard<'_, Requests> {
        self.requests.lock().expect("nobody panics with it")
    }

    /// A request has come; an error where requests are refused.
    pub fn admit(&self) -> io::Result<()> {
        let mut requests = self.requests();
        if requests.refused {
            return Err(io::ErrorKind::NotConnected.into());
        }
        requests.count += 1;
        if std::mem::take(&mut requests.awaited) {
            self.changed.notify_all();
        }
        Ok(())
    }

    /// Refuse requests from now on.
    pub fn refuse(&self) {
        self.requests().refused = true;
        self.changed.notify_all();
    }

    pub fn refuses(&self) -> bool {
        self.requests().refused
    }

    /// Wait for so long, and before that for a request since the last time, unless it is to look `always`. Returns whether
    /// requests are answered still.
    pub fn watch(&self, time: Duration, always: bool) -> bool {
        let mut pause = time;
        let mut requests = self.requests();
        while !always && !requests.refused && requests.count == requests.before {
            requests.awaited = true;
            let (woken, slept) = self.changed.wait_timeout(requests, pause).expect("nobody panics with it");
            requests = woken;
            if slept.timed_out() {
                drop(requests);
                // What a drive does in the background is less and less, so it is done less and less often.
                let is_much = self.let_pass() > MAX_WORK;
                pause = if is_much { (pause / 2).max(time) } else { (pause * 2).min(MAX_PAUSE) };
                requests = self.requests();
            }
        }
        let waits = |requests: &mut Requests| !requests.refused;
        let waited = self.changed.wait_timeout_while(requests, time, waits);
        let mut requests = waited.expect("nobody panics with it").0;
        requests.before = requests.count;
        let refused = requests.refused;
        drop(requests);
        if !refused && self.faulty.as_ref().is_some_and(|faulty| faulty.cuts_at(self.pace.drive_at(wall()))) {
            if let Err(error) = self.cut() {
                self.warn(format!("the power cut: {error}"));
            }
            return false;
        }
        self.shorten_journal();
        !refused
    }

    /// Parts of the drive from `offset` on, so many bytes and at most so many parts: whether each holds data, and its length.
    pub fn extents(&self, offset: u64, bytes: u64, max_parts: usize) -> io::Result<Vec<(bool, u32)>> {
        self.with(|drive| {
            let target = drive.live.target();
            let (mut at, end) = (offset, offset + bytes);
            let mut parts: Vec<(bool, u32)> = Vec::new();
            while at < end && parts.len() < max_parts {
                let (mapped, length) = target.drive().mapped(at, end - at);
                let length = length.min(end - at);
                match parts.last_mut() {
                    Some(last) if last.0 == mapped => last.1 += length as u32,
                    _ => parts.push((mapped, length as u32)),
                }
                at += length;
            }
            Ok(parts)
        })
    }

    /// Time passes while nobody asks. Returns how long that took.
    fn let_pass(&self) -> Duration {
        let begin = wall();
        // Requests may still be asked for as of then.
        let now = self.pace.drive_at(begin - BEHIND);
        let passed = self.with(|drive| {
            let is_soon = now < drive.live.target().now() + STEP_ON_FULL;
            if is_soon && drive.is_on_full_disk() {
                return Ok(());
            }
            drive.pass(now)
        });
        match passed {
            Err(error) if error.kind() != io::ErrorKind::NotConnected => {
                self.warn(format!("the journal: {error}"));
            }
            _ => {}
        }
        Duration::from_nanos(wall() - begin)
    }

    /// How the drive is now, and what there is to say of it; `None` once it is over.
    pub fn status(&self) -> Option<Status> {
        self.let_pass();
        let late = self.pace.late();
        let busy = self.busy.lock().expect("nobody panics with it").share(late.by.count);
        let mut drive = self.lock();
        let live = &mut drive.as_mut()?.live;
        let mut columns = vec![0; live.target().columns().len()];
        live.target().peek(&mut columns);
        Some(Status {
            now: live.target().now(),
            sums: live.sums(),
            under_way: live.under_way(),
            recent: live.recent(),
            way_ns: self.pace.way(),
            late,
            busy,
            columns,
            full: self.full.load(Relaxed),
            warnings: self.warnings(),
        })
    }

    /// What was recorded so far; `None` once it is over.
    pub fn so_far(&self) -> Option<Recording> {
        Some(self.lock().as_mut()?.live.so_far())
    }

    /// Save the drive as it is, while it is in use, where much has happened since that was done last.
    fn shorten_journal(&self) {
        let mut kept = self.kept.lock().expect("nobody panics with it");
        let Some(kept) = &mut *kept else { return };
        let saved = self.with(|drive| {
            let bytes = drive.journal.as_ref().map_or(0, Journal::bytes);
            if bytes <= kept.max_journal_bytes {
                return Ok(None);
            }
            drive.note_safely(Call::Saved)?;
            let bytes = drive.journal.as_ref().map_or(0, Journal::bytes);
            let target = drive.live.target();
            Ok(Some((target.now(), target.machine().clone(), bytes)))
        });
        let shortened = saved.map_err(|error| error.to_string()).and_then(|saved| {
            let Some((now, machine, bytes)) = saved else { return Ok(()) };
            let Kept { file, about, .. } = kept;
            file.save_beside_journal(about, now, &machine).map_err(|error| error.to_string())?;
            let anew = self.with(|drive| match &mut drive.journal {
                Some(journal) => journal.begin_after(bytes, now),
                None => Ok(()),
            });
            anew.map_err(|error| error.to_string())
        });
        if let Err(error) = shortened {
            self.warn(format!("the drive is not saved in between: {error}"));
        }
    }

    /// What is under way completes, and the drive goes back into its file, or stays in its journal where the disk is full.
    /// Nobody is answered from now on. `None` where that was done before.
    pub fn end(&self) -> Option<Ended> {
        let mut drive = self.lock().take()?;
        let now = self.pace.drive_at(wall());
        // Where the journal cannot be written, the drive is saved all the same.
        let _ = drive.catch_up(now);
        let Drive { mut live, journal } = drive;
        live.pass(now);
        let (mut target, recording) = live.end();
        if let Some(loss) = self.loss() {
            target.lose_power(target.drive().unit().needed(loss.lost_bytes) as u32);
        }
        let now = target.now();
        // Whoever wants the drive next may have it.
        let kept = self.kept.lock().expect("nobody panics with it").take();
        let error = kept.zip(journal).and_then(|(Kept { mut file, about, .. }, mut journal)| {
            let error = file.save(&about, now, target.machine()).err()?;
            let ended = journal.add(Entry { at: now, call: Call::Ended }).and_then(|()| journal.write());
            if ended.is_err() {
                return Some(error);
            }
            self.warn(format!("{error}; it is whole in its journal, and the next command puts it back"));
            None
        });
        Some(Ended { recording, error })
    }

    /// What there is to say, and nobody has asked for yet.
    pub fn warnings(&self) -> Vec<String> {
        std::mem::take(&mut *self.warnings.lock().expect("nobody panics with it"))
    }
}
