//! How a client and the server agree, in the fixed newstyle of NBD.
//!
//! ```text
//!   server   NBDMAGIC IHAVEOPT flags
//!   client   flags
//!   client   IHAVEOPT option length data    server   a reply or several; again, until
//!   client   GO, EXPORT_NAME                requests follow
//!            ABORT                          both go
//! ```

use std::io::{self, Read, Write};

use crate::protocol::{Agreed, ALLOCATION, MAX_DATA_BYTES, MIN_BLOCK_BYTES, PREFERRED_BLOCK_BYTES};

/// The longest data of an option; names and queries have 4096 bytes at most.
const MAX_OPTION_BYTES: u32 = 64 << 10;

const MAGIC: &[u8; 8] = b"NBDMAGIC";
const OPTION_MAGIC: &[u8; 8] = b"IHAVEOPT";
const REPLY_MAGIC: u64 = 0x0003_e889_0455_65a9;
const CONTEXT: &[u8] = b"base:allocation";
const NO_SUCH_EXPORT: &[u8] = b"the only export is that without a name";

/// Of both sides: fixed newstyle, and no zeros after the answer to EXPORT_NAME.
const FIXED_NEWSTYLE: u16 = 1;
const NO_ZEROES: u16 = 2;

mod option {
    pub const EXPORT_NAME: u32 = 1;
    pub const ABORT: u32 = 2;
    pub const LIST: u32 = 3;
    pub const INFO: u32 = 6;
    pub const GO: u32 = 7;
    pub const STRUCTURED_REPLY: u32 = 8;
    pub const LIST_META_CONTEXT: u32 = 9;
    pub const SET_META_CONTEXT: u32 = 10;
}

mod reply {
    pub const ACK: u32 = 1;
    pub const SERVER: u32 = 2;
    pub const INFO: u32 = 3;
    pub const META_CONTEXT: u32 = 4;
    pub const UNSUPPORTED: u32 = 1 << 31 | 1;
    pub const INVALID: u32 = 1 << 31 | 3;
    pub const UNKNOWN: u32 = 1 << 31 | 6;
}

mod info {
    pub const EXPORT: u16 = 0;
    pub const NAME: u16 = 1;
    pub const DESCRIPTION: u16 = 2;
    pub const BLOCK_SIZE: u16 = 3;
}

/// What is offered: one drive, whose name is empty.
#[derive(Clone, Debug)]
pub struct Export {
    pub description: String,
    pub bytes: u64,
}

impl Export {
    fn flags(agreed: Agreed) -> u16 {
        // Flags are there; flush, FUA, trim, zeros, several connections, fast zeros.
        let always = 1 | 1 << 2 | 1 << 3 | 1 << 5 | 1 << 6 | 1 << 8 | 1 << 11;
        if agreed.structured {
            always | 1 << 7
        } else {
            always
        }
    }

    /// The size and what the drive can do.
    fn about(&self, agreed: Agreed) -> Vec<u8> {
        [&self.bytes.to_be_bytes()[..], &Export::flags(agreed).to_be_bytes()].concat()
    }
}

/// Agree with a client; `None` where it goes. `let_in` is called before it hears that it may ask.
pub fn agree<S: Read + Write>(stream: &mut S, export: &Export, let_in: impl Fn()) -> io::Result<Option<Agreed>> {
    stream.write_all(&[&MAGIC[..], OPTION_MAGIC, &(FIXED_NEWSTYLE | NO_ZEROES).to_be_bytes()].concat())?;
    let flags = u32::from_be_bytes(taken(stream)?);
    if flags & !u32::from(FIXED_NEWSTYLE | NO_ZEROES) != 0 {
        return Err(garbage("flags that nobody knows"));
    }
    let mut agreed = Agreed::default();
    loop {
        if &taken(stream)? != OPTION_MAGIC {
            return Err(garbage("no option"));
        }
        let (code, length) = (u32::from_be_bytes(taken(stream)?), u32::from_be_bytes(taken(stream)?));
        if length > MAX_OPTION_BYTES {
            return Err(garbage("an option that is too long"));
        }
        let mut data = vec![0; length as usize];
        stream.read_exact(&mut data)?;
        let mut option = Asked { code, data: &data, replies: Vec::new() };
        match code {
            option::EXPORT_NAME if !data.is_empty() => return Err(garbage("an export that there is not")),
            option::EXPORT_NAME => {
                let mut about = export.about(agreed);
                if flags & u32::from(NO_ZEROES) == 0 {
                    about.extend([0; 124]);
                }
                let_in();
                stream.write_all(&about)?;
                return Ok(Some(agreed));
            }
            _ => {}
        }
        let ends = option.answer(export, &mut agreed);
        if ends && code == option::GO {
            let_in();
        }
        stream.write_all(&option.replies)?;
        if ends {
            return Ok((code == option::GO).then_some(agreed));
        }
    }
}

