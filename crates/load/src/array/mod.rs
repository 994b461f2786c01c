//! An array of simulated drives, as Linux md makes one: each member is a whole drive with its own cache and collection.

pub mod layout;

use std::collections::BTreeMap;
use std::sync::LazyLock;

use pslc_ssd::{Machine, Nanos, Op, Request};

use crate::job::Job;
use crate::sim::{SimTarget, BITE};
use crate::target::{Completion, Target, TargetError};
use layout::{Layout, Part, Steps, MAX_MEMBERS};

/// What a spare is rebuilt by at a time.
const REBUILD_BYTES: u64 = 1 << 20;
/// md's `sync_speed_max`: what a spare is rebuilt at most, in bytes a second.
const MAX_REBUILD_BYTES_PER_S: u64 = 200_000 << 10;
/// The slot of what is rebuilt: the last that a queue can tell.
const REBUILD_SLOT: u32 = (1 << 24) - 1;

/// Columns of each member, behind `memberN_`.
const OF_MEMBER: [&str; 6] = [
    "requests_total",
    "held_ns_total",
    "read_bytes_total",
    "written_bytes_total",
    "programmed_bytes_total",
    "slc_valid_bytes",
];

/// The columns of a drive, then those of the array, then those of as many members as it can have.
static COLUMNS: LazyLock<Vec<&'static str>> = LazyLock::new(|| {
    let members = (0..MAX_MEMBERS).flat_map(|member| OF_MEMBER.map(|name| format!("member{member}_{name}")));
    let members = members.map(|name| &*name.leak());
    Machine::COLUMNS.iter().copied().chain(["rebuilt_bytes"]).chain(members).collect()
});

fn place(column: &str) -> usize {
    Machine::COLUMNS.iter().position(|name| *name == column).expect("a column of a drive")
}

/// What the time of the host's requests went to: as much as they took, by what the members' requests waited for.
#[derive(Clone, Debug, Default)]
struct Waits {
    /// By column, of the host's requests and of the members'.
    by: Vec<u64>,
    members: Vec<u64>,
    settled: u64,
}

impl Waits {
    /// Put into a row, which has the members' columns, what requests that took `asked` together waited for.
    fn settle(&mut self, asked: Nanos, row: &mut [u64]) {
        let columns = Machine::COLUMNS.iter().zip(row).filter(|(name, _)| name.starts_with("waited_"));
        let columns: Vec<&mut u64> = columns.map(|(_, value)| value).collect();
        self.by.resize(columns.len(), 0);
        self.members.resize(columns.len(), 0);
        let grown: Vec<u64> = columns.iter().zip(&self.members).map(|(now, before)| **now - before).collect();
        let (all, passed) = (grown.iter().map(|ns| *ns as u128).sum::<u128>(), (asked.0 - self.settled) as u128);
        for (at, column) in columns.into_iter().enumerate() {
            self.members[at] = *column;
            // What is lost to rounding is told the next time.
            let share = (grown[at] as u128 * passed).checked_div(all).unwrap_or(0) as u64;
            self.by[at] += share;
            self.settled += share;
            *column = self.by[at];
        }
    }
}

/// A drive of the array, and what the host's requests asked of it.
#[derive(Clone, Debug)]
struct Member {
    target: SimTarget,
    requests: u64,
    /// Time in which requests waited for it alone.
    held: Nanos,
    under_way: u32,
    /// Where the last read of it ended, which another may continue.
    read_to: u64,
}

/// A request that is under way on members: how many parts of it, and what is written once these have come back.
#[derive(Clone, Debug)]
struct UnderWay {
    request: Request,
    parts: usize,
    after: Vec<Part>,
}

#[derive(Clone, Debug)]
pub struct ArrayTarget {
    layout: Layout,
    members: Vec<Member>,
    now: Nanos,
    /// By slot, of the host's requests and the one that rebuilds.
    under_way: BTreeMap<u32, UnderWay>,
    /// Slots of which no member has a part, as of a trim of less than a stripe.
    partless: Vec<u32>,
    /// When the next part of a spare is rebuilt, where none is being rebuilt.
    rebuild_at: Option<Nanos>,
    /// Bytes of completed requests: read, written, trimmed.
    moved: [u64; 3],
    /// What the host's requests took so far, as far as that is known.
    asked: Nanos,
    waits: Waits,
    /// Time without requests up to `quiet_since`, and since when there have been none.
    silent: Nanos,
    quiet_since: Option<Nanos>,
    /// What holds data: where each part begins and ends.
    written: BTreeMap<u64, u64>,
}

