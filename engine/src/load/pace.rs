//! Pacing: when the next operation is meant to start.
//!
//! In: the time. Out: the intended start of the next operation, in the past or now when it may go
//! at once, in the future when the worker has to wait. Called by `load::worker` before each
//! operation.

use std::sync::Arc;

use crate::clock::Nanos;
use crate::load::schedule::Schedule;

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

/// Open loop: operations are meant to start at the times of a schedule, whatever the load does.
/// All workers take their turns from one schedule, so that whoever is free serves whoever waits.
#[derive(Debug)]
pub struct Open {
    schedule: Arc<Schedule>,
    /// The turn taken and not yet started.
    turn: Option<Nanos>,
}

impl Open {
    pub fn new(schedule: Arc<Schedule>) -> Self {
        Open {
            schedule,
            turn: None,
        }
    }
}

impl Pace for Open {
    const OPEN_LOOP: bool = true;

    fn next_start(&mut self, _now: Nanos) -> Nanos {
        *self.turn.get_or_insert_with(|| self.schedule.take_turn())
    }

    fn started(&mut self) {
        self.turn = None;
        self.schedule.count_started();
    }
}
