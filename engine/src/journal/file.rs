//! One journal owned by this process: durable appends, and the open changes.
//!
//! In: records. Out: lines on the disk and in the copy, or an error and files as before. Called by
//! `journal::keeper`, `journal::undo` and `journal::restore`.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use super::contents::Contents;
use super::line::{self, Change, Line, LineDamage, Record, VERSION};
use super::replica::{Replica, write_error};
use crate::clock;
use crate::error::Result;
use crate::machine;

/// A change that is not undone yet.
#[derive(Debug, Clone, PartialEq)]
pub struct OpenChange {
    pub line: u64,
    pub boot_id: String,
    pub change: Change,
}

/// Holds the locks of its files as long as it lives.
#[derive(Debug)]
pub struct Journal {
    /// The journal first, where it is usable; its copy after it.
    replicas: Vec<Replica>,
    path: PathBuf,
    experiment: String,
    next_line: u64,
    pub changes: Vec<OpenChange>,
    pub damaged: Vec<LineDamage>,
    /// Its entry in the register, locked.
    #[allow(dead_code)]
    registration: Option<File>,
    /// The reason why it was created without a copy.
    pub without_copy: Option<String>,
}

impl Journal {
    /// Creates an owned journal with its header on the disk, and its copy.
    pub fn create(
        path: &Path,
        copy: Result<PathBuf>,
        experiment: &str,
        header: Record,
    ) -> Result<Journal> {
        let text = encoded(experiment, 1, header).map_err(|cause| write_error(path, &cause))?;
        let journal = Replica::create(path, 1, &text).map_err(|cause| write_error(path, &cause))?;
        let mut replicas = vec![journal];
        let copy = copy.and_then(|copy| {
            Replica::create(&copy, 1, &text).map_err(|cause| write_error(&copy, &cause))
        });
        let without_copy = match copy {
            Ok(copy) => {
                replicas.push(copy);
                None
            }
            Err(error) => Some(error.message),
        };
        Ok(Journal {
            replicas,
            path: path.to_path_buf(),
            experiment: experiment.to_string(),
            next_line: 2,
            changes: Vec::new(),
            damaged: Vec::new(),
            registration: None,
            without_copy,
        })
    }

    /// The journal with its locked entry in the register.
    pub fn registered(self, registration: Option<File>) -> Journal {
        Journal {
            registration,
            ..self
        }
    }

    /// Takes over a journal without an owner, given its locked files.
    pub fn adopt(path: &Path, replicas: Vec<Replica>, contents: Contents) -> Journal {
        Journal {
            replicas,
            experiment: experiment_of(path, &contents),
            path: path.to_path_buf(),
            next_line: contents.next_line(),
            changes: open_changes(&contents),
            damaged: contents.damaged,
            registration: None,
            without_copy: None,
        }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The paths of the files.
    pub fn files(&self) -> impl Iterator<Item = &Path> {
        self.replicas.iter().map(|replica| replica.path.as_path())
    }

    pub fn experiment(&self) -> &str {
        &self.experiment
    }

    /// Appends a record and returns the line's number; the line then survives a power cut.
    pub fn append(&mut self, record: Record) -> Result<u64> {
        let number = self.next_line;
        let failed = |cause: &io::Error| write_error(&self.path, cause);
        let text = encoded(&self.experiment, number, record.clone()).map_err(|c| failed(&c))?;
        let Some((first, copies)) = self.replicas.split_first_mut() else {
            return Err(failed(&io::Error::other("none of its files is left")));
        };
        first
            .append(number, &text)
            .map_err(|cause| failed(&cause))?;
        for copy in copies {
            if let Err(cause) = copy.append(number, &text) {
                copy.remove_count();
                no_copy(&copy.path, &cause);
            }
        }
        self.next_line += 1;
        if let Record::Change(change) = record {
            self.changes.push(OpenChange {
                line: number,
                boot_id: machine::boot_id(),
                change,
            });
        }
        Ok(number)
    }

    /// Removes a restored change from the list, and records it for a restore after a crash.
    pub fn mark_restored(&mut self, of: u64) {
        self.changes.retain(|change| change.line != of);
        if let Err(error) = self.append(Record::Restored { of }) {
            // A second restore does no harm, so the restore continues.
            eprintln!("paribus-engine: {error}");
        }
    }
}

fn encoded(experiment: &str, number: u64, record: Record) -> io::Result<String> {
    let line = Line {
        version: VERSION,
        experiment: experiment.to_string(),
        line: number,
        time: clock::utc_text(),
        boot_id: machine::boot_id(),
        record,
    };
    line::encode(&line).map_err(io::Error::from)
}

/// The copy is optional: an experiment only needs its journal.
fn no_copy(path: &Path, cause: &io::Error) {
    eprintln!(
        "paribus-engine: the journal has no complete copy in {}: {cause}",
        path.display()
    );
}

/// The experiment that a journal names, or the name of its file when it names none.
pub fn experiment_of(path: &Path, contents: &Contents) -> String {
    match contents.lines.first() {
        Some(line) => line.experiment.clone(),
        None => path
            .file_stem()
            .map(|stem| stem.to_string_lossy().into_owned())
            .unwrap_or_default(),
    }
}

pub fn open_changes(contents: &Contents) -> Vec<OpenChange> {
    let mut changes: Vec<OpenChange> = Vec::new();
    for line in &contents.lines {
        match &line.record {
            Record::Change(change) => changes.push(OpenChange {
                line: line.line,
                boot_id: line.boot_id.clone(),
                change: change.clone(),
            }),
            Record::Restored { of } => changes.retain(|change| change.line != *of),
            Record::Open { .. } | Record::Kept | Record::Closed => {}
        }
    }
    changes
}
