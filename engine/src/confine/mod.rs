//! `paribus-engine confine`: runs a program that can write only to named directories and devices.
//!
//! In: options and a program. Out: this process becomes the program, in a separate mount namespace.
//! All mounts are read-only except the named directories. `/tmp` is empty and private, and `/dev`
//! has the harmless nodes and the named block devices. Called by `main`.
//!
//! This protects from a wrong path in a tool's options or script. The program keeps its user. As
//! root it loses the capabilities to change mounts, make nodes or reach other processes.

mod mounts;

use std::env;
use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt, symlink};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::Args;
use rustix::io::FdFlags;
use rustix::thread::{CapabilitySet, remove_capability_from_bounding_set};
use serde::Deserialize;

use crate::device::DeviceIdentity;
use crate::error::{Class, EngineError, Result};
use mounts::Tree;

const NODES: [&str; 5] = ["null", "zero", "full", "random", "urandom"];
const LINKS: [(&str, &str); 4] = [
    ("fd", "/proc/self/fd"),
    ("stdin", "/proc/self/fd/0"),
    ("stdout", "/proc/self/fd/1"),
    ("stderr", "/proc/self/fd/2"),
];
const ALWAYS_DROPPED: [CapabilitySet; 4] = [
    CapabilitySet::SYS_MODULE,
    CapabilitySet::SYS_PTRACE,
    CapabilitySet::SYS_BOOT,
    CapabilitySet::MKNOD,
];
/// Flushing the cache of a block device needs them.
const DROPPED_WITHOUT_DEVICES: [CapabilitySet; 2] =
    [CapabilitySet::SYS_RAWIO, CapabilitySet::SYS_ADMIN];

#[derive(Debug, Clone, Args)]
pub struct Confinement {
    /// A directory that the program may write to, including everything below it.
    #[arg(long = "writable", value_name = "DIRECTORY")]
    writable: Vec<PathBuf>,
    /// A file or directory below /tmp that the program may read.
    #[arg(long = "readable", value_name = "PATH")]
    readable: Vec<PathBuf>,
    /// A block device that the program may use: {"path": …, "identity": …}.
    #[arg(long = "device", value_name = "JSON", value_parser = named_device)]
    devices: Vec<NamedDevice>,
    /// The program and its arguments; none: only check whether this machine can confine.
    #[arg(last = true)]
    argv: Vec<OsString>,
}

/// The device that a path must lead to; no identity: any.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct NamedDevice {
    path: PathBuf,
    #[serde(default)]
    identity: Option<DeviceIdentity>,
}

fn named_device(text: &str) -> std::result::Result<NamedDevice, serde_json::Error> {
    serde_json::from_str(text)
}

/// Returns only when no program was named, or with an error.
///
/// # Errors
///
/// `Permission` where the namespace cannot be created, `DeviceChanged` where a path leads to
/// another device.
pub fn confine(confinement: &Confinement) -> Result<()> {
    let directory = env::current_dir().map_err(|cause| failed("find", Path::new("."), &cause))?;
    mounts::unshare()
        .map_err(|cause| failed("create a mount namespace for", &directory, &cause))?;
    let device_files = confinement
        .devices
        .iter()
        .map(open_device)
        .collect::<Result<Vec<_>>>()?;
    let trees = trees(confinement, &device_files)?;
    let nodes = NODES.map(|name| Path::new("/dev").join(name));
    let nodes = nodes.iter().filter(|path| path.exists());
    let nodes = nodes
        .map(|path| clone(path, path.clone()))
        .collect::<Result<Vec<_>>>()?;

    let root = Path::new("/");
    mounts::make_read_only(root, true).map_err(|cause| failed("make read-only", root, &cause))?;
    for (target, options) in [("/tmp", c"mode=1777"), ("/dev", c"mode=755")] {
        let target = Path::new(target);
        mounts::mount_tmpfs(target, options).map_err(|cause| failed("replace", target, &cause))?;
    }
    fill_dev().map_err(|cause| failed("fill", Path::new("/dev"), &cause))?;
    for (tree, target) in nodes.iter().chain(&trees) {
        mounts::make_target(target, tree.is_directory)
            .and_then(|()| tree.attach(target))
            .map_err(|cause| failed("mount", target, &cause))?;
    }
    let dev = Path::new("/dev");
    mounts::make_read_only(dev, false).map_err(|cause| failed("make read-only", dev, &cause))?;
    if confinement.argv.is_empty() {
        return Ok(());
    }
    // The former working directory lies below the new mounts.
    env::set_current_dir(&directory).map_err(|cause| failed("enter", &directory, &cause))?;
    drop_capabilities(device_files.is_empty())?;
    become_program(&confinement.argv, device_files)
}

