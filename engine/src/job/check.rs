//! Checking a job: the range of every number, and forbidden combinations.
//!
//! In: a job as parsed. Out: an error that names the field. Called by `Job::parse`.

use std::ops::RangeInclusive;

use super::files::{Access, Data, Engine, FileIo, Files, IoMatrix, IoMethod, Mode};
use super::{Job, JobPhase, Load};
use crate::error::{EngineError, Result};

const MAX_OUTSTANDING: usize = 16_384;
const MAX_BLOCK_BYTES: u64 = 64 << 20;
const MAX_BUFFER_BYTES: u64 = 8 << 30;
/// The least multiple for offsets and lengths with O_DIRECT on any disk.
const SECTOR_BYTES: u64 = 512;
/// Enough for the label of a verified block.
const MIN_VERIFIED_BYTES: u64 = 512;
pub const MAX_SECONDS: f64 = 30.0 * 86_400.0;
const MAX_RATE_PER_S: f64 = 1e8;

pub(super) fn refuse<T>(message: String) -> Result<T> {
    Err(EngineError::bad_job(message))
}

pub(super) fn within(name: &str, value: f64, range: RangeInclusive<f64>) -> Result<()> {
    if value.is_finite() && range.contains(&value) {
        return Ok(());
    }
    refuse(format!(
        "{name} is {value}; it must be from {} to {}",
        range.start(),
        range.end()
    ))
}

impl Job {
    pub(super) fn check(&self) -> Result<()> {
        within("settle_s", self.settle_s, 0.0..=MAX_SECONDS)?;
        within("interval_s", self.interval_s, 0.01..=MAX_SECONDS)?;
        if let Some(measure_s) = self.measure_s {
            within("measure_s", measure_s, 0.001..=MAX_SECONDS)?;
        }
        self.workload.check(self)
    }

    fn check_verify(&self, data: &Data) -> Result<()> {
        let is_verified = data.verified_block_bytes.is_some();
        match (self.phase, &self.durable) {
            (JobPhase::Verify, _) if !is_verified => refuse(
                "the phase is verify, but workload.data.verified_block_bytes is not set"
                    .to_string(),
            ),
            (JobPhase::Verify, Some(durable)) if durable.len() != self.load.outstanding => {
                refuse(format!(
                    "durable has {} sequences; it must have load.outstanding, {}",
                    durable.len(),
                    self.load.outstanding
                ))
            }
            (JobPhase::Verify, _) | (_, None) => Ok(()),
            (_, Some(_)) => refuse("durable can be set for the phase verify only".to_string()),
        }
    }
}

impl Files {
    pub(super) fn check(&self, job: &Job) -> Result<()> {
        self.data().check(self.io())?;
        let buffers = match self {
            Files::FileIo(fileio) => fileio.check(job.phase, &job.load)?,
            Files::IoMatrix(matrix) => matrix.check(job.phase, &job.load)?,
        };
        job.check_verify(self.data())?;
        if buffers > MAX_BUFFER_BYTES {
            return refuse(format!(
                "the outstanding operations need {buffers} bytes of buffers, more than {MAX_BUFFER_BYTES}"
            ));
        }
        Ok(())
    }
}

impl Load {
    pub(super) fn check(&self, least: usize) -> Result<()> {
        if let Some(rate_per_s) = self.rate_per_s {
            within("load.rate_per_s", rate_per_s, 0.001..=MAX_RATE_PER_S)?;
        }
        if (least..=MAX_OUTSTANDING).contains(&self.outstanding) {
            return Ok(());
        }
        refuse(format!(
            "load.outstanding is {}; it must be from {least} to {MAX_OUTSTANDING}",
            self.outstanding
        ))
    }
}

impl Data {
    fn check(&self, io: &IoMethod) -> Result<()> {
        let location = match (&self.directory, &self.device) {
            (Some(_), Some(_)) | (None, None) => {
                return refuse(
                    "workload.data must have either `directory` or `device`".to_string(),
                );
            }
            _ => self.location(),
        };
        if self.device_identity.is_some() && self.device.is_none() {
            return refuse("workload.data has `device_identity` without `device`".to_string());
        }
        if !location.is_absolute() {
            return refuse(format!(
                "the directory or device of workload.data is `{}`; it must be an absolute path",
                location.display()
            ));
        }
        if !(1..=100_000).contains(&self.files) || (self.device.is_some() && self.files != 1) {
            return refuse(format!(
                "workload.data.files is {}; it must be from 1 to 100000, and 1 with a device",
                self.files
            ));
        }
        if self.file_size_bytes() == 0 || self.total_size_bytes > i64::MAX as u64 {
            return refuse(format!(
                "workload.data.total_size_bytes is {}; it must give each of {} files at least one byte, and at most 2^63-1 in all",
                self.total_size_bytes, self.files
            ));
        }
        within("workload.data.compressible", self.compressible, 0.0..=1.0)?;
        if let Some(block) = self.verified_block_bytes
            && (io.engine == Engine::Null
                || !(MIN_VERIFIED_BYTES..=MAX_BLOCK_BYTES).contains(&block))
        {
            return refuse(format!(
                "workload.data.verified_block_bytes is {block}; it must be from {MIN_VERIFIED_BYTES} to {MAX_BLOCK_BYTES}, with an engine that does I/O"
            ));
        }
        Ok(())
    }

