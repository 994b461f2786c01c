//! The drive that is served: one of them, whoever asks. A thread of its own lets time pass while nobody does, tells what
//! happens, and keeps what was recorded.

use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::Mutex;
use std::thread::JoinHandle;
use std::time::Duration;

use pslc_drive::journal::{Call, Entry, Journal};
use pslc_drive::KeptDrive;
use pslc_load::live::Live;
use pslc_load::record::Recording;
use pslc_load::{SimTarget, Target};
use pslc_ssd::state::About;
use pslc_ssd::{Nanos, Op, Request};

use crate::pace::{wall, Due, Pace};
use crate::settings::Settings;
use crate::store::Store;
use crate::tell::Teller;
use crate::turns::BEHIND;

const TICK: Duration = Duration::from_millis(50);
/// Ticks between two lines, and between two times the recording is kept.
const TELL: u32 = 5;
const KEEP: u32 = 100;

pub struct Served {
    pub capacity: u64,
    pub store: Store,
    pub pace: Pace,
    /// `None` once it is over.
    drive: Mutex<Option<Drive>>,
    file: Mutex<KeptDrive>,
    recording: Option<PathBuf>,
    journal: u64,
    tell: Option<i32>,
    over: AtomicBool,
    ticker: Mutex<Option<JoinHandle<Option<Teller>>>>,
}

struct Drive {
    live: Live,
    journal: Journal,
    about: About,
}

impl Drive {
    /// Put down what has just been done. Whoever asked learns where that cannot be: what he writes would not be kept.
    fn note(&mut self, call: Call) -> io::Result<()> {
        let at = self.live.target().now();
        self.journal.add(Entry { at, call })?;
        // What reads change can be lost; what is written is in the journal before it is in the data.
        match call {
            Call::Submit(Request { op: Op::Read, .. }) => Ok(()),
            _ => self.journal.write(),
        }
    }
}

impl Served {
    /// Take the drive in its file.
    pub fn open(settings: &Settings) -> Result<Served, String> {
        let path = settings.drive.as_ref().expect("it was looked at");
        let (mut file, kept) = KeptDrive::open(path).map_err(|error| error.to_string())?;
        if file.recovered() {
            file.save(&kept.about, kept.now, &kept.machine).map_err(|error| error.to_string())?;
        }
        let drive = kept.machine.drive();
        let capacity = drive.capacity_bytes();
        let store = Store::open(settings.data, file.path(), capacity)
            .and_then(|store| store.agree(capacity, |at, most| drive.mapped(at, most)).map(|()| store))
            .map_err(|error| format!("the data of {}: {error}", path.display()))?;
        let journal = Journal::begin(file.path(), kept.now)
            .map_err(|error| format!("the journal of {}: {error}", path.display()))?;
        let target = SimTarget::new(kept.now, kept.machine);
        let drive = Drive { live: Live::new(target, "serve"), journal, about: kept.about };
        Ok(Served {
            capacity,
            store,
            pace: Pace::new(kept.now, settings.speed),
            drive: Mutex::new(Some(drive)),
            file: Mutex::new(file),
            recording: settings.recording.clone(),
            journal: settings.journal,
            tell: settings.tell,
            over: AtomicBool::new(false),
            ticker: Mutex::new(None),
        })
    }

    /// Ask the drive at `from` on the wall's clock; returns when it is done. It came at `came`.
    pub fn submit(&self, request: &Request, came: u64, from: u64) -> io::Result<Due> {
        let mut drive = self.drive.lock().expect("nobody panics with it");
        let drive = drive.as_mut().expect("nobody is connected when it is over");
        let done = drive.live.submit(self.pace.drive_at(from), request);
        drive.note(Call::Submit(*request))?;
        Ok(Due { came, from, at: self.pace.wall_at(done), done })
    }

    /// It is `now` at least: what is answered for by now is in the cells, also for who does it again from the journal.
    pub fn reached(&self, now: Nanos) -> io::Result<()> {
        let mut drive = self.drive.lock().expect("nobody panics with it");
        let drive = drive.as_mut().expect("nobody is connected when it is over");
        drive.live.pass(now);
        drive.note(Call::Advance)
    }

