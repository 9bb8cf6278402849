//! io_uring I/O: many outstanding operations from one thread, submitted and reaped in batches.
//!
//! In: requests, one per slot. Out: completions in the kernel's order. Called by `workload::fileio`
//! for `engine = "io_uring"`, one per worker; `probe` calls `why_not`.

mod setup;

use std::io;
use std::os::fd::AsRawFd;
use std::sync::Arc;

use io_uring::{IoUring, opcode, squeue, types};

pub use setup::why_not;
use setup::{Registered, open};

use crate::clock::{self, Nanos};
use crate::error::{Class, EngineError, Result};
use crate::io::Operation;
use crate::io::buffer::Buffer;
use crate::io::fileset::FileSet;
use crate::io::{Io, Request};
use crate::operation::{Completion, Slot, Submitted};

/// The size of the first batch of submissions after completions; each further batch doubles. An
/// idle device gets the first operation at once, and the following ones cost few system calls.
const FIRST_BATCH: usize = 1;

pub struct Uring {
    ring: IoUring,
    files: Arc<FileSet>,
    registered: Registered,
    /// One per slot. The kernel reads and writes them while their slot is in flight.
    buffers: Vec<Buffer>,
    in_flight: Vec<Option<Request>>,
    outstanding: usize,
    /// Queued operations that are not submitted to the kernel yet.
    queued: usize,
    /// The number of queued operations that triggers a submission.
    batch: usize,
    can_wait_with_timeout: bool,
}

impl Uring {
    /// One slot per buffer. Must be created on the thread that will use it.
    pub fn new(files: Arc<FileSet>, buffers: Vec<Buffer>) -> Result<Self> {
        let slots = buffers.len();
        let ring = open(slots as u32)?;
        let registered = Registered::with(&ring, &files, &buffers);
        Ok(Uring {
            registered,
            can_wait_with_timeout: ring.params().is_feature_ext_arg(),
            ring,
            files,
            buffers,
            in_flight: vec![None; slots],
            outstanding: 0,
            queued: 0,
            batch: FIRST_BATCH,
        })
    }

    /// Whether the buffers are registered, so that the kernel need not pin them for each operation.
    pub fn has_registered_buffers(&self) -> bool {
        self.registered.buffers
    }

    fn entry(&self, slot: Slot, request: Request) -> squeue::Entry {
        let (file, flags) = if self.registered.files {
            (types::Fd(request.file as i32), squeue::Flags::FIXED_FILE)
        } else {
            let descriptor = self.files.file(request.file).as_raw_fd();
            (types::Fd(descriptor), squeue::Flags::empty())
        };
        let (memory, length) = (self.buffers[slot].pointer(), request.length);
        let entry = match (request.kind, self.registered.buffers) {
            (Operation::Read, true) => opcode::ReadFixed::new(file, memory, length, slot as u16)
                .offset(request.offset)
                .build(),
            (Operation::Read, false) => opcode::Read::new(file, memory, length)
                .offset(request.offset)
                .build(),
            (Operation::Write, true) => opcode::WriteFixed::new(file, memory, length, slot as u16)
                .offset(request.offset)
                .build(),
            (Operation::Write, false) => opcode::Write::new(file, memory, length)
                .offset(request.offset)
                .build(),
            (Operation::Fsync, _) => {
                let flags = if self.files.fsyncs_data_only() {
                    types::FsyncFlags::DATASYNC
                } else {
                    types::FsyncFlags::empty()
                };
                opcode::Fsync::new(file).flags(flags).build()
            }
        };
        entry.flags(flags).user_data(slot as u64)
    }

