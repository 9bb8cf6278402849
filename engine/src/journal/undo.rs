//! `ceteris-engine undo`: puts back what experiments have left behind.
//!
//! In: the directory of journals. Out: `busy` for those that have a living owner; for the others
//! the events of restoring. With `dry_run` only a list. Called by `main`.

use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use super::Leftover;
use super::directory::{self, Found};
use super::event::{JournalEvent, ListedChange};
use super::file::{Journal, open_changes};
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
    for path in directory::journal_paths(selection.directory)? {
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

fn undo_one(path: &Path, selection: &Selection, events: &Events) -> Result<Leftover> {
    let deadline = Instant::now() + selection.patience;
    loop {
        let Some(found) = look(path, selection)? else {
            return Ok(Leftover::Nothing);
        };
        let experiment = found.experiment();
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

fn list(path: &Path, selection: &Selection, events: &Events) -> Result<Leftover> {
    let Some(found) = look(path, selection)? else {
        return Ok(Leftover::Nothing);
    };
    let changes = open_changes(&found.contents)
        .into_iter()
        .map(|open| ListedChange {
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

/// The journal at `path` when it is open and selected.
fn look(path: &Path, selection: &Selection) -> Result<Option<Found>> {
    let _lock = directory::lock(selection.directory)?;
    let found = directory::look(path)?;
    Ok(found.filter(|journal| selection.includes(journal)))
}
