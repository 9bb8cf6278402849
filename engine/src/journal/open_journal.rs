//! A journal that is not closed: its content, its owner, and its adoption.
//!
//! In: the files found by `journal::directory`. Out: a `Journal` for `journal::undo`. Opening
//! follows no link and does not wait for the writer of a FIFO.

use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use super::contents::Contents;
use super::file::{self, Journal};
use super::line::{self, Reading, Record};
use super::lock::{Holder, try_lock};
use super::replica::{Replica, kind, refuse_stranger, write_error};
use crate::error::{EngineError, Result};

/// Far larger than any journal: an experiment changes some hundred settings.
const MOST_BYTES: u64 = 64 << 20;

/// The entry at the path of a journal.
#[derive(Debug)]
pub enum JournalEntry {
    File {
        file: File,
        /// Whether this process has its lock, and so nobody has written to it since it was read.
        is_locked: bool,
        reading: Reading,
    },
    Missing,
    /// The kind of an entry that is no readable file.
    Unusable(String),
}

/// A journal that is not closed.
pub struct OpenJournal {
    pub path: PathBuf,
    pub contents: Contents,
    pub ownership: Ownership,
}

/// The settings that an experiment has for itself, announced or changed.
#[derive(Debug, Default)]
pub struct Claims<'a> {
    pub addresses: Vec<&'a str>,
    /// Whether it claims the whole machine.
    pub everything: bool,
}

impl Claims<'_> {
    /// The reason why the owner of other claims cannot run at the same time; `None` when it can.
    pub fn conflict(&self, other: &Claims) -> Option<String> {
        if self.everything {
            return Some("changes settings of the whole machine".into());
        }
        if other.everything {
            return Some("this one would change settings of the whole machine".into());
        }
        let mut shared = other.addresses.iter();
        let shared = shared.find(|address| self.addresses.contains(address))?;
        Some(format!("uses {shared} too"))
    }
}

/// The owner of a journal.
pub enum Ownership {
    /// No owner; this value holds the locked files.
    Orphan(Vec<(PathBuf, File, Reading)>),
    Owned(Option<Holder>),
}

impl OpenJournal {
    pub fn experiment(&self) -> String {
        file::experiment_of(&self.path, &self.contents)
    }

    pub fn is_orphan(&self) -> bool {
        matches!(self.ownership, Ownership::Orphan(_))
    }

    /// Whether it holds changes kept on purpose, and has no owner.
    pub fn is_at_rest(&self) -> bool {
        self.is_orphan() && self.contents.is_kept()
    }

    /// The reason why its owner may not restore it: it is stopped, or it is no keeper.
    pub fn trouble(&self) -> Option<String> {
        match &self.ownership {
            Ownership::Orphan(_) => None,
            Ownership::Owned(None) => Some("a process that is not visible holds its lock".into()),
            Ownership::Owned(Some(holder)) => holder.trouble(),
        }
    }

    /// Whether its owner is restoring it, and is not in trouble.
    pub fn is_being_restored(&self) -> bool {
        matches!(&self.ownership, Ownership::Owned(Some(holder)) if holder.is_restoring)
            && self.trouble().is_none()
    }

    pub fn claims(&self) -> Claims<'_> {
        let mut claims = Claims::default();
        for line in &self.contents.lines {
            match &line.record {
                Record::Open {
                    addresses, global, ..
                } => {
                    claims
                        .addresses
                        .extend(addresses.iter().map(String::as_str));
                    claims.everything |= global;
                }
                Record::Change(change) => claims.addresses.push(&change.address),
                Record::Restored { .. } | Record::Kept | Record::Closed => {}
            }
        }
        claims
    }

    /// Takes over an orphan, and repairs each file from the other; `None` for an owned journal.
    pub fn adopt(self) -> Option<Journal> {
        let Ownership::Orphan(files) = self.ownership else {
            return None;
        };
        let mut replicas = Vec::new();
        for (path, file, reading) in files {
            let rewritten = rewrite(&path, &reading, &self.contents);
            replicas
                .push(rewritten.unwrap_or_else(|| extend(&path, file, &reading, &self.contents)));
        }
        Some(Journal::adopt(&self.path, replicas, self.contents))
    }
}

/// Recreates an incomplete file. `None` where the file is complete, cannot be recreated, or has
/// damage that a person has to examine.
fn rewrite(path: &Path, reading: &Reading, contents: &Contents) -> Option<Replica> {
    let is_whole = reading.is_whole() && reading.lines == contents.lines;
    if is_whole || !contents.damaged.is_empty() {
        return None;
    }
    let text: serde_json::Result<String> = contents.lines.iter().map(line::encode).collect();
    text.map_err(io::Error::from)
        .and_then(|text| Replica::create(path, contents.next_line() - 1, &text))
        .inspect_err(|cause| eprintln!("paribus-engine: {}", write_error(path, cause)))
        .ok()
}

/// Continues the present file, and appends its missing lines.
fn extend(path: &Path, file: File, reading: &Reading, contents: &Contents) -> Replica {
    let mut replica = Replica::adopt(path, file, reading, !contents.damaged.is_empty());
    let missing = contents.lines.iter();
    for line in missing.filter(|line| !reading.lines.contains(line)) {
        let appended = line::encode(line)
            .map_err(io::Error::from)
            .and_then(|text| replica.append(line.line, &text));
        if let Err(cause) = appended {
            eprintln!("paribus-engine: {}", write_error(path, &cause));
            break;
        }
    }
    replica
}

/// Opens a file of a journal, and locks it where it has no owner. Returns an error where it cannot
/// be opened, or belongs to another user. The lock comes before the reading: the last line of an
/// owner that ended in between is not missed.
pub fn find(path: &Path) -> Result<JournalEntry> {
    let open = |write: bool| {
        OpenOptions::new()
            .read(true)
            .write(write)
            .custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK)
            .open(path)
    };
    let opened = open(true).or_else(|cause| match cause.raw_os_error() {
        Some(libc::EROFS) => open(false),
        _ => Err(cause),
    });
    let mut file = match opened {
        Ok(file) => file,
        Err(cause) => {
            return match cause.raw_os_error() {
                Some(libc::ENOENT) => Ok(JournalEntry::Missing),
                Some(libc::ELOOP | libc::EISDIR | libc::ENXIO) => {
                    Ok(JournalEntry::Unusable(kind(path)))
                }
                _ => Err(EngineError::from_io("open the journal", path, &cause)),
            };
        }
    };
    let metadata = file
        .metadata()
        .map_err(|cause| EngineError::from_io("examine", path, &cause))?;
    if !metadata.is_file() {
        return Ok(JournalEntry::Unusable(kind(path)));
    }
    if metadata.len() > MOST_BYTES {
        return Ok(JournalEntry::Unusable(format!(
            "a file of {} MiB",
            metadata.len() >> 20
        )));
    }
    refuse_stranger(&metadata, path)?;
    let is_locked = try_lock(&file).map_err(|cause| EngineError::from_io("lock", path, &cause))?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)
        .map_err(|cause| EngineError::from_io("read", path, &cause))?;
    Ok(JournalEntry::File {
        file,
        is_locked,
        reading: line::decode(&bytes),
    })
}
