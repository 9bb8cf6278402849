//! File I/O on a set of prepared files, in the modes of sysbench.
//!
//! In: the job's file parameters. Out: for each worker a `Workload` over one I/O engine. Called by
//! `load::workers`; `run` calls `prepare` and `cleanup`.

pub mod cleanup;
pub mod content;
pub mod directory;
pub mod distribution;
mod fill;
pub mod layout;
pub mod manifest;
pub mod mix;
pub mod pattern;
pub mod prepare;
pub mod requests;
pub mod shared;
mod spans;
pub mod spawn;
pub mod verified;
mod zipf;

use std::io;
use std::sync::Arc;

use crate::clock::Nanos;
use crate::error::{Class, EngineError, Result};
use crate::io::Operation;
use crate::io::fileset::FileSet;
use crate::io::{Io, Request};
use crate::operation::{Completion, Failure, Slot, Submitted};
use requests::Requests;
use verified::Verifier;

/// One worker's share of the load.
pub struct FileLoad<I> {
    io: I,
    requests: Requests,
    files: Arc<FileSet>,
    in_slots: Vec<Option<Request>>,
    /// Present with verified data; otherwise an operation pays no cost for verification.
    verifier: Option<Box<Verifier>>,
}

impl<I: Io> FileLoad<I> {
    pub fn new(
        io: I,
        requests: Requests,
        files: Arc<FileSet>,
        verifier: Option<Box<Verifier>>,
    ) -> Self {
        let in_slots = vec![None; io.slots()];
        FileLoad {
            io,
            requests,
            files,
            in_slots,
            verifier,
        }
    }

    #[inline(never)]
    fn submit_verified(&mut self, slot: Slot) -> Result<Submitted> {
        if let Some(verifier) = &mut self.verifier {
            let request = verifier.draw(slot, &mut self.requests, self.io.buffer(slot))?;
            self.in_slots[slot] = Some(request);
            let submitted = self.io.submit(slot, request)?;
            if let Submitted::Done(completion) = &submitted {
                self.verify(completion)?;
            }
            return Ok(submitted);
        }
        Err(never_started())
    }

    /// Compares a completed operation with the known state of its block.
    fn verify(&mut self, completion: &Completion) -> Result<()> {
        let slot = completion.slot;
        match (
            &mut self.verifier,
            self.in_slots[slot],
            self.io.buffer(slot),
        ) {
            (Some(verifier), Some(request), Some(buffer)) => {
                verifier.complete(completion, request, buffer.bytes(), &self.files)
            }
            _ => Err(never_started()),
        }
    }

    /// Empties a full file before writing it again, so that all passes measure the same work. The
    /// time this takes is part of the first operation on the file.
    #[cold]
    fn empty_file(&self, index: usize) -> Result<()> {
        self.files.truncate_one(index)
    }
}

impl<I: Io> crate::load::workload::Workload for FileLoad<I> {
    fn slots(&self) -> usize {
        self.io.slots()
    }

    #[inline]
    fn submit(&mut self, slot: Slot) -> Result<Submitted> {
        if self.verifier.is_some() {
            return self.submit_verified(slot);
        }
        let draw = self.requests.draw();
        if draw.starts_over {
            self.empty_file(draw.request.file)?;
        }
        if draw.request.kind == Operation::Write
            && let Some(buffer) = self.io.buffer(slot)
        {
            buffer.stamp();
        }
        self.in_slots[slot] = Some(draw.request);
        self.io.submit(slot, draw.request)
    }

    fn reap(&mut self, deadline: Option<Nanos>, completions: &mut Vec<Completion>) -> Result<()> {
        let first_new = completions.len();
        self.io.reap(deadline, completions)?;
        if self.verifier.is_some() {
            for completion in &completions[first_new..] {
                self.verify(completion)?;
            }
        }
        Ok(())
    }

    fn explain(&self, slot: Slot, failure: Failure) -> EngineError {
        let Some(request) = self.in_slots.get(slot).copied().flatten() else {
            return never_started();
        };
        let path = self.files.path(request.file);
        let range = format!("{} bytes at offset {} of", request.length, request.offset);
        let action = match request.kind {
            Operation::Read => format!("read {range}"),
            Operation::Write => format!("write {range}"),
            Operation::Fsync => "fsync".to_string(),
        };
        match failure {
            Failure::Errno(errno) => {
                EngineError::from_io(&action, path, &io::Error::from_raw_os_error(errno))
            }
            Failure::Statement => never_started(),
            Failure::Short { moved } => EngineError::new(
                Class::ShortIo,
                format!(
                    "cannot {action} {}: only {moved} were transferred",
                    path.display()
                ),
                "check whether the file was shortened or its file system is nearly full",
            )
            .at(path),
        }
    }
}

fn never_started() -> EngineError {
    EngineError::new(
        Class::Internal,
        "an operation has completed that was never started",
        "this is a defect of the engine: report it with the job",
    )
}
