//! Preparing: creates the files of a set, or fills a device.
//!
//! In: the job's data. Out: files on the disk, a manifest that lists them, and progress on the way.
//! Files that are already right stay unchanged. A device has no place for a manifest, so each
//! prepare fills it. A load needs a prepared device only where it reads verified data. Called by
//! `run`.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::{FallocateFlags, OFlags};

use super::cleanup::remove;
use super::directory::make_directory;
use super::fill::{NewFile, fill};
use super::manifest::{DataManifest, file_path, file_paths};
use super::spans::span_bytes;
use crate::error::{Class, EngineError, Result};
use crate::folder::TrustedFolder;
use crate::io::{device, direct};
use crate::job::Data;
use crate::load::stop::OnRequest;
use crate::machine;

const DIRECT_ALIGNMENT: u64 = 4096;

/// Progress of the phase.
pub enum PrepareStep {
    Written {
        done_bytes: u64,
        total_bytes: u64,
    },
    /// All bytes are written; the device is being synced.
    Finishing,
}

/// Creates the files, calling `report` now and then. When `stop` is asked, it ends soon with an
/// error of class `interrupted`; `cleanup` knows the files created so far.
pub fn prepare(
    data: &Data,
    direct: bool,
    seed: u64,
    stop: &OnRequest,
    report: impl Fn(PrepareStep),
) -> Result<()> {
    if let Some(path) = &data.device {
        return fill_device(path, data, direct, seed, stop, report);
    }
    if direct {
        direct::refuse_memory(&machine::nearest_existing(data.location()))?;
    }
    let size = data.file_size_bytes();
    let total = size * u64::from(data.files);
    let progress = |done_bytes| {
        report(PrepareStep::Written {
            done_bytes,
            total_bytes: total,
        });
    };
    let old = DataManifest::read(data.location())?;
    let missing = missing_files(data, old.as_ref());
    if missing.is_empty() {
        progress(total);
        return Ok(());
    }
    refuse_foreign_files(data, old.as_ref())?;
    check_space(data, old.as_ref(), missing.len() as u64 * size)?;

    let made_directories = make_directory(data.location())?;
    let folder = TrustedFolder::open(data.location())?;
    let mut manifest = DataManifest {
        made_directories: old
            .as_ref()
            .map_or(made_directories, |old| old.made_directories.clone()),
        ..DataManifest::of(data)
    };
    remove_surplus(data, old.as_ref())?;
    manifest.write(data.location())?;
    let reused_bytes = total - missing.len() as u64 * size;
    let files = missing
        .into_iter()
        .map(|index| create(&folder, index, data, direct))
        .collect::<Result<Vec<_>>>()?;
    fill(&files, data, seed, stop, |done| {
        progress(reused_bytes + done)
    })?;
    report(PrepareStep::Finishing);
    sync(&files, stop)?;
    manifest.inodes = inodes(data)?;
    manifest.complete = true;
    manifest.write(data.location())?;
    progress(total);
    Ok(())
}

fn fill_device(
    path: &Path,
    data: &Data,
    direct: bool,
    seed: u64,
    stop: &OnRequest,
    report: impl Fn(PrepareStep),
) -> Result<()> {
    let total_bytes = data.total_size_bytes;
    let progress = |done_bytes| {
        report(PrepareStep::Written {
            done_bytes,
            total_bytes,
        });
    };
    let file = device::open(
        path,
        true,
        direct_flag(data, direct),
        data.device_identity.as_ref(),
    )?;
    device::check_size(&file, path, total_bytes)?;
    let whole = [NewFile {
        file,
        path: path.to_path_buf(),
        index: 0,
    }];
    fill(&whole, data, seed, stop, progress)?;
    report(PrepareStep::Finishing);
    sync(&whole, stop)?;
    progress(total_bytes);
    Ok(())
}

fn sync(files: &[NewFile], stop: &OnRequest) -> Result<()> {
    for file in files {
        if stop.is_asked() {
            return Err(interrupted(&file.path));
        }
        file.file
            .sync_all()
            .map_err(|cause| EngineError::from_io("fsync", &file.path, &cause))?;
    }
    Ok(())
}

fn inodes(data: &Data) -> Result<Vec<u64>> {
    let inode = |path: PathBuf| {
        fs::symlink_metadata(&path)
            .map(|metadata| metadata.ino())
            .map_err(|cause| EngineError::from_io("examine", &path, &cause))
    };
    file_paths(data.location(), data.files)
        .into_iter()
        .map(inode)
        .collect()
}

