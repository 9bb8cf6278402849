//! A database file of SQLite and its directory: created, synced, removed.
//!
//! In: a job's database. Out: removes only the files and directories that it created. Called by
//! `prepare`, `shared`.

use std::fs::{self, File};
use std::io;
use std::path::Path;

use rustix::fs::Advice;

use crate::db::database::SqliteFile;
use crate::db::sqlite::files;
use crate::error::{Class, EngineError, Result};
use crate::folder::TrustedFolder;
use crate::workload::fileio::cleanup::remove_made;
use crate::workload::fileio::directory::make_directory;
use crate::workload::fileio::manifest::DataManifest;

fn directory(file: &SqliteFile) -> &Path {
    // The job has checked that the path is absolute.
    file.path.parent().unwrap_or(Path::new("/"))
}

/// Creates the directory where it does not exist, and records that it did so.
pub fn make(file: &SqliteFile) -> Result<()> {
    let directory = directory(file);
    if directory.is_dir() {
        return refuse_stranger(file);
    }
    let created = make_directory(directory)?;
    DataManifest::of_directory(created).write(directory)
}

/// SQLite opens its files by name, so nobody else may be able to replace one of them.
pub fn refuse_stranger(file: &SqliteFile) -> Result<()> {
    match TrustedFolder::open(directory(file)) {
        Err(error) if error.class != Class::FileVanished => return Err(error),
        _ => {} // that it is not there, others say better
    }
    each(file, "open", |path| {
        if path.symlink_metadata()?.is_symlink() {
            return Err(io::Error::other(
                "it is a symbolic link, which is not followed here",
            ));
        }
        Ok(())
    })
}

/// Syncs all files to the disk.
pub fn sync(file: &SqliteFile) -> Result<()> {
    each(file, "sync", |path| File::open(path)?.sync_all())
}

/// Drops the files from the page cache.
pub fn drop_cache(file: &SqliteFile) -> Result<()> {
    each(file, "drop from the page cache", |path| {
        let file = File::open(path)?;
        file.sync_all()?;
        Ok(rustix::fs::fadvise(&file, 0, None, Advice::DontNeed)?)
    })
}

/// Removes the file, SQLite's additional files, and the directory if it was created for them.
pub fn remove(file: &SqliteFile) -> Result<()> {
    each(file, "remove", |path| fs::remove_file(path))?;
    match DataManifest::read(directory(file))? {
        Some(_) => remove_made(directory(file)),
        None => Ok(()),
    }
}

/// Calls a function for each existing file.
fn each(file: &SqliteFile, action: &str, work: impl Fn(&Path) -> io::Result<()>) -> Result<()> {
    for path in files(&file.path) {
        match work(&path) {
            Err(cause) if cause.kind() != io::ErrorKind::NotFound => {
                return Err(EngineError::from_io(action, &path, &cause));
            }
            _ => {}
        }
    }
    Ok(())
}
