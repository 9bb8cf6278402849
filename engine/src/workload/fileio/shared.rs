//! The state that all workers of a run share: the open files, and the ledger of verified data.
//!
//! In: a job. Out: files, or a device, in the state in which the run starts. Called by
//! `workload::shared` and by `verified::verify`.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::manifest::{DataManifest, file_paths};
use super::verified::Verification;
use crate::error::{Class, EngineError, Result};
use crate::io::fileset::{FileAccess, FileSet};
use crate::job::files::SyncWrites;
use crate::job::{Cache, Data, Engine, Files, Job};
use crate::machine;

pub struct FileShared {
    pub files: Arc<FileSet>,
    /// Present with verified data.
    pub verification: Option<Arc<Verification>>,
    /// Whether some ring could not register its buffers.
    pub unregistered: Arc<AtomicBool>,
    writes: bool,
    rings: bool,
}

impl FileShared {
    pub fn open(job: &Job, workload: &Files) -> Result<FileShared> {
        let files = if workload.io().engine == Engine::Null {
            FileSet::default()
        } else {
            open_data(workload, job.cache, workload.writes())?
        };
        Ok(FileShared {
            files: Arc::new(files),
            verification: Verification::of(job, workload).map(Arc::new),
            unregistered: Arc::default(),
            writes: workload.writes(),
            rings: workload.io().engine == Engine::IoUring,
        })
    }

    /// Valid once the workers are ready.
    pub fn has_registered_buffers(&self) -> bool {
        self.rings && !self.unregistered.load(Ordering::Relaxed)
    }

    /// Syncs dirty pages, which the next trial would have to write otherwise.
    pub fn finish(&self) -> Result<()> {
        if self.writes {
            self.files.sync()?;
            if let Some(verification) = &self.verification {
                verification.ledger.all_is_synced();
            }
        }
        Ok(())
    }
}

/// Opens the job's data, and brings it and the page cache into the requested state.
pub fn open_data(workload: &Files, cache: Cache, write: bool) -> Result<FileSet> {
    let (data, io) = (workload.data(), workload.io());
    let access = FileAccess {
        write,
        direct: io.direct,
        sync_writes: if write {
            io.sync_writes
        } else {
            SyncWrites::None
        },
        fsync_call: workload.fsync_call(),
    };
    let files = match &data.device {
        Some(device) => {
            FileSet::open_device(device.clone(), access, data.device_identity.as_ref())?
        }
        None => {
            let manifest = check_prepared(data)?;
            let files = FileSet::open(file_paths(data.location(), data.files), access)?;
            if machine::keeps_inodes(data.location()).unwrap_or(true) {
                files.check_inodes(&manifest.inodes)?;
            }
            files
        }
    };
    if io.direct {
        for block_bytes in workload.block_sizes_bytes() {
            files.check_direct(block_bytes)?;
        }
    }
    if workload.empties_files() {
        // This mode measures the first write, which has to allocate space for the data.
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

fn check_prepared(data: &Data) -> Result<DataManifest> {
    let location = data.location();
    let directory = location.display();
    let why = match DataManifest::read(location)? {
        None => format!("{directory} holds no prepared files"),
        Some(manifest) if !manifest.complete => {
            format!("preparing the files in {directory} was interrupted")
        }
        Some(manifest) if !manifest.matches(data) => {
            let requested = DataManifest::of(data);
            format!("{directory} holds {manifest}, the job needs {requested}")
        }
        Some(manifest) => return Ok(manifest),
    };
    Err(EngineError::new(
        Class::NotPrepared,
        why,
        "run the prepare phase with the same data",
    )
    .at(location))
}
