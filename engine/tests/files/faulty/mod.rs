//! Storage with faults on request: a file system over an ordinary folder.
//!
//! In: rules, a delay, a budget of space, or the order to hold all operations. Out: a mounted
//! folder, and the counts of its answers, to be compared with the engine's report. Called by the
//! tests of failures.

#![allow(
    dead_code,
    unused_imports,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::too_many_arguments
)]

mod disk;
mod pass;

use std::fs::OpenOptions;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use fuser::{BackgroundSession, Config, MountOption};

use crate::harness::{disk_directory, prepare};
pub use disk::{Answered, Disk};
use serde_json::json;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Read,
    Write,
    Fsync,
}

/// The answer to an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    Honest,
    /// With this error number; nothing is done.
    Error(i32),
    /// Only this many bytes are moved.
    Short(u64),
    /// "Written", but nothing is stored.
    Lose,
    /// "Written", but stored this many bytes further on.
    Misplace(u64),
    /// "Written", but only this many bytes are stored.
    Tear(u64),
}

/// Gives operations of a kind on a range of bytes of any file a certain answer.
#[derive(Debug, Clone)]
pub struct Rule {
    pub kind: Kind,
    pub range: Range<u64>,
    pub answer: Answer,
}

/// Whether file systems of this process can be mounted; where tests must not be skipped, a failure.
pub fn may_mount() -> bool {
    let opened = OpenOptions::new().read(true).write(true).open("/dev/fuse");
    assert!(
        opened.is_ok() || std::env::var_os("PARIBUS_NO_SKIP").is_none(),
        "this test needs /dev/fuse, and PARIBUS_NO_SKIP lets none be skipped"
    );
    if let Err(cause) = &opened {
        eprintln!("skipped: /dev/fuse cannot be opened: {cause}");
    }
    opened.is_ok()
}

/// Faulty storage that still works, with the data of `harness::job` on it.
pub fn prepared() -> Faulty {
    let storage = Faulty::mount();
    prepare(storage.honest(), json!({}));
    storage
}

/// Every operation of a kind, at any offset.
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

/// The mounted file system. Files can be prepared below `honest` without faults.
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

    /// The folder with faults.
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
