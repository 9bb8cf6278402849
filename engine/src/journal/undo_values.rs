//! Writing the original values of many changes, and checking each.
//!
//! In: changes. Out: for each the value in force, or the failure. Called by `journal::restore`.
//!
//! A setting can change others. Restoring a scheduler resets the queue depth, and a queue depth may
//! be refused until the scheduler is restored. So all values are first written in reverse order,
//! and checked only after all writes. When a write was refused or a value is wrong then, all values
//! are written once more, since a write that only now succeeds changes others again.

use std::io;

use super::action::Action;
use super::file::OpenChange;

/// A setting that is not restored.
#[derive(Debug, Clone, PartialEq)]
pub struct Stuck {
    pub expected: String,
    pub observed: Option<String>,
    pub reason: String,
}

/// The value in force, or the failure.
pub type UndoOutcome = std::result::Result<String, Stuck>;

/// Undoes all changes, the last one first; returns for each change the value in force or the
/// failure.
pub fn undo_all(
    changes: &[OpenChange],
    execute: impl Fn(&Action) -> io::Result<()>,
) -> Vec<UndoOutcome> {
    let originals = originals(changes);
    let mut refused = write_all(changes, &execute);
    if !refused.is_empty() || originals.iter().any(|action| check(action).is_err()) {
        refused = write_all(changes, &execute);
    }
    let judged: Vec<(String, UndoOutcome)> = originals
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
fn judge(action: &Action, refused: &[(&Action, io::Error)]) -> UndoOutcome {
    let outcome = check(action);
    let Some((_, cause)) = refused.iter().find(|(other, _)| *other == action) else {
        return outcome;
    };
    let (expected, observed) = match outcome {
        Ok(value) if !action.must_succeed() => return Ok(value),
        Ok(value) => (action.expected(), Some(value)),
        Err(stuck) => (stuck.expected, stuck.observed),
    };
    Err(Stuck {
        expected,
        observed,
        reason: format!("cannot restore {}: {cause}", action.subject()),
    })
}

fn check(action: &Action) -> UndoOutcome {
    let expected = action.expected();
    let subject = action.subject();
    match action.read_back() {
        Ok(observed) if observed == expected => Ok(observed),
        Ok(observed) => Err(Stuck {
            reason: format!("{subject} has another value than expected"),
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::action::{Readback, WriteText};
    use crate::journal::line::Change;
    use serde_json::json;
    use std::cell::Cell;
    use std::fs;
    use std::path::Path;

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
            stuck.reason.starts_with("cannot restore"),
            "{}",
            stuck.reason
        );
    }
}
