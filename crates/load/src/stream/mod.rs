//! The requests of one job clone, in order, as fio makes them: in passes over the region, until there are as many bytes
//! or requests as the job asks for. They depend on the job and the seed alone, so they can be made ahead, and are the
//! same on every target; only where rates by direction are asked for, the runner chooses the direction.

mod map;
mod offsets;
mod permutation;
mod verify;
mod zipf;

use std::collections::VecDeque;

use pslc_ssd::{Nanos, Op, Request};
use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;

use crate::job::{ByKind, Job, Mix, Sizes};
use crate::splitmix::splitmix64;
use crate::target::Purpose;
use crate::verify::Verify;
use offsets::Offsets;
use verify::{Check, Verifier};

pub use verify::remembered;

#[derive(Clone, Debug)]
pub struct Stream {
    mix: Mix,
    mix_read: u32,
    sizes: ByKind<Sizes>,
    /// Sizes are not cut to multiples of the smallest.
    unaligned: bool,
    /// Random requests take the sizes of writes, those in sequence the sizes of reads.
    sizes_by_order: bool,
    /// Where a copy begins.
    copy_to: Option<u64>,
    sync: bool,
    /// Of the target; no request goes past it, though one that begins in the region may go past that.
    end: u64,
    offsets: Offsets,
    /// The generators as they were, for a pass that repeats the one before.
    repeat: Option<Box<(Offsets, Draws)>>,
    draws: Draws,

    time_based: bool,
    limits: Limits,
    passes_left: u32,
    in_pass: bool,
    over: bool,
    /// The region had no more to give.
    spent: bool,
    pass: Tally,
    total: Tally,
    /// Requests that `number_ios` does not count: those of a ramp.
    forgotten: u64,
    ramps: bool,
    /// What was read again; fio counts it where it asks whether there is to be another pass.
    verified: Tally,

    fsync: u32,
    last_was_sync: bool,
    /// As fio has it, a flush is the last request once it has come back, and until another has. With several under way it
    /// is left out, or made again, meanwhile.
    sync_when_back: bool,
    /// The pass is over, and what it gave may still be under way.
    awaited: bool,
    /// Direction of a mix, and until how many requests of it that stays.
    direction: Op,
    until: u64,
    /// Requests that follow from the last one: the write of a copy.
    due: VecDeque<Request>,
    verifier: Option<Verifier>,
    /// Of the request that was given last.
    purpose: Purpose,
    /// What is read is verified by what it says of itself.
    verifies_reads: bool,
}

/// A generator of its own for each purpose, so that one more draw here changes nothing there.
#[derive(Clone, Debug)]
struct Draws {
    kinds: Pcg64Mcg,
    sizes: Pcg64Mcg,
}

/// Bytes and requests, by kind: reads, writes, trims.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    bytes: [u64; 3],
    count: [u64; 3],
}

impl Tally {
    fn all_bytes(&self) -> u64 {
        self.bytes.iter().sum()
    }

    fn all_count(&self) -> u64 {
        self.count.iter().sum()
    }

    fn add(&mut self, op: Op, len: u64) {
        self.bytes[op as usize] += len;
        self.count[op as usize] += 1;
    }
}

/// When a pass and the stream are over.
#[derive(Clone, Copy, Debug)]
struct Limits {
    /// Bytes of a pass, with what is read in between; a job that makes one request at a time goes on until its region
    /// ends.
    pass: u64,
    /// Bytes of one loop, and of all.
    pass_bytes: u64,
    all: u64,
    requests: Option<u64>,
    /// `io_size` was given: passes are repeated for it.
    more: bool,
    largest: u64,
}

fn generator(seed: u64, job: u64, clone: u64, purpose: u64) -> Pcg64Mcg {
    let mut state = seed;
    for part in [job, clone, purpose] {
        state = splitmix64(state.wrapping_add(part));
    }
    Pcg64Mcg::seed_from_u64(state)
}