/// The numbers of the files that do not yet match the job.
fn missing_files(data: &Data, old: Option<&DataManifest>) -> Vec<u32> {
    let trusted = old.is_some_and(|old| old.complete && old.matches(data));
    let is_right = |index: &u32| {
        fs::symlink_metadata(file_path(data.location(), *index))
            .is_ok_and(|metadata| metadata.is_file() && metadata.len() == data.file_size_bytes())
    };
    (0..data.files)
        .filter(|index| !(trusted && is_right(index)))
        .collect()
}

/// Files with our names that no manifest lists belong to somebody else and are not overwritten.
fn refuse_foreign_files(data: &Data, old: Option<&DataManifest>) -> Result<()> {
    let recorded_files = old.map_or(0, |old| old.files);
    let foreign = (recorded_files..data.files)
        .map(|index| file_path(data.location(), index))
        .find(|path| path.symlink_metadata().is_ok());
    match foreign {
        None => Ok(()),
        Some(path) => Err(EngineError::new(
            Class::NotOurs,
            format!(
                "{} exists and no manifest lists it, so it is not overwritten",
                path.display()
            ),
            "move or remove that file, or choose another directory",
        )
        .at(&path)),
    }
}

fn check_space(data: &Data, old: Option<&DataManifest>, needed_bytes: u64) -> Result<()> {
    let existing = machine::nearest_existing(data.location());
    let space = machine::space(&existing)
        .map_err(|cause| EngineError::from_io("read the free space of", &existing, &cause))?;
    // Files to be rewritten or removed free their space.
    let regained: u64 = old.map_or(0, |old| {
        let trusted = old.complete && old.matches(data);
        file_paths(data.location(), old.files)
            .iter()
            .filter_map(|path| fs::metadata(path).ok())
            .filter(|metadata| !(trusted && metadata.len() == data.file_size_bytes()))
            .map(|metadata| metadata.blocks() * 512)
            .sum()
    });
    let available = space.available_bytes + regained;
    if needed_bytes <= available {
        return Ok(());
    }
    Err(EngineError::new(
        Class::TooLittleSpace,
        format!(
            "the files in {} need {needed_bytes} bytes more, {available} are available",
            data.location().display()
        ),
        "free space there, use a smaller total_size_bytes, or choose another directory",
    )
    .at(data.location()))
}

/// Removes the files of an earlier, larger set.
fn remove_surplus(data: &Data, old: Option<&DataManifest>) -> Result<()> {
    for index in data.files..old.map_or(0, |old| old.files) {
        remove(&file_path(data.location(), index))?;
    }
    Ok(())
}

fn create(folder: &TrustedFolder, index: u32, data: &Data, direct: bool) -> Result<NewFile> {
    let path = file_path(data.location(), index);
    remove(&path)?;
    let flags = direct_flag(data, direct);
    // Creates a new file; never follows a link of that name.
    let access = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL;
    let file = folder
        .open_file(
            path.file_name().unwrap_or_default(),
            access | OFlags::from_bits_retain(flags.cast_unsigned()),
            0o600,
        )
        .map_err(|cause| match cause.raw_os_error() {
            Some(libc::EINVAL) if flags != 0 => direct::refused(&path, &cause),
            _ => EngineError::from_io("create", &path, &cause),
        })?;
    // Allocates one extent on the device instead of one per thread. Where the file system cannot do
    // it, or has too little room, the writes report the error.
    let _ = rustix::fs::fallocate(&file, FallocateFlags::empty(), 0, data.file_size_bytes());
    Ok(NewFile { file, path, index })
}

/// Writes data the way it will be read. After a buffered prepare the cache is warm, as in any
/// database that has just loaded its data. A direct prepare leaves nothing in the cache.
fn direct_flag(data: &Data, direct: bool) -> i32 {
    let span_bytes = span_bytes(data.verified_block_bytes.unwrap_or(1));
    let is_aligned = |size: u64| size.is_multiple_of(DIRECT_ALIGNMENT);
    if direct && is_aligned(data.file_size_bytes()) && is_aligned(span_bytes) {
        libc::O_DIRECT
    } else {
        0
    }
}

pub(super) fn interrupted(path: &Path) -> EngineError {
    EngineError::new(
        Class::Interrupted,
        "preparing was stopped before the files were complete",
        "run the prepare phase again, or cleanup to remove the incomplete files",
    )
    .at(path)
}
