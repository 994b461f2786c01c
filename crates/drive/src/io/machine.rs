//! Numbers of the machine that fio's keywords stand for.

use crate::sys;

/// Bytes of a page, MiB of memory, or processors, for `$pagesize`, `$mb_memory` and `$ncpus`.
pub fn keyword(name: &str) -> Option<String> {
    sys::keyword(name).map(|number| number.to_string())
}
