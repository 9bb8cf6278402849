//! Workloads: what an operation is. One folder per kind.
//!
//! The contract between a worker and its workload: the worker owns the slots and the clock, the
//! workload starts an operation in a slot and tells when it has completed. A synchronous workload
//! completes in `submit`; an asynchronous one answers `Pending` and completes in `reap`. Called by
//! `load::worker`.

pub mod fileio;
pub mod shared;
pub mod sql;

use crate::clock::Nanos;
use crate::error::{EngineError, Result};
use crate::record::tally::{OperationKind, Tally};

/// Which of its concurrent operations a worker means: 0 to `slots() - 1`.
pub type Slot = usize;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Completion {
    pub slot: Slot,
    pub kind: OperationKind,
    pub outcome: Outcome,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    Done { bytes: u64 },
    Failed(Failure),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Failure {
    /// The operating system's error number.
    Errno(i32),
    /// Fewer bytes were moved than asked for.
    Short { moved: u64 },
    /// A database has refused a statement; the workload knows which and why.
    Statement,
}

#[derive(Debug)]
pub enum Submitted {
    Done(Completion),
    Pending,
}

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
