//! `paribus-engine users DEVICE`: the users of a block device, beyond the list of lsblk.
//!
//! In: a device's path and, where it was examined before, its earlier identity. Out: one `users`
//! event. It lists the processes with the device open or mapped. It states whether the kernel
//! refuses an exclusive open (a file system, a raid, an exported target). It reports the identity
//! and its differences. Called by `main` before a load destroys the data on a device.

use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::Path;

use serde::Serialize;

use crate::device::DeviceIdentity;
use crate::error::{EngineError, Result};
use crate::machine::process::pids;

#[derive(Debug, PartialEq, Serialize)]
#[serde(tag = "event", rename = "users")]
pub struct Users {
    /// The reason why it cannot be opened exclusively; null when it can.
    pub exclusive: Option<String>,
    pub processes: Vec<User>,
    /// Whether this user may not see the files of some process.
    pub blind: bool,
    /// Null where it is no block device.
    pub identity: Option<DeviceIdentity>,
    /// The difference from the expected identity; null where there is none.
    pub difference: Option<String>,
}

#[derive(Debug, PartialEq, Serialize)]
pub struct User {
    pub pid: u32,
    pub command: String,
}

pub fn users(device: &Path, expected: Option<&DeviceIdentity>) -> Result<Users> {
    let metadata =
        fs::metadata(device).map_err(|cause| EngineError::from_io("examine", device, &cause))?;
    let number = metadata
        .file_type()
        .is_block_device()
        .then(|| metadata.rdev());
    let identity = (metadata.dev(), metadata.ino());
    let is_it = |other: &fs::Metadata| match number {
        // Every node of a device has its number, under any name.
        Some(number) => other.file_type().is_block_device() && other.rdev() == number,
        None => (other.dev(), other.ino()) == identity,
    };
    let device_identity = match number {
        Some(_) => Some(
            identity_of(device)
                .map_err(|cause| EngineError::from_io("identify", device, &cause))?,
        ),
        None => None,
    };
    let difference = device_identity
        .as_ref()
        .zip(expected)
        .and_then(|(users, expected)| users.differs_from(expected));
    let mut users = Users {
        exclusive: number.and_then(|_| why_not_exclusive(device)),
        processes: Vec::new(),
        blind: false,
        identity: device_identity,
        difference,
    };
    let this_process = std::process::id();
    for pid in pids().into_iter().filter(|&pid| pid != this_process) {
        let folder = Path::new("/proc").join(pid.to_string());
        match has_open(&folder, &is_it) {
            Some(true) => users.processes.push(User {
                pid,
                command: fs::read_to_string(folder.join("comm"))
                    .map(|name| name.trim().to_string())
                    .unwrap_or_default(),
            }),
            Some(false) => {}
            None => users.blind = true,
        }
    }
    Ok(users)
}

/// From an open descriptor where this user may read the device, since that shows more facts.
fn identity_of(device: &Path) -> std::io::Result<DeviceIdentity> {
    match File::open(device) {
        Ok(file) => DeviceIdentity::of_file(&file),
        Err(_) => DeviceIdentity::of_path(device),
    }
}

/// Whether a process has the device open, or mapped after closing it; `None` where this user may
/// not see it.
fn has_open(process: &Path, is_it: &impl Fn(&fs::Metadata) -> bool) -> Option<bool> {
    for folder in ["fd", "map_files"] {
        let links = match fs::read_dir(process.join(folder)) {
            Ok(links) => links,
            Err(cause) if cause.kind() == std::io::ErrorKind::PermissionDenied => return None,
            // The process has ended meanwhile.
            Err(_) => return Some(false),
        };
        let mut held = links.flatten().map(|entry| entry.path());
        if held.any(|path| fs::metadata(path).is_ok_and(|metadata| is_it(&metadata))) {
            return Some(true);
        }
    }
    Some(false)
}

fn why_not_exclusive(device: &Path) -> Option<String> {
    OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_EXCL)
        .open(device)
        .err()
        .map(|cause| cause.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_has_a_file_open_is_found_by_any_of_its_names() {
        let directory = tempfile::tempdir().unwrap();
        let (file, link) = (directory.path().join("file"), directory.path().join("link"));
        fs::write(&file, "x").unwrap();
        fs::hard_link(&file, &link).unwrap();
        assert_eq!(users(&file, None).unwrap().processes, []);
        let held = fs::File::open(&file).unwrap();
        let mut child = std::process::Command::new("sleep")
            .arg("60")
            .stdin(held)
            .spawn()
            .unwrap();
        let processes = users(&link, None).unwrap().processes;
        child.kill().unwrap();
        child.wait().unwrap();
        let expected = User {
            pid: child.id(),
            command: "sleep".into(),
        };
        assert_eq!(processes, [expected]);
    }

    #[test]
    fn what_is_not_there_is_an_error_and_no_free_device() {
        assert!(users(Path::new("/dev/no-such-device"), None).is_err());
    }
}
