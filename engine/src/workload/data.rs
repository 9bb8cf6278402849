//! The data of a load, for every workload: made, read into the cache, verified and removed.
//!
//! In: a job. Out: files or tables. Called by `run`.

use super::event::Verified;
use super::fileio::cleanup;
use super::fileio::prepare::{self, Step};
use super::fileio::verified::verify;
use super::sql;
use crate::error::{EngineError, Result};
use crate::job::{Job, Workload};
use crate::load::stop::OnRequest;

pub fn prepare(job: &Job, stop: &OnRequest, report: impl Fn(Step)) -> Result<()> {
    match &job.workload {
        Workload::Files(files) => {
            prepare::prepare(files.data(), files.io().direct, job.seed, stop, report)
        }
        Workload::Sql(sql) => sql::prepare::prepare(sql, job.seed, stop, report),
    }
}

pub fn warm(job: &Job) -> Result<()> {
    match &job.workload {
        Workload::Sql(sql) => sql::prepare::warm(sql),
        Workload::Files(_) => Err(EngineError::bad_job("only a database has a cache to warm")),
    }
}

pub fn verify(job: &Job, stop: &OnRequest, progress: impl Fn(u64, u64)) -> Result<Verified> {
    match &job.workload {
        Workload::Files(files) => verify::verify(job, files, stop, progress),
        Workload::Sql(_) => Err(EngineError::bad_job("only data of files can be verified")),
    }
}

pub fn cleanup(job: &Job) -> Result<()> {
    match &job.workload {
        Workload::Files(files) => cleanup::cleanup(files.data()),
        Workload::Sql(sql) => sql::prepare::cleanup(sql),
    }
}