/// Copies of the directories and devices with their paths, taken before all mounts become
/// read-only.
fn trees(confinement: &Confinement, device_files: &[File]) -> Result<Vec<(Tree, PathBuf)>> {
    let mut trees = Vec::new();
    let mut writable: Vec<PathBuf> = Vec::new();
    for path in &confinement.writable {
        let path = canonical(path)?;
        if path == Path::new("/") {
            return Err(EngineError::bad_job(
                "--writable / would leave nothing read-only: name a directory below it",
            ));
        }
        writable.push(path);
    }
    // Mounts a directory before the directories below it, which would be hidden otherwise.
    writable.sort();
    for path in &writable {
        let (tree, target) = clone(path, path.clone())?;
        tree.forbid_devices()
            .map_err(|cause| failed("forbid devices in", path, &cause))?;
        trees.push((tree, target));
    }
    for path in confinement.readable.iter().filter(|path| path.exists()) {
        let path = canonical(path)?;
        let is_hidden = path.starts_with("/tmp") && path != Path::new("/tmp");
        if !is_hidden || writable.iter().any(|above| path.starts_with(above)) {
            continue;
        }
        let (tree, target) = clone(&path, path.clone())?;
        tree.make_read_only()
            .map_err(|cause| failed("make read-only", &path, &cause))?;
        trees.push((tree, target));
    }
    for (device, file) in confinement.devices.iter().zip(device_files) {
        let node = PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()));
        let target = canonical(&device.path)?;
        if device.path != target && device.path.starts_with("/dev") {
            trees.push(clone(&node, device.path.clone())?);
        }
        trees.push(clone(&node, target)?);
    }
    Ok(trees)
}

fn clone(path: &Path, target: PathBuf) -> Result<(Tree, PathBuf)> {
    Tree::clone_of(path)
        .map(|tree| (tree, target))
        .map_err(|cause| failed("copy the mounts of", path, &cause))
}

fn canonical(path: &Path) -> Result<PathBuf> {
    fs::canonicalize(path).map_err(|cause| failed("find", path, &cause))
}

/// The opened device, which keeps its number as long as the descriptor is open.
fn open_device(device: &NamedDevice) -> Result<File> {
    let path = &device.path;
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_NONBLOCK)
        .open(path)
        .map_err(|cause| failed("open", path, &cause))?;
    crate::io::device::refuse_another(path, &file, device.identity.as_ref())?;
    Ok(file)
}

fn fill_dev() -> io::Result<()> {
    for (name, target) in LINKS {
        symlink(target, Path::new("/dev").join(name))?;
    }
    let shared = Path::new("/dev/shm");
    fs::create_dir(shared)?;
    mounts::mount_tmpfs(shared, c"mode=1777")?;
    fs::set_permissions(shared, fs::Permissions::from_mode(0o1777))
}

fn drop_capabilities(has_no_devices: bool) -> Result<()> {
    let additional = DROPPED_WITHOUT_DEVICES.iter().filter(|_| has_no_devices);
    for &capability in ALWAYS_DROPPED.iter().chain(additional) {
        remove_capability_from_bounding_set(capability).map_err(|cause| {
            let number = capability.bits().trailing_zeros();
            refused(format!(
                "cannot drop capability {number}: {}",
                io::Error::from(cause)
            ))
        })?;
    }
    Ok(())
}

fn become_program(argv: &[OsString], held: Vec<File>) -> Result<()> {
    let Some((program, arguments)) = argv.split_first() else {
        return Ok(());
    };
    for file in held {
        // Stays open while the program runs, so that no other device gets the same number.
        let _ = rustix::io::fcntl_setfd(&file, FdFlags::empty());
        std::mem::forget(file);
    }
    let cause = Command::new(program).args(arguments).exec();
    Err(failed("start", Path::new(program), &cause))
}

fn failed(action: &str, path: &Path, cause: &io::Error) -> EngineError {
    let message = format!("cannot {action} {}: {cause}", path.display());
    refused(message).at(path)
}

fn refused(message: String) -> EngineError {
    EngineError::new(
        Class::Permission,
        message,
        "run as root with CAP_SYS_ADMIN on Linux 5.12 or newer, and check that the program and the paths exist",
    )
}
