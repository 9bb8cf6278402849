//! The real binary as a child: commands in, events out, every wait with a time limit.

#![allow(dead_code, clippy::unwrap_used, clippy::panic, clippy::expect_used)]

pub mod device;
pub mod place;

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

pub const PATIENCE: Duration = Duration::from_secs(20);

pub struct Engine {
    child: Child,
    stdin: Option<ChildStdin>,
    events: Receiver<Value>,
    pub seen: Vec<Value>,
    /// The time limit of any step; longer under valgrind.
    pub patience: Duration,
}

pub fn binary() -> &'static str {
    env!("CARGO_BIN_EXE_paribus-engine")
}

impl Engine {
    pub fn start(arguments: &[&str]) -> Engine {
        let mut command = Command::new(binary());
        command.args(arguments);
        Engine::spawn(command)
    }

    pub fn spawn(mut command: Command) -> Engine {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let (sender, events) = channel();
        thread::spawn(move || {
            for line in stdout.lines().map_while(Result::ok) {
                let event = serde_json::from_str(&line).expect("stdout is only JSON lines");
                if sender.send(event).is_err() {
                    return;
                }
            }
        });
        Engine {
            stdin: child.stdin.take(),
            child,
            events,
            seen: Vec::new(),
            patience: PATIENCE,
        }
    }

    /// Starts `run` with a job.
    pub fn run(job: &Value) -> Engine {
        let mut engine = Engine::start(&["run"]);
        engine.send(job);
        engine
    }

    pub fn send(&mut self, line: &Value) {
        let stdin = self.stdin.as_mut().expect("stdin is open");
        // An engine that has refused its job may be gone already.
        let _ = writeln!(stdin, "{line}");
    }

    pub fn send_text(&mut self, text: &str) {
        let stdin = self.stdin.as_mut().expect("stdin is open");
        stdin.write_all(text.as_bytes()).unwrap();
    }

    pub fn pid(&self) -> i32 {
        self.child.id() as i32
    }

    pub fn signal(&self, signal: i32) {
        // SAFETY: a plain system call on a process that this test has started and not yet waited for.
        assert_eq!(unsafe { libc::kill(self.pid(), signal) }, 0);
    }

    pub fn close_stdin(&mut self) {
        self.stdin = None;
    }

    /// The next event with this name; the events before it are added to `seen`.
    pub fn wait_for(&mut self, name: &str) -> Value {
        let deadline = Instant::now() + self.patience;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            match self.events.recv_timeout(left) {
                Ok(event) => {
                    self.seen.push(event.clone());
                    if event["event"] == name {
                        return event;
                    }
                }
                Err(_) => panic!("no `{name}` came, but {:#?}", self.seen),
            }
        }
    }

    pub fn wait_for_any(&mut self) -> Value {
        let event = self
            .events
            .recv_timeout(self.patience)
            .expect("an event comes");
        self.seen.push(event.clone());
        event
    }

    pub fn wait_for_phase(&mut self, name: &str) -> Value {
        loop {
            let phase = self.wait_for("phase");
            if phase["name"] == name {
                return phase;
            }
        }
    }

    /// Opens a window, keeps it open until an operation has ended in it, and closes it; its result.
    pub fn window(&mut self, id: &str) -> Value {
        self.send(&json!({ "open": id }));
        while self.wait_for_phase("measuring")["window"] != id {}
        while self.wait_for("interval")["operations"].as_u64() == Some(0) {}
        self.send(&json!({ "close": id }));
        self.wait_for("result")
    }

    /// Waits for the end without closing stdin; returns the exit code and all events.
    pub fn wait(mut self) -> (i32, Vec<Value>) {
        let deadline = Instant::now() + self.patience;
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            assert!(
                Instant::now() < deadline,
                "it does not end: {:#?}",
                self.seen
            );
            thread::sleep(Duration::from_millis(5));
        };
        loop {
            match self.events.recv_timeout(self.patience) {
                Ok(event) => self.seen.push(event),
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => panic!("stdout stays open"),
            }
        }
        (status.code().unwrap_or(-1), std::mem::take(&mut self.seen))
    }

    pub fn finish(mut self) -> (i32, Vec<Value>) {
        self.close_stdin();
        self.wait()
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        // A failed test must not leave a load behind.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A job on small files. `changes` replaces or adds fields, including those of the workload.
pub fn job(directory: &Path, phase: &str, changes: Value) -> Value {
    let mut job = json!({
        "protocol": 2, "phase": phase,
        "workload": {
            "kind": "fileio",
            "data": {"directory": directory, "files": 4, "total_size_bytes": 4 << 20},
            "io": {"engine": "sync", "direct": false},
            "access": {"mode": "rndrw", "block_size_bytes": 16384, "read_write_ratio": 1.5,
                       "fsync_every": 100, "fsync_at_end": true},
        },
        "load": {"outstanding": 4}, "cache": "warm", "settle_s": 0.05, "measure_s": 0.2,
        "interval_s": 0.1, "seed": 7,
    });
    change(&mut job, &changes);
    job
}

pub fn change(job: &mut Value, changes: &Value) {
    for (key, value) in changes.as_object().unwrap() {
        *place(job, key) = value.clone();
    }
}

/// The object of a job that contains a field of this name.
fn place<'a>(job: &'a mut Value, key: &str) -> &'a mut Value {
    let part = match key {
        "directory"
        | "device"
        | "files"
        | "total_size_bytes"
        | "compressible"
        | "verified_block_bytes" => "data",
        "engine" | "direct" | "sync_writes" | "huge_pages" => "io",
        "mode" | "block_size_bytes" | "read_write_ratio" | "distribution" | "fsync_every"
        | "fsync_call" | "fsync_at_end" | "zipf_exponent" | "pareto_h" | "hot_part"
        | "hot_share" => "access",
        _ => return &mut job[key],
    };
    &mut job["workload"][part][key]
}

pub fn prepare(directory: &Path, changes: Value) {
    let (code, events) = Engine::run(&job(directory, "prepare", changes)).wait();
    assert_eq!(code, 0, "{events:#?}");
}

pub fn named<'a>(events: &'a [Value], name: &str) -> Vec<&'a Value> {
    events
        .iter()
        .filter(|event| event["event"] == name)
        .collect()
}

/// All events of a whole run.
pub fn events(job: &Value) -> Vec<Value> {
    Engine::run(job).wait().1
}

/// The only event of that name.
pub fn only<'a>(events: &'a [Value], name: &str) -> &'a Value {
    let matching = named(events, name);
    assert_eq!(matching.len(), 1, "{name}: {events:#?}");
    matching[0]
}

/// The only error event of a run that must have ended with it.
pub fn only_error(outcome: (i32, Vec<Value>), code: i32) -> Value {
    let (exit_code, events) = outcome;
    assert_eq!(exit_code, code, "{events:#?}");
    let error = only(&events, "error");
    for field in ["class", "message", "hint"] {
        assert!(error[field].as_str().is_some_and(|text| !text.is_empty()));
    }
    error.clone()
}

/// A directory on a disk: the usual directory for temporary files is in memory on some systems.
pub fn disk_directory() -> tempfile::TempDir {
    tempfile::tempdir_in(PathBuf::from(env!("CARGO_TARGET_TMPDIR"))).unwrap()
}
