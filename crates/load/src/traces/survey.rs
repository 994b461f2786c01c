//! What is in a trace: volume, mix, sizes, sequence, working set, idle gaps and bursts, in one pass, which may be that of a
//! replay.

use std::collections::BTreeMap;

use pslc_ssd::{Nanos, Op};

use super::{Entry, Pages, Trace, TraceError};

/// What one device was asked for, by kind: reads, writes, trims, flushes.
#[derive(Clone, Debug, Default)]
pub struct Volume {
    pub device: String,
    pub count: [u64; 4],
    pub bytes: [u64; 4],
    /// Where its last request ends.
    pub end_bytes: u64,
    /// Of each kind how many began where one of the last 16 of that kind ended.
    pub sequential: [u64; 4],
    ends: [[u64; 16]; 4],
    next: [usize; 4],
}

/// What was written between two pauses of at least some length.
#[derive(Clone, Debug, Default)]
pub struct Burst {
    /// So long nothing was asked for.
    pub pause: Nanos,
    /// Pauses of that length.
    pub pauses: u64,
    /// All of them together.
    pub paused: Nanos,
    /// The most that was written without one, and when that began.
    pub most_bytes: u64,
    pub most_at: Nanos,
    now_bytes: u64,
    now_at: Nanos,
}

/// Bytes that were read and written, in bins of equal length that grow with the trace.
#[derive(Clone, Debug)]
pub struct OverTime {
    pub width: Nanos,
    pub bytes: Vec<[u64; 2]>,
    end: Nanos,
}

/// A screen shows no more.
const BINS: usize = 256;

impl Default for OverTime {
    fn default() -> OverTime {
        let width = Nanos::from_millis(1);
        OverTime { width, bytes: vec![[0; 2]], end: width }
    }
}

impl OverTime {
    /// Of a read (0) or a write (1), no earlier than the one before.
    #[inline]
    fn add(&mut self, since: Nanos, kind: usize, bytes: u64) {
        if since >= self.end {
            self.reach(since);
        }
        self.bytes.last_mut().expect("there is always one")[kind] += bytes;
    }

    #[cold]
    fn reach(&mut self, since: Nanos) {
        while since.0 / self.width.0 >= BINS as u64 {
            let pairs = self.bytes.chunks(2);
            self.bytes = pairs.map(|pair| [0, 1].map(|kind| pair.iter().map(|bin| bin[kind]).sum())).collect();
            self.width = Nanos(2 * self.width.0);
        }
        let bins = (since.0 / self.width.0) as usize + 1;
        self.bytes.resize(bins, [0; 2]);
        self.end = Nanos((bins as u64).saturating_mul(self.width.0));
    }
}

/// What is in a trace.
#[derive(Clone, Debug, Default)]
pub struct Survey {
    pub format: &'static str,
    pub volumes: Vec<Volume>,
    pub first: Nanos,
    pub last: Nanos,
    /// Requests by kind and size.
    pub sizes: BTreeMap<(usize, u32), u64>,
    /// Bytes of all pages that were touched, that were written, that were read before anything was written there.
    pub touched_bytes: u64,
    pub written_bytes: u64,
    pub unwritten_bytes: u64,
    /// Bytes written where something had been written.
    pub rewritten_bytes: u64,
    pub over_time: OverTime,
    pub bursts: Vec<Burst>,
    pub longest_pause: Nanos,
    /// All response times, and the requests that have one.
    pub took: Nanos,
    pub timed: u64,
    pub skipped: u64,
    pub empty: u64,
    pub backwards: Nanos,
    pub notes: Vec<String>,
}

const PAUSES: [Nanos; 5] =
    [Nanos::from_millis(100), Nanos::from_secs(1), Nanos::from_secs(10), Nanos::from_secs(60), Nanos::from_secs(600)];
/// Sizes of a kind that are told apart; what comes after is counted with the next power of two.
const SIZES: usize = 4096;

/// Requests by kind and size: those of late in a small table, as a trace has few sizes at a time.
#[derive(Clone, Debug)]
struct Sizes {
    late: [((usize, u32), u64); LATE],
    all: BTreeMap<(usize, u32), u64>,
}

const LATE: usize = 32;

impl Sizes {
    #[inline]
    fn add(&mut self, kind: usize, size: u32) {
        let place = (size as usize / 512 + 13 * kind) % LATE;
        if self.late[place].0 != (kind, size) {
            self.turn(place, (kind, size));
        }
        self.late[place].1 += 1;
    }

    #[inline(never)]
    fn turn(&mut self, place: usize, next: (usize, u32)) {
        let ((kind, size), count) = std::mem::replace(&mut self.late[place], (next, 0));
        if count > 0 {
            let is_counted = self.all.len() < SIZES || self.all.contains_key(&(kind, size));
            let size = if is_counted { size } else { size.checked_next_power_of_two().unwrap_or(u32::MAX) };
            *self.all.entry((kind, size)).or_default() += count;
        }
    }

    fn end(mut self) -> BTreeMap<(usize, u32), u64> {
        (0..LATE).for_each(|place| self.turn(place, (0, 0)));
        self.all
    }
}

