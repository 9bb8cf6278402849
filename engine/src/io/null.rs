//! I/O that does nothing, to measure the cost of the engine itself.
//!
//! In: requests. Out: their completions, at once and without a system call. Called by
//! `workload::fileio` for `engine = "null"`.

use crate::clock::{self, Nanos};
use crate::error::Result;
use crate::io::buffer::Buffer;
use crate::io::{Io, Request};
use crate::operation::{Completion, Slot, Submitted};

#[derive(Debug, Clone, Copy, Default)]
pub struct Null;

impl Io for Null {
    fn slots(&self) -> usize {
        1
    }

    #[inline]
    fn buffer(&mut self, _slot: Slot) -> Option<&mut Buffer> {
        None
    }

    #[inline]
    fn submit(&mut self, slot: Slot, request: Request) -> Result<Submitted> {
        Ok(Submitted::Done(
            request.completed(slot, i64::from(request.length)),
        ))
    }

    fn reap(&mut self, deadline: Option<Nanos>, _completions: &mut Vec<Completion>) -> Result<()> {
        clock::sleep_until(deadline.unwrap_or(0));
        Ok(())
    }
}
