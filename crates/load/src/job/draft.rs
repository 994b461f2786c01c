//! A section being read, and what comes of it once everything is known.

use std::cell::Cell;

use pslc_ssd::Nanos;

use super::engines::Engine;
use super::sizes::Strided;
use super::until::SteadyState;
use super::values::{block, block_range, block_split, by_kind, distribution, pattern, percentage, size};
use super::{Advice, ByKind, Data, Distribution, Job, Mix, Pattern, Sizes};
use crate::option_fault::OptionFault;
use crate::verify::{self, Sum, Verify, VerifyBacklog};

/// Bytes of a page of memory, the least that a file system writes.
const PAGE: u32 = 4096;

/// The option at fault, and what is wrong with it.
type Fault = (&'static str, OptionFault);

/// A section being read. Sizes stay text until the target's capacity and `kb_base` are known.
#[derive(Clone, Debug, Default)]
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
    fn finish(self, job: &Job) -> Result<Option<Verify>, Fault> {
        // As in fio, a pattern without a checksum stands behind headers.
        let default = self.pattern.as_ref().map(|_| Sum::PatternBehindHeader);
        let Some(sum) = self.sum.or(default) else { return Ok(None) };
        if matches!(sum, Sum::Pattern | Sum::PatternBehindHeader) && self.pattern.is_none() {
            return Err(("verify", OptionFault::NoVerifyPattern));
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
    let (min, max) = (job.sizes.write.smallest(), job.sizes.write.largest());
    let mut interval = if asked == 0 && min != max { min } else { asked };
    if interval > min {
        interval = min;
    } else if job.reads() {
        interval = interval.min(job.sizes.read.smallest());
    }
    if interval > 0 && min % interval == 0 && max % interval == 0 {
        interval
    } else {
        gcd(min, max)
    }
}

/// Bytes a second; 0 is none.
fn some_rate(text: &str, kb_base: u64) -> Result<Option<u64>, OptionFault> {
    size(text, 0, kb_base).map(|rate| (rate > 0).then_some(rate))
}

/// The value of an option that the section may have.
fn value<T>(
    option: &'static str,
    text: &Option<String>,
    parse: impl FnOnce(&str) -> Result<T, OptionFault>,
) -> Result<Option<T>, Fault> {
    text.as_deref().map(parse).transpose().map_err(|wrong| (option, wrong))
}

fn gcd(a: u32, b: u32) -> u32 {
    if b == 0 {
        a
    } else {
        gcd(b, a % b)
    }
}

/// Requests are of whole blocks, and a block has room for its header.
fn fits(verify: &Verify, job: &Job) -> Result<(), Fault> {
    let verified = if job.rw.mix == Mix::Read { &job.sizes.read } else { &job.sizes.write };
    let sizes: Vec<u32> = match verified {
        Sizes::One(size) => vec![*size],
        Sizes::Range(min, max) => vec![*min, *max],
        Sizes::Split(split) => split.iter().map(|&(size, _)| size).collect(),
    };
    // fio draws the sizes of such a job as it drew those of the writes; its draws are not ours.
    let earlier = verify.only || job.rw.mix == Mix::Read;
    let grain = sizes.iter().copied().fold(0, gcd);
    let is_anywhere = verify.compared().is_none_or(|pattern| pattern.is_anywhere(grain));
    if earlier && sizes.len() > 1 && !is_anywhere {
        return Err(("verify_pattern", OptionFault::PatternOfSizes { grain }));
    }
    let (head, offset) = (verify.head_bytes(), verify.offset as usize);
    for size in sizes {
        let block = verify.block_bytes(size as usize);
        if size as usize % block != 0 {
            return Err(("verify_interval", OptionFault::NotWholeBlocks { size, block }));
        }
        if block <= head + offset {
            let option = if offset > 0 { "verify_offset" } else { "verify_interval" };
            return Err((option, OptionFault::NoRoomForHeader { block, head }));
        }
    }
    if offset > 0 && offset < head {
        return Err(("verify_offset", OptionFault::HeaderOnItself { head, offset }));
    }
    if offset > 0 && verify.compared().is_some() {
        return Err(("verify_offset", OptionFault::OldHeaders));
    }
    Ok(())
}

/// What the page cache is to be told.
#[derive(Clone, Copy, Debug, Default)]
pub enum Hint {
    #[default]
    AsItWorks,
    Fixed(Option<Advice>),
}

impl Draft {
    /// fio's defaults.
    pub fn new(capacity: u64) -> Draft {
        Draft {
            job: Job { capacity, ..Job::default() },
            kb_base: 1024,
            steady_state: "iops_slope:0.01%".into(),
            verifying: Verifying { do_verify: true, ..Verifying::default() },
            engine_name: "psync".into(),
            ..Draft::default()
        }
    }

    /// Work out the sizes; an error names the option at fault.
    pub fn finish(mut self) -> Result<Job, Fault> {
        self.engine();
        self.requests()?;
        self.rates()?;
        self.region()?;
        self.pieces()?;
        self.strided()?;
        let job = &mut self.job;
        if job.time_based && job.runtime.is_none() {
            job.time_based = false;
            job.notes.push("time_based is ignored: there is no runtime".into());
        }
        if self.fdatasync > 0 {
            if job.fsync > 0 {
                return Err(("fdatasync", OptionFault::FsyncToo));
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
        job.norandommap |= job.align != job.sizes.each(Sizes::smallest);
        if job.wait_for.as_ref() == Some(&job.name) {
            return Err(("wait_for", OptionFault::WaitsForItself { job: job.name.clone() }));
        }
        job.steady_state = SteadyState::new(&self.steady_state, self.steady_duration, self.steady_ramp, self.kb_base)
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

    fn requests(&mut self) -> Result<(), Fault> {
        let (job, kb_base) = (&mut self.job, self.kb_base);
        if let Some(rw) = value("rw", &self.rw, |text| pattern(text, kb_base))? {
            job.rw = Pattern { identical: job.rw.identical, ..rw };
        }
        if let Some(read) = value("random_distribution", &self.distribution, |text| distribution(text, kb_base))? {
            job.distribution = read;
        }
        let odd = Cell::new(None);
        let whole_pages = |text: &str| match block(text, kb_base) {
            Err(OptionFault::Block { bytes }) if !job.direct && (512..1 << 30).contains(&bytes) => {
                odd.set(Some(bytes));
                Ok((bytes as u32).next_multiple_of(PAGE))
            }
            size => size,
        };
        if let Some(bs) = value("bs", &self.bs, |text| by_kind(text, job.bs, whole_pages))? {
            job.sizes = bs.each(|&size| Sizes::One(size));
        }
        let note = |bytes| format!("bs={bytes} is written as whole blocks of 4 KiB, as a file system does");
        job.notes.extend(odd.take().map(note));
        if let Some(sizes) = value("bsrange", &self.bsrange, |text| block_range(text, kb_base))? {
            job.sizes = sizes;
        }
        let split = value("bssplit", &self.bssplit, |text| block_split(text, job.sizes.clone(), kb_base))?;
        if let Some((sizes, note)) = split {
            job.sizes = sizes;
            job.notes.extend(note);
        }
        job.bs = job.sizes.each(Sizes::largest);
        // A trim moves no data.
        let largest = if job.rw.mix == Mix::Trim { 0 } else { job.largest() };
        if largest > 1 << 30 {
            let option = match (&self.bssplit, &self.bsrange) {
                (Some(_), _) => "bssplit",
                (None, Some(_)) => "bsrange",
                (None, None) => "bs",
            };
            return Err((option, OptionFault::LongRequest { bytes: largest }));
        }
        job.align = job.sizes.each(Sizes::smallest);
        if job.rw.random {
            let read = value("ba", &self.ba, |text| by_kind(text, job.align, |text| block(text, kb_base)))?;
            job.align = read.unwrap_or(job.align);
        }
        Ok(())
    }

    fn rates(&mut self) -> Result<(), Fault> {
        let (job, kb_base) = (&mut self.job, self.kb_base);
        let read = |option: &'static str, text: &Option<String>, before: ByKind<Option<u64>>| {
            let rates = value(option, text, |text| by_kind(text, before, |text| some_rate(text, kb_base)))?;
            Ok(rates.unwrap_or(before))
        };
        job.rate = read("rate", &self.rate, job.rate)?;
        if job.rate != ByKind::default() && job.rate_iops != ByKind::default() {
            return Err(("rate_iops", OptionFault::RateToo { other: "rate" }));
        }
        let min = &mut job.rate_min;
        min.bytes = read("rate_min", &self.rate_min, min.bytes)?;
        if min.bytes != ByKind::default() && min.requests != ByKind::default() {
            return Err(("rate_iops_min", OptionFault::RateToo { other: "rate_min" }));
        }
        for (option, min, max) in
            [("rate_min", &min.bytes, &job.rate), ("rate_iops_min", &min.requests, &job.rate_iops)]
        {
            for (min, max) in min.array().into_iter().zip(max.array()) {
                if let (Some(min), Some(max)) = (min, max.filter(|&max| Some(max) < min)) {
                    return Err((option, OptionFault::RateBelowMin { min, max }));
                }
            }
        }
        Ok(())
    }

    fn strided(&mut self) -> Result<(), Fault> {
        let read = |option, text| value(option, text, |text| size(text, 0, self.kb_base));
        let bytes = read("zonesize", &self.zone_size)?.unwrap_or(0);
        let range = read("zonerange", &self.zone_range)?.filter(|&range| range > 0).unwrap_or(bytes);
        let skip = read("zoneskip", &self.zone_skip)?.unwrap_or(0);
        let job = &mut self.job;
        match (self.strided, bytes) {
            (false, 0) => return Ok(()),
            (false, _) => return Err(("zonesize", OptionFault::NoZones)),
            (true, 0) => return Err(("zonemode", OptionFault::NoZoneSize)),
            _ => {}
        }
        if !matches!(job.distribution, Distribution::Uniform | Distribution::Zoned(_)) {
            return Err(("random_distribution", OptionFault::DistributionOfZones));
        }
        if job.copy_to.is_some() || job.files.is_some() {
            let option = if job.files.is_some() { "files" } else { "copy_to" };
            return Err((option, OptionFault::ZonesToo));
        }
        job.strided = Some(Strided { bytes, range, skip });
        Ok(())
    }

    fn region(&mut self) -> Result<(), Fault> {
        let (job, kb_base) = (&mut self.job, self.kb_base);
        let capacity = job.capacity;
        let read = |option, text, whole| value(option, text, |text| size(text, whole, kb_base));
        let percent = |text: &Option<String>| Some(text.as_deref().and_then(percentage)?.min(100));
        let smallest = job.sizes.each(Sizes::smallest).smallest() as u64;
        job.offset = read("offset", &self.offset, capacity)?.unwrap_or(0);
        job.offset_increment = read("offset_increment", &self.offset_increment, capacity)?.unwrap_or(0);
        if percent(&self.offset).is_some() || percent(&self.offset_increment).is_some() {
            let align = read("offset_align", &self.offset_align, 0)?.filter(|&align| align > 0);
            job.offset_align = align.unwrap_or(smallest);
        }
        job.asked.size = match percent(&self.size) {
            Some(percent) => Some((percent, true)),
            None => read("size", &self.size, capacity)?.map(|bytes| (bytes, false)),
        };
        job.asked.filesize = value("filesize", &self.filesize, |text| {
            let (low, high) = text.split_once(['-', ':']).unwrap_or((text, text));
            let (low, high) = (size(low.trim(), capacity, kb_base)?, size(high.trim(), capacity, kb_base)?);
            Ok((low.min(high), low.max(high)))
        })?;
        match self.io_size.as_deref().and_then(percentage) {
            // fio runs no job with more.
            Some(percent) if percent > 100 => {
                return Err(("io_size", OptionFault::MoreThanAll { text: format!("{percent}%") }));
            }
            Some(percent) => job.asked.io_percent = Some(percent),
            None => job.io_size = read("io_size", &self.io_size, capacity)?.filter(|&bytes| bytes > 0),
        }
        let last = job.extent(job.numjobs as u64 - 1);
        let wanted = job.offset.saturating_add(job.offset_increment.saturating_mul(job.numjobs as u64 - 1));
        if wanted.saturating_add(last.region) > capacity {
            let option = if self.size.is_some() { "size" } else { "offset" };
            return Err((option, OptionFault::PastEnd { bytes: last.region, offset: wanted, capacity }));
        }
        for clone in [0, job.numjobs as u64 - 1] {
            let extent = job.extent(clone);
            if extent.pass < smallest || extent.region < smallest {
                let bytes = extent.pass.min(extent.region);
                return Err(("size", OptionFault::BelowOneBlock { bytes }));
            }
        }
        job.size = job.extent(0).region;
        Ok(())
    }

    /// The options of pslc's own: pieces of the region, and where what was read is written.
    fn pieces(&mut self) -> Result<(), Fault> {
        let (job, kb_base) = (&mut self.job, self.kb_base);
        let capacity = job.capacity;
        let read = |option, text| value(option, text, |text| size(text, capacity, kb_base));
        if let Some(files) = read("files", &self.files)?.filter(|_| job.rw.random) {
            let bs = job.bs.largest() as u64;
            if !job.sizes.is_one() || files < bs || files % bs != 0 {
                return Err(("files", OptionFault::Pieces { bytes: files, block: bs }));
            }
            job.files = Some(files);
        }
        job.copy_to = read("copy_to", &self.copy_to)?;
        if let Some(to) = job.copy_to {
            let clones = job.extent(job.numjobs as u64 - 1).start - job.extent(0).start;
            let end = to.saturating_add(clones).saturating_add(job.size);
            if end > capacity {
                return Err(("copy_to", OptionFault::CopyPastEnd { end, capacity }));
            }
            if job.rw.mix != Mix::Read {
                return Err(("copy_to", OptionFault::CopyOfNoRead));
            }
        }
        Ok(())
    }
}
