//! Values of options that change no request: what fio refuses is refused here, too, for a slip of the pen is one
//! wherever it stands.

use super::values::{boolean, flag};
use crate::option_fault::OptionFault;

enum Form {
    /// 0 or 1.
    Bool,
    /// The same, or nothing at all.
    Flag,
    Words(&'static [&'static str]),
    /// One of them, with more behind a colon.
    Prefixes(&'static [&'static str]),
}
use Form::{Bool, Flag, Prefixes, Words};

const MEMORY: &[&str] = &["malloc", "shm", "shmhuge", "mmap", "mmapshared", "mmaphuge", "cudamalloc"];

#[rustfmt::skip] // A table: rustfmt gives each name a line of its own.
const FORMS: &[(&[&str], Form)] = &[
    (&["unique_filename", "softrandommap", "pre_read", "dedupe_global", "trim_verify_zero", "create_on_open",
        "create_serialize", "create_only", "create_fsync", "allow_file_create", "allow_mounted_write", "overwrite",
        "unlink", "unlink_each_loop", "serialize_overlap", "cgroup_nodelete", "gtod_reduce", "disable_lat",
        "disable_clat", "disable_slat", "disable_bw_measurement", "disable_bw", "log_offset", "log_max_value",
        "per_job_logs", "log_prio", "log_store_compressed", "block_error_percentiles", "stats", "disk_util",
        "error_dump", "replay_no_stall", "read_iolog_chunked", "read_beyond_wp", "ignore_zone_limits"], Bool),
    (&["exitall_on_error", "thread", "threads"], Flag),
    (&["file_service_type"],
        Prefixes(&["next", "random", "zipf", "pareto", "normal", "gauss", "roundrobin", "sequential"])),
    (&["lockfile"], Words(&["none", "exclusive", "readwrite"])),
    (&["write_hint"], Words(&["none", "short", "medium", "long", "extreme"])),
    (&["dedupe_mode"], Words(&["repeat", "working_set"])),
    (&["fallocate"], Words(&["none", "native", "posix", "keep", "truncate", "0", "1"])),
    (&["io_submit_mode"], Words(&["inline", "offload"])),
    (&["mem", "iomem"], Prefixes(MEMORY)),
    (&["cpus_allowed_policy"], Words(&["shared", "split"])),
    (&["clocksource"], Words(&["gettimeofday", "clock_gettime", "cpu"])),
    (&["unit_base"], Words(&["0", "8", "1"])),
    (&["continue_on_error"], Words(&["none", "read", "write", "io", "verify", "all", "0", "1"])),
];

/// Whether fio would take this value, of an option that has no other check.
pub fn check(option: &str, value: &str) -> Result<(), OptionFault> {
    let Some((_, form)) = FORMS.iter().find(|(names, _)| names.contains(&option)) else { return Ok(()) };
    let (words, word) = match form {
        Bool => return boolean(value).map(|_| ()),
        Flag => return flag(value).map(|_| ()),
        Words(words) => (words, value),
        Prefixes(words) => (words, value.split(':').next().unwrap_or(value)),
    };
    if words.contains(&word) {
        Ok(())
    } else {
        Err(OptionFault::UnknownWord { text: value.into(), choices: words.join(", ").into() })
    }
}
