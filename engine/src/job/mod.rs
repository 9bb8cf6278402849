//! The job: what the controller asks of `run`, one JSON object with unknown fields refused.
//!
//! In: the first line of stdin. Out: a checked `Job`, or an error that names the field. Called by
//! `run`; the types are read by `load` and `workload`.

pub mod check;
pub mod files;
pub mod generator;
pub mod sql;
pub mod sqlmix;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::{Class, EngineError, Result};
use crate::event::PROTOCOL;
pub use files::{Access, Data, Engine, FileIo, Files, IoMatrix, Method, Mode};
pub use sql::Sql;

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
    /// For the phase `verify`: by worker, how many of its writes were acknowledged as durable.
    #[serde(default)]
    pub durable: Option<Vec<u64>>,
}

/// What the load is made of, by its `kind`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(untagged, try_from = "Value")]
pub enum Workload {
    Files(Files),
    Sql(Sql),
}

impl TryFrom<Value> for Workload {
    type Error = serde_json::Error;

    /// By the kind first: an error is then about the fields of that kind.
    fn try_from(value: Value) -> std::result::Result<Self, Self::Error> {
        match value.get("kind").and_then(Value::as_str) {
            Some("oltp" | "sqlmix") => serde_json::from_value(value).map(Workload::Sql),
            _ => serde_json::from_value(value).map(Workload::Files),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum JobPhase {
    Prepare,
    /// Reads all of a database's tables, so that its cache has what it can hold.
    Warm,
    Run,
    /// Reads all of verified data and proves that it is what was written.
    Verify,
    Cleanup,
}

/// How much load: operations outstanding at once, or an open loop of at most so many.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Load {
    pub outstanding: usize,
    /// Null: a closed loop.
    #[serde(default)]
    pub rate_per_s: Option<f64>,
    #[serde(default)]
    pub arrivals: Arrivals,
}

/// How the intended starts of an open loop are spread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Arrivals {
    /// All the same distance apart.
    #[default]
    Constant,
    /// As independent users come: exponential distances.
    Poisson,
}

impl Default for Load {
    fn default() -> Self {
        Load {
            outstanding: 1,
            rate_per_s: None,
            arrivals: Arrivals::default(),
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
    /// Reads and checks a job. The protocol is looked at first, since another protocol may well
    /// have other fields.
    pub fn parse(line: &str) -> Result<Job> {
        check_protocol(line)?;
        let job: Job = serde_json::from_str(line)
            .map_err(|cause| EngineError::bad_job(format!("the job is not valid: {cause}")))?;
        job.check()?;
        Ok(job)
    }

    /// The job as understood, every default filled in: the verification of its parameters.
    pub fn effective(&self) -> Value {
        // Plain data without maps of odd keys: turning it into JSON cannot fail.
        serde_json::to_value(self).unwrap_or_default()
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
            "use the engine that was installed together with this paribus",
        )),
        None => Err(EngineError::bad_job("the job has no field `protocol`")),
    }
}
