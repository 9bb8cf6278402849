//! Events: what the engine says, one JSON object per line on stdout.
//!
//! In: values of `Event`. Out: lines, written by a thread of their own: a reader that has stopped
//! reading must never hold up a load that is to be stopped or a setting that is to be put back.
//! Called by every subcommand.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

use serde::Serialize;
use serde_json::Value;

use crate::clock;
use crate::error::EngineError;
use crate::file_agent::FileAgentEvent;
use crate::folder::experiment::DataFolders;
use crate::journal::at_boot::AtBoot;
use crate::journal::event::JournalEvent;
use crate::probe::Probe;
use crate::record::histogram::ResponseSummary;
use crate::record::statements::Statements;
use crate::sql::SqlEvent;
use crate::supervise::SuperviseEvent;
use crate::telemetry::event::{Census, Counted, Sample};
use crate::users::Users;

/// The protocol this engine speaks; a job of another protocol is refused.
pub const PROTOCOL: u32 = 2;

#[derive(Debug, Serialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum Event {
    Hello(Hello),
    Phase(Phase),
    Progress {
        done_bytes: u64,
        total_bytes: u64,
    },
    Interval(Interval),
    /// By lane of a load on verified data, the sequence up to which all writes survive a crash.
    Durable {
        sequences: Vec<u64>,
    },
    /// All verified data was read and is what was written.
    Verified(Verified),
    Result(Box<WindowResult>),
    Error(EngineError),
    Sample(Box<Sample>),
    Census(Census),
    Counted(Counted),
    Probe(Box<Probe>),
    Users(Box<Users>),
    DataFolder {
        path: PathBuf,
    },
    DataFolders(DataFolders),
    AtBoot(AtBoot),
    #[serde(untagged)]
    Journal(JournalEvent),
    #[serde(untagged)]
    FileAgent(FileAgentEvent),
    #[serde(untagged)]
    Supervise(SuperviseEvent),
    #[serde(untagged)]
    Sql(SqlEvent),
}

#[derive(Debug, Serialize)]
pub struct Hello {
    pub protocol: u32,
    pub version: &'static str,
    pub pid: u32,
    pub capabilities: &'static [&'static str],
    /// The job as understood, every default filled in.
    pub effective: Value,
}

impl Hello {
    pub fn new(effective: Value) -> Self {
        Hello {
            protocol: PROTOCOL,
            version: env!("CARGO_PKG_VERSION"),
            pid: std::process::id(),
            capabilities: &[
                "fileio",
                "iomatrix",
                "oltp",
                "sqlmix",
                "rate",
                "verify",
                "device",
                "sync",
                "io_uring",
                "null",
                "windows",
                "sample",
                "census",
                "counted",
                "probe",
                "journal",
                "undo",
                "data",
                "supervise",
                "sql",
            ],
            effective,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum PhaseName {
    Preparing,
    Ready,
    Settling,
    Measuring,
    Closed,
    /// All is done but waiting for the disk, which may take long and is silent.
    Finishing,
    Finished,
}

#[derive(Debug, Serialize)]
pub struct Phase {
    pub name: PhaseName,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window: Option<String>,
    pub monotonic_s: f64,
    pub unix_s: f64,
}

impl Phase {
    /// A phase that begins now.
    pub fn now(name: PhaseName) -> Event {
        Phase::at(name, None, clock::now())
    }

    /// A phase that began at the monotonic time `at`, which may be a little in the past.
    pub fn at(name: PhaseName, window: Option<&str>, at: clock::Nanos) -> Event {
        Event::Phase(Phase {
            name,
            window: window.map(str::to_string),
            monotonic_s: clock::seconds(at),
            unix_s: clock::unix_s() - clock::seconds(clock::now().saturating_sub(at)),
        })
    }
}

#[derive(Debug, Clone, Copy, Serialize)]
pub struct Verified {
    pub blocks: u64,
    /// Of these, the ones that a load has written since they were prepared.
    pub written: u64,
    /// Of these, the ones for which the job names a write that must have survived.
    pub acknowledged: u64,
}

/// Operations of one interval; errors are counted by class and are not operations.
#[derive(Debug, Serialize)]
pub struct Counts {
    pub operations: u64,
    pub reads: u64,
    pub writes: u64,
    pub fsyncs: u64,
    pub read_bytes: u64,
    pub written_bytes: u64,
    /// Of transactions; their own number is that of the operations.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub statements: Option<Statements>,
    pub errors: BTreeMap<String, u64>,
}

#[derive(Debug, Serialize)]
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

/// Where events go. Cheap to share by reference; emitting never blocks and never fails.
pub struct Events {
    sender: Option<Sender<String>>,
    broken: Arc<AtomicBool>,
    finished: Receiver<()>,
}

impl Events {
    /// Events to `out`, usually stdout; fails where the thread that writes them cannot be started.
    pub fn to(out: impl Write + Send + 'static) -> io::Result<Self> {
        let (sender, lines) = channel();
        let (finish, finished) = channel();
        let broken = Arc::new(AtomicBool::new(false));
        let events = Events {
            sender: Some(sender),
            broken: Arc::clone(&broken),
            finished,
        };
        thread::Builder::new()
            .name("stdout".into())
            .spawn(move || {
                write_lines(out, &lines, &broken);
                // The owner may have stopped waiting; then nobody needs to know.
                let _ = finish.send(());
            })?;
        Ok(events)
    }

    pub fn emit(&self, event: &Event) {
        let line = match serde_json::to_string(event) {
            Ok(line) => line,
            Err(cause) => {
                eprintln!("paribus-engine: an event could not be written as JSON: {cause}");
                return;
            }
        };
        if let Some(sender) = &self.sender {
            // Fails only when the writer has ended, which `reader_is_gone` tells.
            let _ = sender.send(line);
        }
    }

    /// Whether a line could not be written, which means that the reader has closed its end.
    pub fn reader_is_gone(&self) -> bool {
        self.broken.load(Ordering::Relaxed)
    }

    /// Waits until everything is written, at most `patience`.
    pub fn finish(mut self, patience: Duration) {
        self.sender = None;
        if self.finished.recv_timeout(patience) == Err(RecvTimeoutError::Timeout) {
            eprintln!("paribus-engine: nobody reads stdout; the last events are lost");
        }
    }
}

fn write_lines(mut out: impl Write, lines: &Receiver<String>, broken: &AtomicBool) {
    for mut line in lines {
        line.push('\n');
        if out
            .write_all(line.as_bytes())
            .and_then(|()| out.flush())
            .is_err()
        {
            broken.store(true, Ordering::Relaxed);
            return;
        }
    }
}
