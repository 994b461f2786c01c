//! What is asked of sockets, of TCP or unix, beside what socket2 does.

use std::io;
use std::net::{TcpListener, TcpStream};

use socket2::{Socket, Type};

/// The socket of a number, which stays open and its owner's.
pub fn borrow(number: i64) -> io::Result<Socket> {
    #[cfg(unix)]
    // SAFETY: its owner has just told its number, and closes it later.
    let socket = unsafe { std::os::fd::BorrowedFd::borrow_raw(number as i32) };
    #[cfg(windows)]
    // SAFETY: its owner has just told its number, and closes it later.
    let socket = unsafe { std::os::windows::io::BorrowedSocket::borrow_raw(number as _) };
    Ok(socket.try_clone_to_owned()?.into())
}

/// The next connection.
pub fn accept(listener: &Socket) -> io::Result<Socket> {
    let (socket, from) = listener.accept()?;
    if from.as_socket().is_some() {
        // Nothing waits for more to send.
        socket.set_tcp_nodelay(true)?;
    }
    Ok(socket)
}

/// Connect to a listener of ours, so that whoever accepts wakes.
pub fn wake(listener: &Socket) -> io::Result<()> {
    let address = listener.local_addr()?;
    Socket::new(address.domain(), Type::STREAM, None)?.connect(&address)
}

/// Two ends of a connection as a listener has them.
pub fn pair(#[cfg_attr(windows, expect(unused))] listener: &Socket) -> io::Result<(Socket, Socket)> {
    #[cfg(unix)]
    if listener.local_addr()?.is_unix() {
        return Socket::pair(socket2::Domain::UNIX, Type::STREAM, None);
    }
    let listener = TcpListener::bind(("127.0.0.1", 0))?;
    let (here, there) = (TcpStream::connect(listener.local_addr()?)?, listener.accept()?.0);
    here.set_nodelay(true)?;
    there.set_nodelay(true)?;
    Ok((here.into(), there.into()))
}

/// Who is at the other end: the number of a process of this machine, or an address; empty where nobody knows.
pub fn peer(socket: &Socket) -> String {
    let address = socket.peer_addr().ok().and_then(|address| address.as_socket());
    #[cfg(target_os = "linux")]
    if address.is_none() {
        let peer = rustix::net::sockopt::socket_peercred(socket);
        return peer.map(|peer| peer.pid.as_raw_nonzero().to_string()).unwrap_or_default();
    }
    address.map(|address| address.to_string()).unwrap_or_default()
}
