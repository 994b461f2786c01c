//! Work that the processors of this computer share, where a drive is written down, read back or copied.

/// The share of each processor of so many bytes; all of them where a thread costs more than it saves.
pub fn share(bytes: usize) -> usize {
    const MIN_BYTES: usize = 8 << 20;
    let processors = std::thread::available_parallelism().map_or(1, |count| count.get());
    bytes.div_ceil(processors).max(MIN_BYTES)
}