impl Limits {
    /// Of a job whose region is passed over in `one_pass` bytes.
    fn of(job: &Job, one_pass: u64) -> Limits {
        let loops = job.loops as u64;
        let pass_bytes = job.io_size.unwrap_or(one_pass);
        let all = pass_bytes.saturating_mul(loops);
        let may_exceed = job.rw.random && job.norandommap && job.writes();
        // As in fio, only time ends a pass of a job that is over by time, but where it is to verify.
        let endless = job.one_at_a_time || (job.time_based && job.verify.is_none());
        let only = job.verify.as_ref().is_some_and(|verify| verify.only);
        let pass = if endless && !only {
            u64::MAX
        } else if may_exceed {
            one_pass.max(job.io_size.unwrap_or(0))
        } else {
            one_pass
        };
        let backlog = |verify: &Verify| verify.reads_back && verify.backlog.is_some();
        let between = if job.verify.as_ref().is_some_and(backlog) { one_pass } else { 0 };
        let trimmed = if job.rw.mix == Mix::TrimWrite { all } else { 0 };
        Limits {
            pass: pass.saturating_add(trimmed).saturating_add(between),
            pass_bytes,
            all,
            requests: job.number_ios.map(|n| n.saturating_mul(loops).saturating_mul(1 + (trimmed > 0) as u64)),
            more: job.io_size.is_some(),
            largest: job.bs.largest() as u64,
        }
    }
}

impl Stream {
    /// The stream of clone `clone` of job number `number`.
    pub fn new(job: &Job, number: u64, clone: u64, seed: u64) -> Stream {
        let seed = job.randseed.unwrap_or(seed);
        let extent = job.extent(clone);
        let draws = Draws { kinds: generator(seed, number, clone, 1), sizes: generator(seed, number, clone, 2) };
        let offsets = Offsets::new(job, &extent, |purpose| generator(seed, number, clone, purpose));
        let only = job.verify.as_ref().is_some_and(|verify| verify.only);
        Stream {
            mix: job.rw.mix,
            mix_read: job.rwmixread,
            sizes: job.sizes.clone(),
            unaligned: job.bs_unaligned,
            sizes_by_order: job.bs_is_seq_rand,
            copy_to: job.copy_to.map(|to| to + clone * job.offset_increment),
            sync: job.sync.is_some(),
            end: job.capacity,
            repeat: (job.randrepeat && (job.loops > 1 || job.io_size.is_some()))
                .then(|| Box::new((offsets.clone(), draws.clone()))),
            offsets,
            draws,
            time_based: job.time_based,
            limits: Limits::of(job, extent.pass),
            passes_left: job.loops,
            in_pass: false,
            over: false,
            spent: false,
            pass: Tally::default(),
            total: Tally::default(),
            forgotten: 0,
            ramps: job.ramp_time > Nanos::ZERO && job.number_ios.is_some(),
            verified: Tally::default(),
            fsync: if job.writes() && !only { job.fsync } else { 0 },
            last_was_sync: false,
            sync_when_back: job.writes() && job.fsync > 0 && job.iodepth > 1,
            awaited: false,
            direction: Op::Read,
            until: 0,
            due: VecDeque::new(),
            verifier: None,
            purpose: Purpose::Plain,
            verifies_reads: job.verify.is_some() && job.rw.mix == Mix::Read,
        }
    }

    /// What each pass wrote is read again behind it, where the job verifies: the stream stops for that until `resume`.
    pub fn checked(self, job: &Job) -> Stream {
        Stream { verifier: Verifier::of(job), ..self }
    }

    /// What comes next depends on what has come back: nothing can be made ahead.
    pub fn depends(&self) -> bool {
        self.verifier.as_ref().is_some_and(Verifier::has_backlog) || self.sync_when_back || self.ramps
    }

    /// A ramp is over, and requests are counted from now on.
    pub fn forget_count(&mut self) {
        self.forgotten = self.all_count();
    }

    fn all_count(&self) -> u64 {
        self.total.all_count() + self.verified.all_count()
    }

    /// A request has come back; of a stream that depends on it.
    pub fn completed(&mut self, request: &Request) {
        if let Some(verifier) = &mut self.verifier {
            verifier.completed(request);
        }
        if self.sync_when_back {
            self.last_was_sync = request.op == Op::Flush;
        }
    }

