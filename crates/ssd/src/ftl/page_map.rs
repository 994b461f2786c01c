//! A map from page number to page number that stores runs as runs.
//!
//! Keys are cut into chunks of 512 pages (2 MiB). A chunk that was written in order is two runs at most, 12 bytes:
//!
//! ```text
//!   key     0 ............ at ........... 511
//!   value   first, first+1, ...| second, second+1, ...
//! ```
//!
//! Any other chunk is dense: 4 bytes a page in an array that takes memory only where something is dense.
//! The L2P map (logical to physical) and the P2L map (physical to logical) are both of this kind.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{Error, SeqAccess, Visitor};
use serde::ser::SerializeSeq;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_bytes::Bytes;

use crate::dense::{Dense, SEGMENT};
use crate::units::PageNumber;

/// "Nothing is mapped here", of any kind of page number.
const NONE: u32 = u32::MAX;

/// Keys of a chunk. In a browser an array takes memory as a whole once a chunk is dense, and chunks are that lie across the
/// ends of superblocks: those of the copies that answer there are of whole 256 pages.
const CHUNK: u32 = if cfg!(target_family = "wasm") { 256 } else { 512 };
const DENSE: u16 = u16::MAX;

/// The first values of a chunk's runs.
#[derive(Clone, Copy, Debug)]
struct Runs {
    first: u32,
    second: u32,
}

#[derive(Clone, Debug)]
pub struct PageMap<K, V> {
    /// Of each chunk: keys before this offset are in the first run; `DENSE`: look in the array. By themselves, since they
    /// are all that is asked of a dense one, and small enough to stay in the processor's cache.
    borders: Vec<u16>,
    runs: Vec<Runs>,
    dense: Dense,
    /// Dense chunks by segment of that array: where there are none, it takes no memory.
    in_segment: Vec<u16>,
    of: PhantomData<fn(K) -> V>,
}

/// The value `by` keys further in a run.
#[inline]
pub fn step<V: PageNumber>(value: V, by: u32) -> V {
    V::new(further(value.number(), by))
}

#[inline]
fn further(value: u32, by: u32) -> u32 {
    if value == NONE {
        NONE
    } else {
        value + by
    }
}

impl<K: PageNumber, V: PageNumber> PageMap<K, V> {
    /// A map of `keys` pages, all unmapped.
    pub fn new(keys: u32) -> PageMap<K, V> {
        let chunks = keys.div_ceil(CHUNK) as usize;
        PageMap {
            borders: vec![CHUNK as u16; chunks],
            runs: vec![Runs { first: NONE, second: NONE }; chunks],
            dense: Dense::new(keys.next_multiple_of(CHUNK), K::ACCESS),
            in_segment: vec![0; (keys as usize).div_ceil(SEGMENT)],
            of: PhantomData,
        }
    }

    /// Whether it is as long as a map of that many keys.
    pub fn has_keys(&self, keys: u32) -> bool {
        self.borders.len() == keys.div_ceil(CHUNK) as usize
    }

    /// Whether every key is mapped to a value below `limit`, or to none.
    pub fn values_are_below(&self, limit: u32) -> bool {
        let run_is = |first: u32, keys: u32| first == NONE || first as u64 + keys as u64 <= limit as u64;
        self.borders.iter().zip(&self.runs).zip(0..).all(|((border, runs), index)| match *border {
            DENSE => {
                let values = &self.dense.values()[(index * CHUNK) as usize..][..CHUNK as usize];
                // One more than the largest, where "none" is 0: that many are compared at a time.
                values.iter().fold(0, |most, value| most.max(value.wrapping_add(1))) <= limit
            }
            at => run_is(runs.first, at as u32) && run_is(runs.second, CHUNK - at as u32),
        })
    }

    pub fn get(&self, key: K) -> V {
        self.run(key, 1).0
    }

