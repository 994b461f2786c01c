//! What a block of NAND is used as. Whoever describes a drive, and each part of it, speaks of it.

/// How many bits a block's cells hold: one (pSLC), or the native number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub enum CellMode {
    Slc,
    Native,
}
