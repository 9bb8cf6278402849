//! The events of a load: intervals and results.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::record::histogram::ResponseSummary;
use crate::record::tally::Counts;

#[derive(Debug, Serialize)]
#[serde(tag = "event", rename = "interval")]
pub struct Interval {
    pub window: Option<String>,
    pub start_s: f64,
    pub duration_s: f64,
    #[serde(flatten)]
    pub counts: Counts,
    pub mean_s: Option<f64>,
    pub p50_s: Option<f64>,
    pub p95_s: Option<f64>,
    pub p99_s: Option<f64>,
    pub max_s: Option<f64>,
    /// Of an open loop: the intended starts of this interval, and those that wait at its end.
    pub offered: Option<u64>,
    pub backlog: Option<u64>,
}

/// How an open loop kept to its schedule.
#[derive(Debug, Serialize)]
pub struct Pacing {
    /// Intended starts within the window; `started` and what the backlog grew by are their sum.
    pub offered: u64,
    pub started: u64,
    pub backlog_at_start: u64,
    pub backlog_at_end: u64,
    /// The age of the oldest of the backlog at the end.
    pub lag_s: f64,
    /// How late operations started although a slot was free: the imprecision of the engine itself.
    pub late_mean_s: Option<f64>,
    pub late_max_s: Option<f64>,
}

/// One stream of a load that has several.
#[derive(Debug, Serialize)]
pub struct PartResult {
    #[serde(flatten)]
    pub counts: Counts,
    pub throughput_per_s: f64,
    pub bytes_per_s: f64,
    pub response: ResponseSummary,
}

#[derive(Debug, Serialize)]
#[serde(tag = "event", rename = "result")]
pub struct WindowResult {
    pub window: String,
    pub start_s: f64,
    pub start_unix_s: f64,
    pub duration_s: f64,
    #[serde(flatten)]
    pub counts: Counts,
    /// Reads and writes, or transactions, a second; fsyncs are work but not throughput.
    pub throughput_per_s: f64,
    pub bytes_per_s: f64,
    pub response: ResponseSummary,
    pub service: ResponseSummary,
    /// Null in a closed loop.
    pub pacing: Option<Pacing>,
    /// The small and the large I/O of a matrix apart; null where there is only one sort.
    pub parts: Option<BTreeMap<&'static str, PartResult>>,
    pub cpu: CpuUse,
    pub cores_usable: usize,
    pub workers: usize,
    /// Whether io_uring had its buffers pinned once instead of for each operation.
    pub registered_buffers: bool,
}

#[derive(Debug, Serialize)]
pub struct CpuUse {
    pub user_s: f64,
    pub system_s: f64,
}
