//! The data folder of one experiment: created, listed, and removed with its content.
//!
//! It lies at `PATH/paribus-data/EXPERIMENT`. Only this user can access it. Its manifest names its
//! experiment, so that it can be recognised and removed without the store. Called by `main`.

use std::ffi::{CStr, CString, OsStr};
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Dir, FileType, FlockOperation, Mode, OFlags, Stat};
use serde::Serialize;
use serde_json::Value;

use super::TrustedFolder;
use super::manifest::{MANIFEST, Manifest, UNFINISHED};
use super::trusted::failed;
use crate::clock;
use crate::error::{Class, EngineError, Result};

const SHARED: &str = "paribus-data";
/// The form of an experiment's id: decimal (`d`) and hexadecimal (`x`) digits.
const ID_SHAPE: &str = "dddddddd-dddddd-xxxx";
/// The logs of a program in the folder, locked as long as the program runs.
const LOGS: [&str; 2] = ["server.log", "log"];

#[derive(Debug, Serialize)]
#[serde(tag = "event", rename = "data-folder")]
pub struct MadeFolder {
    pub path: PathBuf,
}

#[derive(Debug, Serialize)]
pub struct DataFolder {
    pub path: PathBuf,
    /// `None` where no experiment created the folder, or the manifest is damaged.
    pub manifest: Option<Manifest>,
    /// Its size on the disk.
    pub size_bytes: u64,
    /// Whether it has no content, as after an interrupted creation or removal.
    pub empty: bool,
    /// Whether a program that writes there still runs.
    pub in_use: bool,
}

#[derive(Debug, Serialize)]
#[serde(tag = "event", rename = "data-folders")]
pub struct DataFolders {
    pub folders: Vec<DataFolder>,
}

/// Returns the folder of an experiment below `parent`, which must exist; creates it where missing.
pub fn make(parent: &Path, experiment: &str, about: Value) -> Result<PathBuf> {
    let shared = TrustedFolder::open(parent)?.make(SHARED, 0o755)?;
    let folder = shared.make(experiment, 0o700)?;
    match Manifest::read(&folder) {
        Ok(Some(manifest)) if manifest.experiment == experiment => {}
        Ok(None) if is_empty(&folder)? => {
            let manifest = Manifest {
                experiment: experiment.into(),
                made_unix_s: clock::unix_s(),
                about,
            };
            manifest.write(&folder)?;
        }
        _ => return Err(not_ours(folder.path(), experiment)),
    }
    // After an interruption, the mode may still let a server's user pass.
    rustix::fs::chmodat(folder.descriptor(), ".", Mode::RWXU, AtFlags::empty())
        .map_err(|cause| failed("change the mode of", folder.path(), cause))?;
    Ok(folder.path().to_path_buf())
}

/// The folders below `parent`, by name.
pub fn list(parent: &Path) -> Result<DataFolders> {
    let shared = match TrustedFolder::open(parent)?.folder(SHARED) {
        Ok(shared) => shared,
        Err(error) if error.class == Class::FileVanished => {
            return Ok(DataFolders {
                folders: Vec::new(),
            });
        }
        Err(error) => return Err(error),
    };
    let mut folders = Vec::new();
    for name in entries(&shared)? {
        let Ok(name) = name.to_str() else { continue };
        let folder = shared.folder(name)?;
        folders.push(DataFolder {
            manifest: Manifest::read(&folder).unwrap_or(None),
            size_bytes: size_bytes(&folder)?,
            empty: is_empty(&folder)?,
            in_use: is_in_use(&folder)?,
            path: folder.path().to_path_buf(),
        });
    }
    folders.sort_by(|left, right| left.path.cmp(&right.path));
    Ok(DataFolders { folders })
}

/// Removes the folder of an experiment, and the shared parent folder when it is then empty.
///
/// An interrupted creation or removal leaves an empty folder without manifest; its name must be the
/// id of an experiment.
pub fn remove(parent: &Path, experiment: &str) -> Result<()> {
    let outer = TrustedFolder::open(parent)?;
    let shared = outer.folder(SHARED)?;
    let folder = shared.folder(experiment)?;
    match Manifest::read(&folder) {
        Ok(Some(manifest)) if manifest.experiment == experiment => {}
        Ok(None) if is_id(experiment) && is_empty(&folder)? => {}
        _ => return Err(not_ours(folder.path(), experiment)),
    }
    if is_in_use(&folder)? {
        return Err(EngineError::new(
            Class::AddressBusy,
            format!("a program in {} is still running", folder.path().display()),
            "stop it, then remove the folder",
        )
        .at(folder.path()));
    }
    let device = stat_of(&folder, c".")?.st_dev;
    // Removes the manifest last, so that an interrupted removal can be repeated.
    empty(
        &folder
            .readable()
            .map_err(|cause| EngineError::from_io("read", folder.path(), &cause))?,
        device,
        folder.path(),
        MANIFEST,
    )?;
    match rustix::fs::unlinkat(folder.descriptor(), MANIFEST, AtFlags::empty()) {
        Ok(()) | Err(rustix::io::Errno::NOENT) => {}
        Err(cause) => return Err(failed("remove", &folder.path().join(MANIFEST), cause)),
    }
    unlink(&shared, experiment, AtFlags::REMOVEDIR)?;
    // The shared folder stays while other experiments have data in it.
    let _ = rustix::fs::unlinkat(outer.descriptor(), SHARED, AtFlags::REMOVEDIR);
    Ok(())
}