    /// The value at `key` and for how many keys, at most `limit`, the values go on in a run from it.
    /// A run ends at its chunk's border at the latest, so neighbours may belong together.
    #[inline(always)]
    pub fn run(&self, key: K, limit: u32) -> (V, u32) {
        let key = key.number();
        let index = (key / CHUNK) as usize;
        let border = self.borders[index];
        let offset = key % CHUNK;
        let limit = limit.min(CHUNK - offset);
        if border == DENSE {
            let values = self.dense.values();
            let first = values[key as usize];
            // Scattered data have no runs.
            let goes_on = limit > 1 && values[key as usize + 1] == further(first, 1);
            let run = if goes_on { self.dense_run(key, limit) } else { 1 };
            return (V::new(first), run);
        }
        let (at, Runs { first, second }) = (border as u32, self.runs[index]);
        if offset < at {
            (V::new(further(first, offset)), limit.min(at - offset))
        } else {
            (V::new(further(second, offset - at)), limit)
        }
    }

    /// Map `len` keys from `key` on to the run of values that begins with `value` (`NONE`: unmap them).
    /// `replaced` is told of the runs of values, never `NONE`, that were there.
    #[inline]
    pub fn set(&mut self, key: K, value: V, len: u32, mut replaced: impl FnMut(V, u32)) {
        let at = key.number();
        // A page of scattered data; with the last of a chunk it may be a run.
        if len == 1 && self.borders[(at / CHUNK) as usize] == DENSE && (at + 1) % CHUNK != 0 {
            let old = std::mem::replace(&mut self.dense.values_in_use()[at as usize], value.number());
            if old != NONE {
                replaced(V::new(old), 1);
            }
            return;
        }
        self.set_pages(key, value, len, replaced);
    }

    fn set_pages(&mut self, key: K, value: V, mut len: u32, mut replaced: impl FnMut(V, u32)) {
        let (mut key, mut value) = (key.number(), value.number());
        let mut replaced = |old: u32, run: u32| replaced(V::new(old), run);
        while len > 0 {
            let part = len.min(CHUNK - key % CHUNK);
            self.set_in_chunk(key, value, part, &mut replaced);
            key += part;
            value = further(value, part);
            len -= part;
        }
    }

    /// Map a run of keys to `to` on where the run of values that begins with `from` is what they are mapped to. Returns
    /// whether it is, and for how many of the keys that holds.
    #[inline(always)]
    pub fn exchange(&mut self, key: K, len: u32, from: V, to: V) -> (bool, u32) {
        let at = key.number();
        if len == 1 && self.borders[(at / CHUNK) as usize] == DENSE && (at + 1) % CHUNK != 0 {
            let value = &mut self.dense.values_in_use()[at as usize];
            let is_mapped = *value == from.number();
            if is_mapped {
                *value = to.number();
            }
            return (is_mapped, 1);
        }
        let (value, len) = self.run(key, len);
        if value == from {
            self.set_pages(key, to, len, |_, _| {});
        }
        (value == from, len)
    }

    /// Nobody will ask for these keys before they are set again: unmap them and give back the memory of what was dense.
    pub fn forget(&mut self, key: K, len: u32) {
        let (mut key, end) = (key.number(), key.number() + len);
        while key < end {
            let part = (end - key).min(CHUNK - key % CHUNK);
            let index = key / CHUNK;
            if part == CHUNK {
                self.make_runs(index, CHUNK, Runs { first: NONE, second: NONE });
            } else {
                self.set_in_chunk(key, NONE, part, &mut |_, _| {});
            }
            key += part;
        }
    }

    /// Prefetch the entry of `key`.
    #[inline]
    pub fn prefetch(&self, key: K) {
        let key = key.number();
        let index = (key / CHUNK) as usize;
        match self.borders.get(index) {
            Some(&DENSE) => prefetch(&self.dense.values()[key as usize]),
            Some(_) => prefetch(&self.runs[index]),
            None => {}
        }
    }

