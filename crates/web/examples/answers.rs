//! Questions of a page, a line each, on stdin; a checksum of each answer on stdout. What a browser answers has the same.
//! With the argument `resolve` the whole profile of each drive instead, as JSON.

use std::io::{stdin, BufRead};

fn main() {
    let sum = crc::Crc::<u64>::new(&crc::CRC_64_XZ);
    let resolve = std::env::args().nth(1).as_deref() == Some("resolve");
    for line in stdin().lock().lines().map_while(Result::ok) {
        if resolve {
            println!("{}", pslc_web::resolved(line.as_bytes()));
        } else {
            println!("{:016x}", sum.checksum(&pslc_web::encoded(line.as_bytes())));
        }
    }
}