impl ArrayTarget {
    /// An array whose members stand at time 0, in the order of the layout.
    pub fn new(layout: Layout, members: Vec<SimTarget>) -> ArrayTarget {
        assert_eq!(layout.states().len(), members.len());
        let member = |target| Member { target, requests: 0, held: Nanos::ZERO, under_way: 0, read_to: u64::MAX };
        ArrayTarget {
            rebuild_at: layout.rebuilding().map(|_| Nanos::ZERO),
            layout,
            members: members.into_iter().map(member).collect(),
            now: Nanos::ZERO,
            under_way: BTreeMap::new(),
            partless: Vec::new(),
            moved: [0; 3],
            asked: Nanos::ZERO,
            waits: Waits::default(),
            silent: Nanos::ZERO,
            quiet_since: Some(Nanos::ZERO),
            written: BTreeMap::new(),
        }
    }

    /// See [`Layout::member_bytes`].
    pub fn member_bytes(&self) -> u64 {
        self.layout.member_bytes()
    }

    /// Hand parts of a request to their members; returns when each is done, and on which member.
    fn issue(&mut self, slot: u32, request: Request, parts: &[Part]) -> Vec<(Nanos, usize)> {
        let mut ends = Vec::with_capacity(parts.len());
        for part in parts {
            let member = &mut self.members[part.member];
            let len = part.len as u32;
            if request.op == Op::Read {
                member.read_to = part.offset + part.len;
            }
            ends.push((
                member.target.submit_at(self.now, slot, &Request { offset: part.offset, len, ..request }),
                part.member,
            ));
            member.under_way += 1;
            member.requests += u64::from(slot != REBUILD_SLOT);
        }
        ends
    }

    /// A host's request waits for parts that end then: at the end for the last member alone.
    fn wait(&mut self, slot: u32, ends: &[(Nanos, usize)]) {
        if let (Some(&(last, member)), true) = (ends.iter().max(), slot != REBUILD_SLOT) {
            let earlier = ends.iter().filter(|end| end.1 != member).map(|end| end.0).max();
            self.members[member].held += last - earlier.unwrap_or(self.now);
            self.asked += last - self.now;
        }
    }

    /// Begin a request: read first what its writes need.
    fn begin_steps(&mut self, slot: u32, request: Request, steps: Steps) {
        let parts = steps.reads.len() + steps.writes.len();
        self.under_way.insert(slot, UnderWay { request, parts, after: steps.after });
        let mut ends = self.issue(slot, Request { op: Op::Read, fua: false, ..request }, &steps.reads);
        ends.extend(self.issue(slot, request, &steps.writes));
        self.wait(slot, &ends);
        if parts == 0 {
            self.partless.push(slot);
        }
    }

    /// A part of a slot has come back from a member: whether that was the last of a host's request.
    fn complete_part(&mut self, member: usize, slot: u32) -> bool {
        self.members[member].under_way -= 1;
        let under_way = self.under_way.get_mut(&slot).expect("a request that was begun");
        under_way.parts -= 1;
        if under_way.parts > 0 {
            return false;
        }
        let (request, after) = (under_way.request, std::mem::take(&mut under_way.after));
        if !after.is_empty() {
            under_way.parts = after.len();
            let ends = self.issue(slot, request, &after);
            self.wait(slot, &ends);
            return false;
        }
        self.complete(slot)
    }

    /// All parts of a slot have come back: whether it was a host's request.
    fn complete(&mut self, slot: u32) -> bool {
        let request = self.under_way.remove(&slot).expect("a request that was begun").request;
        if slot == REBUILD_SLOT {
            self.end_rebuild(&request);
        } else {
            self.count(&request);
        }
        slot != REBUILD_SLOT
    }