    /// The values of `key` and those after it, up to so many, where they are in the array.
    #[inline]
    pub fn dense_values(&self, key: K, limit: u32) -> impl Iterator<Item = V> + Clone + '_ {
        let key = key.number();
        let values = match self.borders[(key / CHUNK) as usize] {
            DENSE => &self.dense.values()[key as usize..][..limit.min(CHUNK - key % CHUNK) as usize],
            _ => &[],
        };
        values.iter().map(|&value| V::new(value))
    }

    #[inline(never)]
    fn dense_run(&self, key: u32, limit: u32) -> u32 {
        let values = &self.dense.values()[key as usize..(key + limit) as usize];
        let first = values[0];
        let same = values[1..].iter().zip(1..).take_while(|&(&v, by)| v == further(first, by));
        1 + same.count() as u32
    }

    #[inline]
    fn set_in_chunk(&mut self, key: u32, value: u32, len: u32, replaced: &mut impl FnMut(u32, u32)) {
        let offset = key % CHUNK;
        let border = &mut self.borders[(key / CHUNK) as usize];
        if *border == DENSE {
            self.set_dense(key, value, len, replaced);
            return;
        }
        let chunk = &mut self.runs[(key / CHUNK) as usize];
        let (at, end) = (*border as u32, offset + len);
        let head = offset.min(at);
        let (old_first, old_second) = (further(chunk.first, offset), chunk.second);
        if offset < at && old_first != NONE {
            replaced(old_first, end.min(at) - offset);
        }
        if end > at && old_second != NONE {
            let from = offset.max(at);
            replaced(further(old_second, from - at), end - from);
        }
        let one_before = offset == 0 || (offset == at && value == further(chunk.first, offset));
        if one_before && (end >= at || at == CHUNK) {
            // The first run begins or grows, and what is left is one: a chunk being written in order.
            chunk.second = match end {
                CHUNK => NONE,
                _ if end >= at => further(old_second, end - at),
                _ => further(chunk.first, end),
            };
            chunk.first = if offset == 0 { value } else { chunk.first };
            *border = end as u16;
            return;
        }
        self.set_among_runs(key / CHUNK, offset, value, len, head, at);
    }

    /// Replace `len` keys from `offset` in a chunk of two runs that meet at `at`.
    fn set_among_runs(&mut self, index: u32, offset: u32, value: u32, len: u32, head: u32, at: u32) {
        let chunk = self.runs[index as usize];
        let end = offset + len;
        // The pieces after the change, as (from, value) up to the next; empty ones and continuations dropped.
        let mut pieces = [(0, NONE); 5];
        let mut count = 0;
        let mut push = |from: u32, to: u32, value: u32| {
            if from < to {
                let (last, before): (u32, u32) = if count > 0 { pieces[count - 1] } else { (0, NONE) };
                if count == 0 || further(before, from - last) != value {
                    pieces[count] = (from, value);
                    count += 1;
                }
            }
        };
        push(0, head, chunk.first);
        push(at, offset, chunk.second);
        push(offset, end, value);
        push(end, at, further(chunk.first, end));
        let rest = end.max(at);
        push(rest, CHUNK, further(chunk.second, rest - at));
        if count <= 2 {
            let second = if count == 2 { pieces[1] } else { (CHUNK, NONE) };
            self.borders[index as usize] = second.0 as u16;
            self.runs[index as usize] = Runs { first: pieces[0].1, second: second.1 };
            return;
        }
        let values = self.make_dense(index);
        for (i, &(from, value)) in pieces[..count].iter().enumerate() {
            let to = if i + 1 < count { pieces[i + 1].0 } else { CHUNK };
            fill(&mut values[from as usize..to as usize], value);
        }
    }

    #[inline]
    fn set_dense(&mut self, key: u32, value: u32, len: u32, replaced: &mut impl FnMut(u32, u32)) {
        let values = &mut self.dense.values_in_use()[key as usize..(key + len) as usize];
        if len == 1 {
            let old = std::mem::replace(&mut values[0], value);
            if old != NONE {
                replaced(old, 1);
            }
        } else {
            let mut run = (NONE, 0);
            for old in values.iter_mut() {
                if run.1 > 0 && run.0 != NONE && *old == run.0 + run.1 {
                    run.1 += 1;
                } else {
                    if run.0 != NONE {
                        replaced(run.0, run.1);
                    }
                    run = (*old, 1);
                }
            }
            if run.0 != NONE {
                replaced(run.0, run.1);
            }
            fill(values, value);
        }
        if (key + len) % CHUNK == 0 {
            self.join(key / CHUNK);
        }
    }

    /// Store a dense chunk as runs again if it has become one or two: a single dense one keeps the memory of its segment.
    fn join(&mut self, index: u32) {
        let values = &self.dense.values()[(index * CHUNK) as usize..][..CHUNK as usize];
        let run_of = |values: &[u32]| {
            let goes_on = |&(&value, by): &(&u32, u32)| value == further(values[0], by);
            values.iter().zip(0..).take_while(goes_on).count()
        };
        let at = run_of(values);
        let (first, rest) = (values[0], &values[at..]);
        let Some((&second, &last)) = rest.first().zip(rest.last()) else {
            return self.make_runs(index, CHUNK, Runs { first, second: NONE });
        };
        // The last value tells nearly always.
        if last == further(second, rest.len() as u32 - 1) && run_of(rest) == rest.len() {
            self.make_runs(index, at as u32, Runs { first, second });
        }
    }

    /// Store a chunk as runs that meet at `at`.
    fn make_runs(&mut self, index: u32, at: u32, runs: Runs) {
        self.runs[index as usize] = runs;
        let was = std::mem::replace(&mut self.borders[index as usize], at as u16);
        if was == DENSE {
            let segment = (index * CHUNK) as usize / SEGMENT;
            self.in_segment[segment] -= 1;
            if self.in_segment[segment] == 0 {
                self.dense.give_back(segment);
            }
        }
    }

    fn make_dense(&mut self, index: u32) -> &mut [u32] {
        self.borders[index as usize] = DENSE;
        self.in_segment[(index * CHUNK) as usize / SEGMENT] += 1;
        self.dense.values_mut(index * CHUNK, (index + 1) * CHUNK)
    }
}

