//! fio's engines: which of them pslc stands for, and why not the others.

/// What an engine is to pslc.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Engine {
    /// Requests are under way together, with or without flushes among them.
    Queued { flushes: bool },
    /// The next request is made when the one before is done.
    #[default]
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
    (&["io_uring", "posixaio", "io_uring_cmd"], Queued { flushes: true }),
    (&["libaio", "windowsaio", "solarisaio"], Queued { flushes: false }),
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
    (&["external", "cpp_null", "spdk", "spdk_bdev"], Other("it is a program of its own")),
    (&["guasi", "syslet-rw", "binject", "fusion-aw-sync"], Other("fio no longer has it")),
];

/// Options of engines that are not run, and whose they are.
pub const OPTIONS: &[(&[&str], &str)] = &[
    (&["hostname", "port"], "of the engines net, rdma and libhdfs"),
    (
        &["protocol", "nodelay", "listen", "pingpong", "interface", "ttl", "window_size", "mss"],
        "of the engines net and netsplice",
    ),
    (&["bindname", "verb"], "of the engine rdma"),
    (&["serverip", "direct_write_to_pmem", "busy_wait_polling"], "of librpma's engines"),
    (
        &["clustername", "clientname", "pool", "rbdname", "busy_poll", "conf", "touch_objects"],
        "of the engines rados and rbd",
    ),
    (&["volume", "brick", "single-instance"], "of the engine gfapi"),
    (
        &[
            "https",
            "http_host",
            "http_user",
            "http_pass",
            "http_mode",
            "http_verbose",
            "http_s3_key",
            "http_s3_keyid",
            "http_s3_region",
            "http_s3_storage_class",
            "http_s3_sse_customer_key",
            "http_s3_sse_customer_algorithm",
            "http_swift_auth_token",
        ],
        "of the engine http",
    ),
    (&["namenode", "hdfsdirectory", "hdfs_use_direct", "chunk_size", "single_instance"], "of the engine libhdfs"),
    (&["nfs_url"], "of the engine nfs"),
    (&["uri"], "of the engine nbd"),
    (&["cont", "svcl", "object_class"], "of the engine dfs"),
    (&["initiator"], "of the engine libiscsi"),
    (&["skip_bad"], "of the engine mtd"),
    (&["xnvme_be", "xnvme_async", "xnvme_sync", "xnvme_admin", "xnvme_dev_nsid", "xnvme_iovec"], "of the engine xnvme"),
    (&["program", "arguments", "grace_time", "std_redirect"], "of the engine exec"),
    (&["cpuload", "cpumode", "cpuchunks", "exit_on_io_done"], "of the engine cpuio"),
    (&["stat_type"], "of the engine filestat"),
    (&["readfua", "writefua", "sg_write_mode", "stream_id"], "of the engine sg"),
    (&["donorname", "inplace"], "of the engine e4defrag"),
    (&["gpu_dev_ids", "cuda_io"], "of the engine libcufile"),
    (&["no_completion_thread"], "of the engine windowsaio"),
];

/// Whose option it is, of those engines.
pub fn option(name: &str) -> Option<&'static str> {
    OPTIONS.iter().find(|(names, _)| names.contains(&name)).map(|&(_, whose)| whose)
}

/// Look up an engine by its name; what follows a colon belongs to it. fio takes `aio` and `linuxaio`, whatever follows
/// them, for `libaio`.
pub fn find(name: &str) -> Option<Engine> {
    let name = name.split(':').next().unwrap_or(name);
    // The path of a library is an external engine.
    let name = if name.contains('/') { "external" } else { name };
    let name = if name.starts_with("aio") || name.starts_with("linuxaio") { "libaio" } else { name };
    ENGINES.iter().find(|(names, _)| names.contains(&name)).map(|&(_, engine)| engine)
}
