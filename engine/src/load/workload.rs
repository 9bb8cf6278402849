//! The contract between a worker and its workload.
//!
//! The worker owns the slots and the clock, the workload starts an operation in a slot and reports when it has
//! completed. A synchronous workload completes in `submit`; an asynchronous one answers `Pending` and completes in
//! `reap`. Called by `load::worker`.

use crate::clock::Nanos;
use crate::error::{EngineError, Result};
use crate::operation::{Completion, Failure, Slot, Submitted};
use crate::record::tally::Tally;

pub trait Workload {
    /// How many operations may be outstanding at once.
    fn slots(&self) -> usize;

    /// Starts the next operation in a free slot. An error is one of the machinery, not of the
    /// operation, and ends the load.
    fn submit(&mut self, slot: Slot) -> Result<Submitted>;

    /// Waits until an operation has completed, or until `deadline` when one is given, and appends
    /// what has completed. With nothing outstanding it just waits for the deadline.
    fn reap(&mut self, deadline: Option<Nanos>, completions: &mut Vec<Completion>) -> Result<()>;

    /// The failure of the operation last started in `slot`, in words.
    fn explain(&self, slot: Slot, failure: Failure) -> EngineError;

    /// Adds what it has counted besides operations since it was last asked.
    #[inline]
    fn hand_over(&mut self, _tally: &mut Tally) {}
}
