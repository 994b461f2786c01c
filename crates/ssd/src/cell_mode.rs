//! What a block of NAND is used as. Whoever describes a drive, and each part of it, speaks of it.

/// How many bits a block's cells hold: one (pSLC), two where the native number is greater (pMLC), or the native number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub enum CellMode {
    Slc,
    Mlc,
    Native,
}
