//! Synchronous I/O: pread, pwrite and fsync, one at a time.
//!
//! In: requests. Out: their completions, at once. Called by `workload::fileio` for `engine =
//! "sync"`, one per thread.

use std::sync::Arc;

use rustix::fs::{fdatasync, fsync};
use rustix::io::{pread, pwrite, retry_on_intr};

use crate::clock::{self, Nanos};
use crate::error::Result;
use crate::io::Operation;
use crate::io::buffer::Buffer;
use crate::io::fileset::FileSet;
use crate::io::{Io, Request};
use crate::operation::{Completion, Slot, Submitted};

pub struct Sync {
    files: Arc<FileSet>,
    buffer: Buffer,
}

impl Sync {
    /// `buffer` must hold the longest request.
    pub fn new(files: Arc<FileSet>, buffer: Buffer) -> Self {
        Sync { files, buffer }
    }
}

impl Io for Sync {
    fn slots(&self) -> usize {
        1
    }

    #[inline]
    fn buffer(&mut self, _slot: Slot) -> Option<&mut Buffer> {
        Some(&mut self.buffer)
    }

    fn submit(&mut self, slot: Slot, request: Request) -> Result<Submitted> {
        let file = self.files.file(request.file);
        let length = request.length as usize;
        let moved = retry_on_intr(|| match request.kind {
            Operation::Read => pread(file, &mut self.buffer.bytes_mut()[..length], request.offset),
            Operation::Write => pwrite(file, &self.buffer.bytes()[..length], request.offset),
            Operation::Fsync if self.files.fsyncs_data_only() => fdatasync(file).map(|()| 0),
            Operation::Fsync => fsync(file).map(|()| 0),
        });
        let answer = match moved {
            Ok(bytes) => bytes as i64,
            Err(cause) => -i64::from(cause.raw_os_error()),
        };
        Ok(Submitted::Done(request.completed(slot, answer)))
    }

    fn reap(&mut self, deadline: Option<Nanos>, _completions: &mut Vec<Completion>) -> Result<()> {
        clock::sleep_until(deadline.unwrap_or(0));
        Ok(())
    }
}
