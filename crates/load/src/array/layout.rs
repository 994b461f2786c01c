//! Where an array's data lie on its members, and what Linux md reads and writes there for a request: numbers alone.
//!
//! ```text
//!   RAID 5, left-symmetric, 4 members      RAID 10, near layout, 3 members
//!     D0  D1  D2  P                          D0  D0  D1
//!     D4  D5  P   D3                         D1  D2  D2
//!     D8  P   D6  D7
//! ```

use pslc_ssd::{Op, Request};

/// What md caches and completes of a stripe: a page of each member.
const PAGE_BYTES: u64 = 4096;
/// Members at most: of each, counters are columns of a recording.
pub const MAX_MEMBERS: usize = 24;
/// Copies of a chunk of RAID 10.
const NEAR_COPIES: u64 = 2;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    Raid0,
    Raid1,
    Raid5,
    Raid6,
    Raid10,
}

impl Level {
    pub const ALL: [Level; 5] = [Level::Raid0, Level::Raid1, Level::Raid5, Level::Raid6, Level::Raid10];

    pub fn word(self) -> &'static str {
        match self {
            Level::Raid0 => "raid0",
            Level::Raid1 => "raid1",
            Level::Raid5 => "raid5",
            Level::Raid6 => "raid6",
            Level::Raid10 => "raid10",
        }
    }

    fn min_members(self) -> usize {
        match self {
            Level::Raid0 | Level::Raid1 | Level::Raid10 => 2,
            Level::Raid5 => 3,
            Level::Raid6 => 4,
        }
    }

    /// Members of a stripe that hold parity.
    fn parities(self) -> usize {
        match self {
            Level::Raid5 => 1,
            Level::Raid6 => 2,
            Level::Raid0 | Level::Raid1 | Level::Raid10 => 0,
        }
    }
}

/// What a member holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    InSync,
    /// It failed, and nothing took its place.
    Failed,
    /// A spare that took its place, and holds what lies before this byte.
    Rebuilding(u64),
}

/// Why there is no such array.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum LayoutFault {
    #[error("{level} needs {min} members at least, and {MAX_MEMBERS} are the most: there are {count}")]
    Members { level: &'static str, min: usize, count: usize },
    #[error("a chunk of {0} bytes: it is a power of two from 4 KiB on, and no larger than a member")]
    Chunk(u64),
    #[error("member {place} is none: there are {count}, from 0 on")]
    Place { place: usize, count: usize },
    #[error("{level} of {count} members has lost data without these: {lost}")]
    Lost { level: &'static str, count: usize, lost: String },
}

/// A piece of a request, on a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Part {
    pub member: usize,
    pub offset: u64,
    pub len: u64,
}

/// What is asked of the members for a request: parity, and what completes a page, is read before it is written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Steps {
    pub reads: Vec<Part>,
    /// Written, or trimmed, at once.
    pub writes: Vec<Part>,
    /// Written once everything was read.
    pub after: Vec<Part>,
}

/// How much of its part of a slice a request writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Touch {
    Clean,
    Partial,
    Overwritten,
}

#[derive(Clone, Debug)]
pub struct Layout {
    level: Level,
    /// Of RAID 1, which has no chunks, a whole member.
    chunk_bytes: u64,
    chunks: u64,
    states: Vec<State>,
}

/// Pages of one stripe of which a request writes the same parts.
struct Slice {
    stripe: u64,
    /// In bytes of a member.
    from: u64,
    to: u64,
    touches: Vec<Touch>,
}

impl Layout {
    /// `member_bytes` are those of the smallest member, and all that is used of each.
    pub fn new(level: Level, chunk_bytes: u64, member_bytes: u64, states: Vec<State>) -> Result<Layout, LayoutFault> {
        let (word, count) = (level.word(), states.len());
        if !(level.min_members()..=MAX_MEMBERS).contains(&count) {
            return Err(LayoutFault::Members { level: word, min: level.min_members(), count });
        }
        if !chunk_bytes.is_power_of_two() || !(PAGE_BYTES..=member_bytes).contains(&chunk_bytes) {
            return Err(LayoutFault::Chunk(chunk_bytes));
        }
        let member_bytes = member_bytes / PAGE_BYTES * PAGE_BYTES;
        let chunk_bytes = if level == Level::Raid1 { member_bytes } else { chunk_bytes };
        let layout = Layout { level, chunk_bytes, chunks: member_bytes / chunk_bytes, states };
        if layout.has_lost_data() {
            let lost = (0..count).filter(|member| !layout.holds(*member, u64::MAX)).map(|member| member.to_string());
            return Err(LayoutFault::Lost { level: word, count, lost: lost.collect::<Vec<_>>().join(", ") });
        }
        Ok(layout)
    }

