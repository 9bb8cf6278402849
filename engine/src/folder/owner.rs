//! The users that can change a directory entry: its owner, its group, or everybody.
//!
//! In: the result of fstat. Out: the reason not to trust the entry. Called by `folder::trusted`.

use std::os::fd::{AsRawFd, OwnedFd};

use rustix::fs::{FileType, Mode, Stat};

use crate::machine;
use crate::machine::account::{self, user_name};

const ROOT: u32 = 0;

/// The reason why another user can change the directory or the link; `None` when nobody can.
///
/// Trusted users are root, this user, and under sudo the user who ran it. A directory of root with
/// the sticky bit may be writable by all: there nobody can rename or remove the entry of another
/// user.
pub fn distrust(opened: &OwnedFd, stat: &Stat) -> Option<String> {
    let mode = Mode::from_raw_mode(stat.st_mode);
    if !is_trusted(stat.st_uid) {
        return Some(format!("belongs to {}", user_name(stat.st_uid)));
    }
    if FileType::from_raw_mode(stat.st_mode) == FileType::Symlink {
        return None; // its mode says nothing, and only its owner can replace it
    }
    if stat.st_uid == ROOT && mode.contains(Mode::SVTX) {
        return None;
    }
    let permissions = mode.bits() & 0o7777;
    if mode.contains(Mode::WOTH) {
        return Some(format!(
            "can be written by all users (mode {permissions:04o})"
        ));
    }
    if mode.contains(Mode::WGRP) && (!is_private(stat) || has_list(opened)) {
        return Some(format!(
            "can be written by its group (mode {permissions:04o})"
        ));
    }
    None
}

/// Root, this user, and under sudo the user who ran it.
pub fn is_trusted(user: u32) -> bool {
    let this_user = machine::user();
    user == ROOT || user == this_user || (this_user == ROOT && sudo_user() == Some(user))
}

/// The user who ran sudo. Nobody else can set the variable: our environment comes from the process
/// that starts us.
fn sudo_user() -> Option<u32> {
    std::env::var("SUDO_UID").ok()?.parse().ok()
}

/// Whether the owner is the only member of the group, as on systems with a group for each user.
fn is_private(stat: &Stat) -> bool {
    let owner = user_name(stat.st_uid);
    account::group(stat.st_gid).is_some_and(|group| {
        group.name == owner && group.members.iter().all(|member| *member == owner)
    })
}

/// Whether it has an access control list, whose mask takes the place of the group's rights in the
/// mode.
fn has_list(opened: &OwnedFd) -> bool {
    let path = format!("/proc/self/fd/{}", opened.as_raw_fd());
    let none: &mut [u8] = &mut [];
    !matches!(
        rustix::fs::getxattr(path, "system.posix_acl_access", none),
        Err(rustix::io::Errno::NODATA | rustix::io::Errno::NOTSUP)
    )
}
