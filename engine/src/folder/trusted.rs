//! A folder that no other user can change or replace, held by a descriptor.
//!
//! In: a path. Out: the folder, and files opened below it. Each component is opened from its parent
//! and checked on its descriptor, from the root on. Where others cannot change a component, the
//! next component stays the same. Links of trusted users are followed in the same way. Called by
//! `io`, `workload` and `folder::experiment`.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{FileType, Mode, OFlags, ResolveFlags, Stat};

use super::owner;
use crate::error::{Class, EngineError, Result};

const MOST_LINKS: usize = 40;
const HINT: &str =
    "choose a folder that only you and root can change, for example in your home or /var/lib";

#[derive(Debug)]
pub struct TrustedFolder {
    descriptor: OwnedFd,
    /// The path with every link resolved.
    path: PathBuf,
}

impl TrustedFolder {
    /// Opens an existing folder. A component that others own or can write is an error of class
    /// `untrusted-folder`.
    pub fn open(path: &Path) -> Result<TrustedFolder> {
        let absolute = std::path::absolute(path)
            .map_err(|cause| EngineError::from_io("find", path, &cause))?;
        let mut way = vec![TrustedFolder::root()?];
        let mut pending: VecDeque<OsString> = names(&absolute).collect();
        let mut links = 0;
        while let Some(name) = pending.pop_front() {
            if name == ".." {
                way.truncate(way.len().saturating_sub(1).max(1));
                continue;
            }
            let Some(above) = way.last() else { break };
            match above.look_up(&name)? {
                Entry::Folder(folder) => way.push(folder),
                Entry::Link(target) => {
                    links += 1;
                    if links > MOST_LINKS {
                        let cause = io::Error::from_raw_os_error(libc::ELOOP);
                        return Err(EngineError::from_io("open", path, &cause));
                    }
                    for name in names(&target).collect::<Vec<_>>().into_iter().rev() {
                        pending.push_front(name);
                    }
                    if target.is_absolute() {
                        way.truncate(1);
                    }
                }
            }
        }
        way.pop()
            .ok_or_else(|| EngineError::bad_job("the path of a folder is empty"))
    }

    fn root() -> Result<TrustedFolder> {
        let path = PathBuf::from("/");
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let descriptor = rustix::fs::open(&path, flags, Mode::empty())
            .map_err(|cause| failed("open", &path, cause))?;
        let stat = stat_of(&descriptor, &path)?;
        refuse(&descriptor, &stat, &path)?;
        Ok(TrustedFolder { descriptor, path })
    }

    /// The type of an entry, when it can be trusted.
    fn look_up(&self, name: &OsStr) -> Result<Entry> {
        let path = self.path.join(name);
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let descriptor = rustix::fs::openat(&self.descriptor, name, flags, Mode::empty())
            .map_err(|cause| failed("open", &path, cause))?;
        let stat = stat_of(&descriptor, &path)?;
        refuse(&descriptor, &stat, &path)?;
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::Directory => Ok(Entry::Folder(TrustedFolder { descriptor, path })),
            FileType::Symlink => {
                let target = rustix::fs::readlinkat(&descriptor, "", Vec::new())
                    .map_err(|cause| failed("read the link", &path, cause))?;
                Ok(Entry::Link(OsString::from_vec(target.into_bytes()).into()))
            }
            _ => {
                let cause = io::Error::from_raw_os_error(libc::ENOTDIR);
                Err(EngineError::from_io("open", &path, &cause))
            }
        }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A folder in this one, created where missing. Never follows a link.
    pub fn make(&self, name: &str, mode: u32) -> Result<TrustedFolder> {
        let path = self.path.join(name);
        match rustix::fs::mkdirat(&self.descriptor, name, Mode::from_raw_mode(mode)) {
            Ok(()) | Err(rustix::io::Errno::EXIST) => self.folder(name),
            Err(cause) => Err(failed("create the folder", &path, cause)),
        }
    }

    /// An existing folder in this one; a link is refused.
    pub fn folder(&self, name: &str) -> Result<TrustedFolder> {
        let path = self.path.join(name);
        match self.look_up(OsStr::new(name))? {
            Entry::Folder(folder) => Ok(folder),
            Entry::Link(target) => Err(EngineError::new(
                Class::UntrustedFolder,
                format!(
                    "{} is a symbolic link to {}, not a folder",
                    path.display(),
                    target.display()
                ),
                "remove the link, or choose another folder",
            )
            .at(&path)),
        }
    }

    /// A file below this folder, opened without following any link and without leaving the folder.
    pub fn open_file(&self, name: &OsStr, flags: OFlags, mode: u32) -> io::Result<File> {
        let flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        // The mode only applies to a new file; otherwise openat2 refuses a mode.
        let mode = if flags.contains(OFlags::CREATE) {
            mode
        } else {
            0
        };
        let mode = Mode::from_raw_mode(mode);
        let beneath = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
        let opened = match rustix::fs::openat2(&self.descriptor, name, flags, mode, beneath) {
            // A kernel before 5.6, or a container's filter; the name has one component.
            Err(rustix::io::Errno::NOSYS | rustix::io::Errno::PERM) if is_one(name) => {
                rustix::fs::openat(&self.descriptor, name, flags, mode)
            }
            other => other,
        };
        Ok(File::from(opened?))
    }

    /// A descriptor to read the entries; the folder's own descriptor only allows lookups.
    pub fn readable(&self) -> io::Result<OwnedFd> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Ok(rustix::fs::openat(
            &self.descriptor,
            ".",
            flags,
            Mode::empty(),
        )?)
    }

    pub fn descriptor(&self) -> impl AsFd + '_ {
        &self.descriptor
    }
}

enum Entry {
    Folder(TrustedFolder),
    Link(PathBuf),
}

/// The names of a path, the innermost last; `..` may be one of them.
fn names(path: &Path) -> impl Iterator<Item = OsString> + '_ {
    path.components().filter_map(|component| match component {
        Component::Normal(name) => Some(name.to_os_string()),
        Component::ParentDir => Some("..".into()),
        _ => None,
    })
}

fn is_one(name: &OsStr) -> bool {
    let mut components = Path::new(name).components();
    matches!(components.next(), Some(Component::Normal(_))) && components.next().is_none()
}

fn stat_of(descriptor: &OwnedFd, path: &Path) -> Result<Stat> {
    rustix::fs::fstat(descriptor).map_err(|cause| failed("examine", path, cause))
}

fn refuse(descriptor: &OwnedFd, stat: &Stat, path: &Path) -> Result<()> {
    match owner::distrust(descriptor, stat) {
        None => Ok(()),
        Some(why) => Err(EngineError::new(
            Class::UntrustedFolder,
            format!("{} {why}, who could replace its content", path.display()),
            HINT,
        )
        .at(path)),
    }
}

pub(super) fn failed(action: &str, path: &Path, cause: rustix::io::Errno) -> EngineError {
    EngineError::from_io(action, path, &cause.into())
}
