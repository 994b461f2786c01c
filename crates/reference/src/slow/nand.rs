//! A wire and a die, with everything they ever did.

use pslc_ssd::config::Suspend;

#[derive(Default)]
pub struct Wire(Vec<(u64, u64)>);

impl Wire {
    /// The first start at or after `ready` at which `len` overlaps no reservation; returns the end.
    pub fn reserve(&mut self, ready: u64, len: u64) -> u64 {
        let mut starts: Vec<u64> = self.0.iter().map(|span| span.1).filter(|&e| e > ready).collect();
        starts.push(ready);
        starts.sort_unstable();
        let free = |s: u64| self.0.iter().all(|&(a, b)| s + len <= a || s >= b);
        let start = starts.into_iter().find(|&s| free(s)).unwrap();
        self.0.push((start, start + len));
        start + len
    }
}

#[derive(Clone, Copy, PartialEq)]
pub enum Kind {
    Read,
    Program,
    Erase,
}

pub struct Operation {
    pub start: u64,
    pub end: u64,
    kind: Kind,
    suspended: u32,
}

#[derive(Default)]
pub struct Die {
    pub operations: Vec<Operation>,
    /// Begin and end of the last host reads that are together.
    read_begin: u64,
    read_end: u64,
    /// When the last read of each plane ends.
    plane_ends: Vec<u64>,
    /// The operation suspended by the last host read.
    suspending: Option<usize>,
}

impl Die {
    pub fn new(planes: usize) -> Die {
        Die { plane_ends: vec![0; planes], ..Die::default() }
    }

    /// When it has done all that it was asked for.
    pub fn quiet(&self) -> u64 {
        self.operations.last().map_or(0, |o| o.end).max(self.read_end)
    }

    /// When the last host read ends.
    pub fn reads_end(&self) -> u64 {
        self.read_end
    }

    pub fn queue(&mut self, ready: u64, time: u64, kind: Kind) -> usize {
        let start = ready.max(self.quiet());
        self.operations.push(Operation { start, end: start + time, kind, suspended: 0 });
        self.operations.len() - 1
    }

    pub fn host_read(&mut self, ready: u64, time: u64, suspend: Option<Suspend>) -> u64 {
        let at = ready.max(self.read_end);
        let current = self.operations.iter().position(|o| o.start <= at && at < o.end);
        let continues = current.is_some() && self.suspending == current && at == self.read_end;
        let mut begin = at;
        self.suspending = None;
        if let Some(index) = current {
            let operation = &mut self.operations[index];
            let cost = suspend.and_then(|s| match operation.kind {
                Kind::Program => Some(s.program.0),
                Kind::Erase => Some(s.erase.0),
                Kind::Read => None,
            });
            let allowed = suspend.is_some_and(|s| operation.suspended < s.limit);
            if continues {
                operation.end += time;
                self.suspending = current;
            } else if let (Some(cost), true) = (cost, allowed) {
                begin = at + cost;
                operation.end += cost + time + cost;
                operation.suspended += 1;
                self.suspending = current;
            } else {
                begin = operation.end;
            }
        }
        self.read_begin = begin;
        self.read_end = begin + time;
        self.delay(current, at + 1);
        self.read_end
    }

    /// A read of planes that read by themselves. Beside a read of others, the array is interrupted for as much longer as
    /// this one takes.
    pub fn plane_read(
        &mut self,
        planes: std::ops::Range<usize>,
        ready: u64,
        time: u64,
        suspend: Option<Suspend>,
    ) -> u64 {
        let ready = planes.clone().map(|plane| self.plane_ends[plane]).max().unwrap().max(ready);
        let end = if ready >= self.read_end {
            self.host_read(ready, time, suspend)
        } else {
            let end = ready.max(self.read_begin) + time;
            if end > self.read_end {
                let before = std::mem::replace(&mut self.read_end, end);
                if let Some(index) = self.suspending {
                    self.operations[index].end += end - before;
                }
                self.delay(self.suspending, before);
            }
            end
        };
        self.plane_ends[planes].fill(end);
        end
    }

    /// Everything that has not begun, which is what starts at `from` or later, keeps out of the way, in order.
    fn delay(&mut self, current: Option<usize>, from: u64) {
        let mut free = self.read_end;
        for (index, operation) in self.operations.iter_mut().enumerate() {
            if Some(index) == current {
                free = free.max(operation.end);
            } else if operation.start >= from {
                let time = operation.end - operation.start;
                operation.start = operation.start.max(free);
                operation.end = operation.start + time;
                free = operation.end;
            }
        }
    }
}
