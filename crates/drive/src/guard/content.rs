//! What the bytes of a drive show of somebody's data, whoever made them: one rule for every system.
//!
//! Anything but zeros or ones in the first MiB, in the last, or around 64 MiB is somebody's, and so is a copy of a label of
//! ext4, XFS or btrfs where these keep them, though all else was overwritten.

use std::io;

/// Bytes at each place where it is looked for data.
pub const SAMPLE_BYTES: u64 = 1 << 20;

/// Bytes that are read for a copy of a label, and their alignment: a page, as drives of Windows are read.
const COPY_BYTES: u64 = 4096;

/// Bytes of a page of a sample, of which it is told whether it is random.
const PAGE_BYTES: usize = 4096;

/// Beginnings of what libblkid does not know: where, the bytes, and whose they are.
const MAGICS: [(usize, &[u8], &str); 12] = [
    (0, b"QFI\xfb", "a qcow2 image"),
    (0, b"KDMV", "a VMDK image"),
    (0x40, b"\x7f\x10\xda\xbe", "a VDI image"),
    (0, b"vhdxfile", "a VHDX image"),
    (257, b"ustar", "a tar archive"),
    (0, b"\x1f\x8b\x08", "data packed by gzip"),
    (0, b"\xfd7zXZ\0", "data packed by xz"),
    (0, b"\x28\xb5\x2f\xfd", "data packed by zstd"),
    (0, b"PK\x03\x04", "a zip archive"),
    (0, b"SQLite format 3\0", "an SQLite database"),
    (4096 + 24, b"\xc6\x85\x73\xf6\x4e\x1a\x45\xca\x82\x65\xf5\x7f\x48\xba\x6d\x81", "a bcachefs file system"),
    (4096 + 24, b"\xc6\x85\x73\xf6\x66\xce\x90\xa9\xd9\x6a\x60\xcf\x80\x3d\xf7\xef", "a bcachefs file system"),
];

/// Reads into all of a buffer from an offset.
pub type Read<'a> = dyn FnMut(u64, &mut [u8]) -> io::Result<()> + 'a;

/// A sentence for each place that holds data, and for each copy of a label; `memory` has room for a sample.
pub fn find(bytes: u64, memory: &mut [u8], read: &mut Read) -> io::Result<Vec<String>> {
    let mut sentences = Vec::new();
    for (place, offset) in samples(bytes) {
        let sample = &mut memory[..SAMPLE_BYTES as usize];
        read(offset, sample)?;
        if !is_blank(sample) {
            sentences.push(format!("data {place}: {}", describe(sample)));
        }
    }
    for copy in copies(bytes) {
        let page = &mut memory[..COPY_BYTES as usize];
        let start = copy.offset / COPY_BYTES * COPY_BYTES;
        read(start, page)?;
        if (copy.is_one)(&page[(copy.offset - start) as usize..]) {
            sentences.push(format!("a copy of the superblock of {}, at byte {}", copy.of, copy.offset));
            break;
        }
    }
    Ok(sentences)
}

/// Where it is looked for data: the labels of file systems, volume managers, RAID and encryption lie at either end, and
/// btrfs has a second one at 64 MiB.
fn samples(bytes: u64) -> impl Iterator<Item = (&'static str, u64)> {
    const COPY: u64 = (64 << 20) - SAMPLE_BYTES / 2;
    let places = [
        ("in its first MiB", Some(0)),
        ("around 64 MiB", (bytes >= COPY + SAMPLE_BYTES).then_some(COPY)),
        ("in its last MiB", bytes.checked_sub(SAMPLE_BYTES)),
    ];
    places.into_iter().filter_map(|(place, offset)| Some((place, offset?)))
}

/// Whether nothing was ever written there: drives answer with zeros then, or with ones.
fn is_blank(bytes: &[u8]) -> bool {
    [0x00, 0xFF].iter().any(|blank| bytes.iter().all(|byte| byte == blank))
}

/// What a sample with data in it looks like.
fn describe(sample: &[u8]) -> String {
    let begins = |(offset, magic, _): &&(usize, &[u8], &str)| sample[*offset..].starts_with(magic);
    if let Some((_, _, what)) = MAGICS.iter().find(begins) {
        return what.to_string();
    }
    let used: Vec<&[u8]> = sample.chunks(PAGE_BYTES).filter(|page| !is_blank(page)).collect();
    let share = format!("in {} of its {} pages of 4 KiB", used.len(), sample.len() / PAGE_BYTES);
    let all = |is: fn(&[u8]) -> bool| used.iter().all(|page| is(page));
    match (all(is_random), all(is_text)) {
        (true, _) => format!("bytes that look random, as encrypted or packed data do, {share}"),
        (_, true) => format!("text, {share}"),
        _ => format!("binary data, {share}"),
    }
}

/// Whether each value of a byte is about as frequent as any other: of 4096 random bytes one comes 16 times, and 40 times
/// in one page of 10 000.
fn is_random(page: &[u8]) -> bool {
    let mut counts = [0u32; 256];
    page.iter().for_each(|byte| counts[*byte as usize] += 1);
    counts.iter().all(|count| *count <= 40)
}

fn is_text(page: &[u8]) -> bool {
    page.iter().all(|byte| matches!(byte, 0 | b'\t' | b'\n' | b'\r' | b' '..=b'~' | 0x80..))
}