/// How a map is written down: chunks that go on in a run as one, dense ones as they are.
#[derive(Serialize, Deserialize)]
enum Piece<'a> {
    Run { value: u32, keys: u32 },
    Dense(#[serde(borrow)] &'a Bytes),
}

impl<K, V> PageMap<K, V> {
    /// Tell of the pieces of the map in order.
    fn pieces<'a>(&'a self, mut tell: impl FnMut(Piece<'a>)) {
        let (mut value, mut keys) = (NONE, 0);
        let mut index = 0;
        while index < self.borders.len() {
            let border = self.borders[index];
            if border == DENSE {
                if keys > 0 {
                    tell(Piece::Run { value, keys });
                    keys = 0;
                }
                let dense = self.borders[index..].iter().take_while(|border| **border == DENSE).count();
                let first = index as u32 * CHUNK;
                tell(Piece::Dense(Bytes::new(self.dense.bytes(first..first + dense as u32 * CHUNK))));
                index += dense;
                continue;
            }
            let (at, chunk) = (border as u32, self.runs[index]);
            for (next, more) in [(chunk.first, at), (chunk.second, CHUNK - at)] {
                if more == 0 {
                    continue;
                }
                if keys > 0 && further(value, keys) != next {
                    tell(Piece::Run { value, keys });
                    keys = 0;
                }
                value = if keys == 0 { next } else { value };
                keys += more;
            }
            index += 1;
        }
        if keys > 0 {
            tell(Piece::Run { value, keys });
        }
    }
}

