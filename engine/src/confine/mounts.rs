//! Private mounts of this process: a namespace, copies of mounts, read-only mounts, file systems in
//! memory.
//!
//! In: paths. Out: system calls. Called by `confine`.

use std::ffi::{CStr, CString};
use std::fs::{self, File};
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

const OPEN_TREE_CLONE: libc::c_uint = 1;
const MOVE_MOUNT_F_EMPTY_PATH: libc::c_uint = 4;
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
    // SAFETY: takes a number.
    check(unsafe { libc::unshare(libc::CLONE_NEWNS) }.into())?;
    let flags = libc::MS_REC | libc::MS_PRIVATE;
    // SAFETY: the strings live during the call; null pointers are allowed for the others.
    check(unsafe {
        libc::mount(
            c"none".as_ptr(),
            c"/".as_ptr(),
            std::ptr::null(),
            flags,
            std::ptr::null(),
        )
        .into()
    })
}

/// Mounts an empty file system in memory at `target`.
pub fn mount_tmpfs(target: &Path, options: &CStr) -> io::Result<()> {
    let target = c_path(target)?;
    let flags = libc::MS_NOSUID;
    // SAFETY: all strings live during the call.
    check(unsafe {
        libc::mount(
            c"tmpfs".as_ptr(),
            target.as_ptr(),
            c"tmpfs".as_ptr(),
            flags,
            options.as_ptr().cast(),
        )
        .into()
    })
}

/// Makes the mount at `target` read-only, and those below it where it is `recursive`. Devices on it
/// cannot be opened: a read-only mount alone lets them be written to.
pub fn make_read_only(target: &Path, recursive: bool) -> io::Result<()> {
    let flags = if recursive { AT_RECURSIVE } else { 0 };
    let set = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NODEV;
    set_attributes(libc::AT_FDCWD, &c_path(target)?, flags, set)
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
        let name = c_path(path)?;
        let recursive = if is_directory { AT_RECURSIVE } else { 0 };
        let flags = OPEN_TREE_CLONE | (recursive | libc::O_CLOEXEC).cast_unsigned();
        // SAFETY: the string lives during the call.
        let mount =
            unsafe { libc::syscall(libc::SYS_open_tree, libc::AT_FDCWD, name.as_ptr(), flags) };
        if mount < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the kernel has just made this descriptor, which nobody else has.
        let mount = unsafe { OwnedFd::from_raw_fd(mount as libc::c_int) };
        Ok(Tree {
            mount,
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
        let target = c_path(target)?;
        // SAFETY: both strings live during the call, and `mount` is open.
        check(unsafe {
            libc::syscall(
                libc::SYS_move_mount,
                self.mount.as_raw_fd(),
                c"".as_ptr(),
                libc::AT_FDCWD,
                target.as_ptr(),
                MOVE_MOUNT_F_EMPTY_PATH,
            )
        })
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
    // SAFETY: the string and the structure live during the call, which gets the structure's size.
    check(unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            directory,
            path.as_ptr(),
            flags,
            &raw const attributes,
            size_of::<MountAttributes>(),
        )
    })
}

fn c_path(path: &Path) -> io::Result<CString> {
    CString::new(path.as_os_str().as_bytes()).map_err(io::Error::other)
}

fn check(answer: libc::c_long) -> io::Result<()> {
    if answer == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}
