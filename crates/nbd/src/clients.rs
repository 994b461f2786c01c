//! Who is connected.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Mutex;

/// Clients that a line names; of more it says how many there are.
const MAX_NAMED: usize = 5;
/// Of an address of a socket, in words of the machine.
const ADDRESS_WORDS: usize = 16;

extern "C" {
    fn nbdkit_peer_name(address: *mut libc::c_void, length: *mut libc::socklen_t) -> libc::c_int;
    fn nbdkit_peer_pid() -> i64;
}

#[derive(Debug, Default)]
pub struct Clients(Mutex<Inner>);

#[derive(Debug, Default)]
struct Inner {
    next: u64,
    connected: Vec<(u64, String)>,
}

impl Clients {
    /// One more, in its own thread; returns its number.
    pub fn comes(&self, unix: bool) -> u64 {
        let name = if unix { process() } else { address() };
        let mut inner = self.0.lock().expect("nobody panics with it");
        inner.next += 1;
        let number = inner.next;
        inner.connected.push((number, name.unwrap_or_default()));
        number
    }

    pub fn goes(&self, number: u64) {
        self.0.lock().expect("nobody panics with it").connected.retain(|(of, _)| *of != number);
    }

    /// How many there are and the first of them: numbers of processes, or addresses.
    pub fn json(&self) -> String {
        let inner = self.0.lock().expect("nobody panics with it");
        let named: Vec<&str> =
            inner.connected.iter().take(MAX_NAMED).map(|(_, name)| name.as_str()).collect();
        format!("{{\"count\":{},\"named\":{named:?}}}", inner.connected.len())
    }
}

fn process() -> Option<String> {
    // SAFETY: nbdkit calls us in a thread of a connection.
    let pid = unsafe { nbdkit_peer_pid() };
    (pid > 0).then(|| pid.to_string())
}

fn address() -> Option<String> {
    let mut words = [0u64; ADDRESS_WORDS];
    let mut length = size_of_val(&words) as libc::socklen_t;
    // SAFETY: it has room for any address, and nbdkit calls us in a thread of a connection.
    let failed = unsafe { nbdkit_peer_name(words.as_mut_ptr().cast(), &mut length) } != 0;
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
    let family = u16::from_ne_bytes([bytes[0], bytes[1]]);
    let port = u16::from_be_bytes([bytes[2], bytes[3]]);
    let ip = match family as i32 {
        _ if failed => return None,
        libc::AF_INET => IpAddr::from(Ipv4Addr::from(<[u8; 4]>::try_from(&bytes[4..8]).ok()?)),
        libc::AF_INET6 => IpAddr::from(Ipv6Addr::from(<[u8; 16]>::try_from(&bytes[8..24]).ok()?)),
        _ => return None,
    };
    Some(SocketAddr::new(ip, port).to_string())
}
