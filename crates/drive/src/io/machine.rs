//! Numbers of the machine that fio's keywords stand for.

/// Bytes of a page, MiB of memory, or processors, for `$pagesize`, `$mb_memory` and `$ncpus`.
pub fn keyword(name: &str) -> Option<String> {
    let page = system(libc::_SC_PAGESIZE)?;
    let number = match name {
        "$pagesize" => page,
        "$mb_memory" => (system(libc::_SC_PHYS_PAGES)? * page) >> 20,
        "$ncpus" => system(libc::_SC_NPROCESSORS_CONF)?,
        _ => return None,
    };
    Some(number.to_string())
}

fn system(what: libc::c_int) -> Option<u64> {
    // SAFETY: the call takes a number and gives one.
    u64::try_from(unsafe { libc::sysconf(what) }).ok()
}
