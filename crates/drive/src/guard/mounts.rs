//! `/proc/self/mountinfo`, and on which mount a descriptor is.

use std::fs::{self, File};
use std::os::fd::AsRawFd;
use std::path::Path;

use crate::guard::facts::Mount;
use crate::handle;

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

/// The mount on which a path is; without one, all of them.
pub fn mounts(path: Option<&Path>) -> Vec<Mount> {
    match path {
        Some(path) => handle::find(path, true).ok().and_then(|file| of(&file)).into_iter().collect(),
        None => all(),
    }
}

fn parse(line: &str) -> Option<Mount> {
    let (before, after) = line.split_once(" - ")?;
    let before: Vec<&str> = before.split(' ').collect();
    let mut after = after.splitn(3, ' ');
    Some(Mount {
        id: before.first()?.to_string(),
        number: before.get(2)?.to_string(),
        point: unescaped(before.get(4)?),
        flags: before.get(5)?.to_string(),
        kind: after.next()?.to_string(),
        source: unescaped(after.next()?),
        options: unescaped(after.next().unwrap_or_default()),
    })
}

/// `\040` and the like are bytes.
fn unescaped(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((&first, more)) = rest.split_first() {
        let octal = more.get(..3).filter(|_| first == b'\\').and_then(|three| std::str::from_utf8(three).ok());
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
        assert_eq!((mount.flags.as_str(), mount.kind.as_str()), ("rw,noatime", "xfs"));
        assert_eq!(mount.devices().collect::<Vec<_>>(), ["/dev/a", "/dev/b"]);
        assert_eq!(parse("36 35"), None);
    }
}
