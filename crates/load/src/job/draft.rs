//! A section being read, and what comes of it once everything is known.

use pslc_ssd::Nanos;

use super::engines::Engine;
use super::sizes::{Asked, Strided};
use super::until::{LatencyTarget, LeastRate, SteadyState};
use super::values::{
    block, block_range, block_split, by_kind, distribution, pattern, percentage, size, Wrong,
};
use super::{Advice, ByKind, Data, Distribution, ExitWhat, Job, Mix, Pace, Pattern, Sizes, ThinkTime};
use crate::verify::{self, Sum, Verify, VerifyBacklog};

/// A section being read. Sizes stay text until the target's capacity and `kb_base` are known.
#[derive(Clone, Debug)]
pub struct Draft {
    pub job: Job,
    pub kb_base: u64,
    pub rw: Option<String>,
    pub size: Option<String>,
    pub filesize: Option<String>,
    pub io_size: Option<String>,
    pub offset: Option<String>,
    pub offset_increment: Option<String>,
    pub offset_align: Option<String>,
    pub bs: Option<String>,
    pub bssplit: Option<String>,
    pub bsrange: Option<String>,
    pub ba: Option<String>,
    pub distribution: Option<String>,
    pub copy_to: Option<String>,
    pub files: Option<String>,
    pub rate: Option<String>,
    pub rate_min: Option<String>,
    pub strided: bool,
    pub zone_size: Option<String>,
    pub zone_range: Option<String>,
    pub zone_skip: Option<String>,
    pub steady_state: String,
    pub steady_duration: Nanos,
    pub steady_ramp: Nanos,
    pub flow: u32,
    pub flow_id: u32,
    pub fdatasync: u32,
    pub fadvise_hint: Hint,
    pub verifying: Verifying,
    pub engine: Engine,
    pub engine_name: String,
}

/// What options say of verifying.
#[derive(Clone, Debug, Default)]
pub struct Verifying {
    pub sum: Option<Sum>,
    pub pattern: Option<verify::Pattern>,
    pub interval: u32,
    pub offset: u32,
    pub do_verify: bool,
    pub only: bool,
    pub repeats: bool,
    pub dumps: bool,
    pub backlog: u64,
    pub batch: u64,
}

impl Verifying {
    /// Of a job whose sizes are known.
    fn finish(self, job: &Job) -> Result<Option<Verify>, (&'static str, Wrong)> {
        // As in fio, a pattern without a checksum stands behind headers.
        let default = self.pattern.as_ref().map(|_| Sum::PatternBehindHeader);
        let Some(sum) = self.sum.or(default) else { return Ok(None) };
        if matches!(sum, Sum::Pattern | Sum::PatternBehindHeader) && self.pattern.is_none() {
            let wrong = Wrong::hinted("there is no pattern to look for", "verify_pattern=0xdeadbeef");
            return Err(("verify", wrong));
        }
        let zeros = match job.data {
            Data::Compressible(percent) => percent,
            _ => 0,
        };
        let verify = Verify {
            sum,
            pattern: self.pattern,
            interval: interval(self.interval, job),
            offset: if sum.has_header() { self.offset } else { 0 },
            zeros,
            reads_back: self.do_verify,
            only: self.only && job.writes(),
            repeats: self.repeats,
            dumps: self.dumps,
            backlog: (self.backlog > 0).then_some(VerifyBacklog {
                every: self.backlog,
                batch: if self.batch > 0 { self.batch } else { self.backlog },
            }),
        };
        if job.rw.mix != Mix::Trim && sum != Sum::Null {
            fits(&verify, job)?;
        }
        Ok(Some(verify))
    }
}

/// Bytes of a block as fio works them out: at most those of the shortest write, and of the shortest read of a job that
/// reads, and a divisor of the shortest and the longest write.
fn interval(asked: u32, job: &Job) -> u32 {
    let (least, most) = (job.sizes.write.least(), job.sizes.write.most());
    let mut interval = if asked == 0 && least != most { least } else { asked };
    if interval > least {
        interval = least;
    } else if job.reads() {
        interval = interval.min(job.sizes.read.least());
    }
    match interval > 0 && least % interval == 0 && most % interval == 0 {
        true => interval,
        false => gcd(least, most),
    }
}

