//! The open files of a set, or the one device in their place: opened once, shared by all workers.
//!
//! In: paths and open flags. Out: descriptors, and operations on all of them. Called by
//! `workload::fileio` and `io::*`.

use std::fmt;
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use rustix::fs::{Advice, OFlags};

use super::{device, direct};
use crate::device::DeviceIdentity;
use crate::error::{Class, EngineError, Result};
use crate::folder::TrustedFolder;
use crate::job::files::{FsyncCall, SyncWrites};

#[derive(Debug, Default)]
pub struct FileSet {
    files: Vec<File>,
    paths: Vec<PathBuf>,
    fsync_call: FsyncCall,
}

#[derive(Debug, Clone, Copy, Default)]
pub struct FileAccess {
    pub write: bool,
    pub direct: bool,
    pub sync_writes: SyncWrites,
    pub fsync_call: FsyncCall,
}

impl FileAccess {
    fn flags(self) -> i32 {
        let direct = if self.direct { libc::O_DIRECT } else { 0 };
        let sync = match self.sync_writes {
            SyncWrites::None => 0,
            SyncWrites::Dsync => libc::O_DSYNC,
            SyncWrites::Sync => libc::O_SYNC,
        };
        direct | sync
    }
}

impl FileSet {
    pub fn open(paths: Vec<PathBuf>, access: FileAccess) -> Result<FileSet> {
        let Some(first) = paths.first() else {
            return Ok(FileSet::default());
        };
        // One folder for the whole set, so that nobody can replace it between two files.
        let folder =
            TrustedFolder::open(first.parent().unwrap_or(Path::new("/"))).map_err(|error| {
                match error.class {
                    Class::FileVanished => not_prepared(first, &error),
                    _ => error,
                }
            })?;
        let files = paths
            .iter()
            .map(|path| open_file(&folder, path, access))
            .collect::<Result<_>>()?;
        Ok(FileSet {
            files,
            paths,
            fsync_call: access.fsync_call,
        })
    }

    /// A set of one device. For writing, it is opened exclusively.
    pub fn open_device(
        path: PathBuf,
        access: FileAccess,
        expected: Option<&DeviceIdentity>,
    ) -> Result<FileSet> {
        let file = device::open(&path, access.write, access.flags(), expected)?;
        Ok(FileSet {
            files: vec![file],
            paths: vec![path],
            fsync_call: access.fsync_call,
        })
    }

    /// Whether the set's fsyncs may omit metadata that reading the data does not need.
    pub fn fsyncs_data_only(&self) -> bool {
        self.fsync_call == FsyncCall::Fdatasync
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

    /// Checks that I/O in multiples of `block_bytes` works with O_DIRECT on these files.
    pub fn check_direct(&self, block_bytes: u64) -> Result<()> {
        for (file, path) in self.files.iter().zip(&self.paths) {
            direct::check(file, path, block_bytes)?;
        }
        Ok(())
    }

    /// Checks that each file has at least `size_bytes`, and a device too, in whole sectors.
    pub fn check_size(&self, size_bytes: u64) -> Result<()> {
        if let ([file], [path]) = (&self.files[..], &self.paths[..])
            && is_device(file)
        {
            return device::check_size(file, path, size_bytes);
        }
        self.for_each("examine", |file| {
            let file_bytes = file.metadata()?.len();
            if file_bytes >= size_bytes {
                return Ok(());
            }
            Err(io::Error::other(format!(
                "it has {file_bytes} bytes, {size_bytes} are needed"
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

    /// Checks that each file is the prepared one: another file of that name belongs to somebody
    /// else.
    pub fn check_inodes(&self, prepared: &[u64]) -> Result<()> {
        for ((file, path), &inode) in self.files.iter().zip(&self.paths).zip(prepared) {
            let actual = file
                .metadata()
                .map_err(|cause| EngineError::from_io("examine", path, &cause))?
                .ino();
            if actual != inode {
                return Err(EngineError::new(
                    Class::NotOurs,
                    format!(
                        "{} is not the file that was prepared: its inode is {actual}, not {inode}",
                        path.display()
                    ),
                    "move that file away and run the prepare phase again",
                )
                .at(path));
            }
        }
        Ok(())
    }

    /// Detects deleted files: they would accept writes without an error.
    pub fn check_not_deleted(&self) -> Result<()> {
        for (file, path) in self.files.iter().zip(&self.paths) {
            let deleted = match file.metadata() {
                Ok(metadata) => metadata.nlink() == 0,
                Err(cause) => return Err(EngineError::from_io("examine", path, &cause)),
            };
            if deleted && is_device(file) {
                return Err(EngineError::new(
                    Class::NoSuchDevice,
                    format!("{} was removed while the load was running", path.display()),
                    "look in the kernel log of the target (dmesg) for the reason",
                )
                .at(path));
            }
            if deleted {
                return Err(EngineError::new(
                    Class::FileVanished,
                    format!("{} was deleted while the load was running", path.display()),
                    "run the prepare phase again, and keep other programs out of the directory",
                )
                .at(path));
            }
        }
        Ok(())
    }

    /// Syncs all files, so that none of their pages is dirty.
    pub fn sync(&self) -> Result<()> {
        self.for_each("fsync", File::sync_all)
    }

    /// Drops the files' pages from the page cache. Unlike drop_caches it works for any user.
    pub fn drop_cache(&self) -> Result<()> {
        self.for_each("drop the cache of", |file| {
            // Only clean pages can be dropped.
            file.sync_data()?;
            Ok(rustix::fs::fadvise(file, 0, None, Advice::DontNeed)?)
        })
    }

    pub fn truncate(&self) -> Result<()> {
        self.for_each("truncate", |file| file.set_len(0))
    }

    /// Empties one file; without effect on a device.
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

fn is_device(file: &File) -> bool {
    file.metadata()
        .is_ok_and(|metadata| metadata.file_type().is_block_device())
}

fn open_file(folder: &TrustedFolder, path: &Path, access: FileAccess) -> Result<File> {
    if access.direct {
        direct::refuse_memory(path)?;
    }
    let rights = if access.write {
        OFlags::RDWR
    } else {
        OFlags::RDONLY
    };
    let flags = rights | OFlags::from_bits_retain(access.flags().cast_unsigned());
    folder
        .open_file(path.file_name().unwrap_or_default(), flags, 0)
        .map_err(|cause| match cause.raw_os_error() {
            Some(libc::ELOOP) => EngineError::new(
                Class::NotOurs,
                format!("{} is a symbolic link; a file was prepared", path.display()),
                "remove the link and run the prepare phase again",
            )
            .at(path),
            Some(libc::EINVAL) if access.direct => direct::refused(path, &cause),
            Some(libc::ENOENT) => not_prepared(path, &cause),
            _ => EngineError::from_io("open", path, &cause),
        })
}

fn not_prepared(path: &Path, cause: &dyn fmt::Display) -> EngineError {
    EngineError::new(
        Class::NotPrepared,
        format!("cannot open {}: {cause}", path.display()),
        "run the prepare phase with the same files and total_size_bytes",
    )
    .at(path)
}
