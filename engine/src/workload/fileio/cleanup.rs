//! Cleanup: removes the files that `prepare` created, and nothing else.
//!
//! In: the job's data. Out: removes its files, its manifest, and the directories made for them when
//! then empty. Called by `run`.

use std::fs;
use std::io;
use std::path::Path;

use super::manifest::{DataManifest, file_paths};
use crate::error::{EngineError, Result};
use crate::folder::TrustedFolder;
use crate::job::Data;

/// Without a manifest nothing is ours, and nothing is removed; a device has no manifest.
pub fn cleanup(data: &Data) -> Result<()> {
    data.directory.as_deref().map_or(Ok(()), remove_made)
}

/// Removes the files and directories that the manifest of a directory names, and the manifest.
pub fn remove_made(directory: &Path) -> Result<()> {
    let Some(manifest) = DataManifest::read(directory)? else {
        eprintln!(
            "paribus-engine: {} holds no manifest: nothing to clean up",
            directory.display()
        );
        return Ok(());
    };
    TrustedFolder::open(directory)?;
    for path in file_paths(directory, manifest.files) {
        remove(&path)?;
    }
    // Removed after all other files, so that an interrupted cleanup can be repeated.
    remove(&DataManifest::path(directory))?;
    for created in &manifest.made_directories {
        // Only an empty directory can be removed; a directory with other files stays.
        if fs::remove_dir(created).is_err() {
            break;
        }
    }
    Ok(())
}

/// Removes a file, if it exists.
pub(super) fn remove(path: &Path) -> Result<()> {
    match fs::remove_file(path) {
        Err(cause) if cause.kind() != io::ErrorKind::NotFound => {
            Err(EngineError::from_io("remove", path, &cause))
        }
        _ => Ok(()),
    }
}
