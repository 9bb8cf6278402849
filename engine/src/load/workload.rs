//! The contract between a worker and its workload.
//!
//! The worker owns the slots and the clock. The workload starts an operation in a slot and reports
//! its completion. A synchronous workload completes in `submit`; an asynchronous one answers
//! `Pending` and completes in `reap`. Called by `load::worker`.

use crate::clock::Nanos;
use crate::error::{EngineError, Result};
use crate::operation::{Completion, Failure, Slot, Submitted};
use crate::record::tally::Tally;

pub trait Workload {
    /// The number of operations that may be outstanding at once.
    fn slots(&self) -> usize;

    /// Starts the next operation in a free slot. An error means that the machinery failed, not the
    /// operation, and ends the load.
    fn submit(&mut self, slot: Slot) -> Result<Submitted>;

    /// Waits until an operation has completed, or until `deadline` if any, and appends the
    /// completions. With nothing outstanding it waits for the deadline.
    fn reap(&mut self, deadline: Option<Nanos>, completions: &mut Vec<Completion>) -> Result<()>;

    /// Describes the failure of the operation last started in `slot`.
    fn explain(&self, slot: Slot, failure: Failure) -> EngineError;

    /// Adds the counts other than operations since the last call.
    #[inline]
    fn hand_over(&mut self, _tally: &mut Tally) {}
}
