//! An operation of a load: its kind, its slot, and its outcome.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OperationKind {
    Read,
    Write,
    Fsync,
    /// A transaction of a database; `Statements` counts its contents.
    Transaction,
    /// A transaction of the kind with this number, of a workload with several.
    TransactionOf(usize),
}

/// The index of one of a worker's concurrent operations: 0 to `slots() - 1`.
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
    /// Fewer bytes were moved than requested.
    Short { moved: u64 },
    /// A database has refused a statement; the workload knows the statement and the reason.
    Statement,
}

#[derive(Debug)]
pub enum Submitted {
    Done(Completion),
    Pending,
}
