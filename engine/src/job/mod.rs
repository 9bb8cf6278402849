//! The job: the controller's request to `run`, one JSON object with unknown fields refused.
//!
//! In: the first line of stdin. Out: a checked `Job`, or an error that names the field. Called by
//! `run`; `load` and `workload` read the types.

pub mod check;
pub mod files;
pub mod generator;
pub mod sql;
pub mod sqlmix;
pub mod tpcc;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::{Class, EngineError, Result};
use crate::event::PROTOCOL;
pub use files::{Access, Data, Engine, FileIo, Files, IoMatrix, IoMethod, Mode};
pub use sql::Sql;
use tpcc::Pause;

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Job {
    pub protocol: u32,
    pub phase: JobPhase,
    pub workload: WorkloadJob,
    #[serde(default)]
    pub load: Load,
    #[serde(default)]
    pub cache: Cache,
    #[serde(default)]
    pub settle_s: f64,
    /// Absent or null: commands open and close windows.
    #[serde(default)]
    pub measure_s: Option<f64>,
    #[serde(default = "one_second")]
    pub interval_s: f64,
    /// Whether each interval has the histogram of its response times.
    #[serde(default)]
    pub histograms: bool,
    #[serde(default = "first_seed")]
    pub seed: u64,
    /// For the phase `verify`: by worker, the number of its writes acknowledged as durable.
    #[serde(default)]
    pub durable: Option<Vec<u64>>,
}

/// The workload of the load, by its `kind`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(untagged, try_from = "Value")]
pub enum WorkloadJob {
    Files(Files),
    Sql(Sql),
}

impl WorkloadJob {
    /// By kind of transaction, the time that a slot pauses after it; `None` where it does not.
    pub fn pauses(&self) -> Option<Vec<Pause>> {
        match self {
            WorkloadJob::Sql(Sql::Tpcc(tpcc)) => tpcc.pauses(),
            WorkloadJob::Sql(_) | WorkloadJob::Files(_) => None,
        }
    }
}

impl TryFrom<Value> for WorkloadJob {
    type Error = serde_json::Error;

    /// Reads the kind first, so that an error names the fields of that kind.
    fn try_from(value: Value) -> std::result::Result<Self, Self::Error> {
        match value.get("kind").and_then(Value::as_str) {
            Some("oltp" | "sqlmix" | "tpcc") => serde_json::from_value(value).map(WorkloadJob::Sql),
            _ => serde_json::from_value(value).map(WorkloadJob::Files),
        }
    }
}

impl WorkloadJob {
    fn check(&self, job: &Job) -> Result<()> {
        match self {
            WorkloadJob::Files(files) => files.check(job),
            WorkloadJob::Sql(sql) => sql.check(job),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum JobPhase {
    Prepare,
    /// Reads all tables of a database, to fill its cache.
    Warm,
    Run,
    /// Reads all verified data and compares it with the writes.
    Verify,
    Cleanup,
}

/// The load level: outstanding operations, or an open loop with a maximum of them.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Load {
    pub outstanding: usize,
    /// Null: a closed loop.
    #[serde(default)]
    pub rate_per_s: Option<f64>,
    #[serde(default)]
    pub arrivals: Arrivals,
    /// The number of connections that other load hosts have before this one's: the same numbers
    /// draw the same transactions.
    #[serde(default)]
    pub first_connection: usize,
}

/// The arrival process of an open loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Arrivals {
    /// Equal distances.
    #[default]
    Constant,
    /// Exponential distances, as for independent users.
    Poisson,
}

impl Default for Load {
    fn default() -> Self {
        Load {
            outstanding: 1,
            rate_per_s: None,
            arrivals: Arrivals::default(),
            first_connection: 0,
        }
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

impl Job {
    /// Reads and checks a job.
    pub fn parse(line: &str) -> Result<Job> {
        let job: Job = parse(line)?;
        job.check()?;
        Ok(job)
    }

    /// The job with every default filled in, to verify its parameters.
    pub fn effective(&self) -> Value {
        // Plain data without special keys: turning it into JSON cannot fail.
        serde_json::to_value(self).unwrap_or_default()
    }
}

/// Reads the job of any subcommand. Checks the protocol first, since a job of another protocol may
/// have other fields.
pub fn parse<T: DeserializeOwned>(line: &str) -> Result<T> {
    check_protocol(line)?;
    serde_json::from_str(line)
        .map_err(|cause| EngineError::bad_job(format!("the job is not valid: {cause}")))
}

/// Refuses a first line that is not JSON or has another protocol.
fn check_protocol(line: &str) -> Result<()> {
    let value: Value = serde_json::from_str(line)
        .map_err(|cause| EngineError::bad_job(format!("the job is not JSON: {cause}")))?;
    match value.get("protocol") {
        Some(protocol) if protocol == PROTOCOL => Ok(()),
        Some(protocol) => Err(EngineError::new(
            Class::ProtocolMismatch,
            format!("the job uses protocol {protocol}, this engine uses {PROTOCOL}"),
            "use the engine that was installed together with this paribus",
        )),
        None => Err(EngineError::bad_job("the job has no field `protocol`")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_of_a_rate_is_the_number_that_was_sent() {
        let load = r#"{"outstanding": 17, "rate_per_s": 51.515151515151516}"#;
        let load: Load = serde_json::from_str(load).unwrap();
        assert_eq!(load.rate_per_s, Some(51.515_151_515_151_516));
    }
}