    fn count(&mut self, request: &Request) {
        let (begin, end) = (request.offset, request.offset + request.len as u64);
        match request.op {
            Op::Read => self.moved[0] += request.len as u64,
            Op::Write => {
                self.moved[1] += request.len as u64;
                self.set_written(begin, end, true);
            }
            Op::Trim => {
                self.moved[2] += request.len as u64;
                self.set_written(begin, end, false);
            }
            Op::Flush => {}
        }
        if self.under_way.keys().all(|slot| *slot == REBUILD_SLOT) {
            self.quiet_since = Some(self.now);
        }
    }

    /// Whether a range holds data from now on.
    fn set_written(&mut self, begin: u64, end: u64, holds: bool) {
        while let Some((&from, &to)) = self.written.range(..end).next_back().filter(|(_, to)| **to > begin) {
            self.written.remove(&from);
            if to > end {
                self.written.insert(end, to);
            }
            if from < begin {
                self.written.insert(from, begin);
            }
        }
        if holds {
            let end = self.written.remove(&end).unwrap_or(end);
            let before = self.written.range(..begin).next_back().filter(|(_, to)| **to == begin);
            let begin = before.map_or(begin, |(from, _)| *from);
            self.written.insert(begin, end);
        }
    }

    /// Rebuild the next part of the spare.
    fn begin_rebuild(&mut self) {
        self.rebuild_at = None;
        let Some((member, offset)) = self.layout.rebuilding() else { return };
        let len = REBUILD_BYTES.min(self.layout.member_bytes() - offset);
        let lost = Part { member, offset, len };
        let request = Request::write(offset, len as u32);
        let (reads, after) = (self.layout.sources(&lost), vec![lost]);
        self.begin_steps(REBUILD_SLOT, request, Steps { reads, writes: Vec::new(), after });
    }

    fn end_rebuild(&mut self, request: &Request) {
        let (member, _) = self.layout.rebuilding().expect("a spare");
        self.layout.rebuilt(member, request.offset + request.len as u64);
        self.rebuild_at = self.layout.rebuilding().map(|(_, to)| {
            let earliest = (to as u128 * 1_000_000_000 / MAX_REBUILD_BYTES_PER_S as u128) as u64;
            self.now.max(Nanos(earliest))
        });
    }

    /// When the next thing happens, and on which member; `None` of that where it is a part to rebuild.
    fn next_event(&mut self) -> Option<(Nanos, Option<usize>)> {
        let members = self.members.iter_mut().enumerate();
        let completions = members.filter_map(|(member, of)| Some((of.target.next_at()?, Some(member))));
        completions.chain(self.rebuild_at.map(|at| (at, None))).min_by_key(|(at, _)| *at)
    }

    /// What happens next, up to `until`: a host's request that completes, with its slot.
    fn step(&mut self, until: Nanos) -> Option<Option<u32>> {
        if let Some(slot) = self.partless.pop() {
            return Some(self.complete(slot).then_some(slot));
        }
        let (at, member) = self.next_event().filter(|(at, _)| *at <= until)?;
        self.now = at.max(self.now);
        let Some(member) = member else {
            self.begin_rebuild();
            return Some(None);
        };
        let completion = self.members[member].target.next(at).expect("a simulated drive does not fail");
        let slot = completion.expect("what completes by then").slot;
        Some(self.complete_part(member, slot).then_some(slot))
    }

    /// Let the time of all members pass up to that of the array.
    fn advance(&mut self) {
        for member in &mut self.members {
            while member.target.now() < self.now {
                member.target.next(self.now).expect("a simulated drive does not fail");
            }
        }
    }

    /// The columns, each member looked at by `look`.
    fn gather(&mut self, at: Nanos, into: &mut [u64], look: impl Fn(&mut SimTarget, &mut [u64])) {
        into.fill(0);
        let (width, mut values) = (Machine::COLUMNS.len(), vec![0; Machine::COLUMNS.len()]);
        let gauges = ["temperature_millicelsius", "throttle_level"].map(place);
        let programmed = ["slc_programmed_bytes_total", "native_programmed_bytes_total"].map(place);
        for (number, member) in self.members.iter_mut().enumerate() {
            look(&mut member.target, &mut values);
            for (column, value) in values.iter().enumerate() {
                let sum = &mut into[column];
                *sum = if gauges.contains(&column) { (*sum).max(*value) } else { *sum + value };
            }
            let own = [
                member.requests,
                member.held.0,
                values[place("host_read_bytes_total")],
                values[place("host_write_bytes_total")],
                programmed.iter().map(|column| values[*column]).sum(),
                values[place("slc_valid_bytes")],
            ];
            into[width + 1 + OF_MEMBER.len() * number..][..own.len()].copy_from_slice(&own);
        }
        for (name, value) in
            ["host_read_bytes_total", "host_write_bytes_total", "host_trim_bytes_total"].into_iter().zip(self.moved)
        {
            into[place(name)] = value;
        }
        self.waits.settle(self.asked, &mut into[..width]);
        let quiet = self.quiet_since.map_or(Nanos::ZERO, |since| at.saturating_sub(since));
        into[place("host_silent_ns_total")] = (self.silent + quiet).0;
        into[width] = self.layout.rebuilding().map_or(0, |(_, to)| to);
    }
}

