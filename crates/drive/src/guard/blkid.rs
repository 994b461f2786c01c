//! libblkid through its own library, found when it is needed: what a device or a file holds, by every prober there is.

use std::ffi::{c_char, c_int, c_void, CStr};
use std::fs::File;
use std::io;
use std::marker::PhantomData;
use std::os::fd::AsRawFd;
use std::sync::OnceLock;

use libloading::Library;

/// Its name on Linux, that of its interface since 2006.
const LIBRARY: &str = "libblkid.so.1";
/// More matches than any medium has: a library that never ends is not waited for.
const MAX_MATCHES: usize = 256;

// Of blkid.h.
const LABEL: c_int = 1 << 1;
const TYPE: c_int = 1 << 5;
const USAGE: c_int = 1 << 7;
const MAGIC: c_int = 1 << 9;
/// A superblock whose checksum is wrong is still somebody's.
const BADCSUM: c_int = 1 << 10;
/// A GPT without its protective MBR, too.
const PARTS_FORCE_GPT: c_int = 1 << 1;
const PARTS_MAGIC: c_int = 1 << 3;

type Handle = *mut c_void;

/// What is used of the library; it is never unloaded.
struct Api {
    new_probe: unsafe extern "C" fn() -> Handle,
    free_probe: unsafe extern "C" fn(Handle),
    set_device: unsafe extern "C" fn(Handle, c_int, i64, i64) -> c_int,
    enable_superblocks: unsafe extern "C" fn(Handle, c_int) -> c_int,
    set_superblocks_flags: unsafe extern "C" fn(Handle, c_int) -> c_int,
    enable_partitions: unsafe extern "C" fn(Handle, c_int) -> c_int,
    set_partitions_flags: unsafe extern "C" fn(Handle, c_int) -> c_int,
    do_probe: unsafe extern "C" fn(Handle) -> c_int,
    do_wipe: unsafe extern "C" fn(Handle, c_int) -> c_int,
    get_partitions: unsafe extern "C" fn(Handle) -> Handle,
    get_table: unsafe extern "C" fn(Handle) -> Handle,
    get_type: unsafe extern "C" fn(Handle) -> *const c_char,
    lookup_value: unsafe extern "C" fn(Handle, *const c_char, *mut *const c_char, *mut usize) -> c_int,
}

fn api() -> io::Result<&'static Api> {
    static API: OnceLock<Result<Api, String>> = OnceLock::new();
    let load = || {
        // SAFETY: what it does when it is loaded asks nothing of us.
        let library = unsafe { Library::new(LIBRARY) }.map_err(|_| format!("{LIBRARY} is not installed"))?;
        // Functions are copied out of it, so it must stay.
        let library: &'static Library = Box::leak(Box::new(library));
        macro_rules! find {
            ($name:literal) => {{
                // SAFETY: the names and types are those of blkid.h; its interface has not changed since libblkid 2.21
                // (2012), the newest that anything here came with.
                let symbol = unsafe { library.get($name.as_bytes()) };
                *symbol.map_err(|_| format!("{LIBRARY} is too old: it has no {}", $name))?
            }};
        }
        Ok(Api {
            new_probe: find!("blkid_new_probe"),
            free_probe: find!("blkid_free_probe"),
            set_device: find!("blkid_probe_set_device"),
            enable_superblocks: find!("blkid_probe_enable_superblocks"),
            set_superblocks_flags: find!("blkid_probe_set_superblocks_flags"),
            enable_partitions: find!("blkid_probe_enable_partitions"),
            set_partitions_flags: find!("blkid_probe_set_partitions_flags"),
            do_probe: find!("blkid_do_probe"),
            do_wipe: find!("blkid_do_wipe"),
            get_partitions: find!("blkid_probe_get_partitions"),
            get_table: find!("blkid_partlist_get_table"),
            get_type: find!("blkid_parttable_get_type"),
            lookup_value: find!("blkid_probe_lookup_value"),
        })
    };
    API.get_or_init(load).as_ref().map_err(|why| io::Error::new(io::ErrorKind::NotFound, why.clone()))
}

/// Something that libblkid knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Match {
    /// Its name for it: `ext4`, `LVM2_member`, `gpt`.
    pub kind: String,
    /// `filesystem`, `raid`, `crypto`, `other`; `None`: a partition table.
    pub usage: Option<String>,
    pub label: Option<String>,
}

/// A walk through all matches of one descriptor, which must stay open.
pub struct Probe<'a> {
    api: &'static Api,
    handle: Handle,
    file: PhantomData<&'a File>,
}

