//! The register of a user's open journals: one folder of the machine, whatever the state folders
//! are.
//!
//! In: journals as keepers open and close them. Out: the open journals of every state folder. Called
//! by `journal::directory`, `journal::closing`, `journal::keeper` and `journal::undo`. It lies
//! outside of the journals and of their copies, so that it names those that were deleted.

use std::env;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{self, Path, PathBuf};

use rustix::fs::{Access, access};
use serde::{Deserialize, Serialize};

use super::lock::{DirectoryLock, try_lock};
use super::open_journal::Claims;
use super::replica;
use crate::error::{EngineError, Result};
use crate::machine;

const ROOT_REGISTER: &str = "/var/lib/paribus-register";
const SUFFIX: &str = ".json";
/// The folder of closed journals, in a directory of journals or of copies.
pub(super) const CLOSED: &str = "closed";

/// The folder of the register; `None` for a user without a home of their own.
#[derive(Debug, Clone)]
pub struct Register(Option<PathBuf>);

/// The settings that an experiment is about to use.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Announcement {
    pub experiment: String,
    pub addresses: Vec<String>,
    /// Whether it changes settings of the whole machine.
    #[serde(default)]
    pub global: bool,
}

/// An open journal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    pub announced: Announcement,
    pub journal: PathBuf,
    /// The directory of the journal's copy.
    pub copies: PathBuf,
    /// Whether its journal may lie in memory, since no setting is changed.
    pub volatile: bool,
}

impl Announcement {
    pub fn claims(&self) -> Claims<'_> {
        Claims {
            addresses: self.addresses.iter().map(String::as_str).collect(),
            everything: self.global,
        }
    }
}

impl Entry {
    /// The directory of the journal.
    pub fn directory(&self) -> &Path {
        self.journal.parent().unwrap_or(Path::new("/"))
    }

    /// Whether settings may be changed of which neither the journal nor its copy is left, not even a
    /// closed one.
    pub fn is_deleted(&self) -> bool {
        !self.volatile && !self.is_in("") && !self.is_in(CLOSED)
    }

    /// Whether no setting is changed any more, although its keeper could not say so.
    pub fn is_over(&self) -> bool {
        !self.is_in("") && !self.is_deleted()
    }

    fn is_in(&self, folder: &str) -> bool {
        let name = self.journal.file_name().unwrap_or_default();
        let mut places = [self.directory(), &self.copies].into_iter();
        places.any(|place| fs::symlink_metadata(place.join(folder).join(name)).is_ok())
    }
}

impl Register {
    pub fn of_this_user() -> Register {
        let named = |name: &str| env::var_os(name).filter(|value| !value.is_empty());
        let of_home = || {
            let data = named("XDG_DATA_HOME").map(PathBuf::from);
            let home = || named("HOME").map(|home| PathBuf::from(home).join(".local/share"));
            let folder = data.or_else(home)?.join("paribus/register");
            let is_writable = access(machine::nearest_existing(&folder), Access::WRITE_OK).is_ok();
            is_writable.then_some(folder)
        };
        let folder = named("PARIBUS_REGISTER")
            .map(PathBuf::from)
            .or_else(|| machine::is_root().then(|| PathBuf::from(ROOT_REGISTER)))
            .or_else(of_home);
        Register(folder.map(|folder| path::absolute(&folder).unwrap_or(folder)))
    }

    /// The directory of the copies of this directory's open journals.
    pub fn copies_of(&self, directory: &Path) -> Option<PathBuf> {
        let mut entries = self.entries().ok()?.into_iter();
        let entry = entries.find(|entry| entry.directory() == directory)?;
        Some(entry.copies)
    }

    /// Keeps out the keepers of all state folders; `None` where there is no register.
    pub fn lock(&self) -> Result<Option<DirectoryLock>> {
        let Some(folder) = &self.0 else {
            return Ok(None);
        };
        replica::private_directory(folder).map_err(unusable)?;
        DirectoryLock::of(folder).map(Some)
    }

    /// Registers a journal; the file is locked as long as the returned value lives.
    pub fn add(&self, entry: &Entry) -> Result<Option<File>> {
        let Some(path) = self.path_of(&entry.journal) else {
            return Ok(None);
        };
        serde_json::to_string(entry)
            .map_err(io::Error::from)
            .and_then(|text| replica::write_whole(&path, &text))
            .map(Some)
            .map_err(|cause| replica::write_error(&path, &cause))
    }

    /// Removes the entry of a closed journal.
    pub fn remove(&self, journal: &Path) {
        if let Some(path) = self.path_of(journal) {
            let _ = fs::remove_file(path);
        }
    }

    /// All entries. Returns an error where other users could have written them.
    pub fn entries(&self) -> Result<Vec<Entry>> {
        let Some(folder) = self.0.as_ref().filter(|folder| folder.exists()) else {
            return Ok(Vec::new());
        };
        replica::trusted_directory(folder).map_err(unusable)?;
        let failed = |cause| EngineError::from_io("list", folder, &cause);
        let mut entries = Vec::new();
        for file in fs::read_dir(folder).map_err(failed)? {
            let path = file.map_err(failed)?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            if name.ends_with(SUFFIX) && !name.starts_with('.') {
                // One that cannot be read says nothing about its journal, which is still there.
                let text = fs::read_to_string(&path).unwrap_or_default();
                entries.extend(serde_json::from_str::<Entry>(&text));
            }
        }
        entries.sort_by(|left, right| left.journal.cmp(&right.journal));
        Ok(entries)
    }

    /// Whether the owner of a registered journal lives.
    pub fn is_owned(&self, journal: &Path) -> bool {
        let file = self.path_of(journal).map(|path| {
            OpenOptions::new()
                .read(true)
                .custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK)
                .open(path)
        });
        matches!(file, Some(Ok(file)) if try_lock(&file).is_ok_and(|is_free| !is_free))
    }

    /// The file of a journal's entry, whether it exists or not.
    pub fn path_of(&self, journal: &Path) -> Option<PathBuf> {
        let key = crc32fast::hash(journal.as_os_str().as_bytes());
        let name = journal.file_stem()?.to_string_lossy();
        Some(self.0.as_ref()?.join(format!("{name}-{key:08x}{SUFFIX}")))
    }
}

/// The error for a register that is no private directory. Other users could hide deleted journals in
/// it, or keep experiments from running.
fn unusable(error: EngineError) -> EngineError {
    EngineError {
        message: format!("the register of open journals cannot be used: {}", error.message),
        hint: "make it a directory of yours alone (chown, chmod go-w), or name another with PARIBUS_REGISTER".into(),
        ..error
    }
}
