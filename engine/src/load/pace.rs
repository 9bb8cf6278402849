//! Pacing: the intended start of the next operation.
//!
//! In: the time. Out: the intended start: in the past or now when the operation may start at once,
//! in the future when the worker has to wait. Called by `load::worker` before each operation.

use std::sync::Arc;

use crate::clock::Nanos;
use crate::load::pauses::Pauses;
use crate::load::schedule::Schedule;
use crate::operation::OperationKind;

pub trait Pace {
    /// Whether intended and actual start may differ, so that service time is recorded too.
    const OPEN_LOOP: bool = false;
    /// Whether slots pause between operations.
    const PAUSES: bool = false;

    /// The intended start of the next operation; leaves it in the schedule.
    #[inline]
    fn next_start(&mut self, now: Nanos) -> Nanos {
        now
    }

    /// Marks the operation returned by `next_start` as started.
    #[inline]
    fn started(&mut self) {}

    /// When a slot may start again, after an operation of this kind; its first one after `None`.
    #[inline]
    fn paused_until(&mut self, _after: Option<OperationKind>, now: Nanos) -> Nanos {
        now
    }
}

/// Closed loop: the next operation starts as soon as a slot is free.
#[derive(Debug, Clone, Copy, Default)]
pub struct Closed;

impl Pace for Closed {}

/// Closed loop in which each slot pauses after an operation.
pub struct Pausing(pub Pauses);

impl Pace for Pausing {
    const PAUSES: bool = true;

    fn paused_until(&mut self, after: Option<OperationKind>, now: Nanos) -> Nanos {
        now + match after {
            None => self.0.first(),
            Some(kind) => self.0.after(kind),
        }
    }
}

/// Open loop: operations start at the times of a schedule, independent of the load's progress. All
/// workers share one schedule, so that any free worker serves the oldest waiting operation.
#[derive(Debug)]
pub struct Open {
    schedule: Arc<Schedule>,
    /// The turn taken from the schedule and not yet started.
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
