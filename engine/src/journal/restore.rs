//! Restoring: undoes every change that a journal records.
//!
//! In: an owned journal. Out: the original values, each read back; `restored`, `stuck` and
//! `expired` events; the journal closed when nothing is left. Called by `journal::keeper` and
//! `journal::undo`.

use std::path::Path;

use super::Leftover;
use super::action::Action;
use super::device;
use super::directory::Directory;
use super::event::JournalEvent;
use super::file::{Journal, OpenChange};
use super::line::{Change, LineDamage};
use super::undo_values::{Stuck, UndoOutcome, undo_all};
use crate::error::{Class, EngineError, Result};
use crate::event::Events;
use crate::machine;

/// Restores all open changes and closes the journal when nothing is stuck.
pub fn restore_and_close(
    directory: &Directory,
    journal: &mut Journal,
    events: &Events,
) -> Result<Leftover> {
    let mut leftover = restore(journal, events);
    for damage in &journal.damaged {
        // The damaged line may have been a change, so success would be a false report.
        leftover = Leftover::Stuck;
        events.emit(&damaged(journal.path(), damage));
    }
    if leftover == Leftover::Nothing {
        let deleted = !journal.path().exists();
        let path = directory.close(journal)?;
        events.emit(&JournalEvent::Closed {
            experiment: journal.experiment().to_string(),
            path,
            deleted,
        });
    }
    Ok(leftover)
}

fn restore(journal: &mut Journal, events: &Events) -> Leftover {
    let boot_id = machine::boot_id();
    let experiment = journal.experiment().to_string();
    let (alive, expired): (Vec<OpenChange>, Vec<OpenChange>) =
        journal.changes.iter().cloned().partition(|change| {
            let lives_on = change.change.persistent || change.boot_id == boot_id;
            lives_on && !change.change.undo.iter().all(Action::has_expired)
        });
    for change in expired {
        journal.mark_restored(change.line);
        events.emit(&JournalEvent::Expired {
            experiment: experiment.clone(),
            knob: change.change.knob,
            address: change.change.address,
        });
    }
    let is_reloaded = device::reloads(journal.changes.iter().map(|open| &open.change));
    let (alive, foreign) = without_foreign(alive, is_reloaded);
    let undone = undo_all(&alive, Action::execute);
    let mut leftover = Leftover::Nothing;
    let outcomes: Judged = alive.into_iter().zip(undone).collect();
    // A setting comes after those that it moves. Its later undo moves them again, so their changes
    // stay in the journal.
    let last_stuck = outcomes.iter().filter(|(_, outcome)| outcome.is_err());
    let last_stuck = last_stuck.map(|(change, _)| change.line).max().unwrap_or(0);
    let outcomes = foreign.into_iter().chain(outcomes);
    for (change, outcome) in outcomes.rev() {
        let (knob, address) = (change.change.knob, change.change.address);
        let experiment = experiment.clone();
        let event = match outcome {
            Ok(value) => {
                if change.line > last_stuck {
                    journal.mark_restored(change.line);
                }
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
                    wanted: stuck.expected,
                    found: stuck.observed,
                    reason: stuck.reason,
                }
            }
        };
        events.emit(&event);
    }
    leftover
}

type Judged = Vec<(OpenChange, UndoOutcome)>;

/// Separates the changes of unchanged devices from those of replaced devices, which must not be
/// written.
fn without_foreign(changes: Vec<OpenChange>, is_reloaded: bool) -> (Vec<OpenChange>, Judged) {
    let mut same = Vec::new();
    let mut foreign = Vec::new();
    for change in changes {
        match device::difference(&change.change, is_reloaded) {
            None => same.push(change),
            Some(difference) => {
                let stuck = Stuck {
                    reason: format!(
                        "another device has this name now, so it was not changed: {difference}"
                    ),
                    expected: expected(&change.change),
                    observed: None,
                };
                foreign.push((change, Err(stuck)));
            }
        }
    }
    (same, foreign)
}

fn expected(change: &Change) -> String {
    let values: Vec<String> = change.undo.iter().map(Action::expected).collect();
    values.join(" ")
}

/// The error for a line that cannot be used.
pub(super) fn damaged(path: &Path, damage: &LineDamage) -> EngineError {
    EngineError::new(
        Class::JournalLine,
        format!(
            "the journal {} is damaged, so a setting may still be changed: line {}: {}",
            path.display(),
            damage.line,
            damage.reason
        ),
        "every other line was used; check the settings that this experiment tested (paribus report lists them), set them by hand, then move the file to closed/ next to it",
    )
    .at(path)
}
