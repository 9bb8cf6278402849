#![no_main]

#[allow(dead_code)]
#[path = "../decoders/postgres.rs"]
mod decoders;

libfuzzer_sys::fuzz_target!(|data: &[u8]| decoders::reply(data));
