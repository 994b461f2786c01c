//! Memory of a large array where there are no mappings: in a browser. What was never written costs nothing there either.

#[derive(Debug)]
pub struct Memory(Vec<u32>);

impl Memory {
    /// `len` numbers, all 0.
    ///
    /// # Panics
    ///
    /// They are more than a page has memory for.
    pub fn new(len: usize, _access: super::Access) -> Memory {
        assert!(len <= isize::MAX as usize / 4, "this takes more memory than a page has");
        Memory(vec![0; len])
    }

    #[inline]
    pub fn values(&self) -> &[u32] {
        &self.0
    }

    #[inline]
    pub fn values_mut(&mut self) -> &mut [u32] {
        &mut self.0
    }

    /// Memory of a page only grows.
    pub fn give_back(&mut self, _numbers: std::ops::Range<u32>) {}
}
