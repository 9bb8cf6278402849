//! Loop devices, which only root can create.

#![allow(dead_code, clippy::unwrap_used, clippy::panic)]

use std::fs::File;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use super::{disk_directory, job};

pub const SIZE: u64 = 8 << 20;
const LOOP_CTL_REMOVE: libc::Ioctl = 0x4C81;

pub struct Loop {
    pub path: PathBuf,
    pub backing: PathBuf,
    numbered: Option<u32>,
    _directory: tempfile::TempDir,
}

/// Whether devices can be created here; where tests must not be skipped, a failure.
pub fn may_make_devices() -> bool {
    let root = paribus_engine::machine::is_root();
    assert!(
        root || std::env::var_os("PARIBUS_NO_SKIP").is_none(),
        "this test needs root, and PARIBUS_NO_SKIP lets none be skipped"
    );
    if !root {
        eprintln!("skipped: only root can make a loop device");
    }
    root
}

pub fn command(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{program} {arguments:?}: {error}");
    String::from_utf8(output.stdout).unwrap().trim().to_string()
}

impl Loop {
    /// A device of `SIZE` bytes, created by losetup with these options.
    pub fn new(options: &[&str]) -> Loop {
        let directory = disk_directory();
        let backing = directory.path().join("disk");
        File::create(&backing).unwrap().set_len(SIZE).unwrap();
        let mut arguments = options.to_vec();
        arguments.extend(["--find", "--show", backing.to_str().unwrap()]);
        Loop {
            path: command("losetup", &arguments).into(),
            backing,
            numbered: None,
            _directory: directory,
        }
    }

    /// `/dev/loopN` with N far above the numbers of `--find`, so that no other test takes the name
    /// while it is free. Each caller has its own number.
    pub fn numbered(number: u32) -> Loop {
        let directory = disk_directory();
        let backing = directory.path().join("disk");
        File::create(&backing).unwrap().set_len(SIZE).unwrap();
        let path = PathBuf::from(format!("/dev/loop{number}"));
        command(
            "losetup",
            &[path.to_str().unwrap(), backing.to_str().unwrap()],
        );
        Loop {
            path,
            backing,
            numbered: Some(number),
            _directory: directory,
        }
    }

    /// Detaches the file and attaches another one under the same name.
    pub fn attach_instead(&self, backing: &Path) {
        command("losetup", &["-d", self.name()]);
        command("losetup", &[self.name(), backing.to_str().unwrap()]);
    }

    pub fn name(&self) -> &str {
        self.path.to_str().unwrap()
    }

    /// As `harness::job`, on this device in full.
    pub fn job(&self, phase: &str, changes: Value) -> Value {
        let mut job = job(Path::new("/"), phase, json!({}));
        job["workload"]["data"] = json!({"device": self.path, "total_size_bytes": SIZE});
        super::change(&mut job, &changes);
        job
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        let _ = Command::new("losetup").arg("-d").arg(&self.path).status();
        if let Some(number) = self.numbered {
            let control = File::open("/dev/loop-control").unwrap();
            // SAFETY: takes a number, and `control` keeps the descriptor open.
            unsafe { libc::ioctl(control.as_raw_fd(), LOOP_CTL_REMOVE, number) };
        }
    }
}
