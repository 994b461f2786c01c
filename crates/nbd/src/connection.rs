//! A client that has agreed: one thread reads its requests and asks the drive, another one answers when it is time.
//!
//! ```text
//!   requests ---> reader ---> the drive says when it is done
//!                   |         the data are written
//!                   v
//!                 Queue, by when they are due ---> writer sleeps, then ---> replies
//! ```
//!
//! A client that does not read its replies holds up itself: so many requests are under way, and so many bytes.

use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader, IoSlice, Read, Write};
use std::net::Shutdown;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Condvar, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use pslc_ssd::Request as Asked;
use socket2::Socket;

use crate::pace::{wall, Due, Until};
use crate::protocol::{self, Agreed, Errno, Kind, Request, MAX_DATA_BYTES, REQUEST_BYTES};
use crate::served::Served;
use crate::turns::Turns;

/// Requests under way on one connection; more are not read.
pub const MAX_IN_FLIGHT: usize = 128;
/// How long a request that has begun to arrive may take to be whole, and how long a reply may wait to be read.
const PATIENCE: Duration = Duration::from_secs(30);
/// Data of a read that are in memory at once.
const MAX_CHUNK_BYTES: usize = 1 << 20;
/// What is read of a connection at once.
const INPUT_BYTES: usize = 64 << 10;
/// Data of a reply that a connection takes at once, whoever reads them.
const MAX_SHORT_BYTES: u32 = 64 << 10;
/// Parts in an answer about block status.
const MAX_PARTS: usize = 4096;

/// Serve a client until it goes, or does what no client does.
pub fn run(served: &Served, stream: &Socket, agreed: Agreed) -> io::Result<()> {
    stream.set_write_timeout(Some(PATIENCE))?;
    let connection = Connection {
        served,
        stream,
        agreed,
        turns: Turns::default(),
        queue: Mutex::default(),
        filled: Condvar::new(),
        drained: Condvar::new(),
        sends: Mutex::default(),
        first: AtomicU64::new(u64::MAX),
    };
    std::thread::scope(|scope| {
        let writer = std::thread::Builder::new().name("replies".into());
        writer.spawn_scoped(scope, || connection.answer())?;
        let read = connection.read();
        connection.close(if read.is_ok() { Phase::Ending } else { Phase::Closed });
        read
    })
}

struct Connection<'a> {
    served: &'a Served,
    stream: &'a Socket,
    agreed: Agreed,
    turns: Turns,
    queue: Mutex<Queue>,
    /// There is another first reply, or nothing more comes.
    filled: Condvar,
    /// There is room for a request.
    drained: Condvar,
    /// Who has it sends a reply.
    sends: Mutex<()>,
    /// When the reply is due that the writer waits for; changed while the queue is locked.
    first: AtomicU64,
}

