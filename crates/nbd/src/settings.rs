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
recording=FILE     what happened, for pslc serve
tell=FD            what happens, a line of JSON several times a second
journal=67108864   bytes of DRIVE.journal from which the drive is saved and the journal begins anew";

    pub const fn new() -> Settings {
        Settings {
            drive: None,
            data: Data::Keep,
            speed: 1_000_000,
            recording: None,
            tell: None,
            journal: 64 << 20,
        }
    }

    pub fn set(&mut self, key: &str, value: &str) -> Result<(), String> {
        match key {
            "drive" => self.drive = Some(value.into()),
            "recording" => self.recording = Some(value.into()),
            "tell" => self.tell = Some(value.parse().map_err(|_| format!("tell={value} is no descriptor"))?),
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
            _ => return Err(format!("{key} is none of drive, data, speed, recording, tell, journal")),
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
