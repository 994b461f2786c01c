//! A file or a device as a target: the clock is the wall's, requests are the system's.

use std::collections::VecDeque;
use std::fs::File;
#[cfg(target_os = "linux")]
use std::os::fd::AsRawFd;
use std::time::{Duration, Instant};

use pslc_load::job::{self, Data, Ground, Job, Mix, Sizes, SyncMode};
use pslc_load::verify::{Stamp, Verify};
use pslc_load::{run, Completion, Next, Observer, Progress, Purpose, Target, TargetError, Usage, Verdict};
use pslc_ssd::{Nanos, Op, Request};

use crate::error::UnfitJob;
use crate::io::arena::Arena;
use crate::io::clock::Watchdog;
use crate::io::data::Maker;
use crate::io::engine::{name, perform, Done, Engine, Kind, Task, PATIENCE};
use crate::io::judge::Judge;
#[cfg(target_os = "linux")]
use crate::io::page_cache;
use crate::io::stat::DeviceStat;
#[cfg(target_os = "linux")]
use crate::io::Mark;
use crate::io::Written;
use crate::sys::{self, Raw};

/// How TRIM is said to what is underneath.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trim {
    PunchHole,
    #[cfg(target_os = "linux")]
    Discard,
}

pub struct RealTarget {
    /// Past the page cache and through it; the first is absent where the file system refuses it.
    direct: Option<File>,
    buffered: File,
    /// Those of the workers that go through the page cache.
    opened: Vec<File>,
    #[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "files only"))]
    trim: Trim,
    capacity: u64,
    block: u32,
    written: Written,
    wanted: Option<Kind>,
    kind: Option<Kind>,
    clock: Watchdog<Instant>,
    maker: Maker,
    /// How each worker verifies, and what of it may be judged; of a run in which nobody does, nothing.
    verifying: Vec<Option<Verify>>,
    /// What each worker writes.
    data: Vec<Data>,
    judge: Option<Judge>,
    /// What is wrong with what was read, by slot, until it is asked for.
    failures: Vec<(u32, TargetError)>,
    slots: Vec<Slot>,
    // The engine goes before the memory that it uses.
    engine: Option<Engine>,
    arena: Option<Arena>,
    /// One worker runs.
    alone: bool,
    /// Slots whose requests wait for the engine's next call of the system.
    gathered: Vec<u32>,
    /// The file has to be written once before it is measured on.
    is_to_be_laid_out: bool,
    /// Bytes that were.
    laid_out: u64,
    /// Why that failed, until a run begins.
    not_laid_out: Option<TargetError>,
    /// Requests that were done at once.
    ready: VecDeque<Done>,
    under_way: u32,
    moved: [u64; 3],
    /// The device underneath, where it is known.
    stat: Option<DeviceStat>,
    /// What the system counts, and until when that is fresh enough.
    counted: [u64; COLUMNS.len() - OWN],
    fresh_until: Nanos,
    /// Dropped last: it tells when the file was written for the last time.
    #[cfg(target_os = "linux")]
    mark: Option<Mark>,
}

#[derive(Clone, Copy, Debug)]
struct Slot {
    request: Request,
    /// Of reads and writes.
    fd: Raw,
    sync: Option<SyncMode>,
    data_only: bool,
    primed: bool,
    worker: u32,
    purpose: Purpose,
    verdict: Verdict,
    /// Its engine makes a request and waits for it, in one call.
    one_at_a_time: bool,
    /// When the system had the request.
    submitted: Nanos,
}

/// So many files may be opened for workers: a process has a limit, and needs some for itself.
#[cfg(target_os = "linux")]
const MOST_OPENED: usize = 256;

/// Bytes of a request by which a file is laid out.
const LAYOUT_BYTES: u64 = 1 << 20;

/// What is counted here, and then what the device counts.
const COLUMNS: [&str; 6] = [
    "host_read_bytes_total",
    "host_write_bytes_total",
    "host_trim_bytes_total",
    "cpu_ns_total",
    "device_read_bytes_total",
    "device_write_bytes_total",
];
/// Columns that are counted here.
const OWN: usize = 3;
/// The other ones are of the system, which takes microseconds to tell them. A bin may be a single request, so they are
/// asked for no more often than this.
const FRESH: Nanos = Nanos::from_millis(1);

