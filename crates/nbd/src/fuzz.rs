//! Anything that a client may send, from a seed: what is answered has a form, and what is done is within the drive.

use std::io::{self, Cursor, Read, Write};

use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;

use crate::handshake::{agree, Export};
use crate::protocol::{Agreed, Errno, Kind, Request, MAX_DATA_BYTES, REQUEST_BYTES};

const CAPACITY: u64 = 8_000_000_000;
const GREETING_BYTES: usize = 18;

/// A client that says all of it at once, and hears what is answered.
struct Script {
    says: Cursor<Vec<u8>>,
    hears: Vec<u8>,
}

impl Read for Script {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.says.read(into)
    }
}

impl Write for Script {
    fn write(&mut self, from: &[u8]) -> io::Result<usize> {
        self.hears.write(from)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn option(code: u32, data: &[u8]) -> Vec<u8> {
    let head = [code, data.len() as u32].map(u32::to_be_bytes).concat();
    [&b"IHAVEOPT"[..], &head, data].concat()
}

fn text(of: &[u8]) -> Vec<u8> {
    [&(of.len() as u32).to_be_bytes(), of].concat()
}

/// What a client of today says: structured replies, block status, and go.
fn sensible() -> Vec<Vec<u8>> {
    let query = [text(b""), 1u32.to_be_bytes().to_vec(), text(b"base:allocation")].concat();
    let wishes = [text(b""), [2u16, 2, 3].map(u16::to_be_bytes).concat()].concat();
    vec![
        3u32.to_be_bytes().to_vec(),
        option(8, b""),
        option(3, b""),
        option(9, &query),
        option(10, &query),
        option(6, &wishes),
        option(7, &wishes),
    ]
}

fn heard(says: Vec<u8>) -> (io::Result<Option<Agreed>>, Vec<u8>) {
    let mut script = Script { says: Cursor::new(says), hears: Vec::new() };
    let export = Export { description: "a drive".into(), bytes: CAPACITY };
    (agree(&mut script, &export, || ()), script.hears)
}

/// The kinds of the replies to options, which are whole and one after the other. The answer to EXPORT_NAME, the last, has
/// a form of its own.
fn kinds(mut replies: &[u8]) -> Vec<u32> {
    let mut kinds = Vec::new();
    while !replies.is_empty() && !replies.starts_with(&CAPACITY.to_be_bytes()) {
        let number = |at: usize| u32::from_be_bytes(replies[at..at + 4].try_into().unwrap());
        assert_eq!(replies[..8], 0x0003_e889_0455_65a9u64.to_be_bytes());
        kinds.push(number(12));
        replies = &replies[20 + number(16) as usize..];
    }
    kinds
}

#[test]
fn a_sensible_client_gets_what_it_asks_for() {
    let (agreed, heard) = heard(sensible().concat());
    assert_eq!(agreed.unwrap(), Some(Agreed { structured: true, allocation: true }));
    assert_eq!(&heard[..GREETING_BYTES], b"NBDMAGICIHAVEOPT\0\x03");
    assert_eq!(kinds(&heard[GREETING_BYTES..]), [1, 2, 1, 4, 1, 4, 1, 3, 3, 3, 1, 3, 3, 3, 1]);
}

#[test]
fn whatever_is_said_in_a_handshake_is_answered_in_form() {
    let mut random = Pcg64Mcg::seed_from_u64(11);
    let mut below = |limit: usize| (random.next_u64() % limit as u64) as usize;
    let (mut agreements, mut errors) = (0, 0);
    for _ in 0..20_000 {
        let mut parts = sensible();
        for _ in 0..below(3) {
            let (from, to) = (below(parts.len()), below(parts.len()));
            parts[to] = parts[from].clone();
        }
        let mut says = parts.concat();
        for _ in 0..below(5) {
            let at = below(says.len());
            says[at] = [0, 1, 0xff, below(256) as u8][below(4)];
        }
        says.truncate(below(2 * says.len()).max(1));
        let (agreed, heard) = heard(says);
        agreements += usize::from(matches!(agreed, Ok(Some(_))));
        errors += usize::from(agreed.is_err());
        kinds(&heard[GREETING_BYTES..]);
    }
    assert!(agreements > 1000 && errors > 1000, "{agreements} agreements, {errors} errors");
}

#[test]
fn whatever_is_asked_for_is_within_the_drive_or_refused() {
    let mut random = Pcg64Mcg::seed_from_u64(12);
    let mut done = 0;
    for _ in 0..200_000 {
        let mut draw = |values: &[u64]| values[(random.next_u64() % values.len() as u64) as usize];
        let anywhere = draw(&[0, 512, 4096, CAPACITY - 4096, CAPACITY, CAPACITY + 512, u64::MAX, u64::MAX - 511, 7]);
        let bytes = draw(&[0, 1, 512, 4096, 8192, 32 << 20, (32 << 20) + 512, u32::MAX as u64, 1 << 31]);
        let (flags, code) =
            (draw(&[0, 1, 2, 3, 4, 8, 16, 18, 31, 32, 0xffff]), draw(&[0, 1, 2, 3, 4, 5, 6, 7, 8, 999]));
        let magic = draw(&[0x2560_9513, 0x2560_9513, 0x2560_9513, 0x2560_9514]);
        let agreed = Agreed { structured: true, allocation: draw(&[0, 1]) == 1 };
        let head = [
            &(magic as u32).to_be_bytes()[..],
            &(flags as u16).to_be_bytes(),
            &(code as u16).to_be_bytes(),
            &77u64.to_be_bytes(),
            &anywhere.to_be_bytes(),
            &(bytes as u32).to_be_bytes(),
        ];
        let head: [u8; REQUEST_BYTES] = head.concat().try_into().unwrap();
        let Some(request) = Request::parse(&head) else {
            assert_ne!(magic, 0x2560_9513);
            continue;
        };
        assert_eq!((request.cookie, request.carries_data), (77, code == 1));
        match request.check(CAPACITY, agreed) {
            Ok(Kind::Flush | Kind::Disconnect) => {}
            Ok(kind) => {
                assert!(anywhere.checked_add(bytes).is_some_and(|end| end <= CAPACITY));
                assert!(bytes > 0 && bytes % 512 == 0 && anywhere % 512 == 0);
                assert!(kind != Kind::Read || bytes <= MAX_DATA_BYTES.into());
                assert!(!matches!(kind, Kind::Status { .. }) || agreed.allocation);
                done += 1;
            }
            Err(error) => assert!(matches!(error, Errno::Invalid | Errno::NoSpace | Errno::NotSupported)),
        }
    }
    assert!(done > 1000);
}
