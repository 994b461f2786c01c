//! fio's engines: which of them pslc stands for, and why not the others.

/// What an engine is to pslc.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    /// Requests are under way together.
    Queued,
    /// The next request is made when the one before is done.
    OneAtATime,
    /// Always through the page cache, one at a time.
    Mapped,
    /// No drive is touched.
    Null,
    /// Something else than reads and writes of a drive, and what.
    Other(&'static str),
}

impl Engine {
    /// One request is under way, whatever `iodepth` says.
    pub fn waits(self) -> bool {
        matches!(self, Engine::OneAtATime | Engine::Mapped)
    }
}

use Engine::{Mapped, Null, OneAtATime, Other, Queued};

/// Every engine of fio 3.33.
pub const ENGINES: &[(&[&str], Engine)] = &[
    (&["libaio", "io_uring", "posixaio", "io_uring_cmd", "windowsaio", "solarisaio"], Queued),
    (&["psync", "sync", "vsync", "pvsync", "pvsync2", "splice"], OneAtATime),
    (&["mmap"], Mapped),
    (&["null"], Null),
    (&["cpuio"], Other("it burns CPU time and reads no drive")),
    (&["exec"], Other("it runs programs")),
    (
        &["filecreate", "filestat", "filedelete", "dircreate", "dirstat", "dirdelete"],
        Other("it makes and looks up files: metadata of a file system"),
    ),
    (&["falloc", "ftruncate", "e4defrag"], Other("it changes where a file system keeps a file")),
    (
        &[
            "net",
            "netsplice",
            "rdma",
            "librpma_apm_client",
            "librpma_apm_server",
            "librpma_gpspm_client",
            "librpma_gpspm_server",
        ],
        Other("it measures a network"),
    ),
    (
        &[
            "rados",
            "rbd",
            "gfapi",
            "gfapi_async",
            "http",
            "libhdfs",
            "nfs",
            "dfs",
            "ime_psync",
            "ime_psyncv",
            "ime_aio",
            "libiscsi",
            "nbd",
            "rgw",
            "libblkio",
        ],
        Other("it measures a storage service, not a drive"),
    ),
    (&["libzbc", "zbc"], Other("it is for zoned drives")),
    (&["mtd", "pmemblk", "dev-dax", "libpmem", "libcufile"], Other("it is for memory, not for drives")),
    (&["sg"], Other("it sends SCSI commands; libaio makes the same reads and writes")),
    (&["xnvme"], Other("it needs a library of its own; io_uring makes the same reads and writes")),
    (&["external", "cpp_null"], Other("it is a program of its own")),
    (&["guasi", "syslet-rw", "binject"], Other("fio no longer has it")),
];

/// Look up an engine by its name; what follows a colon belongs to it.
pub fn find(name: &str) -> Option<Engine> {
    let name = name.split(':').next().unwrap_or(name);
    ENGINES.iter().find(|(names, _)| names.contains(&name)).map(|&(_, engine)| engine)
}
