//! `/proc/self/mountinfo`, and on which mount a descriptor is.

use std::fs::{self, File};
use std::os::fd::AsRawFd;

/// A line of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mount {
    id: String,
    /// `major:minor` of the file system, as `/proc/locks` names it.
    pub number: String,
    pub point: String,
    /// `ext4`, `tmpfs`, `fuse.sshfs`.
    pub kind: String,
    /// Block devices it says it is on: one, or several after one another with `:` between.
    pub source: String,
    /// Options of the file system.
    pub options: String,
}

impl Mount {
    /// Paths of the block devices it is on or keeps a journal on, as far as it tells.
    pub fn devices(&self) -> impl Iterator<Item = &str> {
        let extra = self
            .options
            .split(',')
            .filter_map(|option| option.strip_prefix("logdev=").or_else(|| option.strip_prefix("rtdev=")));
        self.source.split(':').chain(extra).filter(|path| path.starts_with('/'))
    }
}

pub fn all() -> Vec<Mount> {
    let text = fs::read("/proc/self/mountinfo").unwrap_or_default();
    String::from_utf8_lossy(&text).lines().filter_map(parse).collect()
}

/// The mount on which `file` was found.
pub fn of(file: &File) -> Option<Mount> {
    let info = fs::read_to_string(format!("/proc/self/fdinfo/{}", file.as_raw_fd())).ok()?;
    let id = info.lines().find_map(|line| line.strip_prefix("mnt_id:"))?.trim().to_string();
    all().into_iter().find(|mount| mount.id == id)
}

fn parse(line: &str) -> Option<Mount> {
    let (before, after) = line.split_once(" - ")?;
    let before: Vec<&str> = before.split(' ').collect();
    let mut after = after.splitn(3, ' ');
    Some(Mount {
        id: before.first()?.to_string(),
        number: before.get(2)?.to_string(),
        point: unescaped(before.get(4)?),
        kind: after.next()?.to_string(),
        source: unescaped(after.next()?),
        options: after.next().unwrap_or_default().to_string(),
    })
}

/// `\040` and the like are bytes.
fn unescaped(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((&first, more)) = rest.split_first() {
        let octal =
            more.get(..3).filter(|_| first == b'\\').and_then(|three| std::str::from_utf8(three).ok());
        match octal.and_then(|three| u8::from_str_radix(three, 8).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &more[3..];
            }
            None => {
                bytes.push(first);
                rest = more;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_gives_its_parts_and_its_devices() {
        let line = "36 35 98:0 /m /mnt\\040two rw,noatime shared:1 - xfs /dev/a rw,logdev=/dev/b,noquota";
        let mount = parse(line).unwrap();
        assert_eq!((mount.number.as_str(), mount.point.as_str()), ("98:0", "/mnt two"));
        assert_eq!(mount.devices().collect::<Vec<_>>(), ["/dev/a", "/dev/b"]);
        assert_eq!(parse("36 35"), None);
    }
}
