//! Faults on purpose: a checker that is to find none in the engine must find these first.
//!
//! In: the fault's name. Out: nothing; the checker ends the process or reports. Built by `run.py`.

use std::hint::black_box;
use std::sync::Barrier;

fn main() {
    match std::env::args().nth(1).as_deref() {
        Some("overflow") => overflow(),
        Some("race") => race(),
        other => panic!("there is no fault {other:?}"),
    }
}

/// Reads past the end of memory.
fn overflow() {
    let memory = vec![1u8; black_box(64)];
    // SAFETY: none, that is the point.
    black_box(unsafe { *memory.as_ptr().add(black_box(64)) });
}

/// Two threads write to the same place, and nothing orders them after the barrier.
fn race() {
    let mut number = 0u64;
    let place = &raw mut number as usize;
    let both = Barrier::new(2);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                both.wait();
                // SAFETY: none, that is the point.
                unsafe { *black_box(place as *mut u64) += 1 };
            });
        }
    });
    black_box(number);
}