fn gcd(a: u32, b: u32) -> u32 {
    if b == 0 {
        a
    } else {
        gcd(b, a % b)
    }
}

/// Requests are of whole blocks, and a block has room for its header.
fn fits(verify: &Verify, job: &Job) -> Result<(), (&'static str, Wrong)> {
    let verified = if job.rw.mix == Mix::Read { &job.sizes.read } else { &job.sizes.write };
    let sizes: Vec<u32> = match verified {
        Sizes::One(size) => vec![*size],
        Sizes::Range(least, most) => vec![*least, *most],
        Sizes::Split(split) => split.iter().map(|&(size, _)| size).collect(),
    };
    // fio draws the sizes of such a job as it drew those of the writes; its draws are not ours.
    let earlier = verify.only || job.rw.mix == Mix::Read;
    let grain = sizes.iter().copied().fold(0, gcd);
    let is_anywhere = verify.compared().is_none_or(|pattern| pattern.is_anywhere(grain));
    if earlier && sizes.len() > 1 && !is_anywhere {
        let wrong = "where each request of an earlier run began is not told by its data, and the pattern begins there";
        let hint = format!("requests of one size, or a pattern without %o whose length divides {grain}");
        return Err(("verify_pattern", Wrong::hinted(wrong, hint)));
    }
    let (head, offset) = (verify.head_bytes(), verify.offset as usize);
    for size in sizes {
        let block = verify.block_bytes(size as usize);
        if size as usize % block != 0 {
            let wrong = format!("a request of {size} bytes is not of whole blocks of {block}");
            return Err(("verify_interval", Wrong::hinted(wrong, "a divisor of every size")));
        }
        if block <= head + offset {
            let wrong =
                format!("a block of {block} bytes has no room for {head} of header and checksum, and data");
            let option = if offset > 0 { "verify_offset" } else { "verify_interval" };
            return Err((option, Wrong::hinted(wrong, "larger blocks")));
        }
    }
    if offset > 0 && offset < head {
        let wrong =
            format!("header and checksum are {head} bytes, and would be moved by {offset} into themselves");
        return Err(("verify_offset", Wrong::hinted(wrong, format!("{head} or more"))));
    }
    if offset > 0 && verify.compared().is_some() {
        let wrong = "fio 3.33 leaves old headers in such a pattern, and finds its own data wrong";
        return Err(("verify_offset", Wrong::hinted(wrong, "verify=crc32c, or no verify_offset")));
    }
    Ok(())
}

/// What the page cache is to be told.
#[derive(Clone, Copy, Debug)]
pub enum Hint {
    AsItWorks,
    Fixed(Option<Advice>),
}

