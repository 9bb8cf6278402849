//! `paribus-engine supervise`: keeps one server process, which never outlives it.
//!
//! In: one job line on stdin, then `"stop"` or `"kill"`; the end of stdin is a stop. Out: `hello`,
//! `started`, and `ended` when no process of the server runs any more. Called by `main`. It ignores
//! signals, so that a server is stopped in good order even without its controller.

mod login;
mod process;

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde::{Deserialize, Serialize};

use crate::error::{EngineError, Result};
use crate::event::{Events, Hello};
use crate::input::{self, Input};
use crate::job;
use crate::machine;
use login::ToolLogin;
use process::Process;

const LAST_LINES: usize = 20;
const LAST_BYTES: u64 = 64 << 10;

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SuperviseJob {
    protocol: u32,
    argv: Vec<String>,
    /// The user of the server; null: the user of this process.
    #[serde(default)]
    user: Option<String>,
    /// The working directory.
    directory: PathBuf,
    /// The complete environment.
    #[serde(default)]
    environment: BTreeMap<String, String>,
    /// The server that a tool logs in to, and where the tool finds the password.
    #[serde(default)]
    login: Option<ToolLogin>,
    #[serde(default)]
    stop_signal: StopSignal,
    /// The time between the stop signal and the kill.
    #[serde(default = "a_minute")]
    patience_s: f64,
    /// The server's log; locked as long as any of its processes runs.
    log: PathBuf,
}

#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
enum StopSignal {
    #[default]
    Term,
    Int,
    Quit,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Command {
    Stop,
    Kill,
}

#[derive(Debug, Serialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum SuperviseEvent {
    Started {
        pid: u32,
    },
    /// All processes of the server are gone. Signal 9 after a stop: it did not end in time.
    Ended {
        exit_code: Option<i32>,
        signal: Option<i32>,
        /// The end of its log since the start.
        last_words: Vec<String>,
    },
}

enum Message {
    Input(Input),
    Ended,
}

fn a_minute() -> f64 {
    60.0
}

pub fn supervise(stdin: impl Read + Send + 'static, events: &Events) -> Result<()> {
    let (sender, inbox) = channel();
    input::forward(stdin, sender.clone(), Message::Input)
        .map_err(|cause| EngineError::no_thread(&cause))?;
    let job = match inbox.recv() {
        Ok(Message::Input(Input::Line(line))) => parse(&line)?,
        _ => return Err(EngineError::no_job()),
    };
    for signal in [libc::SIGHUP, libc::SIGINT, libc::SIGTERM] {
        machine::ignore_signal(signal);
    }
    events.emit(&Hello::new(serde_json::to_value(&job).unwrap_or_default()));
    let (_password_file, variables) = match &job.login {
        Some(login) => login
            .provide()
            .map(|(file, variables)| (Some(file), variables))?,
        None => (None, BTreeMap::new()),
    };
    let mut process = Process::start(&job, &variables)?;
    let pid = process.pid();
    events.emit(&SuperviseEvent::Started { pid });
    process
        .when_ended(move || {
            // The receiver is gone only when this process has ended.
            let _ = sender.send(Message::Ended);
        })
        .map_err(|cause| EngineError::no_thread(&cause))?;

    let mut deadline = None;
    loop {
        let message = match deadline {
            None => inbox.recv().map_err(|_| RecvTimeoutError::Disconnected),
            Some(at) => inbox.recv_timeout(Instant::saturating_duration_since(&at, Instant::now())),
        };
        let command = match message {
            Ok(Message::Input(Input::Line(line))) => match serde_json::from_str(&line) {
                Ok(command) => command,
                Err(cause) => {
                    events.emit(&EngineError::bad_command(format!(
                        "`{line}` is not a command: {cause}"
                    )));
                    continue;
                }
            },
            Ok(Message::Input(Input::End)) => Command::Stop,
            Err(RecvTimeoutError::Timeout) => Command::Kill,
            Ok(Message::Ended) | Err(RecvTimeoutError::Disconnected) => break,
        };
        match command {
            Command::Stop if deadline.is_none() => {
                process.signal(job.stop_signal.signal());
                deadline = Some(Instant::now() + Duration::from_secs_f64(job.patience_s));
            }
            Command::Stop => {}
            Command::Kill => {
                process.kill();
                deadline = None;
            }
        }
    }
    let (exit_code, signal) = process.sweep();
    events.emit(&SuperviseEvent::Ended {
        exit_code,
        signal,
        last_words: last_words(&job.log, process.log_start),
    });
    Ok(())
}

impl StopSignal {
    fn signal(self) -> Signal {
        match self {
            StopSignal::Term => Signal::TERM,
            StopSignal::Int => Signal::INT,
            StopSignal::Quit => Signal::QUIT,
        }
    }
}

fn parse(line: &str) -> Result<SuperviseJob> {
    let job: SuperviseJob = job::parse(line)?;
    if job.argv.is_empty() {
        return Err(EngineError::bad_job("argv names no program"));
    }
    if !(0.0..=86_400.0).contains(&job.patience_s) {
        return Err(EngineError::bad_job(format!(
            "patience_s is {}; it must be from 0 to 86400 seconds",
            job.patience_s
        )));
    }
    Ok(job)
}

/// The last lines of a log after `start`; fewer or none where it cannot be read.
fn last_words(log: &Path, start: u64) -> Vec<String> {
    let mut bytes = Vec::new();
    let read = File::open(log).and_then(|mut file| {
        let end = file.metadata()?.len();
        // The server may have truncated its log.
        let start = if start > end { 0 } else { start };
        file.seek(SeekFrom::Start(start.max(end.saturating_sub(LAST_BYTES))))?;
        file.read_to_end(&mut bytes)
    });
    if let Err(cause) = read {
        eprintln!("paribus-engine: cannot read {}: {cause}", log.display());
    }
    let text = String::from_utf8_lossy(&bytes);
    let lines: Vec<&str> = text.lines().collect();
    let first = lines.len().saturating_sub(LAST_LINES);
    lines[first..].iter().map(ToString::to_string).collect()
}
