//! The files that pslc makes: what may not be replaced.

use std::path::{Path, PathBuf};

use pslc_ssd::faults;

/// What to do about a file that is not replaced.
const NEW_NAME: &str = "give the name of a new file, or remove that one";

faults! {
    /// Why a file must not be made, gone on in or removed.
    #[derive(Debug, thiserror::Error)]
    pub enum FileError {
        #[error("{path} is no name of a file")]
        NoName { path: PathBuf } = "output-no-name" => "give a file in a folder that is there",
        #[error("{path}: {why}, and is no name of a file")]
        BadName { path: PathBuf, why: &'static str } = "output-bad-name" => "give another name",
        #[error("{path} is a symbolic link{}, and is not overwritten", leads(to.as_deref()))]
        Link { path: PathBuf, to: Option<String> } = "output-is-link" => NEW_NAME,
        #[error("{path} is read-only ({why}), and is not overwritten")]
        ReadOnly { path: PathBuf, why: String, is_another_users: bool } = "output-read-only"
            => {
                let own = if *is_another_users { format!("sudo chown $USER {} && ", shell_word(path)) } else { String::new() };
                format!("{own}chmod u+w {} makes it writable", shell_word(path))
            },
        #[error("{path} is no regular file, but {kind}, and is not overwritten")]
        NotRegular { path: PathBuf, kind: &'static str } = "output-not-regular" => NEW_NAME,
        #[error("{path} has {names} names (hard links), and is not overwritten")]
        HardLinks { path: PathBuf, names: u64 } = "output-hard-links" => NEW_NAME,
        #[error("{path} exists, and is not overwritten")]
        Exists { path: PathBuf } = "output-exists" => "give another name, or remove that file",
        #[error("{path} was not made by pslc, or was changed since, and is not overwritten")]
        NotOurs { path: PathBuf } = "output-not-written-by-pslc" => "move it to another place, or remove it",
        /// Between the look at its name and taking it.
        #[error("{path} was put there by another program meanwhile")]
        TakenMeanwhile { path: PathBuf } = "output-taken-meanwhile"
            => "nothing was written over; run it again, with another name",
    }
}

/// Where a link leads to, where that is known.
fn leads(to: Option<&str>) -> String {
    to.map_or_else(String::new, |to| format!(", to {to}"))
}

/// A path as one word of a shell's command.
fn shell_word(path: &Path) -> String {
    let text = path.display().to_string();
    if text.chars().all(|letter| letter.is_alphanumeric() || "/._-+".contains(letter)) {
        return text;
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}
