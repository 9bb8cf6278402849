//! The directory of journals and of their copies: lists open journals, creates new ones, files
//! closed ones.
//!
//! In: a directory. Out: journals with or without a living owner. Called by `journal::keeper` and
//! `journal::undo`. Every check of locks and every new file needs the directory's own lock, so that
//! two concurrent keepers see each other.
//!
//! A journal has a copy. Where the journal was truncated, emptied, deleted or replaced, the copy
//! holds the missing lines. A copy in memory is lost at a reboot, as most changes are.

use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use super::contents::Contents;
use super::file::Journal;
use super::line::Record;
use super::lock::{self, DirectoryLock};
use super::open_journal::{self, JournalEntry, OpenJournal, Ownership};
use super::register::{Announcement, CLOSED, Entry, Register};
use super::replica;
use crate::error::{Class, EngineError, Result};
use crate::machine;

pub(super) const COPIES: &str = "copies";
const SUFFIX: &str = ".jsonl";
const RETRY: Duration = Duration::from_millis(50);
/// The most readings of a journal until its owner is found.
const READINGS: usize = 5;

/// The journals of one directory.
#[derive(Debug, Clone)]
pub struct Directory {
    pub path: PathBuf,
    pub(super) copies: PathBuf,
    /// The directory under whose name the journals are registered.
    pub(super) home: PathBuf,
    pub(super) register: Register,
}

impl Directory {
    /// Places the copies beside those of open journals, or else on another file system, where this
    /// user has one that others cannot write to.
    pub fn new(path: &Path) -> Directory {
        let register = Register::of_this_user();
        let named = env::var_os("PARIBUS_STATE_COPY").filter(|value| !value.is_empty());
        let base = named.map(PathBuf::from).or_else(|| other_file_system(path));
        let key = crc32fast::hash(path.as_os_str().as_bytes());
        let copies = register.copies_of(path).unwrap_or_else(|| {
            base.map_or_else(
                || path.join(COPIES),
                |base| base.join(format!("journal-{key:08x}")),
            )
        });
        Directory::at(path, copies, register)
    }

    pub(super) fn at(path: &Path, copies: PathBuf, register: Register) -> Directory {
        Directory {
            path: path.to_path_buf(),
            copies,
            home: path.to_path_buf(),
            register,
        }
    }

    /// Creates both folders, private to this user; returns the result for that of the copies.
    pub fn make(&self) -> Result<Result<()>> {
        replica::private_directory(&self.path)?;
        Ok(replica::private_directory(&self.copies))
    }

    /// Whether the directory exists; returns an error where it belongs to another user.
    pub fn exists(&self) -> Result<bool> {
        match fs::symlink_metadata(&self.path) {
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(cause) => Err(EngineError::from_io("examine", &self.path, &cause)),
            Ok(_) => replica::trusted_directory(&self.path).map(|_| true),
        }
    }

    pub fn lock(&self) -> Result<DirectoryLock> {
        DirectoryLock::of(&self.path)
    }

    /// The paths of all journals not filed as closed, by name; includes journals of which only the
    /// copy is left.
    pub fn journal_paths(&self) -> Result<Vec<PathBuf>> {
        let mut names = BTreeSet::new();
        for directory in [&self.path, &self.copies] {
            let list = |cause| EngineError::from_io("list", directory, &cause);
            let entries = match fs::read_dir(directory) {
                Ok(entries) => entries,
                Err(cause) if cause.kind() == io::ErrorKind::NotFound => continue,
                Err(cause) => return Err(list(cause)),
            };
            for entry in entries {
                let name = entry.map_err(list)?.file_name();
                let text = name.to_string_lossy();
                if text.ends_with(SUFFIX) && !text.starts_with('.') {
                    names.insert(name);
                }
            }
        }
        Ok(names.iter().map(|name| self.path.join(name)).collect())
    }

