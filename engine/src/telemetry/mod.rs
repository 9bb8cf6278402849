//! `paribus-engine sample`: the state of the machine, once an interval.
//!
//! In: one job line on stdin, then commands. `census` asks for a census; `server` names the server
//! whose counters each sample reads. The end of stdin ends it. Out: `sample`, `counted` and
//! `census` events. Called by `main`. It runs in a separate process next to a load, so that its
//! cost is not counted as the load's.

pub mod census;
mod counters;
mod cpu;
mod devices;
pub mod event;
pub mod memory;
mod pressure;
mod processors;
mod sampler;
mod source;
pub mod vmstat;

use std::io::Read;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::clock::{self, nanos};
use crate::error::{EngineError, Result};
use crate::event::{Events, Hello};
use crate::input::{self, Input};
use crate::job;
use census::Counter;
use counters::{CountersJob, Reader};
use event::Counted;
use sampler::Sampler;

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SampleJob {
    protocol: u32,
    #[serde(default)]
    devices: Vec<String>,
    #[serde(default = "one_second")]
    interval_s: f64,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Command {
    Census(String),
    /// Sums up these processes and their descendants: a server under test.
    Own(Vec<u32>),
    /// The server whose counters are read from now on; null: none.
    Server(Option<Box<CountersJob>>),
}

enum Message {
    Input(Input),
    Counted(Counted),
}

fn one_second() -> f64 {
    1.0
}

pub fn sample(stdin: impl Read + Send + 'static, events: &Events) -> Result<()> {
    let (sender, inbox) = channel();
    input::forward(stdin, sender.clone(), Message::Input)
        .map_err(|cause| EngineError::no_thread(&cause))?;
    let job = match inbox.recv() {
        Ok(Message::Input(Input::Line(line))) => parse(&line)?,
        _ => return Err(EngineError::no_job()),
    };
    let mut sampler = Sampler::new(&job.devices)?;
    let mut counter = Counter::default();
    let mut reader: Option<Reader> = None;
    events.emit(&Hello::new(serde_json::to_value(&job).unwrap_or_default()));
    let interval = nanos(job.interval_s);
    let mut next = clock::now() + interval;
    loop {
        let patience = Duration::from_nanos(next.saturating_sub(clock::now()));
        match inbox.recv_timeout(patience) {
            Ok(Message::Input(Input::Line(line))) => {
                // The error does not repeat the line: the address of a server may hold a password.
                let command = serde_json::from_str(&line).map_err(|cause| {
                    EngineError::bad_command(format!("this is not a command: {cause}"))
                })?;
                match command {
                    Command::Census(label) => events.emit(&counter.take(label)),
                    Command::Own(pids) => counter.watch(pids),
                    Command::Server(job) => {
                        let start = |job: Box<CountersJob>| Reader::start(*job, sender.clone());
                        reader = job.map(start).transpose()?;
                    }
                }
            }
            Ok(Message::Counted(counted)) => events.emit(&counted),
            Ok(Message::Input(Input::End)) | Err(RecvTimeoutError::Disconnected) => return Ok(()),
            Err(RecvTimeoutError::Timeout) => {
                if let Some(reader) = &reader {
                    reader.ask();
                }
                events.emit(&sampler.sample()?);
                // A missed sample is not repeated; the samples carry their durations.
                let behind = clock::now().saturating_sub(next) / interval;
                next += (behind + 1) * interval;
            }
        }
        if events.reader_is_gone() {
            return Ok(());
        }
    }
}

fn parse(line: &str) -> Result<SampleJob> {
    let job: SampleJob = job::parse(line)?;
    if !(0.01..=86_400.0).contains(&job.interval_s) {
        return Err(EngineError::bad_job(format!(
            "interval_s is {}; it must be from 0.01 to 86400 seconds",
            job.interval_s
        )));
    }
    Ok(job)
}
