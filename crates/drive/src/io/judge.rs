//! What of the data that jobs verify may be judged: not what another job wrote since, nor what two writes under way at the
//! same time may have left in either order, nor what was being written while it was read.

use std::collections::{BTreeMap, HashMap};

use pslc_load::job::{Job, Mix};

/// A set of pieces of the target, which takes memory only where there are some.
#[derive(Default)]
struct Pieces(HashMap<u64, [u64; WORDS]>);

const WORDS: usize = 64;
const CHUNK: u64 = 64 * WORDS as u64;

impl Pieces {
    fn add(&mut self, pieces: std::ops::Range<u64>) {
        for piece in pieces {
            let chunk = self.0.entry(piece / CHUNK).or_insert([0; WORDS]);
            chunk[(piece % CHUNK / 64) as usize] |= 1 << (piece % 64);
        }
    }

    fn remove(&mut self, pieces: std::ops::Range<u64>) {
        if self.0.is_empty() {
            return;
        }
        for piece in pieces {
            if let Some(chunk) = self.0.get_mut(&(piece / CHUNK)) {
                chunk[(piece % CHUNK / 64) as usize] &= !(1 << (piece % 64));
            }
        }
    }

    fn has_one_of(&self, mut pieces: std::ops::Range<u64>) -> bool {
        let is_set = |piece: u64| {
            self.0
                .get(&(piece / CHUNK))
                .is_some_and(|chunk| chunk[(piece % CHUNK / 64) as usize] >> (piece % 64) & 1 == 1)
        };
        !self.0.is_empty() && pieces.any(is_set)
    }
}

/// A worker of a job that verifies.
struct Reader {
    worker: u32,
    /// It reads its own writes again, so that those of others are not its to judge.
    of_its_own: bool,
    /// Where it may write: from the beginning of its region to its end, or to that of the target.
    reach: std::ops::Range<u64>,
    /// What it may not judge.
    barred: Pieces,
}

/// Requests under way, by offset and slot.
#[derive(Default)]
struct UnderWay<T>(BTreeMap<(u64, u32), (u64, T)>);

impl<T> UnderWay<T> {
    /// Those with a byte of a range; none is longer than `largest`.
    fn in_range(&mut self, offset: u64, end: u64, largest: u64) -> impl Iterator<Item = (u64, u64, &mut T)> {
        let first = (offset.saturating_sub(largest), 0);
        let all = self.0.range_mut(first..(end, 0));
        all.filter(move |(_, (to, _))| *to > offset).map(|(&(from, _), (to, what))| (from, *to, what))
    }
}

pub struct Judge {
    readers: Vec<Reader>,
    /// Bytes of a piece.
    grain: u64,
    /// The longest request.
    largest: u64,
    writes: UnderWay<()>,
    /// Reads, and whether they may be judged.
    checks: UnderWay<bool>,
}

impl Judge {
    /// Of a run in which some job verifies; `workers` has the job of each, and the number of the clone.
    pub fn of(workers: &[(&Job, u64)], capacity: u64) -> Option<Judge> {
        let largest = workers.iter().map(|(job, _)| job.largest() as u64).max().unwrap_or(0);
        let mut readers = Vec::new();
        let mut grain = 4096;
        for (worker, &(job, clone)) in workers.iter().enumerate() {
            let extent = job.extent(clone);
            let sizes = [job.sizes.read.smallest(), job.sizes.write.smallest(), job.sizes.trim.smallest()];
            let parts = sizes.into_iter().map(u64::from).chain([extent.start, job.rw.hole.unsigned_abs()]);
            if parts.into_iter().any(|bytes| bytes % 4096 != 0) {
                grain = 512;
            }
            let Some(verify) = &job.verify else { continue };
            let beyond = job.strided.is_some() || job.rw.hole != 0;
            // A request that begins in the region may end behind it.
            let end = if beyond { capacity } else { extent.start + extent.region + largest };
            readers.push(Reader {
                worker: worker as u32,
                of_its_own: verify.reads_back && !verify.only && job.rw.mix != Mix::Read,
                reach: extent.start..end,
                barred: Pieces::default(),
            });
        }
        let judge = Judge { readers, grain, largest, writes: UnderWay::default(), checks: UnderWay::default() };
        (!judge.readers.is_empty()).then_some(judge)
    }

    fn pieces(&self, offset: u64, end: u64) -> std::ops::Range<u64> {
        offset / self.grain..end.div_ceil(self.grain)
    }

