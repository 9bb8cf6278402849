//! Each workload by its kind: its data, the state that all workers of a run share, and its workers.
//!
//! In: a job. Out: files or tables, made, read into the cache, verified or removed; the shared state
//! at the start of a run, and workers for it. Called by `run` and `load`.

use std::sync::Arc;
use std::sync::mpsc::Sender;

use super::event::Verified;
use super::fileio::cleanup;
use super::fileio::pattern::streams;
use super::fileio::prepare::{self, PrepareStep};
use super::fileio::verified::{Verification, verify};
use super::{fileio, sql};
use crate::error::{EngineError, Result};
use crate::job::sql::Sql;
use crate::job::{Job, WorkloadJob};
use crate::load::inbox::Message;
use crate::load::stop::OnRequest;
use crate::load::workers::Workers;

pub enum Shared {
    Files(fileio::shared::FileShared),
    Sql(sql::shared::SqlShared),
}

impl Shared {
    pub fn open(job: &Job) -> Result<Shared> {
        Ok(match &job.workload {
            WorkloadJob::Files(files) => {
                Shared::Files(fileio::shared::FileShared::open(job, files)?)
            }
            WorkloadJob::Sql(sql) => Shared::Sql(sql::shared::SqlShared::open(sql, job.cache)?),
        })
    }

    /// Starts the workers of the job for which this was opened.
    pub fn spawn(&self, job: &Job, sender: &Sender<Message>) -> Result<Workers> {
        let mut workers = Workers::of(job);
        match (&job.workload, self) {
            (WorkloadJob::Files(files), Shared::Files(shared)) => {
                fileio::spawn::spawn(&mut workers, job, files, shared, sender)?;
            }
            (WorkloadJob::Sql(sql), Shared::Sql(shared)) => {
                sql::spawn::spawn(&mut workers, job, sql, shared, sender)?;
            }
            // Opened for another job. Each kind is named, so that the compiler asks for a new one.
            (WorkloadJob::Files(_) | WorkloadJob::Sql(_), _) => {}
        }
        Ok(workers)
    }

    /// Present with verified data.
    pub fn verification(&self) -> Option<&Arc<Verification>> {
        match self {
            Shared::Files(files) => files.verification.as_ref(),
            Shared::Sql(_) => None,
        }
    }

    pub fn has_registered_buffers(&self) -> bool {
        matches!(self, Shared::Files(files) if files.has_registered_buffers())
    }

    /// Called every second; an error when the load's data no longer exists.
    pub fn check(&self) -> Result<()> {
        match self {
            Shared::Files(files) => files.files.check_not_deleted(),
            Shared::Sql(_) => Ok(()),
        }
    }

    /// Syncs dirty pages, which the next trial would have to write otherwise.
    pub fn finish(&self) -> Result<()> {
        match self {
            Shared::Files(files) => files.finish(),
            Shared::Sql(_) => Ok(()),
        }
    }
}

/// The names of the streams of a load; one empty name where there is only one stream.
pub fn stream_names(job: &Job) -> Vec<&'static str> {
    match &job.workload {
        WorkloadJob::Files(files) => streams(files, &job.load)
            .iter()
            .map(|stream| stream.name)
            .collect(),
        WorkloadJob::Sql(_) => vec![""],
    }
}

/// The names of the kinds of transactions that are reported separately; none where there is one.
pub fn kind_names(job: &Job) -> &'static [&'static str] {
    match &job.workload {
        WorkloadJob::Files(_) => &[],
        WorkloadJob::Sql(sql) => sql.kinds(),
    }
}

/// Makes the data of a load.
pub fn prepare_data(job: &Job, stop: &OnRequest, report: impl Fn(PrepareStep)) -> Result<()> {
    match &job.workload {
        WorkloadJob::Files(files) => {
            prepare::prepare(files.data(), files.io().direct, job.seed, stop, report)
        }
        WorkloadJob::Sql(sql) => sql::prepare::prepare(sql, job.seed, stop, report),
    }
}

/// Reads the data into the cache of its server.
pub fn warm_data(job: &Job) -> Result<()> {
    match &job.workload {
        WorkloadJob::Sql(sql) => sql::prepare::warm(sql),
        WorkloadJob::Files(_) => Err(EngineError::bad_job("only a database has a cache to warm")),
    }
}

/// Compares verified data with the acknowledged writes.
pub fn verify_data(job: &Job, stop: &OnRequest, progress: impl Fn(u64, u64)) -> Result<Verified> {
    match &job.workload {
        WorkloadJob::Files(files) => verify::verify(job, files, stop, progress),
        WorkloadJob::Sql(Sql::Tpcc(tpcc)) => {
            sql::tpcc::conditions::check(&tpcc.database, stop, progress)
        }
        WorkloadJob::Sql(_) => Err(EngineError::bad_job("this data cannot be verified")),
    }
}

/// Removes the data of a load.
pub fn cleanup_data(job: &Job) -> Result<()> {
    match &job.workload {
        WorkloadJob::Files(files) => cleanup::cleanup(files.data()),
        WorkloadJob::Sql(sql) => sql::prepare::cleanup(sql),
    }
}
