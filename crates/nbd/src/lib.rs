//! An nbdkit plugin that serves a simulated drive in real time; `pslc serve` starts nbdkit with it.
//!
//! ```text
//!   a client's request --- nbdkit, a thread each ---> Drive (here)
//!                                                       Served    the drive and its clock, when it completes
//!                                                       Store     what was written
//!                                                       Pace      wait until then
//!                                                       Turns     what follows which reply
//!                                                       Ticker    time passes, what happens is told and kept
//! ```
#![cfg(target_os = "linux")]

mod clients;
mod given;
mod pace;
mod served;
mod settings;
mod store;
mod tell;
mod turns;

use std::sync::{Mutex, OnceLock};

use nbdkit::{plugin, Error, ExtentHandle, ExtentType, Flags, FuaFlags, Result, Server, ThreadModel};
use pslc_ssd::{Op, Request};

use pace::wall;
use served::Served;
use settings::Settings;
use turns::Turns;

static SETTINGS: Mutex<Settings> = Mutex::new(Settings::new());
static SERVED: OnceLock<Served> = OnceLock::new();

/// Of requests; nbdkit's filter tells clients.
const BLOCK: u64 = 512;
/// Runs of pages that one answer about extents looks at.
const RUNS: usize = 1 << 16;

/// A connection.
struct Drive {
    served: &'static Served,
    turns: Turns,
    client: u64,
}

impl Drop for Drive {
    fn drop(&mut self) {
        self.served.clients.goes(self.client);
    }
}

fn served() -> &'static Served {
    SERVED.get().expect("nbdkit has said that it is ready")
}

/// Errors of ours are EIO to a client.
fn failed(error: impl std::fmt::Display) -> Error {
    Error::new(libc::EIO, error.to_string())
}

impl Drive {
    /// Do something with the data while the drive takes its time.
    fn ask(&self, request: &Request, data: impl FnOnce() -> std::io::Result<()>) -> Result<()> {
        if request.offset % BLOCK != 0 || request.len as u64 % BLOCK != 0 {
            return Err(Error::new(libc::EINVAL, format!("offset and length are multiples of {BLOCK}")));
        }
        let _under_way = self.served.under_way();
        let came = wall();
        let from = self.turns.comes(&self.served.pace, came);
        let due = self.served.submit(request, came, from).inspect_err(|_| self.turns.fails())?;
        let done = data().inspect_err(|error| self.served.refused(error));
        let left = self.served.pace.wait_until(due);
        if request.fua || request.op == Op::Flush {
            self.served.reached(due.done)?;
        }
        self.turns.leaves(due, left);
        done.map_err(Error::from)
    }
}

impl Server for Drive {
    fn name() -> &'static str {
        "pslc"
    }

    fn longname() -> Option<&'static str> {
        Some("a simulated SSD in real time")
    }

    fn version() -> Option<&'static str> {
        Some(env!("CARGO_PKG_VERSION"))
    }

    fn config_help() -> Option<&'static str> {
        Some(Settings::HELP)
    }

    fn magic_config_key() -> Option<&'static str> {
        Some("drive")
    }

    fn config(key: &str, value: &str) -> Result<()> {
        let mut settings = SETTINGS.lock().expect("nobody panics with it");
        settings.set(key, value).map_err(|error| Error::new(libc::EINVAL, error))
    }

    fn config_complete() -> Result<()> {
        let settings = SETTINGS.lock().expect("nobody panics with it");
        settings.check().map_err(|error| Error::new(libc::EINVAL, error))
    }

    fn thread_model() -> Result<ThreadModel> {
        Ok(ThreadModel::Parallel)
    }

    fn get_ready() -> Result<()> {
        let settings = SETTINGS.lock().expect("nobody panics with it");
        let served = Served::open(&settings).map_err(failed)?;
        assert!(SERVED.set(served).is_ok(), "it is ready once");
        Ok(())
    }

    fn after_fork() -> Result<()> {
        served().begin().map_err(failed)
    }

    /// Nobody is connected any more.
    fn unload() {
        if let Some(served) = SERVED.get() {
            served.end();
        }
    }

    fn open(_readonly: bool) -> Result<Box<dyn Server>> {
        let served = served();
        Ok(Box::new(Drive { served, turns: Turns::default(), client: served.clients.comes(served.unix) }))
    }

    fn get_size(&self) -> Result<i64> {
        Ok(self.served.capacity as i64)
    }

    fn can_write(&self) -> Result<bool> {
        Ok(true)
    }

    fn can_flush(&self) -> Result<bool> {
        Ok(true)
    }

    fn can_trim(&self) -> Result<bool> {
        Ok(true)
    }

    fn can_zero(&self) -> Result<bool> {
        Ok(true)
    }

    fn can_fast_zero(&self) -> Result<bool> {
        Ok(true)
    }

    fn can_extents(&self) -> Result<bool> {
        Ok(true)
    }

    fn can_multi_conn(&self) -> Result<bool> {
        Ok(true)
    }

    fn can_fua(&self) -> Result<FuaFlags> {
        Ok(FuaFlags::Native)
    }

    fn is_rotational(&self) -> Result<bool> {
        Ok(false)
    }

    fn read_at(&self, buf: &mut [u8], offset: u64) -> Result<()> {
        self.ask(&Request::read(offset, buf.len() as u32), || self.served.store.read(buf, offset))
    }

    fn write_at(&self, buf: &[u8], offset: u64, flags: Flags) -> Result<()> {
        let request = Request { fua: flags.contains(Flags::FUA), ..Request::write(offset, buf.len() as u32) };
        self.ask(&request, || self.served.store.write(buf, offset))
    }

    fn flush(&self) -> Result<()> {
        self.ask(&Request::flush(), || Ok(()))
    }

    fn trim(&self, count: u32, offset: u64, flags: Flags) -> Result<()> {
        self.ask(&Request::trim(offset, count), || self.served.store.clear(offset, count as u64))?;
        match flags.contains(Flags::FUA) {
            true => self.flush(),
            false => Ok(()),
        }
    }

    /// Where a hole will do it is a trim, as NVMe's Write Zeroes with Deallocate is; otherwise zeros are written.
    fn zero(&self, count: u32, offset: u64, flags: Flags) -> Result<()> {
        if flags.contains(Flags::MAY_TRIM) {
            return self.trim(count, offset, flags);
        }
        if flags.contains(Flags::FAST_ZERO) {
            return Err(Error::new(libc::ENOTSUP, "zeros that are no hole are written"));
        }
        let request = Request { fua: flags.contains(Flags::FUA), ..Request::write(offset, count) };
        self.ask(&request, || self.served.store.clear(offset, count as u64))
    }

    fn extents(&self, count: u32, offset: u64, flags: Flags, extents: &mut ExtentHandle) -> Result<()> {
        let (mut at, end) = (offset, offset + count as u64);
        let mut first = None;
        for (mapped, bytes) in self.served.extents(offset, count as u64, RUNS)? {
            if flags.contains(Flags::REQ_ONE) && *first.get_or_insert(mapped) != mapped {
                break;
            }
            let kind = if mapped { ExtentType::Allocated } else { ExtentType::HoleZero };
            extents.add(at, bytes.min(end - at), kind)?;
            at += bytes;
        }
        Ok(())
    }
}

plugin!(Drive {
    thread_model,
    config,
    config_complete,
    get_ready,
    after_fork,
    unload,
    can_write,
    can_flush,
    can_trim,
    can_zero,
    can_fast_zero,
    can_extents,
    can_multi_conn,
    can_fua,
    is_rotational,
    write_at,
    flush,
    trim,
    zero,
    extents
});