    /// Parts of the drive from `offset` on, so many bytes and at most so many parts: whether each holds data, and its length.
    pub fn extents(&self, offset: u64, bytes: u64, most: usize) -> Vec<(bool, u64)> {
        let mut drive = self.drive.lock().expect("nobody panics with it");
        let target = drive.as_mut().expect("nobody is connected when it is over").live.target();
        let (mut at, end) = (offset, offset + bytes);
        let mut found: Vec<(bool, u64)> = Vec::new();
        for _ in 0..most {
            if at >= end {
                break;
            }
            let (mapped, run) = target.drive().mapped(at, end - at);
            match found.last_mut() {
                Some(last) if last.0 == mapped => last.1 += run,
                _ => found.push((mapped, run)),
            }
            at += run;
        }
        found
    }

    /// Time begins to pass.
    pub fn begin(&'static self) -> std::io::Result<()> {
        let ticker = std::thread::Builder::new().name("ticker".into()).spawn(|| self.tick())?;
        *self.ticker.lock().expect("nobody panics with it") = Some(ticker);
        Ok(())
    }

    fn tick(&self) -> Option<Teller> {
        let mut teller = self.tell.and_then(Teller::new);
        for tick in 0u32.. {
            // Requests may still be asked for as of then.
            let now = self.pace.drive_at(wall() - BEHIND);
            let mut kept = None;
            {
                let mut drive = self.drive.lock().expect("nobody panics with it");
                let Some(drive) = drive.as_mut() else { return teller };
                drive.live.pass(now);
                if let Err(error) = drive.note(Call::Advance) {
                    eprintln!("pslc: the journal: {error}");
                }
                if let Some(teller) = teller.as_mut().filter(|_| tick % TELL == 0) {
                    teller.look(&mut drive.live);
                }
                if tick % KEEP == KEEP - 1 {
                    kept = Some(drive.live.so_far());
                }
            }
            if let Some(teller) = teller.as_mut().filter(|_| tick % TELL == 0) {
                teller.tell(&self.pace, false);
            }
            if let Some(recording) = kept {
                self.keep(&recording);
                self.shorten_journal();
            }
            if self.over.load(Relaxed) {
                return teller;
            }
            std::thread::sleep(TICK);
        }
        unreachable!("it is over before")
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
            file.save_beside_journal(&about, now, &machine).map_err(|error| error.to_string())?;
            let mut drive = self.drive.lock().expect("nobody panics with it");
            drive.as_mut().map_or(Ok(()), |drive| drive.journal.begin_after(at, now)).map_err(words)
        };
        if let Err(error) = shorten() {
            eprintln!("pslc: the drive is not saved in between: {error}");
        }
    }

    /// What is under way completes, the drive goes back into its file.
    pub fn end(&self) {
        self.over.store(true, Relaxed);
        let ticker = self.ticker.lock().expect("nobody panics with it").take();
        let mut teller = ticker.and_then(|ticker| ticker.join().ok()).flatten();
        let Some(Drive { mut live, about, .. }) = self.drive.lock().expect("nobody panics with it").take()
        else {
            return;
        };
        live.pass(self.pace.drive_at(wall()));
        if let Some(teller) = &mut teller {
            teller.look(&mut live);
        }
        let (mut target, recording) = live.end();
        self.keep(&recording);
        let now: Nanos = target.now();
        let mut file = self.file.lock().expect("nobody panics with it");
        if let Err(error) = file.save(&about, now, target.machine()) {
            eprintln!("pslc: {error}");
            std::process::exit(1);
        }
        if let Some(teller) = &mut teller {
            teller.tell(&self.pace, true);
        }
    }

    fn keep(&self, recording: &Recording) {
        let Some(path) = &self.recording else { return };
        let part = path.with_extension("part");
        let bytes = postcard::to_stdvec(recording).expect("memory takes it");
        let kept = std::fs::write(&part, bytes).and_then(|()| std::fs::rename(&part, path));
        if let Err(error) = kept {
            eprintln!("pslc: {}: {error}", path.display());
        }
    }
}
