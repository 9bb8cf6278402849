//! `paribus-engine journal`: the keeper of one experiment's journal, on the target.
//!
//! In: an `open` line on stdin, then `change` to put a change on the disk and `make` to make it.
//! Then `restore`, or `keep` where the changes have to stay. In between `alive`, to check the
//! keeper. Out: an acknowledgement of each. Called by `main`.
//!
//! The end of stdin means that the controller is gone, and the keeper restores every setting. For
//! that reason it runs on the target and ignores signals. Only the keeper makes changes, so no
//! delayed change can follow the restore.

use std::io::Read;
use std::path::Path;
use std::sync::mpsc::{Receiver, channel};

use serde::Deserialize;

use super::Leftover;
use super::action::{Action, ReleaseDisk};
use super::device;
use super::directory::Directory;
use super::event::JournalEvent;
use super::exclusion;
use super::file::Journal;
use super::line::{Change, Record};
use super::lock::announce_restoring;
use super::register::Announcement;
use super::restore::restore_and_close;
use crate::device::DeviceIdentity;
use crate::error::{Class, EngineError, Result};
use crate::event::Events;
use crate::input::{self, Input};
use crate::machine;

/// Characters of a line in a message.
const MOST_SHOWN: usize = 120;

#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum Command {
    Open(Announcement),
    Change(StrictChange),
    Make(Make),
    Alive {},
    Keep {},
    Restore {},
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Make {
    knob: String,
    action: Action,
}

/// A change from the controller. Here an unknown field is an error, while a journal of a newer
/// engine may have more fields.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, remote = "Change")]
struct ChangeFields {
    knob: String,
    address: String,
    before: serde_json::Value,
    wanted: serde_json::Value,
    undo: Vec<Action>,
    persistent: bool,
    /// Filled in by the keeper.
    #[serde(skip)]
    device: Option<Box<DeviceIdentity>>,
}

#[derive(Debug, Deserialize)]
struct StrictChange(#[serde(with = "ChangeFields")] Change);

pub fn keep(
    directory: &Path,
    allow_volatile: bool,
    stdin: impl Read + Send + 'static,
    events: &Events,
) -> Result<Leftover> {
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGXFSZ] {
        machine::ignore_signal(signal);
    }
    let (sender, inbox) = channel();
    input::forward(stdin, sender, announce_end).map_err(|cause| EngineError::no_thread(&cause))?;
    let open = match inbox.recv() {
        Ok(Input::Line(line)) => match parse(&line)? {
            Command::Open(open) => open,
            _ => return Err(EngineError::bad_command("the first line must be `open`")),
        },
        // Nothing was opened, so there is nothing to restore.
        _ => return Ok(Leftover::Nothing),
    };
    let directory = Directory::new(directory);
    let mut journal = open_journal(&directory, allow_volatile, &open)?;
    events.emit(&JournalEvent::Opened {
        path: journal.path().to_path_buf(),
        without_copy: journal.without_copy.clone(),
    });
    match obey(&mut journal, &inbox, events) {
        End::Restore => restore_and_close(&directory, &mut journal, events),
        End::Keep => Ok(Leftover::Nothing),
    }
}

/// Shows at the end of the input that everything will be restored, also while a change is made.
fn announce_end(input: Input) -> Input {
    if input == Input::End {
        announce_restoring();
    }
    input
}

/// The end of the changes: restored or kept.
enum End {
    Restore,
    Keep,
}

/// Journals changes until the controller decides their end; restores them when the controller is
/// gone.
fn obey(journal: &mut Journal, inbox: &Receiver<Input>, events: &Events) -> End {
    while let Ok(Input::Line(line)) = inbox.recv() {
        let answer = match parse(&line) {
            Ok(Command::Restore {}) => return End::Restore,
            Ok(Command::Keep {}) => match journal.append(Record::Kept) {
                Ok(_) => {
                    events.emit(&JournalEvent::Kept {
                        experiment: journal.experiment().to_string(),
                        path: journal.path().to_path_buf(),
                        used_by: None,
                    });
                    return End::Keep;
                }
                Err(error) => Err(error),
            },
            Ok(Command::Change(StrictChange(mut change))) => check(&change)
                .and_then(|()| {
                    change.device = device::device_of(&change).map(Box::new);
                    journal.append(Record::Change(change))
                })
                .map(|line| JournalEvent::Journalled { line }),
            Ok(Command::Make(make)) => make_change(journal, &make),
            Ok(Command::Alive {}) => Ok(JournalEvent::Alive),
            Ok(Command::Open(_)) => Err(EngineError::bad_command("the journal is open already")),
            Err(error) => Err(error),
        };
        // A refused line does not end the keeper: there may be changes to restore.
        events.emit_outcome(answer);
    }
    End::Restore
}