impl Draft {
    /// fio's defaults.
    pub fn new(capacity: u64) -> Draft {
        let job = Job {
            name: String::new(),
            options: Vec::new(),
            global_options: 0,
            notes: Vec::new(),
            group: 0,
            rw: Pattern { random: false, mix: Mix::Read, run: 1, hole: 0, identical: false },
            bs: ByKind::all(4096),
            sizes: ByKind::all(Sizes::One(4096)),
            align: ByKind::all(4096),
            bs_unaligned: false,
            bs_is_seq_rand: false,
            copy_to: None,
            files: None,
            strided: None,
            capacity,
            offset: 0,
            offset_align: 1,
            offset_increment: 0,
            asked: Asked::default(),
            size: 0,
            io_size: None,
            one_at_a_time: false,
            flush_blocks: false,
            null: false,
            iodepth: 1,
            numjobs: 1,
            runtime: None,
            time_based: false,
            ramp_time: Nanos::ZERO,
            startdelay: (Nanos::ZERO, Nanos::ZERO),
            pause: Nanos::ZERO,
            stonewall: false,
            wait_for: None,
            exitall: false,
            steady_state: None,
            latency_target: LatencyTarget {
                target: Nanos::ZERO,
                window: Nanos::ZERO,
                percentile: 100.0,
                run: false,
            },
            exit_what: ExitWhat::Group,
            loops: 1,
            number_ios: None,
            think: ThinkTime::default(),
            rate: ByKind::default(),
            rate_iops: ByKind::default(),
            rate_min: LeastRate::default(),
            pace: Pace::Linear,
            flow: None,
            norandommap: false,
            lfsr: false,
            randseed: None,
            randrepeat: true,
            distribution: Distribution::Uniform,
            percentage_random: ByKind::all(100),
            rwmixread: 50,
            fsync: 0,
            data_only: false,
            end_fsync: false,
            fsync_on_close: false,
            sync: None,
            direct: false,
            invalidate: true,
            advice: None,
            data: Data::Scrambled,
            verify: None,
            group_reporting: false,
            unified: false,
            percentiles: Vec::new(),
            bwavgtime: Nanos::from_millis(500),
            iopsavgtime: Nanos::from_millis(500),
            logged: false,
        };
        Draft {
            job,
            kb_base: 1024,
            rw: None,
            size: None,
            filesize: None,
            io_size: None,
            offset: None,
            offset_increment: None,
            offset_align: None,
            bs: None,
            bssplit: None,
            bsrange: None,
            ba: None,
            distribution: None,
            copy_to: None,
            files: None,
            rate: None,
            rate_min: None,
            strided: false,
            zone_size: None,
            zone_range: None,
            zone_skip: None,
            steady_state: "iops_slope:0.01%".into(),
            steady_duration: Nanos::ZERO,
            steady_ramp: Nanos::ZERO,
            flow: 0,
            flow_id: 0,
            fdatasync: 0,
            fadvise_hint: Hint::AsItWorks,
            verifying: Verifying { do_verify: true, ..Verifying::default() },
            engine: Engine::OneAtATime,
            engine_name: "psync".into(),
        }
    }

    /// Work out the sizes; an error names the option at fault.
    pub fn finish(mut self) -> Result<Job, (&'static str, Wrong)> {
        self.engine();
        self.requests()?;
        self.region()?;
        self.strided()?;
        let job = &mut self.job;
        if job.time_based && job.runtime.is_none() {
            job.time_based = false;
            job.notes.push("time_based is ignored: there is no runtime".into());
        }
        if self.fdatasync > 0 {
            if job.fsync > 0 {
                return Err(("fdatasync", Wrong::hinted("there is an fsync, too", "one of them")));
            }
            (job.fsync, job.data_only) = (self.fdatasync, true);
        }
        // fio flushes nothing behind reads.
        job.fsync_on_close &= job.writes();
        job.end_fsync = job.fsync_on_close || (job.end_fsync && (job.writes() || job.copy_to.is_some()));
        job.advice = match self.fadvise_hint {
            Hint::Fixed(advice) => advice,
            Hint::AsItWorks if job.rw.random => Some(Advice::Random),
            Hint::AsItWorks => Some(Advice::Sequential),
        };
        if job.null {
            return Ok(self.job);
        }
        job.verify = self.verifying.finish(job)?;
        // As fio has it: a random map is for the uniform distribution and blocks that are aligned to their size.
        job.norandommap &= !job.lfsr || job.distribution != Distribution::Uniform;
        job.norandommap |= job.distribution != Distribution::Uniform;
        job.norandommap |= job.align != job.sizes.each(Sizes::least);
        if job.wait_for.as_ref() == Some(&job.name) {
            return Err(("wait_for", format!("{} waits for itself", job.name).into()));
        }
        job.steady_state =
            SteadyState::new(&self.steady_state, self.steady_duration, self.steady_ramp, self.kb_base)
                .map_err(|what| ("steadystate", what))?;
        job.flow = (self.flow > 0).then_some((self.flow_id, self.flow));
        Ok(self.job)
    }

    pub(super) fn engine(&mut self) {
        let job = &mut self.job;
        let name = &self.engine_name;
        job.one_at_a_time = self.engine.waits();
        job.flush_blocks = self.engine == Engine::Queued { flushes: false };
        job.null = self.engine == Engine::Null;
        if job.one_at_a_time && job.iodepth > 1 {
            job.notes.push(format!(
                "iodepth={} is 1: {name} makes one request at a time; ioengine=io_uring keeps more under way",
                job.iodepth
            ));
        }
        if self.engine == Engine::Mapped && job.direct {
            job.direct = false;
            job.notes.push(format!("direct is ignored: {name} goes through the page cache"));
        }
        if job.one_at_a_time || job.null {
            job.iodepth = 1;
        }
    }

