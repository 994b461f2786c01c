//! The controller: the buffer that holds writes until they are in the NAND, what it holds of the map, and what it has read
//! ahead of the host.

mod map_cache;
mod read_ahead;
mod write_buffer;

pub use map_cache::{Look, MapCache, MAPPED_PAGES};
pub use read_ahead::ReadAhead;
pub use write_buffer::WriteBuffer;
