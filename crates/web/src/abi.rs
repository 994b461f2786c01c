//! What a page calls. A question is written where `reserve` says, and `answer` or `derive` gives the address of the
//! answer:
//!
//! ```text
//!   length of the JSON   length of the film   JSON ...   film ...
//!   u32, little-endian   u32
//! ```
//!
//! Both are given back with `release`. `answer` runs a drive, `derive` makes a profile of parts, without a film.

use serde::Serialize;

use crate::{
    parts,
    simulate::{self, simulate},
    Failure, Film,
};

#[cfg(target_arch = "wasm32")]
#[link(wasm_import_module = "pslc")]
extern "C" {
    /// How far the run has come, in permille; the page shows it.
    fn progress(permille: u32);
    /// The module ends: where and why, in UTF-8.
    fn panicked(at: *const u8, len: usize);
}

/// From now on the page is called before a panic ends the module.
#[no_mangle]
pub extern "C" fn start() {
    #[cfg(target_arch = "wasm32")]
    std::panic::set_hook(Box::new(|panic| {
        let words = panic.to_string();
        // SAFETY: the page reads these bytes while it is called.
        unsafe {
            panicked(words.as_ptr(), words.len());
        }
    }));
}

/// Memory for `len` bytes.
#[no_mangle]
pub extern "C" fn reserve(len: usize) -> *mut u8 {
    Box::into_raw(vec![0_u8; len].into_boxed_slice()).cast()
}

/// Give back what `reserve` or `answer` gave.
///
/// # Safety
///
/// `at` is from `reserve(len)`, or an answer of `len` bytes in all, and nobody uses it any more.
#[no_mangle]
pub unsafe extern "C" fn release(at: *mut u8, len: usize) {
    let bytes = std::ptr::slice_from_raw_parts_mut(at, len);
    // SAFETY: a box of so many bytes was made for it, as the caller vouches.
    drop(unsafe { Box::from_raw(bytes) });
}

/// Answer the question at `at`, which stays the caller's.
///
/// # Safety
///
/// `len` bytes at `at` are initialised and nobody changes them meanwhile.
#[no_mangle]
pub unsafe extern "C" fn answer(at: *const u8, len: usize) -> *mut u8 {
    // SAFETY: the caller vouches for the bytes.
    let question = unsafe { std::slice::from_raw_parts(at, len) };
    Box::into_raw(encoded(question).into_boxed_slice()).cast()
}

/// Make a profile of the parts at `at`, which stay the caller's.
///
/// # Safety
///
/// As of `answer`.
#[no_mangle]
pub unsafe extern "C" fn derive(at: *const u8, len: usize) -> *mut u8 {
    // SAFETY: the caller vouches for the bytes.
    let question = unsafe { std::slice::from_raw_parts(at, len) };
    let parsed = serde_json::from_slice(question).map_err(in_page);
    let bytes = match parsed.and_then(|question| parts::profile(&question)) {
        Ok(profile) => message(&profile, &[]),
        Err(failure) => message(&failure, &[]),
    };
    Box::into_raw(bytes.into_boxed_slice()).cast()
}

/// Only a page is told how far the run has come.
fn report(_permille: u32) {
    #[cfg(target_arch = "wasm32")]
    // SAFETY: the page's function takes any number.
    unsafe {
        progress(_permille);
    }
}

fn in_page(error: serde_json::Error) -> Failure {
    Failure { message: error.to_string(), hint: "this is a bug in the page".into() }
}

/// The whole profile of the drive of a question, or what is wrong with it, as JSON.
pub fn resolved(question: &[u8]) -> String {
    let parsed = serde_json::from_slice(question).map_err(in_page);
    let profile = parsed.and_then(|question| simulate::resolved(&question));
    profile
        .map_or_else(|failure| serde_json::to_string(&failure), |profile| serde_json::to_string(&profile))
        .expect("strings can be written as JSON")
}

/// The answer as bytes; see the module.
pub fn encoded(question: &[u8]) -> Vec<u8> {
    let answer = serde_json::from_slice(question).map_err(in_page);
    match answer.and_then(|question| simulate(&question, &report)) {
        Ok((answer, film)) => message(&answer, &film.bytes()),
        Err(failure) => message(&failure, &Film::default().bytes()),
    }
}

fn message(json: &impl Serialize, film: &[u8]) -> Vec<u8> {
    let json = serde_json::to_vec(json).expect("numbers and strings can be written as JSON");
    let mut bytes = Vec::with_capacity(8 + json.len() + film.len());
    bytes.extend((json.len() as u32).to_le_bytes());
    bytes.extend((film.len() as u32).to_le_bytes());
    bytes.extend(json);
    bytes.extend(film);
    bytes
}