    fn requests(&mut self) -> Result<(), (&'static str, Wrong)> {
        let (job, kb_base) = (&mut self.job, self.kb_base);
        if let Some(text) = &self.rw {
            let identical = job.rw.identical;
            job.rw = Pattern { identical, ..pattern(text, kb_base).map_err(|what| ("rw", what))? };
        }
        if let Some(text) = &self.distribution {
            let read = distribution(text, kb_base);
            job.distribution = read.map_err(|what| ("random_distribution", what))?;
        }
        if let Some(text) = &self.bs {
            let bs = by_kind(text, job.bs, |text| block(text, kb_base)).map_err(|what| ("bs", what))?;
            job.sizes = bs.each(|&size| Sizes::One(size));
        }
        if let Some(text) = &self.bsrange {
            job.sizes = block_range(text, kb_base).map_err(|what| ("bsrange", what))?;
        }
        if let Some(text) = &self.bssplit {
            let (sizes, note) =
                block_split(text, job.sizes.clone(), kb_base).map_err(|what| ("bssplit", what))?;
            job.sizes = sizes;
            job.notes.extend(note);
        }
        job.bs = job.sizes.each(Sizes::most);
        // A trim moves no data.
        let largest = if job.rw.mix == Mix::Trim { 0 } else { job.largest() };
        if largest > 1 << 30 {
            let option = match (&self.bssplit, &self.bsrange) {
                (Some(_), _) => "bssplit",
                (None, Some(_)) => "bsrange",
                (None, None) => "bs",
            };
            return Err((option, Wrong::hinted(format!("{largest} bytes"), "at most 1g, but for trims")));
        }
        job.align = job.sizes.each(Sizes::least);
        if let Some(text) = self.ba.as_ref().filter(|_| job.rw.random) {
            job.align = by_kind(text, job.align, |text| block(text, kb_base)).map_err(|what| ("ba", what))?;
        }
        if let Some(text) = &self.rate {
            let one = |text: &str| size(text, 0, kb_base).map(|rate| (rate > 0).then_some(rate));
            job.rate = by_kind(text, job.rate, one).map_err(|what| ("rate", what))?;
        }
        if job.rate != ByKind::default() && job.rate_iops != ByKind::default() {
            return Err(("rate_iops", Wrong::hinted("there is a rate, too", "fio takes one of them")));
        }
        if let Some(text) = &self.rate_min {
            let one = |text: &str| size(text, 0, kb_base).map(|rate| (rate > 0).then_some(rate));
            let least = by_kind(text, job.rate_min.bytes, one).map_err(|what| ("rate_min", what))?;
            job.rate_min.bytes = least;
        }
        let least = &job.rate_min;
        if least.bytes != ByKind::default() && least.requests != ByKind::default() {
            let wrong = Wrong::hinted("there is a rate_min, too", "fio takes one of them");
            return Err(("rate_iops_min", wrong));
        }
        for (option, least, most) in
            [("rate_min", &least.bytes, &job.rate), ("rate_iops_min", &least.requests, &job.rate_iops)]
        {
            for (least, most) in least.array().into_iter().zip(most.array()) {
                if let (Some(least), Some(most)) = (least, most.filter(|&most| Some(most) < least)) {
                    let wrong = format!("{least} a second at least, and {most} at most");
                    return Err((option, Wrong::hinted(wrong, "at most the rate")));
                }
            }
        }
        Ok(())
    }

