//! Stopping: when a worker starts no further operation.
//!
//! In: the time and the number of started operations. Out: whether the worker has to stop. Called
//! by `load::worker` before each operation.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::clock::Nanos;

pub trait Stop {
    fn reached(&mut self, now: Nanos, started: u64) -> bool;
}

/// Stops when `ask` was called; all workers of a load share one instance.
#[derive(Debug, Clone, Default)]
pub struct OnRequest(Arc<AtomicBool>);

impl OnRequest {
    pub fn ask(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    pub fn is_asked(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

impl Stop for OnRequest {
    #[inline]
    fn reached(&mut self, _now: Nanos, _started: u64) -> bool {
        self.is_asked()
    }
}

/// Stops after a number of operations: runs of an exact size, independent of the clock.
#[derive(Debug, Clone, Copy)]
pub struct AfterOperations(pub u64);

impl Stop for AfterOperations {
    #[inline]
    fn reached(&mut self, _now: Nanos, started: u64) -> bool {
        started >= self.0
    }
}