    /// Nothing that the stream gave is under way any more. Whether it goes on, with what is verified or with the next
    /// pass.
    pub fn resume(&mut self) -> bool {
        match &mut self.verifier {
            Some(verifier) if !verifier.is_writing() => {
                self.offsets.begins_anew();
                verifier.read() || self.begin_pass()
            }
            None if std::mem::take(&mut self.awaited) => self.begin_pass(),
            _ => false,
        }
    }

    /// What is under way is read to verify what a pass wrote.
    pub fn is_verifying(&self) -> bool {
        self.verifier.as_ref().is_some_and(Verifier::is_reading)
    }

    /// Whether the request that was made last is the first of a further pass, of what is verified, or after the end of
    /// the region; then fio drops what the page cache holds.
    #[inline]
    pub fn began_anew(&mut self) -> bool {
        self.offsets.take_again()
    }

    /// Bytes that are to come, as far as they are known before; 0 where only time ends the stream.
    pub fn total_bytes(&self) -> u64 {
        if self.time_based {
            return 0;
        }
        let by_count = self.limits.requests.map_or(u64::MAX, |n| n.saturating_mul(self.limits.largest));
        let bytes = if self.mix == Mix::TrimWrite { self.limits.all.saturating_mul(2) } else { self.limits.all };
        let bytes = if self.copy_to.is_some() { bytes.saturating_mul(2) } else { bytes }.min(by_count);
        let again = match (&self.verifier, self.mix) {
            (None, _) => 0,
            (_, Mix::ReadWrite) => bytes / 100 * (100 - self.mix_read as u64),
            (_, Mix::TrimWrite) => bytes / 2,
            _ => bytes,
        };
        match &self.verifier {
            Some(verifier) if verifier.skips_writes() => again,
            _ => bytes.saturating_add(again),
        }
    }

    /// Bytes that end the stream: of writes only, where trims go before them.
    fn counted(&self) -> u64 {
        let [read, write, trim] = self.total.bytes;
        match self.mix {
            Mix::ReadWrite => read + write,
            Mix::Write | Mix::TrimWrite => write,
            Mix::Read => read,
            Mix::Trim => trim,
        }
    }

    fn has_all_requests(&self) -> bool {
        self.limits.requests.is_some_and(|max| self.all_count() - self.forgotten >= max)
    }

    #[inline]
    fn goes_on(&self) -> bool {
        self.pass.all_bytes() < self.limits.pass
            && (self.time_based || (self.counted() < self.limits.all && !self.has_all_requests()))
    }

    /// Whether there is another pass, and its beginning.
    #[cold]
    fn begin_pass(&mut self) -> bool {
        let first = self.total.all_count() == 0 && !self.spent;
        if self.over || (!first && self.pass.all_count() == 0) {
            return false;
        }
        if !self.time_based {
            let left = self.limits.pass_bytes.saturating_sub(self.total.all_bytes() + self.verified.all_bytes());
            if self.passes_left > 0 {
                self.passes_left -= 1;
            } else if self.has_all_requests()
                || left < self.limits.largest
                // To fio a file that was verified is not done.
                || (self.spent && !self.limits.more && self.verifier.is_none())
            {
                return false;
            }
        }
        if !first {
            match &self.repeat {
                Some(as_before) => {
                    let mut offsets = as_before.0.clone();
                    offsets.go_on_drawing(&self.offsets);
                    (self.offsets, self.draws) = (offsets, as_before.1.clone());
                }
                None => self.offsets.rewind(),
            }
            self.offsets.begins_anew();
        }
        (self.in_pass, self.spent, self.pass) = (true, false, Tally::default());
        (self.until, self.last_was_sync) = (0, false);
        if let Some(mut verifier) = self.verifier.take() {
            verifier.begin(self.clone());
            self.verifier = Some(verifier);
        }
        true
    }

    /// The direction of the next request of a mix. fio draws it, and after a change of mind stays with it for a while.
    fn direction(&mut self) -> Op {
        if self.total.count[self.direction as usize] >= self.until {
            let op = if below(&mut self.draws.kinds, 100) < self.mix_read as u64 { Op::Read } else { Op::Write };
            if op != self.direction {
                let other = if op == Op::Read { self.mix_read } else { 100 - self.mix_read };
                self.until = self.total.count[self.direction as usize] * other as u64 / 100;
            }
            self.direction = op;
        }
        self.direction
    }

