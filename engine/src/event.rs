//! Events: the output of the engine, one JSON object per line on stdout.
//!
//! In: values that serialise with their kind as `event`, defined in the modules that emit them.
//! Out: lines, written by a separate thread. A reader that has stopped reading must never delay a
//! stop or a restore. Called by every subcommand.

use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

use serde::Serialize;
use serde_json::Value;

use crate::clock;
use crate::error::Result;

/// The protocol of this engine; a job of another protocol is refused.
pub const PROTOCOL: u32 = 2;

#[derive(Debug, Serialize)]
#[serde(tag = "event", rename = "hello")]
pub struct Hello {
    pub protocol: u32,
    pub version: &'static str,
    pub pid: u32,
    pub capabilities: &'static [&'static str],
    /// The job with every default filled in.
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
    /// All writes are done. Waiting for the disk may take long and reports no progress.
    Finishing,
    Finished,
}

#[derive(Debug, Serialize)]
#[serde(tag = "event", rename = "phase")]
pub struct Phase {
    pub name: PhaseName,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window: Option<String>,
    pub monotonic_s: f64,
    pub unix_s: f64,
}

impl Phase {
    /// A phase that begins now.
    pub fn now(name: PhaseName) -> Phase {
        Phase::at(name, None, clock::now())
    }

    /// A phase that began at the monotonic time `at`, which may be a little in the past.
    pub fn at(name: PhaseName, window: Option<&str>, at: clock::Nanos) -> Phase {
        Phase {
            name,
            window: window.map(str::to_string),
            monotonic_s: clock::seconds(at),
            unix_s: clock::unix_s() - clock::seconds(clock::now().saturating_sub(at)),
        }
    }
}

/// The event output. Cheap to share by reference; emitting never blocks and never fails.
pub struct Events {
    sender: Option<Sender<String>>,
    broken: Arc<AtomicBool>,
    finished: Receiver<()>,
}

impl Events {
    /// Writes events to `out`, usually stdout; fails where the writer thread cannot be started.
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
                // Sending fails only when the owner has stopped waiting.
                let _ = finish.send(());
            })?;
        Ok(events)
    }

    pub fn emit(&self, event: &impl Serialize) {
        let line = match serde_json::to_string(event) {
            Ok(line) => line,
            Err(cause) => {
                eprintln!("paribus-engine: an event could not be written as JSON: {cause}");
                return;
            }
        };
        if let Some(sender) = &self.sender {
            // Fails only when the writer has ended, which `reader_is_gone` reports.
            let _ = sender.send(line);
        }
    }

    /// Emits the event of a success, or the error.
    pub fn emit_outcome(&self, outcome: Result<impl Serialize>) {
        match outcome {
            Ok(event) => self.emit(&event),
            Err(error) => self.emit(&error),
        }
    }

    /// Whether a write has failed, which means that the reader has closed its end.
    pub fn reader_is_gone(&self) -> bool {
        self.broken.load(Ordering::Relaxed)
    }

    /// Waits until all lines are written, at most `patience`.
    pub fn finish(mut self, patience: Duration) {
        self.sender = None;
        if self.finished.recv_timeout(patience) == Err(RecvTimeoutError::Timeout) {
            eprintln!("paribus-engine: stdout is not read any more; the last events are lost");
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
