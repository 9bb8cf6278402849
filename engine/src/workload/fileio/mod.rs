//! File I/O on a set of prepared files, in the modes of sysbench.
//!
//! In: the job's file parameters. Out: for each worker a `Workload` over one way of doing I/O.
//! Called by `load::crew`; `prepare` and `cleanup` are called by `run`.

pub mod cleanup;
pub mod content;
pub mod distribution;
mod fill;
pub mod layout;
pub mod manifest;
pub mod mix;
pub mod pattern;
pub mod prepare;
pub mod requests;
pub mod verified;
mod zipf;

use std::io;
use std::sync::Arc;

use crate::clock::Nanos;
use crate::error::{Class, EngineError, Result};
use crate::io::fileset::{Access, FileSet};
use crate::io::{Io, Request};
use crate::job::{Cache, Engine, Workload};
use crate::record::interval::OperationKind;
use crate::workload::{Completion, Failure, Slot, Submitted};
use manifest::{Manifest, file_paths};
use requests::Requests;

/// The files of one run, shared by all workers.
pub struct Shared {
    pub files: Arc<FileSet>,
    writes: bool,
}

impl Shared {
    /// Opens the files and brings them and the page cache into the state in which the run starts.
    pub fn open(workload: &Workload, cache: Cache) -> Result<Shared> {
        let files = if workload.io().engine == Engine::Null {
            FileSet::default()
        } else {
            open_prepared(workload, cache)?
        };
        Ok(Shared {
            files: Arc::new(files),
            writes: workload.writes(),
        })
    }

    /// Leaves nothing dirty in memory that the next trial would have to pay for.
    pub fn finish(&self) -> Result<()> {
        if self.writes {
            self.files.sync()
        } else {
            Ok(())
        }
    }
}

fn open_prepared(workload: &Workload, cache: Cache) -> Result<FileSet> {
    let data = workload.data();
    let place = data.place();
    let not_prepared = |why: String| {
        EngineError::new(
            Class::NotPrepared,
            why,
            "run the prepare phase with the same files and total_size_bytes",
        )
        .at(place)
    };
    let directory = place.display();
    match Manifest::read(place)? {
        None => return Err(not_prepared(format!("{directory} holds no prepared files"))),
        Some(manifest) if !manifest.complete => {
            return Err(not_prepared(format!(
                "preparing the files in {directory} was interrupted"
            )));
        }
        Some(manifest) if !manifest.matches(data) => {
            return Err(not_prepared(format!(
                "{directory} holds {} files of {} bytes in all, the job wants {} of {}",
                manifest.files, manifest.total_size_bytes, data.files, data.total_size_bytes
            )));
        }
        Some(_) => {}
    }
    let access = Access {
        write: workload.writes(),
        direct: workload.io().direct,
    };
    let files = FileSet::open(file_paths(place, data.files), access)?;
    if workload.empties_files() {
        // This mode measures the first write, which has to find space for the data.
        files.truncate()?;
        files.sync()?;
    } else {
        files.check_size(data.file_size_bytes())?;
    }
    if cache == Cache::Cold {
        files.drop_cache()?;
    }
    Ok(files)
}

/// One worker's share of the load.
pub struct FileIo<I> {
    io: I,
    requests: Requests,
    files: Arc<FileSet>,
    in_slots: Vec<Option<Request>>,
}

impl<I: Io> FileIo<I> {
    pub fn new(io: I, requests: Requests, files: Arc<FileSet>) -> Self {
        let in_slots = vec![None; io.slots()];
        FileIo {
            io,
            requests,
            files,
            in_slots,
        }
    }

    /// A file written in full is emptied before it is written again, so that all passes measure the
    /// same; the time this takes is part of the operation that begins the file.
    #[cold]
    fn empty_file(&self, index: usize) -> Result<()> {
        self.files.truncate_one(index)
    }
}

impl<I: Io> crate::workload::Workload for FileIo<I> {
    fn slots(&self) -> usize {
        self.io.slots()
    }

    #[inline]
    fn submit(&mut self, slot: Slot) -> Result<Submitted> {
        let draw = self.requests.draw();
        if draw.starts_over {
            self.empty_file(draw.request.file)?;
        }
        if draw.request.kind == OperationKind::Write
            && let Some(buffer) = self.io.buffer(slot)
        {
            buffer.stamp();
        }
        self.in_slots[slot] = Some(draw.request);
        self.io.submit(slot, draw.request)
    }

    fn reap(&mut self, deadline: Option<Nanos>, completions: &mut Vec<Completion>) -> Result<()> {
        self.io.reap(deadline, completions)
    }

    fn explain(&self, slot: Slot, failure: Failure) -> EngineError {
        let Some(request) = self.in_slots.get(slot).copied().flatten() else {
            return EngineError::new(
                Class::Internal,
                "an operation failed that was never started",
                "this is a defect of the engine: report it with the job",
            );
        };
        let path = self.files.path(request.file);
        let place = format!("{} bytes at offset {} of", request.length, request.offset);
        let action = match request.kind {
            OperationKind::Read => format!("read {place}"),
            OperationKind::Write => format!("write {place}"),
            OperationKind::Fsync => "fsync".to_string(),
        };
        match failure {
            Failure::Errno(errno) => {
                EngineError::from_io(&action, path, &io::Error::from_raw_os_error(errno))
            }
            Failure::Short { moved } => EngineError::new(
                Class::ShortIo,
                format!(
                    "cannot {action} {}: only {moved} were moved",
                    path.display()
                ),
                "see whether the file was shortened or its file system is nearly full",
            )
            .at(path),
        }
    }
}