    /// Submits the queue and waits for one completion, or for the deadline.
    fn enter(&mut self, deadline: Option<Nanos>) -> io::Result<()> {
        let Some(deadline) = deadline else {
            return self.ring.submit_and_wait(1).map(|_| ());
        };
        let left = deadline.saturating_sub(clock::now());
        if self.outstanding == 0 || !self.can_wait_with_timeout {
            self.ring.submit()?;
            clock::sleep_until(deadline);
            return Ok(());
        }
        let timeout = types::Timespec::new()
            .sec(left / clock::SECOND)
            .nsec((left % clock::SECOND) as u32);
        let arguments = types::SubmitArgs::new().timespec(&timeout);
        self.ring
            .submitter()
            .submit_with_args(1, &arguments)
            .map(|_| ())
    }

    /// Submits the queue without waiting. When the kernel accepts nothing now, or reports an error,
    /// `enter` repeats the submission later.
    fn flush(&mut self) {
        if self.queued > 0 && self.ring.submit().is_ok() {
            self.queued = 0;
        }
    }

    fn collect(&mut self, completions: &mut Vec<Completion>) {
        for entry in self.ring.completion() {
            let slot = entry.user_data() as Slot;
            let Some(request) = self.in_flight.get_mut(slot).and_then(Option::take) else {
                continue;
            };
            self.outstanding -= 1;
            completions.push(request.completed(slot, i64::from(entry.result())));
        }
    }
}

impl Io for Uring {
    fn slots(&self) -> usize {
        self.buffers.len()
    }

    #[inline]
    fn buffer(&mut self, slot: Slot) -> Option<&mut Buffer> {
        Some(&mut self.buffers[slot])
    }

    fn submit(&mut self, slot: Slot, request: Request) -> Result<Submitted> {
        debug_assert!(self.in_flight[slot].is_none(), "the kernel has its buffer");
        debug_assert!(request.length as usize <= self.buffers[slot].bytes().len());
        let entry = self.entry(slot, request);
        // SAFETY: the descriptor is open as long as `files`, the buffer is valid for `length` bytes
        // and belongs to this free slot alone; both outlive the operation, since `drop` waits for
        // everything in flight before it frees them.
        let pushed = unsafe { self.ring.submission().push(&entry) };
        if pushed.is_err() {
            return Err(EngineError::new(
                Class::Internal,
                "the submission queue is full though a slot was free",
                "this is a defect of the engine: report it with the job",
            ));
        }
        self.in_flight[slot] = Some(request);
        self.outstanding += 1;
        self.queued += 1;
        // The last operations are submitted by the call that waits.
        if self.queued >= self.batch && self.outstanding < self.buffers.len() {
            self.flush();
            self.batch *= 2;
        }
        Ok(Submitted::Pending)
    }

    fn reap(&mut self, deadline: Option<Nanos>, completions: &mut Vec<Completion>) -> Result<()> {
        self.batch = FIRST_BATCH;
        // Completions that are already there come first, and need no wait.
        self.collect(completions);
        if !completions.is_empty() {
            self.flush();
            return Ok(());
        }
        loop {
            match self.enter(deadline) {
                Ok(()) => {
                    self.queued = 0;
                    break;
                }
                Err(cause) => match cause.raw_os_error() {
                    // The deadline has passed, or the kernel asks to reap before it accepts more
                    // submissions.
                    Some(libc::ETIME | libc::EAGAIN | libc::EBUSY) => break,
                    Some(libc::EINTR) => continue,
                    _ => {
                        return Err(EngineError::new(
                            Class::IoError,
                            format!("io_uring_enter failed: {cause}"),
                            "look in the kernel log (dmesg), or use engine = \"sync\"",
                        ));
                    }
                },
            }
        }
        self.collect(completions);
        Ok(())
    }
}

impl Drop for Uring {
    /// The kernel must have finished with the buffers before they are freed.
    fn drop(&mut self) {
        let mut completions = Vec::new();
        while self.outstanding > 0 {
            if self.reap(None, &mut completions).is_err() {
                // Leaking the memory is better than letting the kernel write into reused memory.
                self.buffers.drain(..).for_each(std::mem::forget);
                return;
            }
        }
        // Otherwise the kernel releases the files only some time after this process has ended.
        // Until then nobody can unmount them or open their device.
        let _ = self.ring.submitter().unregister_files();
    }
}
