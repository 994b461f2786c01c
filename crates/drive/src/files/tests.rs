use std::fs::{self, OpenOptions};
#[cfg(unix)]
use std::os::unix::fs::{symlink, MetadataExt, PermissionsExt};

use super::*;

/// A folder of its own, removed with all that is in it.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Folder {
        let path = std::env::temp_dir().join(format!("pslc-files-{:016x}", random()));
        fs::create_dir(&path).unwrap();
        Folder(path)
    }

    fn names(&self) -> Vec<OsString> {
        let mut names: Vec<_> = fs::read_dir(&self.0).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        names
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn put(path: &Path, text: &str, replace: Replace) -> Result<(), WriteError> {
    write(path, text.as_bytes(), replace, SHARED, false)
}

#[test]
fn a_file_is_whole_or_not_there() {
    let folder = Folder::new();
    let path = folder.0.join("a");
    let mut file = NewFile::begin(&path, Replace::Never, SHARED).unwrap();
    file.write_all(b"half").unwrap();
    assert!(!path.exists());
    drop(file);
    assert_eq!(folder.names(), Vec::<OsString>::new());
    put(&path, "whole", Replace::Never).unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"whole");
    assert_eq!(folder.names(), ["a"]);
}

#[test]
fn what_is_there_is_replaced_as_far_as_it_is_allowed() {
    let folder = Folder::new();
    let path = folder.0.join("a");
    fs::write(&path, "somebody's").unwrap();
    for replace in [Replace::Never, Replace::Ours(None), Replace::Ours(Some(b"PSLC")), Replace::Like(b"PSLC")] {
        assert!(matches!(put(&path, "new", replace), Err(WriteError::Refused(_))), "{replace:?}");
    }
    assert_eq!(fs::read(&path).unwrap(), b"somebody's");
    assert!(remove(&path, Replace::Ours(None)).is_err());
    put(&path, "by its name", Replace::Any).unwrap();
    put(&path, "by how it begins", Replace::Like(b"by its")).unwrap();
    put(&path, "a copy", Replace::This(&File::open(&path).unwrap())).unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"a copy");
    assert_eq!(folder.names(), ["a"]);
    remove(&path, Replace::Like(b"a copy")).unwrap();
    assert_eq!(folder.names(), Vec::<OsString>::new());
}

#[test]
fn a_file_of_ours_that_was_changed_is_not_ours() {
    let folder = Folder::new();
    let path = folder.0.join("a");
    put(&path, "ours", Replace::Never).unwrap();
    if mark::fits(&File::open(&path).unwrap()).is_none() {
        return; // no attributes here
    }
    put(&path, "ours again", Replace::Ours(None)).unwrap();
    // Its times say nothing: they are set back.
    let about = fs::metadata(&path).unwrap();
    fs::write(&path, "OURS AGAIN").unwrap();
    let times = fs::FileTimes::new().set_modified(about.modified().unwrap());
    OpenOptions::new().write(true).open(&path).unwrap().set_times(times).unwrap();
    assert!(put(&path, "new", Replace::Ours(Some(b"OURS"))).is_err());
    assert_eq!(fs::read(&path).unwrap(), b"OURS AGAIN");
}

#[cfg(unix)]
#[test]
fn links_and_what_is_no_file_are_never_replaced() {
    let folder = Folder::new();
    let precious = folder.0.join("precious");
    fs::write(&precious, "precious").unwrap();
    let at = |name: &str| folder.0.join(name);
    symlink(&precious, at("link")).unwrap();
    symlink("nowhere", at("dangling")).unwrap();
    fs::write(at("first"), "two names").unwrap();
    fs::hard_link(at("first"), at("second")).unwrap();
    fs::create_dir(at("folder")).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(at("socket")).unwrap();
    fs::write(at("read-only"), "kept").unwrap();
    fs::set_permissions(at("read-only"), fs::Permissions::from_mode(0o444)).unwrap();
    for name in ["link", "dangling", "first", "second", "folder", "socket", "read-only"] {
        assert!(matches!(put(&at(name), "new", Replace::Any), Err(WriteError::Refused(_))), "{name}");
    }
    assert!(matches!(open(&at("link"), true), Err(WriteError::Refused(_))));
    assert!(matches!(open(&at("first"), true), Err(WriteError::Refused(_))));
    assert_eq!(fs::read(&precious).unwrap(), b"precious");
    assert_eq!(fs::read(at("second")).unwrap(), b"two names");
    assert!(!at("nowhere").exists());
}

