//! What a user may do with a device, and what helps who may not: the owner, the group and the mode of its node decide.

use std::fs::{self, File};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::process::{getgroups, getuid};

use crate::error::DeviceError;

/// The refusal of a device that this user may not read, or not write to as well; `None` where neither is so.
pub fn refusal(node: &File, path: &Path, write: bool) -> Option<DeviceError> {
    let metadata = node.metadata().ok()?;
    let uid = getuid().as_raw();
    if uid == 0 {
        return None;
    }
    let groups: Vec<u32> = getgroups().unwrap_or_default().iter().map(|group| group.as_raw()).collect();
    let groups = [groups, vec![rustix::process::getegid().as_raw()]].concat();
    let about = Node { mode: metadata.mode() & 0o777, owner: metadata.uid(), group: metadata.gid() };
    let given = about.bits(uid, &groups);
    let wanted = if write { READ | WRITE } else { READ };
    (given & wanted != wanted).then(|| DeviceError::Denied {
        path: path.to_path_buf(),
        may_read: given & READ != 0,
        rights: format!(
            "{:o} {}:{}",
            about.mode,
            name("/etc/passwd", about.owner),
            name("/etc/group", about.group)
        ),
        user: name("/etc/passwd", uid),
        group: about.helps(wanted).then(|| name("/etc/group", about.group)),
    })
}

const READ: u32 = 4;
const WRITE: u32 = 2;

/// What the node of a device says of rights.
struct Node {
    mode: u32,
    owner: u32,
    group: u32,
}

impl Node {
    /// Bits of the mode that count for a user in these groups.
    fn bits(&self, user: u32, groups: &[u32]) -> u32 {
        let shift = match (user == self.owner, groups.contains(&self.group)) {
            (true, _) => 6,
            (false, true) => 3,
            (false, false) => 0,
        };
        self.mode >> shift & 7
    }

    /// Whether members of its group may do this. Nobody is to join root's.
    fn helps(&self, wanted: u32) -> bool {
        self.group != 0 && self.mode >> 3 & wanted == wanted
    }
}

/// The name of a user or a group in a file such as /etc/passwd, else its number.
fn name(file: &str, id: u32) -> String {
    let text = fs::read_to_string(PathBuf::from(file)).unwrap_or_default();
    let number = id.to_string();
    let line = text.lines().find(|line| line.split(':').nth(2) == Some(&number));
    line.and_then(|line| line.split(':').next()).unwrap_or(&number).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_owner_the_group_and_all_others_have_bits_of_their_own() {
        let node = Node { mode: 0o640, owner: 7, group: 6 };
        assert_eq!(node.bits(7, &[6]), 6);
        assert_eq!(node.bits(8, &[5, 6]), 4);
        assert_eq!(node.bits(8, &[5]), 0);
        // Who owns it has no more than the owner's bits, whatever the group may do.
        assert_eq!(Node { mode: 0o060, owner: 7, group: 6 }.bits(7, &[6]), 0);
    }

    #[test]
    fn a_group_helps_that_may_do_what_is_wanted_and_is_not_roots() {
        let node = |mode, group| Node { mode, owner: 0, group };
        assert!(node(0o660, 6).helps(READ | WRITE));
        assert!(node(0o640, 6).helps(READ));
        assert!(!node(0o640, 6).helps(READ | WRITE));
        assert!(!node(0o660, 0).helps(READ));
    }

    #[test]
    fn a_user_without_a_name_is_a_number() {
        assert_eq!(name("/etc/passwd", 0), "root");
        assert_eq!(name("/etc/passwd", 4_000_000_001), "4000000001");
        assert_eq!(name("/nowhere", 5), "5");
    }
}