impl<'a> Probe<'a> {
    /// The error is `NotFound` where there is no library. `file` must not be open with O_DIRECT.
    pub fn new(file: &'a File) -> io::Result<Probe<'a>> {
        let api = api()?;
        // SAFETY: takes nothing; what it gives is checked here and freed once, by `drop`.
        let handle = unsafe { (api.new_probe)() };
        if handle.is_null() {
            return Err(io::Error::from(io::ErrorKind::OutOfMemory));
        }
        let probe = Probe { api, handle, file: PhantomData };
        // SAFETY: the handle is valid, and the descriptor stays open as long as `'a`.
        let mut failed = unsafe { (api.set_device)(handle, file.as_raw_fd(), 0, 0) } != 0;
        for (set, value) in [
            (api.enable_superblocks, 1),
            (api.set_superblocks_flags, LABEL | TYPE | USAGE | MAGIC | BADCSUM),
            (api.enable_partitions, 1),
            (api.set_partitions_flags, PARTS_FORCE_GPT | PARTS_MAGIC),
        ] {
            // SAFETY: the handle is valid until `drop`.
            failed |= unsafe { set(handle, value) } != 0;
        }
        if failed {
            return Err(io::Error::other("libblkid cannot use it"));
        }
        Ok(probe)
    }

    /// The next match; `None`: there is no other.
    pub fn step(&mut self) -> io::Result<Option<Match>> {
        // SAFETY: the handle is valid until `drop`.
        match unsafe { (self.api.do_probe)(self.handle) } {
            0 => {}
            1 => return Ok(None),
            _ => return Err(io::Error::other("libblkid cannot read it")),
        }
        let unnamed = || "something that libblkid knows".to_string();
        Ok(Some(Match {
            kind: self.value(c"TYPE").or_else(|| self.value(c"PTTYPE")).unwrap_or_else(unnamed),
            usage: self.value(c"USAGE"),
            label: self.value(c"LABEL"),
        }))
    }

    /// All matches, in the order of the probers.
    pub fn all(mut self) -> io::Result<Vec<Match>> {
        let mut matches = Vec::new();
        while let Some(next) = self.step()? {
            if matches.len() == MAX_MATCHES {
                return Err(io::Error::other("libblkid finds no end"));
            }
            matches.push(next);
        }
        Ok(matches)
    }

    /// The kind of the partition table that the walk over partitions finds; it knows some (bsd) that `all` does not.
    pub fn table(self) -> Option<String> {
        // SAFETY: the handle is valid until `drop`.
        let list = unsafe { (self.api.get_partitions)(self.handle) };
        if list.is_null() {
            return None;
        }
        // SAFETY: the list lives as long as the handle.
        let table = unsafe { (self.api.get_table)(list) };
        if table.is_null() {
            return None;
        }
        // SAFETY: the table lives as long as its list.
        let kind = unsafe { (self.api.get_type)(table) };
        if kind.is_null() {
            return None;
        }
        // SAFETY: a string of the library's own, which it never frees.
        Some(unsafe { CStr::from_ptr(kind) }.to_string_lossy().into_owned())
    }

    /// Overwrite the magic number of each match on the descriptor, until there is none.
    pub fn wipe(mut self) -> io::Result<()> {
        for _ in 0..MAX_MATCHES {
            let Some(matched) = self.step()? else { return Ok(()) };
            // SAFETY: the handle is valid, and the descriptor open for writing, or it fails.
            if unsafe { (self.api.do_wipe)(self.handle, 0) } != 0 {
                return Err(io::Error::other(format!("{} cannot be wiped", matched.kind)));
            }
        }
        Err(io::Error::other("libblkid finds no end"))
    }

    fn value(&self, name: &CStr) -> Option<String> {
        let (mut data, mut len) = (std::ptr::null(), 0);
        // SAFETY: the handle is valid until `drop`, and both places are written.
        let code = unsafe { (self.api.lookup_value)(self.handle, name.as_ptr(), &mut data, &mut len) };
        if code != 0 || data.is_null() {
            return None;
        }
        // SAFETY: on success `data` is a string that lives until the next step.
        Some(unsafe { CStr::from_ptr(data) }.to_string_lossy().into_owned())
    }
}

impl Drop for Probe<'_> {
    fn drop(&mut self) {
        // SAFETY: made by `new`, freed once.
        unsafe { (self.api.free_probe)(self.handle) }
    }
}
