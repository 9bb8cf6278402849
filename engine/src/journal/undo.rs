//! `paribus-engine undo`: restores the settings that experiments have left changed.
//!
//! In: the directory of journals. Out: `busy` for journals with a living owner, `kept` for journals
//! kept on purpose; for the others the events of the restore. With `dry_run` only a list. Called by
//! `main`.

use std::cmp::Reverse;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use super::Leftover;
use super::directory::Directory;
use super::event::{JournalEvent, ListedChange};
use super::exclusion::{self, overlap};
use super::file::{OpenChange, open_changes};
use super::lock::{DirectoryLock, announce_restoring};
use super::open_journal::OpenJournal;
use super::restore::{damaged, restore_and_close};
use crate::error::Result;
use crate::event::Events;
use crate::machine;

const RETRY: Duration = Duration::from_millis(50);
/// The wait for a keeper that restores: longer than a guest of libvirt may take to shut down.
const RESTORING_PATIENCE: Duration = Duration::from_secs(900);

pub struct Selection<'a> {
    pub directory: &'a Path,
    /// Only this experiment.
    pub experiment: Option<&'a str>,
    pub dry_run: bool,
    /// Also journals kept on purpose.
    pub include_kept: bool,
    /// The wait for an owner that has lost its controller and is restoring.
    pub patience: Duration,
}

impl Selection<'_> {
    fn includes(&self, journal: &OpenJournal) -> bool {
        self.experiment
            .is_none_or(|experiment| journal.experiment() == experiment)
    }
}

pub fn undo(selection: &Selection, events: &Events) -> Result<Leftover> {
    // An interrupted restore is worse than a complete one, and a second signal makes it no faster.
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
        machine::ignore_signal(signal);
    }
    let named = Directory::new(selection.directory);
    let mut leftover = Leftover::Nothing;
    let left = named.clone().left()?;
    events.emit(&JournalEvent::Looked {
        directory: named.path.clone(),
        others: journals_of_root().filter(|others| *others != named.path),
        elsewhere: named.elsewhere()?,
        running_elsewhere: named.running_elsewhere()?,
    });
    for entry in named.deleted()? {
        if selection
            .experiment
            .is_none_or(|experiment| experiment == entry.announced.experiment)
        {
            leftover = Leftover::Stuck;
            events.emit(&exclusion::deleted(&named, &entry));
        }
    }
    let Some(directory) = left else {
        return Ok(leftover);
    };
    let errors = |error| {
        events.emit(&error);
        Leftover::Stuck
    };
    if !selection.dry_run {
        directory.remove_unfinished(&directory.lock()?);
    }
    for path in newest_first(&directory)? {
        // One unreadable journal must not prevent the undo of the others.
        let outcome = if selection.dry_run {
            list(&directory, &path, selection, events)
        } else {
            undo_one(&directory, &path, selection, events)
        };
        if outcome.unwrap_or_else(errors) == Leftover::Stuck {
            leftover = Leftover::Stuck;
        }
    }
    Ok(leftover)
}

/// Root's directory of journals, for a user who may not read it; `None` where it does not exist.
fn journals_of_root() -> Option<PathBuf> {
    let directory = Path::new(machine::ROOT_STATE).join("journal");
    (!machine::is_root() && Path::new(machine::ROOT_STATE).exists()).then_some(directory)
}

/// The paths in order of undo, the last journal first, since each holds the values that it found.
/// The order follows their sequence, since a clock can be set back. An unreadable journal comes
/// last and reports its error then.
fn newest_first(directory: &Directory) -> Result<Vec<PathBuf>> {
    let lock = directory.lock()?;
    let mut paths = directory.journal_paths()?;
    paths.sort_by_cached_key(|path| {
        let journal = directory.read(path, &lock).ok().flatten();
        Reverse(journal.map_or(0, |journal| journal.contents.sequence()))
    });
    Ok(paths)
}

