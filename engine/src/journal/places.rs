//! Places of journals: the directory, that of the copies, and those that the register names.
//!
//! In: a directory and the register. Out: the place where journals are left, those of other state
//! folders, and those that were deleted. Called by `journal::exclusion`, `journal::undo` and
//! `journal::closing`.

use std::path::{Path, PathBuf};

use super::directory::{COPIES, Directory};
use super::register::Entry;
use crate::error::Result;

impl Directory {
    /// The directory of a registered journal, with the copies that its keeper has made.
    pub fn of(&self, entry: &Entry) -> Directory {
        Directory::at(
            entry.directory(),
            entry.copies.clone(),
            self.register.clone(),
        )
    }

    /// The directory, or where it is gone that of the copies: an undo then needs no other.
    pub fn left(self) -> Result<Option<Directory>> {
        if self.exists()? {
            return Ok(Some(self));
        }
        let copies = Directory {
            copies: self.copies.join(COPIES),
            path: self.copies,
            ..self
        };
        Ok(copies.exists()?.then_some(copies))
    }

    /// The path under which a journal is registered.
    pub(super) fn registered(&self, journal: &Path) -> PathBuf {
        self.home.join(journal.file_name().unwrap_or_default())
    }

    /// The directories of other state folders that have registered journals.
    pub fn elsewhere(&self) -> Result<Vec<PathBuf>> {
        let mut directories: Vec<PathBuf> = self
            .entries_elsewhere()?
            .iter()
            .map(|entry| entry.directory().to_path_buf())
            .collect();
        directories.dedup();
        Ok(directories)
    }

    /// The experiments of other state folders whose owner lives.
    pub fn running_elsewhere(&self) -> Result<Vec<String>> {
        let mut entries = self.entries_elsewhere()?;
        entries.retain(|entry| self.register.is_owned(&entry.journal));
        Ok(entries
            .into_iter()
            .map(|entry| entry.announced.experiment)
            .collect())
    }

    pub fn entries_elsewhere(&self) -> Result<Vec<Entry>> {
        let mut entries = self.register.entries()?;
        entries.retain(|entry| entry.directory() != self.home);
        Ok(entries)
    }

    /// The registered journals of this directory of which nothing is left, not even a closed file.
    pub fn deleted(&self) -> Result<Vec<Entry>> {
        let mut entries = self.register.entries()?;
        entries.retain(|entry| entry.directory() == self.home && entry.is_deleted());
        Ok(entries)
    }

    /// Removes the entries that keepers left behind that were killed at their end.
    pub fn remove_over(&self) -> Result<()> {
        for entry in self.register.entries()? {
            if entry.is_over() && !self.register.is_owned(&entry.journal) {
                self.register.remove(&entry.journal);
            }
        }
        Ok(())
    }
}
