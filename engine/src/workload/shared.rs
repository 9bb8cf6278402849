//! The state that all workers of a run share, for every workload.
//!
//! In: a job. Out: files or a database in the state in which the run starts, and workers for it.
//! Called by `load`.

use std::sync::Arc;
use std::sync::mpsc::Sender;

use super::fileio::pattern::streams;
use super::fileio::verified::Verification;
use super::{fileio, sql};
use crate::error::Result;
use crate::job::{Job, Workload};
use crate::load::inbox::Message;
use crate::load::workers::Workers;

pub enum Shared {
    Files(fileio::shared::Shared),
    Sql(sql::shared::Shared),
}

impl Shared {
    pub fn open(job: &Job) -> Result<Shared> {
        Ok(match &job.workload {
            Workload::Files(files) => Shared::Files(fileio::shared::Shared::open(job, files)?),
            Workload::Sql(sql) => Shared::Sql(sql::shared::Shared::open(sql, job.cache)?),
        })
    }

    /// Starts the workers of the job for which this was opened.
    pub fn spawn(&self, job: &Job, sender: &Sender<Message>) -> Result<Workers> {
        let mut workers = Workers::of(job);
        match (&job.workload, self) {
            (Workload::Files(files), Shared::Files(shared)) => {
                fileio::spawn::spawn(&mut workers, job, files, shared, sender)?;
            }
            (Workload::Sql(sql), Shared::Sql(shared)) => {
                sql::spawn::spawn(&mut workers, job, sql, shared, sender)?;
            }
            // Opened for another job.
            _ => {}
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
        Workload::Files(files) => streams(files, &job.load)
            .iter()
            .map(|stream| stream.name)
            .collect(),
        Workload::Sql(_) => vec![""],
    }
}
