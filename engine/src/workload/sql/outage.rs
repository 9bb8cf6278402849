//! A time in which the server is away, and connections to it wait.
//!
//! In: failures to connect. Out: when to try again, or that it takes too long. Used by `socket`.

use crate::clock::{Nanos, SECOND};
use crate::error::{EngineError, Result};
use crate::operation::Slot;

/// The time between two attempts.
const RETRY: Nanos = SECOND / 50;

pub struct Outage {
    /// Slots without a connection.
    slots: Vec<Slot>,
    /// How the first connection was lost.
    lost: EngineError,
    ends_at: Nanos,
    /// Whether the server answers again.
    is_over: bool,
    pub next_attempt: Nanos,
}

impl Outage {
    pub fn new(lost: EngineError, patience_s: f64, now: Nanos) -> Outage {
        Outage {
            slots: Vec::new(),
            lost,
            ends_at: now + (patience_s * SECOND as f64) as Nanos,
            is_over: false,
            next_attempt: now,
        }
    }

    /// Handles an attempt that failed; an error when the patience is over.
    pub fn postpone(&mut self, failure: &EngineError, now: Nanos) -> Result<()> {
        self.is_over = false;
        if now < self.ends_at {
            self.next_attempt = now + RETRY;
            return Ok(());
        }
        let message = format!("{}; connecting again failed: {failure}", self.lost.message);
        Err(EngineError {
            message,
            ..self.lost.clone()
        })
    }

    /// Records that the server has answered; returns whether it is the first time.
    pub fn end(&mut self) -> bool {
        !std::mem::replace(&mut self.is_over, true)
    }

    /// Adds a slot; returns false where it waits already.
    pub fn add(&mut self, slot: Slot) -> bool {
        let is_new = !self.slots.contains(&slot);
        if is_new {
            self.slots.push(slot);
        }
        is_new
    }

    /// The slot to connect next; `None` when all have a connection.
    pub fn next(&self) -> Option<Slot> {
        self.slots.last().copied()
    }

    pub fn remove(&mut self, slot: Slot) {
        self.slots.retain(|&waiting| waiting != slot);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Class;

    fn error(message: &str) -> EngineError {
        EngineError::new(Class::ConnectionLost, message, "look")
    }

    #[test]
    fn patience_ends_with_both_causes() {
        let mut outage = Outage::new(error("closed"), 1.0, 0);
        assert!(outage.add(3) && !outage.add(3));
        assert!(outage.postpone(&error("refused"), SECOND / 2).is_ok());
        assert_eq!(outage.next_attempt, SECOND / 2 + RETRY);
        assert!(outage.end() && !outage.end());
        let ended = outage.postpone(&error("refused"), SECOND).unwrap_err();
        assert_eq!(ended.message, "closed; connecting again failed: refused");
        assert_eq!(outage.next(), Some(3));
        outage.remove(3);
        assert_eq!(outage.next(), None);
    }

    #[test]
    fn without_patience_the_first_failure_ends_the_load() {
        let mut outage = Outage::new(error("closed"), 0.0, 7);
        assert!(outage.postpone(&error("refused"), 7).is_err());
    }
}
