//! The manifest: the files and directories that the engine created in a directory.
//!
//! In and out: a small JSON file next to the files. Called by `prepare`, `cleanup` and the start of
//! a run. `prepare` writes it before the first file, marked as not complete, so that an interrupted
//! prepare can be cleaned up. It writes it again after the last file, marked as complete.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;
use serde::{Deserialize, Serialize};

use crate::error::{Class, EngineError, Result};
use crate::folder::TrustedFolder;
use crate::job::Data;

const FILE_NAME: &str = "paribus.manifest.json";

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DataManifest {
    pub version: u32,
    pub files: u32,
    pub total_size_bytes: u64,
    #[serde(default)]
    pub compressible: f64,
    #[serde(default)]
    pub verified_block_bytes: Option<u64>,
    /// Whether every file was written in full and is on the device.
    pub complete: bool,
    /// The inode of each file, so that another file of the same name is not overwritten; empty in
    /// older manifests.
    #[serde(default)]
    pub inodes: Vec<u64>,
    /// Directories that were created for the files, the innermost first.
    pub made_directories: Vec<PathBuf>,
}

impl fmt::Display for DataManifest {
    /// The files in words, for messages.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (files, total) = (self.files, self.total_size_bytes);
        write!(formatter, "{files} files of {total} bytes in all")?;
        if self.compressible > 0.0 {
            write!(formatter, ", {} of them compressible", self.compressible)?;
        }
        match self.verified_block_bytes {
            Some(block) => write!(formatter, ", in verified blocks of {block} bytes"),
            None => Ok(()),
        }
    }
}

impl DataManifest {
    /// A manifest of files not created yet.
    pub fn of(data: &Data) -> DataManifest {
        DataManifest {
            version: 1,
            files: data.files,
            total_size_bytes: data.total_size_bytes,
            compressible: data.compressible,
            verified_block_bytes: data.verified_block_bytes,
            complete: false,
            inodes: Vec::new(),
            made_directories: Vec::new(),
        }
    }

    /// A manifest of a directory that was created for other data and is removed with that data.
    pub fn of_directory(made_directories: Vec<PathBuf>) -> DataManifest {
        DataManifest {
            version: 1,
            files: 0,
            total_size_bytes: 0,
            compressible: 0.0,
            verified_block_bytes: None,
            complete: true,
            inodes: Vec::new(),
            made_directories,
        }
    }

    pub fn path(directory: &Path) -> PathBuf {
        directory.join(FILE_NAME)
    }

    /// The manifest of a directory; `None` where there is none.
    pub fn read(directory: &Path) -> Result<Option<DataManifest>> {
        let path = DataManifest::path(directory);
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(cause)
                if matches!(
                    cause.kind(),
                    io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
                ) =>
            {
                return Ok(None);
            }
            Err(cause) => return Err(EngineError::from_io("read", &path, &cause)),
        };
        serde_json::from_str(&text).map(Some).map_err(|cause| {
            EngineError::new(
                Class::NotPrepared,
                format!("{} is damaged: {cause}", path.display()),
                "remove the paribus.* files in that directory and run the prepare phase",
            )
            .at(&path)
        })
    }

    /// Writes the manifest so that a crash leaves the old version or the new one, never a part.
    pub fn write(&self, directory: &Path) -> Result<()> {
        let path = DataManifest::path(directory);
        let fresh = directory.join(format!("{FILE_NAME}.new"));
        let text = serde_json::to_string_pretty(self).unwrap_or_default();
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC;
        let written = TrustedFolder::open(directory)?
            .open_file(fresh.file_name().unwrap_or_default(), flags, 0o600)
            .and_then(|mut file| {
                file.write_all(text.as_bytes())?;
                file.write_all(b"\n")?;
                file.sync_all()
            })
            .and_then(|()| fs::rename(&fresh, &path))
            .and_then(|()| File::open(directory)?.sync_all());
        written.map_err(|cause| {
            // A partly written new version has no use.
            let _ = fs::remove_file(&fresh);
            EngineError::from_io("write", &path, &cause)
        })
    }

    /// Whether these are the files that the job asks for, with the same content.
    pub fn matches(&self, data: &Data) -> bool {
        self.files == data.files
            && self.total_size_bytes == data.total_size_bytes
            && self.compressible == data.compressible
            && self.verified_block_bytes == data.verified_block_bytes
    }
}

/// The path of file number `index` of a set.
pub fn file_path(directory: &Path, index: u32) -> PathBuf {
    directory.join(format!("paribus.{index}"))
}

pub fn file_paths(directory: &Path, files: u32) -> Vec<PathBuf> {
    (0..files)
        .map(|index| file_path(directory, index))
        .collect()
}
