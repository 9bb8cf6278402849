//! The cost of recording one response time, in nanoseconds: reading the clock, counting in the
//! histogram, and both behind the lock of a worker's tally, as in a load.
//!
//! `cargo bench --bench recording` prints one JSON object. Called by `bench/file_engine/run.py`.

use std::hint::black_box;

use paribus_engine::clock;
use paribus_engine::operation::OperationKind;
use paribus_engine::record::histogram::Times;
use paribus_engine::record::interval::SharedTally;

const ROUNDS: u64 = 20;
const OPERATIONS: u64 = 1_000_000;

/// The fastest of many rounds: disturbances only add time.
fn nanoseconds_each(mut operation: impl FnMut(u64)) -> f64 {
    let mut fastest = u64::MAX;
    for _ in 0..ROUNDS {
        let start = clock::now();
        (0..OPERATIONS).for_each(&mut operation);
        fastest = fastest.min(clock::now() - start);
    }
    fastest as f64 / OPERATIONS as f64
}

/// Times between 50 µs and 6 ms without an order, and without the cost of a generator.
fn some_time(number: u64) -> u64 {
    50_000 + number.wrapping_mul(0x9E37_79B9_7F4A_7C15) % 6_000_000
}

fn main() {
    let mut times = Times::default();
    let tally = SharedTally::default();
    let clock = nanoseconds_each(|_| {
        black_box(clock::now());
    });
    let histogram = nanoseconds_each(|number| times.record(black_box(some_time(number))));
    let whole = nanoseconds_each(|number| {
        let now = black_box(clock::now());
        let time = some_time(number) | (now & 1);
        tally.lock().record(OperationKind::Read, 16_384, time);
    });
    println!(
        "{{\"clock_ns\": {clock:.2}, \"histogram_ns\": {histogram:.2}, \"whole_ns\": {whole:.2}}}"
    );
}