/// Read a trace to its end.
pub fn survey(trace: &mut Trace) -> Result<Survey, TraceError> {
    let mut surveyor = Surveyor::new();
    while let Some(entry) = trace.next_entry()? {
        surveyor.note(&entry);
    }
    Ok(surveyor.so_far(trace))
}

/// Makes a survey of what passes by.
#[derive(Clone, Debug)]
pub struct Surveyor {
    survey: Survey,
    sizes: Sizes,
    /// By device: pages that were written, and those that were read before.
    written: Vec<Pages>,
    read_first: Vec<Pages>,
    begun: bool,
}

impl Surveyor {
    pub fn new() -> Surveyor {
        let bursts = PAUSES.iter().map(|&pause| Burst { pause, ..Burst::default() }).collect();
        Surveyor {
            survey: Survey { bursts, ..Survey::default() },
            sizes: Sizes { late: [((0, 0), 0); LATE], all: BTreeMap::new() },
            written: Vec::new(),
            read_first: Vec::new(),
            begun: false,
        }
    }

    #[cold]
    fn meet(&mut self, entry: &Entry) {
        if !self.begun {
            (self.begun, self.survey.first, self.survey.last) = (true, entry.at, entry.at);
            self.survey.bursts.iter_mut().for_each(|burst| burst.now_at = entry.at);
        }
        while self.written.len() <= entry.device as usize {
            self.survey.volumes.push(Volume { ends: [[u64::MAX; 16]; 4], ..Volume::default() });
            self.written.push(Pages::default());
            self.read_first.push(Pages::default());
        }
    }

    #[inline]
    pub fn note(&mut self, entry: &Entry) {
        let request = entry.request;
        let (kind, device) = (request.op as usize, entry.device as usize);
        if self.written.len() <= device {
            self.meet(entry);
        }
        let survey = &mut self.survey;
        survey.pause(entry.at);
        if entry.took > Nanos::ZERO {
            survey.took += entry.took;
            survey.timed += 1;
        }
        let volume = &mut survey.volumes[device];
        volume.count[kind] += 1;
        if request.op == Op::Flush {
            return;
        }
        let end = request.offset + request.len as u64;
        volume.bytes[kind] += request.len as u64;
        volume.end_bytes = volume.end_bytes.max(end);
        match volume.ends[kind].iter().position(|&stream| stream == request.offset) {
            Some(stream) => {
                volume.sequential[kind] += 1;
                volume.ends[kind][stream] = end;
            }
            None => {
                let next = volume.next[kind];
                volume.ends[kind][next] = end;
                volume.next[kind] = (next + 1) % 16;
            }
        }
        self.sizes.add(kind, request.len);
        if request.op == Op::Trim {
            return;
        }
        survey.over_time.add(entry.at.saturating_sub(survey.first), request.op as usize, request.len as u64);
        let pages = Pages::of(request.offset, request.len);
        let count = pages.end - pages.start;
        if request.op == Op::Write {
            let new = self.written[device].add(request.offset, request.len);
            survey.rewritten_bytes += (count - new) * pslc_ssd::PAGE_BYTES;
            survey.bursts.iter_mut().for_each(|burst| burst.now_bytes += request.len as u64);
        } else {
            let written_pages = self.written[device].among(request.offset, request.len);
            if written_pages < count {
                survey.unwritten_bytes += (count - written_pages) * pslc_ssd::PAGE_BYTES;
                self.read_first[device].add(request.offset, request.len);
            }
        }
    }

    /// Of what has passed by of a trace.
    pub fn so_far(&self, trace: &Trace) -> Survey {
        let mut survey = self.survey.clone();
        survey.sizes = self.sizes.clone().end();
        survey.bursts.iter_mut().for_each(Burst::end);
        for (volume, name) in survey.volumes.iter_mut().zip(trace.devices()) {
            volume.device = name.clone();
        }
        let pages = self.read_first.iter().zip(&self.written);
        survey.touched_bytes = pages.map(|(read, written)| written.bytes() + read.bytes_not_in(written)).sum();
        survey.written_bytes = self.written.iter().map(Pages::bytes).sum();
        (survey.skipped, survey.empty, survey.backwards) = (trace.skipped(), trace.empty, trace.backwards);
        survey.notes = trace.notes();
        survey.format = trace.format();
        survey
    }
}

impl Default for Surveyor {
    fn default() -> Surveyor {
        Surveyor::new()
    }
}

impl Burst {
    fn end(&mut self) {
        if self.now_bytes > self.most_bytes {
            (self.most_bytes, self.most_at) = (self.now_bytes, self.now_at);
        }
    }
}

impl Survey {
    fn pause(&mut self, now: Nanos) {
        let pause = now.saturating_sub(self.last);
        self.last = now;
        self.longest_pause = self.longest_pause.max(pause);
        for burst in &mut self.bursts {
            if pause < burst.pause {
                break;
            }
            burst.pauses += 1;
            burst.paused += pause;
            burst.end();
            (burst.now_bytes, burst.now_at) = (0, now);
        }
    }
}
