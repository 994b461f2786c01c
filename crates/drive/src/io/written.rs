//! Which blocks hold data. Reading what was never written reads no flash, and would measure nothing.

const BLOCK: u64 = 4096;

#[derive(Clone)]
pub struct Written {
    /// A bit a block; `None`: nothing is known, everything may be read.
    bits: Option<Vec<u64>>,
}

impl Written {
    /// Nothing is known about what is there.
    #[cfg(any(target_os = "linux", windows, test))]
    pub fn unknown() -> Written {
        Written { bits: None }
    }

    /// Nothing is written yet.
    pub fn none(bytes: u64) -> Written {
        Written { bits: Some(vec![0; bytes.div_ceil(BLOCK * 64) as usize]) }
    }

    pub fn add(&mut self, offset: u64, len: u64) {
        let Some(bits) = &mut self.bits else { return };
        for block in offset / BLOCK..(offset + len).div_ceil(BLOCK) {
            bits[(block / 64) as usize] |= 1 << (block % 64);
        }
    }

    pub fn remove(&mut self, offset: u64, len: u64) {
        let Some(bits) = &mut self.bits else { return };
        for block in offset.div_ceil(BLOCK)..(offset + len) / BLOCK {
            bits[(block / 64) as usize] &= !(1 << (block % 64));
        }
    }

    /// Whether all of it holds data, as far as is known.
    pub fn covers(&self, offset: u64, len: u64) -> bool {
        let Some(bits) = &self.bits else { return true };
        (offset / BLOCK..(offset + len).div_ceil(BLOCK))
            .all(|block| bits[(block / 64) as usize] >> (block % 64) & 1 == 1)
    }

    /// Whole blocks of a range that hold no data: where each run of them begins, and its bytes.
    pub fn holes(&self, offset: u64, len: u64) -> Vec<(u64, u64)> {
        let mut holes: Vec<(u64, u64)> = Vec::new();
        for block in offset / BLOCK..(offset + len).div_ceil(BLOCK) {
            let at = block * BLOCK;
            if self.covers(at, BLOCK) {
                continue;
            }
            match holes.last_mut() {
                Some((start, len)) if *start + *len == at => *len += BLOCK,
                _ => holes.push((at, BLOCK)),
            }
        }
        holes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_written_when_touched_and_gone_when_covered() {
        let mut written = Written::none(1 << 20);
        assert!(!written.covers(0, 512));
        written.add(4096, 8192);
        assert!(written.covers(4096, 8192) && !written.covers(0, 8192));
        written.add(512, 512);
        assert!(written.covers(0, 12288));
        written.remove(2048, 6144);
        assert!(written.covers(0, 4096) && !written.covers(4096, 4096) && written.covers(8192, 4096));
        assert!(Written::unknown().covers(0, 1 << 40));
        assert_eq!(written.holes(0, 16384), [(4096, 4096), (12288, 4096)]);
        assert_eq!(written.holes(5000, 100), [(4096, 4096)]);
        assert_eq!(Written::unknown().holes(0, 1 << 20), []);
    }
}
