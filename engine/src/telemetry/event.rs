//! The telemetry events: the output of `sample`.
//!
//! In: filled by the modules of this folder. Out: JSON, through `event::Event`.

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
    /// The interval of this sample, which ended at `monotonic_s`.
    pub duration_s: f64,
    pub cpu: CpuShares,
    pub cores: usize,
    /// Tasks that ran, or waited for a processor or a disk, at `monotonic_s`.
    pub run_queue: u64,
    pub memory: Memory,
    pub context_switches_per_s: f64,
    pub pressure: Pressure,
    /// The mean clock of all processors at `monotonic_s`; null where the machine does not report
    /// it.
    pub clock_hz: Option<f64>,
    /// Failed requests to the devices in this interval; null where no driver counts them.
    pub device_errors: Option<u64>,
    /// Thermal throttling events of processors in this interval; null where the machine does not
    /// report them.
    pub throttled: Option<u64>,
    /// Pages examined in this interval in order to free memory; null on older kernels.
    pub scanned_pages: Option<u64>,
    /// Memory that became dirty in this interval, what was written back meanwhile included.
    pub dirtied_bytes: Option<u64>,
    pub devices: BTreeMap<String, DeviceUse>,
}

#[derive(Debug, Serialize)]
#[serde(tag = "event", rename = "census")]
pub struct Census {
    pub label: String,
    pub monotonic_s: f64,
    /// Since the previous census; null for the first.
    pub duration_s: Option<f64>,
    /// The use of the watched processes and their descendants, which are not listed: in total, and
    /// in user mode.
    pub own_cpu_s: f64,
    pub own_user_s: f64,
    pub processes: Vec<ProcessUse>,
}

/// The use of one process since the previous census.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ProcessUse {
    pub pid: u32,
    pub command: String,
    pub cpu_s: f64,
    /// Bytes from and to storage, not to the page cache. Null where /proc denies access, and where
    /// the process has reaped a child, whose whole life would be counted.
    pub read_bytes: Option<u64>,
    pub written_bytes: Option<u64>,
}

/// The counters of a database server since its start.
#[derive(Debug, Serialize)]
#[serde(tag = "event", rename = "counted")]
pub struct Counted {
    pub monotonic_s: f64,
    /// Since the previous reading; null for the first from a server.
    pub duration_s: Option<f64>,
    /// The response time of the server.
    pub took_s: f64,
    pub counters: BTreeMap<String, f64>,
    /// The growth since the previous reading; empty for the first.
    pub grown: BTreeMap<String, f64>,
    /// The reason why the server is no longer read.
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
