//! One option of a mounted file system, changed in place or by unmounting and mounting again.
//!
//! In: the option's word, and the words that it replaces. Out: the option in force, all other
//! options unchanged. Called by `journal::action`. The present mount is read from the kernel each
//! time. So an option that somebody else changed meanwhile is not undone with ours.

use std::fs;
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::Undo;
use super::program::output;
use crate::machine::mounts::{self, Mount};

const BUSY_PATIENCE: Duration = Duration::from_secs(10);
const RETRY: Duration = Duration::from_millis(50);
/// The kernel hides `strictatime`, the value without these words; a new mount needs it as an
/// option.
const ATIMES: [&str; 2] = ["noatime", "relatime"];

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MountOption {
    /// The mount point.
    pub path: PathBuf,
    /// `noatime`, `commit=5`; empty: the option is not set.
    pub option: String,
    /// The words that it replaces; `commit=` matches every word with this beginning.
    pub instead_of: Vec<String>,
    /// The value in force where none of these words is shown.
    pub hidden: String,
    /// The option only takes effect at mounting, so the file system is unmounted first.
    pub anew: bool,
    /// The original mount. An undo that needs a new mount uses all its options, including others
    /// that the option has changed.
    #[serde(default)]
    pub mounted: Option<Mounted>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mounted {
    pub point: PathBuf,
    pub source: String,
    pub filesystem: String,
    /// The flags of the mount point: `rw,noatime`.
    pub flags: String,
    /// The options of the file system: `commit=60`.
    pub options: String,
}

impl Undo for MountOption {
    fn subject(&self) -> String {
        let replaced = self.instead_of.join("|");
        format!("{} ({replaced})", self.path.display())
    }

    fn path(&self) -> Option<&Path> {
        Some(&self.path)
    }

    fn expected(&self) -> String {
        if self.option.is_empty() {
            self.hidden.clone()
        } else {
            self.option.clone()
        }
    }

    fn read_back(&self) -> io::Result<String> {
        let now = mounted_at(&self.path)?.ok_or_else(|| self.nothing_there())?;
        let mut options = now.flags.split(',').chain(now.options.split(','));
        let word = options.find(|word| self.replaces(word));
        Ok(word.unwrap_or(&self.hidden).to_string())
    }

    /// The mount as a whole must be as before: a refused new mount leaves `data=ordered` where the
    /// default was not shown.
    fn must_succeed(&self) -> bool {
        self.anew && self.mounted.is_some()
    }

    fn execute(&self) -> io::Result<()> {
        match (mounted_at(&self.path)?, &self.mounted) {
            (Some(now), Some(before)) if now == *before => Ok(()),
            (Some(now), Some(before)) if self.anew => {
                mount_anew(&now, &before.all())?;
                before.check_restored()
            }
            (Some(now), None) if self.anew => mount_anew(&now, &self.changed(&now.all())),
            (Some(now), _) => self.remount(&now),
            (None, Some(before)) => {
                mount(before, &before.all())?;
                before.check_restored()
            }
            (None, None) => Err(self.nothing_there()),
        }
    }
}

impl MountOption {
    /// The device mounted there, at present or originally; `None` for a file system without one.
    pub fn source(&self) -> Option<PathBuf> {
        let now = mounted_at(&self.path).ok().flatten();
        let mounted = now.or_else(|| self.mounted.clone())?;
        Some(PathBuf::from(mounted.source)).filter(|source| source.starts_with("/dev"))
    }

    fn remount(&self, now: &Mounted) -> io::Result<()> {
        // Flags that are not repeated are lost; options of the file system stay.
        let options = self.changed(&now.flags());
        mount(now, &format!("remount,{options}"))
    }

    /// All options, with this one in place of the words that it replaces.
    fn changed(&self, options: &str) -> String {
        let unchanged = options.split(',').filter(|word| !self.replaces(word));
        let new = (!self.option.is_empty()).then_some(self.option.as_str());
        unchanged.chain(new).collect::<Vec<_>>().join(",")
    }

    fn replaces(&self, word: &str) -> bool {
        self.instead_of.iter().any(|other| {
            other == word || (other.ends_with('=') && word.starts_with(other.as_str()))
        })
    }

    fn nothing_there(&self) -> io::Error {
        let message = format!("nothing is mounted at {}", self.path.display());
        io::Error::new(io::ErrorKind::NotFound, message)
    }
}

impl Mounted {
    fn flags(&self) -> String {
        if self.flags.split(',').any(|word| ATIMES.contains(&word)) {
            self.flags.clone()
        } else {
            format!("{},strictatime", self.flags)
        }
    }

    fn all(&self) -> String {
        format!("{},{}", self.flags(), self.options)
    }

    /// Refuses a mount that differs from this one in any option: a file system that was still
    /// mounted elsewhere keeps its options.
    fn check_restored(&self) -> io::Result<()> {
        let now = mounted_at(&self.point)?;
        if now.as_ref() == Some(self) {
            return Ok(());
        }
        let now = now.map_or("nothing".into(), |mount| mount.all());
        let message = format!("{} has {now}, not {}", self.point.display(), self.all());
        Err(io::Error::other(message))
    }
}

fn mount_anew(now: &Mounted, options: &str) -> io::Result<()> {
    refuse_vanishing(&now.source)?;
    unmount(&now.point)?;
    let mounted = wait_until_ended(now).and_then(|()| mount(now, options));
    if mounted.is_err() {
        // A missing file system is worse than a refused setting.
        mount(now, &now.all())?;
    }
    mounted
}

/// Repeats while the file system is in use: programs that list mounts or free space hold it for a moment.
fn unmount(point: &Path) -> io::Result<()> {
    let deadline = Instant::now() + BUSY_PATIENCE;
    loop {
        match output(&["umount", &point.display().to_string()]) {
            Err(cause) if cause.to_string().contains("busy") && Instant::now() < deadline => {
                thread::sleep(RETRY);
            }
            result => return result.map(drop),
        }
    }
}

/// Waits until the kernel has ended an unmounted file system. Where it is mounted elsewhere too, as in
/// a mount namespace, a new mount would share it and keep its options.
fn wait_until_ended(unmounted: &Mounted) -> io::Result<()> {
    let deadline = Instant::now() + BUSY_PATIENCE;
    while is_active(&unmounted.source) {
        if Instant::now() >= deadline {
            let source = &unmounted.source;
            let place = match mounts::holder(source) {
                Some((pid, point)) => format!("at {} by process {pid}", point.display()),
                None => "elsewhere".into(),
            };
            let message = format!(
                "{source} is still mounted {place}, so it keeps its options: unmount it there or end that process"
            );
            return Err(io::Error::other(message));
        }
        thread::sleep(RETRY);
    }
    Ok(())
}

/// Whether a file system on this device is active: the kernel then holds the device for itself.
fn is_active(source: &str) -> bool {
    let opened = fs::OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_EXCL)
        .open(source);
    opened.is_err_and(|cause| cause.raw_os_error() == Some(libc::EBUSY))
}

