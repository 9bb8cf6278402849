//! Restoring: putting back everything that a journal says was changed.
//!
//! In: an owned journal. Out: the values as they were, each read back; `restored`, `stuck` and
//! `expired` events; the journal closed when nothing is left. Called by `journal::keeper` and
//! `journal::undo`.
//!
//! A setting can move others: putting a scheduler back resets the queue depth, and a queue depth
//! may be refused until the scheduler is back. So everything is written in reverse order first, and
//! judged only when all of it has been written; what is not right then is written once more.

use std::path::PathBuf;

use super::Leftover;
use super::action::Action;
use super::directory;
use super::event::JournalEvent;
use super::file::{Journal, OpenChange};
use crate::error::{Class, EngineError, Result};
use crate::event::{Event, Events};
use crate::machine;

/// Restores all open changes and closes the journal when nothing is stuck.
pub fn restore_and_close(journal: &mut Journal, events: &Events) -> Result<Leftover> {
    let mut leftover = restore(journal, events);
    for (number, why) in &journal.damaged {
        // It may have been a change, so it would be wrong to say that all is well.
        leftover = Leftover::Stuck;
        events.emit(&Event::Error(damaged(journal, *number, why)));
    }
    if leftover == Leftover::Nothing {
        let path = directory::close(journal)?;
        let experiment = journal.experiment().to_string();
        events.emit(&Event::Journal(JournalEvent::Closed { experiment, path }));
    }
    Ok(leftover)
}

fn restore(journal: &mut Journal, events: &Events) -> Leftover {
    let boot_id = machine::boot_id();
    let experiment = journal.experiment().to_string();
    let (alive, expired): (Vec<OpenChange>, Vec<OpenChange>) = journal
        .changes
        .iter()
        .cloned()
        .partition(|change| change.change.persistent || change.boot_id == boot_id);
    for change in expired {
        journal.mark_restored(change.line);
        events.emit(&Event::Journal(JournalEvent::Expired {
            experiment: experiment.clone(),
            knob: change.change.knob,
            address: change.change.address,
        }));
    }
    let undone = undo_all(&alive);
    let mut leftover = Leftover::Nothing;
    for (change, outcome) in alive.into_iter().zip(undone).rev() {
        let (knob, address) = (change.change.knob, change.change.address);
        let experiment = experiment.clone();
        let event = match outcome {
            Ok(value) => {
                journal.mark_restored(change.line);
                JournalEvent::Restored {
                    experiment,
                    knob,
                    address,
                    value,
                }
            }
            Err(stuck) => {
                leftover = Leftover::Stuck;
                JournalEvent::Stuck {
                    experiment,
                    knob,
                    address,
                    wanted: stuck.wanted,
                    found: stuck.found,
                    reason: stuck.reason,
                }
            }
        };
        events.emit(&Event::Journal(event));
    }
    leftover
}

#[derive(Debug, Clone, PartialEq)]
struct Stuck {
    wanted: String,
    found: Option<String>,
    reason: String,
}

/// Takes all changes back, the last one first; for each change the value in force or why not.
fn undo_all(changes: &[OpenChange]) -> Vec<std::result::Result<String, Stuck>> {
    for change in changes.iter().rev() {
        for action in &change.change.undo {
            // A refusal now may be a success when the rest is back; it is judged below.
            let _ = action.execute();
        }
    }
    // Of several changes to one thing the oldest holds the value from before the experiment.
    let mut oldest: Vec<(PathBuf, std::result::Result<String, Stuck>)> = Vec::new();
    for action in changes.iter().flat_map(|change| &change.change.undo) {
        if !oldest.iter().any(|(target, _)| target == action.target()) {
            let outcome = check(action).or_else(|_| retry(action));
            oldest.push((action.target().to_path_buf(), outcome));
        }
    }
    let outcome_of = |action: &Action| {
        oldest
            .iter()
            .find(|(target, _)| target == action.target())
            .map(|(_, outcome)| outcome.clone())
    };
    changes
        .iter()
        .map(|change| {
            let mut outcomes = change.change.undo.iter().filter_map(outcome_of);
            outcomes.try_fold(String::new(), |_, next| next)
        })
        .collect()
}

fn retry(action: &Action) -> std::result::Result<String, Stuck> {
    let stuck = |found: Option<String>, reason: String| Stuck {
        wanted: action.wanted(),
        found,
        reason,
    };
    let path = action.target().display().to_string();
    match action.execute() {
        Ok(()) => check(action),
        Err(cause) => Err(stuck(
            action.read_back().ok(),
            format!("cannot write to {path}: {cause}"),
        )),
    }
}

fn check(action: &Action) -> std::result::Result<String, Stuck> {
    let wanted = action.wanted();
    let path = action.target().display();
    match action.read_back() {
        Ok(found) if found == wanted => Ok(found),
        Ok(found) => Err(Stuck {
            reason: format!("{path} reads back different"),
            wanted,
            found: Some(found),
        }),
        Err(cause) => Err(Stuck {
            reason: format!("cannot read {path}: {cause}"),
            wanted,
            found: None,
        }),
    }
}

fn damaged(journal: &Journal, number: usize, why: &str) -> EngineError {
    let path = journal.path();
    EngineError::new(
        Class::JournalLine,
        format!("line {number} of {} cannot be used: {why}", path.display()),
        "all other lines were used; read that line, put its value back by hand, then move the file to `closed/` beside it",
    )
    .at(path)
}