/// Removes all entries but `excluded`. Never leaves the device and never follows a link.
fn empty(folder: impl AsFd, device: u64, path: &Path, excluded: &str) -> Result<()> {
    for name in names_in(folder.as_fd(), path)? {
        if name.to_bytes() == excluded.as_bytes() {
            continue;
        }
        let here = path.join(OsStr::from_bytes(name.to_bytes()));
        let stat = rustix::fs::statat(folder.as_fd(), &name, AtFlags::SYMLINK_NOFOLLOW)
            .map_err(|cause| failed("examine", &here, cause))?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::Directory {
            rustix::fs::unlinkat(folder.as_fd(), &name, AtFlags::empty())
                .map_err(|cause| failed("remove", &here, cause))?;
            continue;
        }
        if stat.st_dev != device {
            return Err(EngineError::new(
                Class::DeviceInUse,
                format!("another file system is mounted at {}", here.display()),
                "unmount it, then remove the folder",
            )
            .at(&here));
        }
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let below = rustix::fs::openat(folder.as_fd(), &name, flags, Mode::empty())
            .map_err(|cause| failed("open", &here, cause))?;
        empty(&below, device, &here, "")?;
        rustix::fs::unlinkat(folder.as_fd(), &name, AtFlags::REMOVEDIR)
            .map_err(|cause| failed("remove", &here, cause))?;
    }
    Ok(())
}

fn size_bytes(folder: &TrustedFolder) -> Result<u64> {
    let readable = folder
        .readable()
        .map_err(|cause| EngineError::from_io("read", folder.path(), &cause))?;
    blocks(&readable, folder.path()).map(|blocks| blocks * 512)
}

fn blocks(folder: impl AsFd, path: &Path) -> Result<u64> {
    let mut sum = 0;
    for name in names_in(folder.as_fd(), path)? {
        let here = path.join(OsStr::from_bytes(name.to_bytes()));
        let Ok(stat) = rustix::fs::statat(folder.as_fd(), &name, AtFlags::SYMLINK_NOFOLLOW) else {
            continue; // removed meanwhile
        };
        sum += stat.st_blocks.cast_unsigned();
        if FileType::from_raw_mode(stat.st_mode) == FileType::Directory {
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            if let Ok(below) = rustix::fs::openat(folder.as_fd(), &name, flags, Mode::empty()) {
                sum += blocks(&below, &here)?;
            }
        }
    }
    Ok(sum)
}

/// Whether a program holds the lock of one of the logs in the folder.
fn is_in_use(folder: &TrustedFolder) -> Result<bool> {
    for name in entries(folder)? {
        for log in LOGS {
            let path = Path::new(OsStr::from_bytes(name.to_bytes())).join(log);
            let flags = OFlags::RDONLY | OFlags::NONBLOCK;
            if let Ok(file) = folder.open_file(path.as_os_str(), flags, 0)
                && rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive).is_err()
            {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

/// Whether the folder is empty, or has only an unfinished manifest after a power cut.
fn is_empty(folder: &TrustedFolder) -> Result<bool> {
    let names = entries(folder)?;
    Ok(names
        .iter()
        .all(|name| name.to_bytes() == UNFINISHED.as_bytes()))
}

/// Whether a name is the id of an experiment, such as `20261121-091403-7f3a`.
fn is_id(name: &str) -> bool {
    name.len() == ID_SHAPE.len()
        && name
            .chars()
            .zip(ID_SHAPE.chars())
            .all(|(character, shape)| match shape {
                'd' => character.is_ascii_digit(),
                'x' => matches!(character, '0'..='9' | 'a'..='f'),
                separator => character == separator,
            })
}

fn entries(folder: &TrustedFolder) -> Result<Vec<CString>> {
    let readable = folder
        .readable()
        .map_err(|cause| EngineError::from_io("read", folder.path(), &cause))?;
    names_in(readable.as_fd(), folder.path())
}

fn names_in(folder: impl AsFd, path: &Path) -> Result<Vec<CString>> {
    let mut names = Vec::new();
    for entry in Dir::read_from(folder).map_err(|cause| failed("read", path, cause))? {
        let name = entry
            .map_err(|cause| failed("read", path, cause))?
            .file_name()
            .to_owned();
        if !matches!(name.to_bytes(), b"." | b"..") {
            names.push(name);
        }
    }
    Ok(names)
}

fn stat_of(folder: &TrustedFolder, name: &CStr) -> Result<Stat> {
    rustix::fs::statat(folder.descriptor(), name, AtFlags::SYMLINK_NOFOLLOW)
        .map_err(|cause| failed("examine", folder.path(), cause))
}

fn unlink(folder: &TrustedFolder, name: &str, flags: AtFlags) -> Result<()> {
    rustix::fs::unlinkat(folder.descriptor(), name, flags)
        .map_err(|cause| failed("remove", &folder.path().join(name), cause))
}

fn not_ours(path: &Path, experiment: &str) -> EngineError {
    EngineError::new(
        Class::NotOurs,
        format!(
            "{} exists, but no manifest there names experiment {experiment}",
            path.display()
        ),
        "examine its content, then move it away or remove it by hand",
    )
    .at(path)
}
