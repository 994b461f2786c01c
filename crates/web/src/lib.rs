//! The simulated drive for a browser: a question in JSON, an answer in JSON, and pictures of its superblocks. Conversions
//! only: what is simulated is `pslc-ssd` and `pslc-load`, as everywhere.
//!
//! ```text
//!   abi        what a page calls: memory, `answer`, `derive`, and `progress`, which it is called back with
//!   parts      a die, a controller and a capacity -> profile
//!   simulate   Question -> drive and jobs -> Answer
//!     curve      what was written in each bin, and where that went
//!     phases     runs of bins in which it went the same way, by the drive's counters
//!     film       the superblocks from time to time
//! ```

mod abi;
mod curve;
mod film;
mod parts;
mod phases;
mod simulate;

pub use abi::{encoded, resolved};
pub use curve::Curve;
pub use film::{Film, Frame};
pub use parts::{profile, MadeProfile};
pub use phases::Phase;
pub use simulate::{simulate, Answer, Failure, Question};
