//! One run of a load, from opening the files to the last window.
//!
//! In: a checked job and the inbox of commands. Out: phase, interval and result events. Called by
//! `run`.

use std::sync::mpsc::{Receiver, Sender};
use std::thread;
use std::time::Duration;

use super::windows::{Ending, Watched, Windows};
use crate::clock;
use crate::error::{Class, EngineError, Result};
use crate::event::{Events, Phase, PhaseName};
use crate::input::Input;
use crate::job::Job;
use crate::load::inbox::Message;
use crate::record::interval::Collector;
use crate::workload::shared::Shared;

/// Time limit for outstanding operations to complete after the load has stopped.
const PATIENCE: Duration = Duration::from_secs(60);
/// The same limit after the controller has closed stdin: no complete result is expected then.
const SHORT_PATIENCE: Duration = Duration::from_secs(2);

/// Opens the data, starts the workers, measures, stops, and syncs dirty data.
pub fn conduct(
    job: &Job,
    events: &Events,
    sender: &Sender<Message>,
    inbox: &Receiver<Message>,
) -> Result<()> {
    events.emit(&Phase::now(PhaseName::Preparing));
    let Some((shared, early)) = open(job, sender, inbox)? else {
        return Err(interrupted("the files were open"));
    };
    let mut workers = shared.spawn(job, sender)?;
    let Some(early) = workers.wait_until_ready(inbox, early)? else {
        return Err(interrupted("the workers were ready"));
    };
    events.emit(&Phase::now(PhaseName::Ready));
    let start = clock::now();
    let collector = Collector::new(workers.tallies(), start);
    let backlog = workers.go(start);
    events.emit(&Phase::at(PhaseName::Settling, None, start));

    let watched = Watched {
        shared: &shared,
        collector,
        backlog,
        workers: workers.count(),
        registered_buffers: shared.has_registered_buffers(),
    };
    let ending = Windows::new(job, events, watched).run(inbox, early);
    let patience = match ending {
        Ok(Ending::Done | Ending::InputEnded) => PATIENCE,
        Ok(Ending::Interrupted(_)) | Err(_) => SHORT_PATIENCE,
    };
    workers.stop();
    if matches!(ending, Ok(Ending::Done | Ending::InputEnded)) {
        events.emit(&Phase::now(PhaseName::Finishing));
    }
    let all_left = workers.wait_until_left(inbox, patience);
    if let Some(verification) = shared.verification() {
        verification.report_durable(events);
    }
    if let Ending::Interrupted(reason) = ending? {
        // Returns at once, without waiting for the kernel to write back dirty pages.
        return Err(interrupted(&reason));
    }
    if !all_left {
        return Err(EngineError::new(
            Class::IoError,
            format!(
                "operations have been outstanding for over {} s",
                patience.as_secs()
            ),
            "look in the kernel log of the target (dmesg): the device may hang",
        ));
    }
    shared.finish()?;
    if let Some(verification) = shared.verification() {
        verification.report_durable(events);
    }
    events.emit(&Phase::now(PhaseName::Finished));
    Ok(())
}

/// Opens the files on a separate thread, since dropping caches can take long and the end of stdin
/// must be noticed meanwhile. Returns `None` when stdin ends first. Returns the commands that
/// arrived before the files were open.
fn open(
    job: &Job,
    sender: &Sender<Message>,
    inbox: &Receiver<Message>,
) -> Result<Option<(Shared, Vec<String>)>> {
    let (job, answer) = (job.clone(), sender.clone());
    let opening = thread::Builder::new()
        .name("open".into())
        .spawn(move || {
            let opened = Shared::open(&job);
            // Sending cannot fail: the receiver lives until the process ends.
            let _ = answer.send(Message::Opened);
            opened
        })
        .map_err(|cause| EngineError::no_thread(&cause))?;
    let mut early = Vec::new();
    for message in inbox {
        match message {
            Message::Opened => {
                let opened = opening
                    .join()
                    .map_err(|_| EngineError::panicked("the thread that opens the files"))?;
                return Ok(Some((opened?, early)));
            }
            Message::Input(Input::Line(line)) => early.push(line),
            Message::Input(Input::End) => return Ok(None),
            Message::Ready | Message::Failed(_) | Message::Left => {}
        }
    }
    Ok(None)
}

fn interrupted(before: &str) -> EngineError {
    EngineError::new(
        Class::Interrupted,
        format!("stdin was closed before {before}; the load is stopped"),
        "keep stdin open until the last result",
    )
}
