//! The directory of a file set, with its missing parents.
//!
//! In: a path. Out: the created directories, which the manifest lists so that `cleanup` removes
//! them. Called by `prepare` and `workload::sql`.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::manifest::DataManifest;
use crate::error::{EngineError, Result};
use crate::folder::TrustedFolder;
use crate::machine;

/// Creates the directory and its missing parents; returns the created ones, the innermost first.
///
/// Includes parents that were created for other data next to it: the cleanup that comes last
/// removes them.
pub fn make_directory(directory: &Path) -> Result<Vec<PathBuf>> {
    let mut created: Vec<PathBuf> = directory
        .ancestors()
        .take_while(|path| !path.exists())
        .map(Path::to_path_buf)
        .collect();
    if let Some(parent) = created.last().and_then(|outermost| outermost.parent()) {
        created.extend(made_for_others(parent));
    }
    // Only where nobody else can change the path, so that parents stay the same while directories
    // are created.
    let nearest = machine::nearest_existing(directory);
    if nearest.is_dir() {
        TrustedFolder::open(&nearest)?;
    }
    match fs::create_dir_all(directory) {
        Ok(()) => Ok(created),
        Err(cause)
            if matches!(
                cause.kind(),
                io::ErrorKind::AlreadyExists | io::ErrorKind::NotADirectory
            ) =>
        {
            Err(EngineError::bad_job(format!(
                "workload.directory {} is not a directory: {cause}",
                directory.display()
            ))
            .at(directory))
        }
        Err(cause) => Err(EngineError::from_io(
            "create the directory",
            directory,
            &cause,
        )),
    }
}

/// The directory and its parents, as far as they were created for data that lies directly in it.
fn made_for_others(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries
        .filter_map(|entry| DataManifest::read(&entry.path()).ok().flatten())
        .filter_map(|other| {
            let index = other
                .made_directories
                .iter()
                .position(|created| created == directory)?;
            Some(other.made_directories[index..].to_vec())
        })
        .next()
        .unwrap_or_default()
}
