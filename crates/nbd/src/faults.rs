//! A drive that fails as drives fail: the power is cut, and requests fail or hang.
//!
//! What a power cut takes is in the write buffer: the newest bytes that the drive has not programmed, and whatever was not
//! answered yet. A flush that was answered, and a write with FUA, are safe, unless the drive lies. A drive with capacitors
//! loses nothing.

use std::collections::VecDeque;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use pslc_drive::DataFile;
use pslc_load::splitmix64;
use pslc_ssd::Nanos;

/// The smallest part of a request that a cut leaves whole.
const SECTOR_BYTES: usize = 512;
/// What the drive programs whole.
const PAGE_BYTES: usize = 4096;
/// One of so many requests from the first on hangs.
const HANGS_WITHIN: u64 = 1000;

/// When the power is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// As this write comes, counted from 1.
    Write(u64),
    /// So long after the drive was first served, on its own clock.
    After(Nanos),
}

/// What goes wrong, drawn from the seed.
#[derive(Clone, Copy, Debug, Default)]
pub struct Faults {
    pub seed: u64,
    /// Of one request that a cut takes, a drawn part stays.
    pub torn: bool,
    /// Of the requests that a cut takes, a drawn half stays, later ones without earlier ones.
    pub reorder: bool,
    /// A flush is answered at once and does nothing, and FUA is not heeded.
    pub lie_flush: bool,
    /// Share of reads and writes that fail.
    pub eio: f64,
    /// How long one drawn request of the first thousand takes beyond its time.
    pub hang: Duration,
    pub cut: Option<Cut>,
}

/// What a power cut did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Loss {
    /// Writes that had come.
    pub writes: u64,
    /// Writes that were neither programmed nor flushed, and those of them that are lost, in whole or in part.
    pub at_risk: u64,
    pub lost: u64,
    pub lost_bytes: u64,
}

/// A write that may be lost.
#[derive(Debug)]
struct Pending {
    number: u64,
    offset: u64,
    before: Vec<u8>,
    data: Vec<u8>,
    done: Nanos,
}

#[derive(Debug, Default)]
struct State {
    requests: u64,
    writes: u64,
    draws: u64,
    pending: VecDeque<Pending>,
    pending_bytes: u64,
    /// Flushes, the number of the last write before each, and when it is done.
    flushes: Vec<(u64, Nanos)>,
    loss: Option<Loss>,
}

#[derive(Debug)]
pub struct Faulty {
    faults: Faults,
    begin: Nanos,
    /// Bytes that the write buffer holds at most.
    buffer_bytes: u64,
    is_cut: AtomicBool,
    state: Mutex<State>,
}

impl Faulty {
    pub fn new(faults: Faults, begin: Nanos, buffer_bytes: u64) -> Faulty {
        Faulty { faults, begin, buffer_bytes, is_cut: AtomicBool::new(false), state: Mutex::default() }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("nobody panics with it")
    }

    pub fn lies(&self) -> bool {
        self.faults.lie_flush
    }

    /// Whether nobody is answered any more.
    pub fn is_cut(&self) -> bool {
        self.is_cut.load(SeqCst)
    }

    pub fn loss(&self) -> Option<Loss> {
        self.lock().loss
    }

    /// A read or a write has come: an error, or how much longer it takes.
    pub fn comes(&self) -> io::Result<Duration> {
        let mut state = self.lock();
        state.requests += 1;
        let hangs = state.requests == 1 + splitmix64(self.faults.seed) % HANGS_WITHIN;
        if self.faults.eio > 0.0 && self.draw(&mut state) < self.faults.eio {
            return Err(io::Error::other("a drawn fault"));
        }
        Ok(if hangs { self.faults.hang } else { Duration::ZERO })
    }

    /// Whether the power is cut as this write comes.
    pub fn cuts_write(&self) -> bool {
        let mut state = self.lock();
        state.writes += 1;
        self.faults.cut == Some(Cut::Write(state.writes))
    }

