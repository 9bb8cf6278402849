//! One journal that this process owns: appending with certainty, and what is still to be undone.
//!
//! In: records. Out: lines on the disk, or an error and a file as if nothing had been tried. Called
//! by `journal::keeper`, `journal::undo` and `journal::restore`.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use super::line::{self, Change, Contents, Line, Record, VERSION};
use crate::clock;
use crate::error::{Class, EngineError, Result};
use crate::machine;

/// A change that has not been taken back.
#[derive(Debug, Clone, PartialEq)]
pub struct OpenChange {
    pub line: u64,
    pub boot_id: String,
    pub change: Change,
}

/// Holds the lock of the file as long as it lives.
#[derive(Debug)]
pub struct Journal {
    file: File,
    path: PathBuf,
    experiment: String,
    next_line: u64,
    length: u64,
    /// Set when a failed append could not be taken back: then nothing can be appended any more.
    broken: bool,
    pub changes: Vec<OpenChange>,
    pub damaged: Vec<(usize, String)>,
}

impl Journal {
    /// A new journal, owned, on the disk with its first line.
    pub fn create(
        path: &Path,
        experiment: &str,
        addresses: Vec<String>,
        global: bool,
    ) -> Result<Journal> {
        let file = OpenOptions::new()
            .append(true)
            .create_new(true)
            .mode(0o644) // for people to read; whoever could write to it would decide what undoing does
            .open(path)
            .map_err(|cause| write_error(path, &cause))?;
        let owned = try_lock(&file).map_err(|cause| write_error(path, &cause))?;
        if !owned {
            return Err(EngineError::new(
                Class::AddressBusy,
                format!("{} is locked by another process", path.display()),
                "try again in a moment",
            )
            .at(path));
        }
        let mut journal = Journal {
            file,
            path: path.to_path_buf(),
            experiment: experiment.to_string(),
            next_line: 1,
            length: 0,
            broken: false,
            changes: Vec::new(),
            damaged: Vec::new(),
        };
        let opened = journal
            .append(Record::Open { addresses, global })
            .and_then(|_| sync_directory(path));
        if let Err(error) = opened {
            // Nothing was changed under it, so it may go.
            let _ = fs::remove_file(path);
            return Err(error);
        }
        Ok(journal)
    }

    /// Takes over a journal whose owner is gone, given its locked file.
    pub fn adopt(path: &Path, file: File, contents: Contents) -> Result<Journal> {
        let length = contents.whole_bytes;
        // What comes after was never finished; a new line must not be glued to it.
        file.set_len(length)
            .map_err(|cause| write_error(path, &cause))?;
        Ok(Journal {
            file,
            experiment: experiment_of(path, &contents),
            path: path.to_path_buf(),
            next_line: contents.lines.last().map_or(0, |line| line.line) + 1,
            length,
            broken: false,
            changes: open_changes(&contents),
            damaged: contents.damaged,
        })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn experiment(&self) -> &str {
        &self.experiment
    }

    /// Once this returns the line's number, the line survives a power cut.
    pub fn append(&mut self, record: Record) -> Result<u64> {
        let number = self.next_line;
        let line = Line {
            version: VERSION,
            experiment: self.experiment.clone(),
            line: number,
            time: clock::utc_text(),
            boot_id: machine::boot_id(),
            record,
        };
        let text = line::encode(&line).map_err(|cause| write_error(&self.path, &cause.into()))?;
        if self.broken {
            let cause = io::Error::other("an earlier line could not be finished");
            return Err(write_error(&self.path, &cause));
        }
        let written = self
            .file
            .write_all(text.as_bytes())
            .and_then(|()| self.file.sync_data());
        if let Err(cause) = written {
            self.broken = self.file.set_len(self.length).is_err();
            return Err(write_error(&self.path, &cause));
        }
        self.length += text.len() as u64;
        self.next_line += 1;
        if let Record::Change(change) = line.record {
            self.changes.push(OpenChange {
                line: number,
                boot_id: line.boot_id,
                change,
            });
        }
        Ok(number)
    }

    /// Takes a restored change off the list, and notes it for whoever goes on after a crash.
    pub fn mark_restored(&mut self, of: u64) {
        self.changes.retain(|change| change.line != of);
        if let Err(error) = self.append(Record::Restored { of }) {
            // Restoring once more does no harm, so the restoring goes on.
            eprintln!("ceteris-engine: {error}");
        }
    }
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

pub fn read(file: &mut File, path: &Path) -> Result<Contents> {
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)
        .map_err(|cause| EngineError::from_io("read", path, &cause))?;
    Ok(line::decode(&bytes))
}

/// Takes the exclusive lock of a file; false when somebody else has it. The kernel gives it back
/// when its owner dies, however it dies.
pub fn try_lock(file: &File) -> io::Result<bool> {
    // SAFETY: a plain system call on a descriptor that `file` keeps open.
    if unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_EX | libc::LOCK_NB) } == 0 {
        return Ok(true);
    }
    let cause = io::Error::last_os_error();
    match cause.raw_os_error() {
        Some(libc::EWOULDBLOCK | libc::EINTR) => Ok(false),
        _ => Err(cause),
    }
}

/// Makes creating, renaming or removing `path` survive a power cut.
pub fn sync_directory(path: &Path) -> Result<()> {
    let directory = path.parent().unwrap_or(Path::new("/"));
    File::open(directory)
        .and_then(|directory| directory.sync_all())
        .map_err(|cause| write_error(directory, &cause))
}

pub fn write_error(path: &Path, cause: &io::Error) -> EngineError {
    EngineError::new(
        Class::JournalWrite,
        format!("cannot write the journal {}: {cause}", path.display()),
        "nothing was changed; make room or give access there, or set CETERIS_STATE to another directory",
    )
    .at(path)
}
