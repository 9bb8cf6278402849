//! The events of a load: intervals and results.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::record::histogram::ResponseSummary;
use crate::record::tally::TallyCounts;

#[derive(Debug, Serialize)]
#[serde(tag = "event", rename = "interval")]
pub struct Interval {
    pub window: Option<String>,
    pub start_s: f64,
    pub duration_s: f64,
    #[serde(flatten)]
    pub counts: TallyCounts,
    pub mean_s: Option<f64>,
    pub p50_s: Option<f64>,
    pub p95_s: Option<f64>,
    pub p99_s: Option<f64>,
    pub max_s: Option<f64>,
    /// In an open loop: the intended starts in this interval, and those waiting at its end.
    pub offered: Option<u64>,
    pub backlog: Option<u64>,
    /// The response times, where the job has `histograms`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub histogram: Option<String>,
}

/// The answer to a question for the time.
#[derive(Debug, Serialize)]
#[serde(tag = "event", rename = "clock")]
pub struct Clock {
    pub label: String,
    pub monotonic_s: f64,
}

/// How closely an open loop followed its schedule.
#[derive(Debug, Serialize)]
pub struct Pacing {
    /// Intended starts within the window: the sum of `started` and the growth of the backlog.
    pub offered: u64,
    pub started: u64,
    pub backlog_at_start: u64,
    pub backlog_at_end: u64,
    /// The age of the oldest waiting operation at the end.
    pub lag_s: f64,
    /// Delay of operations that had a free slot in time: the timing error of the engine itself.
    pub late_mean_s: Option<f64>,
    pub late_max_s: Option<f64>,
}

/// The figures of one stream of a load with several streams.
#[derive(Debug, Serialize)]
pub struct PartResult {
    #[serde(flatten)]
    pub counts: TallyCounts,
    pub throughput_per_s: f64,
    pub bytes_per_s: f64,
    pub response: ResponseSummary,
}

/// The figures of one kind of transaction.
#[derive(Debug, Serialize)]
pub struct KindResult {
    pub count: u64,
    pub per_s: f64,
    pub mean_s: Option<f64>,
    pub p90_s: Option<f64>,
    pub p95_s: Option<f64>,
    pub max_s: Option<f64>,
    pub histogram: String,
}

#[derive(Debug, Serialize)]
#[serde(tag = "event", rename = "result")]
pub struct WindowResult {
    pub window: String,
    pub start_s: f64,
    pub start_unix_s: f64,
    pub duration_s: f64,
    #[serde(flatten)]
    pub counts: TallyCounts,
    /// Reads and writes, or transactions, per second. Fsyncs count as work but not as throughput.
    pub throughput_per_s: f64,
    pub bytes_per_s: f64,
    pub response: ResponseSummary,
    pub service: ResponseSummary,
    /// How evenly the slots were served, up to 1. Null in an open loop, which fills the first free
    /// slot; with several streams, whose operations differ; and with one slot.
    pub fairness: Option<f64>,
    /// Null in a closed loop.
    pub pacing: Option<Pacing>,
    /// The small and the large I/O of a matrix separately; null where the load has one stream.
    pub parts: Option<BTreeMap<&'static str, PartResult>>,
    /// Each kind of transaction separately; null where the load has one kind.
    pub kinds: Option<BTreeMap<&'static str, KindResult>>,
    pub cpu: CpuUse,
    pub cores_usable: usize,
    pub workers: usize,
    /// Whether io_uring pinned its buffers once instead of for each operation.
    pub registered_buffers: bool,
}

#[derive(Debug, Serialize)]
pub struct CpuUse {
    pub user_s: f64,
    pub system_s: f64,
}