impl RealTarget {
    pub(crate) fn new(
        direct: Option<File>,
        buffered: File,
        trim: Trim,
        capacity: u64,
        block: u32,
        written: Written,
    ) -> RealTarget {
        RealTarget {
            direct,
            buffered,
            opened: Vec::new(),
            trim,
            capacity,
            block,
            written,
            wanted: None,
            kind: None,
            clock: Watchdog::new(Instant::now),
            maker: Maker::new(0),
            verifying: Vec::new(),
            data: Vec::new(),
            judge: None,
            failures: Vec::new(),
            slots: Vec::new(),
            engine: None,
            arena: None,
            alone: false,
            gathered: Vec::new(),
            is_to_be_laid_out: false,
            laid_out: 0,
            not_laid_out: None,
            ready: VecDeque::new(),
            under_way: 0,
            moved: [0; 3],
            stat: None,
            counted: [0; COLUMNS.len() - OWN],
            fresh_until: Nanos::ZERO,
            #[cfg(target_os = "linux")]
            mark: None,
        }
    }

    /// The file is pslc's own from now on.
    #[cfg(target_os = "linux")]
    pub(crate) fn marked(mut self, mark: Mark) -> RealTarget {
        self.mark = Some(mark);
        self
    }

    /// A new file in which the system would write zeros in front of a write: it is written once before the first run.
    #[cfg_attr(not(any(windows, test)), expect(dead_code, reason = "no other system does so"))]
    pub(crate) fn with_layout(mut self) -> RealTarget {
        self.is_to_be_laid_out = true;
        self
    }

    /// Bytes that were written before the first run, because the system would have written zeros there.
    pub fn laid_out_bytes(&self) -> u64 {
        self.laid_out
    }

    /// Use this engine and no other.
    pub fn with_engine(mut self, kind: Kind) -> RealTarget {
        self.wanted = Some(kind);
        self
    }

    /// Record what the device underneath moves for everyone, too.
    pub fn watch(&mut self, stat: DeviceStat) {
        self.stat = Some(stat);
    }

    /// The engine of the last run.
    pub fn engine(&self) -> Option<Kind> {
        self.kind
    }

    /// The data of the next run follow from `seed`.
    pub fn seed(&mut self, seed: u64) {
        self.maker = Maker::new(seed);
    }

    /// Whether it is known what holds data.
    pub fn knows_what_is_written(&self) -> bool {
        self.written.is_known()
    }

    /// Write all of the file, past the cache where that can be had, and tell the drive to forget it where the system can:
    /// then it is as after an allocation, but for what has become of the drive.
    fn lay_out(&mut self, observer: &mut dyn Observer) -> Option<TargetError> {
        let direct = self.direct.is_some() as u8;
        let whole = self.capacity / LAYOUT_BYTES * LAYOUT_BYTES;
        let moved = self.moved;
        for (bs, offset, size) in
            [(LAYOUT_BYTES, 0, whole), (self.capacity - whole, whole, self.capacity - whole)]
        {
            if size > 0 {
                let text = format!(
                    "[layout]\nrw=write\nbs={bs}\ndirect={direct}\nend_fsync=1\noffset={offset}\nsize={size}\n"
                );
                let jobs = job::parse("layout", &text, &[], Ground::Real, self.capacity, &|_| None);
                let recording = run(self, &jobs.expect("our own words"), 0, &mut Layout(observer));
                if recording.error.is_some() {
                    return recording.error;
                }
            }
        }
        // SAFETY: the file stays open.
        let file = unsafe { sys::borrowed(sys::raw(&self.buffered)) };
        // Where it cannot be told, the drive keeps what was written.
        let _ = sys::trim(file, 0, self.capacity);
        self.laid_out = self.capacity;
        (self.written, self.moved) = (Written::none(self.capacity), moved);
        None
    }

    /// What would fail at the first request.
    pub fn check(&self, jobs: &[Job]) -> Result<(), UnfitJob> {
        for job in jobs.iter().filter(|job| job.direct) {
            if self.direct.is_none() {
                return Err(UnfitJob::NoDirect { job: job.name.clone() });
            }
            let smallest = job.sizes.each(Sizes::smallest);
            let used = [
                (job.reads(), smallest.read),
                (job.writes(), smallest.write),
                (!job.reads() && !job.writes(), smallest.trim),
            ];
            let sizes = used.into_iter().filter(|(used, _)| *used).map(|(_, size)| ("bs", size as u64));
            let places = [("offset", job.offset), ("offset_increment", job.offset_increment)];
            for (option, bytes) in sizes.chain(places) {
                if bytes % self.block as u64 != 0 {
                    let job = job.name.clone();
                    return Err(UnfitJob::Unaligned { job, option, bytes, block: self.block });
                }
            }
        }
        Ok(())
    }

