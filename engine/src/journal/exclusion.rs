//! Exclusion: an experiment may not begin beside another one that uses its settings, nor on top of
//! settings that were left changed.
//!
//! In: the open journals of this state folder and of all others. Out: the error that names the one
//! in the way. Called by `journal::keeper` and `journal::undo`.

use std::path::Path;

use super::directory::Directory;
use super::open_journal::{Claims, OpenJournal};
use super::register::Entry;
use crate::error::{Class, EngineError, Result};

pub fn refuse_orphans(journals: &[OpenJournal]) -> Result<()> {
    let mut active = journals.iter().filter(|journal| !journal.is_at_rest());
    match active.find(|journal| journal.is_orphan()) {
        Some(orphan) => Err(left_open(
            orphan,
            "run `paribus undo` to restore the machine, then try again",
        )),
        None => Ok(()),
    }
}

pub fn refuse_overlap(journals: &[OpenJournal], experiment: &str, claims: &Claims) -> Result<()> {
    for other in journals.iter().filter(|journal| !journal.is_at_rest()) {
        if let Some(conflict) = overlap(other, experiment, claims) {
            return Err(busy(other, &conflict));
        }
    }
    Ok(())
}

/// Settings whose journal is gone may still be changed.
pub fn refuse_deleted(directory: &Directory) -> Result<()> {
    match directory.deleted()?.first() {
        Some(entry) => Err(deleted(directory, entry)),
        None => Ok(()),
    }
}

/// A setting belongs to the machine, so the journals of other state folders count too.
pub fn refuse_elsewhere(directory: &Directory, claims: &Claims) -> Result<()> {
    for entry in directory.entries_elsewhere()? {
        let Some(conflict) = entry.announced.claims().conflict(claims) else {
            continue;
        };
        if entry.is_deleted() {
            return Err(deleted(directory, &entry));
        }
        let Some(other) = directory.of(&entry).left()? else {
            continue;
        };
        let lock = other.lock()?;
        let path = other
            .path
            .join(entry.journal.file_name().unwrap_or_default());
        let journal = other.read(&path, &lock)?;
        match journal.filter(|journal| !journal.is_at_rest()) {
            Some(orphan) if orphan.is_orphan() => {
                let state = entry.journal.parent().and_then(Path::parent);
                let hint = format!(
                    "restore the machine, then try again: PARIBUS_STATE={} paribus undo",
                    state.unwrap_or(Path::new("/")).display()
                );
                return Err(left_open(&orphan, &hint));
            }
            Some(journal) => return Err(busy(&journal, &conflict)),
            None => {}
        }
    }
    Ok(())
}

/// The reason why two experiments cannot run at the same time; `None` when they can.
pub fn overlap(other: &OpenJournal, experiment: &str, claims: &Claims) -> Option<String> {
    if other.experiment() == experiment {
        return Some("has the same id".into());
    }
    other.claims().conflict(claims)
}

/// The error for a journal that was deleted with its copy while it was open.
pub fn deleted(directory: &Directory, entry: &Entry) -> EngineError {
    let journal = &entry.journal;
    let (state, hint) = if directory.register.is_owned(journal) {
        let hint = "wait until it has ended: it restores its settings itself";
        ("is running".to_string(), hint.to_string())
    } else {
        let settings = match entry.announced.addresses.as_slice() {
            [] => "settings of the whole machine".to_string(),
            addresses => addresses.join(", "),
        };
        let file = directory.register.path_of(journal).unwrap_or_default();
        let hint = format!(
            "check what it tested (paribus report lists it), set it by hand, then remove {}",
            file.display()
        );
        (format!("may have left changed: {settings}"), hint)
    };
    EngineError::new(
        Class::JournalLine,
        format!(
            "the journal {} and its copy were deleted, and experiment {} {state}",
            journal.display(),
            entry.announced.experiment
        ),
        hint,
    )
    .at(journal)
}

fn left_open(orphan: &OpenJournal, hint: &str) -> EngineError {
    EngineError::new(
        Class::OpenJournal,
        format!(
            "experiment `{}` has left changed settings on this machine: {} is open and has no owner; run `paribus undo`",
            orphan.experiment(),
            orphan.path.display()
        ),
        hint,
    )
    .at(&orphan.path)
}

fn busy(other: &OpenJournal, conflict: &str) -> EngineError {
    EngineError::new(
        Class::AddressBusy,
        format!(
            "experiment `{}` is running on this machine and {conflict} ({})",
            other.experiment(),
            other.path.display()
        ),
        "wait until it has ended, or choose settings that it does not use",
    )
    .at(&other.path)
}