    /// Whether some chunk is on no member that holds it, nor follows from others.
    fn has_lost_data(&self) -> bool {
        let lost = |member: usize| !self.holds(member, u64::MAX);
        match self.level {
            Level::Raid5 | Level::Raid6 => {
                (0..self.count()).filter(|member| lost(*member)).count() > self.level.parities()
            }
            _ => (0..self.count() as u64).any(|chunk| self.copies(chunk).all(|(member, _)| lost(member))),
        }
    }

    fn count(&self) -> usize {
        self.states.len()
    }

    pub fn states(&self) -> &[State] {
        &self.states
    }

    pub fn capacity_bytes(&self) -> u64 {
        let count = self.count() as u64;
        let chunks = match self.level {
            Level::Raid0 => count * self.chunks,
            Level::Raid1 => 1,
            Level::Raid5 | Level::Raid6 => self.data_count() * self.chunks,
            Level::Raid10 => count * self.chunks / NEAR_COPIES,
        };
        chunks * self.chunk_bytes
    }

    /// Bytes of each member that the array uses.
    pub fn member_bytes(&self) -> u64 {
        self.chunks * self.chunk_bytes
    }

    /// The spare that took the place of a member, and up to where it holds its data; `None` once it holds all.
    pub fn rebuilding(&self) -> Option<(usize, u64)> {
        self.states.iter().enumerate().find_map(|(member, state)| match state {
            State::Rebuilding(to) => Some((member, *to)),
            State::InSync | State::Failed => None,
        })
    }

    /// The spare holds its data up to there.
    pub fn rebuilt(&mut self, member: usize, to: u64) {
        self.states[member] = if to < self.member_bytes() { State::Rebuilding(to) } else { State::InSync };
    }

    /// What is read to rebuild a part of a member.
    pub fn sources(&self, lost: &Part) -> Vec<Part> {
        let mut parts = Vec::new();
        match self.level {
            Level::Raid0 => {}
            Level::Raid1 => {
                let source = (0..self.count()).find(|member| self.holds(*member, u64::MAX));
                parts.extend(source.map(|member| Part { member, ..*lost }));
            }
            Level::Raid5 | Level::Raid6 => self.survivors(lost.offset, lost.offset + lost.len, &mut parts),
            Level::Raid10 => {
                for (row, from, to) in self.chunks_of(lost.offset, lost.len) {
                    let other = (row * self.count() as u64 + lost.member as u64) ^ 1;
                    let (member, row) = self.near(other);
                    parts.push(Part { member, offset: row * self.chunk_bytes + from, len: to - from });
                }
            }
        }
        merged(parts)
    }

    /// What md asks of the members. `reader` chooses who of several is read from, by the offset and its length.
    pub fn steps(&self, request: &Request, mut reader: impl FnMut(&[Part]) -> usize) -> Steps {
        let (offset, len) = (request.offset, request.len as u64);
        let mut steps = Steps::default();
        match (request.op, self.level) {
            (Op::Flush, _) => {
                let all = (0..self.count()).filter(|member| self.is_present(*member));
                steps.writes.extend(all.map(|member| Part { member, offset: 0, len: 0 }));
                return steps;
            }
            (Op::Read, Level::Raid5 | Level::Raid6) => self.read_stripes(offset, len, &mut steps.reads),
            (Op::Trim, Level::Raid5 | Level::Raid6) => self.trim_stripes(offset, len, &mut steps.writes),
            (_, Level::Raid5 | Level::Raid6) => self.write_stripes(offset, len, &mut steps),
            (op, _) => {
                for (chunk, from, to) in self.chunks_of(offset, len) {
                    let part = |(member, row)| Part { member, offset: row * self.chunk_bytes + from, len: to - from };
                    let copies = self.copies(chunk).map(part);
                    if op == Op::Read {
                        let held = |copy: &Part| self.holds(copy.member, copy.offset + copy.len);
                        let held: Vec<Part> = copies.filter(held).collect();
                        steps.reads.push(held[reader(&held)]);
                    } else {
                        steps.writes.extend(copies.filter(|copy| self.is_present(copy.member)));
                    }
                }
            }
        }
        for parts in [&mut steps.reads, &mut steps.writes, &mut steps.after] {
            *parts = merged(std::mem::take(parts));
        }
        steps
    }

    /// Whether a member can be written to.
    fn is_present(&self, member: usize) -> bool {
        self.states[member] != State::Failed
    }

