//! The users that can change a directory entry: its owner, its group, or everybody.
//!
//! In: the result of fstat. Out: the reason not to trust the entry. Called by `folder::trusted`.

use std::ffi::CStr;
use std::os::fd::{AsRawFd, OwnedFd};

use rustix::fs::{FileType, Mode, Stat};

const ROOM: usize = 64 << 10;
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
    let this_user = rustix::process::geteuid().as_raw();
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
    let mut room = vec![0; ROOM];
    // SAFETY: `group` is plain numbers and pointers, for which all zeroes is a value.
    let mut group: libc::group = unsafe { std::mem::zeroed() };
    let mut entry = std::ptr::null_mut();
    // SAFETY: every pointer is to memory that lives during the call, `room` with its length.
    let errno = unsafe {
        libc::getgrgid_r(
            stat.st_gid,
            &raw mut group,
            room.as_mut_ptr(),
            room.len(),
            &raw mut entry,
        )
    };
    if errno != 0 || entry.is_null() {
        return false;
    }
    // SAFETY: after success the name is a string in `room`.
    if unsafe { CStr::from_ptr(group.gr_name) }.to_string_lossy() != owner {
        return false;
    }
    let mut member = group.gr_mem;
    loop {
        // SAFETY: the list is in `room` and ends with a null pointer, where this loop ends.
        let name = unsafe { *member };
        if name.is_null() {
            return true;
        }
        // SAFETY: an entry of the list is a string in `room`.
        if unsafe { CStr::from_ptr(name) }.to_string_lossy() != owner {
            return false;
        }
        // SAFETY: the end was not reached yet.
        member = unsafe { member.add(1) };
    }
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

/// The user's name, else the number.
pub fn user_name(user: u32) -> String {
    let mut room = vec![0; ROOM];
    // SAFETY: `passwd` is plain numbers and pointers, for which all zeroes is a value.
    let mut passwd: libc::passwd = unsafe { std::mem::zeroed() };
    let mut entry = std::ptr::null_mut();
    // SAFETY: every pointer is to memory that lives during the call, `room` with its length.
    let errno = unsafe {
        libc::getpwuid_r(
            user,
            &raw mut passwd,
            room.as_mut_ptr(),
            room.len(),
            &raw mut entry,
        )
    };
    if errno != 0 || entry.is_null() {
        return format!("user {user}");
    }
    // SAFETY: after success the name is a string in `room`.
    let name = unsafe { CStr::from_ptr(passwd.pw_name) };
    name.to_string_lossy().into_owned()
}
