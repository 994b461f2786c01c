//! Limits of this process (`ulimit`), by the error of what they stopped.

use std::io;

use rustix::io::Errno;
use rustix::process::{getrlimit, Resource, Rlimit};

/// Fails as a write that ends there would, where a limit of this process (`ulimit -f`) is lower.
pub fn check_end_of_file(end: u64) -> io::Result<()> {
    match getrlimit(Resource::Fsize).current {
        Some(limit) if limit < end => Err(Errno::FBIG.into()),
        _ => Ok(()),
    }
}

/// The limit that stopped something with this error, and what raises it; `None` where no limit is set that could have.
pub fn limit_hint(error: &io::Error) -> Option<String> {
    let (subject, unit, flag, unit_bytes, option, resource) = match Errno::from_io_error(error)? {
        Errno::FBIG => ("a file may have", "bytes", "f", 1024, "fsize=unlimited", Resource::Fsize),
        Errno::MFILE => ("a process may have", "open files", "n", 1, "nofile=65536", Resource::Nofile),
        Errno::AGAIN => ("this user may have", "threads", "u", 1, "nproc=unlimited", Resource::Nproc),
        Errno::NOMEM => ("a process may have", "bytes of memory", "v", 1024, "as=unlimited", Resource::As),
        _ => return None,
    };
    // In the units of `ulimit`. What counts a shell's own processes, too, leaves it none to ask for the hard limit.
    let Rlimit { current, maximum } = getrlimit(resource);
    let is_raised_by_anybody = maximum.is_none_or(|maximum| current.is_some_and(|current| current < maximum));
    let remedy = if is_raised_by_anybody {
        let hard_limit = maximum.map_or("unlimited".into(), |maximum| (maximum / unit_bytes).to_string());
        format!("ulimit -S -{flag} {hard_limit}")
    } else {
        format!("sudo prlimit --pid $$ --{option}")
    };
    current.map(|value| format!("{subject} {value} {unit} at most (ulimit -{flag}); this raises it: {remedy}"))
}