    /// What a worker reads and writes with: past the page cache the same as all others. Through it a file of its own, as
    /// under fio, for what is read ahead is decided for each opened file; that of another where no more can be opened.
    #[cfg(not(windows))]
    fn open_for(&mut self, job: &Job) -> std::io::Result<Raw> {
        if let Some(direct) = self.direct.as_ref().filter(|_| job.direct) {
            return Ok(sys::raw(direct));
        }
        #[cfg(target_os = "linux")]
        if self.opened.len() < MOST_OPENED {
            self.opened.extend(page_cache::open_for(&self.buffered, job));
        }
        Ok(sys::raw(self.opened.last().unwrap_or(&self.buffered)))
    }

    /// What a worker reads and writes with: a handle of its own, which the engine of this run hears of. One cannot be
    /// taken from an engine again.
    #[cfg(windows)]
    fn open_for(&mut self, job: &Job) -> std::io::Result<Raw> {
        let file = sys::reopen(&self.buffered, job.direct, job.sync.is_some())?;
        let raw = sys::raw(&file);
        self.engine.as_mut().expect("it is made before").attach(raw)?;
        self.opened.push(file);
        Ok(raw)
    }

    fn task(&mut self, at: u32) -> Task {
        let slot = self.slots[at as usize];
        let fd = match slot.request.op {
            Op::Read | Op::Write => slot.fd,
            Op::Trim | Op::Flush => sys::raw(&self.buffered),
        };
        let buffer = self.arena.as_mut().expect("a run has begun").buffer(at).as_mut_ptr();
        let sync = if slot.request.fua { slot.sync } else { None };
        Task { slot: at, request: slot.request, fd, buffer, sync, data_only: slot.data_only }
    }

    fn fill(&mut self, at: u32) {
        let slot = &mut self.slots[at as usize];
        let buffer = self.arena.as_mut().expect("a run has begun").buffer(at);
        let (offset, len) = (slot.request.offset, slot.request.len as usize);
        if let (Purpose::Write(number), Some(verify)) = (slot.purpose, &self.verifying[slot.worker as usize])
        {
            let worker = (slot.worker + 1) as u16;
            let seed = self.maker.seed_of(worker, number);
            let at = self.clock.now();
            let stamp = Stamp { offset, seed, at, worker, number: number as u16 };
            return verify.fill(&mut buffer[..len], &stamp);
        }
        let data = &self.data[slot.worker as usize];
        if !std::mem::replace(&mut slot.primed, true) {
            self.maker.prime(buffer, data);
        }
        self.maker.make(&mut buffer[..len], data);
    }

    /// The system has what was gathered.
    #[inline]
    fn handed_over(&mut self, now: Nanos) {
        for slot in self.gathered.drain(..) {
            self.slots[slot as usize].submitted = now;
        }
    }

    /// Whether what a slot has read is what was written.
    fn compare(&mut self, at: u32, number: Option<u64>) -> Verdict {
        let slot = self.slots[at as usize];
        let Some(verify) = &self.verifying[slot.worker as usize] else { return Verdict::Unseen };
        let Request { offset, len, .. } = slot.request;
        let buffer = self.arena.as_mut().expect("a run has begun").buffer(at);
        match verify.check(&mut buffer[..len as usize], offset, number.map(|number| number as u16)) {
            Ok(0) => Verdict::Unseen,
            Ok(blocks) => Verdict::Right { blocks },
            Err(failure) => {
                self.failures.push((at, TargetError::Corrupt { offset, len, failure }));
                Verdict::Wrong
            }
        }
    }

    /// Look at what came back.
    fn finish(&mut self, done: Done) -> Result<Completion, TargetError> {
        let at = self.now();
        let slot = self.slots[done.slot as usize];
        let Request { op, offset, len, .. } = slot.request;
        let op_name = name(op);
        let moved = done.result.map_err(|source| TargetError::Io { op: op_name, offset, len, source })?;
        if matches!(op, Op::Read | Op::Write) && moved != len {
            return Err(TargetError::Short { op: op_name, offset, len, moved });
        }
        if let Some(judge) = &mut self.judge {
            match (op, slot.purpose) {
                (Op::Write | Op::Trim, _) => judge.written(done.slot, offset),
                (Op::Read, Purpose::Check(number)) => {
                    let judged = judge.checked(done.slot, offset);
                    self.slots[done.slot as usize].verdict = match judged {
                        true => self.compare(done.slot, number),
                        false => Verdict::Unjudged,
                    };
                }
                _ => {}
            }
        }
        if op != Op::Flush {
            self.moved[op as usize] += len as u64;
        }
        Ok(Completion { slot: done.slot, at })
    }
}

