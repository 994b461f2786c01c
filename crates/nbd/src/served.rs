//! The drive that is served: one of them, whoever asks. A thread of its own lets time pass while nobody does, tells what
//! happens, and keeps what was recorded.
//!
//! ```text
//!   nbdkit is told to end --- requests are refused (ESHUTDOWN) ---> nobody is connected: `unload` saves the drive
//!                                                              `--> after GRACE, or a word: the ticker does, and ends nbdkit
//! ```

use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};
use std::sync::Mutex;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use pslc_drive::files::{self, Replace};
use pslc_drive::journal::{self, Call, Entry, Journal};
use pslc_drive::{KeptDrive, OpenError};
use pslc_load::live::Live;
use pslc_load::record::Recording;
use pslc_load::{SimTarget, Target};
use pslc_ssd::state::About;
use pslc_ssd::{Nanos, Op, Request};

use crate::clients::Clients;
use crate::given::{Came, Pipe};
use crate::pace::{nap, wall, Due, Pace};
use crate::settings::Settings;
use crate::store::Store;
use crate::tell::Teller;
use crate::turns::BEHIND;

const TICK: Duration = Duration::from_millis(50);
/// Ticks between two lines, and between two times the recording is kept.
const TELL: u32 = 5;
const KEEP: u32 = 100;
/// How long clients have to go once it is to end.
const GRACE: Duration = Duration::from_secs(5);
/// How long a request that is under way then has to be done, and its reply to leave.
const REPLIES: Duration = Duration::from_secs(1);

pub struct Served {
    pub capacity: u64,
    pub store: Store,
    pub pace: Pace,
    pub clients: Clients,
    pub unix: bool,
    /// `None` once it is over.
    drive: Mutex<Option<Drive>>,
    file: Mutex<KeptDrive>,
    recording: Option<PathBuf>,
    journal: u64,
    tell: Option<i32>,
    end: Option<Pipe>,
    over: AtomicBool,
    /// The disk has refused something.
    full: AtomicBool,
    under_way: AtomicU32,
    ticker: Mutex<Option<JoinHandle<Option<Teller>>>>,
}

struct Drive {
    live: Live,
    journal: Journal,
    about: About,
}

/// A request that is asked for; it is over when this is dropped.
pub struct UnderWay<'a>(&'a AtomicU32);

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Relaxed);
    }
}

fn is_read(call: &Call) -> bool {
    matches!(call, Call::Submit(Request { op: Op::Read, .. }))
}

/// What a client is answered once the drive is in its file.
fn over() -> io::Error {
    io::Error::from_raw_os_error(libc::ESHUTDOWN)
}

impl Drive {
    /// Put down what has just been done. Whoever asked learns where that cannot be: what he writes would not be kept.
    fn note(&mut self, call: Call) -> io::Result<()> {
        // The last room on a full disk is for what makes room again.
        if is_read(&call) && self.journal.reserve().is_err() {
            return Ok(());
        }
        let at = self.live.target().now();
        self.journal.add(Entry { at, call })?;
        // What reads change can be lost; what is written is in the journal before it is in the data.
        match is_read(&call) {
            true => Ok(()),
            false => self.journal.write(),
        }
    }
}

impl Served {
    /// Take the drive in its file.
    pub fn open(settings: &Settings) -> Result<Served, String> {
        let path = settings.drive.as_ref().expect("it was looked at");
        let (mut file, kept) = KeptDrive::open(path).map_err(line)?;
        if file.recovered() {
            file.save(&kept.about, kept.now, &kept.machine).map_err(line)?;
        }
        let drive = kept.machine.drive();
        let capacity = drive.capacity_bytes();
        let identity = kept.about.identity;
        let store = Store::open(settings.data, settings.memory, file.path(), identity, capacity)
            .map_err(|error| error.to_string())?;
        store
            .agree(capacity, |at, max_bytes| drive.mapped(at, max_bytes))
            .map_err(|error| format!("the data of {}: {error}", path.display()))?;
        let journal = Journal::begin(file.path(), identity, kept.now)
            .map_err(|error| format!("the journal of {}: {error}", path.display()))?;
        let target = SimTarget::new(kept.now, kept.machine);
        let live = match settings.recording.as_deref().and_then(begun) {
            Some(recording) => Live::resume(target, recording),
            None => Live::new(target, "serve"),
        };
        let drive = Drive { live, journal, about: kept.about };
        let end = settings.end.map(Pipe::new).transpose().map_err(|error| format!("end=: {error}"))?;
        Ok(Served {
            capacity,
            store,
            pace: Pace::new(kept.now, settings.speed),
            clients: Clients::default(),
            unix: settings.unix,
            drive: Mutex::new(Some(drive)),
            file: Mutex::new(file),
            recording: settings.recording.clone(),
            journal: settings.journal,
            tell: settings.tell,
            end,
            over: AtomicBool::new(false),
            full: AtomicBool::new(false),
            under_way: AtomicU32::new(0),
            ticker: Mutex::new(None),
        })
    }

