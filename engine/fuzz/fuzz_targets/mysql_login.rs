#![no_main]

#[allow(dead_code)]
#[path = "../decoders/mysql.rs"]
mod decoders;

libfuzzer_sys::fuzz_target!(|data: &[u8]| decoders::login(data));
