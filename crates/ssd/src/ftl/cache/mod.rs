//! What happens to host writes once the cache is full. One file here is one policy; its name in a profile
//! (`cache.when_full`) is the file's, with dashes.
//!
//! A policy only decides, and only when a superblock is opened or freed; moving data and paying for it in die time is
//! the FTL's business. That space is reclaimed when free superblocks run out holds under every policy.

/// What a policy knows when it decides.
#[derive(Clone, Copy, Debug)]
pub struct View {
    /// The cache has been full and may not be used again yet (see `cache.reuse`).
    pub exhausted: bool,
    /// Another superblock could be opened as pSLC now.
    pub room: bool,
    /// The cache holds superblocks that could be folded.
    pub foldable: bool,
}

/// Where host data go when the cache cannot take them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overflow {
    /// To native cells.
    Native,
    /// Nowhere: they wait until a superblock of the cache has been folded.
    Wait,
}

/// What host writes pay for folding while they go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Toll {
    None,
    /// Folding gets the share of die time that `cache.host_share` leaves.
    Share,
    /// As much is folded as keeps one superblock of the cache coming free for each that is filled.
    OneForOne,
}

pub trait Policy: Sync {
    fn overflow(&self) -> Overflow;
    fn toll(&self, view: &View) -> Toll;
}

include!(concat!(env!("OUT_DIR"), "/policies.rs"));

/// The policy of that name.
pub fn policy(name: &str) -> Option<&'static dyn Policy> {
    POLICIES.iter().find(|(known, _)| *known == name).map(|(_, policy)| *policy)
}
