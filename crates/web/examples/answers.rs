//! Questions of a page, a line each, on stdin; a checksum of each answer on stdout. What a browser answers has the same.

use std::io::{stdin, BufRead};

fn main() {
    let sum = crc::Crc::<u64>::new(&crc::CRC_64_XZ);
    for line in stdin().lock().lines().map_while(Result::ok) {
        println!("{:016x}", sum.checksum(&pslc_web::encoded(line.as_bytes())));
    }
}
