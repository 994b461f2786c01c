//! A simulated drive in real time, as a network block device (NBD) for any program: each request takes as long as on the
//! drive.
//!
//! ```text
//!   Server       who is connected, and how it ends
//!     handshake, protocol    what clients say
//!     connection             a thread reads requests, another one answers
//!       Pace                 when a reply leaves
//!       turns                what follows which reply
//!       Served               the drive, its recording, its journal and its data
//!         faults             what it loses, and does not do
//! ```

mod connection;
mod faults;
#[cfg(test)]
mod fuzz;
mod handshake;
mod pace;
mod protocol;
mod served;
mod server;
mod status;
mod stream;
mod turns;

pub use faults::{Cut, Faults, Loss};
pub use served::{Data, Ended, Kept, Served, MAX_JOURNAL_BYTES};
pub use server::Server;
pub use status::Status;
pub use stream::{borrow, pair};