#[derive(Default)]
struct Queue {
    replies: BTreeMap<Place, Reply>,
    /// Requests that came.
    came: u64,
    phase: Phase,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Phase {
    #[default]
    Open,
    /// The client said that it goes: it gets the replies that it waits for.
    Ending,
    /// Nobody reads replies.
    Closed,
}

/// When a reply is due, at 0 if at once, and the number of its request.
type Place = (u64, u64);

struct Reply {
    cookie: u64,
    /// `None`: at once.
    due: Option<Due>,
    /// What was written before is in the cells once it leaves.
    flushes: bool,
    body: Body,
}

enum Body {
    Done,
    Data { offset: u64, bytes: u32 },
    Status(Vec<(bool, u32)>),
    Error(Errno),
}

impl Connection<'_> {
    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().expect("nobody panics with it")
    }

    fn close(&self, phase: Phase) {
        let mut queue = self.lock();
        queue.phase = phase;
        self.first.store(0, Relaxed);
        drop(queue);
        self.filled.notify_one();
        self.drained.notify_one();
    }

    /// Read requests and ask the drive, until the client goes.
    fn read(&self) -> io::Result<()> {
        let (mut input, mut message) = (Input::new(self.stream), Message::default());
        while let Some(request) = input.request()? {
            if request.kind == Some(Kind::Disconnect) {
                return Ok(());
            }
            self.wait_for_room();
            let reply = self.ask(&request, input.data_of(&request));
            let pace = &self.served.pace;
            pace.waits();
            // What is late already waits for no other thread, unless it is long: then the next requests would wait.
            let is_short = !matches!(reply.body, Body::Data { bytes, .. } if bytes > MAX_SHORT_BYTES);
            let is_late = is_short && reply.due.is_none_or(|due| pace.leave(&due) <= wall());
            match self.sends.try_lock() {
                Ok(_sends) if is_late => {
                    message.prepare(&reply, self.served, self.agreed);
                    self.send(reply, &mut message)?;
                }
                _ => self.queue(reply),
            }
        }
        Err(io::ErrorKind::UnexpectedEof.into())
    }

    fn wait_for_room(&self) {
        let full = |queue: &mut Queue| queue.replies.len() >= MAX_IN_FLIGHT && queue.phase == Phase::Open;
        drop(self.drained.wait_while(self.lock(), full).expect("nobody panics with it"));
    }

    fn queue(&self, reply: Reply) {
        let mut queue = self.lock();
        queue.came += 1;
        let (at, number) = (reply.due.map_or(0, |due| due.at), queue.came);
        queue.replies.insert((at, number), reply);
        // The writer may wait for a later one.
        let is_first = at < self.first.load(Relaxed);
        if is_first {
            self.first.store(at, Relaxed);
        }
        drop(queue);
        if is_first {
            self.filled.notify_one();
        }
    }

    fn ask(&self, request: &Request, data: &[u8]) -> Reply {
        // A drive that lies does not heed it.
        let request = &Request { fua: request.fua && !self.served.lies(), ..*request };
        let admitted = self.served.admit().map_err(|error| Errno::from(&error));
        let allowed = admitted.and_then(|()| request.check(self.served.capacity, self.agreed));
        let (due, body) =
            allowed.and_then(|kind| self.perform(kind, request, data)).unwrap_or_else(|why| (None, Body::Error(why)));
        let flushes =
            due.is_some() && !matches!(body, Body::Data { .. }) && (request.fua || request.kind == Some(Kind::Flush));
        Reply { cookie: request.cookie, due, flushes, body }
    }

    /// Ask the drive, and do with the data what it says.
    fn perform(&self, kind: Kind, request: &Request, data: &[u8]) -> Result<(Option<Due>, Body), Errno> {
        let served = self.served;
        let failed = |error: io::Error| Errno::from(&error);
        let (offset, bytes) = (request.offset, request.bytes);
        let asked = match kind {
            Kind::Status { first_alone } => {
                let max_parts = if first_alone { 1 } else { MAX_PARTS };
                let parts = served.extents(offset, bytes.into(), max_parts).map_err(failed)?;
                return Ok((None, Body::Status(parts)));
            }
            Kind::Read => Asked::read(offset, bytes),
            Kind::Flush if served.lies() => return Ok((None, Body::Done)),
            Kind::Write | Kind::Zero { allocates: true, .. } => {
                Asked { fua: request.fua, ..Asked::write(offset, bytes) }
            }
            // Where a hole will do it is a trim, as NVMe's Write Zeroes with Deallocate is.
            Kind::Trim | Kind::Zero { allocates: false, .. } => Asked::trim(offset, bytes),
            Kind::Flush | Kind::Disconnect => Asked::flush(),
        };
        let longer = served.tempts(asked.op).map_err(failed)?;
        let came = wall();
        let from = self.turns.comes(&served.pace, came);
        let submit = |asked: &Asked| {
            let due = served.submit(asked, came, from);
            due.inspect_err(|_| self.turns.fails()).map_err(failed)
        };
        let mut due = submit(&asked)?;
        if asked.op == pslc_ssd::Op::Trim && request.fua {
            due = submit(&Asked::flush())?;
        }
        due.at += longer.as_nanos() as u64;
        let done = match kind {
            Kind::Write => served.write(data, offset, due.done),
            Kind::Trim | Kind::Zero { .. } => served.clear(offset, bytes.into()),
            _ => Ok(()),
        };
        if asked.fua || asked.op == pslc_ssd::Op::Flush {
            served.flushed(due.done);
        }
        let body = match done {
            Ok(()) if kind == Kind::Read => Body::Data { offset, bytes },
            Ok(()) => Body::Done,
            Err(error) => Body::Error(failed(error)),
        };
        Ok((Some(due), body))
    }

    /// Answer when it is time, until the last request is answered, or nobody reads.
    fn answer(&self) {
        let mut message = Message::default();
        while let Some((place, reply)) = self.next() {
            message.prepare(&reply, self.served, self.agreed);
            let Some(reply) = self.wait_until(place, reply) else { continue };
            let _sends = self.sends.lock().expect("nobody panics with it");
            if self.send(reply, &mut message).is_err() {
                break;
            }
        }
        // Also a reader that waits for the rest of a request.
        self.close(Phase::Closed);
        // It may be closed already.
        let _ = self.stream.shutdown(Shutdown::Both);
        for _ in std::mem::take(&mut self.lock().replies) {
            self.served.pace.is_gone();
        }
    }

    /// The reply that is due first; waits until there is one. `None` where none comes any more.
    fn next(&self) -> Option<(Place, Reply)> {
        let mut queue = self.lock();
        while queue.replies.is_empty() && queue.phase == Phase::Open {
            self.first.store(u64::MAX, Relaxed);
            queue = self.filled.wait(queue).expect("nobody panics with it");
        }
        if queue.phase == Phase::Closed {
            return None;
        }
        let was_full = queue.replies.len() >= MAX_IN_FLIGHT;
        let (place, reply) = queue.replies.pop_first()?;
        self.first.store(place.0, Relaxed);
        drop(queue);
        if was_full {
            self.drained.notify_one();
        }
        Some((place, reply))
    }

    /// Wait until a reply leaves, and return it. `None` where another one is due earlier, or nobody reads any more.
    fn wait_until(&self, place: Place, reply: Reply) -> Option<Reply> {
        let Some(due) = reply.due else { return Some(reply) };
        let pace = &self.served.pace;
        let (mut queue, mut is_over) = (self.lock(), false);
        loop {
            let is_later = queue.replies.first_key_value().is_some_and(|(other, _)| *other < place);
            if queue.phase == Phase::Closed || is_later {
                queue.replies.insert(place, reply);
                return None;
            }
            match pace.until(&due, wall()) {
                _ if is_over => return Some(reply),
                Until::Leaves => return Some(reply),
                Until::Spin(leave) => {
                    drop(queue);
                    pace.spin(leave, || self.first.load(Relaxed) < due.at);
                    queue = self.lock();
                }
                Until::Sleep { time, spins } => {
                    let slept = self.filled.wait_timeout(queue, time).expect("nobody panics with it");
                    queue = slept.0;
                    is_over = slept.1.timed_out() && !spins;
                    if is_over {
                        pace.woke(&due);
                    }
                }
            }
        }
    }

    fn send(&self, mut reply: Reply, message: &mut Message) -> io::Result<()> {
        let served = self.served;
        served.pace.is_gone();
        if served.is_cut() {
            return Err(io::ErrorKind::NotConnected.into());
        }
        if let Some(due) = reply.due {
            if reply.flushes {
                if let Err(error) = served.reached(due.done) {
                    reply.body = Body::Error(Errno::from(&error));
                    message.prepare(&reply, served, self.agreed);
                }
            }
            let now = wall();
            served.pace.leaves(&due, now);
            self.turns.leaves(due, (served.pace.leave(&due), now));
        }
        message.send(self.stream, served)
    }
}