impl Target for ArrayTarget {
    const CAN_CUT_PAUSES: bool = true;

    fn begin(&mut self, slots: &[&Job], largest: u32) -> Result<(), TargetError> {
        self.members.iter_mut().try_for_each(|member| member.target.begin(slots, largest))
    }

    fn skip_waits(&mut self) {
        self.members.iter_mut().for_each(|member| member.target.skip_waits());
    }

    /// What is under way completes; a part of a spare, too.
    fn end(&mut self) {
        while !self.under_way.is_empty() {
            self.step(Nanos::MAX);
        }
        self.advance();
        self.members.iter_mut().for_each(|member| member.target.end());
    }

    fn capacity_bytes(&self) -> u64 {
        self.layout.capacity_bytes()
    }

    fn block_bytes(&self) -> u32 {
        512
    }

    fn now(&mut self) -> Nanos {
        self.now
    }

    fn submit(&mut self, slot: u32, request: &Request) -> Result<(), TargetError> {
        let members = &self.members;
        // md's read_balance: who can continue a sequence, else who has the least under way.
        let reader = |copies: &[Part]| {
            let continues = copies.iter().position(|copy| members[copy.member].read_to == copy.offset);
            let idlest = (0..copies.len()).min_by_key(|copy| members[copies[*copy].member].under_way);
            continues.or(idlest).expect("a copy")
        };
        let steps = self.layout.steps(request, reader);
        if let Some(since) = self.quiet_since.take() {
            self.silent += self.now - since;
        }
        self.begin_steps(slot, *request, steps);
        Ok(())
    }

    fn next(&mut self, until: Nanos) -> Result<Option<Completion>, TargetError> {
        let until = until.min(self.now.saturating_add(BITE));
        while let Some(completed) = self.step(until) {
            if let Some(slot) = completed {
                return Ok(Some(Completion { slot, at: self.now }));
            }
        }
        self.now = self.now.max(until);
        self.advance();
        Ok(None)
    }

    fn cache_bytes(&self) -> Option<u64> {
        self.members.iter().map(|member| member.target.cache_bytes()).sum()
    }

    fn unwritten(&self, offset: u64, len: u64) -> Vec<(u64, u64)> {
        let end = offset + len;
        let before = self.written.range(..=offset).next_back();
        let held = before.into_iter().chain(self.written.range(offset + 1..end.max(offset + 1)));
        let (mut parts, mut at) = (Vec::new(), offset);
        for (&from, &to) in held {
            if from > at {
                parts.push((at, from - at));
            }
            at = at.max(to);
        }
        if at < end {
            parts.push((at, end - at));
        }
        parts
    }

    fn columns(&self) -> &'static [&'static str] {
        &COLUMNS[..Machine::COLUMNS.len() + 1 + OF_MEMBER.len() * self.members.len()]
    }

    fn sample(&mut self, into: &mut [u64]) {
        self.sample_at(self.now, into);
    }

    fn sample_at(&mut self, at: Nanos, into: &mut [u64]) {
        self.gather(at, into, |target, values| target.sample_at(at, values));
    }

    fn peek(&mut self, into: &mut [u64]) {
        let waits = self.waits.clone();
        self.gather(self.now, into, |target, values| target.peek(values));
        self.waits = waits;
    }

    fn sample_begun(&mut self, into: &mut [u64]) {
        let waits = self.waits.clone();
        self.gather(self.now, into, |target, values| target.sample_begun(values));
        self.waits = waits;
    }
}
