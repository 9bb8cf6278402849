//! `ceteris-engine undo`: puts back what experiments have left behind.
//!
//! In: the directory of journals. Out: `busy` for those that have a living owner, `kept` for those
//! whose changes are meant to stay; for the others the events of restoring. With `dry_run` only a
//! list. Called by `main`.

use std::cmp::Reverse;
use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use super::Leftover;
use super::directory::{self, DirectoryLock, Found};
use super::event::{JournalEvent, ListedChange};
use super::file::{Journal, OpenChange, open_changes};
use super::keeper::overlap;
use super::line;
use super::restore::{damaged, restore_and_close};
use crate::error::Result;
use crate::event::{Event, Events};
use crate::machine;

const RETRY: Duration = Duration::from_millis(50);

pub struct Selection<'a> {
    pub directory: &'a Path,
    /// Only this experiment.
    pub experiment: Option<&'a str>,
    pub dry_run: bool,
    /// Also what is meant to stay.
    pub kept: bool,
    /// An owner that has lost its controller is restoring, and will be done within this.
    pub patience: Duration,
}

impl Selection<'_> {
    fn includes(&self, journal: &Found) -> bool {
        self.experiment
            .is_none_or(|wanted| journal.experiment() == wanted)
    }
}

pub fn undo(selection: &Selection, events: &Events) -> Result<Leftover> {
    // Half a restoration is worse than a whole one, and asking twice makes it no faster.
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
        machine::ignore_signal(signal);
    }
    let mut leftover = Leftover::Nothing;
    for path in newest_first(directory::journal_paths(selection.directory)?) {
        // One journal that cannot be read must not keep the others from being undone.
        let outcome = if selection.dry_run {
            list(&path, selection, events)
        } else {
            undo_one(&path, selection, events)
        };
        match outcome {
            Ok(Leftover::Nothing) => {}
            Ok(Leftover::Stuck) => leftover = Leftover::Stuck,
            Err(error) => {
                leftover = Leftover::Stuck;
                events.emit(&Event::Error(error));
            }
        }
    }
    Ok(leftover)
}

/// What was set first is put back last, since each journal holds the values that it found.
fn newest_first(mut paths: Vec<PathBuf>) -> Vec<PathBuf> {
    let begun = |path: &PathBuf| {
        let contents = line::decode(&fs::read(path).unwrap_or_default());
        Reverse(contents.lines.into_iter().next().map(|first| first.time))
    };
    paths.sort_by_cached_key(begun);
    paths
}

fn undo_one(path: &Path, selection: &Selection, events: &Events) -> Result<Leftover> {
    let deadline = Instant::now() + selection.patience;
    loop {
        let lock = directory::lock(selection.directory)?;
        let Some(found) = look(path, selection)? else {
            return Ok(Leftover::Nothing);
        };
        let experiment = found.experiment();
        if found.is_at_rest() {
            let used_by = user_of(&found, selection.directory, &lock)?;
            if used_by.is_some() || !(selection.kept || is_over(&found)) {
                events.emit(&Event::Journal(JournalEvent::Kept {
                    experiment,
                    path: path.to_path_buf(),
                    used_by,
                }));
                return Ok(Leftover::Nothing);
            }
        }
        drop(lock);
        if let Some(file) = found.orphan {
            let mut journal = Journal::adopt(path, file, found.contents)?;
            return restore_and_close(&mut journal, events);
        }
        if Instant::now() >= deadline {
            events.emit(&Event::Journal(JournalEvent::Busy {
                experiment,
                path: path.to_path_buf(),
            }));
            return Ok(Leftover::Nothing);
        }
        thread::sleep(RETRY);
    }
}

/// Whether nothing of it is left: a boot came in between.
fn is_over(found: &Found) -> bool {
    open_changes(&found.contents).iter().all(is_expired)
}

fn is_expired(open: &OpenChange) -> bool {
    !open.change.persistent && open.boot_id != machine::boot_id()
}

/// The living experiment that began with what this journal has set.
fn user_of(kept: &Found, directory: &Path, lock: &DirectoryLock) -> Result<Option<String>> {
    let (addresses, everything) = kept.claims();
    let others = directory::open_journals(directory, lock)?;
    let user = others.iter().find(|other| {
        other.path != kept.path
            && other.orphan.is_none()
            && overlap(other, &kept.experiment(), &addresses, everything).is_some()
    });
    Ok(user.map(Found::experiment))
}

fn list(path: &Path, selection: &Selection, events: &Events) -> Result<Leftover> {
    let _lock = directory::lock(selection.directory)?;
    let Some(found) = look(path, selection)? else {
        return Ok(Leftover::Nothing);
    };
    let changes = open_changes(&found.contents)
        .into_iter()
        .map(|open| ListedChange {
            expired: is_expired(&open),
            knob: open.change.knob,
            address: open.change.address,
            before: open.change.before,
            wanted: open.change.wanted,
        })
        .collect();
    events.emit(&Event::Journal(JournalEvent::OpenJournal {
        experiment: found.experiment(),
        path: path.to_path_buf(),
        owned: found.orphan.is_none(),
        kept: found.contents.is_kept(),
        time: found
            .contents
            .lines
            .first()
            .map(|line| line.time.clone())
            .unwrap_or_default(),
        changes,
    }));
    for (number, why) in &found.contents.damaged {
        events.emit(&Event::Error(damaged(path, *number, why)));
    }
    if found.contents.damaged.is_empty() {
        Ok(Leftover::Nothing)
    } else {
        Ok(Leftover::Stuck)
    }
}

/// The journal at `path` when it is open and selected. The caller holds the directory's lock.
fn look(path: &Path, selection: &Selection) -> Result<Option<Found>> {
    let found = directory::look(path)?;
    Ok(found.filter(|journal| selection.includes(journal)))
}