impl Target for RealTarget {
    const LOOK_EVERY: u32 = 16;

    fn unwritten(&self, offset: u64, len: u64) -> Vec<(u64, u64)> {
        self.written.holes(offset, len)
    }

    fn before_run(&mut self, jobs: &[Job], observer: &mut dyn Observer) {
        if self.is_to_be_laid_out && !extends(jobs) {
            self.is_to_be_laid_out = false;
            self.not_laid_out = self.lay_out(observer);
        }
    }

    fn begin(&mut self, slots: &[&Job], largest: u32) -> Result<(), TargetError> {
        if let Some(error) = self.not_laid_out.take() {
            return Err(error);
        }
        let failed = |source| TargetError::Engine { what: "the buffers", source };
        let mut arena = Arena::new(slots.len(), largest as usize).map_err(failed)?;
        let failed = |source| TargetError::Engine { what: "the engine", source };
        let engine = Engine::new(self.wanted, slots.len() as u32, arena.whole()).map_err(failed)?;
        self.kind = Some(engine.kind());
        self.engine = Some(engine);
        self.arena = Some(arena);
        self.opened.clear();
        let mut fds = Vec::with_capacity(slots.len());
        // Workers stand in the order of their jobs, and have as many slots as their depth.
        let mut workers: Vec<(&Job, u64)> = Vec::new();
        while let Some(&job) = slots.get(fds.len()) {
            let failed = |source| TargetError::Engine { what: "the file", source };
            let fd = self.open_for(job).map_err(failed)?;
            let worker = workers.len() as u32;
            fds.extend(std::iter::repeat_n((fd, worker), job.iodepth as usize));
            let clone = workers
                .last()
                .filter(|(other, _)| std::ptr::eq(*other, job))
                .map_or(0, |(_, clone)| clone + 1);
            workers.push((job, clone));
        }
        self.verifying = workers.iter().map(|(job, _)| job.verify.clone()).collect();
        self.data = workers.iter().map(|(job, _)| job.data.clone()).collect();
        self.judge = Judge::of(&workers, self.capacity);
        let slot = |(job, (fd, worker)): (&&Job, (Raw, u32))| Slot {
            request: Request::flush(),
            fd,
            sync: job.sync,
            data_only: job.data_only,
            primed: false,
            worker,
            purpose: Purpose::Plain,
            verdict: Verdict::Unseen,
            one_at_a_time: job.one_at_a_time,
            submitted: Nanos::ZERO,
        };
        self.slots = slots.iter().zip(fds).map(slot).collect();
        Ok(())
    }

    fn end(&mut self) {
        self.gathered.clear();
        self.under_way -= self.ready.drain(..).count() as u32;
        while self.under_way > 0 {
            match self.engine.as_mut().map(|engine| engine.next(PATIENCE)) {
                Some(Ok(Some(_))) => self.under_way -= 1,
                Some(Ok(None)) => {}
                _ => break,
            }
        }
        self.engine = None;
        self.arena = None;
        self.opened.clear();
        self.fresh_until = Nanos::ZERO;
    }

    fn capacity_bytes(&self) -> u64 {
        self.capacity
    }

    fn block_bytes(&self) -> u32 {
        self.block
    }

    #[inline]
    fn now(&mut self) -> Nanos {
        self.clock.now()
    }