impl<K, V> Serialize for PageMap<K, V> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut count = 0;
        self.pieces(|_| count += 1);
        // The first says how many keys there are.
        let mut list = to.serialize_seq(Some(count + 1))?;
        list.serialize_element(&Piece::Run { value: NONE, keys: self.borders.len() as u32 * CHUNK })?;
        let mut result = Ok(());
        self.pieces(|piece| {
            if result.is_ok() {
                result = list.serialize_element(&piece);
            }
        });
        result?;
        list.end()
    }
}

impl<'de, K: PageNumber, V: PageNumber> Deserialize<'de> for PageMap<K, V> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<PageMap<K, V>, D::Error> {
        struct Pieces<K, V>(PhantomData<fn(K) -> V>);

        impl<'de, K: PageNumber, V: PageNumber> Visitor<'de> for Pieces<K, V> {
            type Value = PageMap<K, V>;

            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("the pieces of a page map")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<PageMap<K, V>, A::Error> {
                let wrong = || A::Error::custom("a page map of another length");
                let Some(Piece::Run { keys: all, .. }) = list.next_element()? else { return Err(wrong()) };
                if all % CHUNK != 0 {
                    return Err(wrong());
                }
                let mut map = PageMap::<K, V>::new(all);
                let mut key = 0u32;
                while let Some(piece) = list.next_element()? {
                    let keys = match piece {
                        Piece::Run { keys, .. } => keys,
                        Piece::Dense(bytes) => bytes.len() as u32 / 4,
                    };
                    let end = key.checked_add(keys).filter(|end| *end <= all).ok_or_else(wrong)?;
                    match piece {
                        Piece::Run { value, .. } if value != NONE && keys >= NONE - value => {
                            return Err(A::Error::custom("a run past the last page"));
                        }
                        Piece::Run { value, .. } => map.set(K::new(key), V::new(value), keys, |_, _| {}),
                        Piece::Dense(_) if key % CHUNK != 0 || end % CHUNK != 0 => return Err(wrong()),
                        Piece::Dense(bytes) => {
                            map.dense.fill(key..end, bytes).map_err(A::Error::custom)?;
                            (key / CHUNK..end / CHUNK).for_each(|index| {
                                map.make_dense(index);
                            });
                        }
                    }
                    key = end;
                }
                if key == all {
                    Ok(map)
                } else {
                    Err(wrong())
                }
            }
        }

        from.deserialize_seq(Pieces(PhantomData))
    }
}

/// Write a run of values.
fn fill(values: &mut [u32], first: u32) {
    if first == NONE {
        values.fill(NONE);
    } else {
        for (value, by) in values.iter_mut().zip(0..) {
            *value = first + by;
        }
    }
}

