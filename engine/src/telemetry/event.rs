//! The telemetry events: what `sample` says.
//!
//! In: filled by the modules beside this one. Out: JSON, by way of `event::Event`.

use std::collections::BTreeMap;

use serde::Serialize;

use super::cpu::CpuShares;
use super::devices::DeviceUse;
use super::memory::Memory;
use super::pressure::Pressure;
use crate::clock::{self, seconds};

#[derive(Debug, Serialize)]
#[serde(tag = "event", rename = "sample")]
pub struct Sample {
    pub monotonic_s: f64,
    pub unix_s: f64,
    /// The interval this sample covers, which ended at `monotonic_s`.
    pub duration_s: f64,
    pub cpu: CpuShares,
    pub cores: usize,
    pub load_1m: f64,
    pub load_5m: f64,
    pub load_15m: f64,
    pub memory: Memory,
    pub context_switches_per_s: f64,
    pub pressure: Pressure,
    /// Of all processors on average, at `monotonic_s`; null where the machine does not tell.
    pub clock_hz: Option<f64>,
    /// Requests to the devices that failed in this interval; null where no driver counts them.
    pub device_errors: Option<u64>,
    /// How often heat slowed a processor in this interval; null likewise.
    pub throttled: Option<u64>,
    pub devices: BTreeMap<String, DeviceUse>,
}

#[derive(Debug, Serialize)]
#[serde(tag = "event", rename = "census")]
pub struct Census {
    pub label: String,
    pub monotonic_s: f64,
    /// Since the previous census; null for the first, which has nothing to compare with.
    pub duration_s: Option<f64>,
    /// Of the processes that are ours and of their descendants, which are not listed: in all, and in user mode.
    pub own_cpu_s: f64,
    pub own_user_s: f64,
    pub processes: Vec<ProcessUse>,
}

/// What one process used since the previous census.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ProcessUse {
    pub pid: u32,
    pub command: String,
    pub cpu_s: f64,
    /// From and to storage, not to the page cache; null where /proc does not let us look, and where
    /// the process has reaped a child, whose whole life would be counted.
    pub read_bytes: Option<u64>,
    pub written_bytes: Option<u64>,
}

/// What a database server has counted since it started.
#[derive(Debug, Serialize)]
#[serde(tag = "event", rename = "counted")]
pub struct Counted {
    pub monotonic_s: f64,
    /// Since the reading before; null for the first from a server.
    pub duration_s: Option<f64>,
    /// How long the server took to answer.
    pub took_s: f64,
    pub counters: BTreeMap<String, f64>,
    /// By how much since the reading before; empty for the first.
    pub grown: BTreeMap<String, f64>,
    /// Why nothing is read from that server any more.
    pub failed: Option<String>,
}

impl Counted {
    pub fn failed(why: String) -> Counted {
        Counted {
            monotonic_s: seconds(clock::now()),
            duration_s: None,
            took_s: 0.0,
            counters: BTreeMap::new(),
            grown: BTreeMap::new(),
            failed: Some(why),
        }
    }
}