/// An option that a client asks for, and the replies to it.
struct Asked<'a> {
    code: u32,
    data: &'a [u8],
    replies: Vec<u8>,
}

impl Asked<'_> {
    /// Returns whether it is the last option.
    fn answer(&mut self, export: &Export, agreed: &mut Agreed) -> bool {
        match self.code {
            option::ABORT => {
                self.acknowledge();
                return true;
            }
            option::LIST if self.data.is_empty() => {
                let server = [&0u32.to_be_bytes()[..], export.description.as_bytes()].concat();
                self.reply(reply::SERVER, &server);
                self.acknowledge();
            }
            option::INFO | option::GO => return self.tell(export, *agreed) && self.code == option::GO,
            option::STRUCTURED_REPLY if self.data.is_empty() => {
                agreed.structured = true;
                self.acknowledge();
            }
            option::LIST_META_CONTEXT | option::SET_META_CONTEXT => self.choose_context(agreed),
            option::LIST | option::STRUCTURED_REPLY => self.reply(reply::INVALID, b"it has no data"),
            _ => self.reply(reply::UNSUPPORTED, b"there is no such option here"),
        }
        false
    }

    /// All that a client may want to know of the export; returns whether it was one that there is.
    fn tell(&mut self, export: &Export, agreed: Agreed) -> bool {
        let parsed = split_text(self.data).and_then(|(name, rest)| Some((name, rest.split_first_chunk()?)));
        let Some((name, (count, wanted))) = parsed else {
            self.reply(reply::INVALID, b"no name and wishes");
            return false;
        };
        if wanted.len() != 2 * u16::from_be_bytes(*count) as usize {
            self.reply(reply::INVALID, b"another number of wishes");
            return false;
        }
        if !name.is_empty() {
            self.reply(reply::UNKNOWN, NO_SUCH_EXPORT);
            return false;
        }
        let sizes = [MIN_BLOCK_BYTES, PREFERRED_BLOCK_BYTES, MAX_DATA_BYTES].map(u32::to_be_bytes).concat();
        self.inform(info::EXPORT, &export.about(agreed));
        self.inform(info::BLOCK_SIZE, &sizes);
        for wish in wanted.chunks_exact(2).map(|wish| u16::from_be_bytes([wish[0], wish[1]])) {
            match wish {
                info::NAME => self.inform(info::NAME, b""),
                info::DESCRIPTION => self.inform(info::DESCRIPTION, export.description.as_bytes()),
                _ => {}
            }
        }
        self.acknowledge();
        true
    }

    /// There is one context, and replies that tell of it are structured.
    fn choose_context(&mut self, agreed: &mut Agreed) {
        let sets = self.code == option::SET_META_CONTEXT;
        let Some((name, queries)) = queries(self.data).filter(|_| agreed.structured) else {
            return self.reply(reply::INVALID, b"no queries, or no structured replies");
        };
        if !name.is_empty() {
            return self.reply(reply::UNKNOWN, NO_SUCH_EXPORT);
        }
        let matches = |query: &&[u8]| *query == CONTEXT || (!sets && *query == b"base:");
        let chosen = queries.iter().any(matches) || (!sets && queries.is_empty());
        if chosen {
            let number = if sets { ALLOCATION } else { 0 };
            self.reply(reply::META_CONTEXT, &[&number.to_be_bytes()[..], CONTEXT].concat());
        }
        if sets {
            agreed.allocation = chosen;
        }
        self.acknowledge();
    }

    fn inform(&mut self, kind: u16, about: &[u8]) {
        self.reply(reply::INFO, &[&kind.to_be_bytes()[..], about].concat());
    }

    fn acknowledge(&mut self) {
        self.reply(reply::ACK, b"");
    }

    fn reply(&mut self, kind: u32, data: &[u8]) {
        self.replies.extend(REPLY_MAGIC.to_be_bytes());
        self.replies.extend([self.code, kind, data.len() as u32].map(u32::to_be_bytes).concat());
        self.replies.extend(data);
    }
}

/// What LIST_META_CONTEXT and SET_META_CONTEXT ask for: queries about the export of a name.
fn queries(data: &[u8]) -> Option<(&[u8], Vec<&[u8]>)> {
    let (name, rest) = split_text(data)?;
    let (count, mut rest) = rest.split_first_chunk()?;
    let mut queries = Vec::new();
    for _ in 0..u32::from_be_bytes(*count) {
        let query;
        (query, rest) = split_text(rest)?;
        queries.push(query);
    }
    rest.is_empty().then_some((name, queries))
}

/// A text behind its length, and what follows.
fn split_text(data: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = data.split_first_chunk()?;
    rest.split_at_checked(u32::from_be_bytes(*length) as usize)
}

fn taken<const N: usize>(stream: &mut impl Read) -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    stream.read_exact(&mut bytes)?;
    Ok(bytes)
}

fn garbage(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}
