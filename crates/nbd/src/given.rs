//! Descriptors that whoever started nbdkit left open for us.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd};

use rustix::fs::{fcntl_setfl, OFlags};

/// The file of an open descriptor, which stays open.
pub fn file(number: i32) -> io::Result<File> {
    // SAFETY: who started nbdkit left it open for us, and nobody closes it.
    let given = unsafe { BorrowedFd::borrow_raw(number) };
    given.try_clone_to_owned().map(File::from)
}

/// The end of a pipe that is asked now and then whether something came.
#[derive(Debug)]
pub struct Pipe(File);

/// What came through a pipe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Came {
    Nothing,
    Word,
    /// Nobody has its other end any more.
    End,
}

impl Pipe {
    pub fn new(number: i32) -> io::Result<Pipe> {
        let pipe = file(number)?;
        fcntl_setfl(pipe.as_fd(), OFlags::NONBLOCK)?;
        Ok(Pipe(pipe))
    }

    pub fn look(&self) -> Came {
        match (&self.0).read(&mut [0]) {
            Ok(0) => Came::End,
            Ok(_) => Came::Word,
            Err(_) => Came::Nothing,
        }
    }
}