    #[inline]
    fn next_op(&mut self, choose: impl FnOnce(Op) -> Op) -> Op {
        match self.mix {
            Mix::Read => Op::Read,
            Mix::Write => Op::Write,
            Mix::Trim => Op::Trim,
            Mix::TrimWrite if self.offsets.is_paired() => Op::Trim,
            Mix::TrimWrite => Op::Write,
            Mix::ReadWrite => {
                let op = self.direction();
                self.direction = choose(op);
                self.direction
            }
        }
    }

    /// The length of a request at `at` bytes from the beginning of the region; `None`: none fits.
    fn next_len(&mut self, op: Op, at: u64, random: bool) -> Option<u64> {
        let sizes = match (self.sizes_by_order, random) {
            (false, _) => self.sizes.of(op),
            (true, true) => &self.sizes.write,
            (true, false) => &self.sizes.read,
        };
        let (min, max) = (sizes.smallest() as u64, sizes.largest() as u64);
        if min == max {
            return Some(min);
        }
        // As in fio, trims and writes draw the same sizes, so that each block that was trimmed is written.
        let trimmed = self.offsets.trimmed(op, at).filter(|_| self.sizes.trim == self.sizes.write);
        if trimmed.is_some() {
            return trimmed;
        }
        let room = self.offsets.room(at);
        if min > room {
            return None;
        }
        loop {
            let r = self.draws.sizes.next_u64();
            let mut len = match sizes {
                Sizes::One(size) => *size as u64,
                Sizes::Range(low, high) => *low as u64 + ((r as u128 * *high as u128) >> 64) as u64,
                Sizes::Split(split) => {
                    let percent = ((r as u128 * 100) >> 64) as u32;
                    let mut sum = 0;
                    let mut chosen = min;
                    for &(size, share) in split.iter().filter(|(_, share)| *share > 0) {
                        sum += share;
                        chosen = size as u64;
                        if percent < sum && chosen <= room {
                            break;
                        }
                    }
                    chosen
                }
            };
            if !self.unaligned {
                len -= len % min;
            }
            len = len.min(max);
            if len <= room {
                return Some(len);
            }
        }
    }

    /// The next request of the pass; `None`: the region has no more to give.
    #[inline]
    fn request(&mut self, choose: impl FnOnce(Op) -> Op) -> Option<Request> {
        if self.fsync > 0 && !self.last_was_sync {
            let writes = self.total.count[Op::Write as usize];
            if writes > 0 && writes % self.fsync as u64 == 0 {
                self.last_was_sync = !self.sync_when_back;
                return Some(Request::flush());
            }
        }
        let op = self.next_op(choose);
        let drawn = self.offsets.next(op, self.time_based)?;
        let len = self.next_len(op, drawn.at, drawn.random)?;
        let offset = self.offsets.start() + drawn.at;
        if offset + len > self.end {
            return None;
        }
        let len = self.offsets.done(op, drawn, len);
        self.pass.add(op, len);
        self.total.add(op, len);
        self.last_was_sync &= self.sync_when_back;
        let fua = self.sync && op == Op::Write;
        let request = Request { op, offset, len: len as u32, fua };
        if let Some(to) = self.copy_to {
            self.due.push_back(Request { op: Op::Write, offset: to + drawn.at, fua: self.sync, ..request });
        }
        Some(request)
    }