fn mount(mounted: &Mounted, options: &str) -> io::Result<()> {
    let point = mounted.point.display().to_string();
    let Mounted {
        source, filesystem, ..
    } = mounted;
    output(&["mount", "-t", filesystem, "-o", options, source, &point]).map(drop)
}

/// Refuses a loop device that was created for the mount: unmounting removes it, and then nothing
/// could be mounted.
fn refuse_vanishing(source: &str) -> io::Result<()> {
    let Some(name) = source.strip_prefix("/dev/") else {
        return Ok(());
    };
    let autoclear = fs::read_to_string(format!("/sys/block/{name}/loop/autoclear"));
    if autoclear.is_ok_and(|text| text.trim() == "1") {
        let message = format!(
            "{source} would disappear when it is unmounted, since mount -o loop created it"
        );
        return Err(io::Error::other(message));
    }
    Ok(())
}

fn mounted_at(point: &Path) -> io::Result<Option<Mounted>> {
    Ok(topmost(mounts::present()?, point))
}

/// The topmost mount at this point, which is the last one in the list.
fn topmost(mounts: Vec<Mount>, point: &Path) -> Option<Mounted> {
    let mut from_the_top = mounts.into_iter().rev();
    let mount = from_the_top.find(|mount| mount.point == point)?;
    Some(Mounted {
        point: mount.point,
        source: mount.source,
        filesystem: mount.filesystem,
        flags: mount.flags,
        options: mount.options,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn barrier(path: &str) -> MountOption {
        MountOption {
            path: path.into(),
            option: "nobarrier".into(),
            instead_of: vec!["barrier".into(), "nobarrier".into()],
            hidden: "barrier".into(),
            anew: false,
            mounted: None,
        }
    }

    #[test]
    fn a_new_mount_has_all_flags_and_options_of_the_topmost_one() {
        let mounts = mounts::parse(
            "40 22 7:0 / /data rw,noatime - ext4 /dev/loop0 rw,commit=60\n\
             41 40 7:1 / /data rw - xfs /dev/loop1 rw,logbsize=32k\n",
        );
        let data = topmost(mounts.clone(), Path::new("/data")).unwrap();
        assert_eq!(data.filesystem, "xfs");
        assert_eq!(data.all(), "rw,strictatime,rw,logbsize=32k");
        assert_eq!(topmost(mounts, Path::new("/")), None);
    }

    #[test]
    fn an_option_takes_the_place_of_its_other_spellings_and_of_nothing_else() {
        let barrier = barrier("/");
        assert_eq!(
            barrier.changed("rw,barrier,commit=5"),
            "rw,commit=5,nobarrier"
        );
        let commit = MountOption {
            option: String::new(),
            instead_of: vec!["commit=".into()],
            ..barrier
        };
        assert_eq!(commit.changed("rw,commit=60,nobarrier"), "rw,nobarrier");
    }

    #[test]
    fn where_nothing_is_mounted_it_says_so() {
        let cause = barrier("/nowhere").read_back().unwrap_err();
        assert!(cause.to_string().contains("nothing is mounted at /nowhere"));
        assert!(barrier("/nowhere").execute().is_err());
    }
}
