//! Pacing: when the next operation is meant to start.
//!
//! In: the time. Out: the intended start of the next operation, in the past or now when it may go
//! at once, in the future when the worker has to wait. Called by `load::worker` before each
//! operation. An open loop is another `Pace` with its own schedule and `OPEN_LOOP = true`.

use crate::clock::Nanos;

pub trait Pace {
    /// Whether intended and actual start may differ, so that service time is recorded too.
    const OPEN_LOOP: bool;

    /// The intended start of the next operation; does not take it.
    fn next_start(&mut self, now: Nanos) -> Nanos;

    /// The operation last asked for has been started.
    fn started(&mut self);
}

/// Closed loop: the next operation starts as soon as a slot is free.
#[derive(Debug, Clone, Copy, Default)]
pub struct Closed;

impl Pace for Closed {
    const OPEN_LOOP: bool = false;

    #[inline]
    fn next_start(&mut self, now: Nanos) -> Nanos {
        now
    }

    #[inline]
    fn started(&mut self) {}
}
