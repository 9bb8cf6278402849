//! The job: what the controller asks of `run`, one JSON object with unknown fields refused.
//!
//! In: the first line of stdin. Out: a checked `Job`, or an error that names the field. Called by
//! `run`; the types are read by `load` and `workload`.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::error::{Class, EngineError, Result};
use crate::event::PROTOCOL;

const MAX_OUTSTANDING: usize = 16_384;
const MAX_BLOCK_BYTES: u64 = 64 << 20;
const MAX_BUFFER_BYTES: u64 = 8 << 30;
/// What any disk with O_DIRECT asks of offsets and lengths at least.
const SECTOR_BYTES: u64 = 512;
const MAX_SECONDS: f64 = 30.0 * 86_400.0;

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Job {
    pub protocol: u32,
    pub phase: JobPhase,
    pub workload: Workload,
    #[serde(default)]
    pub load: Load,
    #[serde(default)]
    pub cache: Cache,
    #[serde(default)]
    pub settle_s: f64,
    /// Absent or null: windows are opened and closed by commands.
    #[serde(default)]
    pub measure_s: Option<f64>,
    #[serde(default = "one_second")]
    pub interval_s: f64,
    #[serde(default = "first_seed")]
    pub seed: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum JobPhase {
    Prepare,
    Run,
    Cleanup,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Workload {
    #[serde(rename = "fileio")]
    FileIo(FileIoJob),
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileIoJob {
    pub directory: PathBuf,
    pub files: u32,
    pub total_size_bytes: u64,
    #[serde(default)]
    pub mode: Mode,
    #[serde(default)]
    pub engine: Engine,
    #[serde(default = "sixteen_kib")]
    pub block_size_bytes: u64,
    #[serde(default)]
    pub direct: bool,
    /// Reads per write in `rndrw`.
    #[serde(default = "three_to_two")]
    pub read_write_ratio: f64,
    /// All files are fsynced after this many requests of a writing mode; 0 is never.
    #[serde(default = "one_hundred")]
    pub fsync_every: u64,
    #[serde(default = "yes")]
    pub fsync_at_end: bool,
}

/// The file modes, with the names and the meaning of sysbench.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    SeqWr,
    SeqRewr,
    SeqRd,
    RndRd,
    RndWr,
    #[default]
    RndRw,
}

impl Mode {
    pub fn writes(self) -> bool {
        !matches!(self, Mode::SeqRd | Mode::RndRd)
    }

    pub fn reads(self) -> bool {
        matches!(self, Mode::SeqRd | Mode::RndRd | Mode::RndRw)
    }

    pub fn is_sequential(self) -> bool {
        matches!(self, Mode::SeqWr | Mode::SeqRewr | Mode::SeqRd)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Engine {
    #[default]
    Sync,
    IoUring,
    /// Completes at once without a system call: measures the engine itself.
    Null,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Load {
    pub outstanding: usize,
}

impl Default for Load {
    fn default() -> Self {
        Load { outstanding: 1 }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Cache {
    #[default]
    Warm,
    Cold,
}

fn one_second() -> f64 {
    1.0
}
fn first_seed() -> u64 {
    1
}
fn sixteen_kib() -> u64 {
    16_384
}
fn three_to_two() -> f64 {
    1.5
}
fn one_hundred() -> u64 {
    100
}
fn yes() -> bool {
    true
}

impl Job {
    /// Reads and checks a job. The protocol is looked at first, since another protocol may well
    /// have other fields.
    pub fn parse(line: &str) -> Result<Job> {
        check_protocol(line)?;
        let job: Job = serde_json::from_str(line)
            .map_err(|cause| EngineError::bad_job(format!("the job is not valid: {cause}")))?;
        job.check()?;
        Ok(job)
    }

    fn check(&self) -> Result<()> {
        let within = |name: &str, value: f64, low: f64| {
            if value.is_finite() && (low..=MAX_SECONDS).contains(&value) {
                return Ok(());
            }
            Err(EngineError::bad_job(format!(
                "{name} is {value}; it must be from {low} to {MAX_SECONDS} seconds"
            )))
        };
        within("settle_s", self.settle_s, 0.0)?;
        within("interval_s", self.interval_s, 0.01)?;
        if let Some(measure_s) = self.measure_s {
            within("measure_s", measure_s, 0.001)?;
        }
        let Workload::FileIo(fileio) = &self.workload;
        fileio.check(self.phase)?;
        let outstanding = self.load.outstanding;
        if !(1..=MAX_OUTSTANDING).contains(&outstanding) {
            return Err(EngineError::bad_job(format!(
                "load.outstanding is {outstanding}; it must be from 1 to {MAX_OUTSTANDING}"
            )));
        }
        if outstanding as u64 * fileio.block_size_bytes > MAX_BUFFER_BYTES {
            return Err(EngineError::bad_job(format!(
                "{outstanding} outstanding operations of {} bytes need more than {MAX_BUFFER_BYTES} bytes of buffers",
                fileio.block_size_bytes
            )));
        }
        Ok(())
    }

    /// The job as understood, every default filled in: the verification of its parameters.
    pub fn effective(&self) -> Value {
        // Plain data without maps of odd keys: turning it into JSON cannot fail.
        let mut all = serde_json::to_value(&self.workload).unwrap_or_default();
        let rest = json!({
            "phase": self.phase, "load": self.load, "cache": self.cache, "settle_s": self.settle_s,
            "measure_s": self.measure_s, "interval_s": self.interval_s, "seed": self.seed,
        });
        if let (Some(all), Value::Object(rest)) = (all.as_object_mut(), rest) {
            all.extend(rest);
        }
        all
    }
}

impl FileIoJob {
    pub fn file_size_bytes(&self) -> u64 {
        self.total_size_bytes / u64::from(self.files)
    }

    fn check(&self, phase: JobPhase) -> Result<()> {
        let refuse = |message: String| Err(EngineError::bad_job(message));
        if !self.directory.is_absolute() {
            return refuse(format!(
                "workload.directory is `{}`; it must be an absolute path",
                self.directory.display()
            ));
        }
        if !(1..=100_000).contains(&self.files) {
            return refuse(format!(
                "workload.files is {}; it must be from 1 to 100000",
                self.files
            ));
        }
        let block = self.block_size_bytes;
        if !(1..=MAX_BLOCK_BYTES).contains(&block) {
            return refuse(format!(
                "workload.block_size_bytes is {block}; it must be from 1 to {MAX_BLOCK_BYTES}"
            ));
        }
        if self.direct && !block.is_multiple_of(SECTOR_BYTES) {
            return refuse(format!(
                "workload.block_size_bytes is {block}; with direct it must be a multiple of {SECTOR_BYTES}"
            ));
        }
        if self.file_size_bytes() == 0 || self.total_size_bytes > i64::MAX as u64 {
            return refuse(format!(
                "workload.total_size_bytes is {}; it must give each of {} files at least one byte, and at most 2^63-1 in all",
                self.total_size_bytes, self.files
            ));
        }
        if phase == JobPhase::Run && self.file_size_bytes() < block {
            return refuse(format!(
                "each of {} files would have {} bytes, less than one block of {block}",
                self.files,
                self.file_size_bytes()
            ));
        }
        if !(self.read_write_ratio.is_finite() && (0.0..=1e6).contains(&self.read_write_ratio)) {
            return refuse(format!(
                "workload.read_write_ratio is {}; it must be from 0 to 1000000",
                self.read_write_ratio
            ));
        }
        Ok(())
    }
}

/// Refuses a first line that is not JSON or speaks another protocol.
pub fn check_protocol(line: &str) -> Result<()> {
    let value: Value = serde_json::from_str(line)
        .map_err(|cause| EngineError::bad_job(format!("the job is not JSON: {cause}")))?;
    match value.get("protocol") {
        Some(protocol) if protocol == PROTOCOL => Ok(()),
        Some(protocol) => Err(EngineError::new(
            Class::ProtocolMismatch,
            format!("the job speaks protocol {protocol}, this engine speaks {PROTOCOL}"),
            "use the engine that was installed together with this ceteris",
        )),
        None => Err(EngineError::bad_job("the job has no field `protocol`")),
    }
}
