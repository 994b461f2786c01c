//! What nbdkit is told on its command line: `drive=disk.pslc speed=10 data=keep`.

use std::path::PathBuf;

use crate::store::Data;

#[derive(Debug)]
pub struct Settings {
    pub drive: Option<PathBuf>,
    pub data: Data,
    /// Times as fast as the wall's clock, in millionths.
    pub speed: u64,
    /// Where what was recorded goes.
    pub recording: Option<PathBuf>,
    /// An open descriptor that gets a line of JSON several times a second.
    pub tell: Option<i32>,
    /// An open file for the data, which outlives this process; with `data=memory`.
    pub memory: Option<i32>,
    /// An open descriptor. A byte there while this is about to end says not to wait any longer, and its end that whoever
    /// started this has gone.
    pub end: Option<i32>,
    /// Clients come through a unix socket.
    pub unix: bool,
    /// From so many bytes of its journal on the drive is saved, and the journal begins anew.
    pub journal: u64,
}

/// Of the speed, in millionths.
const SLOWEST: f64 = 1e-3;
const FASTEST: f64 = 1e6;

impl Settings {
    pub const HELP: &'static str = "drive=FILE         a drive that pslc keeps (required)
data=keep          its data are in FILE.data; memory: gone at the end; none: zeros are read
speed=1            of its clock, against the wall's
memory=FD          with data=memory: an open file for them
recording=FILE     what happened, for pslc serve; what is there already is gone on with
tell=FD            what happens, a line of JSON several times a second
end=FD             a byte there ends the wait for clients at the end; its end ends it all
unix=true          clients are processes of this machine
journal=67108864   bytes of DRIVE.journal from which the drive is saved and the journal begins anew";

    pub const fn new() -> Settings {
        Settings {
            drive: None,
            data: Data::Keep,
            speed: 1_000_000,
            recording: None,
            tell: None,
            memory: None,
            end: None,
            unix: false,
            journal: 64 << 20,
        }
    }

    pub fn set(&mut self, key: &str, value: &str) -> Result<(), String> {
        match key {
            "drive" => self.drive = Some(value.into()),
            "recording" => self.recording = Some(value.into()),
            "tell" => self.tell = Some(descriptor(key, value)?),
            "memory" => self.memory = Some(descriptor(key, value)?),
            "end" => self.end = Some(descriptor(key, value)?),
            "unix" => self.unix = value == "true",
            "journal" => {
                self.journal = value.parse().map_err(|_| format!("journal={value} is no number of bytes"))?;
            }
            "data" => {
                self.data = match value {
                    "keep" => Data::Keep,
                    "memory" => Data::Memory,
                    "none" => Data::None,
                    _ => return Err(format!("data={value}: it is keep, memory or none")),
                }
            }
            "speed" => {
                let speed = value.parse().ok().filter(|speed| (SLOWEST..=FASTEST).contains(speed));
                let speed =
                    speed.ok_or(format!("speed={value}: it is a number from {SLOWEST} to {FASTEST}"))?;
                self.speed = (speed * 1e6).round() as u64;
            }
            _ => {
                let names = "drive, data, memory, speed, recording, tell, end, unix, journal";
                return Err(format!("{key} is none of {names}"));
            }
        }
        Ok(())
    }

    pub fn check(&self) -> Result<(), String> {
        self.drive
            .as_ref()
            .map(|_| ())
            .ok_or("drive=FILE is missing: pslc drives create FILE makes one".into())
    }
}

fn descriptor(key: &str, value: &str) -> Result<i32, String> {
    value.parse().map_err(|_| format!("{key}={value} is no descriptor"))
}