    /// A request has come, and is answered when what this returns is dropped.
    pub fn under_way(&self) -> UnderWay<'_> {
        self.under_way.fetch_add(1, Relaxed);
        UnderWay(&self.under_way)
    }

    /// Something was refused; that the disk is full is told.
    pub fn refused(&self, error: &io::Error) {
        if journal::is_full(error) {
            self.full.store(true, Relaxed);
        }
    }

    /// Ask the drive at `from` on the wall's clock; returns when it is done. It came at `came`.
    pub fn submit(&self, request: &Request, came: u64, from: u64) -> io::Result<Due> {
        self.with(|drive| {
            if request.op == Op::Write {
                drive.journal.reserve()?;
            }
            let done = drive.live.submit(self.pace.drive_at(from), request);
            drive.note(Call::Submit(*request))?;
            Ok(Due { came, from, at: self.pace.wall_at(done), done })
        })
    }

    /// It is `now` at least: what is answered for by now is in the cells, also for who does it again from the journal.
    pub fn reached(&self, now: Nanos) -> io::Result<()> {
        self.with(|drive| {
            drive.live.pass(now);
            drive.note(Call::Advance)
        })
    }

    /// Do something with the drive, unless it is over.
    fn with<T>(&self, does: impl FnOnce(&mut Drive) -> io::Result<T>) -> io::Result<T> {
        let mut drive = self.drive.lock().expect("nobody panics with it");
        let done = drive.as_mut().ok_or_else(over).and_then(does);
        done.inspect_err(|error| self.refused(error))
    }

    /// Parts of the drive from `offset` on, so many bytes and at most so many parts: whether each holds data, and its length.
    pub fn extents(&self, offset: u64, bytes: u64, max_runs: usize) -> io::Result<Vec<(bool, u64)>> {
        let mut drive = self.drive.lock().expect("nobody panics with it");
        let target = drive.as_mut().ok_or_else(over)?.live.target();
        let (mut at, end) = (offset, offset + bytes);
        let mut runs: Vec<(bool, u64)> = Vec::new();
        for _ in 0..max_runs {
            if at >= end {
                break;
            }
            let (mapped, run) = target.drive().mapped(at, end - at);
            match runs.last_mut() {
                Some(last) if last.0 == mapped => last.1 += run,
                _ => runs.push((mapped, run)),
            }
            at += run;
        }
        Ok(runs)
    }

    /// Time begins to pass.
    pub fn begin(&'static self) -> std::io::Result<()> {
        let ticker = std::thread::Builder::new().name("ticker".into()).spawn(|| self.tick())?;
        *self.ticker.lock().expect("nobody panics with it") = Some(ticker);
        Ok(())
    }

    fn tick(&self) -> Option<Teller> {
        let mut teller = self.tell.and_then(Teller::new);
        let mut patience: Option<Instant> = None;
        for tick in 0u32.. {
            self.let_pass(tick, &mut teller)?;
            if self.over.load(Relaxed) {
                return teller;
            }
            let came = self.end.as_ref().map_or(Came::Nothing, Pipe::look);
            match patience {
                None if nap(TICK) => patience = Some(Instant::now() + GRACE),
                None if came != Came::Nothing => nbdkit::shutdown(),
                None => {}
                Some(until) if came != Came::Nothing || Instant::now() >= until => return self.leave(teller),
                Some(_) => std::thread::sleep(TICK),
            }
        }
        unreachable!("it is over before")
    }

    /// What is to be done at a tick. `None` once it is over.
    fn let_pass(&self, tick: u32, teller: &mut Option<Teller>) -> Option<()> {
        // Requests may still be asked for as of then.
        let now = self.pace.drive_at(wall() - BEHIND);
        let (tells, keeps) = (tick % TELL == 0, tick % KEEP == KEEP - 1);
        let mut kept = None;
        {
            let mut drive = self.drive.lock().expect("nobody panics with it");
            let drive = drive.as_mut()?;
            // On a full disk time passes with requests, and in longer steps: the room left is for them.
            if keeps || drive.journal.reserve().is_ok() {
                drive.live.pass(now);
                if let Err(error) = drive.note(Call::Advance) {
                    self.refused(&error);
                    eprintln!("pslc: the journal: {error}");
                }
            }
            if let Some(teller) = teller.as_mut().filter(|_| tells) {
                teller.look(&mut drive.live);
            }
            if keeps {
                kept = Some(drive.live.so_far());
            }
        }
        if let Some(teller) = teller.as_mut().filter(|_| tells) {
            teller.tell(&self.pace, &self.clients, self.full.load(Relaxed), false);
        }
        if let Some(recording) = kept {
            self.keep(&recording);
            self.shorten_journal();
        }
        Some(())
    }

    /// Save the drive and end nbdkit, which waits for clients for ever.
    fn leave(&self, mut teller: Option<Teller>) -> Option<Teller> {
        let until = Instant::now() + REPLIES;
        while self.under_way.load(Relaxed) > 0 && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(1));
        }
        let drive = self.drive.lock().expect("nobody panics with it").take();
        let Some(drive) = drive else { return teller };
        let saved = self.put_away(drive, &mut teller);
        std::thread::sleep(TICK);
        // SAFETY: nothing is to be done any more; destructors would meet the threads of clients.
        unsafe { libc::_exit(if saved { 0 } else { 1 }) }
    }

    /// Save the drive as it is, while it is in use, where much has happened since that was done last.
    fn shorten_journal(&self) {
        let shorten = || -> Result<(), String> {
            let words = |error: io::Error| error.to_string();
            let (now, machine, about, at) = {
                let mut drive = self.drive.lock().expect("nobody panics with it");
                let Some(drive) = drive.as_mut().filter(|drive| drive.journal.bytes() > self.journal) else {
                    return Ok(());
                };
                drive.note(Call::Saved).map_err(words)?;
                let target = drive.live.target();
                (target.now(), target.machine().clone(), drive.about.clone(), drive.journal.bytes())
            };
            let mut file = self.file.lock().expect("nobody panics with it");
            file.save_beside_journal(&about, now, &machine).map_err(line)?;
            let mut drive = self.drive.lock().expect("nobody panics with it");
            drive.as_mut().map_or(Ok(()), |drive| drive.journal.begin_after(at, now)).map_err(words)
        };
        if let Err(error) = shorten() {
            eprintln!("pslc: the drive is not saved in between: {error}");
        }
    }

    /// Nobody is connected any more: the drive goes back into its file.
    pub fn end(&self) {
        self.over.store(true, Relaxed);
        let ticker = self.ticker.lock().expect("nobody panics with it").take();
        let mut teller = ticker.and_then(|ticker| ticker.join().ok()).flatten();
        let drive = self.drive.lock().expect("nobody panics with it").take();
        if drive.is_some_and(|drive| !self.put_away(drive, &mut teller)) {
            std::process::exit(1);
        }
    }

    /// What is under way completes, and the drive goes back into its file, or stays in its journal where the disk is full.
    /// Returns whether it is in either.
    fn put_away(&self, drive: Drive, teller: &mut Option<Teller>) -> bool {
        let Drive { mut live, mut journal, about } = drive;
        live.pass(self.pace.drive_at(wall()));
        if let Some(teller) = teller {
            teller.look(&mut live);
        }
        let (mut target, recording) = live.end();
        self.keep(&recording);
        let now: Nanos = target.now();
        let mut file = self.file.lock().expect("nobody panics with it");
        if let Err(error) = file.save(&about, now, target.machine()) {
            let ended = journal.add(Entry { at: now, call: Call::Ended }).and_then(|()| journal.write());
            if ended.is_err() {
                eprintln!("pslc: {}", line(error));
                return false;
            }
            eprintln!("pslc: {error}; it is whole in its journal, and the next command puts it back");
        }
        if let Some(teller) = teller {
            teller.tell(&self.pace, &self.clients, self.full.load(Relaxed), true);
        }
        true
    }

    fn keep(&self, recording: &Recording) {
        let Some(path) = &self.recording else { return };
        let bytes = postcard::to_stdvec(recording).expect("memory takes it");
        // Who named it on nbdkit's command line names it each time.
        let kept = files::write(path, &bytes, Replace::Any, files::PRIVATE, false);
        if let Err(error) = kept {
            eprintln!("pslc: {}", line(error.into()));
        }
    }
}

/// An error as one line of a log.
fn line(error: OpenError) -> String {
    format!("{error} ({})", error.hint())
}

/// What was recorded before nbdkit was started again.
fn begun(path: &Path) -> Option<Recording> {
    let mut bytes = Vec::new();
    files::open(path, false).ok()??.read_to_end(&mut bytes).ok()?;
    postcard::from_bytes(&bytes).ok()
}
