//! The head of a drive file, which anyone can read: TOML, filled up to 1 KiB with empty lines and a checksum.

use serde::{Deserialize, Serialize};

use super::{About, StateError};

/// Of a file. Every version has its head in so many bytes, and the checksum at their end.
pub(super) const BYTES: usize = 1024;
/// How every version begins.
pub(super) const MAGIC: &[u8] = b"# pslc drive: pslc drives show FILE\n";
/// Of files of before 0.1.0: magic, version, (length, checksum) of two sections, checksum of these.
pub(super) const OLD_MAGIC: [u8; 8] = *b"\x89pslc\r\n\x1a";
const OLD_BYTES: usize = 8 + 4 + 2 * (8 + 4) + 4;
/// Of the line with the checksum.
const SUM_BYTES: usize = "# crc32 00000000\n".len();
/// Of a name in a head, which has room for it whatever has to be escaped.
const MAX_NAME_CHARS: usize = 60;

/// What a head says.
#[derive(Serialize, Deserialize)]
pub(super) struct Head {
    /// Version of pslc.
    pub written_by: String,
    /// As the profile has it, as the capacity.
    name: String,
    capacity: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scale: Option<String>,
    pub profile: Section,
    pub state: Section,
}

/// A part of the file.
#[derive(Serialize, Deserialize)]
pub(super) struct Section {
    pub version: u32,
    pub bytes: u64,
    pub crc32: u32,
}

impl Head {
    pub fn of(about: &About, [profile, state]: [Section; 2]) -> Head {
        let table: toml::Table = about.profile.parse().unwrap_or_default();
        let text = |key| table.get(key).and_then(toml::Value::as_str).unwrap_or_default();
        Head {
            written_by: env!("CARGO_PKG_VERSION").into(),
            name: text("name").chars().take(MAX_NAME_CHARS).collect(),
            capacity: text("capacity").into(),
            scale: about.scale.clone(),
            profile,
            state,
        }
    }

    pub fn to_bytes(&self) -> Vec<u8> {
        let text = toml::to_string(self).expect("a head is a table");
        let mut bytes = [MAGIC, text.as_bytes()].concat();
        assert!(bytes.len() <= BYTES - SUM_BYTES, "a head has room for its words");
        bytes.resize(BYTES - SUM_BYTES, b'\n');
        let sum = sum_line(&bytes);
        bytes.extend(sum.as_bytes());
        bytes
    }

    /// The head of a file of any version, undamaged, and where its sections begin.
    pub fn read(bytes: &[u8]) -> Result<(Head, usize), StateError> {
        let is_old = bytes.starts_with(&OLD_MAGIC);
        if !is_old && !bytes.starts_with(MAGIC) {
            return Err(StateError::Foreign);
        }
        let length = if is_old { OLD_BYTES } else { BYTES };
        let Some(head) = bytes.get(..length) else {
            return Err(StateError::Cut { bytes_found: bytes.len() as u64, whole: length as u64 });
        };
        let read = if is_old { old(head) } else { new(head) };
        Ok((read?, length))
    }
}

fn new(head: &[u8]) -> Result<Head, StateError> {
    let (text, sum) = head.split_at(BYTES - SUM_BYTES);
    if sum != sum_line(text).as_bytes() {
        return Err(StateError::Damaged { part: "head" });
    }
    let strange = |message: String| StateError::Strange { part: "head", message };
    let text = std::str::from_utf8(text).map_err(|error| strange(error.to_string()))?;
    toml::from_str(text).map_err(|error| strange(error.message().into()))
}

fn old(head: &[u8]) -> Result<Head, StateError> {
    let word = |at: usize| u32::from_le_bytes(head[at..at + 4].try_into().expect("four bytes"));
    if crc32fast::hash(&head[..OLD_BYTES - 4]) != word(OLD_BYTES - 4) {
        return Err(StateError::Damaged { part: "head" });
    }
    let section =
        |version, at| Section { version, bytes: word(at) as u64 | (word(at + 4) as u64) << 32, crc32: word(at + 8) };
    let [name, capacity] = [String::new(), String::new()];
    let (profile, state) = (section(1, 12), section(word(8), 24));
    Ok(Head { written_by: "before 0.1.0".into(), name, capacity, scale: None, profile, state })
}

fn sum_line(text: &[u8]) -> String {
    format!("# crc32 {:08x}\n", crc32fast::hash(text))
}