    fn submit(&mut self, at: u32, request: &Request) -> Result<(), TargetError> {
        self.slots[at as usize].request = *request;
        let (offset, len) = (request.offset, request.len as u64);
        match request.op {
            Op::Write => {
                self.fill(at);
                self.written.add(offset, len);
            }
            Op::Trim => self.written.remove(offset, len),
            Op::Read if !self.written.covers(offset, len) => {
                return Err(TargetError::Unwritten { offset, len: request.len });
            }
            _ => {}
        }
        self.under_way += 1;
        if let Some(judge) = &mut self.judge {
            let slot = &self.slots[at as usize];
            match (request.op, slot.purpose) {
                (Op::Write | Op::Trim, _) => {
                    judge.write(at, slot.worker, offset, len, request.op == Op::Trim);
                }
                (Op::Read, Purpose::Check(_)) => judge.check(at, slot.worker, offset, len),
                _ => {}
            }
        }
        #[cfg(target_os = "linux")]
        if request.op == Op::Trim && self.trim == Trim::Discard {
            self.slots[at as usize].submitted = self.now();
            let result = discard(&self.buffered, offset, len).map(|()| 0);
            self.ready.push_back(Done { slot: at, result });
            return Ok(());
        }
        let task = self.task(at);
        if self.alone && self.slots[at as usize].one_at_a_time {
            self.ready.push_back(Done { slot: at, result: perform(&task) });
            return Ok(());
        }
        let engine = self.engine.as_mut().expect("a run has begun");
        let handed_over = engine.submit(task).map_err(|source| TargetError::Io {
            op: name(request.op),
            offset,
            len: request.len,
            source,
        })?;
        self.gathered.push(at);
        if handed_over {
            let now = self.now();
            self.handed_over(now);
        }
        Ok(())
    }

    fn next(&mut self, until: Nanos) -> Result<Option<Completion>, TargetError> {
        self.clock.check()?;
        let done = match self.ready.pop_front() {
            Some(done) => Some(done),
            None => {
                let now = self.now();
                self.handed_over(now);
                let wait = Duration::from_nanos(until.saturating_sub(now).0).min(PATIENCE);
                let engine = self.engine.as_mut().expect("a run has begun");
                let done = if self.under_way == 0 {
                    std::thread::sleep(wait);
                    None
                } else {
                    let what = engine.kind().name();
                    engine.next(wait).map_err(|source| TargetError::Engine { what, source })?
                };
                if done.is_none() {
                    self.clock.waited(wait);
                }
                done
            }
        };
        let Some(done) = done else { return Ok(None) };
        self.under_way -= 1;
        self.finish(done).map(Some)
    }

    fn purpose(&mut self, slot: u32, purpose: Purpose) {
        self.slots[slot as usize].purpose = purpose;
    }

    fn verdict(&mut self, slot: u32) -> Verdict {
        self.slots[slot as usize].verdict
    }

    fn failure(&mut self, slot: u32) -> Option<TargetError> {
        let index = self.failures.iter().position(|&(at, _)| at == slot)?;
        Some(self.failures.swap_remove(index).1)
    }

    fn alone(&mut self, alone: bool) {
        self.alone = alone;
    }

    #[inline]
    fn submitted(&self, slot: u32) -> Option<Nanos> {
        Some(self.slots[slot as usize].submitted)
    }

    /// Of this thread with io_uring, whose own threads work for all; of the process where threads make the requests.
    fn usage(&mut self) -> Usage {
        sys::usage(self.kind == Some(Kind::Uring))
    }

    #[cfg(target_os = "linux")]
    fn invalidate(&mut self, offset: u64, len: u64) {
        match self.trim {
            Trim::Discard => page_cache::forget_device(&self.buffered),
            Trim::PunchHole => page_cache::forget(&self.buffered, offset, len),
        }
    }

    fn columns(&self) -> &'static [&'static str] {
        &COLUMNS[..if self.stat.is_some() { COLUMNS.len() } else { OWN + 1 }]
    }

    fn sample(&mut self, into: &mut [u64]) {
        let now = self.now();
        if now >= self.fresh_until {
            self.fresh_until = now + FRESH;
            let [read, write] = self.stat.as_mut().map_or([0; 2], DeviceStat::bytes);
            self.counted = [sys::cpu_time().0, read, write];
        }
        into[..OWN].copy_from_slice(&self.moved);
        let counted = into.len() - OWN;
        into[OWN..].copy_from_slice(&self.counted[..counted]);
    }
}

/// Shows that a file is written, and keeps nothing of it.
struct Layout<'a>(&'a mut dyn Observer);

impl Observer for Layout<'_> {
    fn look(&mut self, progress: &Progress) -> Next {
        match self.0.look(progress) {
            Next::Stop => Next::Stop,
            Next::Go | Next::Keep => Next::Go,
        }
    }
}

/// Whether all that happens is that one request after the other follows the one before it from the beginning of the file:
/// then nothing lies in front of a write, and none waits for another that does.
fn extends(jobs: &[Job]) -> bool {
    let [job] = jobs else { return false };
    let rw = &job.rw;
    let is_plain = rw.mix == Mix::Write && !rw.random && rw.hole == 0 && job.strided.is_none();
    is_plain && job.numjobs == 1 && job.iodepth == 1 && job.extent(0).start == 0
}