#[inline]
fn prefetch<T>(value: &T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch has no effect on memory and the address is that of a live reference.
    unsafe {
        use std::arch::x86_64::{_mm_prefetch, _MM_HINT_T0};
        _mm_prefetch(value as *const T as *const i8, _MM_HINT_T0);
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = value;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::{Lpn, Ppn};
    use proptest::prelude::*;

    const KEYS: u32 = 3 * CHUNK;

    #[test]
    fn a_sequential_fill_never_becomes_dense() {
        let mut map = PageMap::<Lpn, Ppn>::new(KEYS);
        for pass in 0..3 {
            for key in (0..KEYS).step_by(48) {
                map.set(Lpn(key), Ppn(pass * 10_000 + key), 48.min(KEYS - key), |_, _| {});
            }
        }
        assert!(map.dense.values().is_empty());
    }

    #[test]
    fn a_dense_chunk_written_in_order_is_a_run_again() {
        let mut map = PageMap::<Lpn, Ppn>::new(KEYS);
        for key in (0..CHUNK).rev() {
            map.set(Lpn(key), Ppn(7 * key), 1, |_, _| {});
        }
        assert_eq!(map.borders[0], DENSE);
        for key in (0..CHUNK).step_by(16) {
            map.set(Lpn(key), Ppn(key), 16, |_, _| {});
        }
        assert_eq!(map.run(Lpn(0), CHUNK), (Ppn(0), CHUNK));
        assert_ne!(map.borders[0], DENSE);
    }

    #[test]
    fn what_is_forgotten_takes_no_memory() {
        let keys = 4 * SEGMENT as u32;
        let mut map = PageMap::<Lpn, Ppn>::new(keys);
        let written = |map: &PageMap<Lpn, Ppn>| map.dense.used().count();
        for key in (0..keys).step_by(64) {
            map.set(Lpn(key), Ppn(keys - key), 1, |_, _| {});
        }
        assert_eq!(written(&map), 4);
        // A chunk that is half wanted keeps its segment.
        map.forget(Lpn(SEGMENT as u32), SEGMENT as u32 + 256);
        assert_eq!(written(&map), 3);
        assert_eq!((map.get(Lpn(SEGMENT as u32 + 64)), map.get(Lpn(2 * SEGMENT as u32))), (Ppn::NONE, Ppn::NONE));
        assert_eq!(map.get(Lpn(2 * SEGMENT as u32 + 256)), Ppn(2 * SEGMENT as u32 - 256));
        map.forget(Lpn(0), keys);
        assert_eq!(written(&map), 0);
        map.set(Lpn(70), Ppn(7), 1, |_, _| {});
        assert_eq!(map.run(Lpn(64), 64), (Ppn::NONE, 6));
    }

    #[test]
    fn a_chunk_that_is_written_over_in_order_takes_no_memory_wherever_its_runs_meet() {
        let mut map = PageMap::<Lpn, Ppn>::new(CHUNK);
        for (round, border) in [100, 200, 511, 1, 300].into_iter().enumerate() {
            let value = |key: u32| key + if key < border { 1000 } else { 5000 } + 10_000 * round as u32;
            for key in 0..CHUNK {
                map.set(Lpn(key), Ppn(value(key)), 1, |_, _| {});
            }
            assert_eq!(map.dense.used().count(), 0);
            assert!((0..CHUNK).all(|key| map.get(Lpn(key)) == Ppn(value(key))));
        }
    }

    proptest! {
        #[test]
        fn it_equals_a_plain_array(
            sets in prop::collection::vec((0..KEYS, 1u32..700, 0u32..40, 0u8..3), 1..200)
        ) {
            let mut map = PageMap::<Lpn, Ppn>::new(KEYS);
            let mut plain = vec![NONE; KEYS as usize];
            for (key, len, base, kind) in sets {
                let len = len.min(KEYS - key);
                // Values that often continue what is there.
                let value = if kind > 0 { NONE } else { key + base * 100 };
                let mut replaced = Vec::new();
                if kind == 2 {
                    map.forget(Lpn(key), len);
                    plain[key as usize..(key + len) as usize].fill(NONE);
                    continue;
                }
                map.set(Lpn(key), Ppn(value), len, |old, n| replaced.extend(old.0..old.0 + n));
                let mut expected = Vec::new();
                for by in 0..len {
                    let slot = &mut plain[(key + by) as usize];
                    if *slot != NONE {
                        expected.push(*slot);
                    }
                    *slot = further(value, by);
                }
                prop_assert_eq!(replaced, expected);
                for key in 0..KEYS {
                    prop_assert_eq!(map.get(Lpn(key)).0, plain[key as usize]);
                    let (value, run) = map.run(Lpn(key), 700);
                    prop_assert!(run >= 1);
                    for by in 0..run {
                        prop_assert_eq!(plain[(key + by) as usize], step(value, by).0);
                    }
                }
            }
            let written = postcard::to_stdvec(&map).unwrap();
            let read: PageMap<Lpn, Ppn> = postcard::from_bytes(&written).unwrap();
            for key in 0..KEYS {
                prop_assert_eq!(read.get(Lpn(key)).0, plain[key as usize]);
            }
            prop_assert_eq!(postcard::to_stdvec(&read).unwrap(), written);
        }
    }
}
