//! A short queue in one slice: what timelines are kept in. Popping moves a mark; the room before it is used again when
//! it has become the larger part.

use std::ops::{Deref, DerefMut};

#[derive(Clone, Debug)]
pub struct Queue<T> {
    items: Vec<T>,
    head: usize,
}

impl<T> Default for Queue<T> {
    fn default() -> Queue<T> {
        Queue { items: Vec::new(), head: 0 }
    }
}

impl<T: Copy> Queue<T> {
    #[inline]
    pub fn push_back(&mut self, item: T) {
        if self.is_at_capacity() {
            self.make_room();
        }
        self.items.push(item);
    }

    /// Whether the next `push_back` has to move or allocate memory.
    #[inline]
    pub fn is_at_capacity(&self) -> bool {
        self.items.len() == self.items.capacity()
    }

    #[inline]
    pub fn pop_front(&mut self) -> Option<T> {
        let first = self.items.get(self.head).copied()?;
        self.head += 1;
        if self.head == self.items.len() {
            self.items.clear();
            self.head = 0;
        }
        Some(first)
    }

    /// Insert before position `at`, which is near the end.
    #[inline]
    pub fn insert(&mut self, at: usize, item: T) {
        self.push_back(item);
        let mut to = self.items.len() - 1;
        while to > self.head + at {
            self.items[to] = self.items[to - 1];
            to -= 1;
        }
        self.items[to] = item;
    }

    #[inline]
    pub fn remove(&mut self, at: usize) {
        self.items.remove(self.head + at);
    }

    /// Reuse the room of what was popped when that is at least half of all.
    #[cold]
    fn make_room(&mut self) {
        if self.head * 2 > self.items.len() {
            self.items.drain(..self.head);
            self.head = 0;
        } else {
            self.items.reserve(self.items.len().max(256));
        }
    }
}

impl<T> Deref for Queue<T> {
    type Target = [T];
    #[inline]
    fn deref(&self) -> &[T] {
        &self.items[self.head..]
    }
}

impl<T> DerefMut for Queue<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.items[self.head..]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    proptest! {
        #[test]
        fn it_equals_a_double_ended_queue(steps in prop::collection::vec((0u8..4, any::<u16>()), 0..400)) {
            let mut queue = Queue::default();
            let mut plain = VecDeque::new();
            for (step, value) in steps {
                match step {
                    0 | 1 => {
                        queue.push_back(value);
                        plain.push_back(value);
                    }
                    2 => prop_assert_eq!(queue.pop_front(), plain.pop_front()),
                    _ => {
                        let at = value as usize % (plain.len() + 1);
                        queue.insert(at, value);
                        plain.insert(at, value);
                    }
                }
                prop_assert_eq!(&*queue, plain.make_contiguous() as &[u16]);
            }
        }
    }
}