/// The bytes of a reply, of which those of a long read follow piece by piece.
#[derive(Default)]
struct Message {
    header: Vec<u8>,
    /// Begins with `ready` bytes that follow the header.
    data: Vec<u8>,
    ready: usize,
    /// What follows these, by offset and bytes.
    rest: (u64, usize),
}

impl Message {
    fn prepare(&mut self, reply: &Reply, served: &Served, agreed: Agreed) {
        self.header.clear();
        (self.ready, self.rest) = (0, (0, 0));
        let cookie = reply.cookie;
        match &reply.body {
            Body::Done => protocol::done(&mut self.header, cookie),
            Body::Status(parts) => protocol::status(&mut self.header, cookie, parts),
            Body::Error(error) => protocol::error(&mut self.header, agreed, cookie, *error),
            &Body::Data { offset, bytes } => match self.load(served, offset, bytes as usize) {
                Ok(()) => protocol::data_header(&mut self.header, agreed, cookie, offset, bytes),
                Err(error) => protocol::error(&mut self.header, agreed, cookie, Errno::from(&error)),
            },
        }
    }

    /// Read the next piece.
    fn load(&mut self, served: &Served, offset: u64, bytes: usize) -> io::Result<()> {
        let piece = bytes.min(MAX_CHUNK_BYTES);
        if self.data.len() < piece {
            self.data.resize(piece, 0);
        }
        served.read(&mut self.data[..piece], offset)?;
        (self.ready, self.rest) = (piece, (offset + piece as u64, bytes - piece));
        Ok(())
    }

