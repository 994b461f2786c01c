//! What a user may do with a device, and what helps who may not: the owner, the group and the mode of its node decide.

use std::fs::{self, File};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use rustix::fs::Access;
use rustix::io::Errno;
use rustix::process::geteuid;

use crate::error::DeviceError;
use crate::handle;

/// The refusal of a device that this user may not both read and write; `None` where that is allowed. The kernel decides,
/// since a node may have an access control list as well.
pub fn refusal(node: &File, path: &Path) -> Option<DeviceError> {
    let may = |wanted| rustix::fs::access(handle::itself(node), wanted) != Err(Errno::ACCESS);
    if may(Access::READ_OK | Access::WRITE_OK) {
        return None;
    }
    let metadata = node.metadata().ok()?;
    let (mode, group) = (metadata.mode() & 0o777, metadata.gid());
    Some(DeviceError::Denied {
        path: path.to_path_buf(),
        may_read: may(Access::READ_OK),
        rights: format!("{mode:o} {}:{}", name("/etc/passwd", metadata.uid()), name("/etc/group", group)),
        user: name("/etc/passwd", geteuid().as_raw()),
        group: group_helps(mode, group).then(|| name("/etc/group", group)),
    })
}

/// Whether members of the group of a node may read and write it. Nobody is to join root's.
fn group_helps(mode: u32, group: u32) -> bool {
    group != 0 && mode >> 3 & 6 == 6
}

/// The name of a user or a group in a file such as /etc/passwd, else its number.
fn name(file: &str, id: u32) -> String {
    let text = fs::read_to_string(file).unwrap_or_default();
    let number = id.to_string();
    let line = text.lines().find(|line| line.split(':').nth(2) == Some(&number));
    line.and_then(|line| line.split(':').next()).unwrap_or(&number).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_helps_that_may_read_and_write_and_is_not_roots() {
        assert!(group_helps(0o660, 6));
        assert!(!group_helps(0o640, 6));
        assert!(!group_helps(0o660, 0));
    }

    #[test]
    fn a_user_without_a_name_is_a_number() {
        assert_eq!(name("/etc/passwd", 0), "root");
        assert_eq!(name("/etc/passwd", 4_000_000_001), "4000000001");
        assert_eq!(name("/nowhere", 5), "5");
    }
}