    /// A write or a trim of `len` bytes is handed over.
    pub fn write(&mut self, slot: u32, worker: u32, offset: u64, len: u64, trims: bool) {
        let end = offset + len;
        let pieces = self.pieces(offset, end);
        for reader in &mut self.readers {
            if !reader.of_its_own || (reader.worker == worker && !trims) {
                reader.barred.remove(pieces.clone());
            } else if offset < reader.reach.end && end > reader.reach.start {
                reader.barred.add(pieces.clone());
            }
        }
        let beside: Vec<(u64, u64)> =
            self.writes.in_range(offset, end, self.largest).map(|(from, to, _)| (from, to)).collect();
        for (from, to) in beside {
            let both = self.pieces(from.max(offset), to.min(end));
            self.readers.iter_mut().for_each(|reader| reader.barred.add(both.clone()));
        }
        for (.., judged) in self.checks.in_range(offset, end, self.largest) {
            *judged = false;
        }
        self.writes.0.insert((offset, slot), (end, ()));
    }

    pub fn written(&mut self, slot: u32, offset: u64) {
        self.writes.0.remove(&(offset, slot));
    }

    /// A read that is to be verified is handed over.
    pub fn check(&mut self, slot: u32, worker: u32, offset: u64, len: u64) {
        let end = offset + len;
        let pieces = self.pieces(offset, end);
        let reader = self.readers.iter().find(|reader| reader.worker == worker);
        let barred = reader.is_none_or(|reader| reader.barred.has_one_of(pieces));
        let judged = !barred && self.writes.in_range(offset, end, self.largest).next().is_none();
        self.checks.0.insert((offset, slot), (end, judged));
    }

    /// It has come back: whether what it read may be judged.
    pub fn checked(&mut self, slot: u32, offset: u64) -> bool {
        self.checks.0.remove(&(offset, slot)).is_some_and(|(_, judged)| judged)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pslc_load::job::{parse, Ground};

    fn judge(text: &str) -> Judge {
        let jobs = parse("t", text, &[], Ground::Real, 1 << 20, &|_| None).unwrap();
        let workers: Vec<(&Job, u64)> = jobs.iter().map(|job| (job, 0)).collect();
        Judge::of(&workers, 1 << 20).unwrap()
    }

    fn is_judged(judge: &mut Judge, worker: u32, offset: u64) -> bool {
        judge.check(9, worker, offset, 4096);
        judge.checked(9, offset)
    }

    const TWO: &str = "[a]\nrw=randwrite\nverify=md5\n[b]\nrw=write\nverify=md5\n[r]\nrw=read\nverify=md5\n";

    #[test]
    fn what_another_job_wrote_last_is_its_own_to_judge() {
        let mut judge = judge(TWO);
        judge.write(0, 0, 0, 8192, false);
        judge.written(0, 0);
        assert!(is_judged(&mut judge, 0, 0));
        judge.write(1, 1, 4096, 4096, false);
        judge.written(1, 4096);
        assert!(is_judged(&mut judge, 0, 0) && !is_judged(&mut judge, 0, 4096));
        assert!(is_judged(&mut judge, 1, 4096) && is_judged(&mut judge, 2, 4096));
    }

    #[test]
    fn two_writes_under_way_leave_nobody_knows_what_until_one_is_alone() {
        let mut judge = judge(TWO);
        judge.write(0, 0, 0, 8192, false);
        judge.write(1, 0, 4096, 8192, false);
        judge.written(0, 0);
        judge.written(1, 4096);
        assert!(is_judged(&mut judge, 0, 0) && !is_judged(&mut judge, 0, 4096));
        assert!(is_judged(&mut judge, 0, 8192) && !is_judged(&mut judge, 2, 4096));
        judge.write(0, 0, 4096, 4096, false);
        judge.written(0, 4096);
        assert!(is_judged(&mut judge, 0, 4096) && is_judged(&mut judge, 2, 4096));
    }

    #[test]
    fn what_is_written_while_it_is_read_is_not_judged() {
        let mut judge = judge(TWO);
        judge.write(0, 0, 0, 4096, false);
        assert!(!is_judged(&mut judge, 2, 0));
        judge.written(0, 0);
        judge.check(5, 2, 0, 4096);
        judge.write(0, 0, 0, 512, false);
        judge.written(0, 0);
        assert!(!judge.checked(5, 0));
        assert!(is_judged(&mut judge, 2, 0));
    }

    #[test]
    fn what_is_trimmed_is_not_judged_until_it_is_written() {
        let mut judge = judge("[t]\nrw=trimwrite\nverify=md5\n");
        judge.write(0, 0, 0, 4096, true);
        judge.written(0, 0);
        assert!(!is_judged(&mut judge, 0, 0));
        judge.write(0, 0, 0, 4096, false);
        judge.written(0, 0);
        assert!(is_judged(&mut judge, 0, 0));
    }
}