    fn send(&mut self, mut stream: &Socket, served: &Served) -> io::Result<()> {
        let (header, data) = (&self.header[..], &self.data[..self.ready]);
        let sent = stream.write_vectored(&[IoSlice::new(header), IoSlice::new(data)])?;
        stream.write_all(header.get(sent..).unwrap_or_default())?;
        stream.write_all(data.get(sent.saturating_sub(header.len())..).unwrap_or_default())?;
        while self.rest.1 > 0 {
            self.load(served, self.rest.0, self.rest.1)?;
            stream.write_all(&self.data[..self.ready])?;
        }
        Ok(())
    }
}

/// What comes from a client. It may be silent for as long as it likes, but not within a request.
struct Input<'a> {
    from: BufReader<&'a Socket>,
    is_limited: bool,
    data: Vec<u8>,
}

impl Input<'_> {
    fn new(stream: &Socket) -> Input<'_> {
        Input { from: BufReader::with_capacity(INPUT_BYTES, stream), is_limited: false, data: Vec::new() }
    }

    /// The next request. `None` where the client has gone between two.
    fn request(&mut self) -> io::Result<Option<Request>> {
        if std::mem::take(&mut self.is_limited) {
            self.from.get_ref().set_read_timeout(None)?;
        }
        if self.from.fill_buf()?.is_empty() {
            return Ok(None);
        }
        let until = Instant::now() + PATIENCE;
        let mut head = [0; REQUEST_BYTES];
        self.fill(&mut head, until)?;
        let request = Request::parse(&head).ok_or(io::ErrorKind::InvalidData)?;
        if request.carries_data {
            if request.bytes > MAX_DATA_BYTES {
                return Err(io::ErrorKind::InvalidData.into());
            }
            let bytes = request.bytes as usize;
            let mut data = std::mem::take(&mut self.data);
            if let Some(more) = bytes.checked_sub(data.len()) {
                data.try_reserve_exact(more)?;
                data.resize(bytes, 0);
            }
            self.fill(&mut data[..bytes], until)?;
            self.data = data;
        }
        Ok(Some(request))
    }

    fn data_of(&self, request: &Request) -> &[u8] {
        &self.data[..if request.carries_data { request.bytes as usize } else { 0 }]
    }

    fn fill(&mut self, into: &mut [u8], until: Instant) -> io::Result<()> {
        let count = self.from.buffer().len().min(into.len());
        self.from.read_exact(&mut into[..count])?;
        if count == into.len() {
            return Ok(());
        }
        self.is_limited = true;
        Hurried { stream: self.from.get_ref(), until }.read_exact(&mut into[count..])
    }
}

/// A connection that has to be done with something by a time.
pub struct Hurried<'a> {
    pub stream: &'a Socket,
    pub until: Instant,
}

impl Hurried<'_> {
    fn left(&self) -> io::Result<Option<Duration>> {
        match self.until.saturating_duration_since(Instant::now()) {
            Duration::ZERO => Err(io::ErrorKind::TimedOut.into()),
            left => Ok(Some(left)),
        }
    }
}

impl Read for Hurried<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.stream.set_read_timeout(self.left()?)?;
        self.stream.read(into)
    }
}

impl Write for Hurried<'_> {
    fn write(&mut self, from: &[u8]) -> io::Result<usize> {
        self.stream.set_write_timeout(self.left()?)?;
        self.stream.write(from)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
