//! Storage that misbehaves on request: a file system over an ordinary folder.
//!
//! In: rules, a delay, a budget of space, or the order to hold everything. Out: a mounted folder,
//! and how it has answered, to be compared with what the engine says. Called by the tests of
//! failures.

#![allow(
    dead_code,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::too_many_arguments
)]

mod disk;
mod pass;

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use fuser::{BackgroundSession, Config, MountOption};

use crate::harness::disk_directory;
pub use disk::{Answered, Disk};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Read,
    Write,
    Fsync,
}

/// How an operation is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    Honest,
    /// With this error number; nothing is done.
    Error(i32),
    /// Only so many bytes are moved.
    Short(u64),
    /// "Written", and nothing is.
    Lose,
    /// "Written", but so many bytes further on.
    Misplace(u64),
    /// "Written", but only so many bytes of it.
    Tear(u64),
}

/// Operations of a kind that touch a range of bytes of any file are answered in a certain way.
#[derive(Debug, Clone)]
pub struct Rule {
    pub kind: Kind,
    pub range: Range<u64>,
    pub answer: Answer,
}

/// Every operation of a kind, wherever it is.
pub fn every(kind: Kind, answer: Answer) -> Rule {
    within(0..u64::MAX, kind, answer)
}

pub fn within(range: Range<u64>, kind: Kind, answer: Answer) -> Rule {
    Rule {
        kind,
        range,
        answer,
    }
}

/// The mounted file system. Files may be prepared below `honest` before anything goes wrong.
pub struct Faulty {
    pub disk: Arc<Disk>,
    mounted: Option<BackgroundSession>,
    mountpoint: tempfile::TempDir,
    below: tempfile::TempDir,
}

impl Faulty {
    /// An empty file system without faults.
    pub fn mount() -> Faulty {
        let (mountpoint, below) = (disk_directory(), disk_directory());
        let disk = Arc::<Disk>::default();
        let files = pass::Pass::over(below.path(), Arc::clone(&disk));
        let mut options = Config::default();
        options.mount_options = vec![MountOption::FSName("faulty".into())];
        let mounted = fuser::spawn_mount(files, mountpoint.path(), &options)
            .expect("a FUSE file system can be mounted: root or fusermount3, and /dev/fuse");
        Faulty {
            disk,
            mounted: Some(mounted),
            mountpoint,
            below,
        }
    }

    /// The folder that misbehaves.
    pub fn path(&self) -> &Path {
        self.mountpoint.path()
    }

    /// The same files without faults.
    pub fn honest(&self) -> &Path {
        self.below.path()
    }
}

impl Drop for Faulty {
    fn drop(&mut self) {
        self.disk.delay(Duration::ZERO);
        self.disk.release();
        if let Some(mounted) = self.mounted.take()
            && mounted.umount_and_join().is_err()
        {
            let _ = std::process::Command::new("fusermount3")
                .args(["-u", "-z"])
                .arg(self.mountpoint.path())
                .status();
        }
    }
}
