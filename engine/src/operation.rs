//! An operation of a load: its kind, its slot, and how it ended.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OperationKind {
    Read,
    Write,
    Fsync,
    /// Of a database; what it was made of is in `Statements`.
    Transaction,
}

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
