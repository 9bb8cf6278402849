//! Synchronous I/O: pread, pwrite and fsync, one at a time.
//!
//! In: requests. Out: their completions, at once. Called by `workload::fileio` for `engine =
//! "sync"`, one per thread.

use std::os::fd::AsRawFd;
use std::sync::Arc;

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
        let descriptor = self.files.file(request.file).as_raw_fd();
        let offset = request.offset as libc::off_t;
        let length = request.length as usize;
        let answer = loop {
            let answer = match request.kind {
                Operation::Read => {
                    let target = &mut self.buffer.bytes_mut()[..length];
                    // SAFETY: `target` is writable for `length` bytes during the call.
                    unsafe { libc::pread(descriptor, target.as_mut_ptr().cast(), length, offset) }
                }
                Operation::Write => {
                    let source = &self.buffer.bytes()[..length];
                    // SAFETY: `source` is readable for `length` bytes during the call.
                    unsafe { libc::pwrite(descriptor, source.as_ptr().cast(), length, offset) }
                }
                // SAFETY: plain system calls on a descriptor that `files` keeps open.
                Operation::Fsync => unsafe {
                    if self.files.fsyncs_data_only() {
                        libc::fdatasync(descriptor) as libc::ssize_t
                    } else {
                        libc::fsync(descriptor) as libc::ssize_t
                    }
                },
            };
            if answer >= 0 {
                break answer as i64;
            }
            let errno = std::io::Error::last_os_error().raw_os_error().unwrap_or(0);
            if errno != libc::EINTR {
                break -i64::from(errno);
            }
        };
        Ok(Submitted::Done(request.completed(slot, answer)))
    }

    fn reap(&mut self, deadline: Option<Nanos>, _completions: &mut Vec<Completion>) -> Result<()> {
        clock::sleep_until(deadline.unwrap_or(0));
        Ok(())
    }
}