    fn strided(&mut self) -> Result<(), (&'static str, Wrong)> {
        let read = |option: &'static str, text: &Option<String>| match text {
            Some(text) => size(text, 0, self.kb_base).map_err(|what| (option, what)),
            None => Ok(0),
        };
        let (bytes, range, skip) = (
            read("zonesize", &self.zone_size)?,
            read("zonerange", &self.zone_range)?,
            read("zoneskip", &self.zone_skip)?,
        );
        let job = &mut self.job;
        match (self.strided, bytes) {
            (false, 0) => return Ok(()),
            (false, _) => {
                return Err(("zonesize", Wrong::hinted("there are no zones", "zonemode=strided makes them")));
            }
            (true, 0) => {
                return Err(("zonemode", Wrong::hinted("strided, and no zonesize", "zonesize=64m")));
            }
            _ => {}
        }
        if !matches!(job.distribution, Distribution::Uniform | Distribution::Zoned(_)) {
            let wrong = "fio draws over the whole size from the beginning of each zone on";
            return Err(("random_distribution", Wrong::hinted(wrong, "leave out the zonemode")));
        }
        if job.copy_to.is_some() || job.files.is_some() {
            let option = if job.files.is_some() { "files" } else { "copy_to" };
            return Err((option, Wrong::hinted("there are zones, too", "leave out the zonemode")));
        }
        let range = if range == 0 { bytes } else { range };
        job.strided = Some(Strided { bytes, range, skip });
        Ok(())
    }

    fn region(&mut self) -> Result<(), (&'static str, Wrong)> {
        let (job, kb_base) = (&mut self.job, self.kb_base);
        let capacity = job.capacity;
        let read = |option: &'static str, text: &Option<String>, whole: u64| match text {
            Some(text) => size(text, whole, kb_base).map(Some).map_err(|what| (option, what)),
            None => Ok(None),
        };
        let percent = |text: &Option<String>| text.as_deref().and_then(percentage);
        let least = job.sizes.each(Sizes::least).least() as u64;
        job.offset = read("offset", &self.offset, capacity)?.unwrap_or(0);
        job.offset_increment = read("offset_increment", &self.offset_increment, capacity)?.unwrap_or(0);
        if percent(&self.offset).is_some() || percent(&self.offset_increment).is_some() {
            let align = read("offset_align", &self.offset_align, 0)?.filter(|&align| align > 0);
            job.offset_align = align.unwrap_or(least);
        }
        job.asked.size = match percent(&self.size) {
            Some(percent) => Some((percent, true)),
            None => read("size", &self.size, capacity)?.map(|bytes| (bytes, false)),
        };
        job.asked.filesize = match &self.filesize {
            Some(text) => {
                let (low, high) = text.split_once(['-', ':']).unwrap_or((text, text));
                let one =
                    |text: &str| size(text.trim(), capacity, kb_base).map_err(|what| ("filesize", what));
                let (low, high) = (one(low)?, one(high)?);
                Some((low.min(high), low.max(high)))
            }
            None => None,
        };
        match percent(&self.io_size) {
            Some(percent) => job.asked.io_percent = Some(percent),
            None => job.io_size = read("io_size", &self.io_size, capacity)?.filter(|&bytes| bytes > 0),
        }
        let last = job.extent(job.numjobs as u64 - 1);
        let wanted = job.offset.saturating_add(job.offset_increment.saturating_mul(job.numjobs as u64 - 1));
        if wanted.saturating_add(last.region) > capacity {
            let option = if self.size.is_some() { "size" } else { "offset" };
            return Err((
                option,
                format!("{} bytes from offset {wanted} end past the {capacity} of the target", last.region)
                    .into(),
            ));
        }
        for clone in [0, job.numjobs as u64 - 1] {
            let extent = job.extent(clone);
            if extent.pass < least || extent.region < least {
                return Err((
                    "size",
                    format!("{} bytes is less than one block", extent.pass.min(extent.region)).into(),
                ));
            }
        }
        if let Some(files) = read("files", &self.files, capacity)?.filter(|_| job.rw.random) {
            let bs = job.bs.largest() as u64;
            if !job.sizes.is_one() || files < bs || files % bs != 0 {
                return Err((
                    "files",
                    Wrong::hinted(format!("{files} bytes"), format!("whole blocks of {bs}, all of one size")),
                ));
            }
            job.files = Some(files);
        }
        let first = job.extent(0);
        job.size = first.region;
        job.copy_to = read("copy_to", &self.copy_to, capacity)?;
        if let Some(to) = job.copy_to {
            let end = to.saturating_add(last.start - first.start).saturating_add(job.size);
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
        Ok(())
    }
}