#[cfg(unix)]
#[test]
fn what_comes_to_the_name_meanwhile_gets_it_back() {
    let folder = Folder::new();
    let (path, precious) = (folder.0.join("a"), folder.0.join("precious"));
    fs::write(&precious, "precious").unwrap();
    put(&path, "ours", Replace::Never).unwrap();
    let file = NewFile::begin(&path, Replace::Any, SHARED).unwrap();
    let there = judged(&file.folder, &file.name, &path, &Replace::Any).unwrap().unwrap();
    // Between the look and the change of names.
    fs::remove_file(&path).unwrap();
    symlink(&precious, &path).unwrap();
    let part = match &file.part {
        Some(part) => part.clone(),
        None => linked(&file.folder, &file.file).unwrap(),
    };
    assert!(matches!(file.take_name_of(there, &part), Err(WriteError::Refused(_))));
    assert!(matches!(file.take_free_name(&part), Err(WriteError::Refused(_))));
    assert_eq!(fs::read_link(&path).unwrap(), precious);
    assert_eq!(fs::read(&precious).unwrap(), b"precious");
}

#[cfg(unix)]
#[test]
fn a_file_keeps_its_mode_when_it_is_replaced() {
    let folder = Folder::new();
    let path = folder.0.join("a");
    write(&path, b"data", Replace::Never, PRIVATE, false).unwrap();
    assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
    put(&path, "more", Replace::Any).unwrap();
    assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
}

#[cfg(windows)]
#[test]
fn what_is_no_file_has_other_names_or_is_read_only_is_never_replaced() {
    let folder = Folder::new();
    let at = |name: &str| folder.0.join(name);
    fs::write(at("first"), "two names").unwrap();
    fs::hard_link(at("first"), at("second")).unwrap();
    fs::create_dir(at("folder")).unwrap();
    fs::write(at("read-only"), "kept").unwrap();
    let mut rights = fs::metadata(at("read-only")).unwrap().permissions();
    rights.set_readonly(true);
    fs::set_permissions(at("read-only"), rights.clone()).unwrap();
    for name in ["first", "second", "folder", "read-only", "NUL", "com1.log", "first:stream", "ends in a dot."] {
        assert!(matches!(put(&at(name), "new", Replace::Any), Err(WriteError::Refused(_))), "{name}");
    }
    for device in [r"\\.\PhysicalDrive1", r"\\.\C:"] {
        assert!(put(Path::new(device), "new", Replace::Any).is_err(), "{device}");
    }
    assert!(matches!(open(&at("first"), true), Err(WriteError::Refused(_))));
    assert_eq!(fs::read(at("second")).unwrap(), b"two names");
    #[expect(clippy::permissions_set_readonly_false, reason = "an attribute of Windows, so that it can be removed")]
    rights.set_readonly(false);
    fs::set_permissions(at("read-only"), rights).unwrap();
}

#[cfg(windows)]
#[test]
fn a_file_that_is_open_is_replaced_whole() {
    let folder = Folder::new();
    let path = folder.0.join("a");
    put(&path, "old", Replace::Never).unwrap();
    let mut reader = File::open(&path).unwrap();
    put(&path, "new", Replace::This(&File::open(&path).unwrap())).unwrap();
    let mut text = String::new();
    reader.read_to_string(&mut text).unwrap();
    assert_eq!((text.as_str(), fs::read(&path).unwrap().as_slice()), ("old", b"new".as_slice()));
    drop(reader);
    assert_eq!(folder.names(), ["a"]);
}