    /// Append requests up to so many, where those that come are of one kind and size and nothing else is to be looked at
    /// before so many; otherwise `next` is to be asked for one.
    pub fn next_alike(&mut self, into: &mut VecDeque<Request>, max: usize) -> bool {
        let (op, sizes) = match self.mix {
            Mix::Read => (Op::Read, &self.sizes.read),
            Mix::Write => (Op::Write, &self.sizes.write),
            _ => return false,
        };
        let begun = self.in_pass && self.verifier.is_none() && !self.verifies_reads && self.fsync == 0;
        let &Sizes::One(len) = sizes else { return false };
        if !begun || self.copy_to.is_some() || self.sizes_by_order {
            return false;
        }
        let count = (max - into.len()) as u64;
        let bytes = count * len as u64;
        let requests = self.limits.requests.map_or(u64::MAX, |max| max.saturating_add(self.forgotten));
        let reaches_end = self.pass.all_bytes().saturating_add(bytes) > self.limits.pass
            || (!self.time_based && (self.counted() + bytes > self.limits.all || self.all_count() + count > requests));
        if reaches_end || !self.offsets.are_alike(op, count, len as u64, self.end) {
            return false;
        }
        let (start, fua) = (self.offsets.start(), self.sync && op == Op::Write);
        let places = self.offsets.next_alike(op, count, len as u64);
        into.extend(places.map(|at| Request { op, offset: start + at, len, fua }));
        for tally in [&mut self.pass, &mut self.total] {
            tally.bytes[op as usize] += bytes;
            tally.count[op as usize] += count;
        }
        true
    }

    /// The next request, or `None` at the end of a pass, until `resume`. A mix asks `choose` with the direction that is
    /// its turn.
    #[inline]
    pub fn next_by(&mut self, choose: impl FnOnce(Op) -> Op) -> Option<Request> {
        self.purpose = Purpose::Plain;
        if let Some(request) = self.due.pop_front() {
            return Some(request);
        }
        if let Some(verifier) = self.verifier.as_mut().filter(|verifier| !verifier.is_writing()) {
            let check = verifier.next()?;
            return Some(self.check(check));
        }
        if self.awaited {
            return None;
        }
        if !self.in_pass && !self.begin_pass() {
            self.over = true;
            return None;
        }
        if self.goes_on() {
            if let Some(check) = self.verifier.as_mut().and_then(Verifier::between) {
                self.pass.add(Op::Read, check.request.len as u64);
                return Some(self.check(check));
            }
            if self.verifier.as_ref().is_some_and(Verifier::skips_writes) {
                self.note_pass();
            } else if let Some(request) = self.request(choose) {
                self.note(&request);
                return Some(request);
            }
            self.spent = true;
        }
        self.in_pass = false;
        match &mut self.verifier {
            Some(verifier) => verifier.end(),
            None => self.awaited = true,
        }
        None
    }
}

impl Stream {
    /// A read of what was written.
    fn check(&mut self, check: Check) -> Request {
        self.verified.add(check.request.op, check.request.len as u64);
        self.purpose = Purpose::Check(check.number);
        check.request
    }

    /// A request is made.
    fn note(&mut self, request: &Request) {
        let number = self.last_write();
        if let Some(verifier) = &mut self.verifier {
            verifier.note(request, number);
        }
        self.purpose = match request.op {
            Op::Write => Purpose::Write(number),
            Op::Read if self.verifies_reads => Purpose::Check(None),
            _ => Purpose::Plain,
        };
    }

    /// What an earlier run wrote in this pass, without a write.
    fn note_pass(&mut self) {
        while self.goes_on() {
            let Some(request) = self.request(|op| op) else { break };
            self.note(&request);
        }
        self.purpose = Purpose::Plain;
    }

    /// Number of the last write, from 0.
    fn last_write(&self) -> u64 {
        self.total.count[Op::Write as usize].wrapping_sub(1)
    }

    /// What the request that was given last is to a job that verifies.
    pub fn purpose(&self) -> Purpose {
        self.purpose
    }
}

impl Iterator for Stream {
    type Item = Request;

    #[inline]
    fn next(&mut self) -> Option<Request> {
        self.next_by(|op| op)
    }
}

/// Uniform below `limit` (Lemire's multiplication; the bias is below limit / 2^64).
#[inline]
fn below(random: &mut Pcg64Mcg, limit: u64) -> u64 {
    ((random.next_u64() as u128 * limit as u128) >> 64) as u64
}

/// Uniform in [0, 1).
#[inline]
fn unit(random: &mut Pcg64Mcg) -> f64 {
    (random.next_u64() >> 11) as f64 / (1u64 << 53) as f64
}
