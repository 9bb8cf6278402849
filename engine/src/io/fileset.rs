//! The open files of a set: opened once, shared by all workers.
//!
//! In: paths and how to open them. Out: descriptors, and the few things done to all of them. Called
//! by `workload::fileio` and `io::*`.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use crate::error::{Class, EngineError, Result};

#[derive(Debug, Default)]
pub struct FileSet {
    files: Vec<File>,
    paths: Vec<PathBuf>,
}

#[derive(Debug, Clone, Copy)]
pub struct Access {
    pub write: bool,
    pub direct: bool,
}

impl FileSet {
    pub fn open(paths: Vec<PathBuf>, access: Access) -> Result<FileSet> {
        let files = paths
            .iter()
            .map(|path| open_file(path, access))
            .collect::<Result<_>>()?;
        Ok(FileSet { files, paths })
    }

    #[inline]
    pub fn file(&self, index: usize) -> &File {
        &self.files[index]
    }

    pub fn descriptors(&self) -> Vec<RawFd> {
        self.files.iter().map(File::as_raw_fd).collect()
    }

    pub fn path(&self, index: usize) -> &Path {
        self.paths
            .get(index)
            .map_or(Path::new(""), PathBuf::as_path)
    }

    /// Each file must have at least `size_bytes`.
    pub fn check_size(&self, size_bytes: u64) -> Result<()> {
        self.for_each("look at", |file| {
            let found = file.metadata()?.len();
            if found >= size_bytes {
                return Ok(());
            }
            Err(io::Error::other(format!(
                "it has {found} bytes, {size_bytes} are needed"
            )))
        })
        .map_err(|error| {
            EngineError::new(
                Class::NotPrepared,
                error.message,
                "run the prepare phase with the same files and total_size_bytes",
            )
        })
    }

    /// A file that was deleted under the load takes writes for ever, and nobody would notice.
    pub fn check_not_deleted(&self) -> Result<()> {
        for (file, path) in self.files.iter().zip(&self.paths) {
            let deleted = match file.metadata() {
                Ok(metadata) => metadata.nlink() == 0,
                Err(cause) => return Err(EngineError::from_io("look at", path, &cause)),
            };
            if deleted {
                return Err(EngineError::new(
                    Class::FileVanished,
                    format!("{} was deleted while the load was running", path.display()),
                    "run the prepare phase again and keep others out of the directory",
                )
                .at(path));
            }
        }
        Ok(())
    }

    /// After this nothing of the files is dirty in memory.
    pub fn sync(&self) -> Result<()> {
        self.for_each("fsync", File::sync_all)
    }

    /// Drops the files' pages from the page cache; works for any user, unlike drop_caches.
    pub fn drop_cache(&self) -> Result<()> {
        self.for_each("drop the cache of", |file| {
            // Only clean pages can be dropped.
            file.sync_data()?;
            // SAFETY: a plain system call on a descriptor that `file` keeps open.
            let answer =
                unsafe { libc::posix_fadvise(file.as_raw_fd(), 0, 0, libc::POSIX_FADV_DONTNEED) };
            if answer == 0 {
                Ok(())
            } else {
                Err(io::Error::from_raw_os_error(answer))
            }
        })
    }

    pub fn truncate(&self) -> Result<()> {
        self.for_each("truncate", |file| file.set_len(0))
    }

    /// Empties one file; without effect where there are no files.
    pub fn truncate_one(&self, index: usize) -> Result<()> {
        let Some(file) = self.files.get(index) else {
            return Ok(());
        };
        file.set_len(0)
            .map_err(|cause| EngineError::from_io("truncate", self.path(index), &cause))
    }

    fn for_each(&self, action: &str, act: impl Fn(&File) -> io::Result<()>) -> Result<()> {
        for (file, path) in self.files.iter().zip(&self.paths) {
            act(file).map_err(|cause| EngineError::from_io(action, path, &cause))?;
        }
        Ok(())
    }
}

fn open_file(path: &Path, access: Access) -> Result<File> {
    let flags = if access.direct { libc::O_DIRECT } else { 0 };
    OpenOptions::new()
        .read(true)
        .write(access.write)
        .custom_flags(flags)
        .open(path)
        .map_err(|cause| match cause.raw_os_error() {
            Some(libc::EINVAL) if access.direct => direct_unsupported(path, &cause),
            Some(libc::ENOENT) => EngineError::new(
                Class::NotPrepared,
                format!("cannot open {}: {cause}", path.display()),
                "run the prepare phase with the same files and total_size_bytes",
            )
            .at(path),
            _ => EngineError::from_io("open", path, &cause),
        })
}

pub fn direct_unsupported(path: &Path, cause: &io::Error) -> EngineError {
    EngineError::new(
        Class::DirectUnsupported,
        format!(
            "the file system of {} refuses O_DIRECT: {cause}",
            path.display()
        ),
        "use direct = false, or a directory on a file system that supports it (ext4, xfs)",
    )
    .at(path)
}