/// A place at which a file system keeps a copy of its superblock.
struct Copy {
    of: &'static str,
    offset: u64,
    is_one: fn(&[u8]) -> bool,
}

/// The first copies that mke2fs, mkfs.xfs and mkfs.btrfs make, as far as the drive reaches.
fn copies(bytes: u64) -> impl Iterator<Item = Copy> {
    // ext: at the start of group 1 and of those whose number is a power of 3, 5 or 7; a group is as many blocks as the
    // bits of one. Blocks of 1 KiB are counted from 1.
    let ext = [1u64, 3, 5, 7, 9, 25, 27].into_iter().flat_map(|group| {
        [1u64 << 10, 2 << 10, 4 << 10].map(|block| (group * 8 * block + u64::from(block == 1024)) * block)
    });
    // XFS: at the start of each allocation group; a file system has 4, 8, 16 or 32 of them, or one for each TiB.
    let blocks = bytes / 4096;
    let groups =
        [blocks.div_ceil(4), blocks.div_ceil(8), blocks.div_ceil(16), blocks.div_ceil(32), (1 << 28) - 1, 1 << 28];
    let xfs = groups.into_iter().flat_map(|group| [1, 2, 3].map(|number| number * group * 4096));
    let copy = |of, is_one| move |offset| Copy { of, offset, is_one };
    ext.map(copy("ext2, ext3 or ext4", is_ext))
        .chain(xfs.map(copy("XFS", |page| page.starts_with(b"XFSB"))))
        .chain(std::iter::once(256u64 << 30).map(copy("btrfs", |page| page[64..].starts_with(b"_BHRfS_M"))))
        .filter(move |copy| copy.offset > 0 && copy.offset + COPY_BYTES <= bytes)
}

/// The magic number, blocks of at most 64 KiB, and a group that is not the first.
fn is_ext(superblock: &[u8]) -> bool {
    superblock[56..58] == [0x53, 0xEF]
        && superblock[24] <= 6
        && superblock[25..28] == [0; 3]
        && superblock[90..92] != [0; 2]
}

#[cfg(test)]
mod tests {
    use super::*;

    const BYTES: u64 = 256 << 20;

    /// A drive of zeros, or of `fill`, with these bytes at these places.
    fn sentences_of(fill: u8, data: &[(u64, &[u8])]) -> Vec<String> {
        let mut memory = vec![0; SAMPLE_BYTES as usize];
        let mut read = |offset: u64, into: &mut [u8]| {
            into.fill(fill);
            for (at, bytes) in data {
                for (place, byte) in (*at..).zip(*bytes) {
                    if let Some(within) = place.checked_sub(offset).filter(|within| *within < into.len() as u64) {
                        into[within as usize] = *byte;
                    }
                }
            }
            Ok(())
        };
        find(BYTES, &mut memory, &mut read).unwrap()
    }

    #[test]
    fn data_are_found_at_both_ends_and_around_64_mib() {
        for fill in [0x00, 0xFF] {
            assert_eq!(sentences_of(fill, &[]), [""; 0], "nothing was ever written there");
            assert_eq!(sentences_of(fill, &[(2 << 20, b"elsewhere")]), [""; 0]);
        }
        let binary = "binary data, in 1 of its 256 pages of 4 KiB";
        for (at, place) in [(0, "in its first MiB"), (64 << 20, "around 64 MiB"), (BYTES - 9, "in its last MiB")] {
            assert_eq!(sentences_of(0, &[(at, &[1, 2])]), [format!("data {place}: {binary}")]);
        }
    }

    #[test]
    fn a_copy_of_a_superblock_is_found_though_all_before_it_is_gone() {
        let mut ext = [0u8; 100];
        (ext[24], ext[56], ext[57], ext[90]) = (2, 0x53, 0xEF, 1);
        for (offset, bytes, of) in [
            (8193 << 10, &ext[..], "ext2, ext3 or ext4"),
            (32 << 20, &ext[..], "ext2, ext3 or ext4"),
            (128 << 20, &ext[..], "ext2, ext3 or ext4"),
            (BYTES / 4, b"XFSB", "XFS"),
            (BYTES / 2, b"XFSB", "XFS"),
        ] {
            let sentence = format!("a copy of the superblock of {of}, at byte {offset}");
            assert!(sentences_of(0, &[(offset, bytes)]).contains(&sentence), "{of} at {offset}");
        }
    }

    #[test]
    fn what_is_seen_is_said() {
        assert_eq!(sentences_of(0, &[(0, b"QFI\xfb\0\0\0\x03")]), ["data in its first MiB: a qcow2 image"]);
        assert_eq!(sentences_of(0, &[(257, b"ustar")]), ["data in its first MiB: a tar archive"]);
        let text = "line after line\n".repeat(256);
        assert_eq!(
            sentences_of(0, &[(0, text.as_bytes())]),
            ["data in its first MiB: text, in 1 of its 256 pages of 4 KiB"]
        );
        let random: Vec<u8> = (0..4096u64).map(|n| pslc_load::splitmix64(n) as u8).collect();
        assert!(sentences_of(0, &[(0, &random)])[0].contains("look random"));
    }
}
