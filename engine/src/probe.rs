//! `paribus-engine probe DIR`: the features of this machine and of the directory for the files.
//!
//! In: a directory, which need not exist yet. Out: one `probe` event. Called by `main`. Features
//! are tried where possible: a flag or a version would only be a guess.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::Serialize;

use crate::error::{EngineError, Result};
use crate::event::PROTOCOL;
use crate::folder::TrustedFolder;
use crate::io::buffer::Buffer;
use crate::io::{direct, uring};
use crate::machine;
use crate::machine::mounts::{self, Mount};
use crate::telemetry::memory;

#[derive(Debug, Serialize)]
#[serde(tag = "event", rename = "probe")]
pub struct Probe {
    protocol: u32,
    version: &'static str,
    kernel: String,
    hostname: String,
    cores: usize,
    memory_bytes: u64,
    boot_id: String,
    uid: u32,
    /// Null when it works, else the reason; the same for `direct` and `directory.writable`.
    io_uring: Option<String>,
    direct: Option<String>,
    directory: Directory,
}

#[derive(Debug, Serialize)]
struct Directory {
    path: PathBuf,
    free_bytes: u64,
    total_bytes: u64,
    filesystem: String,
    device: String,
    major_minor: String,
    writable: Option<String>,
    exists: bool,
    /// The reason why others could replace files there; null when they cannot.
    untrusted: Option<String>,
}

pub fn probe(directory: &Path) -> Result<Probe> {
    let absolute = std::path::absolute(at_home(directory))
        .map_err(|cause| EngineError::from_io("find", directory, &cause))?;
    let nearest = machine::nearest_existing(&absolute);
    // Links are followed, since the mount of the real directory is the one that counts.
    let existing = fs::canonicalize(&nearest)
        .map_err(|cause| EngineError::from_io("find", &nearest, &cause))?;
    let space = machine::space(&existing)
        .map_err(|cause| EngineError::from_io("read the free space of", &existing, &cause))?;
    let mount = mount_of(&existing, mounts::present().unwrap_or_default());
    let (mount_number, filesystem, source) = mount.map_or_else(Default::default, |mount| {
        (mount.major_minor, mount.filesystem, mount.source)
    });
    let major_minor = device_number(&existing).unwrap_or(mount_number);
    let meminfo = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    Ok(Probe {
        protocol: PROTOCOL,
        version: env!("CARGO_PKG_VERSION"),
        kernel: machine::kernel_release(),
        hostname: machine::hostname(),
        cores: machine::cores_usable(),
        memory_bytes: memory::parse(&meminfo).total_bytes,
        boot_id: machine::boot_id(),
        uid: machine::user(),
        io_uring: uring::why_not(),
        direct: why_not_direct(&existing),
        directory: Directory {
            free_bytes: space.available_bytes,
            total_bytes: space.total_bytes,
            filesystem,
            device: device_name(&major_minor).unwrap_or(source),
            major_minor,
            writable: try_writing(&existing, 0).err().map(reason),
            exists: absolute.is_dir(),
            untrusted: TrustedFolder::open(&nearest)
                .err()
                .map(|refusal| refusal.message),
            path: absolute,
        },
    })
}

/// `~` at the beginning is the user's home, as in a shell.
fn at_home(path: &Path) -> PathBuf {
    match (path.strip_prefix("~"), std::env::var_os("HOME")) {
        (Ok(below_home), Some(home)) => PathBuf::from(home).join(below_home),
        _ => path.to_path_buf(),
    }
}

fn reason(cause: io::Error) -> String {
    cause.to_string()
}

fn why_not_direct(directory: &Path) -> Option<String> {
    match direct::refuse_memory(directory) {
        Err(refusal) => Some(refusal.message),
        Ok(()) => try_writing(directory, libc::O_DIRECT).err().map(reason),
    }
}

/// Writes one block into a temporary file, with the flags of the load.
fn try_writing(directory: &Path, flags: i32) -> io::Result<()> {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(u64::from(std::process::id()));
    let buffer = Buffer::random(4096, &mut rng).map_err(io::Error::other)?;
    let file = temporary_file(directory, flags)?;
    file.write_all_at(buffer.bytes(), 0)
}

/// A file that is removed when it is closed, in every case.
fn temporary_file(directory: &Path, flags: i32) -> io::Result<File> {
    let nameless = OpenOptions::new()
        .write(true)
        .custom_flags(libc::O_TMPFILE | flags)
        .open(directory);
    match nameless {
        Err(cause) if matches!(cause.raw_os_error(), Some(libc::EOPNOTSUPP | libc::EISDIR)) => {
            let path = directory.join(format!(".paribus-probe-{}", std::process::id()));
            let file = OpenOptions::new()
                .write(true)
                .create_new(true)
                .custom_flags(flags)
                .open(&path);
            // Some file systems create the file and then refuse the flag.
            let _ = fs::remove_file(&path);
            file
        }
        other => other,
    }
}

/// The mount of a path: the longest mount point above it, the last of equal ones.
fn mount_of(path: &Path, mounts: Vec<Mount>) -> Option<Mount> {
    let above = mounts
        .into_iter()
        .filter(|mount| path.starts_with(&mount.point));
    above.max_by_key(|mount| mount.point.components().count())
}

/// The device number of a file; `None` on file systems that invent numbers (btrfs, overlay).
fn device_number(path: &Path) -> Option<String> {
    let device = fs::metadata(path).ok()?.dev();
    let (major, minor) = (rustix::fs::major(device), rustix::fs::minor(device));
    (major != 0).then(|| format!("{major}:{minor}"))
}

/// The usual name of a block device; `None` when the number belongs to no block device.
fn device_name(major_minor: &str) -> Option<String> {
    let uevent = fs::read_to_string(format!("/sys/dev/block/{major_minor}/uevent")).ok()?;
    let name = uevent
        .lines()
        .find_map(|line| line.strip_prefix("DEVNAME="))?;
    Some(format!("/dev/{name}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOUNTS: &str = "27 1 254:0 / / rw,relatime - ext4 /dev/vda rw\n\
        30 27 0:25 / /mnt/a\\040b rw shared:1 - tmpfs none rw\n\
        31 30 8:1 / /mnt/a\\040b rw - xfs /dev/sda1 rw\n";

    #[test]
    fn the_innermost_and_last_mount_counts() {
        let source = |path: &str| {
            let mount = mount_of(Path::new(path), mounts::parse(MOUNTS));
            mount.unwrap().source
        };
        assert_eq!(source("/mnt/a b/c"), "/dev/sda1");
        assert_eq!(source("/mnt/a bc"), "/dev/vda");
        assert_eq!(source("/"), "/dev/vda");
    }

    #[test]
    fn a_directory_that_does_not_exist_yet_is_probed_by_its_parent() {
        let parent = tempfile::tempdir().unwrap();
        let probe = probe(&parent.path().join("not/yet")).unwrap();
        assert!(probe.directory.free_bytes > 0);
        assert_eq!(probe.directory.writable, None);
        assert_eq!(fs::read_dir(parent.path()).unwrap().count(), 0);
    }
}