    /// Whether the power is cut by now.
    pub fn cuts_at(&self, now: Nanos) -> bool {
        matches!(self.faults.cut, Some(Cut::After(time)) if now >= self.begin.saturating_add(time))
    }

    /// Write data that may be lost until they are in the cells; the drive has answered for them at `done`.
    pub fn write(&self, data: &DataFile, from: &[u8], offset: u64, done: Nanos) -> io::Result<()> {
        if self.faults.cut.is_none() {
            return data.write(from, offset);
        }
        let mut state = self.lock();
        let mut before = vec![0; from.len()];
        data.read(&mut before, offset)?;
        data.write(from, offset)?;
        let number = state.writes;
        state.pending_bytes += from.len() as u64;
        state.pending.push_back(Pending { number, offset, before, data: from.to_vec(), done });
        // What is older than all that the buffer holds is in the cells, once it was answered.
        while let Some(first) = state.pending.front() {
            let (bytes, is_answered) = (first.data.len() as u64, first.done < done);
            if !is_answered || state.pending_bytes - bytes < self.buffer_bytes {
                break;
            }
            state.pending_bytes -= bytes;
            state.pending.pop_front();
        }
        Ok(())
    }

    /// All writes so far are in the cells at `done`.
    pub fn flushed(&self, done: Nanos) {
        // Without a cut nobody asks for them.
        if self.faults.cut.is_some() {
            let mut state = self.lock();
            let flush = (state.writes, done);
            state.flushes.push(flush);
        }
    }

    /// The power goes at `now`, when the write buffer holds `held` bytes that nothing protects.
    pub fn cut(&self, data: Option<&DataFile>, now: Nanos, held: u64) -> io::Result<Loss> {
        let mut state = self.lock();
        let safe = state.flushes.iter().filter(|(_, done)| *done <= now).map(|(number, _)| *number).max();
        let mut newer = 0;
        let mut at_risk: Vec<(Pending, usize)> = Vec::new();
        for write in std::mem::take(&mut state.pending).into_iter().rev() {
            let bytes = write.data.len() as u64;
            // Of the oldest one that the buffer holds, what is programmed already stays.
            let programmed =
                if write.done > now && held > 0 { 0 } else { bytes.saturating_sub(held - newer.min(held)) };
            newer += bytes;
            if programmed < bytes && safe.is_none_or(|safe| write.number > safe) {
                at_risk.push((write, programmed as usize));
            }
        }
        let mut loss = Loss { writes: state.writes, at_risk: at_risk.len() as u64, ..Loss::default() };
        if let Some(data) = data {
            for (write, _) in &at_risk {
                data.write(&write.before, write.offset)?;
            }
            let torn = self.faults.torn.then(|| (self.draw(&mut state) * at_risk.len() as f64) as usize);
            for (at, (write, programmed)) in at_risk.iter().enumerate().rev() {
                let bytes = write.data.len();
                let stays = if torn == Some(at) {
                    (self.draw(&mut state) * (bytes / SECTOR_BYTES) as f64) as usize * SECTOR_BYTES
                } else if self.faults.reorder && self.draw(&mut state) < 0.5 {
                    bytes
                } else {
                    programmed / PAGE_BYTES * PAGE_BYTES
                };
                data.write(&write.data[..stays], write.offset)?;
                loss.lost += u64::from(stays < bytes);
                loss.lost_bytes += (bytes - stays) as u64;
            }
        }
        state.loss = Some(loss);
        Ok(loss)
    }

    /// Nobody is answered from now on; `false` where that was so before.
    pub fn begin_cut(&self) -> bool {
        !self.is_cut.swap(true, SeqCst)
    }

    /// From 0 to 1.
    fn draw(&self, state: &mut State) -> f64 {
        state.draws += 1;
        splitmix64(splitmix64(self.faults.seed) ^ state.draws) as f64 / u64::MAX as f64
    }
}