fn undo_one(
    directory: &Directory,
    path: &Path,
    selection: &Selection,
    events: &Events,
) -> Result<Leftover> {
    let began = Instant::now();
    loop {
        let lock = directory.lock()?;
        let Some(journal) = read_selected(directory, path, selection, &lock)? else {
            return Ok(Leftover::Nothing);
        };
        let experiment = journal.experiment();
        if journal.is_at_rest() {
            let used_by = user_of(&journal, directory, &lock)?;
            if used_by.is_some() || !(selection.include_kept || is_over(&journal)) {
                events.emit(&JournalEvent::Kept {
                    experiment,
                    path: path.to_path_buf(),
                    used_by,
                });
                return Ok(Leftover::Nothing);
            }
        }
        let is_being_restored = journal.is_being_restored();
        let trouble = journal.trouble();
        if let Some(mut journal) = journal.adopt() {
            drop(lock);
            announce_restoring();
            return restore_and_close(directory, &mut journal, events);
        }
        drop(lock);
        let patience = if is_being_restored {
            RESTORING_PATIENCE
        } else {
            selection.patience
        };
        if began.elapsed() >= patience {
            let trouble = trouble.or_else(|| {
                is_being_restored.then(|| {
                    format!(
                        "its keeper has restored it for {} s and continues; wait, and try again",
                        patience.as_secs()
                    )
                })
            });
            let leftover = match trouble {
                Some(_) => Leftover::Stuck,
                None => Leftover::Nothing,
            };
            events.emit(&JournalEvent::Busy {
                experiment,
                path: path.to_path_buf(),
                trouble,
            });
            return Ok(leftover);
        }
        thread::sleep(RETRY);
    }
}

/// Whether a reboot has ended all its changes.
fn is_over(journal: &OpenJournal) -> bool {
    journal.contents.damaged.is_empty() && open_changes(&journal.contents).iter().all(is_expired)
}

fn is_expired(open: &OpenChange) -> bool {
    !open.change.persistent && open.boot_id != machine::boot_id()
}

/// The living experiment that began under the changes of this journal.
fn user_of(
    journal: &OpenJournal,
    directory: &Directory,
    lock: &DirectoryLock,
) -> Result<Option<String>> {
    let claims = journal.claims();
    for path in directory.journal_paths()? {
        if path == journal.path {
            continue; // its locks are ours already
        }
        if let Some(other) = directory.read(&path, lock)?
            && !other.is_orphan()
            && overlap(&other, &journal.experiment(), &claims).is_some()
        {
            return Ok(Some(other.experiment()));
        }
    }
    Ok(None)
}

fn list(
    directory: &Directory,
    path: &Path,
    selection: &Selection,
    events: &Events,
) -> Result<Leftover> {
    let lock = directory.lock()?;
    let Some(journal) = read_selected(directory, path, selection, &lock)? else {
        return Ok(Leftover::Nothing);
    };
    let changes = open_changes(&journal.contents)
        .into_iter()
        .map(|open| ListedChange {
            expired: is_expired(&open),
            knob: open.change.knob,
            address: open.change.address,
            before: open.change.before,
            wanted: open.change.wanted,
        })
        .collect();
    let first = journal.contents.lines.first();
    events.emit(&JournalEvent::OpenJournal {
        experiment: journal.experiment(),
        path: path.to_path_buf(),
        owned: !journal.is_orphan(),
        kept: journal.contents.is_kept(),
        time: first.map(|line| line.time.clone()).unwrap_or_default(),
        trouble: journal.trouble(),
        changes,
    });
    for damage in &journal.contents.damaged {
        events.emit(&damaged(path, damage));
    }
    if journal.contents.damaged.is_empty() {
        Ok(Leftover::Nothing)
    } else {
        Ok(Leftover::Stuck)
    }
}

/// The journal at `path` when it is open and selected.
fn read_selected(
    directory: &Directory,
    path: &Path,
    selection: &Selection,
    lock: &DirectoryLock,
) -> Result<Option<OpenJournal>> {
    let journal = directory.read(path, lock)?;
    Ok(journal.filter(|journal| selection.includes(journal)))
}
