//! Restoring: undoes every change that a journal records.
//!
//! In: an owned journal. Out: the original values, each read back; `restored`, `stuck` and
//! `expired` events; the journal closed when nothing is left. Called by `journal::keeper` and
//! `journal::undo`.
//!
//! A setting can change others. Restoring a scheduler resets the queue depth, and a queue depth may
//! be refused until the scheduler is restored. So all values are first written in reverse order,
//! and checked only after all writes. When a value is wrong then, all values are written once more,
//! since a write that only now succeeds changes others again.

use std::io;
use std::path::Path;

use super::Leftover;
use super::action::Action;
use super::device;
use super::directory::Directory;
use super::event::JournalEvent;
use super::file::{Journal, OpenChange};
use super::line::{Change, Damage};
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
    let outcomes = foreign.into_iter().chain(alive.into_iter().zip(undone));
    for (change, outcome) in outcomes.rev() {
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

type Judged = Vec<(OpenChange, Outcome)>;

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
                        "another device has this name now, so it was left alone: {difference}"
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

#[derive(Debug, Clone, PartialEq)]
struct Stuck {
    expected: String,
    observed: Option<String>,
    reason: String,
}

type Outcome = std::result::Result<String, Stuck>;

/// Undoes all changes, the last one first; returns for each change the value in force or the
/// failure.
fn undo_all(changes: &[OpenChange], execute: impl Fn(&Action) -> io::Result<()>) -> Vec<Outcome> {
    let originals = originals(changes);
    let mut refused = write_all(changes, &execute);
    if originals.iter().any(|action| check(action).is_err()) {
        refused = write_all(changes, &execute);
    }
    let judged: Vec<(String, Outcome)> = originals
        .into_iter()
        .map(|action| (action.subject(), judge(action, &refused)))
        .collect();
    let outcome_of = |action: &Action| {
        let subject = action.subject();
        judged
            .iter()
            .find(|(other, _)| *other == subject)
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

/// The oldest action for each setting, which holds the value from before the experiment.
fn originals(changes: &[OpenChange]) -> Vec<&Action> {
    let mut oldest: Vec<&Action> = Vec::new();
    for action in changes.iter().flat_map(|change| &change.change.undo) {
        if !oldest.iter().any(|old| old.subject() == action.subject()) {
            oldest.push(action);
        }
    }
    oldest
}

/// Writes all values, the last change first, so that a setting is written before those that it
/// changes. Returns the refused writes. Such a value may succeed after the others, or be right
/// already.
fn write_all(
    changes: &[OpenChange],
    execute: impl Fn(&Action) -> io::Result<()>,
) -> Vec<(&Action, io::Error)> {
    let actions = changes.iter().rev().flat_map(|change| &change.change.undo);
    actions
        .filter_map(|action| Some((action, execute(action).err()?)))
        .collect()
}

/// The value in force, or the failure. A refused write explains a wrong value better than its
/// readback.
fn judge(action: &Action, refused: &[(&Action, io::Error)]) -> Outcome {
    check(action).map_err(
        |stuck| match refused.iter().find(|(other, _)| *other == action) {
            None => stuck,
            Some((_, cause)) => Stuck {
                reason: format!("cannot put back {}: {cause}", action.subject()),
                ..stuck
            },
        },
    )
}

fn check(action: &Action) -> Outcome {
    let expected = action.expected();
    let subject = action.subject();
    match action.read_back() {
        Ok(observed) if observed == expected => Ok(observed),
        Ok(observed) => Err(Stuck {
            reason: format!("{subject} reads back different"),
            expected,
            observed: Some(observed),
        }),
        Err(cause) => Err(Stuck {
            reason: format!("cannot read {subject}: {cause}"),
            expected,
            observed: None,
        }),
    }
}

/// The error for a line that cannot be used.
pub(super) fn damaged(path: &Path, damage: &Damage) -> EngineError {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::action::{Readback, WriteText};
    use serde_json::json;
    use std::cell::Cell;
    use std::fs;

    /// A scheduler and a depth, both changed; as in a journal, the dependent setting comes first.
    fn changed(directory: &Path) -> Vec<OpenChange> {
        let names = ["depth", "scheduler"];
        let changes = names.into_iter().map(|name| {
            let path = directory.join(name);
            fs::write(&path, "new").unwrap();
            let address = path.display().to_string();
            let write = WriteText {
                path,
                text: "old".into(),
                readback: Readback::Plain,
            };
            OpenChange {
                line: 0,
                boot_id: String::new(),
                change: Change {
                    knob: name.into(),
                    address,
                    before: json!("old"),
                    wanted: json!("new"),
                    undo: vec![Action::Write(write)],
                    persistent: false,
                    device: None,
                },
            }
        });
        changes.collect()
    }

    /// Writes as the kernel does: refuses the first `refusals` writes of the scheduler. A
    /// successful one changes the depth.
    fn kernel(refusals: u32) -> impl Fn(&Action) -> io::Result<()> {
        let left = Cell::new(refusals);
        move |action| {
            let is_scheduler = action.subject().ends_with("scheduler");
            if is_scheduler && left.get() > 0 {
                left.set(left.get() - 1);
                return Err(io::ErrorKind::ResourceBusy.into());
            }
            action.execute()?;
            if is_scheduler {
                fs::write(
                    Path::new(&action.subject()).with_file_name("depth"),
                    "moved",
                )?;
            }
            Ok(())
        }
    }

    #[test]
    fn what_succeeds_only_at_its_second_try_leaves_nothing_moved() {
        for refusals in [0, 1] {
            let directory = tempfile::tempdir().unwrap();
            let outcomes = undo_all(&changed(directory.path()), kernel(refusals));
            assert_eq!(outcomes, [Ok("old".into()), Ok("old".into())]);
            for name in ["depth", "scheduler"] {
                let value = fs::read_to_string(directory.path().join(name)).unwrap();
                assert_eq!(value, "old", "{name} after {refusals} refusals");
            }
        }
    }

    #[test]
    fn what_is_refused_twice_is_stuck_with_its_cause_and_the_rest_is_back() {
        let directory = tempfile::tempdir().unwrap();
        let outcomes = undo_all(&changed(directory.path()), kernel(u32::MAX));
        assert_eq!(outcomes[0], Ok("old".into()));
        let stuck = outcomes[1].clone().unwrap_err();
        assert_eq!(
            (stuck.expected.as_str(), stuck.observed.as_deref()),
            ("old", Some("new"))
        );
        assert!(
            stuck.reason.starts_with("cannot put back"),
            "{}",
            stuck.reason
        );
    }
}
