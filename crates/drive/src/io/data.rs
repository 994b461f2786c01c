//! What is written, so that a drive can neither compress it nor find it twice.

use pslc_load::job::Data;
use pslc_load::splitmix64;
use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;

const SECTOR: usize = 512;
/// Share of zeros is kept within each of these.
const GRAIN: usize = 4096;

/// Makes the data of one run.
pub struct Maker {
    seed: u64,
    random: Pcg64Mcg,
    /// Sectors stamped so far.
    stamps: u64,
}

impl Maker {
    pub fn new(seed: u64) -> Maker {
        Maker { seed, random: Pcg64Mcg::seed_from_u64(seed), stamps: 0 }
    }

    /// Fill a slot's buffer before its first write.
    pub fn prime(&mut self, buffer: &mut [u8], data: &Data) {
        match data {
            Data::Zeros => buffer.fill(0),
            _ => self.random.fill_bytes(buffer),
        }
    }

    /// The data of one write.
    pub fn make(&mut self, buffer: &mut [u8], data: &Data) {
        match data {
            Data::Zeros | Data::Repeated => {}
            Data::Pattern(pattern) => pattern.fill(buffer, 0),
            // A number of its own in each sector: no two are alike, and what is around it does not compress.
            Data::Scrambled => {
                for sector in buffer.chunks_mut(SECTOR) {
                    self.stamps += 1;
                    let stamp = splitmix64(self.seed ^ self.stamps).to_le_bytes();
                    sector[..8].copy_from_slice(&stamp);
                }
            }
            Data::Refilled => self.random.fill_bytes(buffer),
            Data::Compressible(percent) => {
                for grain in buffer.chunks_mut(GRAIN) {
                    let random = grain.len() - grain.len() * *percent as usize / 100;
                    self.random.fill_bytes(&mut grain[..random]);
                    grain[random..].fill(0);
                }
            }
        }
    }

    /// What the data of one write of a job that verifies follow from: no two are alike.
    pub fn seed_of(&self, worker: u16, number: u64) -> u64 {
        splitmix64(self.seed ^ splitmix64(((worker as u64) << 48) ^ number)) | 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn no_two_sectors_are_alike() {
        let mut maker = Maker::new(1);
        let mut sectors = HashSet::new();
        for data in [Data::Scrambled, Data::Refilled] {
            let mut buffer = vec![0; 8192];
            maker.prime(&mut buffer, &data);
            for _ in 0..50 {
                maker.make(&mut buffer, &data);
                assert!(buffer.chunks(SECTOR).all(|sector| sectors.insert(sector.to_vec())));
            }
        }
    }

    #[test]
    fn what_is_repeated_stays() {
        let mut maker = Maker::new(1);
        let mut buffer = vec![0; 8192];
        maker.prime(&mut buffer, &Data::Repeated);
        let first = buffer.clone();
        maker.make(&mut buffer, &Data::Repeated);
        assert_eq!(buffer, first);
        assert!(first[..SECTOR] != first[SECTOR..2 * SECTOR] && first.iter().any(|byte| *byte != 0));
    }

    #[test]
    fn bytes_are_as_random_as_they_should_be() {
        let zeros = |data| {
            let mut maker = Maker::new(2);
            let mut buffer = vec![7; 1 << 20];
            maker.prime(&mut buffer, &data);
            maker.make(&mut buffer, &data);
            buffer.iter().filter(|byte| **byte == 0).count() * 100 / buffer.len()
        };
        assert_eq!(zeros(Data::Zeros), 100);
        assert_eq!(zeros(Data::Scrambled), 0);
        assert_eq!(zeros(Data::Refilled), 0);
        assert_eq!(zeros(Data::Compressible(70)), 70);
    }
}
