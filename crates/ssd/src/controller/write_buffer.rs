//! The write buffer: a ring of acknowledged data. Space is freed in the order it was taken, when the program that
//! holds the data ends.

use crate::consistency::{ensure, ensure_counters, Consistency};
use crate::nand::{Nand, Programming};
use crate::units::Nanos;

#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct WriteBuffer {
    /// Program units of host data by their number, modulo the length, which is a power of two.
    units: Vec<Programming>,
    /// The number of each over all units that the superblocks of host data hold.
    numbers: Vec<u64>,
    /// Those being programmed have the numbers from `oldest` to before `next`.
    oldest: u64,
    next: u64,
    /// Pages that neither they take nor the unit that is still being filled.
    free: u32,
    size: u32,
    /// Time that writes have stood still for want of room, each for itself.
    pub waited: Nanos,
    /// Until when the last that did so waited, and when the data were there of what was in its room: data come in order, so
    /// what follows waits as well.
    behind: Nanos,
    came: Nanos,
}

impl WriteBuffer {
    /// A buffer of `size_pages`, in units of `least_pages` or more.
    pub fn new(size_pages: u32, least_pages: u32) -> WriteBuffer {
        let units = (size_pages / least_pages + 1).next_power_of_two();
        WriteBuffer {
            units: vec![Programming::default(); units as usize],
            numbers: vec![0; units as usize],
            oldest: 0,
            next: 0,
            free: size_pages,
            size: size_pages,
            waited: Nanos::ZERO,
            behind: Nanos::ZERO,
            came: Nanos::ZERO,
        }
    }

    /// Whether it is a buffer of this size, which besides what is being programmed holds `filling` pages.
    pub fn check(&self, size_pages: u32, min_unit_pages: u32, filling: u32, nand: &Nand) -> Consistency {
        let slots = WriteBuffer::new(size_pages, min_unit_pages).units.len();
        ensure((self.units.len(), self.numbers.len(), self.size) == (slots, slots, size_pages), "write buffer")?;
        ensure_counters(&[self.next, self.waited.0, self.behind.0, self.came.0], "write buffer")?;
        ensure_counters(&self.numbers, "write buffer")?;
        ensure(self.oldest <= self.next && self.next - self.oldest <= slots as u64, "write buffer")?;
        ensure(self.under_way().all(|unit| nand.has_queued(unit)), "programs under way")?;
        let held: u64 = self.under_way().map(|unit| unit.pages as u64).sum();
        ensure(held + filling as u64 + self.free as u64 == self.size as u64, "write buffer")
    }

    #[inline]
    fn slot(&self, number: u64) -> usize {
        number as usize & (self.units.len() - 1)
    }

    /// Units being programmed, oldest first.
    fn under_way(&self) -> impl Iterator<Item = &Programming> {
        (self.oldest..self.next).map(|number| &self.units[self.slot(number)])
    }

    /// Units that have been in the buffer.
    pub fn units(&self) -> u64 {
        self.next
    }

    /// Pages of room.
    pub fn room(&self) -> u32 {
        self.free
    }

    /// What it holds, relative to `now`.
    pub fn timing_relative_to(&self, nand: &Nand, now: Nanos, into: &mut Vec<u64>) {
        into.extend([self.free as u64, self.behind.saturating_sub(now).0, self.came.saturating_sub(now).0]);
        self.under_way().for_each(|unit| nand.program_timing_relative_to(unit, now, into));
        into.push(u64::MAX);
    }

    /// So many units more have gone through it, and what it holds is of those and later by `span`.
    pub fn shift_timing(&mut self, nand: &Nand, span: Nanos, units: u64) {
        let held = |number: u64| (self.units[self.slot(number)], self.numbers[self.slot(number)]);
        let held: Vec<(Programming, u64)> = (self.oldest..self.next).map(held).collect();
        self.behind += span;
        self.came += span;
        self.oldest += units;
        self.next += units;
        for (number, (unit, of_host)) in (self.oldest..).zip(held) {
            let slot = self.slot(number);
            self.units[slot] = nand.shifted(&unit, span, units);
            self.numbers[slot] = of_host + units;
        }
    }

    /// Take room for `pages` at or after `at`; returns when they may come in.
    #[inline]
    pub fn take(&mut self, nand: &Nand, at: Nanos, pages: u32) -> Nanos {
        let mut room = at;
        while self.free < pages {
            assert!(self.oldest < self.next, "the buffer holds two program units");
            let oldest = &self.units[self.slot(self.oldest)];
            let (end, came) = (nand.end_of(oldest), oldest.asked);
            self.oldest += 1;
            self.free += oldest.pages;
            room = room.max(end);
            if end > self.behind {
                (self.behind, self.came) = (end, came);
            }
        }
        self.free -= pages;
        room
    }

    /// How long data that have come at `at`, after others at `before`, waited for a program to end; `followed` is more by how
    /// long they waited for its data to come.
    #[inline(always)]
    pub fn held_up(&self, before: Nanos, at: Nanos, followed: &mut Nanos) -> Nanos {
        let end = self.behind.min(at);
        let came = self.came.max(before).min(end);
        if came <= before {
            return end.saturating_sub(before);
        }
        *followed += came - before;
        end - came
    }

    /// The next unit is full, and being programmed.
    #[inline]
    pub fn programmed(&mut self, unit: Programming, number: u64) {
        let slot = self.slot(self.next);
        self.units[slot] = unit;
        self.numbers[slot] = number;
        self.next += 1;
    }

    /// Whether the unit of host data with that number, in the order they are filled, is still in the buffer at `now`.
    #[inline(always)]
    pub fn holds(&mut self, nand: &Nand, now: Nanos, number: u64) -> bool {
        if number >= self.next {
            return true;
        }
        self.let_go(nand, now);
        self.oldest < self.next && number >= self.oldest
    }

    /// Whether the data of that unit can still be replaced at `now`: it is being filled, or its program has not begun.
    pub fn awaits_program(&mut self, nand: &Nand, now: Nanos, number: u64) -> bool {
        number >= self.next || self.holds(nand, now, number) && !nand.has_begun(&self.units[self.slot(number)], now)
    }

    /// As `holds`, of a unit that is full, where they are not filled in order.
    pub fn holds_among(&mut self, nand: &Nand, now: Nanos, number: u64) -> bool {
        self.let_go(nand, now);
        (self.oldest..self.next).any(|unit| self.numbers[self.slot(unit)] == number)
    }

    /// Free what has been programmed.
    #[inline(always)]
    pub fn let_go(&mut self, nand: &Nand, now: Nanos) {
        while self.oldest < self.next {
            let oldest = &self.units[self.slot(self.oldest)];
            if nand.end_of(oldest) > now {
                break;
            }
            self.oldest += 1;
            self.free += oldest.pages;
        }
    }

    /// Pages of acknowledged data that are not in the NAND at `now`.
    pub fn held(&self, nand: &Nand, now: Nanos) -> u32 {
        let ended = self.under_way().take_while(|unit| nand.end_of(unit) <= now);
        self.size - self.free - ended.map(|unit| unit.pages).sum::<u32>()
    }

    /// Of what is being programmed now, what will be in the NAND last.
    pub fn last(&self, nand: &Nand) -> Option<Programming> {
        self.under_way().max_by_key(|unit| nand.end_of(unit)).copied()
    }
}
