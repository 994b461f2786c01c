//! The server: who is connected, how long it waits for whom, and how it ends. No client decides how long it lives.
//!
//! ```text
//!   accept ---> a thread a client ---> handshake ---> connection
//!   drain       until everybody has gone
//!   end         the drive goes back into its file
//! ```

use std::io;
use std::net::Shutdown;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use socket2::Socket;

use crate::connection::{self, Hurried};
use crate::handshake::{self, Export};
use crate::pace::wake_in_time;
use crate::served::{Ended, Served};
use crate::stream;

/// Connections at once, where there are descriptors for them.
const MAX_CLIENTS: usize = 128;
/// Clients whose names are told.
const MAX_NAMED: usize = 5;
/// Descriptors that are left to the drive and its recording.
#[cfg(unix)]
const RESERVED_DESCRIPTORS: u64 = 48;
/// How long a client and the server may take to agree.
const HANDSHAKE: Duration = Duration::from_secs(10);
/// How long a request that is under way has to be done, and its reply to leave, once it is to end.
const REPLIES: Duration = Duration::from_secs(1);
/// Until the next connection is accepted, where one could not be.
const RETRY: Duration = Duration::from_millis(50);

/// A drive that is served. Dropped before it has ended, it ends.
#[derive(Debug)]
pub struct Server {
    shared: Arc<Shared>,
    listener: Arc<Socket>,
    accepts: Mutex<Option<JoinHandle<()>>>,
}

#[derive(Debug)]
struct Shared {
    served: Served,
    export: Export,
    max_clients: usize,
    state: Mutex<State>,
    /// Somebody has gone, or nobody is waited for any more.
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    clients: Vec<Client>,
    next: u64,
    /// Nobody is waited for.
    hurries: bool,
}

#[derive(Debug)]
struct Client {
    number: u64,
    stream: Arc<Socket>,
    /// `None` until it has agreed.
    name: Option<String>,
}

impl Server {
    /// Serve a drive to whoever connects.
    pub fn begin(served: Served, listener: Socket, description: String) -> io::Result<Server> {
        let export = Export { description, bytes: served.capacity };
        let shared = Arc::new(Shared {
            served,
            export,
            max_clients: max_clients(),
            state: Mutex::default(),
            changed: Condvar::new(),
        });
        let listener = Arc::new(listener);
        let (accepting, accepted) = (shared.clone(), listener.clone());
        let accepts = std::thread::Builder::new().name("accepts".into());
        let accepts = accepts.spawn(move || accepting.accept(&accepted))?;
        Ok(Server { shared, listener, accepts: Mutex::new(Some(accepts)) })
    }

    pub fn served(&self) -> &Served {
        &self.shared.served
    }

    /// How many clients there are, and the names of some: numbers of processes, or addresses.
    pub fn clients(&self) -> (usize, Vec<String>) {
        let state = self.shared.lock();
        let clients: Vec<String> = state.clients.iter().filter_map(|client| client.name.clone()).collect();
        (clients.len(), clients.into_iter().filter(|name| !name.is_empty()).take(MAX_NAMED).collect())
    }

    /// Wait for nobody.
    pub fn hurry(&self) {
        self.shared.lock().hurries = true;
        self.shared.changed.notify_all();
    }

    /// Wait for clients to go, for so long, or until somebody hurries.
    pub fn drain(&self, limit: Duration) {
        self.shared.wait(limit, |state| !state.hurries && state.clients.iter().any(|client| client.name.is_some()));
    }

    /// Save the drive, and let everybody go. `None` where that was done before.
    pub fn end(&self) -> Option<Ended> {
        self.shared.served.refuse();
        let until = Instant::now() + REPLIES;
        while self.shared.served.pace.waiting() > 0 && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(1));
        }
        let ended = self.shared.served.end();
        for client in &self.shared.lock().clients {
            let _ = client.stream.shutdown(Shutdown::Both);
        }
        let _ = stream::wake(&self.listener);
        if let Some(accepts) = self.accepts.lock().expect("nobody panics with it").take() {
            let _ = accepts.join();
        }
        self.shared.wait(REPLIES, |state| !state.clients.is_empty());
        ended
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.end();
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("nobody panics with it")
    }

    fn wait(&self, limit: Duration, while_so: impl Fn(&State) -> bool) {
        let waits = |state: &mut State| while_so(state);
        drop(self.changed.wait_timeout_while(self.lock(), limit, waits).expect("nobody panics with it"));
    }

    fn accept(self: &Arc<Shared>, listener: &Socket) {
        wake_in_time();
        loop {
            let accepted = stream::accept(listener);
            if self.served.refuses() {
                return;
            }
            // No descriptor or no thread is left, or who connected has gone: there may be one for the next.
            if accepted.and_then(|stream| self.admit(stream)).is_err() {
                std::thread::sleep(RETRY);
            }
        }
    }

    /// Let somebody connect, unless there are so many clients already.
    fn admit(self: &Arc<Shared>, stream: Socket) -> io::Result<()> {
        let stream = Arc::new(stream);
        let mut state = self.lock();
        if state.clients.len() >= self.max_clients {
            // Whoever has connected and said nothing yet makes room: the one that is so for the longest time.
            let Some(at) = state.clients.iter().position(|client| client.name.is_none()) else {
                return Ok(());
            };
            let _ = state.clients.remove(at).stream.shutdown(Shutdown::Both);
        }
        state.next += 1;
        let number = state.next;
        state.clients.push(Client { number, stream: stream.clone(), name: None });
        drop(state);
        let client = Admitted { shared: self.clone(), number };
        let thread = std::thread::Builder::new().name("requests".into());
        thread.spawn(move || client.serve(&stream)).map(drop)
    }
}

/// A client that is counted; it is not any more when this is dropped.
struct Admitted {
    shared: Arc<Shared>,
    number: u64,
}

impl Admitted {
    /// Whatever goes wrong is over with this client.
    fn serve(&self, stream: &Socket) -> io::Result<()> {
        let mut hurried = Hurried { stream, until: Instant::now() + HANDSHAKE };
        // Who has heard that it may ask does not make room for others any more.
        let let_in = || {
            let mut state = self.shared.lock();
            if let Some(client) = state.clients.iter_mut().find(|client| client.number == self.number) {
                client.name = Some(stream::peer(stream));
            }
        };
        let agreed = handshake::agree(&mut hurried, &self.shared.export, let_in)?;
        let Some(agreed) = agreed else { return Ok(()) };
        stream.set_read_timeout(None)?;
        connection::run(&self.shared.served, stream, agreed)
    }
}

impl Drop for Admitted {
    fn drop(&mut self) {
        self.shared.lock().clients.retain(|client| client.number != self.number);
        self.shared.changed.notify_all();
    }
}

#[cfg(unix)]
fn max_clients() -> usize {
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
    let left = limit.map_or(u64::MAX, |limit| limit.saturating_sub(RESERVED_DESCRIPTORS));
    (left as usize).clamp(1, MAX_CLIENTS)
}

#[cfg(windows)]
fn max_clients() -> usize {
    MAX_CLIENTS
}