    /// Whether a member holds its data before `end`.
    fn holds(&self, member: usize, end: u64) -> bool {
        end <= self.held_to(member)
    }

    /// Up to where a member holds its data.
    fn held_to(&self, member: usize) -> u64 {
        match self.states[member] {
            State::InSync => u64::MAX,
            State::Failed => 0,
            State::Rebuilding(to) => to,
        }
    }

    /// Chunks of a range, each with where the range begins and ends in it.
    fn chunks_of(&self, offset: u64, len: u64) -> impl Iterator<Item = (u64, u64, u64)> + use<> {
        let (size, end) = (self.chunk_bytes, offset + len);
        (offset / size..end.div_ceil(size)).map(move |chunk| {
            let begin = chunk * size;
            (chunk, offset.max(begin) - begin, end.min(begin + size) - begin)
        })
    }

    /// Members and rows of a chunk without parity.
    fn copies(&self, chunk: u64) -> impl Iterator<Item = (usize, u64)> + use<'_> {
        let copies = match self.level {
            Level::Raid1 => self.count() as u64,
            Level::Raid10 => NEAR_COPIES,
            Level::Raid0 | Level::Raid5 | Level::Raid6 => 1,
        };
        (chunk * copies..(chunk + 1) * copies).map(|place| self.near(place))
    }

    /// Member and row of a place, counted along the rows.
    fn near(&self, place: u64) -> (usize, u64) {
        ((place % self.count() as u64) as usize, place / self.count() as u64)
    }

    /// Chunks of data of a stripe.
    fn data_count(&self) -> u64 {
        (self.count() - self.level.parities()) as u64
    }

    /// Members of a stripe, data first, then parity: md's left-symmetric layout.
    fn stripe(&self, stripe: u64) -> impl Iterator<Item = usize> + use<> {
        let (count, data) = (self.count(), self.data_count() as usize);
        let parity = count - 1 - (stripe % count as u64) as usize;
        let first = parity + count - data;
        (0..data)
            .map(move |chunk| first + chunk)
            .chain((0..count - data).map(move |other| parity + other))
            .map(move |place| place % count)
    }

    /// All members that hold these bytes.
    fn survivors(&self, from: u64, to: u64, into: &mut Vec<Part>) {
        let held = (0..self.count()).map(|member| (member, self.held_to(member).min(to)));
        let held = held.filter(|(_, end)| *end > from);
        into.extend(held.map(|(member, end)| Part { member, offset: from, len: end - from }));
    }

    /// Of an array without lost members as the host asks, else in whole pages, by way of md's cache of stripes.
    fn read_stripes(&self, offset: u64, len: u64, reads: &mut Vec<Part>) {
        let is_whole = self.states.iter().all(|state| *state == State::InSync);
        for (chunk, from, to) in self.chunks_of(offset, len) {
            let (stripe, place) = (chunk / self.data_count(), chunk % self.data_count());
            let member = self.stripe(stripe).nth(place as usize).expect("a chunk of the stripe");
            let row = stripe * self.chunk_bytes;
            if is_whole {
                reads.push(Part { member, offset: row + from, len: to - from });
            } else {
                // Up to where a spare is rebuilt it is read from that.
                let (from, to) = (row + page_floor(from), row + page_ceil(to));
                let held = self.held_to(member).clamp(from, to);
                reads.push(Part { member, offset: from, len: held - from });
                self.survivors(held, to, reads);
            }
        }
    }

    /// md passes on what is whole stripes, of all members (with `devices_handle_discard_safely` of raid456).
    fn trim_stripes(&self, offset: u64, len: u64, trims: &mut Vec<Part>) {
        let size = self.data_count() * self.chunk_bytes;
        let (from, to) = (offset.div_ceil(size) * self.chunk_bytes, (offset + len) / size * self.chunk_bytes);
        if from < to {
            let present = (0..self.count()).filter(|member| self.is_present(*member));
            trims.extend(present.map(|member| Part { member, offset: from, len: to - from }));
        }
    }

    fn write_stripes(&self, offset: u64, len: u64, steps: &mut Steps) {
        let size = self.data_count() * self.chunk_bytes;
        for stripe in offset / size..(offset + len).div_ceil(size) {
            let from = offset.saturating_sub(stripe * size);
            let to = (offset + len - stripe * size).min(size);
            for slice in self.slices(stripe, from, to) {
                self.write_slice(&slice, steps);
            }
        }
    }

    /// The slices of a stripe of which a request writes these bytes.
    fn slices(&self, stripe: u64, from: u64, to: u64) -> Vec<Slice> {
        let size = self.chunk_bytes;
        let written: Vec<(u64, u64)> = (0..self.data_count())
            .map(|chunk| (from.max(chunk * size), to.min((chunk + 1) * size)))
            .enumerate()
            .map(|(chunk, (from, to))| (from - chunk as u64 * size, to.saturating_sub(chunk as u64 * size)))
            .collect();
        let touched = written.iter().filter(|(from, to)| from < to);
        let mut cuts: Vec<u64> = touched
            .flat_map(|&(from, to)| [page_floor(from), page_ceil(from), page_floor(to), page_ceil(to)])
            .collect();
        if let Some((first, last)) = cuts.iter().copied().min().zip(cuts.iter().copied().max()) {
            let row = stripe * size;
            cuts.extend(self.rebuilding().map(|(_, to)| to.clamp(row + first, row + last) - row));
        }
        cuts.sort_unstable();
        cuts.dedup();
        let touch = |(from, to): (u64, u64), &(begin, end): &(u64, u64)| {
            if begin <= from && to <= end {
                Touch::Overwritten
            } else if begin < end && begin < to && from < end {
                Touch::Partial
            } else {
                Touch::Clean
            }
        };
        let slices = cuts.windows(2).map(|cut| (cut[0], cut[1])).map(|cut| Slice {
            stripe,
            from: stripe * size + cut.0,
            to: stripe * size + cut.1,
            touches: written.iter().map(|range| touch(cut, range)).collect(),
        });
        slices.filter(|slice| slice.touches.iter().any(|touch| *touch != Touch::Clean)).collect()
    }

    fn write_slice(&self, slice: &Slice, steps: &mut Steps) {
        let part = |member| Part { member, offset: slice.from, len: slice.to - slice.from };
        let members: Vec<usize> = self.stripe(slice.stripe).collect();
        let reads = self.prereads(slice, &members);
        let writes = if reads.is_empty() { &mut steps.writes } else { &mut steps.after };
        let is_clean = |place: usize| slice.touches.get(place) == Some(&Touch::Clean);
        let dirty = members.iter().enumerate().filter(|(place, _)| !is_clean(*place)).map(|(_, member)| *member);
        writes.extend(dirty.filter(|member| self.is_present(*member)).map(part));
        steps.reads.extend(reads.into_iter().map(part));
    }

    /// Members that are read before a slice is written, by md's rules (`need_this_block` and `handle_stripe_dirtying` in
    /// drivers/md/raid5.c): what takes fewer reads, and to reconstruct parity where both take as many.
    fn prereads(&self, slice: &Slice, members: &[usize]) -> Vec<usize> {
        let held = |member: &usize| self.holds(*member, slice.to);
        let data = || slice.touches.iter().zip(members);
        let of = |wanted: Touch| data().filter(move |(touch, _)| **touch == wanted).map(|(_, member)| *member);
        let parity = &members[slice.touches.len()..];
        let failed = || data().filter(|(_, member)| !held(member)).map(|(touch, _)| *touch);
        let failed_parities = parity.iter().filter(|member| !held(member)).count();
        let trusts_parity = failed_parities + failed().count() < 2
            || (failed_parities == 0 && failed().all(|touch| touch == Touch::Clean));
        if failed().any(|touch| touch == Touch::Partial)
            || (!trusts_parity && failed().any(|touch| touch != Touch::Overwritten))
        {
            return (0..self.count()).filter(|member| held(member)).collect();
        }
        let reads = |members: &[usize]| -> usize {
            members.iter().map(|member| if held(member) { 1 } else { 2 * self.count() }).sum()
        };
        let modify: Vec<usize> = of(Touch::Overwritten).chain(parity.iter().copied()).collect();
        let reconstruct: Vec<usize> = of(Touch::Clean).collect();
        let chosen = if reads(&modify) < reads(&reconstruct) { modify } else { reconstruct };
        of(Touch::Partial).chain(chosen).collect()
    }
}

fn page_floor(at: u64) -> u64 {
    at / PAGE_BYTES * PAGE_BYTES
}

fn page_ceil(at: u64) -> u64 {
    at.next_multiple_of(PAGE_BYTES)
}

/// Parts by member and offset, and one where several touch, as the block layer merges them.
fn merged(mut parts: Vec<Part>) -> Vec<Part> {
    parts.retain(|part| part.len > 0);
    parts.sort_unstable();
    parts.dedup_by(|next, part| {
        let joins = next.member == part.member && next.offset <= part.offset + part.len;
        if joins {
            part.len = part.len.max(next.offset + next.len - part.offset);
        }
        joins
    });
    parts
}
