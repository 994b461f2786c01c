//! fio's options: one row each, obeyed or accepted and ignored. A new option is a new row.

use pslc_ssd::Nanos;

use super::values::{
    block, block_range, block_split, by_kind, count, distribution, flag, pattern, size, time, Wrong,
};
use super::{ByKind, Data, Distribution, Job, Mix, Pattern, SyncMode};

/// What an option's row does with its value.
pub enum Tier {
    Obey(fn(&mut Draft, &str) -> Result<(), Wrong>),
    /// Obeyed on a real drive; ignored on a simulated one, and why.
    Real(fn(&mut Draft, &str) -> Result<(), Wrong>, &'static str),
    /// Accepted, ignored, and why that does no harm.
    Ignore(&'static str),
}
use Tier::{Ignore, Obey, Real};

const NO_DATA: &str = "a simulated drive stores no data";

/// Several sizes of requests, as written.
#[derive(Clone, Debug)]
pub enum Sizes {
    Split(String),
    Range(String),
}

/// A section being read. Sizes stay text until the target's capacity and `kb_base` are known.
#[derive(Clone, Debug)]
pub struct Draft {
    pub job: Job,
    pub kb_base: u64,
    pub size: Option<String>,
    pub io_size: Option<String>,
    pub offset: Option<String>,
    pub offset_increment: Option<String>,
    pub bs: Option<String>,
    pub sizes: Option<Sizes>,
    pub copy_to: Option<String>,
    pub rate: Option<String>,
    pub capacity: u64,
}

const SECOND: Nanos = Nanos::from_secs(1);
const MICROSECOND: Nanos = Nanos::from_micros(1);

/// Every option, under each of its names.
// One line a row, each the assignment it makes.
#[rustfmt::skip]
#[allow(clippy::unit_arg)]
pub const OPTIONS: &[(&[&str], Tier)] = &[
    (&["rw", "readwrite"], Obey(|d, v| Ok(d.job.rw = pattern(v)?))),
    (&["bs", "blocksize"], Obey(|d, v| Ok(d.bs = Some(v.into())))),
    (&["bssplit"], Obey(|d, v| Ok(d.sizes = Some(Sizes::Split(v.into()))))),
    (&["bsrange", "blocksize_range"], Obey(|d, v| Ok(d.sizes = Some(Sizes::Range(v.into()))))),
    (&["copy_to"], Obey(|d, v| Ok(d.copy_to = Some(v.into())))),
    (&["size"], Obey(|d, v| Ok(d.size = Some(v.into())))),
    (&["io_size", "io_limit"], Obey(|d, v| Ok(d.io_size = Some(v.into())))),
    (&["offset"], Obey(|d, v| Ok(d.offset = Some(v.into())))),
    (&["offset_increment"], Obey(|d, v| Ok(d.offset_increment = Some(v.into())))),
    (&["kb_base"], Obey(|d, v| match v {
        "1000" | "1024" => Ok(d.kb_base = v.parse().expect("digits")),
        _ => Err(format!("\"{v}\" is neither 1000 nor 1024").into()),
    })),
    (&["iodepth"], Obey(|d, v| Ok(d.job.iodepth = count(v, 1, 65_536)? as u32))),
    (&["numjobs"], Obey(|d, v| Ok(d.job.numjobs = count(v, 1, 4096)? as u32))),
    (&["runtime", "timeout"], Obey(|d, v| Ok(d.job.runtime = Some(time(v, SECOND)?)))),
    (&["time_based"], Obey(|d, v| Ok(d.job.time_based = flag(v)?))),
    (&["ramp_time"], Obey(|d, v| Ok(d.job.ramp_time = time(v, SECOND)?))),
    (&["startdelay"], Obey(|d, v| Ok(d.job.startdelay = time(v, SECOND)?))),
    (&["stonewall", "wait_for_previous"], Obey(|d, v| Ok(d.job.stonewall = flag(v)?))),
    (&["loops"], Obey(|d, v| Ok(d.job.loops = count(v, 1, u32::MAX as u64)? as u32))),
    (&["number_ios"], Obey(|d, v| Ok(d.job.number_ios = Some(count(v, 1, u64::MAX)?)))),
    (&["thinktime"], Obey(|d, v| Ok(d.job.thinktime = time(v, MICROSECOND)?))),
    (&["thinktime_blocks"], Obey(|d, v| {
        Ok(d.job.thinktime_blocks = count(v, 1, u32::MAX as u64)? as u32)
    })),
    (&["rate"], Obey(|d, v| Ok(d.rate = Some(v.into())))),
    (&["rate_iops"], Obey(|d, v| {
        let one = |text: &str| count(text, 0, u32::MAX as u64).map(|rate| (rate > 0).then_some(rate));
        Ok(d.job.rate_iops = by_kind(v, d.job.rate_iops, one)?)
    })),
    (&["norandommap"], Obey(|d, v| Ok(d.job.norandommap = flag(v)?))),
    (&["randseed"], Obey(|d, v| Ok(d.job.randseed = Some(count(v, 0, u64::MAX)?)))),
    (&["random_distribution"], Obey(|d, v| Ok(d.job.distribution = distribution(v)?))),
    (&["percentage_random"], Obey(|d, v| Ok(d.job.percentage_random = count(v, 0, 100)? as u32))),
    (&["rwmixread"], Obey(|d, v| Ok(d.job.rwmixread = count(v, 0, 100)? as u32))),
    (&["rwmixwrite"], Obey(|d, v| Ok(d.job.rwmixread = 100 - count(v, 0, 100)? as u32))),
    (&["fsync"], Obey(|d, v| Ok(d.job.fsync = count(v, 0, u32::MAX as u64)? as u32))),
    (&["fdatasync"], Obey(|d, v| {
        d.job.data_only = true;
        Ok(d.job.fsync = count(v, 0, u32::MAX as u64)? as u32)
    })),
    (&["end_fsync"], Obey(|d, v| Ok(d.job.end_fsync = flag(v)?))),
    (&["sync"], Obey(|d, v| match v {
        "none" => Ok(d.job.sync = None),
        "sync" => Ok(d.job.sync = Some(SyncMode::Sync)),
        "dsync" => Ok(d.job.sync = Some(SyncMode::Dsync)),
        _ => Ok(d.job.sync = flag(v)?.then_some(SyncMode::Sync)),
    })),
    (&["group_reporting"], Obey(|d, v| Ok(d.job.group_reporting = flag(v)?))),
    // `new_group` is looked at where groups are numbered.
    (&["new_group"], Obey(|_, v| flag(v).map(|_| ()))),
    (&["direct"], Obey(|d, v| Ok(d.job.direct = flag(v)?))),
    (&["buffered"], Obey(|d, v| Ok(d.job.direct = !flag(v)?))),
    (&["zero_buffers"], Real(|d, v| Ok(d.job.data = chosen(v, Data::Zeros)?), NO_DATA)),
    (&["refill_buffers"], Real(|d, v| Ok(d.job.data = chosen(v, Data::Refilled)?), NO_DATA)),
    (&["scramble_buffers"], Real(|d, v| Ok(d.job.data = chosen(v, Data::Scrambled)?), NO_DATA)),
    (&["buffer_compress_percentage"], Real(|d, v| {
        Ok(d.job.data = Data::Compressible(count(v, 0, 100)? as u32))
    }, NO_DATA)),
    (&["verify"], Real(|d, v| Ok(d.job.verify = v != "0" && v != "null"), NO_DATA)),
    (&["filename"], Ignore("the target is given with --on")),
    (&["directory"], Ignore("the target is given with --on")),
    (&["ioengine"], Ignore("the target decides how requests are made")),
    (&["description"], Ignore("it is a remark")),
    (&["thread"], Ignore("the requests are the same")),
    (&["invalidate"], Ignore("the page cache, where there is one, begins empty")),
    (&["fallocate"], Ignore("there is no file system")),
    (&["create_on_open", "create_serialize", "create_only", "create_fsync"],
        Ignore("there is no file system")),
    (&["overwrite", "file_append", "unlink", "unlink_each_loop"], Ignore("there is no file system")),
    (&["nrfiles", "openfiles", "filesize"], Ignore("the target is one address range")),
    (&["buffer_pattern", "dedupe_percentage"], Ignore("data are random; see zero_buffers")),
    (&["do_verify", "verify_fatal", "verify_backlog", "verify_pattern", "verify_dump",
        "verify_async", "verify_state_save", "verify_only", "verify_interval"],
        Ignore("what is read under verify is compared at once, and a difference ends the run")),
    (&["iomem", "mem", "hipri", "registerfiles", "fixedbufs", "sqthread_poll", "nonvectored"],
        Ignore("it is about how the host makes requests")),
    (&["iodepth_batch", "iodepth_batch_submit", "iodepth_batch_complete",
        "iodepth_batch_complete_min", "iodepth_batch_complete_max", "iodepth_low"],
        Ignore("requests are handed over one by one")),
    (&["cpus_allowed", "cpus_allowed_policy", "cpumask", "numa_cpu_nodes", "numa_mem_policy",
        "nice", "prio", "prioclass", "cmdprio_percentage"], Ignore("time is virtual")),
    (&["gtod_reduce", "gtod_cpu", "clocksource", "disable_lat", "disable_clat", "disable_slat",
        "disable_bw_measurement", "unified_rw_reporting"], Ignore("time is virtual")),
    (&["percentile_list", "clat_percentiles", "lat_percentiles", "slat_percentiles"],
        Ignore("fio's default percentiles are reported")),
    (&["write_bw_log", "write_lat_log", "write_iops_log", "write_hist_log", "log_avg_msec",
        "log_hist_msec", "log_offset", "log_max_value", "per_job_logs"],
        Ignore("every run keeps its series in series.parquet")),
    (&["bwavgtime", "iopsavgtime", "status_interval", "eta", "eta_newline", "minimal",
        "disk_util", "continue_on_error", "ignore_error", "error_dump", "exitall",
        "exitall_on_error", "random_generator", "allrandrepeat", "rate_process", "rate_cycle",
        "softrandommap", "thinktime_spin", "norandommap_ok"],
        Ignore("it changes nothing here")),
    (&["randrepeat"], Ignore("runs repeat exactly; --seed gives others")),
];

/// A flag that chooses the data; off is the default.
fn chosen(text: &str, data: Data) -> Result<Data, Wrong> {
    Ok(if flag(text)? { data } else { Data::Scrambled })
}

impl Draft {
    /// fio's defaults.
    pub fn new(capacity: u64) -> Draft {
        let job = Job {
            name: String::new(),
            options: Vec::new(),
            notes: Vec::new(),
            group: 0,
            rw: Pattern { random: false, mix: Mix::Read, run: 1 },
            bs: ByKind { read: 4096, write: 4096, trim: 4096 },
            bssplit: ByKind::default(),
            copy_to: None,
            offset: 0,
            size: 0,
            io_size: 0,
            offset_increment: 0,
            iodepth: 1,
            numjobs: 1,
            runtime: None,
            time_based: false,
            ramp_time: Nanos::ZERO,
            startdelay: Nanos::ZERO,
            stonewall: false,
            loops: 1,
            number_ios: None,
            thinktime: Nanos::ZERO,
            thinktime_blocks: 1,
            rate: ByKind::default(),
            rate_iops: ByKind::default(),
            norandommap: false,
            randseed: None,
            distribution: Distribution::Uniform,
            percentage_random: 100,
            rwmixread: 50,
            fsync: 0,
            end_fsync: false,
            data_only: false,
            sync: None,
            direct: false,
            data: Data::Scrambled,
            verify: false,
            group_reporting: false,
        };
        Draft {
            job,
            kb_base: 1024,
            size: None,
            io_size: None,
            offset: None,
            offset_increment: None,
            bs: None,
            sizes: None,
            copy_to: None,
            rate: None,
            capacity,
        }
    }

    /// Work out the sizes; an error names the option at fault.
    pub fn finish(mut self) -> Result<Job, (&'static str, Wrong)> {
        let (capacity, kb_base) = (self.capacity, self.kb_base);
        let read = |option: &'static str, text: &Option<String>, whole: u64| match text {
            Some(text) => size(text, whole, kb_base).map(Some).map_err(|what| (option, what)),
            None => Ok(None),
        };
        let job = &mut self.job;
        if let Some(text) = &self.bs {
            job.bs = by_kind(text, job.bs, |text| block(text, kb_base)).map_err(|what| ("bs", what))?;
        }
        if let Some(sizes) = &self.sizes {
            job.bssplit = match sizes {
                Sizes::Split(text) => block_split(text, kb_base).map_err(|what| ("bssplit", what))?,
                Sizes::Range(text) => block_range(text, kb_base).map_err(|what| ("bsrange", what))?,
            };
            let most = |split: &[(u32, u32)], bs| split.iter().map(|(size, _)| *size).max().unwrap_or(bs);
            let (split, bs) = (&job.bssplit, job.bs);
            job.bs = ByKind {
                read: most(&split.read, bs.read),
                write: most(&split.write, bs.write),
                trim: most(&split.trim, bs.trim),
            };
        }
        if let Some(text) = &self.rate {
            let one = |text: &str| size(text, 0, kb_base).map(|rate| (rate > 0).then_some(rate));
            job.rate = by_kind(text, job.rate, one).map_err(|what| ("rate", what))?;
        }
        job.offset = read("offset", &self.offset, capacity)?.unwrap_or(0);
        job.offset_increment = read("offset_increment", &self.offset_increment, capacity)?.unwrap_or(0);
        let last = job.offset_increment.saturating_mul(job.numjobs as u64 - 1).saturating_add(job.offset);
        let asked = read("size", &self.size, capacity)?;
        let largest = job.bs.read.max(job.bs.write).max(job.bs.trim) as u64;
        // As fio does with 100% of a device: what lies before the offset is not part of it.
        let percent = self.size.as_ref().is_some_and(|text| text.ends_with('%'));
        let room = capacity.saturating_sub(last);
        job.size = match asked {
            Some(size) if percent => size.min(room),
            Some(size) => size,
            None => room,
        };
        if last.saturating_add(job.size) > capacity {
            return Err((
                "size",
                format!("{} bytes from offset {last} end past the {capacity} of the target", job.size).into(),
            ));
        }
        job.size -= job.size % 512;
        if job.size < largest {
            return Err(("size", format!("{} bytes is less than one block", job.size).into()));
        }
        job.io_size = match read("io_size", &self.io_size, job.size)? {
            Some(0) | None => job.size.saturating_mul(job.loops as u64),
            Some(bytes) => bytes.saturating_mul(job.loops as u64),
        };
        job.copy_to = read("copy_to", &self.copy_to, capacity)?;
        if let Some(to) = job.copy_to {
            let end = to.saturating_add(last - job.offset).saturating_add(job.size);
            if end > capacity {
                return Err((
                    "copy_to",
                    format!("the copy ends at {end}, past the {capacity} of the target").into(),
                ));
            }
            if job.rw.mix != Mix::Read {
                return Err((
                    "copy_to",
                    Wrong::hinted("only what is read is copied", "rw=read or rw=randread"),
                ));
            }
        }
        if job.time_based && job.runtime.is_none() {
            return Err(("time_based", "there is no runtime".into()));
        }
        Ok(self.job)
    }
}