/// `BLKDISCARD` of a range of a block device.
#[cfg(target_os = "linux")]
fn discard(device: &File, offset: u64, len: u64) -> std::io::Result<()> {
    const BLKDISCARD: libc::c_ulong = 0x1277;
    let range = [offset, len];
    // SAFETY: the call reads two numbers from `range`, and the descriptor is open.
    match unsafe { libc::ioctl(device.as_raw_fd(), BLKDISCARD as _, range.as_ptr()) } {
        0 => Ok(()),
        _ => Err(std::io::Error::last_os_error()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::guard::open_scratch;

    const BYTES: u64 = 3 * LAYOUT_BYTES + 8192;

    fn target(name: &str) -> RealTarget {
        let path = std::env::temp_dir().join(format!("pslc-{name}-{}", std::process::id()));
        open_scratch(&path, BYTES).unwrap_or_else(|error| panic!("{error}")).with_layout()
    }

    fn jobs(text: &str) -> Vec<Job> {
        job::parse("t", text, &[], Ground::Real, BYTES, &|_| None).unwrap_or_else(|error| panic!("{error}"))
    }

    /// Blocks of a file in which there is any data.
    fn blocks_with_data(target: &RealTarget) -> u64 {
        // SAFETY: the file stays open.
        let file = unsafe { sys::borrowed(sys::raw(&target.buffered)) };
        let mut block = [0; 4096];
        (0..BYTES / 4096)
            .filter(|at| {
                sys::pread(file, &mut block, at * 4096).expect("it is there");
                block.iter().any(|&byte| byte != 0)
            })
            .count() as u64
    }

    #[test]
    fn a_file_is_laid_out_before_it_is_measured_on() {
        let mut target = target("laid-out");
        // Where a trim is made, it takes what was laid out away again; the last block is none of the job's.
        let text = "[w]\nrw=randwrite\nbs=4k\nsize=64k\nioengine=libaio\niodepth=4\n";
        let mut shown = 0;
        let recording = run(&mut target, &jobs(text), 1, &mut |progress: &Progress| {
            shown = shown.max(progress.total_bytes);
            true
        });
        assert!(recording.error.is_none(), "{:?}", recording.error);
        assert_eq!(target.laid_out_bytes(), BYTES);
        assert!(!target.is_to_be_laid_out && shown >= 3 * LAYOUT_BYTES, "{shown} bytes of layout were shown");
        // It is none of what was measured, nor may it be read.
        assert_eq!((recording.stats[0].kinds[1].count, target.moved[Op::Write as usize]), (16, 65536));
        assert_eq!(target.unwritten(0, BYTES), [(65536, BYTES - 65536)]);
        let with_data = blocks_with_data(&target);
        // SAFETY: the file stays open.
        let file = unsafe { sys::borrowed(sys::raw(&target.buffered)) };
        match sys::trim(file, BYTES - 4096, 4096) {
            // What a drive gives back of what it was told to forget is its own affair; Linux makes a hole of it.
            Ok(()) => assert!(with_data == 16 || (cfg!(windows) && with_data >= 16), "{with_data}"),
            Err(_) => assert_eq!(with_data, BYTES / 4096),
        }
    }

    #[test]
    fn one_sequential_writer_from_the_beginning_needs_no_layout() {
        let mut target = target("extends");
        let list = jobs("[w]\nrw=write\nbs=64k\nsize=1m\n");
        assert!(run(&mut target, &list, 1, &mut |_: &Progress| true).error.is_none());
        assert!(target.is_to_be_laid_out, "the next job may need it");
        for text in [
            "[w]\nrw=write\nbs=64k\noffset=64k\n",
            "[w]\nrw=write\nbs=64k\nioengine=libaio\niodepth=2\n",
            "[w]\nrw=write\nbs=64k\nnumjobs=2\n",
            "[w]\nrw=randwrite\nbs=64k\n",
            "[w]\nrw=rw\nbs=64k\n",
        ] {
            assert!(!extends(&jobs(text)), "{text}");
        }
    }

    #[test]
    fn a_stop_during_the_layout_ends_the_run() {
        let mut target = target("stopped");
        let text = "[w]\nrw=randwrite\nbs=4k\nthinktime=1h\n";
        let recording = run(&mut target, &jobs(text), 1, &mut |_: &Progress| false);
        assert!(recording.interrupted && recording.error.is_none());
        assert!(recording.stats[0].kinds[1].count <= 1);
    }
}
