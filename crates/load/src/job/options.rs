//! fio's options: one row each, obeyed, ignored or refused. A new option is a new row; docs/fio.md is made of them.

use pslc_ssd::Nanos;

use super::draft::Hint;
use super::engines::{self, Engine, ENGINES};
use super::values::{boolean, by_kind, count, decimal, flag, percentiles, time};
use crate::option_fault::OptionFault;
use crate::verify::{Pattern, Sum, HEADER_BYTES};

use super::{Advice, Data, Draft, ExitWhat, Pace, SyncMode};

type Apply = fn(&mut Draft, &str) -> Result<(), OptionFault>;

/// What an option's row does with its value.
pub enum Tier {
    /// With a remark for the reader, mostly empty.
    Obey(Apply, &'static str),
    /// Obeyed on a real drive; ignored on a simulated one, and why.
    Real(Apply, &'static str),
    /// Accepted, ignored, and why that does no harm.
    Ignore(&'static str),
    /// Not run, and why; values that ask for nothing are let through.
    Refuse(&'static str, &'static [&'static str]),
}
use Tier::{Ignore, Obey, Real, Refuse};

pub struct Row {
    /// The name, then others for the same.
    pub names: &'static [&'static str],
    pub tier: Tier,
}

/// What becomes of an option, for a reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Obeyed,
    OnRealDrives,
    Ignored,
    Refused,
}

const NO_DATA: &str = "a simulated drive stores no data";
const ONE_RANGE: &str = "the target, given with --on, takes the place of all files";
const NO_FILES: &str = "there is no file to make, keep or remove";
const HOST: &str = "it is about how the host makes requests";
const HAND: &str = "requests are handed over one by one, as soon as there is room for one";
const SCHEDULING: &str = "it is about where and how fio's processes run";
/// Two headers, as in fio.
const MIN_INTERVAL: u64 = 2 * HEADER_BYTES as u64;
const MOST_BACKLOG: u64 = 1 << 40;
const ZONES: &str = "it is for zoned drives";
const MERGE: &str = "one trace at a time; blktrace's files of all processors are merged anyway";
const OFF: &[&str] = &["0"];

const SECOND: Nanos = Nanos::from_secs(1);
const DAY_MS: u64 = 86_400_000;
/// fio's: from there on a bin of its histogram logs would be wider than an octave.
const MAX_HISTOGRAM_COARSENESS: u64 = 6;
const MICROSECOND: Nanos = Nanos::from_micros(1);

pub fn find(name: &str) -> Option<&'static Row> {
    OPTIONS.iter().find(|row| row.names.contains(&name))
}

/// Names, verdict and why, of every option and then of every engine.
pub fn table() -> Vec<(Vec<&'static str>, Verdict, &'static str)> {
    let options = OPTIONS.iter().map(|row| {
        let (verdict, why) = match row.tier {
            Obey(_, remark) => (Verdict::Obeyed, remark),
            Real(_, why) => (Verdict::OnRealDrives, why),
            Ignore(why) => (Verdict::Ignored, why),
            Refuse(why, _) => (Verdict::Refused, why),
        };
        (row.names.to_vec(), verdict, why)
    });
    let of_engines = engines::OPTIONS.iter().map(|&(names, whose)| (names.to_vec(), Verdict::Refused, whose));
    options.chain(of_engines).collect()
}

/// Names and whether jobs of each engine are run, and why.
pub fn engine_table() -> Vec<(Vec<&'static str>, Verdict, &'static str)> {
    let engines = ENGINES.iter().map(|&(names, engine)| {
        let (verdict, why) = match engine {
            Engine::Queued { flushes: true } => (
                Verdict::Obeyed,
                "`iodepth` requests are under way together, but one trim alone; a flush that is due is made again until one is back",
            ),
            Engine::Queued { flushes: false } => {
                (Verdict::Obeyed, "the same, but one flush alone, too")
            }
            Engine::OneAtATime => (Verdict::Obeyed, "one request at a time, whatever the `iodepth`"),
            Engine::Mapped => (Verdict::Obeyed, "one request at a time, through the page cache"),
            Engine::Null => (Verdict::Obeyed, "no drive is touched: a pause of the job's `runtime`"),
            Engine::Other(why) => (Verdict::Refused, why),
        };
        (names.to_vec(), verdict, why)
    });
    engines.collect()
}

const fn row(names: &'static [&'static str], tier: Tier) -> Row {
    Row { names, tier }
}

/// An option that changes the output alone, where it is read.
fn output(_: &mut Draft, _: &str) -> Result<(), OptionFault> {
    Ok(())
}

/// Whoever reads job files for a run looks for traces first, and replays them.
fn replayed(_: &mut Draft, _: &str) -> Result<(), OptionFault> {
    Err(OptionFault::TraceBesideJobs)
}

fn logged(draft: &mut Draft, _: &str) -> Result<(), OptionFault> {
    draft.job.logged = true;
    Ok(())
}

/// A flag that chooses the data; off is the default.
fn chosen(text: &str, data: Data) -> Result<Data, OptionFault> {
    Ok(if flag(text)? { data } else { Data::Scrambled })
}

/// Every option, under each of its names.
// One line a row, each the assignment it makes.
#[rustfmt::skip]
#[allow(clippy::unit_arg, reason = "one line a row")]
pub const OPTIONS: &[Row] = &[
    // The job.
    row(&["name"], Obey(|d, v| Ok(d.job.name = v.into()), "in [global] it names nothing")),
    row(&["description"], Ignore("it is a remark")),
    row(&["stonewall", "wait_for_previous"], Obey(|d, v| Ok(d.job.stonewall = flag(v)?), "")),
    row(&["wait_for"], Obey(|d, v| Ok(d.job.wait_for = Some(v.into())), "")),
    row(&["new_group"], Obey(|_, v| flag(v).map(|_| ()), "")),
    row(&["group_reporting"], Obey(|d, v| Ok(d.job.group_reporting = flag(v)?), "")),
    row(&["numjobs"], Obey(|d, v| Ok(d.job.numjobs = count(v, 1, 4096)? as u32), "")),
    row(&["startdelay"], Obey(|d, v| {
        let (from, to) = v.split_once('-').unwrap_or((v, v));
        let (from, to) = (time(from, SECOND)?, time(to, SECOND)?);
        Ok(d.job.startdelay = (from.min(to), from.max(to)))
    }, "counted from the beginning of the run, also behind a `stonewall`")),
    row(&["pause"], Obey(|d, v| Ok(d.job.pause = time(v, SECOND)?),
        "ours: how long the drive is left alone before the job; in fio a job of `ioengine=null` before it")),
    row(&["runtime", "timeout"], Obey(|d, v| {
        let runtime = time(v, SECOND)?;
        Ok(d.job.runtime = (runtime > Nanos::ZERO).then_some(runtime))
    }, "")),
    row(&["time_based"], Obey(|d, v| Ok(d.job.time_based = flag(v)?), "")),
    row(&["ramp_time"], Obey(|d, v| Ok(d.job.ramp_time = time(v, SECOND)?), "`number_ios` and rates count from its end")),
    row(&["loops"], Obey(|d, v| Ok(d.job.loops = count(v, 0, u32::MAX as u64)?.max(1) as u32), "")),
    row(&["number_ios"], Obey(|d, v| {
        let requests = count(v, 0, u64::MAX)?;
        Ok(d.job.number_ios = (requests > 0).then_some(requests))
    }, "")),
    row(&["exitall"], Obey(|d, v| Ok(d.job.exitall = flag(v)?), "")),
    row(&["exit_what"], Obey(|d, v| match v {
        "group" => Ok(d.job.exit_what = ExitWhat::Group),
        "stonewall" => Ok(d.job.exit_what = ExitWhat::Stonewall),
        "all" => Ok(d.job.exit_what = ExitWhat::All),
        _ => Err(OptionFault::Neither { text: v.into(), words: "group, stonewall nor all" }),
    }, "")),
    row(&["exitall_on_error"], Ignore("an error ends the run")),
    row(&["ioengine"], Obey(|d, v| {
        d.engine = engines::find(v).ok_or_else(|| OptionFault::NoEngine { text: v.into() })?;
        Ok(d.engine_name = v.into())
    }, "what is under way at once; see the engines below")),
    row(&["iodepth"], Obey(|d, v| Ok(d.job.iodepth = count(v, 1, 65_536)? as u32), "")),
    // fio takes `threads` for `thread`.
    row(&["thread", "threads"], Ignore("the requests are the same")),

    // Where.
    row(&["filename", "directory", "filename_format", "unique_filename", "opendir"], Ignore(ONE_RANGE)),
    row(&["nrfiles", "nr_files", "openfiles", "file_service_type"], Ignore(ONE_RANGE)),
    row(&["lockfile"], Ignore(ONE_RANGE)),
    row(&["size"], Obey(|d, v| Ok(d.size = Some(v.into())), "")),
    row(&["filesize"], Obey(|d, v| Ok(d.filesize = Some(v.into())), "of a range, `4m:6m`, its middle")),
    row(&["io_size", "io_limit"], Obey(|d, v| Ok(d.io_size = Some(v.into())), "")),
    row(&["fill_device", "fill_fs"], Obey(|d, v| Ok(if boolean(v)? { d.size = None }), "to the end of the target")),
    row(&["offset", "fileoffset"], Obey(|d, v| Ok(d.offset = Some(v.into())), "")),
    row(&["offset_increment"], Obey(|d, v| Ok(d.offset_increment = Some(v.into())), "")),
    row(&["offset_align"], Obey(|d, v| Ok(d.offset_align = Some(v.into())), "")),
    row(&["copy_to"], Obey(|d, v| Ok(d.copy_to = Some(v.into())),
        "ours: where each block that was read is written; in fio a reader and a writer of one `flow`")),
    row(&["files"], Obey(|d, v| Ok(d.files = Some(v.into())),
        "ours: a random job takes files of this size, each once, and each from its beginning to its end")),
    row(&["file_append"], Refuse("the target has a fixed end", OFF)),
    row(&["kb_base"], Obey(|d, v| match v {
        "1000" | "1024" => Ok(d.kb_base = v.parse().expect("digits")),
        _ => Err(OptionFault::Neither { text: v.into(), words: "1000 nor 1024" }),
    }, "4KiB is 4000 under 1024, as fio has it")),

    // What.
    row(&["rw", "readwrite"], Obey(|d, v| Ok(d.rw = Some(v.into())), "")),
    row(&["rw_sequencer"], Obey(|d, v| match v {
        "sequential" => Ok(d.job.rw.identical = false),
        "identical" => Ok(d.job.rw.identical = true),
        _ => Err(OptionFault::Neither { text: v.into(), words: "sequential nor identical" }),
    }, "")),
    row(&["bs", "blocksize"], Obey(|d, v| Ok(d.bs = Some(v.into())), "multiples of 512")),
    row(&["bssplit"], Obey(|d, v| Ok(d.bssplit = Some(v.into())), "")),
    row(&["bsrange", "blocksize_range"], Obey(|d, v| Ok(d.bsrange = Some(v.into())), "")),
    row(&["ba", "blockalign"], Obey(|d, v| Ok(d.ba = Some(v.into())), "")),
    row(&["bs_unaligned", "blocksize_unaligned"], Refuse("a drive takes whole sectors", OFF)),
    row(&["bs_is_seq_rand"], Obey(|d, v| Ok(d.job.bs_is_seq_rand = boolean(v)?), "")),
    row(&["rwmixread"], Obey(|d, v| Ok(d.job.rwmixread = count(v, 0, 100)? as u32), "")),
    row(&["rwmixwrite"], Obey(|d, v| Ok(d.job.rwmixread = 100 - count(v, 0, 100)? as u32), "")),
    row(&["norandommap"], Obey(|d, v| Ok(d.job.norandommap = flag(v)?), "")),
    row(&["softrandommap"], Ignore("there is memory for the map")),
    row(&["randseed"], Obey(|d, v| {
        d.job.randrepeat = false;
        Ok(d.job.randseed = Some(count(v, 0, u64::MAX)?))
    }, "another order than fio's under the same number")),
    row(&["randrepeat", "allrandrepeat"], Obey(|d, v| Ok(d.job.randrepeat = boolean(v)?),
        "of the passes of one run; runs repeat exactly, and --seed gives others")),
    row(&["random_generator"], Obey(|d, v| match v {
        "lfsr" => Ok(d.job.lfsr = true),
        "tausworthe" | "tausworthe64" => Ok(d.job.lfsr = false),
        _ => Err(OptionFault::UnknownWord { text: v.into(), choices: "tausworthe, lfsr or tausworthe64".into() }),
    }, "every block once under lfsr, also with `norandommap`")),
    row(&["random_distribution"], Obey(|d, v| Ok(d.distribution = Some(v.into())),
        "hot blocks are elsewhere than fio's, and never two in one place, as fio's hash has it where their number is no power of two; a centre is ignored")),
    row(&["percentage_random"], Obey(|d, v| {
        let percent = |text: &str| count(text, 0, 100).map(|percent| percent as u32);
        Ok(d.job.percentage_random = by_kind(v, d.job.percentage_random, percent)?)
    }, "")),

    // When.
    row(&["thinktime"], Obey(|d, v| Ok(d.job.think.time = time(v, MICROSECOND)?), "behind what is under way")),
    row(&["thinktime_blocks"], Obey(|d, v| {
        Ok(d.job.think.blocks = Some(count(v, 0, u32::MAX as u64)? as u32))
    }, "")),
    row(&["thinktime_blocks_type"], Obey(|d, v| match v {
        "complete" => Ok(d.job.think.when_made = false),
        "issue" => Ok(d.job.think.when_made = true),
        _ => Err(OptionFault::Neither { text: v.into(), words: "complete nor issue" }),
    }, "")),
    row(&["thinktime_iotime"], Obey(|d, v| Ok(d.job.think.period = time(v, SECOND)?), "")),
    row(&["thinktime_spin"], Ignore("thinking and spinning are the same to a drive")),
    row(&["rate"], Obey(|d, v| Ok(d.rate = Some(v.into())), "")),
    row(&["rate_iops"], Obey(|d, v| {
        let rate = |text: &str| count(text, 0, u32::MAX as u64).map(|rate| (rate > 0).then_some(rate));
        Ok(d.job.rate_iops = by_kind(v, d.job.rate_iops, rate)?)
    }, "")),
    row(&["rate_process"], Obey(|d, v| match v {
        "linear" => Ok(d.job.pace = Pace::Linear),
        "poisson" => Ok(d.job.pace = Pace::Poisson),
        _ => Err(OptionFault::Neither { text: v.into(), words: "linear nor poisson" }),
    }, "")),
    row(&["rate_min", "ratemin"], Obey(|d, v| Ok(d.rate_min = Some(v.into())),
        "a job that is slower ends the run; the first two seconds are not looked at")),
    row(&["rate_iops_min"], Obey(|d, v| {
        let rate = |text: &str| count(text, 0, u32::MAX as u64).map(|rate| (rate > 0).then_some(rate));
        Ok(d.job.rate_min.requests = by_kind(v, d.job.rate_min.requests, rate)?)
    }, "as `rate_min`")),
    row(&["rate_cycle", "ratecycle"], Obey(|d, v| {
        Ok(d.job.rate_min.cycle = Nanos::from_millis(count(v, 0, DAY_MS)?))
    }, "over how long `rate_min` looks at the rate")),
    row(&["rate_ignore_thinktime"], Obey(|d, v| Ok(d.job.think.ignored_by_rate = boolean(v)?), "")),
    row(&["max_latency"], Refuse("pslc does not end a job for a slow request", OFF)),
    row(&["latency_target"], Obey(|d, v| Ok(d.job.latency_target.target = time(v, MICROSECOND)?),
        "the depth is looked for, up to `iodepth`; at `latency_percentile=100` a late request at depth 1 ends the run")),
    row(&["latency_window"], Obey(|d, v| Ok(d.job.latency_target.window = time(v, MICROSECOND)?), "")),
    row(&["latency_percentile"], Obey(|d, v| match decimal(v)? {
        percent if percent <= 100.0 => Ok(d.job.latency_target.percentile = percent),
        _ => Err(OptionFault::Percent { text: v.into() }),
    }, "")),
    row(&["latency_run"], Obey(|d, v| Ok(d.job.latency_target.run = boolean(v)?), "")),
    row(&["steadystate", "ss"], Obey(|d, v| Ok(d.steady_state = v.into()), "with `steadystate_duration`, as in fio")),
    row(&["steadystate_duration", "ss_dur"], Obey(|d, v| Ok(d.steady_duration = time(v, SECOND)?), "whole seconds")),
    row(&["steadystate_ramp_time", "ss_ramp"], Obey(|d, v| Ok(d.steady_ramp = time(v, SECOND)?), "")),
    row(&["flow"], Obey(|d, v| match v.strip_prefix('-') {
        // fio 3.33 takes it for a number without a sign.
        Some(below) => Ok(d.flow = 0u32.wrapping_sub(count(below, 0, i32::MAX as u64)? as u32)),
        None => Ok(d.flow = count(v, 0, 1000)? as u32),
    }, "below 0 nobody of the flow waits, as in fio 3.33")),
    row(&["flow_id"], Obey(|d, v| Ok(d.flow_id = count(v, 0, u32::MAX as u64)? as u32), "")),
    row(&["flow_sleep", "flow_watermark"], Ignore("a job waits until it is its turn")),

    // SyncMode and the page cache.
    row(&["direct"], Obey(|d, v| Ok(d.job.direct = boolean(v)?), "")),
    row(&["buffered"], Obey(|d, v| Ok(d.job.direct = !boolean(v)?), "")),
    row(&["atomic"], Obey(|d, v| Ok(d.job.direct |= boolean(v)?), "as `direct`")),
    row(&["invalidate"], Obey(|d, v| Ok(d.job.invalidate = boolean(v)?), "")),
    row(&["pre_read"], Ignore("nothing is read before a job begins")),
    row(&["fsync"], Obey(|d, v| Ok(d.job.fsync = count(v, 0, u32::MAX as u64)? as u32), "")),
    row(&["fdatasync"], Obey(|d, v| Ok(d.fdatasync = count(v, 0, u32::MAX as u64)? as u32), "not beside `fsync`")),
    row(&["end_fsync"], Obey(|d, v| Ok(d.job.end_fsync = boolean(v)?), "")),
    row(&["fsync_on_close"], Obey(|d, v| Ok(d.job.fsync_on_close = boolean(v)?), "")),
    row(&["sync"], Obey(|d, v| match v {
        "none" => Ok(d.job.sync = None),
        "sync" => Ok(d.job.sync = Some(SyncMode::Sync)),
        "dsync" => Ok(d.job.sync = Some(SyncMode::Dsync)),
        _ => Ok(d.job.sync = flag(v)?.then_some(SyncMode::Sync)),
    }, "")),
    row(&["sync_file_range", "write_barrier"], Ignore("only fsync, fdatasync and sync flush")),
    row(&["fadvise_hint"], Real(|d, v| Ok(d.fadvise_hint = match v {
        "0" => Hint::Fixed(None),
        "1" => Hint::AsItWorks,
        "random" => Hint::Fixed(Some(Advice::Random)),
        "sequential" => Hint::Fixed(Some(Advice::Sequential)),
        _ => return Err(OptionFault::UnknownWord { text: v.into(), choices: "0, 1, random or sequential".into() }),
    }), "a simulated drive is read past every cache")),
    row(&["write_hint"], Ignore("it tells how long data live, which few drives ask for")),

    // Data.
    row(&["zero_buffers"], Real(|d, v| Ok(d.job.data = chosen(v, Data::Zeros)?), NO_DATA)),
    row(&["refill_buffers"], Real(|d, v| Ok(d.job.data = chosen(v, Data::Refilled)?), NO_DATA)),
    row(&["scramble_buffers"], Real(|d, v| {
        // It changes only what no other option does.
        let repeats = !boolean(v)? && d.job.data == Data::Scrambled;
        Ok(if repeats { d.job.data = Data::Repeated })
    }, NO_DATA)),
    row(&["buffer_compress_percentage"], Real(|d, v| {
        Ok(d.job.data = Data::Compressible(count(v, 0, 100)? as u32))
    }, NO_DATA)),
    row(&["buffer_pattern"], Real(|d, v| {
        let pattern = Pattern::parse(v)?;
        if pattern.has_offset() {
            return Err(OptionFault::OffsetInBuffer);
        }
        Ok(d.job.data = Data::Pattern(pattern))
    }, NO_DATA)),
    row(&["buffer_compress_chunk", "dedupe_percentage", "dedupe_mode",
        "dedupe_working_set_percentage", "dedupe_global"], Ignore("data are random; see zero_buffers")),
    row(&["verify"], Obey(|d, v| Ok(d.verifying.sum = match v {
        "0" => None,
        "sha512" => return Err(OptionFault::Sha512),
        _ => Some(Sum::named(v).ok_or_else(|| OptionFault::UnknownWord { text: v.into(), choices: Sum::names().join(", ").into() })?),
    }), "with fio's headers: each checks what the other wrote; a simulated drive has no data to check; sha512 is refused, which fio 3.33 does not compute; pattern_hdr, of later ones, is a pattern behind headers")),
    row(&["do_verify"], Obey(|d, v| Ok(d.verifying.do_verify = boolean(v)?), "of what the job wrote; a job that only reads verifies all that it reads")),
    row(&["verify_only"], Obey(|d, v| Ok(d.verifying.only = flag(v)?), "of what an earlier run wrote; the places of a random job are those of pslc's")),
    row(&["verify_interval"], Obey(|d, v| Ok(d.verifying.interval = count(v, MIN_INTERVAL, u32::MAX as u64)? as u32), "")),
    row(&["verify_offset"], Obey(|d, v| Ok(d.verifying.offset = match v {
        "0" => 0,
        _ => count(v, HEADER_BYTES as u64, u32::MAX as u64)? as u32,
    }), "not beside a pattern that is compared")),
    row(&["verify_pattern"], Obey(|d, v| Ok(d.verifying.pattern = Some(Pattern::parse(v)?)), "with `%o`; of a file in single quotes up to 64 KiB, as later than fio 3.33, which takes the first 512 bytes")),
    row(&["verify_pattern_interval"], Refuse("a pattern begins where its request does", OFF)),
    row(&["verify_fatal"], Obey(|_, v| boolean(v).map(|_| ()), "the first block that is wrong ends the job, also without")),
    row(&["verify_dump"], Obey(|d, v| Ok(d.verifying.dumps = boolean(v)?), "the block as it was read and, where its header tells, as it was written, in fio's files")),
    row(&["experimental_verify"], Obey(|d, v| Ok(d.verifying.repeats = boolean(v)?),
        "where no block is written twice; else the newest of each is read")),
    row(&["verify_async", "verify_async_cpus"], Refuse("what is read is compared at once", OFF)),
    row(&["verify_state_load", "verify_state_save"], Refuse("no state of what was verified is kept", OFF)),
    row(&["verifysort", "verifysort_nr"], Ignore("fio no longer does anything with it")),
    row(&["verify_backlog"], Obey(|d, v| Ok(d.verifying.backlog = count(v, 0, MOST_BACKLOG)?), "")),
    row(&["verify_backlog_batch"], Obey(|d, v| Ok(d.verifying.batch = count(v, 0, MOST_BACKLOG)?), "")),
    row(&["trim_percentage", "trim_backlog", "trim_backlog_batch"], Refuse("rw=trimwrite trims what it writes", OFF)),
    row(&["trim_verify_zero"], Ignore("it is about `trim_percentage`")),

    // Files and file systems.
    row(&["fallocate", "create_on_open", "create_serialize", "create_only", "create_fsync", "allow_file_create",
        "allow_mounted_write", "overwrite", "unlink", "unlink_each_loop"], Ignore(NO_FILES)),

    // How the host makes requests.
    row(&["iodepth_batch", "iodepth_batch_submit", "iodepth_batch_complete", "iodepth_batch_complete_min",
        "iodepth_batch_complete_max", "iodepth_low", "io_submit_mode"], Ignore(HAND)),
    row(&["serialize_overlap"], Ignore("requests for the same blocks are not held back")),
    row(&["mem", "iomem", "mem_align", "iomem_align", "hugepage-size", "lockmem"], Ignore(HOST)),
    row(&["hipri", "hipri_percentage", "registerfiles", "fixedbufs", "sqthread_poll", "sqthread_poll_cpu",
        "nonvectored", "uncached", "nowait", "force_async", "userspace_reap", "cmd_type", "cmdprio", "cmdprio_class",
        "cmdprio_hint", "cmdprio_percentage", "cmdprio_bssplit", "thp"], Ignore(HOST)),
    row(&["cpus_allowed", "cpus_allowed_policy", "cpumask", "numa_cpu_nodes", "numa_mem_policy", "nice", "prio",
        "prioclass", "priohint", "cgroup", "cgroup_nodelete", "cgroup_weight", "uid", "gid"], Ignore(SCHEDULING)),
    row(&["ioscheduler"], Ignore("the scheduler of a device stays as it is")),
    row(&["exec_prerun", "exec_postrun"], Ignore("pslc runs no programs")),
    row(&["profile"], Refuse("it takes the place of the job file", &[])),

    // Clocks and reports.
    row(&["gtod_reduce", "gtod_cpu", "clocksource", "disable_lat", "disable_clat", "disable_slat",
        "disable_bw_measurement", "disable_bw"], Ignore("everything is measured")),
    row(&["percentile_list"], Obey(|d, v| Ok(d.job.percentiles = percentiles(v)?), "in fio's JSON; fio's own otherwise")),
    row(&["clat_percentiles", "lat_percentiles", "slat_percentiles"],
        Obey(|_, v| boolean(v).map(|_| ()), "in fio's JSON")),
    row(&["write_bw_log", "write_lat_log", "write_iops_log", "write_hist_log", "write_iolog"], Obey(logged, "in fio's files")),
    row(&["log_avg_msec"], Obey(|_, v| count(v, 0, DAY_MS).map(|_| ()),
        "in those logs; the last row is of a window as long as it was, and one of rates shorter than `bwavgtime` is left out, as in fio")),
    row(&["log_offset", "per_job_logs", "log_prio"], Obey(|_, v| boolean(v).map(|_| ()), "in those logs")),
    row(&["log_issue_time"], Obey(|_, v| boolean(v).map(|_| ()), "in those logs, as fio 3.37 and later write it")),
    row(&["log_window_value", "log_max_value"], Obey(|_, v| match v {
        "avg" | "max" | "both" | "0" | "1" | "" => Ok(()),
        _ => Err(OptionFault::UnknownWord { text: v.into(), choices: "avg, max or both".into() }),
    }, "in those logs, as fio 3.37 and later write it")),
    row(&["log_hist_msec"], Obey(|_, v| count(v, 0, DAY_MS).map(|_| ()),
        "in those logs; the last window is written as well, which fio leaves out")),
    row(&["log_hist_coarseness"], Obey(|_, v| count(v, 0, MAX_HISTOGRAM_COARSENESS).map(|_| ()), "in those logs")),
    row(&["log_store_compressed"], Refuse("logs are written as text", OFF)),
    row(&["log_unix_epoch", "log_alternate_epoch"], Obey(|_, v| boolean(v).map(|_| ()),
        "in those logs; times of a simulated drive count from when its run was started")),
    row(&["log_alternate_epoch_clock_id"], Obey(|_, v| match v {
        "0" => Ok(()),
        _ => Err(OptionFault::OtherClock { text: v.into() }),
    }, "only 0, CLOCK_REALTIME")),
    row(&["log_entries", "log_compression", "log_compression_cpus"],
        Ignore("every run keeps its series in series.parquet")),
    row(&["bwavgtime"], Obey(|d, v| Ok(d.job.bwavgtime = Nanos::from_millis(count(v, 1, DAY_MS)?)), "in fio's JSON")),
    row(&["iopsavgtime"], Obey(|d, v| Ok(d.job.iopsavgtime = Nanos::from_millis(count(v, 1, DAY_MS)?)), "in fio's JSON")),
    row(&["unified_rw_reporting"], Obey(|d, v| match v {
        "none" | "0" => Ok(d.job.unified = false),
        "mixed" | "both" | "1" | "2" => Ok(d.job.unified = true),
        _ => Err(OptionFault::UnknownWord { text: v.into(), choices: "none, mixed or both".into() }),
    }, "in fio's JSON")),
    row(&["significant_figures", "unit_base", "block_error_percentiles", "stats",
        "disk_util", "status_interval", "eta", "eta_newline", "minimal"],
        Ignore("it is about how fio prints what it found")),
    row(&["continue_on_error", "ignore_error", "error_dump"], Ignore("an error ends the run")),

    // Not job files.
    row(&["read_iolog"], Obey(replayed, "by a job file of one job: the trace is replayed, [Traces](traces.md)")),
    row(&["replay_no_stall", "replay_time_scale"], Obey(output, "when requests of a trace are made")),
    row(&["replay_redirect", "read_iolog_chunked"], Ignore("every trace is replayed on the target, and read as it goes")),
    row(&["replay_scale", "replay_align"], Obey(output, "where they are")),
    row(&["replay_skip"], Obey(output, "kinds of requests that are left out, of every trace; in fio only of blktrace's")),
    row(&["merge_blktrace_file", "merge_blktrace_scalars", "merge_blktrace_iters"], Refuse(MERGE, OFF)),
    row(&["zonemode"], Obey(|d, v| match v {
        "none" => Ok(d.strided = false),
        "strided" => Ok(d.strided = true),
        "zbd" => Err(OptionFault::ZonedDrive),
        _ => Err(OptionFault::UnknownWord { text: v.into(), choices: "none or strided".into() }),
    }, "zbd is refused")),
    row(&["zonesize"], Obey(|d, v| Ok(d.zone_size = Some(v.into())), "")),
    row(&["zonerange"], Obey(|d, v| Ok(d.zone_range = Some(v.into())), "")),
    row(&["zoneskip"], Obey(|d, v| Ok(d.zone_skip = Some(v.into())), "zones go on to the end of the target, whatever the `size`")),
    row(&["zonecapacity", "read_beyond_wp", "max_open_zones", "job_max_open_zones", "ignore_zone_limits",
        "zone_reset_threshold", "zone_reset_frequency"], Ignore(ZONES)),
];
