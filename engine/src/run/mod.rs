//! `paribus-engine run`: executes one job from stdin.
//!
//! In: stdin and the event output. Out: events, and success or the error that ended the job. Called
//! by `main` and by tests.

pub mod conduct;
pub mod event;
pub mod window;
pub mod windows;

use std::io::Read;
use std::process;
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use crate::error::{EngineError, Result};
use crate::event::{Events, Hello, Phase, PhaseName};
use crate::input::{self, Input};
use crate::job::{Job, JobPhase};
use crate::load::inbox::Message;
use crate::load::stop::OnRequest;
use crate::machine;
use crate::workload::event::DataEvent;
use crate::workload::fileio::prepare::PrepareStep;
use crate::workload::shared;

/// Time limit for a prepare to stop by itself after stdin is closed.
const GRACE: Duration = Duration::from_secs(2);

pub fn run(stdin: impl Read + Send + 'static, events: &Events) -> Result<()> {
    // Exceeding the file size limit is then an error to report instead of a fatal signal.
    machine::ignore_signal(libc::SIGXFSZ);
    let (sender, inbox) = channel();
    input::forward(stdin, sender.clone(), Message::Input)
        .map_err(|cause| EngineError::no_thread(&cause))?;
    let job = match inbox.recv() {
        Ok(Message::Input(Input::Line(line))) => Job::parse(&line)?,
        _ => return Err(EngineError::no_job()),
    };
    events.emit(&Hello::new(job.effective()));
    match job.phase {
        JobPhase::Run => conduct::conduct(&job, events, &sender, &inbox),
        JobPhase::Prepare => prepare_data(&job, events, inbox),
        JobPhase::Warm => {
            shared::warm_data(&job)?;
            events.emit(&Phase::now(PhaseName::Finished));
            Ok(())
        }
        JobPhase::Verify => verify_data(&job, events, inbox),
        JobPhase::Cleanup => {
            shared::cleanup_data(&job)?;
            events.emit(&Phase::now(PhaseName::Finished));
            Ok(())
        }
    }
}

fn prepare_data(job: &Job, events: &Events, inbox: Receiver<Message>) -> Result<()> {
    events.emit(&Phase::now(PhaseName::Preparing));
    let stop = OnRequest::default();
    stop_at_end_of_input(inbox, stop.clone())?;
    let report = |step| match step {
        PrepareStep::Written {
            done_bytes,
            total_bytes,
        } => events.emit(&DataEvent::Progress {
            done_bytes,
            total_bytes,
        }),
        PrepareStep::Finishing => events.emit(&Phase::now(PhaseName::Finishing)),
    };
    shared::prepare_data(job, &stop, report)?;
    events.emit(&Phase::now(PhaseName::Finished));
    Ok(())
}

fn verify_data(job: &Job, events: &Events, inbox: Receiver<Message>) -> Result<()> {
    events.emit(&Phase::now(PhaseName::Preparing));
    let stop = OnRequest::default();
    stop_at_end_of_input(inbox, stop.clone())?;
    let verified = shared::verify_data(job, &stop, |done_bytes, total_bytes| {
        events.emit(&DataEvent::Progress {
            done_bytes,
            total_bytes,
        });
    })?;
    events.emit(&DataEvent::Verified(verified));
    events.emit(&Phase::now(PhaseName::Finished));
    Ok(())
}

/// Asks `stop` when stdin is closed, and ends the process when the phase does not stop soon. The
/// phase may be waiting for a slow device. `cleanup` knows all files written so far.
fn stop_at_end_of_input(inbox: Receiver<Message>, stop: OnRequest) -> Result<()> {
    thread::Builder::new()
        .name("watch".into())
        .spawn(move || {
            for message in inbox {
                match message {
                    Message::Input(Input::End) => break,
                    Message::Input(Input::Line(line)) => {
                        eprintln!("paribus-engine: `{line}` has no meaning in this phase");
                    }
                    _ => {}
                }
            }
            stop.ask();
            thread::sleep(GRACE);
            process::exit(1);
        })
        .map(drop)
        .map_err(|cause| EngineError::no_thread(&cause))
}
