//! The directory of journals: finding the open ones, opening a new one, putting away closed ones.
//!
//! In: a directory. Out: journals with or without a living owner. Called by `journal::keeper` and
//! `journal::undo`. Whoever looks at locks or makes a file holds the directory's own lock, so that
//! two keepers that start together see each other.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::file::{self, Journal, sync_directory, try_lock, write_error};
use super::line::{Contents, Record};
use crate::error::{Class, EngineError, Result};

const CLOSED: &str = "closed";
const SUFFIX: &str = ".jsonl";

/// Held while this lives; the file is there only to keep it.
pub struct DirectoryLock(#[allow(dead_code)] File);

pub fn lock(directory: &Path) -> Result<DirectoryLock> {
    let path = directory.join(".lock");
    let file = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(false)
        .open(&path)
        .map_err(|cause| write_error(&path, &cause))?;
    loop {
        // SAFETY: a plain system call on a descriptor that `file` keeps open.
        if unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_EX) } == 0 {
            return Ok(DirectoryLock(file));
        }
        let cause = io::Error::last_os_error();
        if cause.raw_os_error() != Some(libc::EINTR) {
            return Err(write_error(&path, &cause));
        }
    }
}

/// A journal that is not closed, as found.
pub struct Found {
    pub path: PathBuf,
    pub contents: Contents,
    /// The locked file when nobody owned the journal; it is ours as long as this lives.
    pub orphan: Option<File>,
}

impl Found {
    pub fn experiment(&self) -> String {
        file::experiment_of(&self.path, &self.contents)
    }

    /// Whether it holds changes that are meant to stay, and nobody works on it.
    pub fn is_at_rest(&self) -> bool {
        self.orphan.is_some() && self.contents.is_kept()
    }

    /// What the journal's owner claims: the addresses it has announced and those it has changed,
    /// and whether it claims the whole machine.
    pub fn claims(&self) -> (Vec<&str>, bool) {
        let mut all = Vec::new();
        let mut everything = false;
        for line in &self.contents.lines {
            match &line.record {
                Record::Open { addresses, global } => {
                    all.extend(addresses.iter().map(String::as_str));
                    everything |= global;
                }
                Record::Change(change) => all.push(&change.address),
                Record::Restored { .. } | Record::Kept | Record::Closed => {}
            }
        }
        (all, everything)
    }
}

/// All journals in the directory that are not closed, by name. The caller holds the lock.
pub fn open_journals(directory: &Path, _lock: &DirectoryLock) -> Result<Vec<Found>> {
    let mut found = Vec::new();
    for path in journal_paths(directory)? {
        if let Some(journal) = look(&path)? {
            found.push(journal);
        }
    }
    Ok(found)
}

/// The paths of all journals that have not been put away, by name.
pub fn journal_paths(directory: &Path) -> Result<Vec<PathBuf>> {
    let entries = match fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(cause) => return Err(EngineError::from_io("list", directory, &cause)),
    };
    let mut paths: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.to_string_lossy().ends_with(SUFFIX) && path.is_file())
        .collect();
    paths.sort();
    Ok(paths)
}

/// Looks at one journal; `None` when it is closed or gone. The caller holds the directory's lock.
pub fn look(path: &Path) -> Result<Option<Found>> {
    let opened = OpenOptions::new().read(true).append(true).open(path);
    let mut file = match opened {
        Ok(file) => file,
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(cause) => return Err(EngineError::from_io("open the journal", path, &cause)),
    };
    refuse_stranger(&file, path)?;
    let is_orphan = try_lock(&file).map_err(|cause| EngineError::from_io("lock", path, &cause))?;
    let contents = file::read(&mut file, path)?;
    let is_closed = contents
        .lines
        .iter()
        .any(|line| line.record == Record::Closed);
    // Without any line nothing was ever promised: its maker died while making it.
    let is_unborn = contents.lines.is_empty() && contents.damaged.is_empty();
    if is_orphan && (is_closed || is_unborn) {
        // Its owner died just before this step.
        put_away(path)?;
        return Ok(None);
    }
    if is_closed {
        return Ok(None);
    }
    Ok(Some(Found {
        path: path.to_path_buf(),
        contents,
        orphan: is_orphan.then_some(file),
    }))
}

/// Undoing does what a journal says, so nobody else may have written it.
fn refuse_stranger(file: &File, path: &Path) -> Result<()> {
    let metadata = file
        .metadata()
        .map_err(|cause| EngineError::from_io("look at", path, &cause))?;
    // SAFETY: takes nothing and cannot fail.
    let user = unsafe { libc::geteuid() };
    let others_may_write = metadata.mode() & 0o022 != 0;
    if metadata.uid() == user && !others_may_write {
        return Ok(());
    }
    let why = if others_may_write {
        "others than its owner may write to it".to_string()
    } else {
        format!("it belongs to user {}, not to user {user}", metadata.uid())
    };
    Err(EngineError::new(
        Class::JournalStranger,
        format!("the journal {} is not trusted: {why}", path.display()),
        "undo it as the user whose it is, or, where you know what it says, give it to this user (chown, chmod 600)",
    )
    .at(path))
}

/// Writes the last line and moves the file to the closed ones; returns where it is then.
pub fn close(journal: &mut Journal) -> Result<PathBuf> {
    if let Err(error) = journal.append(Record::Closed) {
        // On a full disk the place of the file has to say that it is closed.
        eprintln!("ceteris-engine: {error}");
    }
    put_away(journal.path())
}

fn put_away(path: &Path) -> Result<PathBuf> {
    let (Some(directory), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(write_error(path, &io::Error::other("it has no directory")));
    };
    let closed = directory.join(CLOSED);
    let target = closed.join(name);
    fs::create_dir_all(&closed)
        .and_then(|()| fs::rename(path, &target))
        .map_err(|cause| write_error(&target, &cause))?;
    sync_directory(&target)?;
    sync_directory(path)?;
    Ok(target)
}

/// The path of the next journal of an experiment: a paused experiment that goes on has several.
pub fn next_path(directory: &Path, experiment: &str) -> PathBuf {
    let mut generation = 1u64;
    loop {
        let name = match generation {
            1 => format!("{experiment}{SUFFIX}"),
            _ => format!("{experiment}.{generation}{SUFFIX}"),
        };
        let path = directory.join(&name);
        if !path.exists() && !directory.join(CLOSED).join(&name).exists() {
            return path;
        }
        generation += 1;
    }
}
