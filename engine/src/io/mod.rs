//! I/O engines: synchronous calls, an io_uring, or no I/O at all.
//!
//! In: requests, one per slot. Out: completions. All engines have one contract, so that a workload
//! does not depend on the engine. Called by `workload::fileio`.

pub mod buffer;
pub mod device;
pub mod direct;
pub mod epoll;
pub mod fileset;
pub mod memory;
pub mod null;
pub mod sync;
pub mod uring;

use crate::clock::Nanos;
use crate::error::Result;
use crate::operation::OperationKind;
use crate::operation::{Completion, Failure, Outcome, Slot, Submitted};
use buffer::Buffer;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    Read,
    Write,
    Fsync,
}

impl From<Operation> for OperationKind {
    #[inline]
    fn from(operation: Operation) -> OperationKind {
        match operation {
            Operation::Read => OperationKind::Read,
            Operation::Write => OperationKind::Write,
            Operation::Fsync => OperationKind::Fsync,
        }
    }
}

/// One operation on one file of the set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Request {
    pub kind: Operation,
    pub file: usize,
    pub offset: u64,
    /// 0 for an fsync.
    pub length: u32,
}

pub trait Io {
    fn slots(&self) -> usize;

    /// The memory of a free slot: the data for its next write, or the result of its last read.
    /// `None` where the engine moves no data.
    fn buffer(&mut self, slot: Slot) -> Option<&mut Buffer>;

    /// Starts a request in a free slot.
    fn submit(&mut self, slot: Slot, request: Request) -> Result<Submitted>;

    /// As `Workload::reap`.
    fn reap(&mut self, deadline: Option<Nanos>, completions: &mut Vec<Completion>) -> Result<()>;
}

impl Request {
    /// The completion of this request; `answer` is the number of bytes moved, or minus the errno.
    #[inline]
    fn completed(self, slot: Slot, answer: i64) -> Completion {
        let outcome = if answer < 0 {
            Outcome::Failed(Failure::Errno(answer.unsigned_abs() as i32))
        } else if answer as u64 == u64::from(self.length) {
            Outcome::Done {
                bytes: u64::from(self.length),
            }
        } else {
            Outcome::Failed(Failure::Short {
                moved: answer as u64,
            })
        };
        Completion {
            slot,
            kind: self.kind.into(),
            outcome,
        }
    }
}
