//! Closing a journal: its last line, and its move to the closed journals.
//!
//! In: an owned journal. Out: its new path, without a copy. Called by `journal::restore` and
//! `journal::directory`.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use super::directory::Directory;
use super::file::Journal;
use super::line::Record;
use super::lock::try_lock;
use super::register::CLOSED;
use super::replica::{self, sync_directory, write_error};
use crate::error::{Class, EngineError, Result};

impl Directory {
    /// Writes the last line and files the journal as closed; returns its new path.
    pub fn close(&self, journal: &mut Journal) -> Result<PathBuf> {
        if let Err(error) = journal.append(Record::Closed) {
            // On a full disk, only the new path of the file marks it as closed.
            eprintln!("paribus-engine: {error}");
        }
        let target = self.file_as_closed(journal)?;
        // The lock excludes another keeper that is about to create its copy there.
        if File::open(&self.path)
            .is_ok_and(|directory| try_lock(&directory).is_ok_and(|is_locked| is_locked))
        {
            let _ = fs::remove_dir(&self.copies);
        }
        Ok(target)
    }

    pub(super) fn file_as_closed(&self, journal: &mut Journal) -> Result<PathBuf> {
        let (path, target) = (journal.path().to_path_buf(), self.closed(journal.path()));
        let moved = replica::private_directory(&self.path.join(CLOSED)).and_then(|()| {
            fs::rename(&path, &target)
                .or_else(|cause| match cause.kind() {
                    io::ErrorKind::NotFound => self.file_copy(journal, &target),
                    _ => Err(cause),
                })
                .and_then(|()| sync_directory(&target))
                .and_then(|()| sync_directory(&path))
                .map_err(|cause| write_error(&target, &cause))
        });
        moved.map_err(|error| not_closed(&path, &error))?;
        replica::remove(&self.copy_of(&path));
        self.register.remove(&self.registered(&path));
        Ok(target)
    }

    /// Files the copy, where it is left, in place of a journal that was deleted while its keeper
    /// lived.
    fn file_copy(&self, journal: &Journal, target: &Path) -> io::Result<()> {
        let copy = self.copy_of(journal.path());
        if !journal.files().any(|file| file == copy) || !copy.exists() {
            return Ok(());
        }
        let text = fs::read_to_string(&copy)?;
        replica::write_whole(target, &text).map(drop)
    }
}

fn not_closed(path: &Path, cause: &EngineError) -> EngineError {
    EngineError::new(
        Class::JournalNotClosed,
        format!(
            "all settings are restored, but the journal {} could not be filed as closed: {cause}",
            path.display()
        ),
        "remove the cause, then run `paribus undo` again",
    )
    .at(path)
}
