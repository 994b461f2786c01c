//! A random order of n blocks in no memory: a bijection on the next power of two, walked until it lands below n.

#[derive(Clone, Debug)]
pub struct Permutation {
    len: u64,
    bits: u32,
    key: [u64; 3],
}

impl Permutation {
    /// An order of the numbers below `len`, chosen by `key`.
    pub fn new(len: u64, key: u64) -> Permutation {
        let bits = (64 - (len - 1).leading_zeros()).max(2);
        let spread = |by: u64| (key ^ by).wrapping_mul(0xd6e8_feb8_6659_fd93).rotate_left(32) ^ key;
        Permutation { len, bits, key: [spread(1), spread(2), spread(3)] }
    }

    pub fn len(&self) -> u64 {
        self.len
    }

    /// The number at place `index` of the order.
    #[inline]
    pub fn at(&self, index: u64) -> u64 {
        let mut value = index;
        loop {
            value = self.mix(value);
            if value < self.len {
                return value;
            }
        }
    }

    /// Each step can be undone on `bits` bits: adding, multiplying by an odd number, folding the high half down.
    #[inline]
    fn mix(&self, mut value: u64) -> u64 {
        let mask = u64::MAX >> (64 - self.bits);
        let half = self.bits.div_ceil(2);
        for key in self.key {
            value = value.wrapping_add(key) & mask;
            value = value.wrapping_mul(0x9e37_79b9_7f4a_7c15) & mask;
            value ^= value >> half;
        }
        value
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_number_comes_once(len in 1u64..5000, key in any::<u64>()) {
            let order = Permutation::new(len, key);
            let mut visited = vec![false; len as usize];
            for index in 0..len {
                let value = order.at(index) as usize;
                prop_assert!(!visited[value]);
                visited[value] = true;
            }
        }
    }

    #[test]
    fn neighbours_do_not_stay_together() {
        let order = Permutation::new(1 << 16, 7);
        let near = (1..1u64 << 16).filter(|&i| order.at(i).abs_diff(order.at(i - 1)) < 256).count();
        // By chance 0.8 % of pairs are that close.
        assert!(near < 1000, "{near}");
    }
}