    /// Removes files that were cut off while they were created. Nothing was changed yet under such a
    /// journal, and a copy is created again. The caller holds the lock, as every creator does.
    pub fn remove_unfinished(&self, _lock: &DirectoryLock) {
        for directory in [&self.path, &self.copies] {
            for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
                let name = entry.file_name();
                let text = name.to_string_lossy();
                if text.starts_with('.') && text.ends_with(SUFFIX) {
                    let _ = fs::remove_file(entry.path());
                }
            }
        }
    }

    /// All open journals, by name. The caller holds the lock.
    pub fn open_journals(&self, lock: &DirectoryLock) -> Result<Vec<OpenJournal>> {
        let mut journals = Vec::new();
        for path in self.journal_paths()? {
            if let Some(journal) = self.read(&path, lock)? {
                journals.push(journal);
            }
        }
        Ok(journals)
    }

    /// Reads one journal; `None` when it is closed or gone. The caller holds the lock. A journal
    /// whose owner is not found is read again: its owner has just ended, or the kernel's list of
    /// locks changed while it was read.
    pub fn read(&self, path: &Path, lock: &DirectoryLock) -> Result<Option<OpenJournal>> {
        for _ in 1..READINGS {
            let journal = self.read_once(path, lock)?;
            let is_owner_unknown = journal
                .as_ref()
                .is_some_and(|journal| matches!(journal.ownership, Ownership::Owned(None)));
            if !is_owner_unknown {
                return Ok(journal);
            }
            thread::sleep(RETRY);
        }
        self.read_once(path, lock)
    }

    fn read_once(&self, path: &Path, _lock: &DirectoryLock) -> Result<Option<OpenJournal>> {
        let copy_path = self.copy_of(path);
        let journal = open_journal::find(path)?;
        let copy = open_journal::find(&copy_path).unwrap_or_else(|error| {
            eprintln!("paribus-engine: {error}");
            JournalEntry::Missing
        });
        if matches!(journal, JournalEntry::Missing) && exists(&self.closed(path)) {
            // Its owner died just before it removed the copy.
            replica::remove(&copy_path);
            return Ok(None);
        }
        if let JournalEntry::Unusable(kind) = &journal
            && !matches!(&copy, JournalEntry::File { reading, .. } if reading.has_header())
        {
            return Err(unusable(path, kind));
        }
        let copied = match &copy {
            JournalEntry::File { reading, .. } => Some(reading.clone()),
            _ => None,
        };
        let mut files = Vec::new();
        let mut owned = None;
        for (path, entry) in [(path, journal), (&copy_path, copy)] {
            if let JournalEntry::File {
                file,
                is_locked,
                reading,
            } = entry
            {
                if !is_locked && owned.is_none() {
                    owned = Some(Ownership::Owned(lock::holder(&file)));
                }
                files.push((path.to_path_buf(), file, reading));
            }
        }
        let Some((first_path, _, first)) = files.first() else {
            return Ok(None);
        };
        let copied = copied.filter(|_| first_path != &copy_path);
        let contents = Contents::of(first.clone(), copied);
        let open = OpenJournal {
            path: path.to_path_buf(),
            contents,
            ownership: owned.unwrap_or(Ownership::Orphan(files)),
        };
        if !open.contents.is_closed() {
            return Ok(Some(open));
        }
        if let Some(mut journal) = open.adopt() {
            // Its owner died just before this step.
            self.file_as_closed(&mut journal)?;
        }
        Ok(None)
    }

    /// Creates a journal of an experiment, ordered after the open ones. The caller holds the lock.
    /// A `volatile` one changes no setting.
    pub fn create(
        &self,
        announced: &Announcement,
        volatile: bool,
        others: &[OpenJournal],
        copies: Result<()>,
    ) -> Result<Journal> {
        let path = self.next_path(&announced.experiment);
        let latest = others.iter().map(|other| other.contents.sequence()).max();
        let entry = Entry {
            announced: announced.clone(),
            journal: self.registered(&path),
            copies: self.copies.clone(),
            volatile,
        };
        let header = Record::Open {
            addresses: announced.addresses.clone(),
            global: announced.global,
            sequence: latest.unwrap_or(0) + 1,
        };
        let copy = copies.map(|()| self.copy_of(&path));
        let journal = Journal::create(&path, copy, &announced.experiment, header)?;
        Ok(journal.registered(self.register.add(&entry)?))
    }

    /// The path of the next journal of an experiment: a paused experiment that continues has
    /// several.
    fn next_path(&self, experiment: &str) -> PathBuf {
        let mut generation = 1u64;
        loop {
            let name = match generation {
                1 => format!("{experiment}{SUFFIX}"),
                _ => format!("{experiment}.{generation}{SUFFIX}"),
            };
            let path = self.path.join(&name);
            let candidates = [&path, &self.closed(&path), &self.copy_of(&path)];
            if !candidates.into_iter().any(|path| exists(path)) {
                return path;
            }
            generation += 1;
        }
    }

    pub(super) fn closed(&self, path: &Path) -> PathBuf {
        self.path
            .join(CLOSED)
            .join(path.file_name().unwrap_or_default())
    }

    pub(super) fn copy_of(&self, path: &Path) -> PathBuf {
        self.copies.join(path.file_name().unwrap_or_default())
    }
}

/// A directory of this user on another file system than the journals.
fn other_file_system(journals: &Path) -> Option<PathBuf> {
    let base = if machine::is_root() {
        PathBuf::from("/run")
    } else {
        PathBuf::from(env::var_os("XDG_RUNTIME_DIR").filter(|value| !value.is_empty())?)
    };
    let device = |path: &Path| fs::metadata(path).map(|metadata| metadata.dev()).ok();
    let journals_device = device(&machine::nearest_existing(journals))?;
    (device(&base)? != journals_device).then(|| base.join("paribus"))
}

/// Whether an entry of this name exists, including a dangling link.
fn exists(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok()
}

fn unusable(path: &Path, kind: &str) -> EngineError {
    EngineError::new(
        Class::JournalLine,
        format!(
            "the journal {} is {kind}, not a journal, and it has no copy: what the experiment changed is unknown",
            path.display()
        ),
        "check the settings that this experiment tested (paribus report lists them), then move it to closed/ next to it",
    )
    .at(path)
}