    fn check_block(&self, name: &str, block: u64, io: &IoMethod, phase: JobPhase) -> Result<()> {
        if !(1..=MAX_BLOCK_BYTES).contains(&block) {
            return refuse(format!(
                "workload.{name} is {block}; it must be from 1 to {MAX_BLOCK_BYTES}"
            ));
        }
        if io.direct && !block.is_multiple_of(SECTOR_BYTES) {
            return refuse(format!(
                "workload.{name} is {block}; with direct it must be a multiple of {SECTOR_BYTES}"
            ));
        }
        if matches!(phase, JobPhase::Run | JobPhase::Verify) && self.file_size_bytes() < block {
            return refuse(format!(
                "each of {} files would have {} bytes, less than one block of {block}",
                self.files,
                self.file_size_bytes()
            ));
        }
        Ok(())
    }
}

impl FileIo {
    /// Returns the bytes of its buffers.
    fn check(&self, phase: JobPhase, load: &Load) -> Result<u64> {
        let access = &self.access;
        access.check()?;
        let block = access.block_size_bytes;
        self.data
            .check_block("access.block_size_bytes", block, &self.io, phase)?;
        if let Some(verified) = self.data.verified_block_bytes {
            if verified != block {
                return refuse(format!(
                    "workload.data.verified_block_bytes is {verified}; it must be access.block_size_bytes, {block}"
                ));
            }
            let blocks = self.data.file_size_bytes() / block * u64::from(self.data.files);
            if phase == JobPhase::Run && blocks < load.outstanding as u64 {
                return refuse(format!(
                    "load.outstanding is {}; it must be at most {blocks}, the number of verified blocks",
                    load.outstanding
                ));
            }
            if access.mode == Mode::SeqWr {
                return refuse(
                    "workload.access.mode is seqwr, which begins with empty files; verified data needs another mode".to_string(),
                );
            }
        }
        if self.data.device.is_some() && access.mode == Mode::SeqWr {
            return refuse(
                "workload.access.mode is seqwr, which empties its files; on a device use seqrewr"
                    .to_string(),
            );
        }
        load.check(1)?;
        Ok(load.outstanding as u64 * block)
    }
}

impl Access {
    fn check(&self) -> Result<()> {
        within(
            "workload.access.read_write_ratio",
            self.read_write_ratio,
            0.0..=1e6,
        )?;
        within(
            "workload.access.zipf_exponent",
            self.zipf_exponent,
            0.01..=10.0,
        )?;
        within("workload.access.pareto_h", self.pareto_h, 0.001..=0.5)?;
        within("workload.access.hot_part", self.hot_part, 0.0..=1.0)?;
        within("workload.access.hot_share", self.hot_share, 0.0..=1.0)
    }
}

impl IoMatrix {
    /// Returns the bytes of its buffers.
    fn check(&self, phase: JobPhase, load: &Load) -> Result<u64> {
        let (small, large) = (self.small_block_size_bytes, self.large_block_size_bytes);
        let data = &self.data;
        data.check_block("small_block_size_bytes", small, &self.io, phase)?;
        data.check_block("large_block_size_bytes", large, &self.io, phase)?;
        within("workload.write_share", self.write_share, 0.0..=1.0)?;
        if data.verified_block_bytes.is_some() {
            return refuse(
                "workload.data.verified_block_bytes cannot be set: blocks of two sizes cannot be verified"
                    .to_string(),
            );
        }
        if self.large_outstanding > MAX_OUTSTANDING {
            return refuse(format!(
                "workload.large_outstanding is {}; it must be at most {MAX_OUTSTANDING}",
                self.large_outstanding
            ));
        }
        load.check(usize::from(self.large_outstanding == 0))?;
        if load.rate_per_s.is_some() {
            return refuse(
                "load.rate_per_s cannot be set: the matrix is a closed loop".to_string(),
            );
        }
        Ok(load.outstanding as u64 * small + self.large_outstanding as u64 * large)
    }
}