/// Makes the announced change; a refusal of the kernel is an answer, not an error.
fn make_change(journal: &Journal, make: &Make) -> Result<JournalEvent> {
    let changes = || journal.changes.iter().map(|open| &open.change);
    let mut announced = changes().filter(|change| change.knob == make.knob);
    if announced.clone().next().is_none() {
        return Err(EngineError::bad_command(format!(
            "{} is not in the journal, so it cannot be set",
            make.knob
        )));
    }
    refuse_relative(&make.action, &make.knob)?;
    let is_reloaded = device::reloads(changes());
    // A layout has a change for each of its disks.
    if let Some(difference) = announced.find_map(|change| device::difference(change, is_reloaded)) {
        return Ok(JournalEvent::Refused {
            errno: libc::ENODEV,
            reason: format!("another device has this name now: {difference}"),
        });
    }
    Ok(match make.action.execute() {
        Ok(()) => JournalEvent::Made,
        Err(cause) => JournalEvent::Refused {
            errno: cause.raw_os_error().unwrap_or(0),
            reason: cause.to_string(),
        },
    })
}

fn parse(line: &str) -> Result<Command> {
    serde_json::from_str(line).map_err(|cause| {
        // Not whole: the definition of a guest holds passwords.
        let start: String = line.chars().take(MOST_SHOWN).collect();
        EngineError::bad_command(format!("`{start}` is not a command of a journal: {cause}"))
    })
}

fn check(change: &Change) -> Result<()> {
    if change.undo.is_empty() {
        return Err(EngineError::bad_command(format!(
            "the change of {} has no undo action",
            change.knob
        )));
    }
    for action in &change.undo {
        refuse_relative(action, &change.knob)?;
        match action {
            Action::Program(_) => {
                return Err(EngineError::bad_command(format!(
                    "a program is no undo of {}",
                    change.knob
                )));
            }
            Action::Release(release) => refuse_unclean(release, action)?,
            Action::Command(command) => command.check().map_err(|cause| {
                EngineError::bad_command(format!("the pattern of {}: {cause}", change.knob))
            })?,
            _ => {}
        }
    }
    Ok(())
}

/// What is on a disk before the experiment could not be restored.
fn refuse_unclean(release: &ReleaseDisk, action: &Action) -> Result<()> {
    let path = &release.path;
    let state = action
        .read_back()
        .map_err(|cause| EngineError::from_io("examine", path, &cause))?;
    if state == action.expected() {
        return Ok(());
    }
    Err(EngineError::new(
        Class::DeviceInUse,
        format!("{} is not clean: {state}", path.display()),
        "nothing was changed; wipe the disk yourself where its content may be lost",
    )
    .at(path))
}

fn refuse_relative(action: &Action, knob: &str) -> Result<()> {
    match action.relative_path() {
        None => Ok(()),
        Some(path) => Err(EngineError::bad_command(format!(
            "the path `{}` in a change of {knob} is not absolute",
            path.display(),
        ))),
    }
}

fn open_journal(
    directory: &Directory,
    allow_volatile: bool,
    open: &Announcement,
) -> Result<Journal> {
    check_name(&open.experiment)?;
    refuse_volatile(&directory.path, allow_volatile)?;
    let _of_all_state_folders = directory.register.lock()?;
    directory.remove_over()?;
    let copies = directory.make()?;
    let claims = open.claims();
    exclusion::refuse_deleted(directory)?;
    exclusion::refuse_elsewhere(directory, &claims)?;
    let lock = directory.lock()?;
    directory.remove_unfinished(&lock);
    let all = directory.open_journals(&lock)?;
    exclusion::refuse_orphans(&all)?;
    exclusion::refuse_overlap(&all, &open.experiment, &claims)?;
    directory.create(open, allow_volatile, &all, copies)
}

/// Checks the experiment's id, which becomes a file name.
fn check_name(experiment: &str) -> Result<()> {
    let fits = |character: char| character.is_ascii_alphanumeric() || "._-".contains(character);
    if experiment.is_empty()
        || experiment.len() > 128
        || experiment.starts_with('.')
        || !experiment.chars().all(fits)
    {
        return Err(EngineError::bad_command(format!(
            "`{experiment}` cannot be the id of an experiment: use up to 128 letters, digits, `-`, `_` and `.`, not beginning with `.`"
        )));
    }
    Ok(())
}

fn refuse_volatile(directory: &Path, allow_volatile: bool) -> Result<()> {
    let existing = machine::nearest_existing(directory);
    let is_volatile = machine::is_volatile(&existing)
        .map_err(|cause| EngineError::from_io("examine the file system of", &existing, &cause))?;
    if !is_volatile || allow_volatile {
        return Ok(());
    }
    Err(EngineError::new(
        Class::VolatileDirectory,
        format!(
            "{} is in memory: a journal there would not survive a power cut, and persistent changes could not be undone",
            directory.display()
        ),
        "set PARIBUS_STATE to a directory on a disk, or pass --allow-volatile",
    )
    .at(directory))
}
