//! A journal that is not closed: what it says, who works on it, and taking it over.
//!
//! In: the files that `journal::directory` found. Out: a `Journal` for `journal::undo`.

use std::fs::File;
use std::io;
use std::path::PathBuf;

use super::contents::Contents;
use super::file::{self, Journal};
use super::line::{self, Reading, Record};
use super::lock::Holder;
use super::replica::{Replica, write_error};

/// A journal that is not closed.
pub struct OpenJournal {
    pub path: PathBuf,
    pub contents: Contents,
    pub ownership: Ownership,
}

/// Who works on a journal.
pub enum Ownership {
    /// Nobody did; its locked files are ours as long as this lives.
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

    /// Whether it holds changes that are meant to stay, and nobody works on it.
    pub fn is_at_rest(&self) -> bool {
        self.is_orphan() && self.contents.is_kept()
    }

    /// Why its owner may not restore it: it is stopped, or no keeper at all.
    pub fn trouble(&self) -> Option<String> {
        match &self.ownership {
            Ownership::Orphan(_) => None,
            Ownership::Owned(None) => Some("a process that cannot be seen holds its lock".into()),
            Ownership::Owned(Some(holder)) => holder.trouble(),
        }
    }

    /// What the journal's owner claims: the addresses it has announced and those it has changed,
    /// and whether it claims the whole machine.
    pub fn claims(&self) -> (Vec<&str>, bool) {
        let mut all = Vec::new();
        let mut everything = false;
        for line in &self.contents.lines {
            match &line.record {
                Record::Open {
                    addresses, global, ..
                } => {
                    all.extend(addresses.iter().map(String::as_str));
                    everything |= global;
                }
                Record::Change(change) => all.push(&change.address),
                Record::Restored { .. } | Record::Kept | Record::Closed => {}
            }
        }
        (all, everything)
    }

    /// Takes it over, and repairs it from its copy; an owned one stays its owner's.
    pub fn adopt(self) -> Option<Journal> {
        let Ownership::Orphan(files) = self.ownership else {
            return None;
        };
        let is_damaged = !self.contents.damaged.is_empty();
        let mut replicas = Vec::new();
        for (path, file, reading) in files {
            let mut replica = Replica::adopt(&path, file, &reading, is_damaged);
            let missing = self.contents.lines.iter();
            for line in missing.filter(|line| !reading.lines.contains(line)) {
                let appended = line::encode(line)
                    .map_err(io::Error::from)
                    .and_then(|text| replica.append(&text));
                if let Err(cause) = appended {
                    eprintln!("paribus-engine: {}", write_error(&path, &cause));
                    break;
                }
            }
            replicas.push(replica);
        }
        Some(Journal::adopt(&self.path, replicas, self.contents))
    }
}
