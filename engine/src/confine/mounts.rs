//! Private mounts of this process: a namespace, copies of mounts, read-only mounts, file systems in
//! memory.
//!
//! In: paths. Out: system calls. Called by `confine`.

use std::ffi::{CStr, CString};
use std::fs::{self, File};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::fs::CWD;
use rustix::mount::{
    MountFlags, MountPropagationFlags, MoveMountFlags, OpenTreeFlags, mount, mount_change,
    move_mount, open_tree,
};
use rustix::thread::{UnshareFlags, unshare_unsafe};

const AT_RECURSIVE: libc::c_int = 0x8000;
const MOUNT_ATTR_RDONLY: u64 = 1;
const MOUNT_ATTR_NODEV: u64 = 4;

/// `struct mount_attr` of `linux/mount.h`.
#[repr(C)]
struct MountAttributes {
    set: u64,
    clear: u64,
    propagation: u64,
    user_namespace: u64,
}

/// Hides the later mounts of this process from all other processes.
pub fn unshare() -> io::Result<()> {
    // SAFETY: a mount namespace leaves the table of open files shared, which is the danger here.
    unsafe { unshare_unsafe(UnshareFlags::NEWNS) }?;
    let flags = MountPropagationFlags::REC | MountPropagationFlags::PRIVATE;
    Ok(mount_change(c"/", flags)?)
}

/// Mounts an empty file system in memory at `target`.
pub fn mount_tmpfs(target: &Path, options: &CStr) -> io::Result<()> {
    Ok(mount(
        c"tmpfs",
        target,
        c"tmpfs",
        MountFlags::NOSUID,
        options,
    )?)
}

/// Makes the mount at `target` read-only, and those below it where it is `recursive`. Devices on it
/// cannot be opened: a read-only mount alone lets them be written to.
pub fn make_read_only(target: &Path, recursive: bool) -> io::Result<()> {
    let flags = if recursive { AT_RECURSIVE } else { 0 };
    let set = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NODEV;
    let target = CString::new(target.as_os_str().as_bytes()).map_err(io::Error::other)?;
    set_attributes(libc::AT_FDCWD, &target, flags, set)
}

/// Creates the missing target for attaching a copy of a mount.
pub fn make_target(target: &Path, is_directory: bool) -> io::Result<()> {
    if target.symlink_metadata().is_ok() {
        return Ok(());
    }
    if is_directory {
        return fs::create_dir_all(target);
    }
    if let Some(above) = target.parent() {
        fs::create_dir_all(above)?;
    }
    File::create(target).map(drop)
}

/// A copy of a file or directory with the mounts below it, not attached yet.
pub struct Tree {
    mount: OwnedFd,
    pub is_directory: bool,
}

impl Tree {
    pub fn clone_of(path: &Path) -> io::Result<Tree> {
        let is_directory = fs::metadata(path)?.is_dir();
        let mut flags = OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC;
        flags.set(OpenTreeFlags::AT_RECURSIVE, is_directory);
        Ok(Tree {
            mount: open_tree(CWD, path, flags)?,
            is_directory,
        })
    }

    pub fn make_read_only(&self) -> io::Result<()> {
        self.set(MOUNT_ATTR_RDONLY | MOUNT_ATTR_NODEV)
    }

    /// Forbids opening any device on it.
    pub fn forbid_devices(&self) -> io::Result<()> {
        self.set(MOUNT_ATTR_NODEV)
    }

    fn set(&self, attributes: u64) -> io::Result<()> {
        let flags = AT_RECURSIVE | libc::AT_EMPTY_PATH;
        set_attributes(self.mount.as_raw_fd(), c"", flags, attributes)
    }

    pub fn attach(&self, target: &Path) -> io::Result<()> {
        let flags = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH;
        Ok(move_mount(&self.mount, c"", CWD, target, flags)?)
    }
}

fn set_attributes(
    directory: libc::c_int,
    path: &CStr,
    flags: libc::c_int,
    set: u64,
) -> io::Result<()> {
    let attributes = MountAttributes {
        set,
        clear: 0,
        propagation: 0,
        user_namespace: 0,
    };
    // rustix has no call for it.
    // SAFETY: the string and the structure live during the call, which gets the structure's size.
    let answer = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            directory,
            path.as_ptr(),
            flags,
            &raw const attributes,
            size_of::<MountAttributes>(),
        )
    };
    if answer == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}
